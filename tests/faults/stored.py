"""What a database and its home hold, read without the program: by document, to be compared row by row."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg2

from config.settings import Settings
from pipelines.store.near_duplicates import ALIKE, components

Rows = Mapping[str, tuple[str, ...]]  # table -> its rows about one document, sorted

_OF_DOCUMENTS = {
    "documents": "SELECT id, (to_jsonb(t) - 'ingested_at')::text FROM documents t",
    "document_indexes": "SELECT document_id, to_jsonb(t)::text FROM document_indexes t",
    "lexical_segments": "SELECT document_id, to_jsonb(t)::text FROM lexical_segments t",
    "facts": "SELECT document_id, (to_jsonb(t) - 'id')::text FROM facts t",
    "families": "SELECT document_id, (to_jsonb(t) - 'family')::text FROM families t",  # depends on other documents
    "headers": "SELECT document_id, (to_jsonb(t) - 'at')::text FROM headers t",
    "document_versions": (
        "SELECT document_id, ((to_jsonb(t) - '{id,replaced_at,run_id}'::text[]) #- '{row,ingested_at}')::text "
        "FROM document_versions t"
    ),
    "corpus_changes": "SELECT document_id, 'changed' FROM corpus_changes",
    "embedding_models": "SELECT '', jsonb_build_array(node_table, active)::text FROM embedding_models",
    "ingest_items": (
        "SELECT document_id, outcome FROM ingest_items "
        "WHERE run_id > %(since)s AND outcome NOT IN ('unchanged', 'failed')"
    ),
}
_OF_NODE_TABLES = {
    "nodes": (
        "SELECT metadata_->>'document_id', jsonb_build_array(node_id, text, md5(embedding::text), "
        "metadata_ - '{{_node_content,ingested_at}}'::text[], "
        "(metadata_->>'_node_content')::jsonb #- '{{metadata,ingested_at}}')::text FROM data_{table}"
    ),
    "windows": (
        "SELECT n.metadata_->>'document_id', jsonb_build_array(w.node_id, w.place, md5(w.embedding::text))::text "
        "FROM {table}_windows w JOIN data_{table} n USING (node_id)"
    ),
}
_NEVER = {
    "a change of the corpus without its number": (
        "SELECT v.version, c.* FROM corpus_version v, "
        "(SELECT count(*) AS n, min(version) AS low, max(version) AS high FROM corpus_changes) c "
        "WHERE c.n > 0 AND (v.version <> c.high OR c.n <> c.high - c.low + 1)"
    ),
    "a kept version without the item that replaced it": (
        "SELECT v.id FROM document_versions v LEFT JOIN ingest_items i ON i.version_id = v.id AND i.run_id = v.run_id "
        "AND i.document_id = v.document_id WHERE i.id IS NULL"
    ),
    "an index that counts other nodes than there are": (
        "SELECT i.document_id FROM document_indexes i WHERE i.nodes <> (SELECT count(*) FROM lexical_segments s "
        "WHERE s.document_id = i.document_id AND s.node_table = i.node_table)"
    ),
    "a fact without its document": "SELECT id FROM facts WHERE document_id NOT IN (SELECT id FROM documents)",
    "two models that serve": "SELECT count(*) FROM embedding_models WHERE active HAVING count(*) > 1",
    "a lock that somebody left": (
        "SELECT l.objid FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
        "WHERE d.datname = current_database() AND l.locktype = 'advisory'"
    ),
    "a transaction that somebody left": (
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_type = 'client backend' AND state <> 'idle'"
    ),
}


@dataclass(frozen=True)
class Stored:
    """What a database holds.

    Attributes:
        documents: Document id -> table -> rows; run ids, times, and what other documents decide are left out. What
            belongs to no document is under the empty id: which models there are, and which serves.
        cached: The rows of the embedding cache.
        runs: (kind, state) of each run since the start, oldest first.
        last_run: The id of the newest run, 0 without one.
        version: Of the corpus.
    """

    documents: Mapping[str, Rows]
    cached: frozenset[str]
    runs: tuple[tuple[str, str], ...]
    last_run: int
    version: int


def dsn(settings: Settings) -> str:
    """The database's address, for libpq."""
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


def read_stored(settings: Settings, since: int | None = None) -> Stored:
    """What the database holds now; of the run log only what came after the run `since`, by default nothing."""
    connection = psycopg2.connect(dsn(settings))
    try:
        with connection, connection.cursor() as cursor:
            newest = _rows(cursor, "SELECT coalesce(max(id), 0) FROM ingest_runs", {})[0][0]
            given = {"since": newest if since is None else since}
            return _read(lambda statement: _rows(cursor, statement, given), newest)
    finally:
        connection.close()


def _rows(cursor: Any, statement: str, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    cursor.execute(statement, given if "%(" in statement else None)
    return list(cursor.fetchall())


def _read(rows: Callable[[str], list[tuple[Any, ...]]], newest: int) -> Stored:
    found: dict[str, dict[str, list[str]]] = {}
    statements = dict(_OF_DOCUMENTS)
    for (table,) in rows("SELECT node_table FROM embedding_models"):
        statements |= {f"{name} {table}": sql.format(table=table) for name, sql in _OF_NODE_TABLES.items()}
    for name, statement in statements.items():
        for document_id, row in rows(statement):
            found.setdefault(document_id, {}).setdefault(name, []).append(row)
    return Stored(
        documents={key: {name: tuple(sorted(held)) for name, held in of.items()} for key, of in found.items()},
        cached=frozenset(row[0] for row in rows("SELECT to_jsonb(t)::text FROM embedding_cache t")),
        runs=tuple(rows("SELECT kind, state FROM ingest_runs WHERE id > %(since)s ORDER BY id")),  # type: ignore[arg-type]
        last_run=newest,
        version=rows("SELECT version FROM corpus_version")[0][0],
    )


def sides(found: Stored, start: Stored, target: Stored) -> dict[str, str]:
    """Each document that changes between start and target -> `old`, `new`, or what it is a mixture of."""
    said: dict[str, str] = {}
    for document_id in sorted({*found.documents, *start.documents, *target.documents}):
        old, new, held = (side.documents.get(document_id, {}) for side in (start, target, found))
        if old == new == held:
            continue
        said[document_id] = "old" if held == old else "new" if held == new else _mixture(held, old, new)
    return said


def _mixture(held: Rows, old: Rows, new: Rows) -> str:
    of = {}
    for name in sorted({*held, *old, *new}):
        rows, before, after = held.get(name, ()), old.get(name, ()), new.get(name, ())
        if before != after or rows != before:
            odd = [row[:300] for row in rows if row not in (*before, *after)]
            of[name] = "old" if rows == before else "new" if rows == after else f"{len(rows)} rows, odd {odd}"
    return f"half: {of}"


def faults_of(settings: Settings) -> list[str]:
    """What must never be, whatever happened to a run: in the database, and among the originals."""
    connection = psycopg2.connect(dsn(settings))
    try:
        with connection, connection.cursor() as cursor:
            said = [f"{name}: {row}" for name, sql in _NEVER.items() for row in _rows(cursor, sql, {})]
            said += _wrong_families(_rows(cursor, "SELECT kind, member, family, signature FROM families", {}))
            wanted = {row[0] for row in _rows(cursor, "SELECT file_sha FROM documents", {})}
    finally:
        connection.close()
    return [*said, *_wrong_originals(settings.home, wanted)]


def _wrong_families(rows: list[tuple[Any, ...]]) -> Iterator[str]:
    for kind, alike in ALIKE.items():
        signed = {member: np.frombuffer(held, dtype="<u4") for of, member, _, held in rows if of == kind}
        named = {member: family for of, member, family, _ in rows if of == kind}
        for group in components(signed, alike):
            if {named[member] for member in group} != {min(group)}:
                yield f"the family of {sorted(group)} is called {sorted(named[member] for member in group)}"


def _wrong_originals(home: Path, wanted: set[str]) -> Iterator[str]:
    kept = {path.name: path for path in (home / "originals").glob("??/*") if not path.name.startswith(".new-")}
    yield from (f"the original {sha} is missing" for sha in sorted(wanted - kept.keys()))
    for sha, path in kept.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha:
            yield f"the original {sha} holds something else"
