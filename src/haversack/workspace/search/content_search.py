"""`search_content`: lines that match, with context, in order of path."""

import os
import stat
from collections import Counter
from heapq import nsmallest

from haversack.errors import InvalidArgument, ToolFailed
from haversack.files import Tree
from haversack.values import record
from haversack.workspace.files.secret_names import Withheld
from haversack.workspace.files.selection import Selection
from haversack.workspace.files.unignored import Candidates
from haversack.workspace.root import Place, Workspace, locate, locate_readable
from haversack.workspace.search.file_matching import LARGEST, Plan, match_files, match_files_apart
from haversack.workspace.search.matches import Match, match_from
from haversack.workspace.search.patterns import compile_pattern, may_run_long, ripgrep_pattern
from haversack.workspace.search.ripgrep import files_with, find_ripgrep
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

MOST_CONTEXT = 50
RANKED = 50
"""How many files a search names by their number of matches."""
_MOST = 64_000_000
"""Compressed bytes of matches that are kept: some ten times as much text."""


@record
class ContentMatches:
    """The lines that match; `files` counts the files that have any, `top` names those with most.

    `engine` says whether ripgrep helped; it makes no difference to what was found.
    """

    pattern: str
    path: str
    matches: Snapshot[Match]
    files: int
    top: tuple[tuple[str, int], ...]
    withheld: Withheld
    notes: tuple[str, ...]
    engine: str


def search_content(
    workspace: Workspace,
    pattern: str,
    *,
    is_regex: bool = False,
    path: str = "",
    file_pattern: str = "",
    context_lines: int = 2,
    case_sensitive: bool = False,
    include_hidden: bool = False,
) -> ContentMatches:
    """The lines at or below `path` that hold `pattern`, each with up to `context_lines` on either side.

    A match is a matching line. Lines are matched one by one, by Python's regular expressions when `is_regex`. A
    `file_pattern` without a slash is matched against file names, one with a slash against paths from `path`.
    """
    if not 0 <= context_lines <= MOST_CONTEXT:
        raise InvalidArgument(f"context_lines is {context_lines}", hint=f"use 0 to {MOST_CONTEXT}")
    compile_pattern(pattern, is_regex=is_regex, case_sensitive=case_sensitive)
    place = locate(workspace, path)
    if not os.path.isdir(place.absolute):
        place = locate_readable(workspace, path)
    selection = Selection(
        place.relative,
        pattern=file_pattern,
        by_name=True,
        include_hidden=include_hidden,
        allow_secrets=workspace.allow_secrets,
    )
    asked = ripgrep_pattern(pattern, is_regex=is_regex, case_sensitive=case_sensitive)
    found = _Files(workspace, place, selection, asked, include_hidden=include_hidden)
    plan = Plan(workspace.root, pattern, is_regex, case_sensitive, context_lines, workspace.limits.seconds)
    if may_run_long(pattern, is_regex=is_regex):
        matches = match_files_apart(plan, found.files, workspace.limits)
    else:
        matches = match_files(plan, found.files)
    writer = SnapshotWriter("matches")
    counts: Counter[str] = Counter()
    for rows in matches:
        writer.extend(rows)
        counts[rows[0][0]] += len(rows)
        if writer.size > _MOST:
            raise ToolFailed(
                f"the matches take more than {_MOST // 1_000_000} MB",
                hint="use a longer pattern, a path or a file_pattern",
            )
    return ContentMatches(
        pattern=pattern,
        path=place.relative,
        matches=Snapshot(writer.finish(), match_from),
        files=len(counts),
        top=tuple(nsmallest(RANKED, counts.items(), key=lambda each: (-each[1], os.fsencode(each[0])))),
        withheld=selection.withheld.total(),
        notes=tuple(found.notes),
        engine=found.engine,
    )


class _Files:
    """The files in which a search has to look, in order of path, as pairs of paths to open and to show."""

    def __init__(
        self, workspace: Workspace, place: Place, selection: Selection, asked: str | None, *, include_hidden: bool
    ) -> None:
        self.engine = "python"
        self.notes: list[str] = []
        self.files: list[tuple[str, str]] = []
        self._large = 0
        with Tree(workspace.root) as tree:
            if not os.path.isdir(place.absolute):
                if selection.takes(place.relative):
                    self._add(tree, place.raw, place.relative)
                self._note_large()
                return
            candidates = Candidates(workspace, tree, place)
            for names in candidates:
                taken = selection.taken(names)
                for raw, path in zip(taken.raw, taken.shown, strict=True):
                    self._add(tree, raw, path)
        self.notes += candidates.notes
        self._note_large()
        program = find_ripgrep(workspace) if asked is not None else None
        if program and asked is not None and self.files:
            found = files_with(
                workspace, program, place, asked,
                left_out=candidates.left_out(), include_hidden=include_hidden, largest=LARGEST,
            )  # fmt: skip
            if found is not None:
                self.engine = "rg"
                self.files = [pair for pair in self.files if pair[0] in found]

    def _add(self, tree: Tree, raw: str, path: str) -> None:
        try:
            facts = tree.facts(raw)
        except OSError:
            return
        if facts.st_size > LARGEST:
            self._large += 1
        elif stat.S_ISREG(facts.st_mode):
            self.files.append((raw, path))

    def _note_large(self) -> None:
        if self._large:
            what = "1 file" if self._large == 1 else f"{self._large:,} files"
            self.notes.append(f"{what} over {LARGEST // 1_000_000} MB not searched")
