"""The optional reranker: a tiny cross-encoder made here, a class of a package, and what happens when one fails."""

import math
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from pipelines.errors import ConfigError
from pipelines.models.cross_encoder import LONGEST
from pipelines.query.postprocess.rerank import CrossEncoder, Rerank, load_reranker, reordered
from pipelines.query.trace import Ledger
from tests.unit.query.builders import hit

WEIGHTS = {"[UNK]": 0.0, "[CLS]": 0.0, "[SEP]": 0.0, "harbour": 1.0, "crane": 2.0, "cake": -1.0}


def cross_encoder(folder: Path, *, classes: int = 1, third_input: str = "token_type_ids") -> str:
    """A model whose logit is the summed weight of the passage's words; the question's words do not count."""
    inputs = ["input_ids", "attention_mask", third_input]
    columns = [[weight] if classes == 1 else [-weight, weight] for weight in WEIGHTS.values()]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["weights", "input_ids"], ["by_word"]),
            helper.make_node("Mul", ["attention_mask", third_input], ["is_passage"]),
            helper.make_node("Cast", ["is_passage"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
            helper.make_node("Mul", ["by_word", "wide"], ["counted"]),
            helper.make_node("ReduceSum", ["counted", "pieces"], ["logits"], keepdims=0),
        ],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "pieces"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", classes])],
        [
            helper.make_tensor(
                "weights", TensorProto.FLOAT, [len(WEIGHTS), classes], [one for row in columns for one in row]
            ),
            helper.make_tensor("last", TensorProto.INT64, [1], [2]),
            helper.make_tensor("pieces", TensorProto.INT64, [1], [1]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WEIGHTS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_padding(length=64)
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


class Reversing(BaseNodePostprocessor):
    """Gives back the last `top_n` nodes, last first, and writes into what it was given, as some rerankers do."""

    top_n: int = 2

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle=None) -> list[NodeWithScore]:
        for one in nodes:
            one.score = -1.0
            one.node.metadata["seen"] = True
        return nodes[::-1][: self.top_n]


class Slow(Reversing):
    """Is not done before the test is."""

    released: ClassVar[threading.Event] = threading.Event()

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle=None) -> list[NodeWithScore]:
        self.released.wait(10)
        return nodes[::-1]


class Broken(Reversing):
    """Raises what only it knows."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle=None) -> list[NodeWithScore]:
        raise KeyError("quota used up")


class Unmade(Reversing):
    """Wants a key."""

    def __init__(self, **fields: object) -> None:
        raise ValueError("set FAKE_API_KEY")


@pytest.fixture(autouse=True)
def _package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package of rerankers."""
    module = ModuleType("fake_rerankers")
    for made in (Reversing, Slow, Broken, Unmade):
        setattr(module, made.__name__, made)
    module.NoReranker = str
    monkeypatch.setitem(sys.modules, "fake_rerankers", module)
    load_reranker.cache_clear()
    Slow.released.clear()
    yield
    Slow.released.set()
    load_reranker.cache_clear()


def nodes() -> list[NodeWithScore]:
    rows = [("a", "cake", 0.9), ("b", "harbour", 0.8), ("c", "crane harbour", 0.8), ("d", "crane crane crane", 0.5)]
    return [hit(*row, mime="text/plain") for row in rows]


def rerank(named: str, *, candidates: int = 3, seconds: float = 5.0) -> tuple[list[NodeWithScore], Ledger]:
    ledger = Ledger()
    ledger.fused(nodes())
    step = Rerank(observer=ledger, named=named, candidates=candidates, seconds=seconds)
    return step.postprocess_nodes(nodes(), query_bundle=QueryBundle("cake crane")), ledger


def ids(ranking: list[NodeWithScore]) -> list[str]:
    return [one.node.node_id for one in ranking]


def test_reordering_keeps_the_scores_and_moves_the_nodes() -> None:
    moved = reordered(nodes(), ["c", "gone", "a"])
    assert ids(moved) == ["c", "a", "b", "d"]
    assert [one.score for one in moved] == [0.9, 0.8, math.nextafter(0.8, 0), 0.5]


@pytest.mark.parametrize("classes", [1, 2])
def test_a_cross_encoder_orders_the_first_candidates_by_their_logit(tmp_path: Path, classes: int) -> None:
    ranking, ledger = rerank(cross_encoder(tmp_path, classes=classes))
    assert ids(ranking) == ["c", "b", "a", "d"]
    assert ledger.used("rerank")
    assert ledger.candidate("c").factors == {"rerank": pytest.approx(0.9 / 0.8)}
    assert ledger.notes == []


def test_a_cross_encoder_reads_header_and_text_beside_the_question(tmp_path: Path) -> None:
    reranker = CrossEncoder(Path(cross_encoder(tmp_path)))
    later = time.monotonic() + 5
    plain, headed = hit("a", "harbour", mime=""), hit("b", "harbour", mime="", header="crane")
    assert reranker("cake", [plain, headed], later) == ["b", "a"]
    assert reranker.logit("cake cake", "crane") == 2.0


def test_a_passage_is_cut_to_what_a_cross_encoder_can_read(tmp_path: Path) -> None:
    reranker = CrossEncoder(Path(cross_encoder(tmp_path)))
    assert reranker.logit("cake", "harbour " * 5000) == LONGEST - len(["[CLS]", "cake", "[SEP]", "[SEP]"])


def test_a_lone_surrogate_is_no_obstacle(tmp_path: Path) -> None:
    assert CrossEncoder(Path(cross_encoder(tmp_path))).logit("\ud800", "crane") == 2.0


def test_a_cross_encoder_stops_when_its_time_is_up(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match="0 of 4"):
        CrossEncoder(Path(cross_encoder(tmp_path)))("cake", nodes(), time.monotonic() - 1)


def test_the_class_of_a_package_is_given_bare_copies_and_gives_back_all_candidates() -> None:
    given = nodes()
    step = Rerank(observer=Ledger(), named="fake_rerankers.Reversing", candidates=3, seconds=5)
    assert ids(step.postprocess_nodes(given, query_bundle=QueryBundle("q"))) == ["c", "b", "a", "d"]
    assert [one.model_dump() for one in given] == [one.model_dump() for one in nodes()]


def test_candidates_that_a_reranker_leaves_out_come_after_those_that_it_ranked() -> None:
    assert reordered(nodes(), ["c"])[0].node.node_id == "c"
    assert ids(reordered(nodes(), ["c"])) == ["c", "a", "b", "d"]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("fake_rerankers.Slow", "The reranker was not done in 0.05 s; the ranking stays as it was."),
        ("fake_rerankers.Broken", "The reranker failed (KeyError); the ranking stays as it was."),
    ],
)
def test_a_reranker_that_is_late_or_fails_leaves_the_ranking_and_a_note(named: str, said: str) -> None:
    began = time.monotonic()
    ranking, ledger = rerank(named, seconds=0.05)
    assert time.monotonic() - began < 5
    assert [(one.node.node_id, one.score) for one in ranking] == [(one.node.node_id, one.score) for one in nodes()]
    assert ledger.notes == [said]
    assert ledger.degraded
    assert not ledger.used("rerank")


def test_a_model_that_gives_no_number_leaves_the_ranking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WEIGHTS, "crane", math.nan)
    ranking, ledger = rerank(cross_encoder(tmp_path))
    assert ids(ranking) == ids(nodes())
    assert ledger.notes == ["The reranker failed (ModelError); the ranking stays as it was."]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("/no/such/folder", "neither a folder nor the dotted name of a class"),
        ("llama_index.postprocessor.cohere_rerank.CohereRerank", "pip install llama-index-postprocessor-cohere-rerank"),
        ("no_such_package.sub.Reranker", "pip install no-such-package"),
        ("fake_rerankers.Missing", "fake_rerankers has no Missing"),
        ("fake_rerankers.NoReranker", "is not a BaseNodePostprocessor"),
        ("fake_rerankers.Unmade", "set FAKE_API_KEY"),
    ],
)
def test_a_reranker_that_cannot_be_had_is_a_configuration_error(named: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        rerank(named)
    assert message in str(raised.value)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_file_is_a_configuration_error(tmp_path: Path, missing: str) -> None:
    cross_encoder(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        rerank(str(tmp_path))


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_file_that_cannot_be_read_is_a_configuration_error(tmp_path: Path, broken: str) -> None:
    cross_encoder(tmp_path)
    (tmp_path / broken).write_bytes(b"{}")
    with pytest.raises(ConfigError, match="cannot be read"):
        rerank(str(tmp_path))


def test_a_model_with_an_input_that_nobody_can_fill_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="wants the input pixels"):
        rerank(cross_encoder(tmp_path, third_input="pixels"))
