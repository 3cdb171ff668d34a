"""Sentence models as ONNX files, run by onnxruntime: any folder in the layout of sentence-transformers."""

import glob
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from haversack.config import default_home
from haversack.errors import ConfigError
from haversack.values import record

MOST_TOKENS = 256
"""Tokens of a text that the model reads: beyond this a vector of a note hardly changes, and the time doubles."""
BATCH = 16
_ONNX_FILES = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx", "*.onnx")
_TOKENIZERS = ("tokenizer.json", "*tokenizer.json")
_CACHES = (
    ("HF_HOME", "~/.cache/huggingface", "hub/models--{}/snapshots/*"),
    ("SENTENCE_TRANSFORMERS_HOME", "~/.cache/torch/sentence_transformers", "{}"),
)


@record
class ModelFiles:
    """The files of one model."""

    onnx: str
    tokenizer: str

    @property
    def label(self) -> str:
        """The name shown to people: its file's name, or its folder's where the file has a usual name."""
        folder, file = os.path.split(self.onnx)
        stem = file.removesuffix(".onnx")
        return stem if stem not in ("model", "model_quantized") else os.path.basename(folder.removesuffix("/onnx"))

    @property
    def name(self) -> str:
        """The name this model's vectors are stored under, with the file size to distinguish files."""
        return f"{self.label}@{os.path.getsize(self.onnx)}"


def find_model(setting: str) -> ModelFiles:
    """The files a `memory.model` names: a folder, an ONNX file, or a name in the caches of model libraries."""
    for place in _places(setting):
        found = files_in(place)
        if found is not None:
            return found
    raise ConfigError(
        f"memory.model is {setting!r}, but there is no ONNX file with a tokenizer.json under that path or name",
        hint="give the path of a folder with model.onnx and tokenizer.json, or set memory.model to an empty string",
    )


def _places(setting: str) -> Iterator[str]:
    path = os.path.expanduser(setting)
    yield path
    if os.path.exists(path):
        return
    yield os.path.join(default_home(os.environ), "models", setting)
    for variable, usual, pattern in _CACHES:
        base = os.environ.get(variable) or os.path.expanduser(usual)
        for spelled in (setting.replace("/", "--"), setting.replace("/", "_")):
            yield from sorted(glob.glob(os.path.join(glob.escape(base), pattern.format(glob.escape(spelled)))))


def files_in(path: str) -> ModelFiles | None:
    """The model at a path: that of a folder, or an ONNX file with its tokenizer beside or above it."""
    if path.endswith(".onnx") and os.path.isfile(path):
        onnx, folders = path, [os.path.dirname(path), os.path.dirname(os.path.dirname(path))]
    else:
        onnx, folders = _first(path, _ONNX_FILES), [path]
    tokenizer = next((found for folder in folders if (found := _first(folder, _TOKENIZERS))), "")
    return ModelFiles(onnx, tokenizer) if onnx and tokenizer else None


def _first(folder: str, patterns: Sequence[str]) -> str:
    for pattern in patterns:
        if found := sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
            return found[0]
    return ""


class OnnxModel:
    """A model in memory; a text's vector has length one."""

    def __init__(self, files: ModelFiles) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # Searches and saves go on beside it, so it leaves them half of the processors.
        options.intra_op_num_threads = max(1, (os.cpu_count() or 2) // 2)
        self._session = onnxruntime.InferenceSession(files.onnx, options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(files.tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._takes_first = takes_first_token(files)

    def __call__(self, texts: Sequence[str]) -> Any:
        import numpy

        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        # Texts of like length go together, so that little is padded.
        order = sorted(range(len(texts)), key=lambda each: len(tokens[each]))
        found: list[Any] = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            for each, vector in zip(part, self._embedded([tokens[each] for each in part]), strict=True):
                found[each] = vector
        return numpy.stack(found)

    def _embedded(self, batch: list[list[int]]) -> Any:
        import numpy

        length = max(1, *map(len, batch))
        ids: Any = numpy.zeros((len(batch), length), dtype=numpy.int64)
        present: Any = numpy.zeros((len(batch), length), dtype=numpy.int64)
        for row, each in enumerate(batch):
            ids[row, : len(each)] = each
            present[row, : len(each)] = 1
        given = {"input_ids": ids, "attention_mask": present, "token_type_ids": numpy.zeros_like(ids)}
        (states, *_) = self._session.run(None, {name: given[name] for name in self._inputs})
        if states.ndim == 3:
            weights = present[:, :, None].astype(states.dtype)
            mean = (states * weights).sum(axis=1) / numpy.maximum(weights.sum(axis=1), 1)
            states = states[:, 0] if self._takes_first else mean
        return states / numpy.maximum(numpy.linalg.norm(states, axis=1, keepdims=True), 1e-9)


def takes_first_token(files: ModelFiles) -> bool:
    """Whether a text is its first token's state (CLS) rather than the mean of all, as the model's folder says."""
    path = _first(os.path.dirname(files.tokenizer), ("1_Pooling/config.json",))
    if not path:
        return "bge" in os.path.basename(files.onnx).lower() or "bge" in files.name.lower()
    with open(path, encoding="utf-8") as file:
        return bool(json.load(file).get("pooling_mode_cls_token"))
