"""Where a run can be hurt: events of files, statements, commits and the model, told from inside a forked child.

`watch` patches the process for good, so only a child may call it. The events are those of the edges (files, SQL, the
loaders, the embedding model), whatever runs between them.
"""

import os
import re
import select
import signal
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2
from sqlalchemy import Engine, event
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2

from pipelines.ingestion import prepare
from pipelines.models.embedding import HashedEmbedding

STAGES = (
    "before parsing",
    "parsing",
    "embedding",
    "in the transaction",
    "before COMMIT",
    "COMMIT under way",
    "after COMMIT",
    "between documents",
    "lexical snapshot",
    "any moment",
)
_VERB, _TABLE = re.compile(r"\w+"), re.compile(r"\b(?:INTO|FROM|UPDATE)\s+\"?(\w+)")
_OUTSIDE = {
    "ingest_runs",
    "embedding_models",
    "snapshots",
    "alembic_version",
    "",
}  # what no document's transaction writes
_OF_EMBEDDING = {"embedding_cache", "headers"}
_COMMIT = b"Q" + struct.pack("!I", 4 + len(b"COMMIT\0")) + b"COMMIT\0"


@dataclass(frozen=True)
class Event:
    """Something that happens in a run: its stage, and a label that counts alike in every run of the same work."""

    stage: str
    label: str


Tell = Callable[[Event, Any], None]  # (what happens, the psycopg2 connection it happens on, or None)
Hurt = Callable[[Event, Any], None]


@dataclass
class Recorder:
    """Remembers every event, for a rehearsal."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, told: Event, _raw: Any) -> None:
        self.events.append(told)


@dataclass
class Injector:
    """Does `hurt` when `label` happens for the `nth` time (from 1); only once."""

    label: str
    nth: int
    hurt: Hurt
    hit: bool = False
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: Any = field(default_factory=threading.Lock)

    def __call__(self, told: Event, raw: Any) -> None:
        if told.label != self.label:
            return
        with self._lock:
            self._seen[told.label] += 1
            due = self._seen[told.label] == self.nth
        if due:
            self.hit = True
            self.hurt(told, raw)


# What hurts


def kill(told: Event, raw: Any) -> None:
    """End this process at once; with a COMMIT sent and not answered, where that is the stage."""
    if told.stage == "COMMIT under way":
        os.write(raw.fileno(), _COMMIT)
    os.kill(os.getpid(), signal.SIGKILL)


def disconnect(told: Event, raw: Any) -> None:
    """Have the server end every connection of this database; of a COMMIT under way the answer is lost."""
    if told.stage == "COMMIT under way":
        _lose_the_answer(raw)
        return
    other = psycopg2.connect(raw.dsn if raw is not None else _Seen.dsn)
    try:
        with other, other.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
    finally:
        other.close()


def _lose_the_answer(raw: Any) -> None:
    with socket.socket(fileno=os.dup(raw.fileno())) as wire:
        wire.setblocking(True)
        wire.sendall(_COMMIT)
        answer = b""
        while not answer.endswith(b"Z\x00\x00\x00\x05I"):
            select.select([wire], [], [])
            answer += wire.recv(4096)
        wire.shutdown(socket.SHUT_RDWR)


class _Seen:
    """Where the process was connected last."""

    dsn = ""


# What is watched


def watch(tell: Tell, folder: Path) -> None:
    """Tell of every event in this process from now on; `folder` is that of the documents."""
    _watch_files(tell, folder)
    _watch_calls(tell)
    _watch_database(tell)


def _watch_files(tell: Tell, folder: Path) -> None:
    below = f"{folder}{os.sep}"

    def audited(name: str, given: tuple[Any, ...]) -> None:
        if name == "open" and isinstance(given[0], str) and given[0].startswith(below) and given[1] != "w":
            tell(Event("before parsing", "a document is read"), None)

    sys.addaudithook(audited)
    replace = os.replace

    def replaced(source: Any, target: Any, **given: Any) -> None:
        snapshot = "lexical" in Path(target).parts
        stage, what = ("lexical snapshot", "a snapshot") if snapshot else ("before parsing", "an original")
        tell(Event(stage, f"{what} is written"), None)
        replace(source, target, **given)
        tell(Event(stage, f"{what} is in place"), None)

    os.replace = replaced  # type: ignore[assignment]


def _around(tell: Tell, stage: str, what: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def called(*given: Any, **named: Any) -> Any:
        tell(Event(stage, f"before {what}"), None)
        made = call(*given, **named)
        tell(Event(stage, f"after {what}"), None)
        return made

    return called


def _watch_calls(tell: Tell) -> None:
    for name in ("load", "parse"):
        setattr(prepare, name, _around(tell, "parsing", name, getattr(prepare, name)))
    one = HashedEmbedding._get_text_embedding
    HashedEmbedding._get_text_embedding = _around(tell, "embedding", "a vector", one)  # type: ignore[method-assign]


def _watch_database(tell: Tell) -> None:
    touched: dict[int, set[str]] = {}  # connection -> the tables that its transaction has written

    def told_of(statement: str, raw: Any) -> Event:
        verbs, tables = _VERB.search(statement), _TABLE.search(statement)
        verb, table = verbs[0].upper() if verbs else "", tables[1] if tables else ""
        if verb != "SELECT":
            touched.setdefault(id(raw), set()).add(table)
        return Event(_stage(touched.get(id(raw), set())), f"{verb} {table}".strip())

    def before(_: Any, cursor: Any, statement: str, *__: Any) -> None:
        _Seen.dsn = cursor.connection.dsn
        of = told_of(statement, cursor.connection)
        tell(Event(of.stage, f"before {of.label}"), cursor.connection)

    def after(_: Any, cursor: Any, statement: str, *__: Any) -> None:
        of = told_of(statement, cursor.connection)
        tell(Event(of.stage, f"after {of.label}"), cursor.connection)

    event.listen(Engine, "before_cursor_execute", before)
    event.listen(Engine, "after_cursor_execute", after)
    commit, rollback = PGDialect_psycopg2.do_commit, PGDialect_psycopg2.do_rollback

    def committed(self: Any, connection: Any) -> None:
        raw = getattr(connection, "dbapi_connection", connection)
        stage = _stage(touched.pop(id(raw), set()))
        of_document = stage == "in the transaction"
        for moment in ("before COMMIT", "COMMIT under way"):
            tell(Event(moment if of_document else stage, f"{moment}: {stage}"), raw)
        commit(self, connection)
        tell(Event("after COMMIT" if of_document else stage, f"after COMMIT: {stage}"), raw)

    def rolled_back(self: Any, connection: Any) -> None:
        touched.pop(id(getattr(connection, "dbapi_connection", connection)), None)
        rollback(self, connection)

    PGDialect_psycopg2.do_commit = committed  # type: ignore[method-assign]
    PGDialect_psycopg2.do_rollback = rolled_back  # type: ignore[method-assign]


def _stage(written: set[str]) -> str:
    if written - _OUTSIDE - _OF_EMBEDDING:
        return "in the transaction"
    return "embedding" if written & _OF_EMBEDDING else "between documents"
