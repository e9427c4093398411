import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import evaluate
from config.settings import Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.evaluation.answers import evaluate_answers
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import load_topics
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.database import open_database
from pipelines.store.query_log import latest_queries

pytestmark = pytest.mark.usefixtures("own_databases")
CRANE = "Marit built the harbour crane in 2014."
GARDEN = "Tomatoes need sun every day."


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "crane.md").write_text(f"# Crane\n\n{CRANE}\n")
    (folder / "garden.md").write_text(f"# Garden\n\n{GARDEN}\n")
    return folder


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"id": "t1", "question": "Who built the harbour crane?", "answerable": True, "kind": "fact",
         "quotes": [{"document": "crane.md", "text": CRANE}], "facts": ["Marit"]},
        {"id": "t2", "question": "What do tomatoes need every day?", "answerable": True, "kind": "fact",
         "quotes": [{"document": "garden.md", "text": GARDEN}], "facts": ["sun"]},
        {"id": "t3", "question": "zygomorphic quaternions", "answerable": False, "kind": "fact", "quotes": [],
         "facts": []},
    ]  # fmt: skip
    path = tmp_path / "topics.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def measure(verb: Callable[..., None], settings: Settings, path: Path, **options: Any) -> None:
    """A verb of `footnote eval` with these settings, as JSON unless said otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "settings_now", lambda: settings)
        verb(path, **{"as_json": True, **options})


def portfolio(settings: Settings, path: Path, **options: Any) -> None:
    measure(evaluate.eval_answers, settings, path, **options)


# The portfolio


def test_the_portfolio_is_asked_beside_the_users_documents_and_enters_no_log(
    settings: Settings, shelf: Path, topics: Path
) -> None:
    engine = portfolio_engine(settings, shelf, name="portfolio_test")
    found = evaluate_answers(
        engine, load_topics(topics), {"sparse": {"retrieval.mode": "sparse"}, "default": {}}, baseline="sparse"
    )
    assert found.systems["sparse"]["success@1"] == found.systems["sparse"]["document@5"] == 1.0
    asked = found.per_topic["default"]["t1"]
    assert (asked["facts"], asked["precision"], asked["kind"], asked["words"]) == (True, 1.0, "fact", 7)
    assert CRANE in asked["answer"]
    [[cited]] = asked["citations"]
    assert f"# Crane\n\n{CRANE}\n"[cited["start"] : cited["end"]] == CRANE
    assert cited["document"] == "crane.md"
    assert found.per_topic["default"]["t3"].keys() >= {"answer", "citations", "words"}
    assert found.comparisons["default"]["success@5"].p == 1.0
    assert build_query_engine(settings).store.count() == 0
    assert latest_queries(engine.database.engine, 9) == []


def test_a_second_portfolio_run_ingests_only_what_changed_and_forgets_what_is_gone(
    settings: Settings, shelf: Path
) -> None:
    portfolio_engine(settings, shelf, name="portfolio_test")
    (shelf / "garden.md").unlink()
    (shelf / "crane.md").write_text(f"# Crane\n\n{CRANE} It was red.\n")
    engine = portfolio_engine(settings, shelf, name="portfolio_test")
    assert {r.document_name for r in engine.search("harbour crane red", record=False).results} == {"crane.md"}
    assert "red" in engine.search("harbour crane red", record=False).results[0].text


def test_the_json_of_a_portfolio_names_the_systems_and_the_misses(
    settings: Settings, shelf: Path, topics: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.json"
    portfolio(settings, topics, documents=shelf, setting=["factors.quality=true"], compare="default", per_topic=path)
    report = json.loads(capsys.readouterr().out)
    keys = {"dataset", "topics", "systems", "kinds", "misses", "comparisons", "per_topic", "fingerprint"}
    assert report.keys() >= keys
    assert report["kinds"]["default"]["fact"].keys() >= report["systems"]["default"].keys()
    assert list(report["systems"]) == ["default", "custom"]
    assert report["comparisons"]["custom"]["success@5"].keys() >= {"difference", "p"}
    assert json.loads(path.read_text())["custom"].keys() == {"t1", "t2", "t3"}
    portfolio(settings, topics, documents=shelf, as_json=False)
    shown = capsys.readouterr().out
    assert "by kind of question" in shown
    assert "precision" in shown


def test_the_users_documents_are_asked_only_when_that_is_said_and_stay_as_they_are(
    settings: Settings, shelf: Path, topics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest(settings, [str(shelf)])
    portfolio(settings, topics, ingested=True)
    assert json.loads(capsys.readouterr().out)["systems"]["default"]["document@5"] == 1.0
    assert latest_queries(open_database(settings).engine, 9) == []


def test_topics_about_other_documents_are_refused_with_the_way_to_name_them(
    settings: Settings, shelf: Path, topics: Path
) -> None:
    (shelf / "crane.md").rename(shelf / "kran.md")
    (shelf / "garden.md").unlink()
    with pytest.raises(SourceError) as caught:
        portfolio(settings, topics, documents=shelf)
    assert "--documents" in caught.value.hint


def test_an_unknown_system_is_refused_before_anything_is_ingested(settings: Settings, topics: Path) -> None:
    with pytest.raises(ConfigError, match="psychic"):
        portfolio(settings, topics, system=["psychic"])


# Grounding


def test_claims_are_read_verified_and_reported(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.jsonl"
    rows = [
        {"claim": CRANE, "label": "supported", "evidence": [GARDEN, CRANE], "supporting_sentences": [[1]], "meta": {}},
        {"claim": "Whales sing.", "label": "not_supported", "evidence": [GARDEN], "supporting_sentences": [[]]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    measure(evaluate.eval_grounding, settings, path)
    report = json.loads(capsys.readouterr().out)
    assert report["bounds"]["supported"] == {"precision": 1.0, "recall": 1.0}
    assert report["auroc"]["committed"] == {"supported": 1.0, "supported against not": 1.0, "any support": 1.0}
    measure(evaluate.eval_grounding, settings, path, limit=1, words=True, as_json=False)
    printed = capsys.readouterr().out
    assert "1 claims" in printed
    assert ["supported", "1.0000", "1.0000"] in [line.split() for line in printed.splitlines()]


@pytest.mark.parametrize(
    "line",
    ['{"claim": "x"}', "nonsense", '{"claim": "x", "label": "y", "evidence": ["a"], "supporting_sentences": [[3]]}'],
)
def test_a_broken_line_of_claims_is_named(settings: Settings, tmp_path: Path, line: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(line)
    with pytest.raises(SourceError, match=r"1 of .*claims\.jsonl"):
        measure(evaluate.eval_grounding, settings, path, words=True)
