"""Read snapshots: one state of the corpus for every read of a question; and the documents that changed since."""

import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError

from pipelines.store.schema import corpus_changes, corpus_version, embedding_models
from pipelines.types import Audience

Kept = TypeVar("Kept")
LOOK = 100  # vectors that the vector index examines unless a transaction says otherwise


class Mark(NamedTuple):
    """A corpus version and its time, in microseconds since 1970.

    The version alone may recur in a database that was reset or restored; both together do not.
    """

    version: int
    at: int


class KeptByMark(Generic[Kept]):
    """Values read once for each audience and state of the corpus; safe to use from several threads."""

    def __init__(
        self, read: Callable[[Audience], Kept], later: Callable[[Audience, Kept, Mark], Kept] | None = None
    ) -> None:
        """`later` makes the present value of one that was kept at an earlier mark; without it all is read anew."""
        self._read = read
        self._later = later
        self._cached: dict[Audience, tuple[Mark, Kept]] = {}
        self._reading = threading.Lock()

    def current(self, audience: Audience, mark: Mark) -> Kept:
        """The value as of a mark; raises as its reading does."""
        with self._reading:
            cached = self._cached.get(audience)
            if cached is None or cached[0] != mark:
                if cached and self._later:
                    cached = mark, self._later(audience, cached[1], cached[0])
                else:
                    cached = mark, self._read(audience)
                self._cached[audience] = cached
            return cached[1]

    def forget(self) -> None:
        """Read it again when it is next wanted."""
        with self._reading:
            self._cached.clear()


class KeptById(Generic[Kept]):
    """Values by id, each read once for a state of the corpus, the newest `most`; safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._state: tuple[Mark | None, dict[str, Kept]] = (None, {})

    def known(self, snapshot: "ReadSnapshot", ids: Collection[str]) -> dict[str, Kept]:
        """The values of these ids that are kept for the snapshot's state of the corpus."""
        mark, kept = self._state
        return {own: kept[own] for own in ids if own in kept} if mark == snapshot.mark else {}

    def keep(self, snapshot: "ReadSnapshot", fresh: Mapping[str, Kept]) -> None:
        """Keep values that were read in this snapshot; none of one that failed."""
        if snapshot.failed:
            return
        mark, kept = self._state
        if mark != snapshot.mark:
            kept = {}
            self._state = snapshot.mark, kept
        kept |= fresh
        for oldest in list(kept)[: max(len(kept) - self._most, 0)]:
            kept.pop(oldest, None)

    def current(
        self, snapshot: "ReadSnapshot", ids: Collection[str], read: Callable[[list[str]], Mapping[str, Kept]]
    ) -> dict[str, Kept]:
        """The values of these ids, of which `read` gives those that are not kept; ids without one are missing."""
        found = self.known(snapshot, ids)
        if missing := [own for own in ids if own not in found]:
            fresh = read(missing)
            self.keep(snapshot, fresh)
            found |= fresh
        return found


_STATE = (
    select(
        corpus_version.c.version, corpus_changes.c.at, embedding_models.c.provider, embedding_models.c.model,
        embedding_models.c.dimension, embedding_models.c.serves_since,
    )
    .outerjoin(corpus_changes, corpus_changes.c.version == corpus_version.c.version)
    .outerjoin(embedding_models, embedding_models.c.active)
)  # fmt: skip


def read_mark(connection: Connection) -> Mark:
    """The mark of the corpus now."""
    return _mark(connection.execute(_STATE).one())


def _mark(row: Any) -> Mark:
    return Mark(int(row.version), _microseconds(row.at))


def changed_since(connection: Connection, since: Mark, until: Mark) -> frozenset[str] | None:
    """The ids of the documents that changed after one mark, up to another; None if that is not known.

    Every version has a row, so that a missing row (pruned, or of another database) never hides a change.
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


def _microseconds(at: datetime | None) -> int:
    return 0 if at is None else round(at.timestamp() * 1_000_000)


class ReadSnapshot:
    """One state of the corpus, and what was derived from it.

    Attributes:
        mark: The mark of the state.
        connection: The connection with the transaction that sees it.
        active: Provider, model and dimension of the embedding model that serves, and since when; None without one.
        look: The number of vectors that the vector index examines in the transaction.
        failed: True if a statement failed in the transaction. Postgres refuses others then, and later reads go outside
            and see the corpus as it is by then.
    """

    def __init__(
        self, mark: Mark, connection: Connection | None = None, active: tuple[str, str, int, int] | None = None
    ) -> None:
        self.mark = mark
        self.connection = connection
        self.active = active
        self.look = LOOK
        self.failed = False
        self._lock = threading.RLock()
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of a key; computed the first time."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Its connection, for one thread at a time."""
        assert self.connection is not None
        with self._lock:
            try:
                yield self.connection
            except DBAPIError:
                self.failed = True
                raise


_opened_snapshot: ContextVar[ReadSnapshot | None] = ContextVar("read_snapshot", default=None)


@contextmanager
def read_snapshot(engine: Engine) -> Iterator[ReadSnapshot]:
    """Open a read snapshot: until it ends, `reading` on this engine sees one state of the database.

    This holds for the caller and for threads that run in a copy of its context. The snapshot is one connection with one
    read-only REPEATABLE READ transaction. Inside an open snapshot of the same engine, the same snapshot is returned.
    """
    if (present := open_snapshot(engine)) is not None:
        yield present
        return
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with engine.connect().execution_options(**options) as connection:
        row = connection.execute(_STATE).one()
        active = None if row.provider is None else (row.provider, row.model, row.dimension, row.serves_since)
        snapshot = ReadSnapshot(_mark(row), connection, active)
        token = _opened_snapshot.set(snapshot)
        try:
            yield snapshot
        finally:
            _opened_snapshot.reset(token)


def open_snapshot(engine: Engine) -> ReadSnapshot | None:
    """The snapshot of this engine that is open in this context."""
    snapshot = _opened_snapshot.get()
    is_of_it = snapshot is not None and snapshot.connection is not None and snapshot.connection.engine is engine
    return snapshot if is_of_it else None


def connected(engine: Engine) -> AbstractContextManager[Connection]:
    """A connection for reading: that of the open snapshot, else a new one."""
    snapshot = open_snapshot(engine)
    return engine.connect() if snapshot is None or snapshot.failed else snapshot.reading()
