"""Whether what the tables hold of documents agrees: rows, nodes, terms, originals. What does not can be made again."""

import hashlib
import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

from sqlalchemy import Connection, delete, func, or_, select

from pipelines.store.audit import node_rows
from pipelines.store.originals import keep_original, original_path
from pipelines.store.tables import document_indexes, documents, lexical_segments


def damaged(connection: Connection, table: str) -> list[str]:
    """The documents of whose nodes a table lacks some, or their terms, or holds some too many; by id."""
    held, rows, segments = document_indexes.c, node_rows(table), lexical_segments.c
    owner = rows.c.metadata_["document_id"].astext
    terms = select(segments.node_id).where(segments.node_table == table)
    stored = select(owner.label("id"), func.count().label("nodes")).group_by(owner).subquery()
    indexed = select(held.document_id, held.nodes).where(held.node_table == table).subquery()
    counts = (
        select(indexed.c.document_id)
        .outerjoin(stored, stored.c.id == indexed.c.document_id)
        .where(or_(stored.c.nodes.is_(None), stored.c.nodes != indexed.c.nodes))
    )
    silent = select(owner).where(rows.c.node_id.not_in(terms), owner.in_(select(indexed.c.document_id)))
    lost = select(segments.document_id).where(
        segments.node_table == table, segments.node_id.not_in(select(rows.c.node_id))
    )
    return sorted(connection.execute(counts.union(silent, lost)).scalars())


def forget_damaged(connection: Connection, table: str) -> int:
    """Forget that the table holds what is damaged, so that the next run makes it again; how many documents.

    What is left of it serves until then.
    """
    ids = damaged(connection, table)
    connection.execute(
        delete(document_indexes).where(document_indexes.c.node_table == table, document_indexes.c.document_id.in_(ids))
    )
    return len(ids)


def without_original(connection: Connection, home: Path) -> list[tuple[str, str, str]]:
    """(name, URI, SHA-256 of the file) of the documents whose original bytes are not kept, by name.

    Only those of sources that originals are kept of.
    """
    d = documents.c
    found = connection.execute(select(d.name, d.source_uri, d.file_sha).where(d.source_kind != "eval").order_by(d.name))
    return [(row.name, row.source_uri, row.file_sha) for row in found if not original_path(home, row.file_sha).exists()]


def recover_originals(connection: Connection, home: Path) -> int:
    """Keep the originals that are missing of files that are as they were; how many."""
    kept = 0
    for name, uri, sha in without_original(connection, home):
        path = Path(os.fsdecode(unquote_to_bytes(uri.removeprefix("file://"))))
        if uri.startswith("file://") and path.is_file():
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() == sha:
                keep_original(home, sha, data, name=name)
                kept += 1
    return kept
