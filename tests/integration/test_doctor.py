import shlex
from pathlib import Path

import pytest
from sqlalchemy import text

from config.settings import Settings
from pipelines.ingestion.preview import preview
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.run import Overrides, build_ingestion, ingest
from pipelines.models.identity import identity
from pipelines.store.database import open_database
from pipelines.store.doctor import Finding, examine
from pipelines.store.node_table import node_table
from pipelines.store.originals import original_path

TABLE = node_table("hashed_hashed_256")


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    for name, body in {"crane.md": "# Crane\n\nIt lifts.\n", "garden.md": "# Garden\n\nIt grows.\n"}.items():
        (tmp_path / name).write_text(body)
    ingest(settings, [str(tmp_path)])
    return tmp_path


def found(settings: Settings, *, fix: bool = False) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(settings, identity(settings), fix=fix)}


def wrong(settings: Settings, *, fix: bool = False) -> set[str]:
    return {name for name, finding in found(settings, fix=fix).items() if not finding.ok}


def break_(settings: Settings, statement: str) -> None:
    with open_database(settings).engine.begin() as connection:
        connection.execute(text(statement))


def test_a_healthy_database_has_no_finding_and_filters_find_what_an_exact_scan_finds(
    folder: Path, settings: Settings
) -> None:
    assert wrong(settings) == set()
    assert found(settings)["filtered search"].said == "4 of the 4 that an exact scan finds"  # both nodes, for each


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (f"DELETE FROM data_{TABLE} WHERE metadata_ ->> 'title' = 'Crane'", "agreement"),
        (f"DELETE FROM lexical_segments WHERE tokens LIKE '%crane%' AND node_table = '{TABLE}'", "agreement"),
        ("UPDATE document_indexes SET nodes = nodes + 1", "agreement"),
        (f"DELETE FROM {TABLE}_windows", "agreement"),
        (f"UPDATE data_{TABLE} SET text = 'evil ' || text", "agreement"),
        ("UPDATE documents SET text = 'X' || text", "agreement"),
    ],
)
def test_a_damaged_document_is_named_and_made_again(
    folder: Path, settings: Settings, statement: str, name: str
) -> None:
    ingestion = build_ingestion(settings)
    nodes = ingestion.store.count()
    break_(settings, statement)
    assert "crane.md" in found(settings)[name].said
    assert wrong(settings, fix=True) == {"embeddings"}  # forgotten, so that the next run makes it again
    ingestion.run(plan_reindex(ingestion), kind="reindex")
    assert wrong(settings) == set()
    assert ingestion.store.count() == nodes


def test_a_vector_index_of_another_operator_class_is_named_and_built_again(folder: Path, settings: Settings) -> None:
    break_(settings, f"DROP INDEX {TABLE}_hnsw")
    break_(settings, f"CREATE INDEX {TABLE}_hnsw ON {TABLE}_windows USING hnsw (embedding vector_l2_ops)")
    assert {"vector index", "vector search"} <= wrong(settings)
    assert wrong(settings, fix=True) == set()


def test_a_missing_original_is_taken_again_from_a_file_that_is_as_it_was(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    paths = [original_path(settings.home, document.file_sha) for document in ingestion.known()]
    for path in paths:
        path.unlink()
    (folder / "garden.md").write_text("# Garden\n\nIt withers.\n")
    assert "2 documents" in found(settings)["originals"].said
    assert "garden.md" in found(settings, fix=True)["originals"].said
    assert sorted(path.exists() for path in paths) == [False, True]


def test_a_run_whose_process_died_is_named(folder: Path, settings: Settings) -> None:
    break_(settings, "UPDATE ingest_runs SET state = 'running', finished_at = NULL")
    finding = found(settings)["last run"]
    assert (finding.ok, finding.mend) == (False, shlex.join(["footnote", "ingest", str(folder)]))
    other = folder / "other"
    other.mkdir()
    (other / "kiln.md").write_text("# Kiln\n\nIt is hot.\n")
    ingest(settings, [str(other)])
    assert not found(settings)["last run"].ok  # another folder's run goes on with nothing
    ingest(settings, [str(folder)])
    assert found(settings)["last run"].ok


def test_orphans_go_and_nothing_else(folder: Path, settings: Settings) -> None:
    break_(settings, "DELETE FROM documents WHERE name = 'garden.md'")
    assert "orphans" in wrong(settings)
    assert wrong(settings, fix=True) == set()
    assert [document.name for document in build_ingestion(settings).known()] == ["crane.md"]


def test_a_damaged_original_is_never_taken_for_the_document(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    crane = next(document for document in ingestion.known() if document.name == "crane.md")
    path = original_path(settings.home, crane.file_sha)
    path.write_bytes(path.read_bytes()[:-2] + b"!\n")
    foreseen = preview(ingestion, plan_reindex(ingestion), Overrides())
    assert foreseen.count("failed") == 1
    assert path.exists()  # looking ahead touches nothing
    report = ingestion.run(plan_reindex(ingestion), kind="reindex")
    failed = next(item for item in report.items if item.outcome == "failed")
    assert (failed.document, "is damaged" in failed.message) == ("crane.md", True)
    assert "originals" in wrong(settings)
    assert "originals" not in wrong(settings, fix=True)  # the file is as it was
    ingestion.run(plan_reindex(ingestion), kind="reindex")
    assert wrong(settings) == set()
