"""The corpus version, and which document changed at each: what follows the corpus need not read all of it again."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from pipelines.store.tables import corpus_changes, corpus_version

_KEPT = 100_000  # rows; what lies further back is made anew


class Mark(NamedTuple):
    """A corpus version, and when it was made, in microseconds since 1970.

    The version alone may come again, in a database that was reset or restored; both together do not.
    """

    version: int
    at: int


def read_mark(connection: Connection) -> Mark:
    """Where the corpus stands."""
    changes = corpus_changes.c
    row = connection.execute(
        select(corpus_version.c.version, changes.at).outerjoin(
            corpus_changes, changes.version == corpus_version.c.version
        )
    ).one()
    return Mark(int(row.version), _microseconds(row.at))


def changed_since(connection: Connection, since: Mark, until: Mark) -> frozenset[str] | None:
    """The ids of the documents that changed after one mark, up to another; None when that is not known.

    Every version has a row, so that a row that is missing (pruned, or of another database) never hides a change.
    """
    changes = corpus_changes.c
    rows = connection.execute(
        select(changes.version, changes.document_id, changes.at)
        .where(changes.version.between(since.version, until.version))
        .order_by(changes.version)
    ).all()
    if not rows or len(rows) != until.version - since.version + 1:
        return None
    first, last = (Mark(int(row.version), _microseconds(row.at)) for row in (rows[0], rows[-1]))
    if (first, last) != (since, until):
        return None
    return frozenset(row.document_id for row in rows[1:])


def prune_changes(connection: Connection) -> None:
    """Delete all but the newest 100,000 changes."""
    newest = select(corpus_version.c.version).scalar_subquery()
    connection.execute(delete(corpus_changes).where(corpus_changes.c.version <= newest - _KEPT))


def _microseconds(at: datetime | None) -> int:
    return 0 if at is None else round(at.timestamp() * 1_000_000)
