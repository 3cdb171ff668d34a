"""`tokens`: what files cost under each way of counting."""

import sys

from haversack import terminal
from haversack.errors import InvalidArgument
from haversack.tokens import PROFILES, Profile, profile_named


def run(files: list[str], names: list[str], *, as_json: bool) -> int:
    """Print the tokens of each file under each profile; estimates are marked."""
    profiles = [profile_named(name) for name in names or PROFILES]
    counts = {path: _counted(_text(path), profiles) for path in files}
    total = {each.name: sum(count[each.name] for count in counts.values()) for each in profiles}
    if as_json:
        import json

        estimates = [each.name for each in profiles if not each.exact]
        terminal.show(
            json.dumps({"files": counts, "total": total, "estimates": estimates}, ensure_ascii=False, indent=1)
        )
        return 0
    rows: list[dict[str, object]] = [
        {**{each.name: f"{count[each.name]:,}{'' if each.exact else '~'}" for each in profiles}, "file": path}
        for path, count in counts.items()
    ]
    if len(rows) > 1:
        rows.append(
            {**{each.name: f"{total[each.name]:,}{'' if each.exact else '~'}" for each in profiles}, "file": "total"}
        )
    columns = (*(each.name for each in profiles), "file")
    terminal.show(terminal.table(rows, columns, 200))
    if not all(each.exact for each in profiles):
        terminal.say("~ is an estimate")
    return 0


def _counted(text: str, profiles: list[Profile]) -> dict[str, int]:
    return {each.name: each.count(text) for each in profiles}


def _text(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode("utf-8", "replace")
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}") from None
