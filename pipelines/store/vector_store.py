"""FootnoteVectorStore: a PGVectorStore whose methods write whole documents and read with bound filters."""

import asyncio
import hashlib
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.vector_stores.postgres import PGVectorStore
from sqlalchemy import ColumnElement, Connection, Engine, Executable, Integer, Row, and_, cast, select, true

from config.settings import Settings
from pipelines.errors import RetrievalError, StoreError
from pipelines.store import documents as document_rows
from pipelines.store.added_nodes import Embedded, embedded, replacement, restored, still_stored
from pipelines.store.database import Database, lock_documents, reading, writing
from pipelines.store.embedding_models import active_since
from pipelines.store.embedding_statistics import saved_statistics
from pipelines.store.filters import storable
from pipelines.store.index_snapshots import LexicalIndexes, VectorIndexes
from pipelines.store.lexical_index import BM25Parameters
from pipelines.store.metadata_filters import metadata_condition
from pipelines.store.node_reader import NodeReader, as_floats, read_node
from pipelines.store.node_table import HALFVEC_ABOVE, checked, node_table, pooled, windows_table
from pipelines.store.node_writer import Within, prepare_rows, remove_documents, remove_locked, write_locked
from pipelines.store.read_snapshot import Mark, ReadSnapshot
from pipelines.store.runs import LoggedItem, finish_run, open_run, write_items
from pipelines.store.schema import document_indexes, documents
from pipelines.store.versions import last_visibility
from pipelines.types import EmbeddingIdentity, Filters, IngestItem, IngestReport, Outcome, RunKind, SourceItem

_LOOK = 100  # vectors that a query examines unless it says otherwise
_UNSUPPORTED = ("output_fields", "embedding_field", "alpha", "mmr_threshold", "sparse_top_k", "hybrid_top_k")


def build_vector_store(settings: Settings, database: Database, identity: EmbeddingIdentity) -> "FootnoteVectorStore":
    """The store of this embedding model's nodes; its tables are created if they are missing."""
    store = FootnoteVectorStore(
        database.engine, node_table(identity.slug), identity.dimension, versions_kept=settings.ingestion.versions_kept
    )
    store.ensure(identity.provider, identity.model)
    return store


def build_lexical_indexes(
    settings: Settings, database: Database, store: "FootnoteVectorStore", folder: Path | None = None
) -> LexicalIndexes:
    """The BM25 snapshots of this store, kept under FOOTNOTE_HOME."""
    bm25 = settings.retrieval
    return LexicalIndexes(
        folder or snapshot_folder(settings, database, store),
        store,
        BM25Parameters(b=bm25.bm25_b, header_weight=bm25.header_weight, pair_weight=bm25.pair_weight),
    )


def build_vector_indexes(
    settings: Settings, database: Database, store: "FootnoteVectorStore", folder: Path | None = None
) -> VectorIndexes:
    """The saved vectors of this store, kept under FOOTNOTE_HOME."""
    return VectorIndexes(folder or snapshot_folder(settings, database, store), store)


def build_indexes(settings: Settings, database: Database, store: "FootnoteVectorStore", mark: Mark) -> None:
    """Build and save what the first search of the owner needs, in the folder of a store that is active from a mark."""
    folder = snapshot_folder_of(settings, database, f"{store.table}-{mark.version}")
    shutil.rmtree(folder, ignore_errors=True)
    build_lexical_indexes(settings, database, store, folder).build("owner", ReadSnapshot(mark))
    build_vector_indexes(settings, database, store, folder).build_kept("owner", ReadSnapshot(mark))
    saved_statistics(folder, store.some_vectors, lambda: mark, "owner")


def snapshot_folder(settings: Settings, database: Database, store: "FootnoteVectorStore") -> Path:
    """The folder of files that are derived from this store; another one after its model was promoted."""
    since = active_since(store.engine, store.table)
    return snapshot_folder_of(settings, database, store.table if since is None else f"{store.table}-{since}")


def snapshot_folder_of(settings: Settings, database: Database, name: str) -> Path:
    """The folder of files that are derived from a store, by name."""
    where = hashlib.sha256(database.url.encode()).hexdigest()[:12]
    return settings.home.resolve() / "lexical" / where / name


def _in_thread(method: Callable[..., Any]) -> Any:
    """The method as a coroutine function, which runs it in a thread."""

    @wraps(method)
    async def called(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(method, *args, **kwargs)

    return called


class FootnoteVectorStore(NodeReader):
    """A PGVectorStore on Footnote's tables: the store of Footnote itself, and of any LlamaIndex program.

    `add` writes whole documents, which are searched by vector and BM25, audited, listed and rolled back like ingested
    ones. Every `add`, `delete`, `delete_nodes` and `clear` is a run of the run log. LlamaIndex's methods see all
    documents; `nearest` and the other reads of NodeReader take `Filters` and an audience. Keys and values of
    MetadataFilters are bound parameters. The asynchronous methods run the synchronous ones in a thread.
    """

    def __init__(self, engine: Engine, table: str, dimension: int, *, versions_kept: int = 5) -> None:
        PGVectorStore.__init__(  # to mypy's plugin, NodeReader has other arguments
            self,
            table_name=checked(table),
            embed_dim=dimension,
            perform_setup=False,
            use_jsonb=True,
            use_halfvec=dimension > HALFVEC_ABOVE,
        )
        self._engine, self._versions_kept = engine, versions_kept
        self._windows = windows_table(self._nodes, dimension)

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        """Store nodes with their embeddings, one transaction a document; a node with a stored id replaces that node.

        A node belongs to the document of its `ref_doc_id`, else it is a document by itself. The other nodes of a stored
        document stay, unless they are of another version of it or say the same at the same place: what is inserted
        again replaces itself. Of the caller's metadata `category`, `year`, `author`, `title`, `collection` and `kind`
        are the document's and the node's, by which they are filtered and boosted; all are given back.

        Returns:
            The ids of the nodes, in their order.

        Raises:
            StoreError: If a node has no text or no embedding of this model's dimension, or its document is one that a
                source gave, or its id is that of another document's node; documents before it stay written.
            ConfigError: If this embedding model is not the active one.
            ServiceUnavailable: If the database cannot be reached.
        """
        _refuse("add", add_kwargs)
        by_document: dict[str, dict[str, Embedded]] = {}
        for node in nodes:
            by_document.setdefault(node.ref_doc_id or node.node_id, {})[node.node_id] = embedded(node)
        if by_document:
            with self._run("ingest", [document_rows.ADDED_SOURCE]) as run:
                for document_id, added in by_document.items():
                    self._revise(run, document_id, added, ())
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Delete a document with all its nodes; its version is kept for `footnote rollback`."""
        _refuse("delete", delete_kwargs)
        self._delete_documents([ref_doc_id])

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any
    ) -> None:
        """Delete the nodes with these ids that pass the filters; a document without nodes is deleted.

        Nothing is deleted without ids and filters, or if the ids are empty; empty filters count as none.

        Raises:
            RetrievalError: If a filter is not supported.
            StoreError: If a node is of a document that a source gave; what was deleted before it stays deleted.
        """
        _refuse("delete_nodes", delete_kwargs)
        wanted = filters if filters and filters.filters else None
        if not node_ids and (node_ids is not None or wanted is None):
            return
        found: dict[str, set[str]] = {}
        statement = select(self._nodes.c.node_id, self._key("document_id")).where(self._chosen(node_ids, wanted))
        for node_id, document_id in self._now("finding nodes to delete", statement):
            found.setdefault(document_id, set()).add(node_id)
        if found:
            with self._run("remove", [document_rows.ADDED_SOURCE]) as run:
                for document_id, removed in sorted(found.items()):
                    self._revise(run, document_id, {}, removed)

    def clear(self) -> None:
        """Delete every document that this table holds, in one transaction; their versions are kept."""
        index = document_indexes.c
        statement = select(index.document_id).where(index.node_table == self.table)
        self._delete_documents([row.document_id for row in self._now("reading what is stored", statement)])

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The nodes with these ids that pass the filters, with their embeddings (of length 1), in document order.

        Raises:
            RetrievalError: If neither is given, or a filter is not supported.
        """
        if node_ids is None and filters is None:
            raise RetrievalError("get_nodes needs node ids or filters.")
        with reading(self.engine, "fetching nodes") as connection:
            found = self._embedded(connection, self._chosen(node_ids, filters))
        return [
            restored(each.node).model_copy(update={"embedding": pooled(each.vectors).tolist()})
            for each in found.values()
        ]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The `similarity_top_k` nodes nearest to `query_embedding`, best first, with their cosine similarities.

        Args:
            query: In the mode DEFAULT. `doc_ids`, `node_ids` (both unless empty) and `filters` narrow the search.
            kwargs: `hnsw_ef_search`, the number of vectors that the index examines.

        Raises:
            RetrievalError: If the query has another mode, no embedding of this model's dimension, or an option or a
                filter that is not supported.
        """
        look = int(kwargs.pop("hnsw_ef_search", _LOOK))
        _refuse("query", kwargs)
        if query.mode != VectorStoreQueryMode.DEFAULT:
            raise RetrievalError(f"The query mode {query.mode.value} is not supported.", hint="Use the mode default.")
        options = {name: getattr(query, name) for name in _UNSUPPORTED}
        _refuse("query", {name: value for name, value in options.items() if value is not None})
        vector = self.fitting(query.query_embedding)
        chosen = self._chosen(query.node_ids or None, query.filters)
        if query.doc_ids:
            chosen = and_(chosen, self._key("document_id").in_(storable(query.doc_ids)))
        narrow = bool(query.node_ids or query.doc_ids or query.filters)
        ranked = dict(self._nearest(vector, query.similarity_top_k, look=look, condition=chosen, narrow=narrow))
        stored = self.nodes(list(ranked), filters=Filters(), audience="owner")
        nodes = [restored(stored[node_id]) for node_id in ranked if node_id in stored]
        return VectorStoreQueryResult(nodes, [ranked[node.node_id] for node in nodes], [node.node_id for node in nodes])

    def fitting(self, embedding: Sequence[float] | None) -> list[float]:
        """The embedding of a query, which a program gives or a model makes.

        Raises:
            RetrievalError: If it has not this model's dimension, is zero or not finite, or there is none.
        """
        if embedding is None or len(embedding) != self.dimension:
            given = "none" if embedding is None else f"one of {len(embedding)}"
            raise RetrievalError(f"The query needs an embedding of {self.dimension} dimensions, and has {given}.")
        if not (np.isfinite(embedding).all() and np.any(embedding)):
            defect = "only zeros" if np.isfinite(embedding).all() else "numbers that are not finite"
            raise RetrievalError(f"The query needs an embedding with a direction, and has {defect}.")
        return list(embedding)

    async_add, adelete, adelete_nodes = _in_thread(add), _in_thread(delete), _in_thread(delete_nodes)
    aclear, aget_nodes, aquery = _in_thread(clear), _in_thread(get_nodes), _in_thread(query)

    def _chosen(self, node_ids: Sequence[str] | None, filters: MetadataFilters | None) -> ColumnElement[bool]:
        """The condition of these ids and filters; None sets none."""
        nodes = self._nodes.c
        ids = true() if node_ids is None else nodes.node_id.in_(storable(node_ids))
        return and_(ids, true() if filters is None else metadata_condition(filters, nodes.metadata_))

    def _embedded(self, connection: Connection, condition: ColumnElement[bool]) -> dict[str, Embedded]:
        """The nodes that meet a condition, with their vectors, in document order, by id.

        A vector that several nodes of one window share is stored with the first; the others get it from their own row.
        """
        nodes, windows = self._nodes.c, self._windows.c
        wanted = self._select().add_columns(nodes.embedding).where(condition)
        rows = connection.execute(wanted.order_by(self._key("document_id"), cast(self._key("ordinal"), Integer))).all()
        vectors: dict[str, list[Any]] = {row.node_id: [] for row in rows}
        of_them = select(windows.node_id, windows.embedding).where(windows.node_id.in_(list(vectors)))
        for node_id, vector in connection.execute(of_them.order_by(windows.node_id, windows.place)):
            vectors[node_id].append(as_floats(vector))
        return {
            row.node_id: Embedded(
                read_node(row), np.array(vectors[row.node_id] or [as_floats(row.embedding)], dtype=np.float32)
            )
            for row in rows
        }

    def _revise(self, run: "_Run", document_id: str, added: Mapping[str, Embedded], removed: Collection[str]) -> None:
        """Add nodes to a document and remove others, in one transaction."""
        with writing(self.engine, f"writing document {document_id}") as connection:
            lock_documents(connection, [document_id])
            stored = document_rows.load_document(connection, document_id, "owner")
            if stored and stored.source_kind != document_rows.ADDED_NODES:
                raise StoreError(
                    f"The nodes of {stored.name} (document {document_id}) come from the source {stored.source}, and no "
                    "program adds to them or deletes of them.",
                    hint="Remove it at its source, or run `footnote remove`; add nodes under another ref_doc_id.",
                )
            nodes, of_it = self._nodes.c, self._key("document_id") == document_id
            taken = select(nodes.node_id).where(nodes.node_id.in_(list(added)), ~of_it).limit(1)
            if other := connection.execute(taken).scalar():
                raise StoreError(f"Node {other} belongs to another document than {document_id}.")
            kept = {**still_stored(self._embedded(connection, of_it), added), **added}
            for node_id in removed:
                kept.pop(node_id, None)
            if not kept:
                if stored:
                    remove_locked(self, connection, [document_id], run.recorder("removed", [stored]))
                return
            was_private = not stored and last_visibility(connection, document_id) == "private"
            new = replacement(document_id, stored, list(kept.values()), private=was_private)
            record = run.recorder("updated" if stored else "added", [new.document], len(kept))
            write_locked(self, connection, [prepare_rows(self, new)], record)

    def _delete_documents(self, document_ids: Sequence[str]) -> None:
        d, wanted = documents.c, storable(document_ids)
        columns = (d.id, d.collection, d.name, d.source, d.source_kind, d.source_uri)
        stored = self._now("reading what is stored", select(*columns).where(d.id.in_(wanted)))
        if stored:
            with self._run("remove", sorted({row.source for row in stored})) as run:
                remove_documents(self, [row.id for row in stored], run.recorder("removed", stored))

    def _now(self, doing: str, statement: Executable) -> Sequence[Row[Any]]:
        """All rows of a statement, of what is stored by now, inside a read snapshot too."""
        with writing(self.engine, doing) as connection:
            return connection.execute(statement).all()

    @contextmanager
    def _run(self, kind: RunKind, sources: Sequence[str]) -> Iterator["_Run"]:
        """A run of the run log, which an error in the block makes `stopped`."""
        began = time.perf_counter()
        with open_run(self.engine, sources, kind=kind) as run_id:
            run = _Run(run_id, [])
            yield run
            seconds, nodes = time.perf_counter() - began, sum(item.nodes for item in run.items)
            report = IngestReport(run_id, tuple(run.items), nodes, 0, round(seconds, 3))
            finish_run(self.engine, report)


@dataclass(frozen=True, slots=True)
class _Run:
    """An open run, and the outcomes of its documents so far."""

    id: int
    items: list[IngestItem]

    def recorder(self, outcome: Outcome, written: Sequence[Any], nodes: int = 0) -> Within:
        """A function that logs the outcome of documents, in the transaction that writes them.

        `written` are Documents, or rows with their id, collection, name, source, source_kind and source_uri.
        """
        by_id = {each.id: each for each in written}

        def record(connection: Connection, versions: Mapping[str, int | None]) -> None:
            for document_id, version in versions.items():
                document = by_id[document_id]
                item = SourceItem(document.source_uri, document.name, document.source, document.source_kind)
                done = IngestItem(document.name, outcome, nodes=nodes, document_id=document_id)
                write_items(connection, self.id, [LoggedItem(document.collection, item, done, version)])
                self.items.append(done)

        return record


def _refuse(method: str, options: Mapping[str, Any]) -> None:
    """Refuse options that would be ignored.

    Raises:
        RetrievalError: If there are any.
    """
    if options:
        raise RetrievalError(f"FootnoteVectorStore.{method} does not support {', '.join(sorted(options))}.")
