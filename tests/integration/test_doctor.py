import re
import shlex
import time
from pathlib import Path

import numpy as np
import pytest
from llama_index.core.schema import TextNode
from sqlalchemy import text

from config.settings import LLMSettings, Settings
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.preview import preview
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.models.consult import examine_llm
from pipelines.models.identity import identity
from pipelines.store.audit import damaged_documents
from pipelines.store.database import open_database
from pipelines.store.health import Finding, examine
from pipelines.store.node_table import node_table
from pipelines.store.node_writer import Replacement, replace_documents
from pipelines.store.originals import original_path
from pipelines.store.vector_store import build_vector_store
from pipelines.types import Document
from tests.fake_openai import FakeOpenAI, Fault

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


def test_a_healthy_database_has_no_finding(folder: Path, settings: Settings) -> None:
    assert wrong(settings) == set()
    assert found(settings)["vector recall"].said == "2 of 2 sampled vectors find themselves"


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


def test_a_file_of_repeated_text_takes_time_by_its_length(settings: Settings) -> None:
    count, paragraph = 3000, "The crane lifts the load over the wall of the harbour. " * 6
    body = paragraph * count
    made = Document(
        id="log", text=body, source_uri="file:///log.txt", source="file:///", source_kind="eval", name="log.txt",
        mime="text/plain", bytes=len(body), file_sha="f", title="log", category="generic", content_sha="c",
    )  # fmt: skip
    (first,) = parse(made.with_(text=paragraph), "generic")
    nodes = []
    for number in range(count):
        place = {"start": number * len(paragraph), "end": (number + 1) * len(paragraph), "ordinal": number}
        told = {"metadata": first.metadata | place, "relationships": first.relationships}
        nodes.append(TextNode(id_=f"n{number}", text=paragraph, **told))
    store = build_vector_store(settings, open_database(settings), identity(settings))
    vector = np.zeros((1, store.dimension), dtype=np.float32)
    vector[0, 0] = 1
    replace_documents(store, [Replacement(made, nodes, [vector] * count, "generic", "r")])
    begun = time.monotonic()
    with store.engine.connect() as connection:
        assert damaged_documents(connection, store.table) == []
    assert time.monotonic() - begun < 5  # half a second; by the square of the length it was a minute


def test_a_vector_index_of_another_operator_class_is_named_and_built_again(folder: Path, settings: Settings) -> None:
    break_(settings, f"DROP INDEX {TABLE}_hnsw")
    break_(settings, f"CREATE INDEX {TABLE}_hnsw ON {TABLE}_windows USING hnsw (embedding vector_l2_ops)")
    assert "vector index" in wrong(settings)
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


def test_a_damaged_bm25_snapshot_is_named_and_repaired(folder: Path, settings: Settings) -> None:
    paths = [*(settings.home / "lexical").rglob("counts.npy")]
    assert paths
    for path in paths:
        np.save(path, np.load(path) + 1)
    assert wrong(settings) == {"saved indexes"}
    assert wrong(settings, fix=True) == set()
    assert wrong(settings) == set()


def test_a_bm25_snapshot_of_other_terms_than_the_database_is_named(folder: Path, settings: Settings) -> None:
    break_(settings, "UPDATE lexical_segments SET tokens = replace(tokens, 'crane', 'heron')")
    assert wrong(settings) == {"saved indexes"}
    assert wrong(settings, fix=True) == set()


def test_a_repair_deletes_orphans_and_nothing_else(folder: Path, settings: Settings) -> None:
    break_(settings, "DELETE FROM documents WHERE name = 'garden.md'")
    assert "orphans" in wrong(settings)
    assert wrong(settings, fix=True) == set()
    assert [document.name for document in build_ingestion(settings).known()] == ["crane.md"]


def test_a_damaged_original_is_never_taken_for_the_document(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    crane = next(document for document in ingestion.known() if document.name == "crane.md")
    path = original_path(settings.home, crane.file_sha)
    path.write_bytes(path.read_bytes()[:-2] + b"!\n")
    foreseen = preview(ingestion, plan_reindex(ingestion))
    assert foreseen.count("failed") == 1
    assert path.exists()  # looking ahead touches nothing
    report = ingestion.run(plan_reindex(ingestion), kind="reindex")
    failed = next(item for item in report.items if item.outcome == "failed")
    assert (failed.document, "is damaged" in failed.message) == ("crane.md", True)
    assert "originals" in wrong(settings)
    assert "originals" not in wrong(settings, fix=True)  # the file is as it was
    ingestion.run(plan_reindex(ingestion), kind="reindex")
    assert wrong(settings) == set()


@pytest.mark.parametrize(
    ("fault", "said", "mend"),
    [
        (
            None,
            r"fake at http://127\.0\.0\.1:\d+/v1 answered in .* s, window 4,096 tokens, 800 of them for the reply",
            "",
        ),
        (Fault("status", 404), "does not know the model fake", "FOOTNOTE_LLM__MODEL"),
        (Fault("status", 404, message="File Not Found"), "has no such path", "FOOTNOTE_LLM__API_BASE"),
        (Fault("status", 401), "refuses the key", "OPENAI_API_KEY"),
        (Fault("slow", seconds=2), "took more than 1.0 s", "FOOTNOTE_LLM__TIMEOUT_SECONDS"),
    ],
)
def test_the_language_model_is_asked_for_one_word(tmp_path: Path, fault: Fault | None, said: str, mend: str) -> None:
    with FakeOpenAI(models=[{"id": "fake", "max_model_len": 4096}]) as server:
        model = LLMSettings(provider="openai", model="fake", api_base=server.url, retries=0, timeout_seconds=1)
        if fault:
            server.fail(fault)
        ok, found, repair = examine_llm(Settings(home=tmp_path, llm=model, _env_file=None))
    assert (ok, mend in repair) == (fault is None, True)
    assert re.search(said, found)


def test_a_port_where_nobody_listens_is_named(tmp_path: Path) -> None:
    model = LLMSettings(provider="openai", model="fake", api_base="http://127.0.0.1:9/v1", retries=0)
    ok, found, repair = examine_llm(Settings(home=tmp_path, llm=model, _env_file=None))
    assert (ok, "http://127.0.0.1:9/v1 cannot be reached" in found) == (False, True)
    assert "FOOTNOTE_LLM__API_BASE" in repair
