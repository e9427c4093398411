import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import select

from config.settings import GitHubSettings, ParsingSettings, Settings
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.store.audit import audit
from pipelines.store.database import open_database
from pipelines.store.schema import documents
from tests.fake_github import FakeGitHub, Repository


def write_notes(folder: Path, names: range, word: str) -> None:
    folder.mkdir(exist_ok=True)
    for number in names:
        (folder / f"note-{number:03}.md").write_text(f"# Note {number}\n\nThe {word} number {number} lifts boxes.\n")


def state(settings: Settings) -> tuple[set[Any], set[str], int]:
    """(documents, node ids, nodes) as stored."""
    ingestion = build_ingestion(settings)
    with ingestion.database.engine.connect() as connection:
        rows = connection.execute(select(documents.c.name, documents.c.content_sha, documents.c.source_uri))
        held = {tuple(row) for row in rows}
    return held, {row[0] for row in ingestion.store.segments("owner")}, ingestion.store.count()


def test_two_runs_at_the_same_time_end_in_the_same_state_as_one(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    one, both = make_settings(), make_settings()
    folder = tmp_path / "notes"
    write_notes(folder, range(40), "crane")
    for settings in (one, both):
        ingest(settings, [str(folder)])
    write_notes(folder, range(10, 60), "hoist")  # 30 change, 20 are new, 5 go
    for number in range(5):
        (folder / f"note-{number:03}.md").unlink()
    ingest(one, [str(folder)])
    environment = dict(os.environ) | {
        "FOOTNOTE_HOME": str(both.home),
        "DATABASE_URL": both.database_url.get_secret_value(),
        "FOOTNOTE_EMBEDDING__PROVIDER": "hashed",
        "FOOTNOTE_INGESTION__EXECUTOR": "here",
    }
    command = [sys.executable, "-m", "footnote", "ingest", str(folder)]
    runs = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for _ in range(2)]  # fmt: skip
    said = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert state(both) == state(one)
    assert audit(open_database(both).engine)["violations"] == []
    assert {item.outcome for item in ingest(both, [str(folder)]).items} == {"unchanged"}


def test_a_plan_changes_nothing_that_another_run_changed_meanwhile(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    settings, folder = make_settings(), tmp_path / "notes"
    write_notes(folder, range(4), "crane")
    ingest(settings, [str(folder)])
    ingestion = build_ingestion(settings.model_copy(update={"parsing": ParsingSettings(markdown_target_words=20)}))
    again, stale = plan_reindex(ingestion), ingestion.plan([str(folder)])
    write_notes(folder, range(1), "hoist")
    write_notes(folder, range(9, 10), "winch")
    (folder / "note-001.md").unlink()
    late = ingestion.plan([str(folder)], allow_removals=True)
    ingest(settings, [str(folder)], allow_removals=True)
    before = state(settings)
    write_notes(folder, range(9, 10), "pulley")  # both files are others than were listed
    (folder / "note-001.md").write_text("# Note 1\n\nThe crane number 1 lifts boxes.\n")
    said = {
        name: {item.document: item.message for item in ingestion.run(plan, kind=kind).items if item.outcome == "failed"}
        for name, plan, kind in (("reindex", again, "reindex"), ("ingest", stale, "ingest"), ("late", late, "ingest"))
    }
    changed = {"note-000.md": "was changed by another run", "note-001.md": "was removed by another run"}
    late_ones = {"note-009.md": "was added by another run"}
    for name, expected in {"reindex": changed, "ingest": changed, "late": late_ones}.items():
        assert said[name].keys() == expected.keys(), name
        assert all(part in said[name][document] for document, part in expected.items()), name
    assert {row[0]: row[1] for row in before[0]} == {row[0]: row[1] for row in state(settings)[0]}
    assert ingest(settings, [str(folder)]).count("failed") == 0


def test_what_is_fetched_is_no_proof_that_a_source_still_says_what_was_planned(
    make_settings: Callable[..., Settings],
) -> None:
    kiln = Repository("kiln", "A kiln", {"README.md": b"# Kiln\n\nIt fires."})
    with FakeGitHub(owners={"ann": [kiln, Repository("notes", "Notes", {"README.md": b"# Notes"})]}) as github:
        settings = make_settings(github=GitHubSettings(api_base=github.url))
        ingest(settings, ["github:ann"])
        github.owners["ann"].remove(kiln)
        ingestion = build_ingestion(settings)
        stale = ingestion.plan(["github:ann"], allow_removals=True)
        github.owners["ann"].append(kiln)
        kiln.push("README.md", b"# Kiln\n\nIt fires clay.", "2026-05-01T00:00:00Z")
        ingest(settings, ["github:ann/kiln"])
        (failed,) = [item for item in ingestion.run(stale).items if item.outcome == "failed"]
        assert failed.message.startswith("ann/kiln was changed by another run since the plan")
        assert {row[0] for row in state(settings)[0]} == {"ann/kiln", "ann/notes"}


def test_what_a_plan_found_unchanged_and_another_run_removed_fails_alone(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    settings, folder = make_settings(), tmp_path / "notes"
    write_notes(folder, range(3), "crane")
    ingest(settings, [str(folder)])
    write_notes(folder, range(1), "hoist")
    ingestion = build_ingestion(settings)
    plan = ingestion.plan([str(folder)])
    gone = next(document.id for document in ingestion.known() if document.name == "note-001.md")
    build_ingestion(settings).remove([gone])
    report = ingestion.run(plan)
    assert {item.document: item.outcome for item in report.items} == {
        "note-000.md": "updated", "note-001.md": "failed", "note-002.md": "unchanged",
    }  # fmt: skip
