"""Whether what the tables hold of documents agrees: rows, nodes, terms, originals. What does not can be made again."""

import hashlib
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, cast, exists, func, select

from pipelines.store.documents import delete_indexes
from pipelines.store.node_table import node_rows, window_rows
from pipelines.store.originals import is_kept, keep_original, path_of
from pipelines.store.tables import document_indexes, documents, lexical_segments

_SAME = 1e-4  # cosine distance between a vector and its copy


def damaged(connection: Connection, table: str) -> list[str]:
    """The documents that a table does not hold as it says, by id.

    Nodes, vectors or terms are missing or too many, or a node is not its span of the document's text.
    """
    return sorted({*miscounted(connection, table), *connection.execute(_unfit(table)).scalars()})


def miscounted(connection: Connection, table: str) -> list[str]:
    """The documents of which a table holds more or fewer nodes than it says, by id."""
    held, rows = document_indexes.c, node_rows(table)
    owner = rows.c.metadata_["document_id"].astext
    stored = select(owner.label("id"), func.count().label("nodes")).group_by(owner).subquery()
    counted = (
        select(held.document_id)
        .outerjoin(stored, stored.c.id == held.document_id)
        .where(held.node_table == table, func.coalesce(stored.c.nodes, 0) != held.nodes)
    )
    return sorted(connection.execute(counted).scalars())


def _unfit(name: str) -> Any:
    """The documents with a node that has no terms, no vector or another text, or with terms of no node."""
    rows, windows, terms = node_rows(name), window_rows(name), lexical_segments
    other, held, d = rows.alias(), document_indexes.c, documents.c
    owner, start, end = (rows.c.metadata_[key].astext for key in ("document_id", "start", "end"))
    said = exists().where(held.document_id == owner, held.node_table == name)
    of_it = exists().where(terms.c.node_table == name, terms.c.node_id == rows.c.node_id)
    own = exists().where(windows.c.node_id == rows.c.node_id)
    shared = exists().where(  # a vector that several nodes of a document have is stored under the first of them
        windows.c.node_id == other.c.node_id,
        other.c.metadata_["document_id"].astext == owner,
        windows.c.embedding.op("<=>")(rows.c.embedding) < _SAME,
    )
    body = func.substr(d.text, cast(start, Integer) + 1, cast(end, Integer) - cast(start, Integer))
    silent = select(owner).where(said, ~of_it)
    blind = select(owner).where(said, ~own, ~shared)
    altered = select(owner).join(documents, d.id == owner).where(said, body != rows.c.text)
    lost = select(terms.c.document_id).where(
        terms.c.node_table == name, ~exists().where(rows.c.node_id == terms.c.node_id)
    )
    return silent.union(blind, altered, lost)


def forget_damaged(connection: Connection, table: str) -> int:
    """Forget that the table holds what is damaged, so that the next run makes it again; how many documents.

    What is left of it serves until then.
    """
    ids = damaged(connection, table)
    delete_indexes(connection, ids, table)
    return len(ids)


def without_original(connection: Connection, home: Path) -> list[tuple[str, str, str]]:
    """(name, URI, SHA-256 of the file) of the documents whose original bytes are not kept, by name.

    Those of another length are not, either. Only of sources that originals are kept of.
    """
    d = documents.c
    wanted = select(d.name, d.source_uri, d.file_sha, d.bytes).where(d.source_kind != "eval")
    return [
        (row.name, row.source_uri, row.file_sha)
        for row in connection.execute(wanted.order_by(d.name, d.source_uri))
        if not is_kept(home, row.file_sha, row.bytes)
    ]


def recover_originals(connection: Connection, home: Path) -> int:
    """Keep the originals that are missing of files that are as they were; how many."""
    kept = 0
    for name, uri, sha in without_original(connection, home):
        path = path_of(uri)
        if uri.startswith("file://") and path.is_file():
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() == sha:
                keep_original(home, sha, data, name=name)
                kept += 1
    return kept
