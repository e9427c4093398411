"""STORE: which Postgres, its engine, transactions and errors, brought to this program's migration."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine
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
from pipelines.store.full import HINT, is_full
from pipelines.store.moment import connected
from pipelines.store.schema import HEAD, bring, prepare

HELD_BY_OTHERS = ("55P03", "40P01")  # lock_not_available, deadlock_detected
_CONNECT_SECONDS = 10
# Set for each connection: PGVectorStore's own way leaks to the pool and switches bitmap scans off.
_SESSION = "-c hnsw.iterative_scan=relaxed_order -c hnsw.ef_search=100"
_servers: dict[Path, EmbeddedServer] = {}
_servers_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Database:
    """A reachable, migrated Postgres with pgvector.

    Attributes:
        engine: Thread-safe pool of connections.
        url: Where it is, without the password.
        embedded: Whether it is the server under FOOTNOTE_HOME.
    """

    engine: Engine
    url: str
    embedded: bool


def open_database(settings: Settings) -> Database:
    """A migrated database: `DATABASE_URL`, else the embedded server, started when it is not running.

    Raises:
        ConfigError: If the URL is wrong, the server has no pgvector, or the database is newer than this program.
        ServiceUnavailable: If no server answers, or others keep it from being migrated.
        StoreError: If it cannot be migrated.
    """
    database, version = reach(settings)
    try:
        if version != HEAD:
            migrate(database.engine)
    except BaseException:
        database.engine.dispose()
        raise
    return database


def reach(settings: Settings) -> tuple[Database, str | None]:
    """The database as it is, and the migration it stands at; None for an empty one.

    Raises:
        ConfigError, ServiceUnavailable: As for `open_database`.
    """
    embedded = settings.database_url is None
    engine = make_engine(database_url(settings), embedded=embedded)
    try:
        with engine.begin() as connection:
            version = prepare(connection)
    except DBAPIError as error:
        engine.dispose()
        raise translate(error, f"connecting to {engine.url.render_as_string(hide_password=True)}") from error
    except BaseException:
        engine.dispose()
        raise
    return Database(engine, engine.url.render_as_string(hide_password=True), embedded), version


def database_url(settings: Settings) -> URL:
    """The SQLAlchemy URL of the database; starts the embedded server when there is no `DATABASE_URL`."""
    if settings.database_url is None:
        return make_url(embedded_server(settings.home).url)
    try:
        url = make_url(settings.database_url.get_secret_value())
        if url.get_backend_name() not in ("postgresql", "postgres"):
            raise ConfigError(
                f"DATABASE_URL names {url.get_backend_name()}, and Footnote needs Postgres.",
                hint="Write postgresql://USER:PASSWORD@HOST:5432/NAME.",
            )
    except (ArgumentError, ValueError) as error:
        raise ConfigError(
            "DATABASE_URL is not a URL.", hint="Write postgresql://USER:PASSWORD@HOST:5432/NAME."
        ) from error
    return url.set(drivername="postgresql+psycopg2")


def embedded_server(home: Path, *, durable: bool = True) -> EmbeddedServer:
    """The running embedded server of this home, one object a process."""
    home = home.resolve()
    with _servers_lock:
        server = _servers.setdefault(home, EmbeddedServer(home, durable=durable))
        server.acquire()
    return server


def make_engine(url: URL, *, embedded: bool) -> Engine:
    """An engine whose connections search filtered vectors iteratively; nothing is connected yet."""
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
    """Bring the relational tables to a revision, up or down, all the way or not at all; where they stood before.

    Raises:
        ConfigError: If there is no such revision, or the database is newer than this program.
        ServiceUnavailable: If others go on using the tables, or the database cannot be reached.
        StoreError: If a step fails.
    """
    try:
        with engine.begin() as connection:
            before = bring(connection, revision)
    except DBAPIError as error:
        if getattr(error.orig, "pgcode", "") in HELD_BY_OTHERS:
            raise ServiceUnavailable(
                "Others use the database, so it could not be migrated.", hint="Close chats and runs, and try again."
            ) from error
        raise _unmigrated(error, revision) from error
    if before != revision:
        log("info", "database migrated", before=before, after=revision)
    return before


def _unmigrated(error: DBAPIError, revision: str) -> Exception:
    meant = translate(error, f"migrating the database to {revision}")
    if not isinstance(meant, StoreError):
        return meant
    return StoreError(
        f"{meant.message} Nothing was changed.",
        hint="If another program's table is in the way, give Footnote a database of its own.",
    )


def reset(engine: Engine) -> None:
    """Drop every table of Footnote and make the relational ones again, empty."""
    migrate(engine, "base")
    migrate(engine)


@contextmanager
def reading(engine: Engine, doing: str) -> Iterator[Connection]:
    """A connection for reading, whose database errors become Footnote's; `doing` ends "while ...".

    Inside a moment it reads the state that the moment sees.
    """
    try:
        with connected(engine) as connection:
            yield connection
    except DBAPIError as error:
        raise translate(error, doing) from error


@contextmanager
def writing(engine: Engine, doing: str) -> Iterator[Connection]:
    """A transaction, whose database errors become Footnote's; `doing` ends "while ..."."""
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        raise translate(error, doing) from error


def translate(error: Exception, doing: str) -> Exception:
    """The Footnote error that a database error means; `doing` ends the sentence "while ...".

    Connection trouble and a full disk are ServiceUnavailable, everything else StoreError.
    """
    if isinstance(error, ProgrammingError) and "invalid dsn" in str(error.orig):
        return ConfigError(f"DATABASE_URL has an option that Postgres does not know: {_first_line(error)}")
    if isinstance(error, DBAPIError) and is_full(error.orig):
        return ServiceUnavailable(f"The disk of the database is full while {doing}: {_first_line(error)}", hint=HINT)
    if _is_away(error):
        return ServiceUnavailable(
            f"The database could not be reached while {doing}: {_first_line(error)}",
            hint="Check that the server runs and DATABASE_URL is right; `footnote doctor` says more.",
        )
    if isinstance(error, IntegrityError) and "documents_uri" in str(error.orig):
        return StoreError(
            f"Another document stands at the same place already, noticed while {doing}.",
            hint="Remove that one first, or run the same command again.",
        )
    if isinstance(error, ProgrammingError) and "does not exist" in str(error.orig):
        return ConfigError(f"A table is missing while {doing}: {_first_line(error)}", hint="Run `footnote db migrate`.")
    return StoreError(f"The database refused while {doing}: {_first_line(error)}")


def _is_away(error: Exception) -> bool:
    """Whether the server is what fails, and not a row that is too large for it (class 54 of the SQLSTATE codes)."""
    code = getattr(getattr(error, "orig", None), "pgcode", None) or ""
    limit = isinstance(error, OperationalError) and code.startswith("54")
    return (isinstance(error, OperationalError) and not limit) or getattr(error, "connection_invalidated", False)


def _first_line(error: DBAPIError | Exception) -> str:
    said = str(getattr(error, "orig", None) or error).strip()
    return re.sub(r"password=\S+", "password=***", said.splitlines()[0] if said else type(error).__name__)
