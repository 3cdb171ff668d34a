"""Search by meaning, with a model of three notions in place of an installed one."""

import json
from collections.abc import Sequence

import pytest

from haversack.app import Caller, open_caller
from haversack.cli import main
from haversack.config import MemorySettings
from haversack.errors import ConfigError
from haversack.memory.meaning import models, similarity
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store import vectors
from haversack.tools.road.call import call
from haversack.values import replace
from tests.conftest import Clock

NOTIONS = ({"dog", "hound", "barks"}, {"bill", "bills", "invoice", "invoices", "paid"}, {"database", "postgresql"})


class ThreeNotions:
    """A text is how often it names each of three notions."""

    name = "wordllama"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        words = [{word.strip(".:,?").lower() for word in text.split()} for text in texts]
        return [bytes(len(each & notion) for notion in NOTIONS) for each in words]

    def closeness(self, text: str, held: Sequence[bytes]) -> list[float]:
        asked = self.embed([text])[0]
        return [min(1.0, float(sum(a * b for a, b in zip(asked, each, strict=True)))) for each in held]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ThreeNotions:
    made = ThreeNotions()
    monkeypatch.setattr(models, "installed_model", lambda: made.name)
    monkeypatch.setattr(models, "embedder", lambda name: made)
    return made


def save(caller: Caller, title: str, content: str) -> int:
    return pipeline.save(caller.memory, Draft(title, content, project="p")).id


def found(caller: Caller, text: str) -> list[int]:
    chosen = search.filters(caller.memory, project="p")
    return [hit.observation.id for hit in search.search(caller.memory, text, chosen).hits]


@pytest.mark.usefixtures("model")
def test_a_memory_is_found_by_its_meaning_when_it_shares_no_word_with_the_question(caller: Caller) -> None:
    hound = save(caller, "Night", "The hound barks.")
    save(caller, "Friday", "Invoices are due.")
    assert found(caller, "which dog is loud") == []
    told: list[tuple[int, int]] = []
    assert similarity.reembed(caller.memory, step=lambda made, wanted: told.append((made, wanted))).embedded == 2
    assert told[-1] == (2, 2)
    assert found(caller, "which dog is loud") == [hound]
    assert f"#{hound} Night" in call(caller, "mem_search", {"query": "which dog is loud", "project": "p"}).text


@pytest.mark.usefixtures("model")
def test_of_two_memories_with_the_same_words_the_nearer_in_meaning_comes_first(caller: Caller) -> None:
    near = save(caller, "Report one", "The yearly report names the invoices.")
    save(caller, "Report two", "The yearly report names the gardens.")
    similarity.reembed(caller.memory)
    assert found(caller, "which report is about bills")[0] == near


@pytest.mark.usefixtures("model")
def test_meaning_that_is_switched_off_changes_nothing(caller: Caller) -> None:
    save(caller, "Night", "The hound barks.")
    similarity.reembed(caller.memory)
    config = replace(caller.config, memory=MemorySettings(semantic="off"))
    deaf = open_caller(config, directory=caller.directory, now=caller.now)
    assert found(deaf, "which dog is loud") == []
    with pytest.raises(ConfigError, match="off"):
        similarity.reembed(deaf.memory)
    deaf.app.close()


def test_a_store_without_vectors_never_asks_for_a_model(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> str:
        raise AssertionError("a model was asked for")

    monkeypatch.setattr(models, "installed_model", asked)
    hound = save(caller, "Night", "The hound barks.")
    assert found(caller, "hound") == [hound]


def test_vectors_of_a_model_that_is_gone_are_left_alone(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    hound = save(caller, "Night", "The hound barks.")
    with caller.database.write() as tx:
        vectors.put(tx, hound, "another-model", "x", b"\1\2\3")
    monkeypatch.setattr(models, "installed_model", lambda: "")
    assert found(caller, "hound") == [hound]


@pytest.mark.usefixtures("model")
def test_a_changed_text_loses_its_vector_until_it_is_embedded_again(caller: Caller) -> None:
    changed = save(caller, "Note", "The hound barks.")
    similarity.reembed(caller.memory)
    assert similarity.reembed(caller.memory).embedded == 0
    edits.update(caller.memory, changed, Changes(content="Invoices are due."))
    assert found(caller, "which dog is loud") == []
    assert similarity.reembed(caller.memory).embedded == 1
    assert found(caller, "what must be paid") == [changed]


def test_an_interrupted_reembedding_goes_on_where_it_was(caller: Caller, model: ThreeNotions) -> None:
    for number in range(3 * similarity.BATCH):
        save(caller, f"Note {number}", f"The hound barks {number} times.")

    def stop(_made: int, _wanted: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        similarity.reembed(caller.memory, step=stop)
    resumed = similarity.reembed(caller.memory)
    assert resumed.embedded == 2 * similarity.BATCH and resumed.lacking == 0
    assert similarity.reembed(caller.memory, anew=True).embedded == 3 * similarity.BATCH
    with caller.database.read() as tx:
        assert vectors.models(tx) == [model.name]


@pytest.mark.usefixtures("model")
def test_a_server_embeds_what_it_saves_and_a_single_command_leaves_it(caller: Caller, clock: Clock) -> None:
    by_command = save(caller, "Night", "The hound barks.")
    with caller.database.read() as tx:
        assert [each.id for each in vectors.lacking(tx, ThreeNotions.name, 10)] == [by_command]
    server = open_caller(caller.config, directory=caller.directory, now=clock, own_account=True)
    by_server = save(server, "Friday", "Invoices are due.")
    server.app.close()
    # What the command left the server may have caught up with, if it had the time.
    with caller.database.read() as tx:
        assert by_server not in [each.id for each in vectors.lacking(tx, ThreeNotions.name, 10)]


@pytest.mark.usefixtures("model")
def test_a_server_embeds_a_changed_text_again(caller: Caller, clock: Clock) -> None:
    changed = save(caller, "Night", "The hound barks.")
    server = open_caller(caller.config, directory=caller.directory, now=clock, own_account=True)
    call(server, "mem_update", {"id": changed, "content": "Invoices are due."})
    server.app.close()
    with caller.database.read() as tx:
        assert vectors.lacking(tx, ThreeNotions.name, 10) == []


@pytest.mark.usefixtures("model")
def test_a_deleted_memory_takes_its_vector_along(caller: Caller) -> None:
    gone = save(caller, "Night", "The hound barks.")
    similarity.reembed(caller.memory)
    edits.delete(caller.memory, gone, hard=True)
    with caller.database.read() as tx:
        assert vectors.models(tx) == []


@pytest.mark.usefixtures("model")
def test_reembed_is_a_command_and_answers_in_json(caller: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    save(caller, "Night", "The hound barks.")
    assert main(["reembed", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["embedded"], found["lacking"]) == ("wordllama", 1, 0)


def test_reembed_without_a_model_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "installed_model", lambda: "")
    assert main(["reembed"]) == 1
    assert "haversack[semantic]" in capsys.readouterr().err


def test_a_wrong_setting_is_named(caller: Caller) -> None:
    memory = replace(caller.memory, settings=MemorySettings(semantic="sometimes"))
    with pytest.raises(ConfigError, match="sometimes"):
        similarity.model_of(memory)


def test_an_installed_model_puts_like_meanings_near_each_other() -> None:
    name = models.installed_model()
    if not name:
        pytest.skip("haversack[semantic] is not installed")
    found = models.embedder(name)
    held = found.embed(["The hound barks at night.", "Invoices are due on Friday."])
    near, far = found.closeness("a dog makes noise in the evening", held)
    assert near > far
