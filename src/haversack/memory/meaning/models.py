"""Models that turn texts into vectors: an ONNX folder the user names, else wordllama, whose weights are in its wheel.

Nothing is ever downloaded. Of wordllama only the files are read, never its code. Nothing here is imported before a
vector is wanted.
"""

import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

from haversack.errors import ConfigError

NEEDED = ("numpy", "tokenizers")
FALLBACK = "wordllama"
LONGEST = 4_000
"""Characters of a text that are given to a model."""
_SCALE = 127.0


class Model(Protocol):
    """A model in memory: texts in, unit vectors out, one row for each."""

    def __call__(self, texts: Sequence[str]) -> Any: ...


class Embedder:
    """Vectors of one model as they are stored: a signed byte for each dimension."""

    def __init__(self, name: str, model: Model) -> None:
        self.name = name
        self._model = model
        self._last: tuple[str, Any] | None = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text."""
        import numpy

        found = self._model([text[:LONGEST] for text in texts])
        return [row.tobytes() for row in numpy.rint(found * _SCALE).astype(numpy.int8)]

    def asked(self, text: str) -> Any:
        """The unit vector of a question; that of the last one is kept, since a search asks for it several times."""
        held = self._last
        if held is None or held[0] != text:
            held = self._last = (text, self._model([text[:LONGEST]])[0])
        return held[1]

    def closeness(self, text: str, vectors: Sequence[bytes]) -> list[float]:
        """The cosine similarity of each vector to a text, from -1 to 1."""
        import numpy

        if not vectors:
            return []
        asked = self.asked(text)
        held = numpy.frombuffer(b"".join(vectors), dtype=numpy.int8).reshape(len(vectors), -1)
        found: list[float] = (held.astype(numpy.float32) @ asked / _SCALE).tolist()
        return found


def installed_model() -> str:
    """The name of the model inside an installed package; empty without one. Nothing is loaded."""
    if any(find_spec(name) is None for name in NEEDED):
        return ""
    return FALLBACK if find_spec(FALLBACK) else ""


def configured_model(setting: str) -> str:
    """The name under which vectors of the model a `memory.model` names are stored. Nothing is loaded."""
    if any(find_spec(name) is None for name in (*NEEDED, "onnxruntime")):
        raise ConfigError(
            f"memory.model is {setting!r}, which needs onnxruntime", hint="pip install 'haversack[semantic]'"
        )
    from haversack.memory.meaning.onnx_model import find_model

    return find_model(setting).name


@cache
def embedder(name: str) -> Embedder:
    """The model inside the package of that name, loaded once."""
    spec = find_spec(name)
    assert spec is not None and spec.submodule_search_locations
    return Embedder(name, _static_model(spec.submodule_search_locations[0]))


@cache
def onnx_embedder(setting: str) -> Embedder:
    """The model a `memory.model` names, loaded once."""
    from haversack.memory.meaning.onnx_model import OnnxModel, find_model

    files = find_model(setting)
    return Embedder(files.name, OnnxModel(files))


def read_tensors(path: str) -> dict[str, Any]:
    """The arrays of a safetensors file, by name: a header of JSON, then the numbers."""
    import json

    import numpy

    kinds = {"F32": numpy.float32, "F16": numpy.float16}
    with open(path, "rb") as file:
        content = file.read()
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, about in json.loads(content[8:start]).items():
        if name == "__metadata__" or about["dtype"] not in kinds:
            continue
        first, last = about["data_offsets"]
        kind = numpy.dtype(kinds[about["dtype"]])
        flat = numpy.frombuffer(content, dtype=kind, offset=start + first, count=(last - first) // kind.itemsize)
        tensors[name] = flat.reshape(about["shape"])
    return tensors


def read_tokenizer(path: str) -> Any:
    """A tokenizer from its file, without padding."""
    from tokenizers import Tokenizer

    found = Tokenizer.from_file(path)
    found.no_padding()
    found.no_truncation()
    return found


def _static_model(folder: str) -> Model:
    """A table of one vector for each token; a text is the mean of its tokens."""
    import numpy

    tokenizer = read_tokenizer(os.path.join(folder, "tokenizers", "l2_supercat_tokenizer_config.json"))
    (table,) = read_tensors(os.path.join(folder, "weights", "l2_supercat_256.safetensors")).values()

    def embed(texts: Sequence[str]) -> Any:
        found = numpy.zeros((len(texts), table.shape[1]), dtype=numpy.float32)
        for row, encoding in enumerate(tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            if encoding.ids:
                found[row] = table[encoding.ids].astype(numpy.float32).mean(axis=0)
        return found / numpy.maximum(numpy.linalg.norm(found, axis=1, keepdims=True), 1e-9)

    return embed
