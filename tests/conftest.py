"""One embedded Postgres for the whole run, one database for each test that asks for one."""

import gc
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads wait for one another busily, for small matrices too

import psycopg2
import pytest
import typer.main
import typer.testing
from hypothesis import settings as searches
from sqlalchemy import Engine, make_url
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2
from sqlalchemy.util import LRUCache

from config.settings import EmbeddingSettings, IngestionSettings, Settings, get_settings
from pipelines.store import database as store_database
from pipelines.store.embedded import EmbeddedServer

if TYPE_CHECKING:
    from pipelines.query.engine import QueryEngine

searches.register_profile("repeatable", deadline=None, derandomize=True)  # what fails here fails everywhere
searches.register_profile("searching", deadline=None, print_blob=True)  # pytest --hypothesis-profile=searching
searches.load_profile("repeatable")

gc.disable()  # until the tests are collected: what is imported stays

_numbers = itertools.count(1)
VARIABLES = ("OPENAI_", "OPENROUTER_", "FOOTNOTE_", "DATABASE_URL", "GITHUB_TOKEN", "NOTION_TOKEN", "SSL_CERT_")
_IN_MEMORY, _ENOUGH = Path("/dev/shm"), 4 << 30  # bytes


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes again as cores, for `-n auto`: much of a test's time is another process's, or a wait."""
    return (os.cpu_count() or 2) * 3 // 2


def pytest_collection_finish() -> None:
    """Spare the collector what was imported: it would go through all of it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(7_000, 10, 10)
    gc.enable()


def _has_memory() -> bool:
    return os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > _ENOUGH


def open_folder(prefix: str) -> Path:
    """A new folder that the account which runs Postgres may enter, unlike pytest's own; in memory if there is room."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=_IN_MEMORY if _has_memory() else None))
    folder.chmod(0o755)
    return folder


def _forget_settings(patch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(VARIABLES):
            patch.delenv(name)
    get_settings.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_machine() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:  # also for what is made once for many tests
        _forget_settings(patch)
        yield


@pytest.fixture(autouse=True)
def _no_settings_of_another_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    _forget_settings(monkeypatch)
    yield
    get_settings.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _statements_and_commands_are_compiled_once() -> Iterator[None]:
    """The engines of all tests share what SQLAlchemy compiles, and every command line what Typer builds."""
    compiled = LRUCache(10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "_compiled_cache", property(lambda _: compiled, lambda *_: None), raising=False)
        patch.setattr(PGDialect_psycopg2, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(PGDialect_psycopg2, "__hash__", lambda one: hash(type(one)))
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """A running Postgres without durability."""
    home = open_folder("footnote-tests-")
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    yield server
    server.release()
    shutil.rmtree(home, ignore_errors=True)


def administer(dsn: str, statement: str) -> None:
    """Run a statement that no transaction may hold, in the database `postgres` of a server."""
    with closing(psycopg2.connect(dsn)) as connection:
        connection.autocommit = True
        connection.cursor().execute(statement)


def drop_database(dsn: str, name: str) -> None:
    """Drop a database and end who still uses it; `dsn` is that of `postgres` on its server.

    A backend that was told to end is gone in a millisecond, and DROP DATABASE looks again only after 100.
    """
    _leave(dsn, name)
    administer(dsn, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _leave(dsn: str, name: str) -> None:
    """End who uses a database, and wait until they are gone."""
    with closing(psycopg2.connect(dsn)) as connection:
        connection.autocommit = True
        cursor, until = connection.cursor(), time.monotonic() + 1
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        while cursor.rowcount and time.monotonic() < until:
            time.sleep(0.001)
            cursor.execute("SELECT FROM pg_stat_activity WHERE datname = %s", (name,))


def _dsn(server: EmbeddedServer, name: str = "postgres") -> str:
    return f"postgresql://footnote@/{name}?host={server.socket_dir}"


@pytest.fixture(scope="session")
def migrated(server: EmbeddedServer) -> str:
    """The name of a migrated, empty database to copy."""
    administer(_dsn(server), "CREATE DATABASE migrated")
    database = store_database.open_database(_settings(server, "migrated", Path("/nonexistent")))
    database.engine.dispose()
    return "migrated"


def _settings(server: EmbeddedServer, name: str, home: Path, **changes: Any) -> Settings:
    plain = {"embedding": EmbeddingSettings(provider="hashed"), "ingestion": IngestionSettings(executor="here")}
    return Settings(_env_file=None, home=home, database_url=_dsn(server, name), **(plain | changes))


MakeSettings = Callable[..., Settings]


@contextmanager
def making_settings(server: EmbeddedServer, migrated: str) -> Iterator[MakeSettings]:
    """Makes settings, each on a database and home of their own, which are gone afterwards.

    They are empty, or copies of what the settings `like` stand on, which then must not be used any more but for this.
    """
    made: list[tuple[str, Path]] = []

    def make(like: Settings | None = None, **changes: Any) -> Settings:
        name, home = f"test_{next(_numbers)}", open_folder("footnote-home-")
        of = migrated
        if like is not None:
            assert like.database_url
            of = make_url(like.database_url.get_secret_value()).database or ""
            _leave(_dsn(server), of)  # a database in use cannot be copied
            shutil.copytree(like.home, home, dirs_exist_ok=True)
        administer(_dsn(server), f"CREATE DATABASE {name} TEMPLATE {of} STRATEGY FILE_COPY")  # 11 ms; WAL_LOG: 27
        made.append((name, home))
        return _settings(server, name, home, **changes)

    yield make
    for name, home in made:
        drop_database(_dsn(server), name)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def make_settings(server: EmbeddedServer, migrated: str) -> Iterator[MakeSettings]:
    """Settings on a new database of their own, with hashed embeddings and no worker processes unless said otherwise."""
    with making_settings(server, migrated) as make:
        yield make


@pytest.fixture(scope="module")
def stock(server: EmbeddedServer, migrated: str) -> Iterator[MakeSettings]:
    """Settings to take documents in with once, for many tests: each uses a copy, `make_settings(like=...)`."""
    with making_settings(server, migrated) as make:
        yield make


Ingested = Callable[[Mapping[str, str]], tuple[Path, Settings]]


@pytest.fixture(scope="session")
def ingested(server: EmbeddedServer, migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingested]:
    """Ingests files of these texts once for all modules: (folder, settings to copy with `make_settings(like=...)`)."""
    from pipelines.ingestion.run import ingest

    made: dict[tuple[tuple[str, str], ...], tuple[Path, Settings]] = {}
    with making_settings(server, migrated) as make:

        def ingest_once(texts: Mapping[str, str]) -> tuple[Path, Settings]:
            key = tuple(texts.items())
            if key not in made:
                folder, settings = tmp_path_factory.mktemp("docs"), make()
                for name, text in key:
                    (folder / name).parent.mkdir(exist_ok=True)
                    (folder / name).write_text(text)
                ingest(settings, [str(folder)])
                made[key] = folder, settings
            return made[key]

        yield ingest_once


ReadOnly = Callable[[Mapping[str, str]], "QueryEngine"]


@pytest.fixture(scope="session")
def read_only(server: EmbeddedServer, migrated: str, ingested: Ingested) -> Iterator[ReadOnly]:
    """An engine over files of these texts, one for all tests: they ask, and change nothing but the log of questions."""
    from pipelines.query.engine import build_query_engine

    made: dict[tuple[tuple[str, str], ...], QueryEngine] = {}
    with making_settings(server, migrated) as make:

        def engine_of(texts: Mapping[str, str]) -> "QueryEngine":
            key = tuple(texts.items())
            if key not in made:
                made[key] = build_query_engine(make(like=ingested(texts)[1]))
            return made[key]

        yield engine_of
        for engine in made.values():
            engine.database.engine.dispose()


@pytest.fixture
def settings(make_settings: MakeSettings) -> Settings:
    """Settings on a new, empty database with hashed embeddings."""
    return make_settings()


@pytest.fixture
def own_databases(server: EmbeddedServer) -> Iterator[None]:
    """Afterwards the databases are gone that an evaluation made beside the test's own."""
    yield
    drop_evaluations(server)


def drop_evaluations(server: EmbeddedServer) -> None:
    """Drop the databases that evaluations made."""
    with closing(psycopg2.connect(_dsn(server))) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE 'footnote_eval_%'")
        names = [name for (name,) in cursor.fetchall()]
    for name in names:
        drop_database(_dsn(server), name)
