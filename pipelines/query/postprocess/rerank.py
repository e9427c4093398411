"""Reorder the best candidates by any LlamaIndex reranker."""

import math
from functools import lru_cache
from importlib import import_module

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode

from pipelines.errors import ConfigError
from pipelines.observe import log_failure
from pipelines.query.postprocess.postprocessor import Postprocessor
from pipelines.text import searchable


class Rerank(Postprocessor):
    """Reorders the first `candidates` by a reranker; when that fails, the ranking stays as it was, and this is said.

    The scores stay, and the nodes change places: the scale on which factors and the floor compare is kept. Nodes that
    the reranker leaves out come after those that it returns.
    """

    named: str
    candidates: int

    def applied(self, nodes: list[NodeWithScore], query: QueryBundle | None = None) -> list[NodeWithScore]:
        reranker = load_reranker(self.named, self.candidates)
        first = nodes[: self.candidates]
        # Bare copies: rerankers write into nodes, and metadata are not for remote ones.
        bare = [TextNode(id_=hit.node.node_id, text=_embedded_text(hit.node)) for hit in first]
        given = [NodeWithScore(node=node, score=hit.score) for node, hit in zip(bare, first, strict=True)]
        try:
            best = [hit.node.node_id for hit in reranker.postprocess_nodes(given, query_bundle=query)]
        except Exception as error:  # noqa: BLE001 - whatever a reranker raises, the fused ranking is there
            log_failure("reranking given up", error, reranker=self.named)
            self.observer.lacking(f"The reranker failed ({type(error).__name__}); the ranking stays as it was.")
            return [NodeWithScore(node=hit.node, score=hit.score) for hit in nodes]
        self.observer.tag("rerank")
        held = {hit.node.node_id: (hit.node, float(hit.score or 0.0)) for hit in nodes}
        order = dict.fromkeys([*(node_id for node_id in best if node_id in held), *held])
        moved, last = [], math.inf
        for node_id, score in zip(order, sorted((score for _, score in held.values()), reverse=True), strict=True):
            node, before = held[node_id]
            last = min(score, math.nextafter(last, -math.inf))  # equal scores would be ranked by node id
            moved.append(NodeWithScore(node=node, score=last))
            if before > 0:
                self.observer.factor(node_id, "rerank", last / before)
        return moved


def _embedded_text(node: BaseNode) -> str:
    meta = node.metadata
    return searchable(meta.get("header", ""), node.get_content(), meta.get("mime", ""), meta.get("kind", "text"))


@lru_cache(maxsize=4)
def load_reranker(named: str, candidates: int) -> BaseNodePostprocessor:
    """The reranker of a class, such as `llama_index.postprocessor.cohere_rerank.CohereRerank`, made once.

    It finds its key in its own environment variable, and is to give back all `candidates`.

    Raises:
        ConfigError: If there is no such class, it is none of LlamaIndex's rerankers, or it cannot be made.
    """
    module, _, name = named.rpartition(".")
    try:
        kind = getattr(import_module(module), name)
        if not issubclass(kind, BaseNodePostprocessor):
            raise TypeError(f"{named} is not a BaseNodePostprocessor")
        made: BaseNodePostprocessor = kind(**({"top_n": candidates} if "top_n" in kind.model_fields else {}))
    except Exception as error:  # any class of any package
        hint = (
            "Set FOOTNOTE_FACTORS__RERANK to the class of a LlamaIndex reranker, install its package and set its key."
        )
        raise ConfigError(f"The reranker {named} cannot be made: {error}.", hint=hint) from error
    return made
