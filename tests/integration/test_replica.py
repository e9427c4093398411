"""Questions that are answered from a replica of the database."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg2
import pytest
from pydantic import SecretStr

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ConfigError
from pipelines.ingestion.run import ingest
from pipelines.query.doctor import examine_all
from pipelines.query.engine import build_query_engine
from pipelines.store.database import open_database
from pipelines.store.embedded import EmbeddedServer, binaries
from pipelines.store.replica import database_to_read, lag
from tests.conftest import administer, open_folder

CRANE = "# Crane\n\nThe red crane lifts forty tonnes of grain.\n"


def read_only(settings: Settings) -> Settings:
    """The settings with a replica that is the same database, whose every transaction may only read."""
    assert settings.database_url is not None
    dsn = settings.database_url.get_secret_value()
    for statement in (
        "DO $$ BEGIN CREATE ROLE reader LOGIN SUPERUSER; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "ALTER ROLE reader SET default_transaction_read_only = on",
    ):
        administer(dsn, statement)
    return settings.model_copy(update={"read_url": SecretStr(dsn.replace("//footnote@", "//reader@"))})


def test_a_question_reads_the_replica_and_is_logged_in_the_database(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "crane.md").write_text(CRANE)
    ingest(settings, [str(tmp_path)])
    engine = build_query_engine(read_only(settings))
    assert "reader@" in engine.active.now().store.engine.url.render_as_string()
    answer = engine.ask("How much grain does the red crane lift?")
    assert "forty tonnes" in answer.answer
    assert engine.search("red crane").results[0].document_name == "crane.md"
    with open_database(settings).engine.connect() as connection:
        logged = connection.exec_driver_sql("SELECT kind FROM queries ORDER BY id").scalars().all()
    assert sorted(logged) == ["ask", "search"]
    engine.try_questions()
    with open_database(settings).engine.connect() as connection:
        tried = connection.exec_driver_sql("SELECT metadata ? 'tried' FROM documents").scalar_one()
    assert tried  # to be offered instead; no replica can keep that
    replica = engine.store.engine
    engine.close()
    assert [each.pool.checkedin() for each in (engine.database.engine, replica)] == [0, 0]


def test_an_address_of_no_footnote_database_is_refused(settings: Settings) -> None:
    assert settings.database_url is not None
    other = settings.database_url.get_secret_value().replace("/test_", "/postgres?was=test_").split("?was")[0]
    host = settings.database_url.get_secret_value().partition("?")[2]
    wrong = settings.model_copy(update={"read_url": SecretStr(f"{other}?{host}")})
    with pytest.raises(ConfigError, match="stands at migration None"):
        build_query_engine(wrong)


@pytest.fixture
def pair() -> Iterator[tuple[Settings, Callable[..., None]]]:
    """Settings with a streaming replica, and psql on that replica."""
    home, standby = open_folder("footnote-primary-"), open_folder("footnote-standby-")
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    folder, programs = standby / "data", binaries()
    os.chown(standby, server.account.uid, server.account.gid)

    def run(program: str, *words: str) -> None:
        who = {"user": server.account.uid, "group": server.account.gid} if server.account.switch else {}
        subprocess.run([str(programs / program), *words], check=True, stdout=subprocess.DEVNULL, cwd="/", **who)

    def replay(how: str) -> None:
        with psycopg2.connect(f"postgresql://footnote@/footnote?host={standby}") as connection:
            connection.cursor().execute(f"SELECT pg_wal_replay_{how}()")

    given = Settings(_env_file=None, home=home, embedding=EmbeddingSettings(provider="hashed"))
    open_database(given).engine.dispose()
    run("pg_basebackup", "-h", str(server.socket_dir), "-U", "footnote", "-D", str(folder), "-R", "-c", "fast")
    options = f"-c unix_socket_directories={standby} -c listen_addresses=''"
    run("pg_ctl", "start", "-w", "-D", str(folder), "-l", str(standby / "log"), "-o", options)
    try:
        url = SecretStr(f"postgresql://footnote@/footnote?host={standby}")
        yield given.model_copy(update={"read_url": url}), replay
    finally:
        run("pg_ctl", "stop", "-D", str(folder), "-m", "immediate")
        server.release()


@pytest.mark.trial
def test_a_streaming_replica_shows_a_new_document_within_three_seconds_and_says_how_far_it_is_behind(
    pair: tuple[Settings, Callable[..., None]], tmp_path: Path
) -> None:
    settings, replay = pair
    (tmp_path / "crane.md").write_text(CRANE)
    ingest(settings, [str(tmp_path)])
    engine, until = build_query_engine(settings), time.monotonic() + 3
    while not engine.search("red crane").results and time.monotonic() < until:
        time.sleep(0.05)
    assert engine.search("red crane").results
    database = open_database(settings)
    replica = database_to_read(settings, database)
    replay("pause")
    (tmp_path / "hoist.md").write_text("# Hoist\n\nThe blue hoist lifts barley.\n")
    ingest(settings, [str(tmp_path)])
    time.sleep(0.2)
    behind = lag(database.engine, replica.engine)
    assert behind.changes == 1
    assert 0.2 <= behind.seconds < 30
    assert next(each.said for each in examine_all(settings) if each.name == "replica").startswith("1 change")
    replay("resume")
    until = time.monotonic() + 3
    while lag(database.engine, replica.engine).changes and time.monotonic() < until:
        time.sleep(0.05)
    assert str(lag(database.engine, replica.engine)) == "up to date"
