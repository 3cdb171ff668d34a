"""`search_content`: lines that match, with context, in order of path, by ripgrep when it is there."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO

from haversack.errors import InvalidArgument, OutsideRoot, ToolFailed
from haversack.patterns import pattern
from haversack.values import record, replace
from haversack.workspace.files.exclusions import Excluded, count_withheld, excluded_from, start_listing
from haversack.workspace.files.secret_names import Withheld
from haversack.workspace.files.unignored import Candidates
from haversack.workspace.git.command import find_repository
from haversack.workspace.programs import Running, clean_environment, find_program
from haversack.workspace.root import Place, Workspace, locate, locate_readable
from haversack.workspace.search.child_process import command_for, read_found
from haversack.workspace.search.matches import Collected, Collector, Match, match_from, rows_in
from haversack.workspace.search.patterns import Proof, Question, compile_pattern, may_run_long, question_for
from haversack.workspace.search.python_engine import Plan, match_files
from haversack.workspace.search.ripgrep import OPTIONS, match_proposals
from haversack.workspace.snapshots import Snapshot

MOST_CONTEXT = 50
_SIMPLE_GLOB = pattern(r"[\w.*?-]+", re.ASCII)


@record
class ContentMatches:
    """The lines that match; `files` counts the files that have any, `top` names those with most.

    `engine` says which program found them; it makes no difference to what was found.
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
    compiled = compile_pattern(pattern, is_regex=is_regex, case_sensitive=case_sensitive)
    place = locate(workspace, path)
    folder, shown_folder = place.absolute, place.relative
    if not os.path.isdir(folder):
        place = locate_readable(workspace, path)
        folder, shown_folder = os.path.dirname(folder), shown_folder.rpartition("/")[0]
    plan = Plan(
        base=place.relative,
        folder=folder,
        prefix=f"{shown_folder}/" if shown_folder else "",
        pattern=pattern,
        is_regex=is_regex,
        case_sensitive=case_sensitive,
        context=context_lines,
        file_pattern=file_pattern,
        include_hidden=include_hidden,
        allow_secrets=workspace.allow_secrets,
        leaves_out_nested=False,
        seconds=workspace.limits.seconds,
    )
    search = _Search(workspace, place, plan, may_run_long(compiled))
    question = question_for(compiled, is_regex=is_regex)
    program = _ripgrep(workspace) if question is not None else None
    if program and question is not None:
        try:
            collected = search.with_ripgrep(program, question)
        except _NotForRipgrep:
            program = None
    if not program:
        collected = search.with_python()
    return ContentMatches(
        pattern=pattern,
        path=place.relative,
        matches=Snapshot(collected.snapshot, match_from, rows_in),
        files=collected.files,
        top=collected.top,
        withheld=search.selection.withheld.total(),
        notes=tuple(search.notes),
        engine="rg" if program else "python",
    )


def _ripgrep(workspace: Workspace) -> str | None:
    if workspace.engine == "python":
        return None
    program = find_program("rg", outside=workspace.root)
    if workspace.engine == "rg" and not program:
        raise ToolFailed("ripgrep is not installed", hint="install haversack[rg], or set workspace.engine = auto")
    return program


class _NotForRipgrep(Exception):
    """Ripgrep cannot answer a question, so Python has to."""


class _Search:
    """One search under way; `selection` counts what was withheld, `notes` say what the reader should know."""

    def __init__(self, workspace: Workspace, place: Place, plan: Plan, runs_apart: bool) -> None:
        self._workspace = workspace
        self._place = place
        self._plan = plan
        self._runs_apart = runs_apart
        self.selection = plan.selection()
        self.notes: list[str] = []

    def with_python(self) -> Collected:
        """Matches in files that Python reads."""
        self.selection = self._plan.selection()
        collector = Collector(self._plan.context)
        files = self._files()
        if not self._runs_apart:
            match_files(self._plan, files, collector.keep)
            return collector.finish()
        with TemporaryFile() as names:
            for absolute, path in files:
                names.write(os.fsencode(absolute) + b"\0" + os.fsencode(path) + b"\0")
            names.seek(0)
            self._apart(self._plan, "python", names, collector)
        return collector.finish()

    def _files(self) -> Iterator[tuple[str, str]]:
        if not os.path.isdir(self._place.absolute):
            if self.selection.takes(self._place.relative):
                yield self._place.absolute, self._place.relative
            return
        candidates = Candidates(self._workspace, self._place, at_once=True)
        for names in candidates:
            taken = self.selection.taken(names)
            yield from ((taken.folder + raw, path) for raw, path in zip(taken.raw, taken.shown, strict=True))
        self.notes = candidates.notes

    def with_ripgrep(self, program: str, question: Question) -> Collected:
        """Matches among the lines that ripgrep proposes."""
        options = [*OPTIONS, f"--context={self._plan.context}", f"--regexp={question.pattern}"]
        if not os.path.isdir(self._place.absolute):
            name = os.path.basename(self._place.absolute)
            with self._start([program, *options, "--", f"./{name}"]) as running:
                return self._proposed(running, self._plan, question.proof)
        options += ["--hidden"] if self._plan.include_hidden else []
        options += _type_arguments(self._plan.file_pattern)
        try:
            repository = find_repository(self._workspace, self._place)
        except OutsideRoot:
            raise _NotForRipgrep from None
        with ExitStack() as stack:
            # Git lists all files beside what is ignored, and ripgrep looks at them while the secrets are counted.
            listing = stack.enter_context(start_listing(repository, self._place)) if repository else None
            excluded = excluded_from(self._workspace, self._place, repository, self.selection)
            self.notes = list(excluded.notes)
            rules = stack.enter_context(NamedTemporaryFile(prefix="haversack-"))
            rules.write(_rules(excluded))
            rules.flush()
            command = [program, *options, f"--ignore-file={rules.name}", "--", "./"]
            running = stack.enter_context(self._start(command))
            if listing and excluded.repository:
                count_withheld(excluded.repository, listing, self.selection)
            plan = replace(self._plan, leaves_out_nested=excluded.repository is not None)
            return self._proposed(running, plan, question.proof)

    def _proposed(self, running: Running, plan: Plan, proof: Proof) -> Collected:
        collector = Collector(plan.context)
        if not self._runs_apart:
            match_proposals(plan, running.blocks(), collector.keep, proof=proof, keep_told=collector.keep_told)
        elif proof == "none":
            self._apart(plan, "rg", running.stdout, collector)
        else:
            with TemporaryFile() as doubtful:
                match_proposals(
                    plan,
                    running.blocks(),
                    collector.keep,
                    proof=proof,
                    keep_told=collector.keep_told,
                    doubtful=doubtful,
                )
                if doubtful.tell():
                    doubtful.seek(0)
                    self._apart(plan, "rg", doubtful, collector)
        ended = running.ended()
        # 1 is "no match"; 2 with nothing to say is a file that could not be read, which Python would pass over too.
        if ended.code not in (0, 1) and ended.errors:
            raise _NotForRipgrep
        return collector.finish()

    def _start(self, command: list[str], stdin: IO[bytes] | None = None) -> Running:
        return Running(
            command,
            cwd=self._plan.folder,
            environment=clean_environment(),
            limits=self._workspace.limits,
            stdin=stdin,
            name="the search",
        )

    def _apart(self, plan: Plan, engine: str, stdin: IO[bytes], collector: Collector) -> None:
        with self._start(command_for(plan, engine), stdin) as running:
            read_found(running.blocks(), collector.keep)
            ended = running.ended()
        if ended.code != 0:
            reason = ended.errors.splitlines()[-1] if ended.errors else f"exit code {ended.code}"
            raise ToolFailed(f"the search failed: {reason}", hint="narrow it with path or file_pattern")


def _rules(excluded: Excluded) -> bytes:
    """What ripgrep leaves out, as the rules of an ignore file: just what a listing leaves out."""
    if excluded.is_all:
        return b"*\n"
    return b".git\n" + b"".join(b"/" + _as_rule(name) + b"\n" for name in excluded.names)


def _as_rule(name: bytes) -> bytes:
    # A line end cannot be written in a rule; a question mark matches it.
    return re.sub(rb"[\\*?\[\]!# ]", rb"\\\g<0>", name).replace(b"\n", b"?")


def _type_arguments(file_pattern: str) -> list[str]:
    """Lets ripgrep leave out files whose names cannot fit the pattern; the pattern itself is checked afterwards."""
    name = file_pattern.rpartition("/")[2]
    if not name or "**" in name or not _SIMPLE_GLOB.fullmatch(name):
        return []
    return [f"--type-add=wanted:{name}", "--type=wanted"]
