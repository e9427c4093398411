"""EMBED: nodes -> the vectors of their windows, through the embedding cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import BaseNode
from numpy.typing import NDArray
from sqlalchemy import Engine

from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.models.embed import group_size, window_vectors
from pipelines.store.node_table import Vectors
from pipelines.store.vectors import cache_vectors, cached_vectors, text_sha
from pipelines.text import searchable
from pipelines.types import EmbeddingIdentity

_PLAIN = "hello"  # what any embedding model can embed


@dataclass(frozen=True, slots=True)
class Embedder:
    """Gives nodes the vectors of their searchable text; only texts that the cache lacks reach the model."""

    model: BaseEmbedding
    engine: Engine
    identity: EmbeddingIdentity

    def __call__(self, nodes: Sequence[BaseNode]) -> tuple[list[Vectors], int]:
        """(for each node, (windows, dimension) float32; how many texts were new to the cache)."""
        return self.each([nodes])[0]

    def each(self, documents: Sequence[Sequence[BaseNode]]) -> list[tuple[list[Vectors], int]]:
        """For the nodes of each document what a call gives; what several have counts as new for the first of them."""
        texts = [embedded_text(node) for nodes in documents for node in nodes]
        found, fresh = self._look(texts)
        vectors, new = iter(found), iter(fresh)
        return [(list(islice(vectors, len(nodes))), sum(islice(new, len(nodes)))) for nodes in documents]

    def windows(self, texts: Sequence[str]) -> tuple[list[Vectors], int]:
        """(for each text, the vectors of its windows; how many texts were new to the cache)."""
        vectors, new = self._look(texts)
        return vectors, sum(new)

    def _look(self, texts: Sequence[str]) -> tuple[list[Vectors], list[bool]]:
        """(for each text, the vectors of its windows; whether it was new to the cache, and stands there first)."""
        keys = [text_sha(text) for text in texts]
        known = cached_vectors(self.engine, self.identity.slug, list(dict.fromkeys(keys)), self.identity.dimension)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        left, size = list(missing), group_size(self.model)
        for start in range(0, len(left), size):  # what is paid for is kept, even if the next request fails
            some = left[start : start + size]
            fresh = dict(zip(some, self._ask([missing[key] for key in some]), strict=True))
            cache_vectors(self.engine, self.identity.slug, fresh)
            known |= fresh
        return [known[key] for key in keys], [missing.pop(key, None) is not None for key in keys]

    def _ask(self, texts: Sequence[str]) -> list[Vectors]:
        """The vectors of the texts' windows from the model.

        Raises:
            ModelError: If the model fails for these texts, and not for a plain word.
            ServiceUnavailable: If it fails for any text, or cannot be reached.
        """
        try:
            return window_vectors(self.model, texts)
        except ModelError as refused:
            try:
                window_vectors(self.model, [_PLAIN])
            except ModelError as error:
                raise ServiceUnavailable(f"No text can be embedded: {refused.message}", hint=refused.hint) from error
            raise


def embedded_text(node: BaseNode) -> str:
    """What of a node is embedded."""
    known = node.metadata
    return searchable(known["header"], node.get_content(), known["mime"], known["kind"])


@dataclass(slots=True)
class TextEmbedder:
    """Gives parsers the vectors of texts, through the same cache; `embedded` counts those that were new to it."""

    embedder: Embedder
    embedded: int = 0

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dimension) float32, each normalised; of a text of several windows their mean."""
        vectors, new = self.embedder.windows(texts)
        self.embedded += new
        means = np.stack([windows.mean(axis=0) for windows in vectors]) if vectors else np.zeros((0, 1), np.float32)
        return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9), dtype=np.float32)
