"""The embedded server's first start is killed at any moment, and the next command starts it all the same."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from random import Random

import psycopg2
import pytest

from pipelines.store.embedded import DATABASE, EmbeddedServer
from tests.conftest import administer, open_folder
from tests.faults.children import in_child
from tests.faults.seeds import COUNT

_SECONDS = 3.0  # about what a first start takes


@pytest.mark.parametrize("seed", range(max(2, COUNT // 50)))
def test_after_a_killed_first_start_the_next_command_starts_the_server(
    seed: int, request: pytest.FixtureRequest
) -> None:
    home = open_folder("footnote-start-")
    request.addfinalizer(lambda: shutil.rmtree(home, ignore_errors=True))
    ended = in_child(lambda: EmbeddedServer(home, durable=False).acquire(), kill_after=Random(seed).random() * _SECONDS)
    server = EmbeddedServer(home, durable=False)
    assert not ended.error
    server.acquire()
    try:
        with psycopg2.connect(server.libpq_url) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION vector")
        connection.close()
    finally:
        server.release()
    assert not server.is_running()


def test_a_start_waits_for_the_database_that_a_killed_start_is_still_creating(
    request: pytest.FixtureRequest,
) -> None:
    home = open_folder("footnote-start-")
    request.addfinalizer(lambda: shutil.rmtree(home, ignore_errors=True))
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    try:
        other = server.libpq_url.replace(f"/{DATABASE}?", "/postgres?")
        administer(other, f"DROP DATABASE {DATABASE}")
        with ThreadPoolExecutor() as pool, closing(psycopg2.connect(other)) as watching:
            watching.autocommit = True
            killed = pool.submit(administer, other, f"CREATE DATABASE {DATABASE} STRATEGY FILE_COPY")
            while not _is_creating(watching) and not killed.done():
                time.sleep(0.001)
            server._create_database()
            killed.exception()
        psycopg2.connect(server.libpq_url).close()
    finally:
        server.release()


def _is_creating(connection: "psycopg2.extensions.connection") -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE DATABASE%' AND state = 'active'")
        return bool(cursor.rowcount)
