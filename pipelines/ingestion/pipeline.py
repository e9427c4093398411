"""PIPELINE: prepared documents -> context headers by a language model, and vectors, through the cache of vectors.

The worker processes run parser and context header as a LlamaIndex IngestionPipeline (see `parse`). What needs a model
runs here.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import BaseNode
from numpy.typing import NDArray
from sqlalchemy import Engine

from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.ingestion.context_header import HeaderWriter
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.prepare import PreparedDocument, PrepareOptions, require_nodes
from pipelines.ingestion.workers import Executor
from pipelines.models.embedding import group_size, window_vectors
from pipelines.store.model_caches import cache_vectors, cached_vectors, text_sha
from pipelines.store.node_table import Vectors
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.text import searchable
from pipelines.types import EmbeddingIdentity

_PROBE = "hello"  # a text that any embedding model can embed


def embedded_text(node: BaseNode) -> str:
    """The text of a node that is embedded: its header and its searchable text."""
    metadata = node.metadata
    return searchable(metadata["header"], node.get_content(), metadata["mime"], metadata["kind"])


@dataclass(frozen=True, slots=True)
class CachedEmbedder:
    """Embeds texts; only those that the embedding cache lacks reach the model."""

    model: BaseEmbedding
    engine: Engine
    identity: EmbeddingIdentity

    def embed(self, texts: Sequence[str]) -> tuple[list[Vectors], list[bool]]:
        """Return for each text its window vectors, and whether it was not cached; a repeated text is new only once.

        Raises:
            ModelError: If the model fails for these texts only.
            ServiceUnavailable: If the model fails for any text, or it or the database cannot be reached.
        """
        keys = [text_sha(text) for text in texts]
        known = cached_vectors(self.engine, self.identity.slug, list(dict.fromkeys(keys)), self.identity.dimension)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        remaining, size = list(missing), group_size(self.model)
        for start in range(0, len(remaining), size):  # what is paid for is kept, even if the next request fails
            group = remaining[start : start + size]
            try:
                fresh = dict(zip(group, window_vectors(self.model, [missing[key] for key in group]), strict=True))
            except ModelError as refused:
                try:
                    window_vectors(self.model, [_PROBE])
                except ModelError as error:
                    raise ServiceUnavailable(f"Embedding failed: {refused.message}", hint=refused.hint) from error
                raise
            cache_vectors(self.engine, self.identity.slug, fresh)
            known |= fresh
        return [known[key] for key in keys], [missing.pop(key, None) is not None for key in keys]


@dataclass(slots=True)
class TextEmbedder:
    """Gives parsers the vectors of texts, through the same cache; `embedded` counts those that were not cached."""

    embedder: CachedEmbedder
    embedded: int = 0

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dimension) float32, each normalised; for a text of several windows their mean."""
        vectors, new = self.embedder.embed(texts)
        self.embedded += sum(new)
        means = np.stack([windows.mean(axis=0) for windows in vectors]) if vectors else np.zeros((0, 1), np.float32)
        return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class DocumentPipeline:
    """The path of a document in a run: its preparation, then the steps that need a model.

    Attributes:
        executor: Prepares documents.
        options: What is the same for every document.
        stop: Once set, nothing more is begun.
    """

    store: FootnoteVectorStore
    model: BaseEmbedding
    identity: EmbeddingIdentity
    header_writer: HeaderWriter | None
    executor: Executor
    options: PrepareOptions
    stop: threading.Event

    @property
    def embedder(self) -> CachedEmbedder:
        """Embeds with the model of this pipeline."""
        return CachedEmbedder(self.model, self.store.engine, self.identity)

    def complete_nodes(
        self, prepared: PreparedDocument, at: Callable[[str], None] = lambda stage: None
    ) -> PreparedDocument:
        """Parse a document whose parser embeds, and add the headers that a language model writes.

        `at` is called with the name of each stage when it begins: parse, header.

        Raises:
            ModelError, ServiceUnavailable: If a model cannot be used.
        """
        nodes, recipe, embedded = list(prepared.nodes or ()), prepared.recipe, prepared.embedded
        if prepared.embeds:
            at("parse")
            document, embed = prepared.document, TextEmbedder(self.embedder)
            nodes = list(require_nodes(document, parse(document, prepared.parser, self.options.sizes, embed)))
            embedded += embed.embedded
        if self.header_writer:
            at("header")
            nodes, failed = self.header_writer(prepared.document, nodes)
            recipe += f" but for {failed}" if failed else ""  # so that the next run asks for them again
        return replace(prepared, nodes=tuple(nodes), recipe=recipe, embedded=embedded)

    def embed(self, documents: Sequence[PreparedDocument]) -> list[PreparedDocument]:
        """Embed the nodes of several documents together; a text that several share is embedded, and counts, once.

        Raises:
            ModelError, ServiceUnavailable: If the embedding model cannot be used.
        """
        nodes = [node for prepared in documents for node in prepared.nodes or ()]
        vectors, new = self.embedder.embed([embedded_text(node) for node in nodes])
        done, start = list[PreparedDocument](), 0
        for one in documents:
            own = slice(start, start + len(one.nodes or ()))
            done.append(replace(one, vectors=tuple(vectors[own]), embedded=one.embedded + sum(new[own])))
            start = own.stop
        return done
