"""A moment: one state of the corpus, which every read of one question sees."""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from pipelines.store.changes import Mark, read_mark


class Moment:
    """One state of the corpus, and what was derived of it.

    Attributes:
        mark: Which state.
        connection: Whose open transaction sees it.
        failed: Whether a statement failed in it. Postgres takes no other then, and what is read after that is read
            outside, of the state as it is by then.
    """

    def __init__(self, mark: Mark, connection: Connection | None = None) -> None:
        self.mark = mark
        self.connection = connection
        self.failed = False
        self._lock = threading.RLock()
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made under this key, made now if it was not."""
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


_open: ContextVar[Moment | None] = ContextVar("moment", default=None)


@contextmanager
def moment(engine: Engine) -> Iterator[Moment]:
    """Until it ends, everything that `reading` reads of this engine, here and in threads with this context, is of one
    state: one connection, in one transaction that sees nothing of what is committed later.

    Inside a moment of the same engine it is that moment.
    """
    held = of(engine)
    if held is not None:
        yield held
        return
    still = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with engine.connect().execution_options(**still) as connection:
        begun = Moment(read_mark(connection), connection)
        token = _open.set(begun)
        try:
            yield begun
        finally:
            _open.reset(token)


def of(engine: Engine) -> Moment | None:
    """The moment of this engine that is open here."""
    held = _open.get()
    return held if held is not None and held.connection is not None and held.connection.engine is engine else None


def connected(engine: Engine) -> AbstractContextManager[Connection]:
    """A connection for reading: the open moment's, else one of its own."""
    held = of(engine)
    return engine.connect() if held is None or held.failed else held.reading()
