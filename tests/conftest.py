"""One embedded Postgres for the whole run, one database for each test that asks for one."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from sqlalchemy import text

from config.settings import EmbeddingSettings, Settings, get_settings
from pipelines.store import database as store_database
from pipelines.store.embedded import EmbeddedServer

_numbers = itertools.count(1)
SECRETS = ("OPENAI_", "OPENROUTER_", "FOOTNOTE_", "DATABASE_URL", "GITHUB_TOKEN", "NOTION_TOKEN")


def open_folder(prefix: str) -> Path:
    """A new folder that the account which runs Postgres may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    folder.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith(SECRETS):
            monkeypatch.delenv(name)
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """A running Postgres without durability."""
    home = open_folder("footnote-tests-")
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    yield server
    server.release()
    shutil.rmtree(home, ignore_errors=True)


def _admin(server: EmbeddedServer, statement: str) -> None:
    connection = psycopg2.connect(host=str(server.socket_dir), user="footnote", dbname="postgres")
    connection.autocommit = True
    try:
        connection.cursor().execute(statement)
    finally:
        connection.close()


@pytest.fixture(scope="session")
def migrated(server: EmbeddedServer) -> str:
    """The name of a migrated, empty database to copy."""
    _admin(server, "CREATE DATABASE migrated")
    database = store_database.open_database(_settings(server, "migrated", Path("/nonexistent")))
    database.engine.dispose()
    return "migrated"


def _settings(server: EmbeddedServer, name: str, home: Path, **changes: Any) -> Settings:
    url = f"postgresql://footnote@/{name}?host={server.socket_dir}"
    given: dict[str, Any] = {"embedding": EmbeddingSettings(provider="hashed"), **changes}
    return Settings(_env_file=None, home=home, database_url=url, **given)


@pytest.fixture
def make_settings(server: EmbeddedServer, migrated: str) -> Iterator[Callable[..., Settings]]:
    """Settings on a new database of their own, with hashed embeddings unless said otherwise."""
    made: list[tuple[str, Path]] = []

    def make(**changes: Any) -> Settings:
        name, home = f"test_{next(_numbers)}", open_folder("footnote-home-")
        _admin(server, f"CREATE DATABASE {name} TEMPLATE {migrated}")
        made.append((name, home))
        return _settings(server, name, home, **changes)

    yield make
    for name, home in made:
        _admin(server, f"DROP DATABASE {name} WITH (FORCE)")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    """Settings on a new, empty database with hashed embeddings."""
    return make_settings()


@pytest.fixture
def own_databases(settings: Settings) -> Iterator[None]:
    """Afterwards the databases are gone that an evaluation made beside the test's own."""
    yield
    with (
        store_database.open_database(settings)
        .engine.connect()
        .execution_options(isolation_level="AUTOCOMMIT") as connection
    ):
        names = connection.execute(text("SELECT datname FROM pg_database WHERE datname LIKE 'footnote_eval_%'"))
        for name in names.scalars().all():
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
