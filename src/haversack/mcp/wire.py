"""JSON-RPC on lines: what is read, what is written, and how anything wrong is told."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import IO, Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

RequestId = str | int


class ProtocolError(Exception):
    """A message the protocol does not allow; it is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def parse(line: bytes) -> Any:
    """The JSON value on a line."""
    try:
        return _decoder.decode(line.decode("utf-8-sig").strip())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, f"not JSON: {str(error)[:200] or 'nested too deeply'}") from None


def response(request_id: RequestId, result: Mapping[str, object]) -> str:
    """The line that answers a request."""
    return f'{{"jsonrpc":"2.0","id":{_identifier(request_id)},"result":{_valid(_encode(result))}}}'


def failure(request_id: RequestId | None, error: ProtocolError) -> str:
    """The line that refuses a message; the id is null where none could be read."""
    body: dict[str, object] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return f'{{"jsonrpc":"2.0","id":{_identifier(request_id)},"error":{_valid(_encode(body))}}}'


def notification(method: str, params: Mapping[str, object]) -> str:
    """The line that tells the client something it did not ask for."""
    return _valid(_encode({"jsonrpc": "2.0", "method": method, "params": params}))


def _identifier(request_id: RequestId | None) -> str:
    # The client compares the id with the one it sent, so even a lone surrogate in it goes back as it came.
    return json.dumps(request_id)


def _valid(text: str) -> str:
    """The text with lone surrogates replaced: strict clients refuse a line that holds one, in any spelling."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Lines:
    """The lines of a stream; one longer than the limit comes as `None`, without being held in memory."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._limit = limit

    def __iter__(self) -> Iterator[bytes | None]:
        while line := self._stream.readline(self._limit + 1):
            if len(line) <= self._limit or line.endswith(b"\n"):
                yield line
                continue
            while rest := self._stream.readline(self._limit + 1):
                if rest.endswith(b"\n"):
                    break
            yield None


class Output:
    """Where lines go, one at a time and whole, whichever thread they come from."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.closed = False

    def write(self, line: str) -> None:
        """Write a line at once; after the reader has gone this does nothing."""
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(line.encode() + b"\n")
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True
