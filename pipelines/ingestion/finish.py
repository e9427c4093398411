"""FINISH: prepared documents -> headers, vectors, and one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from sqlalchemy import Connection

from config.settings import ParsingSettings
from pipelines.ingestion.embed import Embedder, TextEmbedder
from pipelines.ingestion.header_writer import HeaderWriter
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.prepare import Prepared, some
from pipelines.store.node_table import Vectors
from pipelines.store.nodes import Check, Made, NodeStore, Replacement
from pipelines.types import Document, EmbeddingIdentity, IngestItem

Record = Callable[[Connection, IngestItem, int | None], None]  # writes a run's row: (connection, item, version kept)
RecordAll = Callable[[Connection, Sequence[tuple[IngestItem, int | None]]], None]  # writes several


@dataclass(frozen=True, slots=True)
class Cut:
    """A document with its nodes, which have no vectors yet; `new` counts the texts that cutting it embedded."""

    prepared: Prepared
    nodes: tuple[TextNode, ...]
    recipe: str
    new: int = 0

    @property
    def document(self) -> Document:
        """The document."""
        return self.prepared.document


@dataclass(frozen=True, slots=True)
class Embedded:
    """A document with its nodes and their vectors; `new` counts the texts that were new to the embedding cache."""

    cut: Cut
    vectors: tuple[Vectors, ...]
    new: int

    @property
    def document(self) -> Document:
        """The document."""
        return self.cut.document

    @property
    def nodes(self) -> tuple[TextNode, ...]:
        """Its nodes, in order."""
        return self.cut.nodes

    @property
    def recipe(self) -> str:
        """How its nodes were made."""
        return self.cut.recipe


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
        cut = self.cut(prepared, stage)
        stage("embed")
        return self.vectors([cut])[0]

    def cut(self, prepared: Prepared, stage: Callable[[str], None] = lambda _: None) -> Cut:
        """The document's nodes with their headers: by a parser that cuts by meaning, and what a language model adds.

        Raises:
            ModelError, ServiceUnavailable: If a model cannot be used.
        """
        of_texts = TextEmbedder(self._embedder)
        nodes, made_by = list(prepared.nodes or ()), prepared.recipe
        if prepared.embeds:
            stage("parse")
            document = prepared.document
            nodes = list(some(document, parse(document, prepared.parser, self.sizes, of_texts)))
        if self.header_writer:
            stage("header")
            nodes, failed = self.header_writer(prepared.document, nodes)
            made_by += f" but for {failed}" if failed else ""  # which the next run asks again
        return Cut(prepared, tuple(nodes), made_by, of_texts.embedded)

    def vectors(self, documents: Sequence[Cut]) -> list[Embedded]:
        """The documents with their nodes' vectors, in order; a text that several share is embedded, and counts, once.

        Raises:
            ModelError, ServiceUnavailable: If the embedding model cannot be used.
        """
        found = self._embedder.each([cut.nodes for cut in documents])
        return [
            Embedded(cut, tuple(vectors), cut.new + new) for cut, (vectors, new) in zip(documents, found, strict=True)
        ]

    @property
    def _embedder(self) -> Embedder:
        return Embedder(self.model, self.store.engine, self.identity)

    def store_metadata(self, prepared: Prepared, item: IngestItem, record: Record, check: Check) -> IngestItem:
        """Write the document's facts, and its run's row with them; vectors stay.

        The outcome is `unchanged` where another run has written just this meanwhile.
        """
        done = replace(item, outcome="metadata", document_id=prepared.document.id)
        changed = self.store.update_metadata(
            prepared.document, within=lambda link, version: record(link, done, version), check=check
        )
        return done if changed is not None else replace(done, outcome="unchanged")

    def store_all(
        self, made: Sequence[tuple[Embedded, IngestItem]], record: RecordAll, check: Check
    ) -> list[IngestItem]:
        """Write several documents, their nodes and their run's rows in one transaction: all of them or none.

        The outcome of one is `unchanged` where another run has written just this meanwhile.
        """
        done = {
            embedded.document.id: replace(
                item, document_id=embedded.document.id, nodes=len(embedded.vectors), embedded=embedded.new
            )
            for embedded, item in made
        }
        written = self.store.replace_all(
            [
                Replacement(each.document, each.nodes, each.vectors, Made(each.cut.prepared.parser, each.recipe))
                for each, _ in made
            ],
            within=lambda link, versions: record(link, [(done[each], version) for each, version in versions.items()]),
            check=check,
        )
        return [item if each in written else replace(item, outcome="unchanged") for each, item in done.items()]
