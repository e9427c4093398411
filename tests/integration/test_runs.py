import logging
import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from config.settings import Settings
from pipelines.errors import RetrievalError, ServiceUnavailable
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.store.database import migrate, open_database
from pipelines.store.runs import LOCK, list_runs, open_run, read_run
from pipelines.store.statistics import latest_snapshots, take_snapshot
from tests.shell import Shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "docs"
    place.mkdir()
    (place / "crane.md").write_text("# Crane\n\nThe crane moved 40 containers an hour.\n")
    (place / "resume.md").write_text(
        "# Ann Lee\n\n## Experience\n\nAcme | Engineer | Berlin | 2019 - 2021\n\n- Cranes.\n"
    )
    return place


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path)


# The log


def test_the_log_says_of_every_run_what_it_did_and_how_fast(folder: Path, settings: Settings) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 not a page")
    first = ingest(settings, [str(folder)])
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    second = ingest(settings, [str(folder)])
    engine = open_database(settings).engine
    runs = list_runs(engine, 10)
    assert [run["id"] for run in runs] == [second.run_id, first.run_id]
    assert [(run["kind"], run["state"]) for run in runs] == [("ingest", "done")] * 2
    assert [run["counts"] for run in runs] == [
        {"failed": 1, "updated": 1, "unchanged": 1}, {"failed": 1, "added": 2},
    ]  # fmt: skip
    assert runs[1]["nodes"] == first.nodes
    assert runs[1]["embedded"] == first.embedded
    assert runs[1]["documents_per_second"] == pytest.approx(2 / first.seconds, rel=0.01)
    assert runs[1]["sources"] == [folder.as_uri()]
    assert list_runs(engine, 1) == runs[:1]


def test_a_run_lists_each_document_and_the_reason_of_a_failure(folder: Path, settings: Settings) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 not a page")
    ingest(settings, [str(folder)])
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    run = read_run(open_database(settings).engine, ingest(settings, [str(folder)]).run_id)
    items = {item["document"]: item for item in run["items"]}
    assert items.keys() == {"crane.md", "bad.pdf"}
    assert (items["crane.md"]["outcome"], items["crane.md"]["nodes"]) == ("updated", 1)
    assert items["crane.md"]["version"] is not None
    failed = items["bad.pdf"]
    assert (failed["outcome"], failed["error_class"], failed["version"]) == ("failed", "LoadError", None)
    assert "bad.pdf" in failed["error"]
    assert failed["stage"]
    assert failed["hint"]


def test_a_run_that_is_undone_names_the_run_that_did_it(folder: Path, settings: Settings) -> None:
    run = ingest(settings, [str(folder)])
    ingestion = build_ingestion(settings)
    undone = roll_back(ingestion, plan_rollback(ingestion.database, run.run_id))
    latest, first = list_runs(ingestion.database.engine, 10)
    assert (latest["undoes"], latest["undone_by"]) == (run.run_id, [])
    assert (first["undoes"], first["undone_by"]) == (None, [undone.run_id])


def test_an_unknown_run_id_is_an_error(settings: Settings) -> None:
    for run_id in (0, -1, 1, 2**31, 2**70):
        with pytest.raises(RetrievalError, match="no run"):
            read_run(open_database(settings).engine, run_id)


def test_a_run_at_work_is_running_and_one_whose_process_was_killed_is_interrupted(settings: Settings) -> None:
    ready, tell = os.pipe()
    child = os.fork()
    if not child:
        with open_run(open_database(settings).engine, ["somewhere"]):
            os.write(tell, b".")
            time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
    engine = open_database(settings).engine
    assert [run["state"] for run in list_runs(engine, 1)] == ["running"]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    states = _until(lambda: [run["state"] for run in list_runs(engine, 1)], ["interrupted"])
    assert states == ["interrupted"]


def _until(look: Callable[[], Any], wanted: Any) -> Any:
    """What is seen once it is as wanted; after 10 s, what is seen then."""
    for _ in range(100):
        if look() == wanted:
            break
        time.sleep(0.1)
    return look()


def test_a_run_that_an_error_ends_is_stopped_with_what_it_did(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)

    def gone(*_: object) -> None:
        raise ServiceUnavailable("The model is gone.")

    with pytest.raises(ServiceUnavailable):
        ingestion.run(ingestion.plan([str(folder)]), on_progress=gone)
    (run,) = list_runs(ingestion.database.engine, 5)
    assert (run["state"], run["counts"]["added"] > 0) == ("stopped", True)
    assert run["seconds"] > 0


def test_a_run_that_cannot_be_closed_is_a_warning(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    engine = open_database(settings).engine

    def rename(table: str, to: str) -> None:
        with engine.begin() as connection:
            connection.execute(text(f"ALTER TABLE {table} RENAME TO {to}"))

    def fail() -> None:
        with open_run(engine, ["somewhere"]):
            rename("ingest_items", "elsewhere")
            raise ValueError("first")

    logger = logging.getLogger("footnote")
    logger.addHandler(caplog.handler)
    try:
        with pytest.raises(ValueError, match="first"):
            fail()
    finally:
        logger.removeHandler(caplog.handler)
        rename("elsewhere", "ingest_items")
    assert "the run could not be closed" in caplog.text


def test_a_run_that_is_told_to_stop_is_stopped(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    (folder / "new.txt").write_text("Something new.")
    run, ingestion = ingest(settings, [str(folder)]), build_ingestion(settings)
    undo = plan_rollback(ingestion.database, run.run_id)
    roll_back(ingestion, undo, on_progress=lambda *_: ingestion.stop.set())
    latest = list_runs(ingestion.database.engine, 1)[0]
    assert (latest["state"], latest["counts"]) == ("stopped", {"removed": 1})


def test_a_run_whose_own_connection_is_lost_still_ends_well(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    engine = ingestion.database.engine

    def lose(*_: object) -> None:
        with engine.connect() as connection:
            lost = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = :lock"
            connection.execute(text(lost), {"lock": LOCK})

    ingestion.run(ingestion.plan([str(folder)]), on_progress=lose)
    assert [run["state"] for run in list_runs(engine, 1)] == ["done"]


def test_two_runs_at_once_are_both_running(settings: Settings) -> None:
    engine = open_database(settings).engine
    with open_run(engine, ["a"]), open_run(engine, ["b"]):
        assert [run["state"] for run in list_runs(engine, 5)] == ["running", "running"]


# Snapshots


def test_each_run_writes_the_days_volumes_by_category(folder: Path, settings: Settings) -> None:
    report = ingest(settings, [str(folder)])
    engine = open_database(settings).engine
    rows = latest_snapshots(engine, 30)
    by_category = {row["category"]: row for row in rows}
    assert list(by_category) == ["", "generic", "resume"]
    assert {row["day"] for row in rows} == {datetime.now(UTC).date().isoformat()}
    assert by_category[""]["documents"] == 2
    for name in ("documents", "nodes", "characters"):
        assert by_category[""][name] == sum(row[name] for row in rows if row["category"])
    characters = sum(len("".join(path.read_text().split())) for path in folder.iterdir())
    assert by_category[""]["characters"] == characters
    store = build_ingestion(settings).store
    with engine.connect() as connection:
        size = connection.execute(
            text("SELECT pg_total_relation_size(:rows) + pg_total_relation_size(:windows)"),
            {"rows": f"data_{store.table}", "windows": f"{store.table}_windows"},
        ).scalar_one()
    assert by_category[""]["bytes"] == pytest.approx(size, rel=0.2)
    share = by_category["resume"]["nodes"] / by_category[""]["nodes"]
    assert by_category["resume"]["bytes"] == round(by_category[""]["bytes"] * share)
    assert by_category[""]["documents_per_second"] == pytest.approx(2 / report.seconds, rel=0.01)
    assert by_category["resume"]["documents_per_second"] is None


def test_a_later_run_of_the_day_takes_the_place_of_the_snapshot_and_an_idle_one_keeps_its_rate(
    folder: Path, settings: Settings
) -> None:
    first = ingest(settings, [str(folder)])
    (folder / "resume.md").unlink()
    ingest(settings, [str(folder)], allow_removals=True)
    rows = {row["category"]: row for row in latest_snapshots(open_database(settings).engine, 30)}
    assert list(rows) == ["", "generic"]
    assert rows[""]["documents"] == 1
    assert rows[""]["documents_per_second"] == pytest.approx(2 / first.seconds, rel=0.01)


def test_days_stay_apart_and_the_last_ones_come_first(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    engine = open_database(settings).engine
    take_snapshot(engine, 3.0, date(2020, 1, 2))
    take_snapshot(engine, None, date(2020, 1, 1))
    days = [row["day"] for row in latest_snapshots(engine, 2) if not row["category"]]
    assert days == [datetime.now(UTC).date().isoformat(), "2020-01-02"]


def test_an_empty_database_has_a_snapshot_of_nothing(settings: Settings) -> None:
    engine = open_database(settings).engine
    take_snapshot(engine, None)
    (row,) = latest_snapshots(engine, 30)
    assert (row["documents"], row["nodes"], row["bytes"]) == (0, 0, 0)


def test_a_snapshot_that_cannot_be_written_fails_no_run(folder: Path, settings: Settings) -> None:
    engine = open_database(settings).engine
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE snapshots ADD CONSTRAINT never CHECK (documents < 0)"))
    assert ingest(settings, [str(folder)]).count("added") == 2
    assert [run["state"] for run in list_runs(engine, 5)] == ["done"]


# Upgrades


def test_runs_of_an_older_version_can_be_rolled_back_after_the_upgrade(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    second = ingest(settings, [str(folder)])
    (folder / "crane.md").write_text("# Crane\n\nThe crane was scrapped.\n")
    third = ingest(settings, [str(folder)])
    engine = open_database(settings).engine
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM document_versions WHERE run_id = :run"), {"run": second.run_id})
    migrate(engine, "0003")
    migrate(engine)
    ingestion = build_ingestion(settings)
    undone = roll_back(ingestion, plan_rollback(ingestion.database, third.run_id))
    assert [(item.document, item.outcome) for item in undone.items] == [("crane.md", "updated")]
    refused = roll_back(ingestion, plan_rollback(ingestion.database, second.run_id))
    assert [(item.outcome, "no longer stored" in item.message) for item in refused.items] == [("failed", True)]


# The command line


def test_runs_rollback_and_reindex_on_the_command_line(folder: Path, shell: Shell) -> None:
    first = shell.json("ingest", str(folder))["run_id"]
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 not a page")
    second = shell.json("ingest", str(folder), code=4)["run_id"]
    listed = shell.json("runs")["runs"]
    assert [run["id"] for run in listed] == [second, first]
    assert shell.json("runs", str(second))["items"][0].keys() >= {
        "document",
        "outcome",
        "error",
        "hint",
        "version",
    }
    told = shell("runs", str(second))[1]
    assert "bad.pdf" in told
    assert "    is truncated: its end is missing. Copy or download it again." in told
    assert "LoadError" not in told  # which --json has
    planned = shell.json("rollback", str(second), "--plan")
    assert [(step["action"], step["document"]) for step in planned["steps"]] == [("restore", "crane.md")]
    assert "restore" in shell("rollback", str(second), "--plan")[1]
    report = shell.json("rollback", str(second), "--yes")
    assert (report["updated"], report["embedded"]) == (1, 0)
    assert f"undoes {second}" in shell("runs")[1]
    assert shell.json("reindex", "--plan")["outcomes"]["unchanged"] == 1
    assert shell.json("reindex")["updated"] == 1  # of what was restored, made by today's rules now
    days = shell.json("runs", "--snapshots")["snapshots"]
    assert days[0]["documents"] == 2
    assert "all" in shell("runs", "--snapshots")[1]
    assert "next `footnote ingest`" in shell("rollback", str(first), "--yes")[1]


def test_a_rollback_that_nobody_confirms_is_refused_and_changes_nothing(
    folder: Path, shell: Shell, settings: Settings
) -> None:
    run = shell.json("ingest", str(folder))["run_id"]
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    later = shell.json("ingest", str(folder))["run_id"]
    for how in ((), ("--json",)):
        assert shell("rollback", str(run), *how) == (
            2,
            f"Run {run} would be undone: 2 to remove. Add --yes to confirm.",
        )
        assert f"crane.md (the run added it; run {later} changed it again, which is undone too)" in shell.err
    assert len(build_ingestion(settings).known()) == 2
    assert shell.json("rollback", str(run), "--yes")["removed"] == 2
    assert build_ingestion(settings).store.count() == 0


def test_a_removal_says_how_to_undo_it(folder: Path, shell: Shell) -> None:
    shell.json("ingest", str(folder))
    removed = shell.json("remove", "crane.md", "--yes")
    assert [each["document"] for each in removed["removed"]] == ["crane.md"]
    assert shell.json("rollback", str(removed["run_id"]), "--yes")["added"] == 1
    assert "footnote rollback" in shell("remove", "crane.md", "--yes")[1]
