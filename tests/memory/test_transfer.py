"""Export and import: a round trip loses nothing, twice adds nothing, and a wrong line imports nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.errors import InvalidArgument
from haversack.memory import context, sessions, statistics
from haversack.memory import relations as relating
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search as finding
from haversack.memory.transfer import json_lines as transfer
from haversack.store import observations, relations
from haversack.store.records import Filters
from haversack.values import asdict
from tests.conftest import Clock

HALF = "half " + chr(0xD83D)


@pytest.fixture
def full(caller: Caller, clock: Clock) -> Caller:
    """A store with one of everything."""
    memory = caller.memory
    session = sessions.start(memory, identifier="s1", project="p", namespace="")
    sessions.end(memory, session.id, "what was done")
    for number in range(8):
        draft = Draft(
            title=f"Titel {number} 汉字", content=f"text {number} 🙂\nsecond line", kind="decision", project="P",
            tags=("a", "Ü") if number % 2 else (), importance=number / 10, namespace="n" if number == 7 else "",
            topic_key=f"topic/{number}" if number < 3 else "", pinned=number == 4, tool_name="t",
        )  # fmt: skip
        pipeline.save(memory, draft)
        clock.advance(minutes=1)
    pipeline.save(memory, Draft(title="Titel 0 new", content="a new text", project="P", topic_key="topic/0"))
    edits.update(memory, 2, Changes(content="changed", verification="verified", status="archived"))
    pipeline.save(memory, Draft(title="Titel 5 汉字", content="text 5 🙂\nsecond line", kind="decision", project="P"))
    context.recall(memory, 3)
    edits.delete(memory, 6, hard=True)
    edits.delete(memory, 5)
    relating.relate(memory, 1, 2, "supersedes", note="after the audit", strength=0.4)
    relating.relate(memory, 3, 4, "fixes", bidirectional=True)
    sessions.save_prompt(memory, "do it\nplease", project="p")
    return caller


@pytest.fixture
def fresh(tmp_path: Path, clock: Clock) -> Iterator[Caller]:
    made = open_caller(Config(home=str(tmp_path / "fresh")), directory=str(tmp_path), now=clock)
    yield made
    made.app.close()


def everything(caller: Caller) -> dict[str, object]:
    with caller.database.read() as tx:
        rows = list(observations.everything(tx))
        order = [each.uid for each in sorted(rows, key=lambda row: row.position)]
        uids = {each.id: each.uid for each in rows}
        return {
            "observations": [
                {name: value for name, value in asdict(each).items() if name != "position"} for each in rows
            ],
            "order": order,
            "revisions": {each.uid: observations.revisions(tx, each.id) for each in rows},
            "relations": {
                (uids[each.from_id], uids[each.to_id], each.type, each.note, each.strength, each.created_at)
                for each in relations.everything(tx)
            },
        }


def test_a_round_trip_loses_nothing(full: Caller, fresh: Caller) -> None:
    lines = list(transfer.export(full.memory, include_deleted=True))
    done = transfer.import_(fresh.memory, lines)
    assert everything(fresh) == everything(full)
    assert (done.added, done.updated, done.known) == (len(lines) - 1, 0, 1)
    with fresh.database.read() as tx:
        assert tx.words.check() == ""


def test_what_was_imported_is_found_counted_and_grouped_as_before(full: Caller, fresh: Caller) -> None:
    transfer.import_(fresh.memory, transfer.export(full.memory, include_deleted=True))
    for caller in (full, fresh):
        found = finding.search(caller.memory, "text titel", finding.filters(caller.memory), limit=50)
        assert found.total == 5
    one, other = (asdict(statistics.statistics(caller.memory)) for caller in (full, fresh))
    one.pop("size_on_disk")
    other.pop("size_on_disk")
    assert one == other
    recents = [[each.id for each in context.recent(caller.memory, Filters(), 50)] for caller in (full, fresh)]
    assert recents[0] == recents[1]


def test_importing_twice_adds_nothing(full: Caller, fresh: Caller) -> None:
    lines = list(transfer.export(full.memory, include_deleted=True))
    transfer.import_(fresh.memory, lines)
    before = everything(fresh)
    done = transfer.import_(fresh.memory, lines)
    assert (done.added, done.updated, done.known) == (0, 0, len(lines))
    assert everything(fresh) == before


def test_an_export_can_be_imported_where_it_came_from(full: Caller) -> None:
    before = everything(full)
    done = transfer.import_(full.memory, list(transfer.export(full.memory, include_deleted=True)))
    assert (done.added, done.updated) == (0, 0)
    assert everything(full) == before


def test_a_newer_text_replaces_the_older_which_is_kept(full: Caller, fresh: Caller, clock: Clock) -> None:
    transfer.import_(fresh.memory, transfer.export(full.memory, include_deleted=True))
    clock.advance(days=1)
    edits.update(full.memory, 3, Changes(content="the latest", title="Who asked?"))
    done = transfer.import_(fresh.memory, transfer.export(full.memory, include_deleted=True))
    assert (done.updated, done.added) == (1, 0)
    found, revisions = edits.history(fresh.memory, 3)
    assert found.content == "the latest"
    assert [each.content for each in revisions] == ["text 2 🙂\nsecond line"]
    assert finding.search(fresh.memory, "latest", finding.filters(fresh.memory)).total == 1


def test_an_older_text_does_not_replace_a_newer(full: Caller, fresh: Caller, clock: Clock) -> None:
    lines = list(transfer.export(full.memory, include_deleted=True))
    transfer.import_(fresh.memory, lines)
    clock.advance(days=1)
    edits.update(fresh.memory, 3, Changes(content="changed here"))
    assert transfer.import_(fresh.memory, lines).updated == 0
    assert context.recall(fresh.memory, 3).content == "changed here"


def test_into_a_store_in_use_ids_are_new_and_relations_still_meet(full: Caller, fresh: Caller) -> None:
    pipeline.save(fresh.memory, Draft(title="mine", content="mine", project="p"))
    transfer.import_(fresh.memory, transfer.export(full.memory, include_deleted=True))
    with fresh.database.read() as tx:
        titles = {each.id: each.title for each in observations.everything(tx)}
        ends = {
            (titles[each.from_id], titles[each.to_id]) for each in relations.everything(tx) if each.type == "supersedes"
        }
    assert titles[1] == "mine"
    assert ends == {("Titel 0 new", "Titel 1 汉字")}


def test_a_rival_of_a_live_topic_keeps_its_text_under_no_topic(full: Caller, fresh: Caller) -> None:
    pipeline.save(fresh.memory, Draft(title="mine", content="mine", project="p", topic_key="topic/0"))
    transfer.import_(fresh.memory, transfer.export(full.memory, include_deleted=True))
    with fresh.database.read() as tx:
        topics = {each.title: each.topic_key for each in observations.everything(tx)}
    assert (topics["mine"], topics["Titel 0 new"]) == ("topic/0", "")


def an_observation(full: Caller) -> dict[str, object]:
    found: dict[str, object] = next(
        row
        for row in map(json.loads, transfer.export(full.memory, include_deleted=True))
        if row["type"] == "observation"
    )
    return found


@pytest.mark.parametrize(
    "wrong",
    [
        "not JSON",
        "[]",
        "7",
        "null",
        "{}",
        '{"type": "poem"}',
        '{"type": "observation"}',
        '{"type": "haversack", "format": 99}',
        '{"type": "session", "id": "x"}',
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_imported(full: Caller, fresh: Caller, wrong: str) -> None:
    lines = list(transfer.export(full.memory, include_deleted=True))
    with pytest.raises(InvalidArgument, match="line 4 ") as caught:
        transfer.import_(fresh.memory, [*lines[:3], wrong, *lines[3:]])
    assert "nothing was imported" in caught.value.hint
    assert context.count_observations(fresh.memory, Filters()) == 0
    assert sessions.recent(fresh.memory)[1] == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", None), ("title", 7), ("content", ["a"]), ("importance", "high"), ("importance", None), ("tags", "abc"),
        ("tags", [1]), ("created_at", "yesterday"), ("pinned", "yes"), ("session_id", "no such session"), ("uid", None),
        ("deleted_at", "never"), ("colour", "red"), ("title", HALF),
    ],
    ids=ascii,
)  # fmt: skip
def test_a_record_with_a_wrong_value_is_named_and_nothing_is_imported(
    full: Caller, fresh: Caller, field: str, value: object
) -> None:
    lines = list(transfer.export(full.memory, include_deleted=True))
    wrong = json.dumps(an_observation(full) | {field: value, "uid": "fresh" if field != "uid" else value})
    with pytest.raises(InvalidArgument, match=f"line {len(lines) + 1} "):
        transfer.import_(fresh.memory, [*lines, wrong])
    assert context.count_observations(fresh.memory, Filters()) == 0


@pytest.mark.parametrize("kind", ["revision", "prompt", "relation"])
def test_a_record_that_hangs_in_the_air_is_named(full: Caller, fresh: Caller, kind: str) -> None:
    lonely = next(
        line for line in transfer.export(full.memory, include_deleted=True) if json.loads(line)["type"] == kind
    )
    with pytest.raises(InvalidArgument, match="line 1 "):
        transfer.import_(fresh.memory, [lonely])


def test_blank_lines_do_not_matter(full: Caller, fresh: Caller) -> None:
    lines = [line for each in transfer.export(full.memory, include_deleted=True) for line in (each, "", "  \n")]
    transfer.import_(fresh.memory, lines)
    assert everything(fresh) == everything(full)


def test_every_line_is_one_json_document_without_line_breaks(full: Caller) -> None:
    for line in transfer.export(full.memory, include_deleted=True):
        assert "\n" not in line
        assert json.loads(line)["type"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", 2**63 - 1),
        ("id", 0),
        ("kind", "fix\n📏 ~3 tokens"),
        ("verification", "certain"),
        ("status", "gone"),
        ("scope", "everyone"),
        ("importance", 7.0),
        ("title", "x" * 501),
        ("content", "x" * 300_000),
        ("project", "a\nb"),
        ("access_count", 10**30),
    ],
)
def test_an_import_is_checked_as_a_save_is(field: str, value: object, full: Caller, fresh: Caller) -> None:
    lines = [json.loads(line) for line in transfer.export(full.memory)]
    next(line for line in lines if line["type"] == "observation")[field] = value
    with pytest.raises(InvalidArgument, match="cannot be imported"):
        transfer.import_(fresh.memory, [json.dumps(line) for line in lines])
    assert not any('"observation"' in line for line in transfer.export(fresh.memory))


def test_secrets_are_taken_out_of_an_import(full: Caller, fresh: Caller) -> None:
    lines = [json.loads(line) for line in transfer.export(full.memory)]
    next(line for line in lines if line["type"] == "observation")["content"] = "token ghp_" + "a1B2" * 9
    transfer.import_(fresh.memory, [json.dumps(line) for line in lines])
    assert "ghp_" not in "".join(transfer.export(fresh.memory))


def test_a_line_nested_too_deeply_is_named(fresh: Caller) -> None:
    with pytest.raises(InvalidArgument, match=r"line 1 .* nested too deeply"):
        transfer.import_(fresh.memory, ["[" * 100_000])
