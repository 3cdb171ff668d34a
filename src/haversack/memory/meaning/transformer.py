"""A small sentence transformer (the BERT family) in NumPy alone, for texts of a few sentences."""

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy

from haversack.memory.meaning.models import read_tensors, read_tokenizer

MOST_TOKENS = 256
BATCH = 16


class Transformer:
    """A model read from its folder; a text's vector is the mean of its tokens' last states, of length one."""

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            shape = json.load(file)
        self.layers: int = shape["num_hidden_layers"]
        self.heads: int = shape["num_attention_heads"]
        self.epsilon: float = shape["layer_norm_eps"]
        self.weights = read_tensors(os.path.join(folder, "model.safetensors"))
        self.tokenizer = read_tokenizer(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.enable_truncation(MOST_TOKENS)

    def __call__(self, texts: Sequence[str]) -> Any:
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        # Texts of like length go together, so that little is padded.
        order = sorted(range(len(texts)), key=lambda each: len(tokens[each]))
        found: list[Any] = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            for each, vector in zip(part, self._embed([tokens[each] for each in part]), strict=True):
                found[each] = vector
        return numpy.stack(found)

    def _embed(self, batch: list[list[int]]) -> Any:
        length = max(map(len, batch))
        tokens: Any = numpy.zeros((len(batch), length), dtype=numpy.int64)
        present: Any = numpy.zeros((len(batch), length), dtype=numpy.float32)
        for row, each in enumerate(batch):
            tokens[row, : len(each)] = each
            present[row, : len(each)] = 1
        states = (
            self.weights["embeddings.word_embeddings.weight"][tokens]
            + self.weights["embeddings.position_embeddings.weight"][:length]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normal(states, "embeddings.LayerNorm")
        absent = (present - 1)[:, None, None, :] * 1e9
        for layer in range(self.layers):
            states = self._layer(states, f"encoder.layer.{layer}", absent)
        mean = (states * present[:, :, None]).sum(axis=1) / present.sum(axis=1, keepdims=True)
        return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)

    def _layer(self, states: Any, name: str, absent: Any) -> Any:
        attended = self._linear(
            self._attention(states, f"{name}.attention.self", absent), f"{name}.attention.output.dense"
        )
        states = self._normal(states + attended, f"{name}.attention.output.LayerNorm")
        wide = _gelu(self._linear(states, f"{name}.intermediate.dense"))
        return self._normal(states + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, states: Any, name: str, absent: Any) -> Any:
        rows, length, width = states.shape
        each = width // self.heads
        query, key, value = (
            self._linear(states, f"{name}.{part}").reshape(rows, length, self.heads, each).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / numpy.float32(each**0.5) + absent
        weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(0, 2, 1, 3).reshape(rows, length, width)

    def _linear(self, states: Any, name: str) -> Any:
        return states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _normal(self, states: Any, name: str) -> Any:
        centred = states - states.mean(axis=-1, keepdims=True)
        deviation = numpy.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self.epsilon)
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def _gelu(states: Any) -> Any:
    return 0.5 * states * (1 + numpy.tanh(0.7978845608 * (states + 0.044715 * states * states * states)))
