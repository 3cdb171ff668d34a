"""Packs that people keep: what a pack id stands for, what a delta prints, and what two packs differ in."""

import json
from typing import Any

import pytest

from haversack.app import App
from haversack.cli import main
from haversack.errors import NotFound
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from tests.conftest import Clock


def save(app: App, title: str, content: str, **more: object) -> int:
    reply = call(app, "mem_save", {"title": title, "content": content, "project": "p", "format": "json", **more})
    found: int = json.loads(reply.text)["id"]
    return found


def pack(app: App, **arguments: object) -> dict[str, Any]:
    reply = call(app, "context_pack", {"project": "p", "format": "json", **arguments})
    found: dict[str, Any] = json.loads(reply.text)
    assert reply.tokens == count_tokens(reply.text) == found["total_tokens"] <= found["budget"]
    return found


def ids(found: dict[str, Any]) -> list[int]:
    return [each["id"] for each in found["memories"]]


def test_a_pack_id_stands_for_what_was_shown_and_not_for_what_was_left_out(app: App) -> None:
    for number in range(6):
        save(app, f"Note {number}", f"Word{number} " * 60)
    small = pack(app, max_tokens=400)
    whole = pack(app, max_tokens=4000)
    assert 0 < len(ids(small)) < 6 == len(ids(whole))
    assert small["pack_id"] != whole["pack_id"]
    delta = pack(app, max_tokens=4000, since=small["pack_id"])
    assert sorted(ids(delta)) == sorted(set(ids(whole)) - set(ids(small)))


def test_the_same_question_gives_the_same_bytes_and_the_same_pack_id(app: App) -> None:
    save(app, "Deploys", "Deploys happen on Tuesday.")
    save(app, "Owner", "The owner of deploys is Ana.")
    arguments = {"project": "p", "query": "deploys", "format": "json", "max_tokens": 900}
    assert call(app, "context_pack", arguments).text == call(app, "context_pack", arguments).text


def test_a_delta_prints_new_and_changed_memories_alone(app: App) -> None:
    kept = save(app, "Kept", "This stays as it is.")
    edited = save(app, "Edited", "The port is 5432.")
    first = pack(app)
    call(app, "mem_update", {"id": edited, "content": "The port is 6543."})
    added = save(app, "Added", "A new fact.")
    delta = pack(app, since=first["pack_id"])
    assert sorted(ids(delta)) == [edited, added]
    assert kept not in ids(delta) and delta["unchanged"] == 1
    again = pack(app, since=delta["pack_id"])
    assert again["memories"] == [] and "Nothing has changed" in again["reason"]


def test_a_delta_finds_a_new_memory_that_ranks_below_all_the_reader_has(app: App) -> None:
    for number in range(8):
        save(app, f"Important {number}", f"Text number {number} of the first pack.", importance=0.9)
    first = pack(app, candidates=8, max_tokens=4000)
    assert len(ids(first)) == 8
    humble = save(app, "Humble", "Worth little, but new.", importance=0.1)
    assert ids(pack(app, candidates=8, since=first["pack_id"])) == [humble]


def test_a_text_that_returns_to_what_it_was_counts_as_changed(app: App) -> None:
    edited = save(app, "Port", "The port is 5432.")
    first = pack(app)
    call(app, "mem_update", {"id": edited, "content": "The port is 6543."})
    second = pack(app, since=first["pack_id"])
    call(app, "mem_update", {"id": edited, "content": "The port is 5432."})
    assert ids(pack(app, since=second["pack_id"])) == [edited]


def test_a_delta_names_what_is_no_longer_current_in_text_and_json(app: App) -> None:
    old = save(app, "Old way", "We deploy by hand.")
    wrong = save(app, "Wrong", "The moon is cheese.")
    first = pack(app)
    new = save(app, "New way", "We deploy by pipeline.")
    call(app, "mem_relate", {"from_id": new, "to_id": old, "relation_type": "supersedes"})
    call(app, "mem_delete", {"id": wrong})
    delta = pack(app, since=first["pack_id"])
    assert ids(delta) == [new] and delta["gone"] == [old, wrong]
    text = call(app, "context_pack", {"project": "p", "since": first["pack_id"]}).text
    assert f"No longer current: #{old}, #{wrong}" in text


def test_an_unknown_pack_id_is_an_error_that_says_where_ids_come_from(app: App) -> None:
    with pytest.raises(NotFound, match="p000000000000") as raised:
        pack(app, since="p000000000000")
    assert "context-pack --json" in raised.value.hint


def test_scrub_takes_secrets_out_of_title_and_content_and_of_the_omitted_list(app: App) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    loose = App(app.config, directory=app.directory, now=app.now)
    with loose.database.write() as tx:
        identifier = save(loose, "Key", "Nothing yet.")
        tx.run(
            "UPDATE observations SET title = ?, content = ? WHERE id = ?",
            (f"Key {secret}", f"Use {secret} to log in. " * 30, identifier),
        )
    for budget in (150, 4000):
        reply = call(app, "context_pack", {"project": "p", "scrub": True, "format": "json", "max_tokens": budget})
        assert secret not in reply.text
    assert secret in call(app, "context_pack", {"project": "p", "max_tokens": 4000}).text


def test_near_duplicates_take_no_space_twice_but_a_changed_figure_is_another_fact(app: App, clock: Clock) -> None:
    words = "the gateway keeps every connection open for a long while and closes it politely when nobody speaks on"
    first = save(app, "Gateway", f"{words} port 8080")
    clock.advance(days=1)
    twin = save(app, "Gateway", f"{words} port 8080 indeed")
    clock.advance(days=1)
    other = save(app, "Gateway", f"{words} port 9090")
    found = pack(app)
    assert {first, twin} - set(ids(found)) and other in ids(found)
    assert len(found["near_duplicates"]) == 1


def test_pack_diff_of_two_ids_says_what_was_added_removed_and_changed(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    dropped = save(app, "Dropped", "This will go.")
    edited = save(app, "Edited", "The port is 5432.")
    first = pack(app)
    call(app, "mem_delete", {"id": dropped})
    call(app, "mem_update", {"id": edited, "content": "The port is 6543."})
    added = save(app, "Added", "A new fact.")
    second = pack(app)
    assert main(["pack", "diff", first["pack_id"], second["pack_id"]]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"+ #{added} Added",
        f"- #{dropped} Dropped",
        f"~ #{edited} Edited",
        "1 added, 1 removed, 1 changed, 0 unchanged",
    ]


def test_pack_diff_reads_saved_packs_and_answers_in_json(
    app: App, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    save(app, "Kept", "This stays as it is.")
    edited = save(app, "Edited", "The port is 5432.")
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(pack(app)))
    call(app, "mem_update", {"id": edited, "title": "Edited again"})
    last = pack(app)
    after.write_text(json.dumps(last))
    assert main(["pack", "diff", str(before), str(after), "--json"]) == 0
    of_files = json.loads(capsys.readouterr().out)
    assert of_files == {
        "added": [],
        "removed": [],
        "changed": [{"id": edited, "title": "Edited again"}],
        "unchanged": 1,
    }
    assert main(["pack", "diff", str(before), last["pack_id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == of_files


def test_pack_diff_refuses_a_file_that_is_no_pack(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"memories": 3}')
    assert main(["pack", "diff", str(wrong), str(wrong)]) == 1
    assert "holds no memories" in capsys.readouterr().err
