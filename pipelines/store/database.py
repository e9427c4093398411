"""STORE: which Postgres, its engine, and the migrations of its relational tables."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, text
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

HEAD = "0004"  # the newest migration; a test holds it to the migrations folder
_MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATION_LOCK = 0x466F6F746E6F7465
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
        ServiceUnavailable: If no server answers.
    """
    embedded = settings.database_url is None
    engine = make_engine(database_url(settings), embedded=embedded)
    try:
        with engine.begin() as connection:
            version = prepare(connection)
        if version != HEAD:
            migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        raise translate(error, f"connecting to {engine.url.render_as_string(hide_password=True)}") from error
    except BaseException:
        engine.dispose()
        raise
    return Database(engine, engine.url.render_as_string(hide_password=True), embedded)


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


def prepare(connection: Connection) -> str | None:
    """The migration this database stands at (None = empty), with the vector extension in place.

    Raises:
        ConfigError: If the server has no pgvector, or a pgvector without iterative scans.
    """
    present = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
    if present is None:
        present = _create_extension(connection)
    if _numbers(present) < (0, 8):
        raise ConfigError(
            f"The server has pgvector {present}, and filtered search needs 0.8.",
            hint="Install pgvector 0.8 there and run `ALTER EXTENSION vector UPDATE` in this database.",
        )
    if not connection.execute(text("SELECT to_regclass('alembic_version')")).scalar():
        return None
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if version is not None and version > HEAD:
        raise ConfigError(
            f"The database stands at migration {version}, newer than this Footnote knows ({HEAD}).",
            hint="Upgrade Footnote, or use another database.",
        )
    return None if version is None else str(version)


def _create_extension(connection: Connection) -> str:
    try:
        with connection.begin_nested():
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except DBAPIError as error:
        raise ConfigError(
            "The Postgres server has no pgvector, or this user may not enable it.",
            hint="Install pgvector there (Debian: postgresql-NN-pgvector) and let a superuser run "
            "`CREATE EXTENSION vector` in this database; or unset DATABASE_URL for the embedded server.",
        ) from error
    return str(connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar())


def migrate(engine: Engine, revision: str = "head") -> None:
    """Bring the relational tables to a revision, one process at a time; reaching an older one runs the downgrades."""
    from alembic import command

    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        before = prepare(connection)
        target = {"head": HEAD, "base": ""}.get(revision, revision)
        step = command.downgrade if before is not None and target < before else command.upgrade
        step(alembic_config(connection), revision)
        log("info", "database migrated", before=before, after=target)


def reset(engine: Engine) -> None:
    """Drop every table of Footnote and make the relational ones again, empty."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        held = connection.execute(text("SELECT node_table FROM embedding_models")).scalars().all()
        for name in held:
            if re.fullmatch(r"[a-z0-9_]{1,63}", name):
                connection.execute(text(f"DROP TABLE IF EXISTS {name}_windows, data_{name}"))
    migrate(engine, "base")
    migrate(engine)


def alembic_config(connection: Connection | None = None) -> Any:
    """Alembic's configuration for the migrations of this package."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


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
    if isinstance(error, OperationalError) or getattr(error, "connection_invalidated", False):
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


def _first_line(error: DBAPIError | Exception) -> str:
    said = str(getattr(error, "orig", None) or error).strip()
    return re.sub(r"password=\S+", "password=***", said.splitlines()[0] if said else type(error).__name__)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
