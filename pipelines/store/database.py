"""The Postgres database: its engine, transactions, errors, migrations and bulk inserts."""

import io
import json
import re
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select
from typing import Any

import psycopg2
from pgvector.sqlalchemy import HALFVEC, Vector
from psycopg2 import extensions
from pydantic import SecretStr
from sqlalchemy import (
    BigInteger,
    Connection,
    DateTime,
    Engine,
    Executable,
    Float,
    Integer,
    LargeBinary,
    Row,
    SmallInteger,
    String,
    Table,
    create_engine,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
)

from config.settings import Settings
from pipelines.errors import ConfigError, ServiceUnavailable, StoreError
from pipelines.observe import log
from pipelines.store.embedded import EmbeddedServer
from pipelines.store.originals import HINT, is_full
from pipelines.store.read_snapshot import LOOK, connected
from pipelines.structure import STRUCTURE_VERSION, structure_of
from pipelines.text import digit_runs
from pipelines.types import Block

HEAD = "0009"  # the newest migration; a test holds it to the migrations folder
REVISIONS = tuple(f"{number:04d}" for number in range(1, int(HEAD) + 1))
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x466F6F746E6F7465
_PROGRESS_SECONDS = 5
_PATIENCE = "30s"  # that a migration waits for readers and writers of a table


def prepare(connection: Connection) -> str | None:
    """Create the vector extension if it is missing, and return the database's migration (None = empty).

    Raises:
        ConfigError: If the database is newer than this program or another program's, and nothing is written then; if
            the server has no pgvector, or a pgvector without iterative scans.
    """
    revision = current_revision(connection)
    present = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
    if present is None:
        present = _create_extension(connection)
    if tuple(map(int, digit_runs(present)[:2])) < (0, 8):
        raise ConfigError(
            f"The server has pgvector {present}, and filtered search needs 0.8.",
            hint="Install pgvector 0.8 there and run `ALTER EXTENSION vector UPDATE` in this database.",
        )
    return revision


def current_revision(connection: Connection) -> str | None:
    """The database's migration; None for an empty one.

    Raises:
        ConfigError: If it is newer than this program or another program's.
    """
    if not connection.execute(text("SELECT to_regclass('alembic_version')")).scalar():
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version ORDER BY version_num")).scalars().all()
    if not found or found[0] in REVISIONS:
        return str(found[0]) if found else None
    if len(found[0]) == 4 and found[0].isdecimal() and found[0] > HEAD:
        raise ConfigError(
            f"The database stands at migration {found[0]}, but this version of Footnote ends at {HEAD}.",
            hint=f"Upgrade Footnote, downgrade the database with the newer version (`footnote db migrate --to {HEAD}`),"
            " or use another database (DATABASE_URL or FOOTNOTE_HOME).",
        )
    raise ConfigError(
        f"The database stands at migration {str(found[0])[:40]!r}, and Footnote's go from {REVISIONS[0]} to {HEAD}: "
        "another program made it.",
        hint="Use its own database for Footnote (DATABASE_URL).",
    )


def assert_known(revision: str) -> None:
    """Refuse an unknown revision.

    Raises:
        ConfigError: If there is no such revision.
    """
    if revision != "base" and revision not in REVISIONS:
        raise ConfigError(f"There is no migration {revision[:40]!r}.", hint=f"There are {', '.join(REVISIONS)}.")


def losses(before: str | None, revision: str) -> list[str]:
    """The losses of a downgrade to an older revision, a sentence a step; none for an upgrade."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(alembic_config())
    steps = REVISIONS[max(_place(revision), 0) : _place(before)]
    documented = (scripts.get_revision(step).module.downgrade.__doc__ for step in reversed(steps))
    return [" ".join(str(each).split()) for each in documented]


def alembic_config(connection: Connection | None = None) -> Any:
    """Alembic's configuration for the migrations of this package."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _place(revision: str | None) -> int:
    """The number of migrations up to a revision."""
    return 0 if revision in (None, "base") else REVISIONS.index(str(revision)) + 1


def _create_extension(connection: Connection) -> str:
    try:
        with connection.begin_nested():
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except DBAPIError as error:
        raise ConfigError(
            "The Postgres server has no pgvector, or this user may not enable it.",
            hint="Install pgvector there (Debian: postgresql-NN-pgvector) and let a superuser run "
            "`CREATE EXTENSION vector` in this database; or unset DATABASE_URL for the embedded server.",
        ) from error
    return str(connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar())


LOCKED_BY_OTHERS = ("55P03", "40P01")  # lock_not_available, deadlock_detected
_CONNECT_SECONDS = 10
# Set for each connection: PGVectorStore's own way leaks to the pool and switches bitmap scans off.
_SESSION = f"-c hnsw.iterative_scan=relaxed_order -c hnsw.ef_search={LOOK}"
_servers: dict[Path, EmbeddedServer] = {}
_servers_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Database:
    """A reachable, migrated Postgres with pgvector.

    Attributes:
        engine: Thread-safe pool of connections.
        url: Where it is, without the password.
        embedded: True for the server under FOOTNOTE_HOME.
    """

    engine: Engine
    url: str
    embedded: bool


def open_database(settings: Settings) -> Database:
    """A migrated database: `DATABASE_URL`, else the embedded server, started when it is not running.

    What a migration left to be made of the stored documents is made here, and gone on with where it was stopped.

    Raises:
        ConfigError: If the URL is wrong, the server has no pgvector, or the database is newer than this program.
        ServiceUnavailable: If no server answers, or others keep it from being migrated.
        StoreError: If it cannot be migrated.
    """
    database, version = reach(settings)
    try:
        if version != HEAD:
            migrate(database.engine)
        make_structures(database.engine)
    except BaseException:
        database.engine.dispose()
        raise
    return database


def reach(settings: Settings) -> tuple[Database, str | None]:
    """The database, not migrated, and its migration; None for an empty one.

    Raises:
        ConfigError, ServiceUnavailable: As for `open_database`.
    """
    embedded = settings.database_url is None
    engine = make_engine(database_url(settings), embedded=embedded)
    url = engine.url.render_as_string(hide_password=True)
    try:
        with engine.begin() as connection:
            return Database(engine, url, embedded), prepare(connection)
    except BaseException as error:
        engine.dispose()
        if isinstance(error, DBAPIError):
            raise translate(error, f"connecting to {url}") from error
        raise


def database_url(settings: Settings) -> URL:
    """The SQLAlchemy URL of the database; starts the embedded server if there is no `DATABASE_URL`."""
    if settings.database_url is None:
        return make_url(embedded_server(settings.home).url)
    return parsed_url(settings.database_url, "DATABASE_URL")


def parsed_url(given: SecretStr, name: str) -> URL:
    """The SQLAlchemy URL that a setting of this name has.

    Raises:
        ConfigError: If it is no URL, or not of a Postgres.
    """
    hint = "Write postgresql://USER:PASSWORD@HOST:5432/NAME."
    try:
        url = make_url(given.get_secret_value())
        if url.get_backend_name() not in ("postgresql", "postgres"):
            raise ConfigError(f"{name} names {url.get_backend_name()}, and Footnote needs Postgres.", hint=hint)
    except (ArgumentError, ValueError) as error:
        raise ConfigError(f"{name} is not a URL.", hint=hint) from error
    return url.set(drivername="postgresql+psycopg2")


def embedded_server(home: Path, *, durable: bool = True) -> EmbeddedServer:
    """The running embedded server of this home, one object a process."""
    home = home.resolve()
    with _servers_lock:
        server = _servers.setdefault(home, EmbeddedServer(home, durable=durable))
        server.acquire()
    return server


def make_engine(url: URL, *, embedded: bool) -> Engine:
    """An engine whose connections use iterative index scans; nothing is connected yet."""
    try:
        return create_engine(
            url,
            pool_pre_ping=not embedded,
            pool_size=5,
            max_overflow=15,
            connect_args={"options": _SESSION, "connect_timeout": _CONNECT_SECONDS, "application_name": "footnote"},
        )
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError("DATABASE_URL cannot be used.", hint="Write postgresql://USER:PASSWORD@HOST/NAME.") from error


def migrate(engine: Engine, revision: str = HEAD) -> str | None:
    """Migrate the relational tables up or down to a revision, wholly or not at all; returns the revision before.

    `revision` is one of `REVISIONS`, or `base` for no tables at all. Another process that migrates waits for this one.

    Raises:
        ConfigError: If there is no such revision, or the database is newer than this program.
        ServiceUnavailable: If others keep using the tables, or the database cannot be reached.
        StoreError: If a step fails.
    """
    from alembic import command

    assert_known(revision)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            before = prepare(connection)
            connection.execute(text("SELECT set_config('lock_timeout', :wait, true)"), {"wait": _PATIENCE})
            step = command.downgrade if _place(revision) < _place(before) else command.upgrade
            step(alembic_config(connection), revision)
    except DBAPIError as error:
        if getattr(error.orig, "pgcode", "") in LOCKED_BY_OTHERS:
            raise ServiceUnavailable(
                "The database is in use, so it could not be migrated.", hint="Close chats and runs, and try again."
            ) from error
        translated = translate(error, f"migrating the database to {revision}")
        if isinstance(translated, StoreError):
            hint = "If another program owns a table of that name, give Footnote its own database."
            translated = StoreError(f"{translated.message} Nothing was changed.", hint=hint)
        raise translated from error
    if before != revision:
        log("info", "database migrated", before=before, after=revision)
    return before


_UNSTRUCTURED = text("SELECT id FROM documents WHERE structure_version <> :version ORDER BY id")
_TO_STRUCTURE = text("SELECT text, blocks, mime, name FROM documents WHERE id = :id AND structure_version <> :version")
_STRUCTURED = text("UPDATE documents SET structure = CAST(:made AS jsonb), structure_version = :version WHERE id = :id")


def make_structures(engine: Engine) -> int:
    """Make the structures that stored documents lack, or have of an older version, from their texts; returns how many.

    Each document is a transaction of its own, under its lock, so that it can be stopped at any point; the next start
    goes on. A document of which none can be made is logged and left: it is made whenever it is read.

    Raises:
        ServiceUnavailable, StoreError: If the database cannot be reached, or refuses.
    """
    version = {"version": STRUCTURE_VERSION}
    with reading(engine, "looking for documents without a structure") as connection:
        ids = connection.execute(_UNSTRUCTURED, version).scalars().all()
    made, logged = 0, time.monotonic()
    for done, document_id in enumerate(ids, start=1):
        with writing(engine, "storing the structure of a document") as connection:
            lock_documents(connection, (document_id,))
            row = connection.execute(_TO_STRUCTURE, {**version, "id": document_id}).one_or_none()
            if row is None:
                continue
            try:
                # The blocks of Markdown are read again: older releases read less of its dialects.
                blocks = () if row.mime == "text/markdown" else tuple(Block(*block) for block in row.blocks)
                structure = json.dumps(structure_of(row.text, blocks, row.mime).stored())
            except Exception as error:  # noqa: BLE001 - one document must not keep the program from starting
                log("warning", "structure not made", document=row.name, error=f"{type(error).__name__}: {error}")
                continue
            connection.execute(_STRUCTURED, {**version, "id": document_id, "made": structure})
            made += 1
        if time.monotonic() - logged > _PROGRESS_SECONDS or done == len(ids):
            logged = time.monotonic()
            log("info", "structures of documents made", done=done, of=len(ids))
    return made


def lock_documents(connection: Connection, document_ids: Sequence[str]) -> None:
    """Lock documents against other writers; sorted, so that two writers never wait for each other."""
    lock = text("SELECT pg_advisory_xact_lock(hashtextextended(id, 0)) FROM unnest(CAST(:ids AS text[])) AS id")
    connection.execute(lock, {"ids": sorted(document_ids)})


def reset(engine: Engine) -> None:
    """Drop every table of Footnote and make the relational ones again, empty."""
    migrate(engine, "base")
    migrate(engine)


@contextmanager
def reading(engine: Engine, doing: str) -> Iterator[Connection]:
    """A connection for reading that translates database errors; `doing` ends "while ...".

    Inside an open read snapshot it reads the state that the snapshot sees.
    """
    try:
        with connected(engine) as connection:
            yield connection
    except DBAPIError as error:
        raise translate(error, doing) from error


def read_rows(engine: Engine, doing: str, statement: Executable) -> Sequence[Row[Any]]:
    """All rows of one statement, read as in `reading`."""
    with reading(engine, doing) as connection:
        return connection.execute(statement).all()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the exception of a signal handler end a running statement.

    Otherwise psycopg2 waits in C for the server's answer, and the handler runs only after it. This applies to every
    connection of the process, and COPY is refused meanwhile: it is for a command that only reads.
    """
    before = extensions.get_wait_callback()
    extensions.set_wait_callback(_wait)
    try:
        yield
    finally:
        extensions.set_wait_callback(before)


def _wait(connection: Any) -> None:
    """Wait for the server as `psycopg2.extras.wait_select` does; an interrupted statement is cancelled there too."""
    try:
        while (state := connection.poll()) != extensions.POLL_OK:
            reads = state == extensions.POLL_READ
            select([connection] if reads else [], [] if reads else [connection], [])
    except (KeyboardInterrupt, SystemExit):
        connection.cancel()
        raise


@contextmanager
def writing(engine: Engine, doing: str) -> Iterator[Connection]:
    """A transaction that translates database errors; `doing` ends "while ..."."""
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        raise translate(error, doing) from error


def translate(error: Exception, doing: str) -> Exception:
    """The Footnote error for a database error; `doing` ends the sentence "while ...".

    Connection trouble and a full disk are ServiceUnavailable, everything else StoreError.
    """
    if isinstance(error, ProgrammingError) and "invalid dsn" in str(error.orig):
        return ConfigError(f"DATABASE_URL has an option that Postgres does not know: {_first_line(error)}")
    if isinstance(error, DBAPIError) and is_full(error.orig):
        return ServiceUnavailable(f"The disk of the database is full while {doing}: {_first_line(error)}", hint=HINT)
    # The server fails, and not a statement that exceeds its limits (class 54 of the SQLSTATE codes).
    is_failure = isinstance(error, OperationalError) and not (getattr(error.orig, "pgcode", None) or "").startswith(
        "54"
    )
    if is_failure or getattr(error, "connection_invalidated", False):
        return ServiceUnavailable(
            f"The database could not be reached while {doing}: {_first_line(error)}",
            hint="Check that the server runs and DATABASE_URL is right; `footnote doctor` shows details.",
        )
    if isinstance(error, IntegrityError) and "documents_uri" in str(error.orig):
        return StoreError(
            f"Another document with this address already exists, found while {doing}.",
            hint="Remove that one first, or run the same command again.",
        )
    if isinstance(error, ProgrammingError) and "does not exist" in str(error.orig):
        return ConfigError(f"A table is missing while {doing}: {_first_line(error)}", hint="Run `footnote db migrate`.")
    return StoreError(f"The database refused while {doing}: {_first_line(error)}")


def _first_line(error: DBAPIError | Exception) -> str:
    message = str(getattr(error, "orig", None) or error).strip()
    return re.sub(r"password=\S+", "password=***", message.splitlines()[0] if message else type(error).__name__)


_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL, _NULL = struct.pack(">h", -1), struct.pack(">i", -1)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # of Postgres
_INT8 = 20  # the number of that type


def append_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append rows to a table, in the transaction of the connection; all have the columns of the first.

    Columns that are not given get their defaults.

    Raises:
        DBAPIError: If the database refuses them.
    """
    if not rows:
        return
    columns = [table.c[name] for name in rows[0]]
    forms = [(each.name, next(_FORMS[kind] for kind in type(each.type).__mro__ if kind in _FORMS)) for each in columns]
    out, fields, length = bytearray(_HEAD), struct.pack(">h", len(columns)), struct.Struct(">i")
    for row in rows:
        out += fields
        for name, form in forms:
            value = row[name]
            if value is None:
                out += _NULL
            else:
                packed = form(value)
                out += length.pack(len(packed)) + packed
    out += _TAIL
    names = connection.dialect.identifier_preparer
    into = f"{names.format_table(table)} ({', '.join(names.quote(column.name) for column in columns)})"
    statement = f"COPY {into} FROM STDIN (FORMAT binary)"
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor() as cursor:
            cursor.copy_expert(statement, io.BytesIO(out))
    except psycopg2.Error as error:
        raise DBAPIError.instance(statement, None, error, psycopg2.Error) from error


def _bigints(values: Sequence[int]) -> bytes:
    if not values:
        return struct.pack(">iii", 0, 0, _INT8)
    head = struct.pack(">iiiii", 1, 0, _INT8, len(values), 1)  # dimensions, nulls, type, how many, from which number
    return head + b"".join(struct.pack(">iq", 8, value) for value in values)


_FORMS: dict[type, Callable[[Any], bytes]] = {
    String: str.encode,
    SmallInteger: struct.Struct(">h").pack,
    Integer: struct.Struct(">i").pack,
    BigInteger: struct.Struct(">q").pack,
    Float: struct.Struct(">d").pack,
    DateTime: lambda value: struct.pack(">q", (value - _EPOCH) // timedelta(microseconds=1)),
    LargeBinary: bytes,
    JSONB: lambda value: b"\x01" + json.dumps(value).encode(),
    ARRAY: _bigints,
    Vector: lambda value: struct.pack(">hh", len(value), 0) + value.astype(">f4").tobytes(),
    HALFVEC: lambda value: struct.pack(">hh", len(value), 0) + value.astype(">f2").tobytes(),
}
