"""The installed models: one folder for each below the home folder, with a note of its source."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from haversack.errors import ConfigError, Conflict, DamagedFile, InvalidArgument, NotFound
from haversack.memory.meaning.model_sources import (
    PUBLISHED,
    Step,
    copy_model,
    digest_of,
    fetch,
    fetch_published,
    is_address,
)
from haversack.memory.meaning.models import NEEDED
from haversack.memory.meaning.onnx_model import ModelFiles, OnnxModel, find_model
from haversack.patterns import pattern
from haversack.private_files import FILE_MODE, FOLDER_MODE, make_folders
from haversack.values import asdict, record

FOLDER = "models"
NOTE = "haversack.json"
_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_SAMPLE = "a sentence that a model must be able to read"


@record
class InstalledModel:
    """A model that can be used: its folder, what its vectors are stored under, and where it came from."""

    name: str
    folder: str
    stored_as: str
    dimensions: int
    bytes: int
    source: str
    sha256: str


def installed(home: str) -> list[InstalledModel]:
    """The models below a home folder, by name; a folder without a note is none."""
    base = os.path.join(home, FOLDER)
    names = sorted(os.listdir(base)) if os.path.isdir(base) else []
    return [found for name in names if _NAME.fullmatch(name) and (found := _read(os.path.join(base, name)))]


def installed_named(home: str, name: str) -> InstalledModel:
    """One of them; an error that names them all when it is not there."""
    held = installed(home)
    for each in held:
        if each.name == name:
            return each
    there = ", ".join(each.name for each in held) or "none"
    raise NotFound(f"no model {name[:80]!r} is installed", hint=f"installed: {there}; `haversack model get` gets one")


def install(home: str, source: str, *, name: str, sha256: str, replaces: bool, step: Step) -> InstalledModel:
    """Get a model from a source, test it and install it; a failure leaves nothing behind.

    A source is a folder, an ONNX file, a .jar or .zip archive, an address of such an archive, or the name of a
    published model. With `sha256` an archive or a file must have that digest.
    """
    _refuse_without_runtime()
    if name and not _NAME.fullmatch(name):
        raise InvalidArgument(f"{name[:80]!r} is not a name for a model", hint="use letters, digits, dots and dashes")
    base = os.path.join(home, FOLDER)
    published = None if os.path.exists(source) else PUBLISHED.get(source)
    address = published.artifact if published else source
    fetched = ""
    if published:
        path = fetched = fetch_published(published, os.path.join(base, "fetched"))
        _check_local(path, sha256)
    elif is_address(address):
        path = fetched = fetch(address, os.path.join(base, "fetched"), sha256, step)
    else:
        path = os.path.abspath(os.path.expanduser(source))
        _check_local(path, sha256)
    with _unfinished(base) as folder:
        label = copy_model(path, folder, step)
        made = _describe(folder, name or (source if published else label), address, path)
        target = os.path.join(base, made.name)
        if os.path.exists(target) and not replaces:
            raise Conflict(f"a model {made.name!r} is there already", hint="choose --name, or replace it with --force")
        held = InstalledModel(**(asdict(made) | {"folder": target}))
        _write_note(folder, held)
        _put_in_place(folder, target)
    if fetched:
        os.remove(fetched)
    return held


def _refuse_without_runtime() -> None:
    missing = [each for each in (*NEEDED, "onnxruntime") if find_spec(each) is None]
    if missing:
        raise ConfigError(f"a sentence model needs {', '.join(missing)}", hint="pip install 'haversack[semantic]'")


def _check_local(path: str, sha256: str) -> None:
    if not os.path.exists(path):
        known = ", ".join(PUBLISHED)
        raise NotFound(
            f"there is no file or folder {path}, and no published model of that name",
            hint=f"give a folder, an ONNX file, a .jar or .zip archive, an address, or a published model: {known}",
        )
    if sha256 and os.path.isdir(path):
        raise InvalidArgument("a folder has no SHA-256", hint="name the archive or the ONNX file")
    if sha256 and (found := digest_of(path)) != sha256.lower():
        raise DamagedFile(f"{path} has the SHA-256 {found}, not {sha256}", hint="get the file again")


@contextmanager
def _unfinished(base: str) -> Iterator[str]:
    """A temporary folder to fill, removed unless it is renamed into place."""
    make_folders(base)
    folder = os.path.join(base, f".new-{os.getpid()}")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder, FOLDER_MODE)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _describe(folder: str, name: str, source: str, path: str) -> InstalledModel:
    """The facts of a copied model; one that cannot be run is an error."""
    files = find_model(folder)
    try:
        (vector,) = OnnxModel(files)([_SAMPLE])
    except Exception as error:  # noqa: BLE001 - onnxruntime and tokenizers raise classes of their own for bad files
        raise DamagedFile(
            f"the model from {source} cannot be run: {str(error)[:200]}", hint="get a sentence-transformers ONNX model"
        ) from None
    cleaned = "".join(each if _NAME.fullmatch(f"a{each}") else "-" for each in name).strip("-._")[:80] or "model"
    size = sum(os.path.getsize(each.path) for each in os.scandir(folder) if each.is_file())
    stored_as = f"{cleaned}@{os.path.getsize(files.onnx)}"
    digest = digest_of(path) if os.path.isfile(path) else digest_of(files.onnx)
    return InstalledModel(cleaned, folder, stored_as, len(vector), size, source, digest)


def _write_note(folder: str, held: InstalledModel) -> None:
    told = {key: value for key, value in asdict(held).items() if key in ("dimensions", "source", "sha256")}
    descriptor = os.open(os.path.join(folder, NOTE), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, FILE_MODE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(told, file, ensure_ascii=False, indent=1)


def _put_in_place(folder: str, target: str) -> None:
    old = f"{folder}-old"
    if os.path.exists(target):
        os.rename(target, old)
    os.rename(folder, target)
    shutil.rmtree(old, ignore_errors=True)


def _read(folder: str) -> InstalledModel | None:
    try:
        with open(os.path.join(folder, NOTE), encoding="utf-8") as file:
            told = json.load(file)
        files = ModelFiles(os.path.join(folder, "model.onnx"), os.path.join(folder, "tokenizer.json"))
        size = sum(os.path.getsize(each.path) for each in os.scandir(folder) if each.is_file())
        return InstalledModel(
            os.path.basename(folder), folder, files.name, int(told["dimensions"]), size,
            str(told["source"]), str(told["sha256"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None  # an incomplete folder is no model; installing it again replaces it
