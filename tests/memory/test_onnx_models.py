"""Sentence models in ONNX files, with one of three dimensions made on the spot."""

import json
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config, MemorySettings
from haversack.errors import ConfigError
from haversack.memory.meaning import models, similarity
from haversack.memory.meaning.onnx_model import find_model
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search
from tests.conftest import Clock
from tests.memory.tiny_model import make_tiny_model

numpy = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_tiny_model(tmp_path / "three-notions", numpy, onnx, tokenizers)


def caller_with(model: str, home: Path, clock: Clock) -> Caller:
    return open_caller(Config(home=str(home), memory=MemorySettings(model=model)), directory=str(home), now=clock)


def test_a_folder_named_in_the_settings_finds_what_shares_no_word(folder: Path, tmp_path: Path, clock: Clock) -> None:
    caller = caller_with(str(folder), tmp_path / "home", clock)
    hound = save(caller.memory, Draft("Night", "The hound barks.", project="p")).id
    save(caller.memory, Draft("Friday", "The invoice was paid.", project="p"))
    done = similarity.reembed(caller.memory)
    assert done.embedded == 2
    assert done.model.startswith("three-notions@")
    found = search.search(caller.memory, "which dog is loud", search.filters(caller.memory, project="p"))
    assert [hit.observation.id for hit in found.hits] == [hound]
    assert dict(found.hits[0].parts)["meaning"] > 0
    caller.app.close()


def test_vectors_do_not_depend_on_what_else_is_in_the_batch(folder: Path) -> None:
    model = models.onnx_embedder(str(folder))
    texts = ["dog", "invoice bill paid dog", "database", ""]
    assert model.embed(texts) == [model.embed([text])[0] for text in texts]


def test_the_folder_says_whether_a_text_is_its_first_token_or_the_mean(folder: Path, tmp_path: Path) -> None:
    by_mean = models.onnx_embedder(str(folder)).closeness("dog", models.onnx_embedder(str(folder)).embed(["dog bill"]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    models.onnx_embedder.cache_clear()
    by_first = models.onnx_embedder(str(folder)).closeness("dog", models.onnx_embedder(str(folder)).embed(["dog bill"]))
    assert by_mean[0] == pytest.approx(0.707, abs=0.02)
    assert by_first[0] == pytest.approx(1.0, abs=0.02)


def test_a_name_is_looked_up_in_the_caches_of_model_libraries(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = tmp_path / "cache" / "hub" / "models--maker--three-notions" / "snapshots" / "abc" / "onnx"
    snapshot.mkdir(parents=True)
    (folder / "model.onnx").rename(snapshot / "model.onnx")
    (folder / "tokenizer.json").rename(snapshot.parent / "tokenizer.json")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    assert find_model("maker/three-notions").onnx == str(snapshot / "model.onnx")


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path: Path, clock: Clock) -> None:
    caller = caller_with(str(tmp_path / "nowhere"), tmp_path / "home", clock)
    with pytest.raises(ConfigError, match="nowhere"):
        similarity.model_of(caller.memory)
    with pytest.raises(ConfigError, match="nowhere"):
        similarity.reembed(caller.memory)
    caller.app.close()


def test_saving_and_searching_by_words_go_on_when_the_model_is_gone(folder: Path, tmp_path: Path, clock: Clock) -> None:
    caller = caller_with(str(folder), tmp_path / "home", clock)
    hound = save(caller.memory, Draft("Night", "The hound barks.", project="p")).id
    similarity.reembed(caller.memory)
    (folder / "model.onnx").unlink()
    similarity.Background().note(caller.memory, hound)
    found = search.search(caller.memory, "hound", search.filters(caller.memory, project="p"))
    assert [hit.observation.id for hit in found.hits] == [hound]
    caller.app.close()
