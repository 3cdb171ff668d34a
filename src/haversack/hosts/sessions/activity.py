"""The events of a tool call, without content: a file written, a command run, tests passed or failed."""

import os
from collections.abc import Iterator

from haversack.hosts.hooks.payloads import Payload
from haversack.patterns import pattern
from haversack.text.clipping import one_line
from haversack.text.redaction import redact

_LONGEST = 160
_WRITES = pattern(r"(?i)write|edit|create|replace|patch|notebook")
_RUNS = pattern(r"(?i)^(?:bash|shell|exec|run|terminal|powershell|local_shell|execute)")
_PATHS = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "filename")
_PATCHED = pattern(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$")
_COMMIT = pattern(r"\bgit\b[^|;&\n]*\bcommit\b")
_MESSAGE = pattern(r"""(?:-m|--message)[ =]+(?:"((?:[^"\\]|\\.)*)"|'([^']*)')""")
_COMMITTED = pattern(r"(?m)^\[[^\]\n]+ [0-9a-f]{7,40}\] (.+)$")
_TESTS = pattern(
    r"\b(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|(?:npm|pnpm|yarn|bun|cargo|go|make|mvn|gradle"
    r"|dotnet|deno|mix|swift) (?:run )?(?:test|check))\b"
)
_OUTCOME = pattern(
    r"(?im)^.*\b\d+ (?:passed|failed|passing|failing|errors?)\b.*$|^test result: .*$|^(?:FAIL|ok)\s.*$|^OK(?: \(.*\))?$"
)
_FAILED = pattern(r"(?i)\b[1-9]\d* (?:failed|failing|errors?)\b|^FAIL|FAILED")


def events_of(payload: Payload) -> Iterator[tuple[str, str]]:
    """The events a tool call leaves, as kind and detail; reading and searching leave none."""
    if _RUNS.match(payload.tool) or "command" in payload.tool_input or "cmd" in payload.tool_input:
        yield from _of_command(payload)
    elif _WRITES.search(payload.tool):
        for path in _written(payload):
            yield "file", _line(_relative(path, payload.directory))


def _of_command(payload: Payload) -> Iterator[tuple[str, str]]:
    given = payload.tool_input.get("command") or payload.tool_input.get("cmd") or ""
    command = " ".join(map(str, given)) if isinstance(given, list) else str(given)
    if not command.strip():
        return
    for path in _PATCHED.findall(command):
        yield "file", _line(_relative(path.strip(), payload.directory))
    if _PATCHED.search(command):
        return
    yield "command", _line(command)
    if _COMMIT.search(command):
        found = _COMMITTED.search(payload.tool_output) or _MESSAGE.search(command)
        yield "commit", _line(next(filter(None, found.groups()), "") if found else "(no subject seen)")
    if _TESTS.search(command):
        outcomes = _OUTCOME.findall(payload.tool_output)
        verdict = "failed" if _FAILED.search(payload.tool_output) else "passed" if outcomes else "ran"
        yield "test", _line(f"{verdict}: {outcomes[-1].strip(' =') if outcomes else command}")


def _written(payload: Payload) -> list[str]:
    found = [payload.tool_input[name] for name in _PATHS if isinstance(payload.tool_input.get(name), str)]
    for text in payload.tool_input.values():
        if isinstance(text, str):
            found += [path.strip() for path in _PATCHED.findall(text)]
    return list(dict.fromkeys(found))


def _relative(path: str, directory: str) -> str:
    if directory and path.startswith(directory.rstrip("/\\") + os.sep):
        return path[len(directory.rstrip("/\\")) + 1 :]
    return path


def _line(text: str) -> str:
    # A secret may span lines or be cut in two, so it is redacted before any other change of the text.
    return one_line(redact(text[:4_000]).text, _LONGEST, at_word=False)
