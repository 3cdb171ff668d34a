"""JSON-RPC on lines: reading, writing and error responses."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import IO, Any

from haversack.values import record

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

Json = dict[str, object]
RequestId = str | int

_EDGE = 512
"""How much of both ends of a giant line is kept, to find its id."""


class ProtocolError(Exception):
    """A message the protocol does not allow; it is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@record
class Giant:
    """A line over the limit, of which only the ends were kept."""

    head: bytes
    tail: bytes

    def request_id(self) -> RequestId | None:
        """The request's id, if the kept ends of the line show it, so that the request can be answered with an error."""
        import re

        value = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]*")\s*'
        first = re.match(rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*' + value + b",", self.head)
        last = re.search(rb'\}\s*,(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*' + value + rb"\}\s*$", self.tail)
        found = first or last
        try:
            identifier: RequestId | None = json.loads(found[1]) if found else None
        except ValueError:
            return None
        return identifier


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def parse(line: bytes) -> Any:
    """The JSON value on a line."""
    try:
        return _decoder.decode(line.decode("utf-8-sig").strip())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, f"not JSON: {str(error)[:200]}") from None


def response(request_id: RequestId, result: Mapping[str, object]) -> str:
    """The line that answers a request."""
    return f'{{"jsonrpc":"2.0","id":{_identifier(request_id)},"result":{_valid(_encode(result))}}}'


def failure(request_id: RequestId | None, error: ProtocolError) -> str:
    """The line that refuses a message; the id is null where none could be read."""
    body: Json = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return f'{{"jsonrpc":"2.0","id":{_identifier(request_id)},"error":{_valid(_encode(body))}}}'


def notification(method: str, params: Mapping[str, object]) -> str:
    """The line of a notification."""
    return _valid(_encode({"jsonrpc": "2.0", "method": method, "params": params}))


def _identifier(request_id: RequestId | None) -> str:
    # The client compares the id with the one it sent, so even a lone surrogate in it goes back as it came.
    return str(request_id) if type(request_id) is int else json.dumps(request_id)


def _valid(text: str) -> str:
    """The text with lone surrogates replaced: strict clients refuse a line that holds one, however it is spelt."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Lines:
    """The lines of a stream; one over the limit comes as a `Giant`."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._limit = limit

    def __iter__(self) -> Iterator[bytes | Giant]:
        while line := self._stream.readline(self._limit + 1):
            yield line if len(line) <= self._limit else self._giant(line)

    def _giant(self, line: bytes) -> Giant:
        head, tail = line[:_EDGE], line[-_EDGE:]
        while not line.endswith(b"\n") and (line := self._stream.readline(_EDGE * 128)):
            tail = (tail + line)[-_EDGE:]
        return Giant(head, tail)


class Output:
    """Where lines go, one at a time and whole, whichever thread they come from."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.closed = False

    def write(self, line: str) -> None:
        """Write a line at once; after the reader has gone this does nothing."""
        content = line.encode() + b"\n"
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(content)
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True
