"""Rerank the best candidates with a local ONNX cross-encoder or any LlamaIndex reranker, within a time limit."""

import contextvars
import math
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from pipelines.errors import ConfigError, ModelError
from pipelines.models.cross_encoder import MODEL, TOKENIZER, PairModel
from pipelines.observe import log_failure
from pipelines.query.trace import SILENT, Observer
from pipelines.text import searchable


def reordered(ranking: Sequence[NodeWithScore], order: Sequence[str]) -> list[NodeWithScore]:
    """New hits: the nodes in `order` first, then the others as they were; the scores stay, and the nodes change places.

    So the scale on which factors and the floor compare is kept. Equal scores are set apart by the least step that a
    float can make, since the order is no longer theirs.
    """
    nodes = {hit.node.node_id: hit.node for hit in ranking}
    ids = list(dict.fromkeys((*(node_id for node_id in order if node_id in nodes), *nodes)))
    scores = sorted((float(hit.score or 0.0) for hit in ranking), reverse=True)
    hits, last = [], math.inf
    for node_id, score in zip(ids, scores, strict=True):
        last = min(score, math.nextafter(last, -math.inf))
        hits.append(NodeWithScore(node=nodes[node_id], score=last))
    return hits


def within(seconds: float, call: Callable[[], list[str]]) -> list[str]:
    """The result of a call; one that takes longer is not waited for.

    Raises:
        TimeoutError: If it has not returned after this many seconds.
    """
    outcome: Future[list[str]] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is waited for
            outcome.set_exception(error)

    Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    return outcome.result(timeout=seconds)


class Rerank(BaseNodePostprocessor):
    """Reorders the first `candidates`; past `seconds`, or when the reranker fails, the ranking stays as it was.

    The time to load a reranker, once a process, does not count. It reports when the ranking stays, and else the change
    of each score as a factor.
    """

    named: str
    candidates: int
    seconds: float
    observer: Observer = Field(SILENT, exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        order = self._order(nodes[: self.candidates], query_bundle.query_str) if query_bundle and nodes else []
        if not order:
            return [NodeWithScore(node=hit.node, score=hit.score) for hit in nodes]
        moved = reordered(nodes, order)
        self.observer.tag("rerank")
        before = {hit.node.node_id: float(hit.score or 0.0) for hit in nodes}
        for hit in moved:
            if before[hit.node.node_id] > 0:
                self.observer.factor(hit.node.node_id, "rerank", float(hit.score or 0.0) / before[hit.node.node_id])
        return moved

    def _order(self, first: list[NodeWithScore], question: str) -> list[str]:
        """The ids of the candidates, best first; none when the ranking is to stay."""
        reranker = load_reranker(self.named, self.candidates)
        stop = time.monotonic() + self.seconds
        try:
            return within(self.seconds, lambda: reranker(question, first, stop))
        except Exception as error:  # noqa: BLE001 - whatever a reranker raises, the fused ranking is there
            late = isinstance(error, TimeoutError)
            log_failure("reranking given up", error, reranker=self.named)
            why = f"was not done in {self.seconds:g} s" if late else f"failed ({type(error).__name__})"
            self.observer.lacking(f"The reranker {why}; the ranking stays as it was.")
            return []


# (question, candidates, when to stop by time.monotonic) -> node ids, best first; those that it leaves out come after.
Reranker = Callable[[str, Sequence[NodeWithScore], float], list[str]]

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_SETTING = "FOOTNOTE_FACTORS__RERANK"


@lru_cache(maxsize=4)
def load_reranker(named: str, candidates: int) -> Reranker:
    """The reranker of a folder or of a class, loaded once; nothing is downloaded unless the class itself does.

    Args:
        named: A folder with `model.onnx` and `tokenizer.json`, or a class such as
            `llama_index.postprocessor.cohere_rerank.CohereRerank`, which finds its key in its own environment variable.
        candidates: How many nodes it will be given, and is to give back.

    Raises:
        ConfigError: If it is neither, a file or a package is missing, or it cannot be made.
    """
    if Path(named).is_dir():
        return CrossEncoder(Path(named))
    if _DOTTED.fullmatch(named):
        return _by_class(_postprocessor(named), named, candidates)
    raise ConfigError(
        f"The reranker {named!r} is neither a folder nor the dotted name of a class.",
        hint=f"Set {_SETTING} to a folder with {MODEL} and {TOKENIZER}, to a class, or to nothing.",
    )


class CrossEncoder:
    """A sequence classifier over (question, passage) in ONNX Runtime; its logit is the passage's relevance."""

    def __init__(self, folder: Path) -> None:
        self._model = PairModel(folder, "reranker", _SETTING)

    def __call__(self, question: str, hits: Sequence[NodeWithScore], stop: float) -> list[str]:
        """The ids by falling logit, ties in the order given.

        Raises:
            TimeoutError: If `stop` has passed before the last passage was begun.
            ModelError: If the model gives something that is no logit.
        """
        logits: dict[str, float] = {}
        for hit in hits:
            if time.monotonic() > stop:
                raise TimeoutError(f"{len(logits)} of {len(hits)} passages were scored")
            logits[hit.node.node_id] = self.logit(question, passage(hit))
        return sorted(logits, key=lambda node_id: -logits[node_id])

    def logit(self, question: str, text: str) -> float:
        """The relevance of a passage, any number; the logit of a class "irrelevant", if there is one, is subtracted."""
        out = self._model.logits(question, text)
        if out.size not in {1, 2}:
            raise ModelError(f"The reranker gave {out[:3].tolist()} for a passage, which is not a logit.")
        return float(out[-1] - (out[0] if out.size == 2 else 0.0))


def passage(hit: NodeWithScore) -> str:
    """The text of a node for a reranker: the one that is embedded."""
    meta = hit.node.metadata
    return searchable(meta.get("header", ""), hit.node.get_content(), meta.get("mime", ""), meta.get("kind", "text"))


def _postprocessor(named: str) -> type[BaseNodePostprocessor]:
    module, _, name = named.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except ImportError as error:
        raise ConfigError(f"{named} cannot be imported: {error}.", hint=f"pip install {_package(module)}") from error
    except AttributeError as error:
        raise ConfigError(f"{module} has no {name}.", hint=f"Set {_SETTING} to a class that it has.") from error
    if not (isinstance(found, type) and issubclass(found, BaseNodePostprocessor)):
        raise ConfigError(f"{named} is not a BaseNodePostprocessor.", hint=f"Set {_SETTING} to a LlamaIndex reranker.")
    return found


def _by_class(kind: type[BaseNodePostprocessor], named: str, candidates: int) -> Reranker:
    options: dict[str, Any] = {"top_n": candidates} if "top_n" in kind.model_fields else {}
    try:
        reranker = kind(**options)
    except Exception as error:  # any class of any package
        hint = "Install what it names, or put its key into its environment variable."
        raise ConfigError(f"{named} cannot be made: {error}", hint=hint) from error

    def order(question: str, hits: Sequence[NodeWithScore], stop: float) -> list[str]:
        # Bare copies: rerankers write into nodes, and metadata are not for remote ones.
        bare = [NodeWithScore(node=TextNode(id_=hit.node.node_id, text=passage(hit)), score=hit.score) for hit in hits]
        return [hit.node.node_id for hit in reranker.postprocess_nodes(bare, query_bundle=QueryBundle(question))]

    return order


def _package(module: str) -> str:
    """The distribution of a module: `llama-index-postprocessor-cohere-rerank`, else the module's first part."""
    parts = module.split(".")
    length = 3 if parts[0] == "llama_index" and "core" not in parts else 1
    return "-".join(parts[:length]).replace("_", "-")
