import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from config.settings import Settings
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.store.database import embedded_server, make_engine, open_database, reset
from pipelines.store.embedded import Account, EmbeddedServer, _closed
from tests.conftest import open_folder

HOLD = """
import signal, sys, time
from pathlib import Path
from pipelines.store.embedded import EmbeddedServer
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
server = EmbeddedServer(Path(sys.argv[1]), durable=False)
server.acquire()
print("up", flush=True)
time.sleep(float(sys.argv[2]))
"""


def hold(home: Path, seconds: float = 60) -> subprocess.Popen[str]:
    """A process that uses the server of this home."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(home), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    return process


def end(process: subprocess.Popen[str], how: int) -> None:
    process.send_signal(how)
    process.wait(30)
    process.stdout.close()


@pytest.fixture
def home():
    folder = open_folder("footnote-pg-")
    yield folder
    server = EmbeddedServer(folder, durable=False)
    server.stop()
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_the_last_process_to_leave_stops_the_server(home: Path) -> None:
    first, second = hold(home), hold(home)
    probe = EmbeddedServer(home)
    end(first, signal.SIGINT)
    assert probe.is_running()
    end(second, signal.SIGINT)
    assert not probe.is_running()


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.trial)])
def test_after_a_killed_owner_the_next_command_starts_and_stops_cleanly(home: Path, how: int) -> None:
    end(hold(home), how)
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    assert server.is_running()
    server.release()
    assert not server.is_running()


def test_after_a_killed_server_the_next_command_recovers_it(home: Path) -> None:
    owner = hold(home)
    server = EmbeddedServer(home, durable=False)
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGKILL)
    end(owner, signal.SIGKILL)
    time.sleep(0.5)
    server.acquire()
    assert server.is_running()
    server.release()


@pytest.mark.trial
def test_a_server_that_died_under_its_process_is_started_again(home: Path) -> None:
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    os.kill(int((server.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    time.sleep(0.2)
    server.acquire()
    assert server.is_running()
    server.release()
    assert not server.is_running()


def test_a_server_in_use_is_not_stopped_by_another(home: Path) -> None:
    owner = hold(home)
    assert EmbeddedServer(home).stop() is False
    end(owner, signal.SIGINT)
    assert EmbeddedServer(home).stop() is True


def test_a_kept_server_outlives_its_users(home: Path) -> None:
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    server.keep(True)
    server.release()
    assert server.is_running()
    assert server.stop()
    assert not server.is_running()


def test_a_path_too_long_for_a_socket_gets_a_private_folder_elsewhere(home: Path) -> None:
    server = EmbeddedServer(home / ("x" * 120), durable=False)
    server.acquire()
    try:
        assert len(str(server.socket_dir)) < 90
        assert server.socket_dir.stat().st_mode & 0o777 == 0o700
    finally:
        server.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account to run Postgres")
def test_root_refuses_a_closed_folder_instead_of_opening_it(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ConfigError, match="may not enter") as caught:
        EmbeddedServer(closed / "var").acquire()
    assert "FOOTNOTE_HOME" in caught.value.hint
    assert closed.stat().st_mode & 0o777 == 0o700


def _run_as_nobody(home: Path) -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    assert not server.account.switch
    assert server.data.stat().st_uid == 65534
    assert server.is_running()
    server.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_an_ordinary_user_runs_the_server_as_himself(home: Path) -> None:
    home.chmod(0o777)
    child = multiprocessing.get_context("fork").Process(target=_run_as_nobody, args=(home / "var",))
    child.start()
    child.join(60)
    assert child.exitcode == 0


def test_every_closed_parent_is_named_at_once(tmp_path: Path) -> None:
    stranger = Account(uid=54321, gid=54321, switch=True)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    for closed in ("a", "a/b/c"):
        (tmp_path / closed).chmod(0o700)
    (tmp_path / "a" / "b").chmod(0o755)
    assert _closed(tmp_path / "a" / "b" / "c", stranger)[-2:] == [tmp_path / "a", tmp_path / "a" / "b" / "c"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_root_follows_no_link_in_the_folder_of_the_servers_account(home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "of-root"
    secret.write_text("a secret of root\n")
    secret.chmod(0o600)
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    server.release()
    for name in ("postgresql.auto.conf", "server.log"):
        (server.data / name).unlink()
        (server.data / name).symlink_to(secret)
    with pytest.raises(ServiceUnavailable) as caught:
        server.acquire()
    assert "a secret" not in str(caught.value)
    (server.data / "server.log").unlink()
    (server.data / "postgresql.auto.conf").unlink()
    server.acquire()
    server.release()
    assert secret.read_text() == "a secret of root\n"


def test_reset_empties_the_database(settings: Settings) -> None:
    engine = open_database(settings).engine
    with engine.begin() as connection:
        connection.execute(
            text("INSERT INTO ingest_runs (sources, counts, kind, state) VALUES ('[]', '{}', 'ingest', 'done')")
        )
    reset(engine)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM ingest_runs")).scalar() == 0


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://u@h/d", "sqlite:///x.db", "postgresql://u:p@h:port/x", "postgresql://a@[::1/x"]
)
def test_a_wrong_url_is_one_sentence_with_the_right_form(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        open_database(Settings(_env_file=None, home=tmp_path, database_url=url))
    assert "postgresql://USER:PASSWORD@HOST" in caught.value.hint


def test_an_unreachable_server_is_named_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://ann:hunter2@127.0.0.1:1/x"
    with pytest.raises(ServiceUnavailable) as caught:
        open_database(Settings(_env_file=None, home=tmp_path, database_url=url))
    assert "127.0.0.1" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_server_without_pgvector_is_told_how_to_get_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_database(settings).engine
    with engine.begin() as connection:
        connection.execute(text("DROP EXTENSION vector CASCADE"))
        connection.execute(text("CREATE ROLE plain LOGIN"))
        connection.execute(text("GRANT ALL ON SCHEMA public TO plain"))
        connection.execute(text("GRANT ALL ON ALL TABLES IN SCHEMA public TO plain"))
    engine.dispose()
    url = settings.database_url.get_secret_value().replace("footnote@", "plain@")
    try:
        with pytest.raises(ConfigError, match="has no pgvector") as caught:
            open_database(settings.model_copy(update={"database_url": type(settings.database_url)(url)}))
        assert "CREATE EXTENSION vector" in caught.value.hint
    finally:
        engine = make_engine(engine.url, embedded=True)
        with engine.begin() as connection:
            connection.execute(text("DROP OWNED BY plain CASCADE"))
            connection.execute(text("DROP ROLE plain"))
        engine.dispose()


def test_a_pid_file_of_another_program_does_not_block_the_start(home: Path) -> None:
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    server.release()
    stranger = subprocess.Popen(["sleep", "60"])
    (server.data / "postmaster.pid").write_text(f"{stranger.pid}\n{server.data}\n")
    try:
        server.acquire()
        assert server.is_running()
        server.release()
    finally:
        stranger.kill()
        stranger.wait()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("lost", ["global/pg_control", pytest.param("PG_VERSION", marks=pytest.mark.trial)])
def test_a_data_folder_that_lost_a_file_is_refused_and_left_as_it_is(home: Path, lost: str) -> None:
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    server.release()
    (server.data / lost).unlink()
    before = contents(server.data)
    with pytest.raises(ConfigError, match=f"lacks {lost}") as caught:
        EmbeddedServer(home, durable=False).acquire()
    assert "backup" in caught.value.hint
    assert contents(server.data) == before


@pytest.mark.parametrize("name", ["thesis.docx", "PG_VERSION", "base/1/2619"])
def test_a_data_folder_with_anything_in_it_is_never_overwritten(home: Path, name: str) -> None:
    path = home / "postgres" / "data" / name
    path.parent.mkdir(parents=True)
    path.write_text("18\n")
    with pytest.raises(ConfigError, match="is not empty"):
        open_database(Settings(_env_file=None, home=home))
    assert path.read_text() == "18\n"


def test_an_initdb_that_was_killed_is_made_again(home: Path) -> None:
    (home / "postgres" / "data").mkdir(parents=True)
    fresh = home / "postgres" / "data.new"
    fresh.mkdir()
    (fresh / "PG_VERSION").write_text("18\n")
    server = EmbeddedServer(home, durable=False)
    server.acquire()
    assert server.is_running()
    server.release()


def test_a_database_that_was_in_use_is_not_taken_for_a_killed_initdb(home: Path) -> None:
    fresh = home / "postgres" / "data.new"
    fresh.mkdir(parents=True)
    (fresh / "postmaster.opts").write_text("postgres")
    with pytest.raises(ConfigError, match="was in use"):
        EmbeddedServer(home, durable=False).acquire()
    assert (fresh / "postmaster.opts").exists()


def test_a_home_of_an_odd_name_works(home: Path) -> None:
    name = "it's a+b, ü"
    settings = Settings(_env_file=None, home=home / name)
    database = open_database(settings)
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1
    database.engine.dispose()
    embedded_server(home / name).release()


@pytest.mark.parametrize("name", ['a"b', "a`b", "a$b"])
def test_a_home_that_a_shell_would_read_is_refused(home: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="path has"):
        EmbeddedServer(home / name).acquire()


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="FOOTNOTE_HOME"):
        EmbeddedServer(tmp_path / "file" / "home").acquire()


def test_a_database_made_anew_never_repeats_a_version(settings: Settings) -> None:
    engine = open_database(settings).engine
    read = text("SELECT version FROM corpus_version")
    with engine.connect() as connection:
        before = connection.execute(read).scalar_one()
    reset(engine)
    with engine.connect() as connection:
        assert connection.execute(read).scalar_one() > before
