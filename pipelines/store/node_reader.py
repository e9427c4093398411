"""NodeReader: every read of nodes, each for filters and an audience, through one condition of bound parameters."""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, ImageNode, IndexNode, Node, TextNode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.postgres import PGVectorStore
from numpy.typing import NDArray
from pgvector.sqlalchemy import Vector
from pydantic import PrivateAttr
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Float,
    Integer,
    LargeBinary,
    Select,
    String,
    Subquery,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    true,
    union,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REGCLASS
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError

from pipelines.errors import ConfigError, StoreError
from pipelines.store import read_snapshot as changes
from pipelines.store import schema as tables
from pipelines.store.database import append_rows, read_rows, reading, translate, writing
from pipelines.store.documents import SHOWS_LINES, DocumentLinks, document_links, links_of
from pipelines.store.filters import holds, matching, seen_by
from pipelines.store.lexical_index import Segment
from pipelines.store.near_duplicates import families_of
from pipelines.store.node_table import (
    FILTER_COLUMNS,
    HALFVEC_ABOVE,
    Vectors,
    Windows,
    hnsw_statement,
    pooled,
    stored_dimension,
)
from pipelines.store.read_snapshot import KeptById, Mark, ReadSnapshot, open_snapshot, read_snapshot
from pipelines.store.tokens import TOKENISER_VERSION, node_terms, tokenise
from pipelines.store.vector_index import Window, vectors_of
from pipelines.text import searchable
from pipelines.types import Audience, Filters, NodeMetadata

EXACT_BELOW = 5000
_KEPT_NODES, _KEPT_ROWS, _KEPT_CHANGES = 4_000, 20_000, 100_000
_IN_TURN = {"yield_per": 5_000}  # rows that are read at a time


class NodeReader(PGVectorStore):
    """Reads the nodes of one embedding model; no read can be made without filters and an audience.

    They are in two tables: PGVectorStore's own holds node_id, text, metadata_ and the pooled embedding; the other one
    holds the vectors that are searched, which are deleted with their node.
    """

    _windows: Table = PrivateAttr()
    _versions_kept: int = PrivateAttr(default=5)
    _kept: KeptById[TextNode] = PrivateAttr(default_factory=lambda: KeptById(_KEPT_NODES))
    _families: KeptById[str] = PrivateAttr(default_factory=lambda: KeptById(_KEPT_ROWS))
    _links: defaultdict[Audience, KeptById[DocumentLinks]] = PrivateAttr(
        default_factory=lambda: defaultdict(lambda: KeptById[DocumentLinks](_KEPT_ROWS))
    )

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows the class."""
        return cls.__name__

    @classmethod
    def from_params(cls, *args: Any, **kwargs: Any) -> PGVectorStore:
        """Refused: a node table belongs to an embedding model in a migrated database.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError("A Footnote store has no from_params.", hint="Use build_vector_store.")

    @property
    def engine(self) -> Engine:
        """The engine of the database; the store never disposes of it."""
        assert self._engine is not None
        return self._engine

    @property
    def client(self) -> Engine:
        """The engine, under LlamaIndex's name."""
        return self.engine

    @property
    def table(self) -> str:
        """The name of the node table, without PGVectorStore's `data_` prefix."""
        return self.table_name

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        return self.embed_dim

    @property
    def versions_kept(self) -> int:
        """The number of versions of a document that are kept for undo."""
        return self._versions_kept

    @property
    def _nodes(self) -> Table:
        nodes: Table = self._table_class.__table__
        return nodes

    def append(self, connection: Connection, written: Sequence[tuple[TextNode, Vectors]], windows: Windows) -> None:
        """Add nodes, each under the mean of its windows' vectors, and the windows that are searched.

        The rows are those that PGVectorStore would write.
        """
        nodes = [
            {
                "node_id": node.node_id,
                "text": node.get_content(),
                "metadata_": node_to_metadata_dict(node, remove_text=True, flat_metadata=self.flat_metadata),
                "embedding": pooled(vectors),
            }
            for node, vectors in written
        ]
        append_rows(connection, self._nodes, nodes)
        append_rows(connection, self._windows, windows)

    def ensure(self, provider: str, model: str) -> None:
        """Make the tables and their indexes when they are missing; safe from several processes.

        Raises:
            ConfigError: If they hold vectors of another dimension.
        """
        name = self._nodes.name
        with self.engine.begin() as connection:
            stored = stored_dimension(connection, self.table)
            if stored not in (None, self.dimension):
                raise ConfigError(
                    f"The table {name} holds vectors of {stored} dimensions, and the model gives {self.dimension}.",
                    hint=f"Set FOOTNOTE_EMBEDDING__DIMENSION={stored}, or change FOOTNOTE_EMBEDDING__MODEL.",
                )
            if stored is not None:
                return
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:t, 0))"), {"t": name})
            self._nodes.create(connection, checkfirst=True)
            connection.execute(text(f"CREATE UNIQUE INDEX IF NOT EXISTS {name}_id ON {name} (node_id)"))
            self._windows.create(connection, checkfirst=True)
            connection.execute(text(hnsw_statement(self.table, self.dimension)))
            for key in FILTER_COLUMNS:
                connection.execute(text(f"CREATE INDEX IF NOT EXISTS {name}_{key} ON {name} ((metadata_ ->> '{key}'))"))
            connection.execute(
                upsert(tables.embedding_models)
                .values(
                    node_table=self.table,
                    provider=provider,
                    model=model,
                    dimension=self.dimension,
                    active=~exists().where(tables.embedding_models.c.active),
                )
                .on_conflict_do_nothing()
            )

    def nearest(
        self, vector: Sequence[float], k: int, *, look: int, filters: Filters, audience: Audience
    ) -> list[tuple[str, float]]:
        """The ids of the k nodes nearest to `vector`, best first, with their cosine similarities (-1..1).

        `look` is the number of vectors that the index examines (ef_search); a filtered search continues until it has k.
        """
        narrow = bool(filters) or audience != "owner"
        return self._nearest(vector, k, look=look, condition=self.visible(filters, audience), narrow=narrow)

    def _nearest(
        self, vector: Sequence[float], k: int, *, look: int, condition: ColumnElement[bool], narrow: bool
    ) -> list[tuple[str, float]]:
        """As `nearest`, of the nodes that meet a condition; if these may be few (`narrow`), they are counted first."""
        nodes, windows = self._nodes.c, self._windows.c
        distance = _cosine_distance(windows.embedding, vector).label("distance")
        statement = select(windows.node_id, distance)
        if narrow:
            statement = statement.join(self._nodes, windows.node_id == nodes.node_id).where(condition)
        best: dict[str, float] = {}
        rows, reach = 2 * k, min(max(look, k, 1), 1000)  # several windows of a node may be near
        with reading(self.engine, "searching by vector") as connection:
            snapshot = open_snapshot(self.engine)
            if snapshot is None or snapshot.look != reach:
                connection.execute(text("SELECT set_config('hnsw.ef_search', :look, true)"), {"look": str(reach)})
                if snapshot is not None:
                    snapshot.look = reach
            if narrow:  # comparing all of a few nodes is exact and cheap
                passing = select(nodes.node_id).where(condition).limit(EXACT_BELOW + 1)
                counted = connection.execute(select(func.count()).select_from(passing.subquery())).scalar_one()
                narrow = int(counted) <= EXACT_BELOW
            # a sum is not in the vector index
            statement = statement.order_by(distance.element + 0.0 if narrow else distance)
            while len(best) < k:
                found = connection.execute(statement.limit(rows)).all()
                best = {row.node_id: float(row.distance) for row in reversed(found)}
                if len(found) < rows:
                    break
                rows *= 4
        ranked = sorted(best.items(), key=lambda pair: (pair[1], pair[0]))[:k]
        return [(node_id, 1.0 - distance) for node_id, distance in ranked]

    def nodes(self, node_ids: Sequence[str], *, filters: Filters, audience: Audience) -> dict[str, TextNode]:
        """The nodes of ids that a read of this snapshot found under these filters; ids that are gone are missing.

        They are not to be edited: they are kept for the next question.
        """
        with self.read_snapshot() as snapshot:
            if snapshot.failed:  # a later state may be read
                return self.fetch(node_ids, filters=filters, audience=audience)
            found = self._kept.known(snapshot, node_ids)
            if missing := [node_id for node_id in node_ids if node_id not in found]:
                with reading(self.engine, "fetching nodes") as connection:
                    rows = connection.execute(_with_documents(self._nodes, audience), {"wanted": missing}).all()
                fresh = {row.node_id: read_node(row) for row in rows}
                families = {row.node_id: row.own or "" for row in rows}
                families |= {fresh[row.node_id].metadata["document_id"]: row.others or "" for row in rows}
                self._kept.keep(snapshot, fresh)
                self._families.keep(snapshot, families)
                self._links[audience].keep(snapshot, {row.id: links_of(row) for row in rows if row.id})
                found |= fresh
            return found

    def families(self, members: Collection[str]) -> dict[str, str]:
        """The family of each of these nodes and documents; those without one are missing.

        Takes no filters: the caller has the ids from reads that did.
        """

        def read(missing: list[str]) -> dict[str, str]:
            return dict.fromkeys(missing, "") | families_of(self.engine, missing)

        with self.read_snapshot() as snapshot:
            known = self._families.current(snapshot, members, read)
        return {member: family for member, family in known.items() if family}

    def links(self, document_ids: Collection[str], audience: Audience) -> dict[str, DocumentLinks]:
        """The names and links of documents by id; one that this audience must not see is missing."""

        def read(missing: list[str]) -> dict[str, DocumentLinks]:
            with reading(self.engine, "reading where documents are") as connection:
                return document_links(connection, missing, audience)

        with self.read_snapshot() as snapshot:
            return self._links[audience].current(snapshot, document_ids, read)

    def similarities(self, vectors: Sequence[Sequence[float]], node_ids: Sequence[str]) -> list[dict[str, float]]:
        """By vector, the cosine similarity (-1..1) of each of these nodes' nearest window; gone nodes are missing.

        Takes no filters: the caller has the ids from reads that did.
        """
        windows = self._windows.c
        distances = [func.min(_cosine_distance(windows.embedding, vector)) for vector in vectors]
        wanted = windows.node_id == func.any(cast(list(node_ids), ARRAY(Text)))
        statement = select(windows.node_id, *distances).where(wanted).group_by(windows.node_id)
        with reading(self.engine, "comparing vectors") as connection:
            rows = connection.execute(statement).all()
        return [
            {row[0]: 1.0 - float(row[place]) for row in rows if not math.isnan(row[place])}  # of a vector of zeros
            for place in range(1, len(vectors) + 1)
        ]

    def fetch(self, node_ids: Iterable[str], *, filters: Filters, audience: Audience) -> dict[str, TextNode]:
        """The nodes of these ids that this audience may see; ids that are gone are missing."""
        wanted = list(node_ids)
        if not wanted:
            return {}
        statement = self._select().where(self._nodes.c.node_id.in_(wanted), self.visible(filters, audience))
        return {row.node_id: read_node(row) for row in read_rows(self.engine, "fetching nodes", statement)}

    def kinds(self) -> set[str]:
        """The kinds of the stored nodes."""
        with reading(self.engine, "reading the kinds of nodes") as connection:
            return set(connection.execute(select(self._key("kind")).distinct()).scalars())

    def matching_ids(self, filters: Filters, audience: Audience) -> set[str]:
        """The ids of all nodes that pass the filters."""
        statement = select(self._nodes.c.node_id).where(self.visible(filters, audience))

        def read() -> set[str]:
            return {row.node_id for row in read_rows(self.engine, "filtering nodes", statement)}

        with self.read_snapshot() as snapshot:
            found: set[str] = snapshot.once((self.table, filters, audience), read)
            return found

    def window(
        self, document_id: str, ordinal: int, width: int, *, filters: Filters, audience: Audience
    ) -> list[TextNode]:
        """A node with up to `width` neighbours on each side, in document order."""
        place = cast(self._key("ordinal"), Integer)
        near = place.between(ordinal - width, ordinal + width)
        chosen = self._key("document_id") == document_id, near, self.visible(filters, audience)
        statement = self._select().where(*chosen).order_by(place)
        return [read_node(row) for row in read_rows(self.engine, "fetching neighbours", statement)]

    def segments(self, audience: Audience, documents: Collection[str] | None = None) -> Iterator[Segment]:
        """The segments of an audience's nodes, or of those of these documents, ordered by document and node id.

        They are read a few thousand at a time; nodes that were tokenised by older rules are tokenised again.
        """
        if documents is not None and not documents:
            return
        stored, nodes = tables.lexical_segments.c, self._nodes.c
        statement = (
            select(stored.node_id, stored.document_id, stored.tokens, stored.tokeniser)
            .join(self._nodes, nodes.node_id == stored.node_id)
            .where(stored.node_table == self.table, self.visible(Filters(), audience))
            .order_by(stored.document_id.collate("C"), stored.node_id.collate("C"))
        )
        if documents is not None:
            statement = statement.where(stored.document_id == func.any(cast(list(documents), ARRAY(Text))))
        with reading(self.engine, "reading the lexical segments") as connection:
            for found in connection.execute(statement, execution_options=_IN_TURN).partitions():
                stale = [row.node_id for row in found if row.tokeniser != TOKENISER_VERSION]
                fresh = self.fetch(stale, filters=Filters(), audience="owner")
                again = {node_id: segment(node, node.metadata["mime"]) for node_id, node in fresh.items()}
                for row in found:
                    yield Segment(row.node_id, row.document_id, again.get(row.node_id, row.tokens))

    def windows(self, audience: Audience, documents: Collection[str] | None = None) -> Iterator[Window]:
        """The vectors of an audience's nodes, or of those of these documents, ordered by node id and place.

        They are read a few thousand at a time.
        """
        if documents is not None and not documents:
            return
        stored, windows = tables.lexical_segments.c, self._windows.c
        statement = (
            select(windows.node_id, stored.document_id, _sent(windows.embedding))
            .join(tables.lexical_segments, and_(stored.node_id == windows.node_id, stored.node_table == self.table))
            .order_by(windows.node_id, windows.place)
        )
        if audience != "owner":
            nodes = self._nodes
            statement = statement.join(nodes, nodes.c.node_id == windows.node_id).where(
                self.visible(Filters(), audience)
            )
        if documents is not None:
            statement = statement.where(stored.document_id == func.any(cast(list(documents), ARRAY(Text))))
        with reading(self.engine, "reading vectors") as connection:
            yield from (Window(*row) for row in connection.execute(statement, execution_options=_IN_TURN))

    def count_windows(self, most: int) -> int:
        """The number of stored vectors, or of a small table how many it can hold at most; of more than `most` the
        number that Postgres last counted, if it did.
        """
        some = select(literal(1)).select_from(self._windows).limit(most + 1).subquery()
        bytes_held = select(func.pg_table_size(cast(self._windows.name, REGCLASS)))
        with reading(self.engine, "counting vectors") as connection:
            number = 2 if self.dimension > HALFVEC_ABOVE else 4  # bytes
            held = int(connection.execute(bytes_held).scalar_one()) // (number * self.dimension)
            if held <= most:  # counting them reads the whole table
                return held
            count = int(connection.execute(select(func.count()).select_from(some)).scalar_one())
            if count <= most:
                return count
            statistics = text("SELECT reltuples FROM pg_class WHERE oid = CAST(:name AS regclass)")
            told = int(connection.execute(statistics, {"name": self._windows.name}).scalar_one())
            if told > most:
                return told
            return int(connection.execute(select(func.count()).select_from(self._windows)).scalar_one())

    def some_vectors(self, audience: Audience, limit: int) -> NDArray[np.float32]:
        """A random but repeatable sample of at most `limit` vectors that this audience may search, (n, d)."""
        windows = self._windows.c  # the order of node ids, which are hashes, is random
        statement = (
            select(_sent(windows.embedding))
            .join(self._nodes, self._nodes.c.node_id == windows.node_id)
            .where(self.visible(Filters(), audience))
            .order_by(windows.node_id, windows.place)
            .limit(limit)
        )
        found = [row[0] for row in read_rows(self.engine, "sampling vectors", statement)]
        return vectors_of(found).reshape(len(found), self.dimension)

    def stated_names(self, audience: Audience, of: Collection[str] | None = None) -> list[tuple[str, str]]:
        """The (name, document id) of each company, institution, project and repository that is stated as a fact.

        `of` some documents, if given.
        """
        f, fact = tables.facts.c, self._nodes.c.metadata_["facts"]
        stated = case((f.kind == "project", f.title), else_=f.organisation).label("name")
        careers = (
            select(stated, f.document_id)
            .join(tables.documents, tables.documents.c.id == f.document_id)
            .where(f.kind.in_(("job", "education", "project")), seen_by(audience))
        )
        repositories = select(fact["name"].astext, self._key("document_id")).where(
            fact["type"].astext == "repository", self.visible(Filters(), audience)
        )
        if of is not None:
            careers, repositories = (
                careers.where(f.document_id.in_(of)),
                repositories.where(self._key("document_id").in_(of)),
            )
        names = union(careers, repositories).subquery("names")
        ordered = select(names.c[0], names.c[1]).where(names.c[0] != "").order_by(names.c[0], names.c[1])
        return [(row[0], row[1]) for row in read_rows(self.engine, "reading names", ordered)]

    def passing(self, filters: Filters, audience: Audience) -> Subquery:
        """A subquery of the nodes that pass, with node_id, document_id, section_path, start and end."""
        places = [cast(self._key(name), Integer).label(name) for name in ("start", "end")]
        path = func.coalesce(self._nodes.c.metadata_["section_path"], cast([], JSONB)).label("section_path")
        node = select(self._nodes.c.node_id, self._key("document_id").label("document_id"), path, *places)
        return node.where(self.visible(filters, audience)).subquery("node")

    def count(self) -> int:
        """The number of nodes."""
        return int(read_rows(self.engine, "counting nodes", select(func.count()).select_from(self._nodes))[0][0])

    def mark(self) -> Mark:
        """The state of the corpus."""
        with self.read_snapshot() as snapshot:
            return snapshot.mark

    def version(self) -> int:
        """The corpus version: raised in the same transaction as any change of nodes."""
        return self.mark().version

    def read_snapshot(self) -> AbstractContextManager[ReadSnapshot]:
        """One state of the corpus for all reads of this context, and of threads with a copy of it, until it ends.

        Raises:
            ServiceUnavailable: If the database cannot be reached.
        """
        present = open_snapshot(self.engine)
        return self._new_snapshot() if present is None else nullcontext(present)

    @contextmanager
    def _new_snapshot(self) -> Iterator[ReadSnapshot]:
        try:
            with read_snapshot(self.engine) as snapshot:
                yield snapshot
        except DBAPIError as error:
            raise translate(error, "looking where the corpus stands") from error

    def changed_since(self, mark: Mark) -> frozenset[str] | None:
        """The documents that changed since; None if that is not known."""
        with self.read_snapshot() as snapshot, reading(self.engine, "reading what changed") as connection:
            return changes.changed_since(connection, mark, snapshot.mark)

    def forget_changes(self) -> None:
        """Delete all but the newest 100,000 changes; indexes that are further behind are built again."""
        version, newest = tables.corpus_changes.c.version, select(tables.corpus_version.c.version).scalar_subquery()
        with writing(self.engine, "forgetting old changes") as connection:
            connection.execute(delete(tables.corpus_changes).where(version <= newest - _KEPT_CHANGES))

    def visible(self, filters: Filters, audience: Audience) -> ColumnElement[bool]:
        """The condition of these filters and this audience, of bound parameters, that every read applies.

        Raises:
            RetrievalError: If a filter value cannot be compared (a NUL, a broken date).
        """
        conditions: list[ColumnElement[bool]] = []
        if audience != "owner":
            conditions.append(self._key("visibility") == "public")
        for name in ("collection", "category", "kind"):
            if values := getattr(filters, name):
                conditions.append(self._key(name).in_(values))
        if filters.year:
            conditions.append(self._key("year").in_([str(year) for year in filters.year]))
        if chosen := matching(filters):
            conditions.append(self._key("document_id").in_(select(tables.documents.c.id).where(*chosen)))
        body = self._nodes.c.text
        conditions += [or_(holds(body, phrase), holds(self._key("header"), phrase)) for phrase in filters.phrase]
        return and_(true(), *conditions)

    def _key(self, name: str) -> ColumnElement[str]:
        key: ColumnElement[str] = self._nodes.c.metadata_[name].astext
        return key

    def _select(self) -> Select[Any]:
        return _stored(self._nodes)


def _stored(nodes: Table) -> Select[Any]:
    """The columns that `read_node` reads."""
    return select(nodes.c.node_id, nodes.c.text, nodes.c.metadata_["_node_content"].astext.label("content"))


@cache
def _with_documents(nodes: Table, audience: Audience) -> Select[Any]:
    """The `wanted` nodes with their families, and the names and links of their documents; made once."""
    documents, family = tables.documents, tables.families.c
    document_id = nodes.c.metadata_["document_id"].astext
    own, others = (
        select(family.family).where(family.member == key).scalar_subquery() for key in (nodes.c.node_id, document_id)
    )
    return (
        _stored(nodes)
        .add_columns(own.label("own"), others.label("others"), documents.c.id, documents.c.name)
        .add_columns(documents.c.source_uri, *SHOWS_LINES)
        .outerjoin(documents, and_(documents.c.id == document_id, seen_by(audience)))
        .where(nodes.c.node_id == func.any(bindparam("wanted", type_=ARRAY(Text))))
    )


def segment(node: BaseNode, mime: str) -> str:
    """A node's index terms, joined by spaces: those of the header, a tab, those of the text."""
    header, body = node.metadata["header"], searchable("", node.get_content(), mime, node.metadata["kind"])
    return f"{' '.join(tokenise(header))}\t{' '.join(node_terms(body))}"


def _cosine_distance(column: Any, vector: Sequence[float]) -> Any:
    """pgvector's cosine distance (0..2). Seven digits are all that a float4 has, and cost a third of a double's."""
    value = f"[{','.join([f'{number:.7g}' for number in vector])}]"
    return column.op("<=>", return_type=Float)(literal(value, String))


def _sent(column: Any) -> Any:
    """A vector as pgvector sends it, see `vectors_of`: read as text, it takes four times as long."""
    return func.vector_send(cast(column, Vector), type_=LargeBinary)


def as_floats(vector: Any) -> Any:
    """The numbers of a vector as the driver gives it."""
    return vector.to_numpy() if hasattr(vector, "to_numpy") else vector


_TEXT_NODES = {kind.class_name(): kind for kind in (IndexNode, ImageNode)}
# Defaults for fields that nodes of older parsers lack; `extra` is stored only if it is not empty.
_DEFAULTS = {name: field.default for name, field in NodeMetadata.model_fields.items() if not field.is_required()}
_DEFAULTS |= {"section_path": (), "token_count": 0}
del _DEFAULTS["extra"]


def read_node(row: Any) -> TextNode:
    """The node of a row of node_id, text and content, which is the node as LlamaIndex writes it, without its text.

    Raises:
        StoreError: If it is not a text node.
    """
    content = json.loads(row.content)
    if content["class_name"] == Node.class_name():
        raise StoreError(f"Row {row.node_id} is not a text node.", hint="Run `footnote audit`.")
    made = _TEXT_NODES.get(content["class_name"], TextNode)  # as LlamaIndex reads a class that it does not know
    node: TextNode = made.from_dict({**content, "text": row.text, "metadata": {**_DEFAULTS, **content["metadata"]}})
    return node
