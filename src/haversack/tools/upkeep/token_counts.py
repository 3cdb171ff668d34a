"""`count_file_tokens`: what files cost under each way of counting."""

import os
from typing import Annotated

from haversack.app import Caller
from haversack.console import STANDARD
from haversack.errors import NotFound
from haversack.tokens import PROFILES, Profile, profile_named
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Facts, Outcome, Result


@tool(
    Command(
        "tokens",
        ("files",),
        options=(("profiles", "--profile", "--profiles"),),
        heading="packs and budget",
        examples=("haversack tokens README.md src/*.py", "git diff | haversack tokens - --profile o200k"),
    ),
    group="upkeep",
    terminal_only=True,
)
def count_file_tokens(
    caller: Caller,
    *,
    files: Annotated[list[str], "Files; - is standard input"],
    profiles: Annotated[list[str], "Only these profiles"] = [],  # noqa: B006
) -> Outcome:
    """Count the tokens of files under each profile."""
    counters = [profile_named(name) for name in profiles or PROFILES]
    counts = {file: {each.name: each.count(_text(caller, file)) for each in counters} for file in files}
    total = {each.name: sum(count[each.name] for count in counts.values()) for each in counters}
    rows = [_block(file, count, counters) for file, count in counts.items()]
    estimates = [each.name for each in counters if not each.exact]
    sums = f"in all: {_figures(total, counters)}" if len(rows) > 1 else ""
    note = "~ is an estimate" if estimates else ""
    return Result(
        blocks=rows,
        noun="files",
        total=len(rows),
        heading="\n".join(line for line in (sums, note) if line),
        facts={"in_all": total, "estimates": estimates},
        brief=f"{len(rows)} files counted",
    )


def _block(file: str, count: dict[str, int], counters: list[Profile]) -> Block:
    def facts(level: str) -> Facts:
        return {"file": file, **count}

    return Block(file, lambda level: f"{file}: {_figures(count, counters)}", facts)


def _figures(count: dict[str, int], counters: list[Profile]) -> str:
    return ", ".join(f"{each.name} {count[each.name]:,}{'' if each.exact else '~'}" for each in counters)


def _text(caller: Caller, file: str) -> str:
    if file == STANDARD:
        return "".join(caller.console.lines())
    try:
        path = os.path.join(caller.directory, os.path.expanduser(file))
        with open(path, encoding="utf-8", errors="replace", newline="") as source:
            return source.read()
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}", hint="name a file with text") from None
