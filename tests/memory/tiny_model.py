"""A sentence model of three dimensions, made on the spot."""

from pathlib import Path
from typing import Any

NOTIONS = {"dog": 0, "hound": 0, "barks": 0, "loud": 0, "invoice": 1, "bill": 1, "paid": 1, "database": 2}


def make_tiny_model(path: Path, numpy: Any, onnx: Any, tokenizers: Any) -> Path:
    """A folder with a model in which a word is one of three directions and a text the mean of its words."""
    path.mkdir()
    table = numpy.zeros((len(NOTIONS) + 1, 3), dtype=numpy.float32)
    vocabulary = {"[UNK]": 0}
    for number, (word, notion) in enumerate(NOTIONS.items(), 1):
        vocabulary[word] = number
        table[number, notion] = 1.0
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "three-notions",
        [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["rows", "length"])],
        [helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, ["rows", "length", 3])],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(path / "model.onnx"))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    return path
    return path
