"""The doctor of the store: one finding a check, each with the command that mends it."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, select, text

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.store.audit import node_rows
from pipelines.store.database import HEAD, Database, open_database, reading
from pipelines.store.node_table import checked, hnsw_statement, node_table
from pipelines.store.tables import document_indexes, documents, embedding_models, lexical_segments
from pipelines.types import EmbeddingIdentity

_FREE_BYTES = 500_000_000
_SAMPLE = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `mend` is a command when it is not ok."""

    name: str
    ok: bool
    said: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        return asdict(self)


def examine(settings: Settings, identity: EmbeddingIdentity, *, fix: bool = False) -> list[Finding]:
    """Every check of the database and of the node table of this model, in order; with `fix`, safe repairs first."""
    findings = [_disk(settings)]
    try:
        database = open_database(settings)
    except FootnoteError as error:
        return [*findings, Finding("database", False, error.message, error.hint or "footnote db start")]
    findings.append(Finding("database", True, f"{database.url}, migration {HEAD}"))
    if fix:
        _repair(database.engine)
    with reading(database.engine, "examining the database") as connection:
        findings += _checks(connection, database, identity)
    return findings


def _checks(connection: Connection, database: Database, identity: EmbeddingIdentity) -> Iterator[Finding]:
    version = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
    yield Finding("pgvector", True, f"version {version}")
    table = node_table(identity.slug)
    if connection.execute(text("SELECT to_regclass(:t)"), {"t": f"data_{table}"}).scalar() is None:
        yield Finding("nodes", False, f"nothing is ingested with {identity.model}", "footnote ingest")
        return
    yield _dimension(connection, table, identity)
    yield _vector_index(connection, table)
    yield _explain(connection, table, identity.dimension)
    yield _self_recall(connection, table)
    yield _orphans(connection, table)
    yield _duplicates(connection, table)
    yield _lexical(connection, table)
    yield _stale(connection, table)


def _dimension(connection: Connection, table: str, identity: EmbeddingIdentity) -> Finding:
    held = connection.execute(
        text("SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:t) AND attname = 'embedding'"),
        {"t": f"data_{table}"},
    ).scalar()
    said = f"table {held}, model {identity.dimension}"
    return Finding("dimension", held == identity.dimension, said, f"FOOTNOTE_EMBEDDING__DIMENSION={held}")


def _vector_index(connection: Connection, table: str) -> Finding:
    operators = connection.execute(
        text(
            "SELECT o.opcname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_am a ON a.oid = c.relam JOIN pg_opclass o ON o.oid = i.indclass[0] "
            "WHERE i.indrelid = to_regclass(:t) AND a.amname = 'hnsw' AND i.indisvalid"
        ),
        {"t": f"{table}_windows"},
    ).scalar()
    ok = operators in ("vector_cosine_ops", "halfvec_cosine_ops")
    return Finding("vector index", ok, f"hnsw, {operators}" if operators else "missing", "footnote doctor --fix")


def _explain(connection: Connection, table: str, dimension: int) -> Finding:
    """Whether the planner can use the vector index at all, small tables apart."""
    kind = "halfvec" if dimension > 2000 else "vector"
    connection.execute(text("SET LOCAL enable_seqscan = off"))
    rows = connection.execute(
        text(
            f"EXPLAIN SELECT node_id FROM {table}_windows ORDER BY embedding <=> CAST(:v AS {kind}) LIMIT 5"  # noqa: S608 - both names are ours
        ),
        {"v": "[" + ",".join(["0.1"] * dimension) + "]"},
    ).scalars()
    used = any("hnsw" in row for row in rows)
    connection.execute(text("SET LOCAL enable_seqscan = on"))
    return Finding("vector search", used, "uses the index" if used else "scans every row", "footnote doctor --fix")


def _self_recall(connection: Connection, table: str) -> Finding:
    """Whether stored vectors find themselves through the index; many equal vectors can tear it apart."""
    name = f"{checked(table)}_windows"
    connection.execute(text("SET LOCAL enable_seqscan = off"))
    rows = connection.execute(
        text(
            f"SELECT (SELECT min(f.d) FROM (SELECT w.embedding <=> s.embedding AS d FROM {name} w "  # noqa: S608 - ours
            f"ORDER BY w.embedding <=> s.embedding LIMIT 1) f) FROM (SELECT embedding FROM {name} "
            f"ORDER BY md5(node_id) LIMIT {_SAMPLE}) s"
        )
    ).scalars()
    distances = list(rows)
    connection.execute(text("SET LOCAL enable_seqscan = on"))
    lost = sum(distance is None or distance > 1e-3 for distance in distances)
    said = f"{len(distances) - lost} of {len(distances)} sampled vectors find themselves"
    return Finding("vector recall", lost == 0, said, "footnote doctor --fix")


def _orphans(connection: Connection, table: str) -> Finding:
    rows = node_rows(table)
    key = rows.c.metadata_["document_id"].astext
    count = connection.execute(
        select(func.count()).select_from(rows).where(key.not_in(select(documents.c.id)))
    ).scalar_one()
    return Finding("orphans", count == 0, f"{count} nodes without a document", "footnote doctor --fix")


def _duplicates(connection: Connection, table: str) -> Finding:
    rows = node_rows(table)
    total, distinct = connection.execute(select(func.count(), func.count(rows.c.node_id.distinct()))).one()
    return Finding(
        "duplicates", total == distinct, f"{total} nodes, {total - distinct} of them twice", "footnote reindex"
    )


def _lexical(connection: Connection, table: str) -> Finding:
    nodes = connection.execute(select(func.count()).select_from(node_rows(table))).scalar_one()
    held = connection.execute(
        select(func.count()).select_from(lexical_segments).where(lexical_segments.c.node_table == table)
    ).scalar_one()
    return Finding("lexical index", nodes == held, f"{held} of {nodes} nodes have their terms", "footnote ingest")


def _stale(connection: Connection, table: str) -> Finding:
    fresh = select(document_indexes.c.document_id).join(
        documents,
        (documents.c.id == document_indexes.c.document_id)
        & (documents.c.content_sha == document_indexes.c.content_sha),
    )
    count = connection.execute(
        select(func.count())
        .select_from(documents)
        .where(documents.c.id.not_in(fresh.where(document_indexes.c.node_table == table)))
    ).scalar_one()
    return Finding("embeddings", count == 0, f"{count} documents lack this model's vectors", "footnote ingest")


def _disk(settings: Settings) -> Finding:
    home = settings.home.resolve()
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    return Finding(
        "disk", free > _FREE_BYTES, f"{free / 1e9:.1f} GB free for {home}", "free some space, or move FOOTNOTE_HOME"
    )


def _repair(engine: Engine) -> None:
    """Delete orphans and build the vector indexes again; nothing that holds a document is touched."""
    with engine.begin() as connection:
        for row in connection.execute(select(embedding_models)).all():
            rows = node_rows(row.node_table)
            key = rows.c.metadata_["document_id"].astext
            connection.execute(delete(rows).where(key.not_in(select(documents.c.id))))
            connection.execute(text(f"DROP INDEX IF EXISTS {checked(row.node_table)}_hnsw"))
            connection.execute(text(hnsw_statement(row.node_table, row.dimension)))
