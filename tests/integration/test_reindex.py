import json
from pathlib import Path

import pytest
from sqlalchemy import text

from config.settings import ParsingSettings, Settings, SourceRule
from pipelines.answers import Answer
from pipelines.errors import RetrievalError
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.preview import preview
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.audit import audit
from pipelines.store.database import open_database
from pipelines.store.facts import read_facts
from pipelines.store.originals import original_path
from pipelines.store.runs import read_run
from pipelines.store.status import coverage
from pipelines.types import Filters, IngestReport

LONG = "\n\n".join(f"Part {number} tells of harbours, boats and {number} lighthouses at dawn." for number in range(40))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "go.md").write_text("---\nauthor: Ann\ndate: 2024-05-01\n---\n# Go\n\nShe chose Go for its speed.\n")
    (tmp_path / "resume.md").write_text(
        "# Ann Lee\n\n## Experience\n\nAcme | Engineer | Berlin | 2019 - 2021\n\n- Built turbines on Lake Constance.\n"
    )
    (tmp_path / "notes.txt").write_text(f"{LONG}\n")
    return tmp_path


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def reindex(settings: Settings, source: str = "") -> IngestReport:
    ingestion = build_ingestion(settings)
    return ingestion.run(plan_reindex(ingestion, source), kind="reindex")


def shorter(settings: Settings) -> Settings:
    return settings.model_copy(update={"parsing": ParsingSettings(generic_characters=300)})


def known(settings: Settings) -> dict[str, tuple[object, ...]]:
    """What must stay of each document: identity, place, stamp, what is said of it."""
    return {
        d.name: (d.id, d.collection, d.source, d.source_kind, d.source_uri, d.stamp, d.file_sha, d.said)
        for d in build_ingestion(settings).known()
    }


def test_what_today_would_make_just_so_is_left_unwritten(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    version = build_ingestion(settings).store.version()
    report = reindex(settings)
    assert set(outcomes(report).values()) == {"unchanged"}
    assert (report.embedded, build_ingestion(settings).store.version()) == (0, version)


def test_other_sizes_cut_documents_anew_and_all_else_stays(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)], overrides=Overrides(collection="work", category="blog"))
    ingest(settings, [str(folder / "notes.txt")], overrides=Overrides(collection="default"))
    before, nodes = known(settings), build_ingestion(settings).store.count()
    changed = shorter(settings)
    ingestion = build_ingestion(changed)
    plan = plan_reindex(ingestion)
    assert any(step.reason.startswith("other sizes") for step in plan.steps)
    seen = preview(ingestion, plan)
    report = ingestion.run(plan, kind="reindex")
    assert [item.outcome for item in report.items] == [item.outcome for item in seen.items]
    assert seen.embeddings == report.embedded > 0
    assert known(changed) == before
    assert build_ingestion(changed).store.count() > nodes
    assert {d.collection for d in build_ingestion(changed).known()} == {"work", "default"}
    assert audit(ingestion.store.engine)["violations"] == []
    assert {step.action for step in ingestion.plan([str(folder / "notes.txt")]).steps} == {"unchanged"}


def test_documents_whose_source_is_gone_are_made_again_from_their_originals(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert outcomes(reindex(shorter(settings)))["notes.txt"] == "updated"


def test_only_the_documents_of_a_source_are_made_again(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    assert outcomes(reindex(shorter(settings), str(folder / "notes.txt"))) == {"notes.txt": "updated"}
    with pytest.raises(RetrievalError, match="No document came from"):
        reindex(settings, "/nowhere")


def test_a_missing_original_is_a_failed_item_and_the_document_goes_on_serving(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (document,) = (d for d in build_ingestion(settings).known() if d.name == "notes.txt")
    original_path(settings.home, document.file_sha).unlink()
    report = reindex(shorter(settings))
    (item,) = (item for item in report.items if item.outcome == "failed")
    assert (item.document, item.stage, item.error) == ("notes.txt", "read", "SourceError")
    assert "Ingest it again" in item.hint
    row = next(row for row in coverage(open_database(settings))["documents"] if row["document"] == "notes.txt")
    assert (row["state"], row["nodes"]) == ("stale", document.nodes)


def test_the_rules_of_the_settings_apply_anew_and_what_was_said_holds(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder / "go.md")], overrides=Overrides(visibility="private"))
    rules = (SourceRule(match="go.md", visibility="public", year=2020),)
    ruled = settings.model_copy(update={"ingestion": settings.ingestion.model_copy(update={"rules": rules})})
    assert outcomes(reindex(ruled)) == {"go.md": "updated"}
    (document,) = build_ingestion(ruled).known()
    assert (document.year, document.visibility) == (2020, "private")
    assert outcomes(ingest(ruled, [str(folder / "go.md")])) == {"go.md": "unchanged"}


def test_a_reindex_is_a_run_that_can_be_undone(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    rules = (SourceRule(match="go.md", year=2020),)
    ruled = settings.model_copy(update={"ingestion": settings.ingestion.model_copy(update={"rules": rules})})
    report = reindex(ruled)
    run = read_run(open_database(settings).engine, report.run_id)
    assert (run["kind"], run["counts"]) == ("reindex", {"unchanged": 2, "updated": 1})
    ingestion = build_ingestion(settings)
    assert outcomes(roll_back(ingestion, plan_rollback(ingestion.database, report.run_id))) == {"go.md": "updated"}
    assert {d.name: d.year for d in ingestion.known()}["go.md"] == 2024


def test_a_reindex_of_only_other_sizes_has_nothing_to_undo(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    changed = shorter(settings)
    report = reindex(changed)
    ingestion = build_ingestion(changed)
    undone = roll_back(ingestion, plan_rollback(ingestion.database, report.run_id))
    assert outcomes(undone) == {"notes.txt": "unchanged"}
    assert "the same before" in undone.items[0].message


def test_old_nodes_serve_until_each_document_is_swapped(folder: Path, settings: Settings) -> None:
    (folder / "more.txt").write_text(LONG.replace("lighthouses", "windmills"))
    ingest(settings, [str(folder)])
    changed = shorter(settings)
    engine, ingestion = build_query_engine(changed), build_ingestion(changed)
    seen: list[set[str]] = []

    def ask(*_: object) -> None:
        report = engine.search("harbours and boats at dawn", top_n=10)
        seen.append({result.document_name for result in report.results})

    ingestion.run(plan_reindex(ingestion), on_progress=ask, kind="reindex")
    assert len(seen) == 4
    assert all({"notes.txt", "more.txt"} <= names for names in seen)


NEWER = ("facts", "section_path", "kind", "header", "subcategory", "token_count", "section", "visibility_reason")


def test_nodes_that_lack_newer_fields_stay_searchable_answerable_and_countable(
    folder: Path, settings: Settings
) -> None:
    ingest(settings, [str(folder)])
    asked = "Who built turbines on Lake Constance?"
    before = [result.text for result in build_query_engine(settings).search(asked).results]
    ingestion = build_ingestion(settings)
    _strip(ingestion.store.engine, ingestion.store.table)
    engine = build_query_engine(settings)
    report = engine.search(asked)
    assert report.results[0].text == before[0]
    *_, answer = engine.answer(asked)
    assert isinstance(answer, Answer)
    assert answer.answered
    *_, timeline = engine.answer("How long did Ann work at Acme?")
    assert isinstance(timeline, Answer)
    assert any(f.record.type == "job" for f in read_facts(ingestion.store, Filters(), "owner"))
    assert engine.search("boats", filters=Filters(category=("generic",))).results
    assert coverage(open_database(settings))["totals"]["indexed"] == 3
    assert audit(open_database(settings).engine)["violations"] == []
    ingestion.store.stated_names("owner")
    assert [*ingestion.store.segments("owner")]
    changed = shorter(settings)
    assert "updated" in outcomes(reindex(changed)).values()


def _strip(engine, table: str) -> None:
    """Take newer fields out of both copies of every node's metadata, and the tokens' version back, as of older code."""
    with engine.begin() as connection:
        rows = connection.execute(text(f"SELECT id, metadata_ FROM data_{table}")).all()
        for row in rows:
            inner = json.loads(row.metadata_["_node_content"])
            inner["metadata"] = {k: v for k, v in inner["metadata"].items() if k not in NEWER}
            kept = {k: v for k, v in row.metadata_.items() if k not in NEWER} | {"_node_content": json.dumps(inner)}
            connection.execute(
                text(f"UPDATE data_{table} SET metadata_ = CAST(:kept AS jsonb) WHERE id = :id"),
                {"kept": json.dumps(kept), "id": row.id},
            )
        connection.execute(text("UPDATE lexical_segments SET tokeniser = 0"))
        connection.execute(text("UPDATE corpus_version SET version = version + 1"))
