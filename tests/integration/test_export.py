"""What `footnote export` writes, ingested again in another database, is equal."""

import json
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.documents import load_document
from pipelines.types import Document
from tests.conftest import MakeSettings
from tests.integration.test_doors import FILES
from tests.shell import Shell

EQUAL = "text title author category year published_at modified_at visibility".split()


def documents(settings: Settings) -> list[Document]:
    ingestion = build_ingestion(settings)
    with ingestion.database.engine.connect() as connection:
        found = [load_document(connection, each.id, "owner") for each in ingestion.known()]
    return sorted(filter(None, found), key=lambda each: each.text)


@pytest.fixture
def exported(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Shell, Path]:
    folder = tmp_path / "docs"
    folder.mkdir()
    files = {**FILES, "post.md": "---\ntitle: 'A: B'\nauthor: Ann Bell\ndate: 2021-04-05\n---\n\n# Post\n\n--- not\n"}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "notes.txt").write_text("Plain notes.\n\nOf two paragraphs.\n")
    ingest(settings, [str(folder)])
    (tmp_path / "diary.md").write_text("# Diary\n\nFor nobody else.\n")
    ingest(settings, [str(tmp_path / "diary.md")], overrides=Overrides(collection="own", visibility="private"))
    return Shell(settings, monkeypatch, tmp_path), tmp_path / "out"


def test_what_is_exported_and_ingested_again_is_equal(
    exported: tuple[Shell, Path], settings: Settings, make_settings: MakeSettings
) -> None:
    shell, out = exported
    written = shell.json("export", str(out), "--vectors")
    assert (written["documents"], written["people"]) == (7, 1)
    again = make_settings()
    report = ingest(again, [str(out / "documents")])
    assert (report.count("added"), report.count("failed")) == (7, 0)
    for old, new in zip(documents(settings), documents(again), strict=True):
        assert {name: getattr(new, name) for name in EQUAL} == {name: getattr(old, name) for name in EQUAL}
    question = "Where did Ines work before Northmere Bridges?"
    assert build_query_engine(again).ask(question).answer == build_query_engine(settings).ask(question).answer
    rows = [json.loads(line) for line in (out / "nodes.jsonl").read_text().splitlines()]
    assert len(rows) == written["nodes"] == build_ingestion(settings).store.count()
    texts = {each.id: each.text for each in documents(settings)}
    assert all(texts[row["metadata"]["document_id"]][row["start"] : row["end"]] == row["text"] for row in rows)
    assert {len(row["vector"]) for row in rows} == {256}


def test_careers_are_json_resume_that_gives_the_same_jobs(exported: tuple[Shell, Path]) -> None:
    shell, out = exported
    shell.json("export", str(out), "--nodes", "parquet", "--public")
    (file,) = (out / "facts").iterdir()
    held = json.loads(file.read_text())
    assert (held["basics"]["name"], file.name) == ("Ines Varga", "Ines Varga.json")
    assert {("Northmere Bridges", "2018-03", "2020-05"), ("Tidewright", "2015-01", "2018-02")} <= {
        (job["name"], job["startDate"], job.get("endDate")) for job in held["work"]
    }
    assert not (out / "documents" / "own").exists()
    pandas = pytest.importorskip("pandas")
    assert "vector" not in pandas.read_parquet(out / "nodes.parquet").columns
    assert shell("export", str(out))[0] == 2
    assert shell("export", str(out.parent / "other"), "--collection", "owm")[1].endswith("Did you mean 'own'?")
