import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from pydantic import SecretStr
from sqlalchemy import select, text

from config.settings import EmbeddingSettings, IngestionSettings, Settings
from pipelines.errors import ConfigError
from pipelines.ingestion.ray_executor import build_ray_executor
from pipelines.ingestion.run import Overrides, build_ingestion, ingest
from pipelines.store.audit import audit
from pipelines.store.database import open_database
from pipelines.store.embedded import Account, binaries
from pipelines.store.schema import document_indexes, documents, ingest_items
from pipelines.types import IngestItem, IngestReport
from tests.conftest import open_folder

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own: open sockets and files, deprecations


@pytest.fixture(scope="module")
def tcp_postgres() -> Iterator[int]:
    """The port of a Postgres that is reached over TCP, as machines of a cluster would."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home, account = open_folder("footnote-tcp-"), Account.current()
    home.chmod(0o777)
    as_user = {"user": account.uid, "group": account.gid, "extra_groups": []} if account.switch else {}

    def run(program: str, *words: str) -> None:
        subprocess.run([binaries() / program, *words], check=True, cwd="/", stdout=subprocess.DEVNULL, **as_user)

    data = f"{home}/data"
    run("initdb", "-D", data, "-U", "footnote", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -k {home} -c fsync=off"
    run("pg_ctl", "start", "-w", "-D", data, "-l", f"{home}/log", "-o", options)
    yield port
    run("pg_ctl", "stop", "-w", "-D", data, "-m", "immediate")
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A Ray cluster of two nodes, each with one core; the second one can be killed."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def on_ray(tcp_postgres: int, two_nodes: Any, request: pytest.FixtureRequest) -> Iterator[Settings]:
    """Settings for a database of the test's own on the TCP server, and the two-node cluster."""
    name = f"cluster_{abs(hash(request.node.name))}"
    with (
        open_database(_settings(tcp_postgres, "postgres"))
        .engine.connect()
        .execution_options(isolation_level="AUTOCOMMIT") as admin
    ):
        admin.execute(text(f"CREATE DATABASE {name}"))
    settings = _settings(tcp_postgres, name, executor="ray", ray_address=two_nodes.address)
    yield settings
    shutil.rmtree(settings.home, ignore_errors=True)


def _settings(port: int, name: str, **ingestion: Any) -> Settings:
    return Settings(
        _env_file=None,
        home=open_folder("footnote-home-"),
        database_url=f"postgresql://footnote@127.0.0.1:{port}/{name}",
        embedding=EmbeddingSettings(provider="hashed"),
        ingestion=IngestionSettings(**ingestion),
    )


def write_notes(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"note-{number:03}.md").write_text(f"# Note {number}\n\nThe crane number {number} lifts boxes.\n")
    return folder


def stored(settings: Settings) -> set[tuple[str, str, int]]:
    """(name, content, nodes) of what is stored."""
    d, held = documents.c, document_indexes.c
    with open_database(settings).engine.connect() as connection:
        rows = connection.execute(
            select(d.name, d.content_sha, held.nodes).join_from(documents, document_indexes, d.id == held.document_id)
        )
        return {tuple(row) for row in rows}


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def test_a_cluster_ends_in_the_same_state_as_one_process(on_ray: Settings, settings: Settings, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", 30)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing more")
    alone, spread = ingest(settings, [str(folder)]), ingest(on_ray, [str(folder)])
    assert outcomes(spread) == outcomes(alone)
    assert (spread.nodes, spread.count("failed")) == (alone.nodes, 1)
    assert stored(on_ray) == stored(settings)
    assert audit(open_database(on_ray).engine)["violations"] == []


def test_a_document_of_two_collections_is_written_in_both(on_ray: Settings, tmp_path: Path) -> None:
    """They are in different batches, as eight documents make one."""
    folder = write_notes(tmp_path / "notes", 8)
    ingest(on_ray, [str(folder)])
    ingest(on_ray, [str(folder / "note-007.md")], overrides=Overrides(collection="other"))
    for path in folder.iterdir():
        path.write_text(f"{path.read_text()}\nIt is painted red.\n")
    report = ingest(on_ray, [str(folder)])
    assert (len(report.items), report.count("updated")) == (9, 9)
    assert len({item.document_id for item in report.items}) == 9
    assert set(outcomes(ingest(on_ray, [str(folder)])).values()) == {"unchanged"}


@pytest.mark.trial
def test_a_second_run_on_the_cluster_changes_nothing(on_ray: Settings, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", 10)
    ingest(on_ray, [str(folder)])
    (folder / "note-003.md").write_text("# Note 3\n\nRewritten.\n")
    (folder / "note-004.md").unlink()
    again = ingest(on_ray, [str(folder)], allow_removals=True)
    assert {name for name, outcome in outcomes(again).items() if outcome == "updated"} == {"note-003.md"}
    assert again.count("removed") == 1
    assert set(outcomes(ingest(on_ray, [str(folder)])).values()) == {"unchanged"}


@pytest.mark.trial
def test_documents_of_a_machine_that_dies_are_carried_out_by_another(
    on_ray: Settings, two_nodes: Any, tmp_path: Path
) -> None:
    folder = write_notes(tmp_path / "notes", 120)
    doomed = two_nodes.add_node(num_cpus=2, object_store_memory=100_000_000)
    ingestion = build_ingestion(on_ray)
    plan = ingestion.plan([str(folder)])
    left = []

    def kill(done: int, total: int, item: IngestItem) -> None:
        if not left:
            left.append(total - done)
            two_nodes.remove_node(doomed, allow_graceful=False)

    report = ingestion.run(plan, on_progress=kill)
    assert left[0] > 0
    assert {item.outcome for item in report.items} == {"added"}
    assert len(report.items) == 120 == len(stored(on_ray))
    with open_database(on_ray).engine.connect() as connection:
        rows = connection.execute(select(ingest_items.c.source_uri)).scalars().all()
    assert len(rows) == len(set(rows)) == 120  # nothing was done twice
    assert audit(open_database(on_ray).engine)["violations"] == []


@pytest.mark.trial
def test_a_stop_ends_a_run_on_the_cluster_after_what_is_under_way(on_ray: Settings, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", 100)
    ingestion = build_ingestion(on_ray)
    report = ingestion.run(ingestion.plan([str(folder)]), on_progress=lambda *_: ingestion.stop.set())
    assert report.stopped
    assert 0 < len(report.items) == len(stored(on_ray)) < 100


def test_machines_that_cannot_reach_the_embedded_postgres_are_refused(settings: Settings) -> None:
    elsewhere = IngestionSettings(executor="ray", ray_address="10.0.0.1:6379")
    with pytest.raises(ConfigError, match="cannot reach the embedded Postgres"):
        build_ray_executor(
            settings.model_copy(update={"database_url": None, "ingestion": elsewhere}), SecretStr(""), build_ingestion
        )
