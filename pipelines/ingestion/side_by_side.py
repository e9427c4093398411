"""SIDE BY SIDE: fills another embedding model's node table from the stored documents, while the one that serves serves.

No source and no original is read. What is in the table already stays, so that a run that was ended is gone on with.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from config.settings import Settings
from pipelines.errors import FootnoteError, StoreError
from pipelines.ingestion.failure import Failure
from pipelines.ingestion.finish import Cut, Embedded
from pipelines.ingestion.header_writer import build_header_writer
from pipelines.ingestion.parsers import parser_for
from pipelines.ingestion.prepare import Prepared, cut
from pipelines.ingestion.preview import texts_to_embed
from pipelines.ingestion.run import Ingestion
from pipelines.ingestion.together import FOR_ALL, together
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import with_identity
from pipelines.models.prices import cost, embedding_price
from pipelines.observe import log, log_failure
from pipelines.store import documents as document_rows
from pipelines.store.database import open_database, reading
from pipelines.store.documents import Known
from pipelines.store.models import active_model
from pipelines.store.node_table import node_table
from pipelines.store.nodes import Made as MadeBy
from pipelines.store.nodes import NodeStore, build_lexical_indexes
from pipelines.types import EmbeddingIdentity

Progress = Callable[[int, int, str], None]  # (documents done, of how many, the last one's name)
Made = tuple[int, int] | Failure | None  # (nodes, embeddings), why it failed, or that it changed while it was made
_LOADED = re.compile(r"loaders@[0-9]+")
_GROUP = 256  # texts of small documents that are embedded together


@dataclass(frozen=True, slots=True)
class Due:
    """A stored document that the new table lacks, or holds as other rules made it."""

    id: str
    name: str
    content_sha: str
    serving: Known | None


@dataclass(frozen=True, slots=True)
class Price:
    """What filling the table takes: texts that the embedding cache lacks, their cl100k tokens, and US dollars.

    `dollars` is None where the price of the model is not known.
    """

    documents: int
    texts: int
    tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Filled:
    """What became of a run: documents that came in with their nodes, and by name those that failed."""

    documents: int
    nodes: int
    embedded: int
    failed: Mapping[str, Failure]
    seconds: float


@dataclass(slots=True)
class Filling:
    """Fills one node table that does not serve."""

    ingestion: Ingestion

    def due(self) -> list[Due]:
        """The stored documents that are to be made for this table, by name."""
        serving = {each.id: each for each in self._serving()}
        return [
            Due(each.id, each.name, each.content_sha, serving.get(each.id))
            for each in self.ingestion.known()
            if not self._is_current(each, serving.get(each.id))
        ]

    def price(self, due: Sequence[Due], on_progress: Progress = lambda *_: None) -> Price:
        """What these documents would take; nothing is embedded.

        Raises:
            ConfigError: If a parser does not exist.
        """
        texts: dict[str, int] = {}
        for done, one in enumerate(due, start=1):
            try:
                prepared = self._prepared(one)
                texts |= texts_to_embed(self.ingestion, prepared) if prepared else {}
            except FOR_ALL:
                raise
            except FootnoteError as error:
                log_failure("not foreseen", error, document=one.name)
            on_progress(done, len(due), one.name)
        settings, tokens = self.ingestion.settings, sum(texts.values())
        dollars = cost(tokens, embedding_price(self.ingestion.identity, settings.embedding.price))
        return Price(len(due), len(texts), tokens, dollars)

    def run(self, on_progress: Progress = lambda *_: None) -> Filled:
        """Make every document that is due, each in one transaction; also those that change meanwhile.

        Raises:
            ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
            ConfigError: If the model cannot be used, or was promoted or dropped meanwhile.
        """
        began = time.perf_counter()
        self.ingestion.store.ensure(self.ingestion.identity.provider, self.ingestion.identity.model)
        done, nodes, embedded, failed = 0, 0, 0, dict[str, Failure]()
        settled: set[tuple[str, str]] = set()
        while due := [one for one in self.due() if (one.id, one.content_sha) not in settled]:
            total = len(settled) + len(due)
            for one, made in self._made(due):
                if made is None:
                    continue  # it changed, and is due again
                settled.add((one.id, one.content_sha))
                if isinstance(made, Failure):
                    failed[one.name] = made
                else:
                    done, nodes, embedded = done + 1, nodes + made[0], embedded + made[1]
                on_progress(len(settled), total, one.name)
        seconds = round(time.perf_counter() - began, 3)
        log("info", "node table filled", table=self.ingestion.store.table, documents=done, seconds=seconds)
        return Filled(done, nodes, embedded, failed, seconds)

    def _made(self, due: Sequence[Due]) -> Iterator[tuple[Due, Made]]:
        """What became of each document; the texts of small ones are embedded together."""
        group: list[tuple[Due, Cut]] = []
        for one in due:
            stage = ["parse"]
            try:
                prepared = self._prepared(one)
                if prepared is not None:
                    group.append((one, self.ingestion.finisher.cut(prepared, stage.append)))
            except FOR_ALL:
                raise
            except Exception as error:  # noqa: BLE001 - one bad document stops only itself
                yield one, Failure.of(error, stage[-1], one.name)
            if sum(len(cut.nodes) for _, cut in group) >= _GROUP:
                yield from self._stored(group)
                group = []
        yield from self._stored(group)

    def _stored(self, group: Sequence[tuple[Due, Cut]]) -> list[tuple[Due, Made]]:
        """What became of each document of a group; where one cannot be embedded, each is by itself."""
        return together(group, self._written_all, lambda one, error: (one[0], Failure.of(error, "embed", one[0].name)))

    def _written_all(self, group: Sequence[tuple[Due, Cut]]) -> list[tuple[Due, Made]]:
        embedded = self.ingestion.finisher.vectors([cut for _, cut in group])
        return [(one, self._written(one, made)) for (one, _), made in zip(group, embedded, strict=True)]

    def _written(self, due: Due, made: Embedded) -> Made:
        by = MadeBy(made.cut.prepared.parser, made.cut.recipe)
        try:
            written = self.ingestion.store.index(made.document, made.cut.nodes, made.vectors, by)
        except StoreError as error:
            return Failure.of(error, "store", due.name)
        return (len(made.vectors), made.new) if written else None

    def _prepared(self, due: Due) -> Prepared | None:
        """The stored document as it is cut for this model; None when it is gone."""
        with reading(self.ingestion.database.engine, f"reading {due.name}") as connection:
            document = document_rows.load(connection, due.id, "owner")
        if document is None:
            return None
        parser = due.serving.parser if due.serving else ""
        prepared = cut(document, parser or parser_for(document), self.ingestion.options)
        return replace(prepared, recipe=_as_loaded(prepared.recipe, due.serving))

    def _is_current(self, held: Known, serving: Known | None) -> bool:
        if held.indexed_sha != held.content_sha:
            return False
        if serving is None:
            return True
        return held.recipe == _as_loaded(self.ingestion.options.recipe(serving.parser), serving)

    def _serving(self) -> list[Known]:
        """What the table that serves holds."""
        engine = self.ingestion.database.engine
        model = active_model(engine)
        if model is None:
            return []
        with reading(engine, "reading what is stored") as connection:
            known = document_rows.known(connection, node_table(model.slug))
        return [each for each in known if each.indexed_sha == each.content_sha]


def build_filling(settings: Settings, model: EmbeddingIdentity) -> Filling:
    """Filling of this embedding model's table, which its run makes when it is missing.

    Raises:
        ConfigError: If the model cannot be used with these settings.
        ServiceUnavailable: If the database cannot be reached.
    """
    embed_model = build_embed_model(with_identity(settings, model))  # or say what is missing, before a table is made
    database = open_database(settings)
    store = NodeStore(
        database.engine, node_table(model.slug), model.dimension, versions_kept=settings.ingestion.versions_kept
    )
    indexes = build_lexical_indexes(settings, database, store)
    writer = build_header_writer(settings, database.engine)
    return Filling(Ingestion(settings, database, store, indexes, embed_model, model, writer))


def _as_loaded(recipe: str, serving: Known | None) -> str:
    """A recipe that owns up to the loaders that made the stored text, which are not run again."""
    loaded = _LOADED.search(serving.recipe) if serving else None
    return _LOADED.sub(loaded.group(), recipe) if loaded else recipe
