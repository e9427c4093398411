"""FINISH: a prepared document -> headers, vectors, and one transaction."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from sqlalchemy import Connection

from config.settings import ParsingSettings
from pipelines.ingestion.embed import Embedder, TextEmbedder
from pipelines.ingestion.header_writer import HeaderWriter
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.prepare import Prepared, some
from pipelines.store.nodes import Made, NodeStore, Vectors
from pipelines.types import EmbeddingIdentity, IngestItem

Record = Callable[[Connection, IngestItem, int | None], None]  # writes a run's row: (connection, item, version kept)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A document with its nodes and their vectors; `new` counts the texts that were new to the embedding cache."""

    prepared: Prepared
    nodes: tuple[TextNode, ...]
    vectors: tuple[Vectors, ...]
    recipe: str
    new: int


@dataclass(frozen=True, slots=True)
class Finisher:
    """Embeds what was prepared and stores it; `stage` is where a document stands, for the report of a failure."""

    store: NodeStore
    model: BaseEmbedding
    identity: EmbeddingIdentity
    sizes: ParsingSettings
    header_writer: HeaderWriter | None = None

    def embed(self, prepared: Prepared, stage: Callable[[str], None] = lambda _: None) -> Embedded:
        """The document's nodes with their headers and vectors; nothing is stored but headers and cached vectors.

        Raises:
            ModelError, ServiceUnavailable: If the embedding model cannot be used.
        """
        embedder = Embedder(self.model, self.store.engine, self.identity)
        of_texts = TextEmbedder(embedder)
        nodes, made_by = list(prepared.nodes or ()), prepared.recipe
        if prepared.embeds:
            stage("parse")
            document = prepared.document
            nodes = list(some(document, parse(document, prepared.parser, self.sizes, of_texts)))
        if self.header_writer:
            stage("header")
            nodes, failed = self.header_writer(prepared.document, nodes)
            made_by += f" but for {failed}" if failed else ""  # which the next run asks again
        stage("embed")
        vectors, new = embedder(nodes)
        return Embedded(prepared, tuple(nodes), tuple(vectors), made_by, new + of_texts.embedded)

    def store_metadata(self, prepared: Prepared, item: IngestItem, record: Record) -> IngestItem:
        """Write the document's facts, and its run's row with them; vectors stay."""
        done = replace(item, outcome="metadata", document_id=prepared.document.id)
        self.store.update_metadata(prepared.document, within=lambda link, version: record(link, done, version))
        return done

    def store_nodes(self, embedded: Embedded, item: IngestItem, record: Record) -> IngestItem:
        """Write the document, its nodes and its run's row in one transaction.

        The outcome is `unchanged` where another run has written just this meanwhile.
        """
        document = embedded.prepared.document
        done = replace(item, document_id=document.id, nodes=len(embedded.nodes), embedded=embedded.new)
        written = self.store.replace(
            document,
            embedded.nodes,
            embedded.vectors,
            Made(embedded.prepared.parser, embedded.recipe),
            within=lambda link, version: record(link, done, version),
        )
        return done if written else replace(done, outcome="unchanged")
