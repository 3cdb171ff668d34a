"""Context packs from memories at hand: the library's plain functions, with no store behind them."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from haversack.text.times import date
from haversack.tokens import DEFAULT_PROFILE, Candidate, Choice, Profile, pack, profile_named
from haversack.values import record

SEPARATOR = "\n\n---\n\n"
USUAL_IMPORTANCE = 0.5
"""The default importance of an observation, which is not printed."""
EVERYWHERE = "all projects"
"""What stands for the project in the heading of a pack of all of them."""
PLAIN_KIND = "observation"
"""The default kind, which packs and search results leave out to save tokens."""


class Memorable(Protocol):
    """What a memory must have to enter a pack; a stored observation has it."""

    @property
    def title(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def importance(self) -> float: ...
    @property
    def updated_at(self) -> int: ...


M = TypeVar("M", bound=Memorable)


@record
class ContextPack:
    """The memories that fit, what their text costs, and the ceiling they were packed under."""

    memories: tuple[Memorable, ...]
    total_tokens: int
    budget: int
    project_id: str | None = None
    omitted: tuple[Memorable, ...] = ()


def entry(memory: Memorable, *, usual_date: str = "", project: str = "") -> str:
    """One memory as a section of a pack; a detail line with only the usual date is left out.

    `project` is the name of its project, in a pack of several.
    """
    kind = "" if memory.kind == PLAIN_KIND else f"[{memory.kind}] "
    details = _details(memory)
    parts = [*([] if details == usual_date else [details]), *([f"project: {project}"] if project else [])]
    line = f"*{' | '.join(parts)}*\n" if parts else ""
    return f"## {kind}{memory.title}\n{line}\n{memory.content.strip()}"


def _details(memory: Memorable) -> str:
    details = [date(memory.updated_at)]
    if memory.importance != USUAL_IMPORTANCE:
        details.append(f"importance: {memory.importance:g}")
    if memory.tags:
        details.append(f"tags: {', '.join(memory.tags)}")
    return " | ".join(details)


def date_of_all(memories: Sequence[Memorable]) -> str:
    """The date shared by several memories without other details, which a pack states once; else empty."""
    details = {_details(each) for each in memories}
    return date(memories[0].updated_at) if len(memories) > 1 and details == {date(memories[0].updated_at)} else ""


def title(project: str | None, memories: int, tokens: int, day: str = "") -> str:
    """The first line of a pack, which states its total cost; below it the date that all memories share."""
    counted = "1 memory" if memories == 1 else f"{memories:,} memories"
    line = f"# Project Context: {project or EVERYWHERE} ({counted}, ~{tokens:,} tokens)\n"
    return f"{line}\n*{day}*\n" if day else line


def lean_title(project: str, day: str = "") -> str:
    """The first line of a pack without its figures, or without a project only the date that all of it has."""
    line = f"# Project Context: {project}\n" if project else ""
    return f"{line}\n*{day}*\n".lstrip("\n") if day else line


def budget_truncate(results: Sequence[M], token_budget: int, profile: str = DEFAULT_PROFILE) -> list[M]:
    """The results that fit a budget, in rank order; one that is too large is skipped, later ones may still fit."""
    counter = profile_named(profile)
    candidates = [Candidate((Choice(counter.measure(entry(each) + SEPARATOR)),)) for each in results]
    chosen = pack(candidates, counter.room(token_budget)).chosen
    return [each for each, choice in zip(results, chosen, strict=True) if choice is not None]


def build_context_pack(
    memories: Sequence[Memorable],
    token_budget: int,
    *,
    project_id: str | None = None,
    profile: str = DEFAULT_PROFILE,
) -> ContextPack:
    """The memories, best first, whose formatted text as a whole is at most `token_budget` tokens."""
    counter = profile_named(profile)
    frame = counter.measure(title(project_id, len(memories), token_budget) + "\n")
    candidates = [Candidate((Choice(counter.measure(entry(each) + SEPARATOR)),)) for each in memories]
    chosen = pack(candidates, max(0, counter.room(token_budget) - frame)).chosen
    shown = tuple(each for each, choice in zip(memories, chosen, strict=True) if choice is not None)
    omitted = tuple(each for each, choice in zip(memories, chosen, strict=True) if choice is None)
    built = ContextPack(shown, 0, token_budget, project_id, omitted)
    return ContextPack(shown, _cost(built, counter), token_budget, project_id, omitted)


def format_context_pack(pack_: ContextPack) -> str:
    """A pack as Markdown, ready to paste."""
    return _written(pack_, pack_.total_tokens)


def _written(pack_: ContextPack, tokens: int) -> str:
    head = title(pack_.project_id, len(pack_.memories), tokens)
    return head + "\n" + SEPARATOR.join(entry(each) for each in pack_.memories) + ("\n" if pack_.memories else "")


def _cost(pack_: ContextPack, counter: Profile) -> int:
    """The cost of the text, counted with that same figure in its first line."""
    tokens = 0
    while (found := counter.count(_written(pack_, tokens))) > tokens:
        tokens = found
    return tokens
