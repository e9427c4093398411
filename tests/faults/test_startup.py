"""The embedded server's first start is killed at any moment, and the next command starts it all the same."""

import shutil
from random import Random

import psycopg2
import pytest

from pipelines.store.embedded import EmbeddedServer
from tests.conftest import open_folder
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
