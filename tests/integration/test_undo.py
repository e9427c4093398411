import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, text

from config.settings import IngestionSettings, Settings
from pipelines.answers import Answer
from pipelines.errors import RetrievalError
from pipelines.ingestion.plan import Overrides, Plan, stored_step
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.audit import audit
from pipelines.store.database import open_database, reading
from pipelines.store.documents import load_document
from pipelines.store.facts import read_facts
from pipelines.store.runs import read_run
from pipelines.store.schema import document_versions, ingest_items
from pipelines.store.status import coverage
from pipelines.types import Document, Filters, IngestReport

DAMAGED = b"%PDF-1.4 not a page"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "go.md").write_text("---\nauthor: Ann\ndate: 2024-05-01\n---\n# Go\n\nShe chose Go for its speed.\n")
    (tmp_path / "rust.md").write_text("# Rust\n\nLater she moved to Rust.\n")
    (tmp_path / "notes.txt").write_text("Plain notes about teaching.\n")
    return tmp_path


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def undo(settings: Settings, run_id: int, *, keep_later: bool = False) -> IngestReport:
    ingestion = build_ingestion(settings)
    return roll_back(ingestion, plan_rollback(ingestion.database, run_id, keep_later=keep_later))


def held(settings: Settings) -> dict[str, tuple[Document, tuple[str, ...], tuple[str, ...]]]:
    """By name: the document (but for its stamp), the texts of its nodes in order, and the terms of the sparse index."""
    ingestion = build_ingestion(settings)
    store, found = ingestion.store, {}
    nodes = store.fetch(store.matching_ids(Filters(), "owner"), filters=Filters(), audience="owner").values()
    with reading(store.engine, "looking") as connection:
        for known in ingestion.known():
            document = load_document(connection, known.id, "owner")
            assert document is not None
            own = sorted((n for n in nodes if n.metadata["document_id"] == known.id), key=lambda n: n.metadata["start"])
            terms = connection.execute(
                text("SELECT tokens FROM lexical_segments WHERE document_id = :id ORDER BY tokens"), {"id": known.id}
            )
            found[known.name] = (
                document.with_(stamp=""),
                tuple(f"{n.metadata['header']}|{n.text}" for n in own),
                tuple(terms.scalars()),
            )
    assert audit(store.engine)["violations"] == []
    return found


def test_a_changed_document_gets_its_text_nodes_and_facts_back(folder: Path, settings: Settings) -> None:
    resume = folder / "resume.md"
    resume.write_text("# Ann Lee\n\n## Experience\n\nAcme | Engineer | Berlin | 2019 - 2021\n\n- Built pumps.\n")
    ingest(settings, [str(folder)])
    before = held(settings)
    resume.write_text("# Ann Lee\n\n## Experience\n\nBolt | Director | Paris | 2020 - 2022\n\n- Sold pumps.\n")
    (folder / "rust.md").write_text("# Rust\n\nShe left Rust again.\n")
    run = ingest(settings, [str(folder)])
    report = undo(settings, run.run_id)
    assert outcomes(report) == {"resume.md": "updated", "rust.md": "updated"}
    assert report.embedded == 0
    assert held(settings) == before
    reader = build_ingestion(settings).store
    jobs = [fact.record for fact in read_facts(reader, Filters(), "owner") if fact.record.type == "job"]
    assert [job.company for job in jobs] == ["Acme"]


def test_an_added_document_goes_and_a_removed_one_comes_back_under_its_id(folder: Path, settings: Settings) -> None:
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"Text number {number}.")
    ingest(settings, [str(folder)])
    before = held(settings)
    (folder / "0.txt").unlink()
    (folder / "new.txt").write_text("Something new.")
    run = ingest(settings, [str(folder)])
    assert outcomes(undo(settings, run.run_id)) == {"new.txt": "removed", "0.txt": "added"}
    assert held(settings) == before


def test_changed_facts_come_back_without_touching_nodes(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    path = folder / "go.md"
    path.write_text(path.read_text().replace("author: Ann", "author: Bob"))
    run = ingest(settings, [str(folder)])
    assert outcomes(run)["go.md"] == "metadata"
    assert outcomes(undo(settings, run.run_id)) == {"go.md": "metadata"}
    assert held(settings) == before
    assert build_ingestion(settings).store.matching_ids(Filters(author=("ann",)), "owner")


def test_what_was_said_of_documents_is_undone_and_stays_so(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    run = ingest(settings, [str(folder)], overrides=Overrides(category="journey", visibility="private"))
    undo(settings, run.run_id)
    assert held(settings) == before
    plan = build_ingestion(settings).plan([str(folder)])
    assert {step.reason for step in plan.steps} == {"restored by a rollback"}
    assert ingest(settings, [str(folder)]).embedded == 0
    after = {name: (document.category, document.visibility) for name, (document, *_) in held(settings).items()}
    assert after == {name: (document.category, document.visibility) for name, (document, *_) in before.items()}


def test_a_moved_document_goes_back_to_its_place_even_where_another_was_added(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    (folder / "rust.md").rename(folder / "old.md")
    moved = ingest(settings, [str(folder)])
    assert outcomes(moved)["old.md"] == "metadata"
    (folder / "rust.md").write_text("# Iron\n\nAnother text.\n")
    added = ingest(settings, [str(folder)])
    for run in (added, moved):
        assert not undo(settings, run.run_id).count("failed")
    assert held(settings) == before


def test_a_rollback_can_be_rolled_back_again_and_again(folder: Path, settings: Settings) -> None:
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"Text number {number}.")
    ingest(settings, [str(folder)])
    before = held(settings)
    (folder / "rust.md").write_text("# Rust\n\nShe left Rust again.\n")
    (folder / "go.md").write_text((folder / "go.md").read_text().replace("Ann", "Bob"))
    (folder / "0.txt").unlink()
    (folder / "new.txt").write_text("Something new.")
    run_id = ingest(settings, [str(folder)]).run_id
    after = held(settings)
    for state in (before, after, before, after):
        report = undo(settings, run_id)
        assert (len(report.items), report.count("failed"), report.embedded) == (4, 0, 0)
        assert held(settings) == state
        run_id = report.run_id
    assert read_run(open_database(settings).engine, run_id)["kind"] == "rollback"


def test_rolling_back_twice_leaves_what_is_undone_already(folder: Path, settings: Settings) -> None:
    run = ingest(settings, [str(folder)])
    undo(settings, run.run_id)
    report = undo(settings, run.run_id)
    assert set(outcomes(report).values()) == {"unchanged"}
    assert {item.message for item in report.items} == {"it is as it was before"}


def test_the_next_ingest_brings_the_files_in_as_they_are(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    path = folder / "rust.md"
    size_and_time = path.stat()
    path.write_text(path.read_text().replace("moved", "drove"))
    os.utime(path, ns=(size_and_time.st_atime_ns, size_and_time.st_mtime_ns))  # size and time are as they were
    (folder / "new.txt").write_text("Something new.")
    run = ingest(settings, [str(folder)], verify=True)
    after = held(settings)
    undo(settings, run.run_id)
    plan = build_ingestion(settings).plan([str(folder)])
    assert {s.item.name: s.action for s in plan.steps if s.action != "unchanged"} == {
        "rust.md": "update",
        "new.txt": "add",
    }
    assert "the file changed" in next(step.reason for step in plan.steps if step.item.name == "rust.md")
    assert outcomes(ingest(settings, [str(folder)])) | {"go.md": "", "notes.txt": ""} == {
        "rust.md": "updated", "new.txt": "added", "go.md": "", "notes.txt": "",
    }  # fmt: skip
    assert {name: value[1:] for name, value in held(settings).items()} == {n: v[1:] for n, v in after.items()}


def test_a_document_that_a_later_run_changed_again_comes_back_unless_told_otherwise(
    folder: Path, settings: Settings
) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    (folder / "rust.md").write_text("# Rust\n\nSecond text.\n")
    (folder / "notes.txt").write_text("Second notes.\n")
    second = ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nThird text.\n")
    third = ingest(settings, [str(folder)])
    after = held(settings)
    report = undo(settings, second.run_id, keep_later=True)
    assert outcomes(report) == {"rust.md": "unchanged", "notes.txt": "updated"}
    left = next(item for item in report.items if item.outcome == "unchanged")
    assert left.message == f"run {third.run_id} changed it again"
    assert held(settings)["rust.md"] == after["rust.md"]
    both = undo(settings, second.run_id)
    assert outcomes(both) == {"rust.md": "updated", "notes.txt": "unchanged"}
    assert held(settings) == before
    undo(settings, both.run_id)
    assert held(settings)["rust.md"] == after["rust.md"]


def test_going_back_to_a_text_that_is_indexed_already_brings_its_facts_back(folder: Path, settings: Settings) -> None:
    path = folder / "go.md"
    original = path.read_text()
    ingest(settings, [str(folder)])
    before = held(settings)
    path.write_text(original.replace("chose", "left"))
    second = ingest(settings, [str(folder)])
    path.write_text(original.replace("Ann", "Bob"))
    ingest(settings, [str(folder)])
    assert outcomes(undo(settings, second.run_id)) == {"go.md": "metadata"}
    assert held(settings) == before


def test_a_document_that_is_as_it_was_needs_no_undoing(folder: Path, settings: Settings) -> None:
    original = (folder / "rust.md").read_text()
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nSecond text.\n")
    second = ingest(settings, [str(folder)])
    (folder / "rust.md").write_text(original)
    ingest(settings, [str(folder)])
    version = build_ingestion(settings).store.version()
    report = undo(settings, second.run_id)
    assert [(item.outcome, item.message) for item in report.items] == [("unchanged", "it is as it was before")]
    assert build_ingestion(settings).store.version() == version


def test_runs_come_off_one_after_another_from_the_last(folder: Path, settings: Settings) -> None:
    states, runs = [], []
    for turn in range(4):
        (folder / "rust.md").write_text(f"# Rust\n\nText {turn}.\n")
        runs.append(ingest(settings, [str(folder)]).run_id)
        states.append(held(settings))
    for run_id, state in zip(reversed(runs[1:]), reversed(states[:-1]), strict=True):
        assert outcomes(undo(settings, run_id)) == {"rust.md": "updated"}
        assert held(settings) == state
    undo(settings, runs[0])
    assert held(settings) == {}


def test_a_version_that_is_no_longer_kept_is_a_failed_item(
    folder: Path, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(ingestion=IngestionSettings(executor="here", versions_kept=2))
    runs = []
    for turn in range(5):
        (folder / "rust.md").write_text(f"# Rust\n\nText {turn}.\n")
        runs.append(ingest(settings, [str(folder)]).run_id)
    report = undo(settings, runs[1])
    (item,) = (item for item in report.items if item.document == "rust.md")
    assert (item.outcome, item.error) == ("failed", "StoreError")
    assert "no longer stored" in item.message
    assert "FOOTNOTE_INGESTION__VERSIONS_KEPT" in item.hint
    assert "Text 4." in held(settings)["rust.md"][0].text


def test_without_kept_versions_only_additions_can_be_undone(
    folder: Path, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(ingestion=IngestionSettings(executor="here", versions_kept=0))
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nNew text.\n")
    (folder / "new.txt").write_text("Something new.")
    run = ingest(settings, [str(folder)])
    assert outcomes(undo(settings, run.run_id)) == {"new.txt": "removed", "rust.md": "failed"}


def test_a_place_that_another_document_took_is_a_failed_item(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").rename(folder / "old.md")
    moved = ingest(settings, [str(folder)], allow_removals=True)
    (folder / "rust.md").write_text("# Iron\n\nAnother text.\n")
    ingest(settings, [str(folder)])
    report = undo(settings, moved.run_id)
    assert outcomes(report) == {"rust.md": "failed"}
    assert "Another document with this address already exists" in report.items[0].message
    assert {"rust.md", "old.md"} <= held(settings).keys()


def test_a_run_with_failures_is_undone_as_far_as_it_went(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    (folder / "rust.md").write_text("# Rust\n\nShe left Rust again.\n")
    (folder / "bad.pdf").write_bytes(DAMAGED)
    run = ingest(settings, [str(folder)])
    assert outcomes(run)["bad.pdf"] == "failed"
    assert outcomes(undo(settings, run.run_id)) == {"rust.md": "updated"}
    assert held(settings) == before
    assert coverage(open_database(settings))["totals"]["failed"] == 1  # the file is still broken


def test_removed_documents_come_back(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    report = build_ingestion(settings).remove([before["rust.md"][0].id, before["go.md"][0].id])
    assert held(settings).keys() == {"notes.txt"}
    assert read_run(open_database(settings).engine, report.run_id)["kind"] == "remove"
    undo(settings, report.run_id)
    assert held(settings) == before


def test_removing_what_is_gone_writes_nothing(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    ids = [document.id for document, *_ in held(settings).values()]
    ingestion = build_ingestion(settings)
    steps = [stored_step("remove", known, "asked for") for known in ingestion.known()]
    ingestion.remove(ids)
    version = ingestion.store.version()
    assert set(outcomes(ingestion.run(Plan(tuple(steps), (), ()), kind="remove")).values()) == {"unchanged"}
    assert ingestion.remove(ids).items == ()
    assert ingestion.store.version() == version


def test_old_citations_of_the_version_in_between_stay_verifiable(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nThe turbine of Lake Constance was rebuilt by Ann in winter.\n")
    run = ingest(settings, [str(folder)])
    *_, answer = build_query_engine(settings).answer("Who rebuilt the turbine of Lake Constance?")
    assert isinstance(answer, Answer)
    assert answer.sources
    undo(settings, run.run_id)
    report = audit(open_database(settings).engine)
    assert report["citations"] > 0
    assert (report["violations"], report["unverifiable"]) == ([], 0)


def test_a_plan_says_what_the_rollback_does_and_writes_nothing(folder: Path, settings: Settings) -> None:
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"Text number {number}.")
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nSecond text.\n")
    (folder / "go.md").write_text((folder / "go.md").read_text().replace("Ann", "Bob"))
    (folder / "notes.txt").write_text("Second notes.\n")
    (folder / "0.txt").unlink()
    (folder / "new.txt").write_text("Something new.")
    run = ingest(settings, [str(folder)])
    (folder / "notes.txt").write_text("Third notes.\n")
    ingest(settings, [str(folder)])
    ingestion = build_ingestion(settings)
    version = ingestion.store.version()
    plan = plan_rollback(ingestion.database, run.run_id)
    assert ingestion.store.version() == version
    done = {"add": "added", "update": "updated", "remove": "removed", "fail": "failed"}
    planned = {step.item.name: done[step.action] for step in plan.steps}
    assert planned == {
        "rust.md": "updated", "go.md": "updated", "notes.txt": "updated", "0.txt": "added", "new.txt": "removed",
    }  # fmt: skip
    assert outcomes(roll_back(ingestion, plan)) == planned | {"go.md": "metadata"}


def test_there_is_no_rollback_of_a_run_that_is_not_or_that_still_works(folder: Path, settings: Settings) -> None:
    database = open_database(settings)
    for run_id in (1, 0, -1, 2**40):
        with pytest.raises(RetrievalError, match="no run"):
            plan_rollback(database, run_id)
    ingestion = build_ingestion(settings)
    caught: list[Exception] = []

    def meanwhile(_done: int, _total: int, _item: object) -> None:
        try:
            plan_rollback(database, 1)
        except RetrievalError as error:
            caught.append(error)

    ingestion.run(ingestion.plan([str(folder)]), on_progress=meanwhile)
    assert len(caught) == 3
    assert "still running" in str(caught[0])


@pytest.mark.parametrize("milliseconds", [60, *(pytest.param(each, marks=pytest.mark.trial) for each in (20, 120))])
def test_a_killed_rollback_leaves_documents_wholly_old_or_new_and_can_be_run_again(
    milliseconds: int, folder: Path, settings: Settings
) -> None:
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"First text of {number}.")
    ingest(settings, [str(folder)])
    before = held(settings)
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"Second text of {number}.")
    run = ingest(settings, [str(folder)])
    after = held(settings)
    ready, tell = os.pipe()
    child = os.fork()
    if not child:
        ingestion = build_ingestion(settings)
        os.write(tell, b".")
        roll_back(ingestion, plan_rollback(ingestion.database, run.run_id))
        os._exit(0)
    os.read(ready, 1)
    time.sleep(milliseconds / 1000)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    now = held(settings)
    assert now.keys() == before.keys()
    assert all(now[name] in (before[name], after[name]) for name in now)
    assert not undo(settings, run.run_id).count("failed")
    assert held(settings) == before


def test_a_rollback_that_is_told_to_stop_ends_after_what_is_under_way_and_goes_on(
    folder: Path, settings: Settings
) -> None:
    ingest(settings, [str(folder)])
    before = held(settings)
    (folder / "rust.md").write_text("# Rust\n\nSecond text.\n")
    (folder / "new.txt").write_text("Something new.")
    run = ingest(settings, [str(folder)])
    changed = held(settings)["rust.md"]
    ingestion = build_ingestion(settings)
    plan = plan_rollback(ingestion.database, run.run_id)
    report = roll_back(ingestion, plan, on_progress=lambda *_: ingestion.stop.set())
    assert (report.stopped, outcomes(report)) == (True, {"new.txt": "removed"})
    assert held(settings)["rust.md"] == changed
    assert set(outcomes(undo(settings, run.run_id)).values()) == {"unchanged", "updated"}
    assert held(settings) == before


def test_a_change_that_came_meanwhile_is_not_lost(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nSecond text.\n")
    (folder / "notes.txt").write_text("Second notes.\n")
    (folder / "new.txt").write_text("Something new.")
    run = ingest(settings, [str(folder)])
    ingestion = build_ingestion(settings)
    plan = plan_rollback(ingestion.database, run.run_id)
    for name in ("rust.md", "notes.txt", "new.txt"):
        (folder / name).write_text("Written while the rollback was under way.\n")
    ingest(settings, [str(folder)])
    after = held(settings)
    report = roll_back(ingestion, plan)
    assert set(outcomes(report).values()) == {"failed"}
    assert all("changed by another run since the plan" in item.message for item in report.items)
    assert held(settings) == after


def test_a_rollback_beside_an_ingest_of_the_same_documents_ends_with_whole_documents(
    folder: Path, settings: Settings
) -> None:
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"First text of {number}.")
    ingest(settings, [str(folder)])
    first = held(settings)
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"Second text of {number}.")
    run = ingest(settings, [str(folder)])
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"Third text of {number}.")
    reports: list[IngestReport] = []
    threads = [
        threading.Thread(target=lambda: reports.append(ingest(settings, [str(folder)]))),
        threading.Thread(target=lambda: reports.append(undo(settings, run.run_id, keep_later=True))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 2
    now = held(settings)
    assert now.keys() == first.keys()
    for number in range(12):  # whichever came first: what was brought in last is not lost
        document, texts, _ = now[f"{number}.txt"]
        assert document.text == f"Third text of {number}."
        assert texts[0].endswith(f"|{document.text}")


def test_an_upgraded_version_without_a_run_is_found_by_its_item(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nSecond text.\n")
    ingest(settings, [str(folder)])
    with reading(open_database(settings).engine, "looking") as connection:
        versions = connection.execute(select(document_versions.c.run_id, document_versions.c.id)).all()
        items = connection.execute(select(ingest_items.c.version_id).where(ingest_items.c.run_id == 2)).scalars().all()
    assert versions == [(2, items[0])]


WORDS = ("amber", "birch", "cobalt", "dune", "ember", "fjord", "grove", "harbour")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.trial) for seed in range(1, 20))])
def test_any_sequence_of_changes_runs_and_rollbacks_leaves_what_the_model_says(
    seed: int, tmp_path: Path, make_settings: Callable[..., Settings]
) -> None:
    """The model: (author, text) by name, of the files and of what is stored; a rollback takes a run's changes back."""
    settings, dice = make_settings(ingestion=IngestionSettings(executor="here", versions_kept=50)), random.Random(seed)
    files: dict[str, tuple[str, str]] = {}
    stored: dict[str, tuple[str, str]] = {}
    stands: list[tuple[int, dict[str, tuple[str, str]]]] = []  # (a run, what was stored before it)
    for _ in range(14):
        for _ in range(dice.randint(1, 3)):
            _edit(dice, files, tmp_path)
        now = dict(stored)
        if stands and dice.random() < 0.4:
            run_id, stored = stands.pop()
            report = undo(settings, run_id)
            assert (report.count("failed"), report.embedded) == (0, 0)
            if dice.random() < 0.3:  # undo the undoing
                assert not undo(settings, report.run_id).count("failed")
                stands.append((run_id, stored))
                stored = now
        else:
            stands.append((ingest(settings, [str(tmp_path)], allow_removals=True).run_id, now))
            stored = dict(files)
        assert _stored(settings) == stored


def _edit(dice: random.Random, files: dict[str, tuple[str, str]], folder: Path) -> None:
    name = f"{dice.choice('abcde')}.md"
    text = " ".join(dice.choices(WORDS, k=4)).capitalize() + "."
    deed = dice.choice(("write", "author", "delete"))
    if deed == "delete" and name in files:
        del files[name]
        (folder / name).unlink()
        return
    author, old = files.get(name, ("Ann", ""))
    files[name] = (dice.choice(("Ann", "Bob", "Cleo")), old) if deed == "author" and old else (author, text)
    (folder / name).write_text("---\nauthor: {}\n---\n{}\n".format(*files[name]))


def _stored(settings: Settings) -> dict[str, tuple[str, str]]:
    return {name: (document.author, document.text.strip()) for name, (document, *_) in held(settings).items()}
