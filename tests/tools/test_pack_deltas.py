"""Packs that people keep: what a pack id stands for, what a delta prints, and what two packs differ in."""

import json
from typing import Any

import pytest

from haversack.app import Caller, open_caller
from haversack.cli import main
from haversack.errors import NotFound
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from tests.conftest import Clock


def save(caller: Caller, title: str, content: str, **more: object) -> int:
    reply = call(caller, "mem_save", {"title": title, "content": content, "project": "p", "format": "json", **more})
    found: int = json.loads(reply.text)["id"]
    return found


def pack(caller: Caller, **arguments: object) -> dict[str, Any]:
    reply = call(caller, "context_pack", {"project": "p", "format": "json", **arguments})
    found: dict[str, Any] = json.loads(reply.text)
    assert reply.tokens == count_tokens(reply.text) == found["total_tokens"] <= found["budget"]
    return found


def ids(found: dict[str, Any]) -> list[int]:
    return [each["id"] for each in found["memories"]]


def test_a_pack_id_stands_for_what_was_shown_and_not_for_what_was_left_out(caller: Caller) -> None:
    for number in range(6):
        save(caller, f"Note {number}", f"Word{number} " * 60)
    small = pack(caller, max_tokens=400)
    whole = pack(caller, max_tokens=4000)
    assert 0 < len(ids(small)) < 6 == len(ids(whole))
    assert small["pack_id"] != whole["pack_id"]
    delta = pack(caller, max_tokens=4000, since=small["pack_id"])
    assert sorted(ids(delta)) == sorted(set(ids(whole)) - set(ids(small)))


def test_the_same_question_gives_the_same_bytes_and_the_same_pack_id(caller: Caller) -> None:
    save(caller, "Deploys", "Deploys happen on Tuesday.")
    save(caller, "Owner", "The owner of deploys is Ana.")
    arguments = {"project": "p", "query": "deploys", "format": "json", "max_tokens": 900}
    assert call(caller, "context_pack", arguments).text == call(caller, "context_pack", arguments).text


def test_a_delta_prints_new_and_changed_memories_alone(caller: Caller) -> None:
    kept = save(caller, "Kept", "This stays as it is.")
    edited = save(caller, "Edited", "The port is 5432.")
    first = pack(caller)
    call(caller, "mem_update", {"id": edited, "content": "The port is 6543."})
    added = save(caller, "Added", "A new fact.")
    delta = pack(caller, since=first["pack_id"])
    assert sorted(ids(delta)) == [edited, added]
    assert kept not in ids(delta) and delta["unchanged"] == 1
    again = pack(caller, since=delta["pack_id"])
    assert again["memories"] == [] and "Nothing has changed" in again["reason"]


def test_a_delta_finds_a_new_memory_that_ranks_below_all_the_reader_has(caller: Caller) -> None:
    for number in range(8):
        save(caller, f"Important {number}", f"Text number {number} of the first pack.", importance=0.9)
    first = pack(caller, candidates=8, max_tokens=4000)
    assert len(ids(first)) == 8
    humble = save(caller, "Humble", "Worth little, but new.", importance=0.1)
    assert ids(pack(caller, candidates=8, since=first["pack_id"])) == [humble]


def test_a_text_that_returns_to_what_it_was_counts_as_changed(caller: Caller) -> None:
    edited = save(caller, "Port", "The port is 5432.")
    first = pack(caller)
    call(caller, "mem_update", {"id": edited, "content": "The port is 6543."})
    second = pack(caller, since=first["pack_id"])
    call(caller, "mem_update", {"id": edited, "content": "The port is 5432."})
    assert ids(pack(caller, since=second["pack_id"])) == [edited]


def test_a_delta_names_what_is_no_longer_current_in_text_and_json(caller: Caller) -> None:
    old = save(caller, "Old way", "We deploy by hand.")
    wrong = save(caller, "Wrong", "The moon is cheese.")
    first = pack(caller)
    new = save(caller, "New way", "We deploy by pipeline.")
    call(caller, "mem_relate", {"from_id": new, "to_id": old, "relation_type": "supersedes"})
    call(caller, "mem_delete", {"id": wrong})
    delta = pack(caller, since=first["pack_id"])
    assert ids(delta) == [new] and delta["gone"] == [old, wrong]
    text = call(caller, "context_pack", {"project": "p", "since": first["pack_id"]}).text
    assert f"No longer current: #{old}, #{wrong}" in text


def test_an_unknown_pack_id_is_an_error_that_says_where_ids_come_from(caller: Caller) -> None:
    with pytest.raises(NotFound, match="p000000000000") as raised:
        pack(caller, since="p000000000000")
    assert "context-pack --json" in raised.value.hint


def test_scrub_takes_secrets_out_of_title_and_content_and_of_the_omitted_list(caller: Caller) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    loose = open_caller(caller.config, directory=caller.directory, now=caller.now)
    with loose.database.write() as tx:
        identifier = save(loose, "Key", "Nothing yet.")
        tx.run(
            "UPDATE observations SET title = ?, content = ? WHERE id = ?",
            (f"Key {secret}", f"Use {secret} to log in. " * 30, identifier),
        )
    for budget in (150, 4000):
        reply = call(caller, "context_pack", {"project": "p", "scrub": True, "format": "json", "max_tokens": budget})
        assert secret not in reply.text
    assert secret in call(caller, "context_pack", {"project": "p", "max_tokens": 4000}).text


def test_near_duplicates_take_no_space_twice_but_a_changed_figure_is_another_fact(caller: Caller, clock: Clock) -> None:
    words = "the gateway keeps every connection open for a long while and closes it politely when nobody speaks on"
    first = save(caller, "Gateway", f"{words} port 8080")
    clock.advance(days=1)
    twin = save(caller, "Gateway", f"{words} port 8080 indeed")
    clock.advance(days=1)
    other = save(caller, "Gateway", f"{words} port 9090")
    found = pack(caller)
    assert {first, twin} - set(ids(found)) and other in ids(found)
    assert len(found["near_duplicates"]) == 1


def test_pack_diff_of_two_ids_says_what_was_added_removed_and_changed(
    caller: Caller, capsys: pytest.CaptureFixture[str]
) -> None:
    dropped = save(caller, "Dropped", "This will go.")
    edited = save(caller, "Edited", "The port is 5432.")
    first = pack(caller)
    call(caller, "mem_delete", {"id": dropped})
    call(caller, "mem_update", {"id": edited, "content": "The port is 6543."})
    added = save(caller, "Added", "A new fact.")
    second = pack(caller)
    assert main(["pack", "diff", first["pack_id"], second["pack_id"]]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "1 added, 1 removed, 1 changed, 0 unchanged",
        f"+ #{added} Added",
        f"- #{dropped} Dropped",
        f"~ #{edited} Edited",
    ]


def test_pack_diff_reads_saved_packs_and_answers_in_json(
    caller: Caller, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    save(caller, "Kept", "This stays as it is.")
    edited = save(caller, "Edited", "The port is 5432.")
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(pack(caller)))
    call(caller, "mem_update", {"id": edited, "title": "Edited again"})
    last = pack(caller)
    after.write_text(json.dumps(last))
    assert main(["pack", "diff", str(before), str(after), "--json"]) == 0
    of_files = json.loads(capsys.readouterr().out)
    assert of_files["changes"] == [{"change": "changed", "id": edited, "title": "Edited again"}]
    assert [of_files[name] for name in ("added", "removed", "changed", "unchanged")] == [0, 0, 1, 1]
    assert main(["pack", "diff", str(before), last["pack_id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == of_files


def test_pack_diff_refuses_a_file_that_is_no_pack(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"memories": 3}')
    assert main(["pack", "diff", str(wrong), str(wrong)]) == 1
    assert "holds no memories" in capsys.readouterr().err
