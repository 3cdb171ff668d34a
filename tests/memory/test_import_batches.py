"""An import goes in batches: others save meanwhile, an interrupt says what is in, and importing again goes on."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.errors import InvalidArgument
from haversack.memory import context
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.transfer import json_lines as transfer
from haversack.store import observations
from haversack.store.records import Filters
from tests.conftest import Clock

MANY = 2 * transfer.BATCH + 50


@pytest.fixture
def fresh(tmp_path: Path, clock: Clock) -> Iterator[Caller]:
    made = open_caller(Config(home=str(tmp_path / "fresh")), directory=str(tmp_path), now=clock)
    yield made
    made.app.close()


@pytest.fixture
def lines(caller: Caller) -> list[str]:
    """An export over three batches, of observations that are named by their ids."""
    for number in range(MANY):
        pipeline.save(caller.memory, Draft(title=f"Note {number}", content=f"text {number}", project="p"))
    edits.delete(caller.memory, 3, hard=True)
    return list(transfer.export(caller.memory))


def count(caller: Caller) -> int:
    return context.count_observations(caller.memory, Filters())


def titles(caller: Caller) -> dict[int, str]:
    with caller.database.read() as tx:
        return {each.id: each.title for each in observations.everything(tx)}


def save_from_another_process(home: Path, directory: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "haversack", "save", "--title", "Theirs", "saved by another process", "--project", "p"],
        check=True, cwd=directory, env={**os.environ, "HAVERSACK_HOME": str(home)}, capture_output=True, timeout=120,
    )  # fmt: skip


@pytest.mark.sqlite_only("a home of another process, which is a file")
def test_another_process_saves_while_an_import_is_under_way(fresh: Caller, lines: list[str], tmp_path: Path) -> None:
    def slow() -> Iterator[str]:
        for number, line in enumerate(lines):
            if number == transfer.BATCH + 10:
                save_from_another_process(tmp_path / "fresh", tmp_path)
            yield line

    done = transfer.import_(fresh.memory, slow())
    assert done.added == len(lines) - 1
    found = list(titles(fresh).values())
    assert found.count("Theirs") == 1
    assert len(found) == MANY - 1 + 1


def test_an_interrupt_says_how_many_are_in_and_importing_again_goes_on(
    caller: Caller, fresh: Caller, lines: list[str]
) -> None:
    def interrupted() -> Iterator[str]:
        yield from lines[: transfer.BATCH + 20]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=f"^{transfer.BATCH} records are in; import it again to go on"):
        transfer.import_(fresh.memory, interrupted())
    before = len(titles(fresh))
    assert 0 < before < transfer.BATCH
    done = transfer.import_(fresh.memory, lines)
    assert done.added == len(lines) - transfer.BATCH
    assert done.known == transfer.BATCH
    assert titles(fresh) == titles(caller)  # each under the id it had


@pytest.mark.sqlite_only("a home of another process, which is a file")
@pytest.mark.skipif(sys.platform == "win32", reason="a process is not sent Ctrl-C there")
def test_an_interrupted_command_counts_what_is_in_the_store(lines: list[str], tmp_path: Path) -> None:
    home = tmp_path / "other"
    command = subprocess.Popen(
        [sys.executable, "-m", "haversack", "import", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=tmp_path,
        env={**os.environ, "HAVERSACK_HOME": str(home)},
    )  # fmt: skip
    assert command.stdin is not None
    command.stdin.write("\n".join(lines) + "\n")
    command.stdin.flush()
    watcher = open_caller(Config(home=str(home)), directory=str(tmp_path))
    while count(watcher) == 0 and command.poll() is None:
        pass  # the pipe stays open, so the command cannot end by itself
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=120)
    found = re.search(r"interrupted; (\d+) records are in", said)
    assert found, said
    assert command.returncode == 130
    # Beside the observations, a line each for the format and for the session.
    assert int(found[1]) == count(watcher) + 2
    watcher.app.close()


def test_a_wrong_line_after_the_first_batch_says_what_is_in(fresh: Caller, lines: list[str]) -> None:
    wrong = [*lines[: transfer.BATCH + 5], "not JSON", *lines[transfer.BATCH + 5 :]]
    with pytest.raises(InvalidArgument, match=f"line {transfer.BATCH + 6} ") as caught:
        transfer.import_(fresh.memory, wrong)
    assert f"{transfer.BATCH} records before it are in" in caught.value.hint
    assert count(fresh) == transfer.BATCH - 2


def test_a_title_and_a_content_are_enough(fresh: Caller) -> None:
    plain = [
        '{"title": "Retry policy", "content": "Three times, then give up."}',
        '{"title": "Zürich 汉字", "content": "b", "kind": "decision", "tags": ["x", "Ü"], "project": "q",'
        ' "topic_key": "a/b", "created_at": "2024-05-06T07:08:09Z"}',
        '{"title": "Typed", "content": "c", "type": "bugfix"}',
    ]
    assert transfer.import_(fresh.memory, plain).added == 3
    with fresh.database.read() as tx:
        first, second, third = observations.everything(tx)
    assert (first.title, first.content, first.kind) == ("Retry policy", "Three times, then give up.", "observation")
    assert (second.kind, second.tags, second.project, second.topic_key) == ("decision", ("x", "Ü"), "q", "a/b")
    assert second.created_at == second.updated_at == 1_714_979_289_000_000
    assert third.kind == "bugfix"
    again = transfer.import_(fresh.memory, plain)
    assert (again.added, again.updated, again.known) == (0, 0, 3)


def test_a_plain_line_that_is_in_the_store_already_is_not_added(fresh: Caller, clock: Clock) -> None:
    pipeline.save(fresh.memory, Draft(title="Retry policy", content="Three times.", project="p"))
    clock.advance(days=30)
    line = json.dumps({"title": "Retry policy", "content": "Three times.", "project": "p"})
    assert transfer.import_(fresh.memory, [line]).known == 1


def test_what_was_imported_plain_and_changed_here_stays_changed(fresh: Caller, clock: Clock) -> None:
    line = '{"title": "Retry policy", "content": "Three times."}'
    transfer.import_(fresh.memory, [line])
    clock.advance(days=1)
    edits.update(fresh.memory, 1, Changes(content="Four times."))
    clock.advance(days=1)
    assert transfer.import_(fresh.memory, [line]).known == 1
    assert context.recall(fresh.memory, 1).content == "Four times."


def test_a_plain_line_passes_the_gate_of_a_save(fresh: Caller) -> None:
    secret = "ghp_" + "a1B2" * 9
    transfer.import_(fresh.memory, [json.dumps({"title": "Token", "content": f"token {secret}"})])
    assert secret not in "".join(transfer.export(fresh.memory))


@pytest.mark.parametrize(
    "more",
    [{"colour": "red"}, {"title": " "}, {"content": 7}, {"tags": "a"}, {"kind": "a b"}, {"importance": "high"},
     {"importance": 7}, {"pinned": "yes"}, {"created_at": "yesterday-ish"}, {"created_at": 10**30}, {"uid": 7},
     {"scope": "everyone"}, {"title": "x" * 501}, {"project": "a\nb"}, {"content": "half " + chr(0xD83D)}],
    ids=ascii,
)  # fmt: skip
def test_a_plain_line_with_a_wrong_value_is_named(fresh: Caller, more: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument, match="line 1 cannot be imported"):
        transfer.import_(fresh.memory, [json.dumps({"title": "t", "content": "c"} | more)])
    assert count(fresh) == 0
