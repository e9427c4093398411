"""The optional model of inference: a tiny classifier that is made here."""

import json
import math
from pathlib import Path

import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from pipelines.errors import ConfigError, ModelError
from pipelines.models.cross_encoder import load_inference

WORDS = ("[UNK]", "yes", "no", "perhaps")
CLASSES = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
# By word: the logits that it adds to the three classes.
LOGITS = [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]


def model(folder: Path, *, labels: tuple[str, ...] = CLASSES) -> str:
    """A model whose logits are the sums over the words of both texts, so that the order of the labels is seen."""
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["logits_of", "input_ids"], ["by_word"]),
            helper.make_node("ReduceSum", ["by_word", "pieces"], ["logits"], keepdims=0),
        ],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["rows", "pieces"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", 3])],
        [
            helper.make_tensor("logits_of", TensorProto.FLOAT, [4, 3], [one for row in LOGITS for one in row]),
            helper.make_tensor("pieces", TensorProto.INT64, [1], [1]),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels))}))
    return str(folder)


def test_the_classes_are_read_by_their_names_in_the_configuration(tmp_path: Path) -> None:
    told = load_inference(model(tmp_path))("yes", "x")
    share = math.exp(2) / (math.exp(2) + 2)
    assert told == pytest.approx((share, (1 - share) / 2))


def test_another_order_of_the_classes_is_read_as_such(tmp_path: Path) -> None:
    turned = load_inference(model(tmp_path, labels=("entailment", "neutral", "contradiction")))("yes", "x")
    assert turned.contradicted > 0.7 > turned.entailed


def test_both_texts_are_read(tmp_path: Path) -> None:
    told = load_inference(model(tmp_path))
    assert told("x", "no").contradicted == told("no", "x").contradicted > 0.7
    assert told("yes", "no").entailed == told("yes", "no").contradicted


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = model(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        load_inference(folder)


@pytest.mark.parametrize("config", ["{}", "[", '{"id2label": {"0": "GOOD", "1": "BAD"}}', '{"id2label": {"1": "x"}}'])
def test_a_configuration_without_the_classes_is_refused(tmp_path: Path, config: str) -> None:
    folder = model(tmp_path)
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(ConfigError, match=r"config\.json"):
        load_inference(folder)


def test_another_number_of_classes_than_named_is_an_error(tmp_path: Path) -> None:
    asked = load_inference(model(tmp_path, labels=("entailment", "contradiction")))
    with pytest.raises(ModelError, match="3 classes"):
        asked("yes", "x")
