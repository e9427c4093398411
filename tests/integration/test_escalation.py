import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.types import SearchReport
from tests.bench.escalation import KINDS, ScriptedLLM, evaluate_replies, load_replies
from tests.conftest import MakeSettings

ROOT = Path(__file__).parent.parent.parent
POSTS = {
    "buoys.md": "# Buoys\n\nThe firmware of the wave buoys cut the average current from 41 mA to 18 mA, so that the "
    "battery life of the buoys grew to fifteen months.\n",
    "garden.md": "# Garden\n\nTomatoes need sun. Water them every morning and never at noon.\n",
    "ferry.md": "# Ferry\n\nThe pilot began in February on nine ferries. Engineers asked for a print button first.\n",
}
QUESTION = "how did the buoys at sea stay alive so long"
GOOD = "how did the battery life of the buoys at sea grow so long"
FAR = "when should tomatoes get water"


@pytest.fixture(scope="module")
def stored(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """What the tests have copies of."""
    folder, settings = tmp_path_factory.mktemp("docs"), stock()
    for name, text in POSTS.items():
        (folder / name).write_text(text)
    ingest(settings, [str(folder)])
    return settings


@pytest.fixture
def engine(stored: Settings, make_settings: MakeSettings) -> QueryEngine:
    return build_query_engine(make_settings(stored))


def asked(engine: QueryEngine, reply: str = "", question: str = QUESTION, **changes: Any) -> SearchReport:
    given = {"mode": "always", "kinds": ("rewrite",), "seconds": 30.0, **changes}
    tuned = engine.with_changes({f"escalation.{name}": value for name, value in given.items()})
    return replace(tuned, llm=ScriptedLLM(reply=reply) if reply else None).search(question)


def order(report: SearchReport) -> list[tuple[str, float]]:
    return [(result.node_id, result.score) for result in report.results]


def test_a_good_rewrite_is_kept_and_the_trace_says_why(engine: QueryEngine) -> None:
    report = asked(engine, f"Sure! Here is the question:\n\n1. {GOOD}")
    base, rewrite = report.trace.attempts
    assert rewrite.kept
    assert rewrite.search_text == GOOD
    assert report.evidence.strength == rewrite.evidence.strength > base.evidence.strength
    assert {"auto", "rewrite"} <= set(report.trace.tags)
    assert report.results[0].document_name == "buoys.md"


def test_a_rewrite_about_something_else_leaves_the_search_as_it_was(engine: QueryEngine) -> None:
    report, plain = asked(engine, FAR), asked(engine, mode="off")
    assert not report.trace.attempts[1].kept
    assert order(report) == order(plain)
    assert report.evidence == plain.evidence


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reply", ["", "]", "'; DROP TABLE documents; --", "\x00\ud800", "%s %(x)s {0}", "a" * 20_000])
def test_no_reply_breaks_a_search(engine: QueryEngine, kind: str, reply: str) -> None:
    report = asked(engine, reply or " ", f"{QUESTION} and why", kinds=(kind,))
    assert order(report) == order(asked(engine, question=f"{QUESTION} and why", mode="off"))


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_without_a_language_model_weak_evidence_is_searched_for_once_and_abstained(
    engine: QueryEngine, mode: str
) -> None:
    tuned = engine.with_changes({"escalation.mode": mode})
    question = "Which submarine volcanoes erupted near Kamchatka?"
    assert [attempt.name for attempt in tuned.search(question).trace.attempts] == ["base"]
    answer = tuned.ask(question)
    assert not answer.answered
    assert [question.strip("?") in searched for searched in answer.searched] == [True]


# The replay


def test_a_replay_counts_the_good_that_were_kept_and_the_bad_that_were_not(engine: QueryEngine, tmp_path: Path) -> None:
    topics, replies = tmp_path / "topics.jsonl", tmp_path / "replies.jsonl"
    quotes = [{"document": "buoys.md", "text": "cut the average current from 41 mA to 18 mA"}]
    topic = {"id": "t", "question": QUESTION, "answerable": True, "kind": "how", "quotes": quotes, "facts": []}
    topics.write_text(json.dumps(topic))
    said = [{"topic": "t", "kind": "rewrite", "good": True, "reply": GOOD},
            {"topic": "t", "kind": "rewrite", "good": False, "reply": FAR}]  # fmt: skip
    replies.write_text("\n".join(map(json.dumps, said)))
    report = evaluate_replies(engine, topics, replies)
    row = report["kinds"]["rewrite"]
    assert (row["good"], row["good_kept"], row["bad"], row["bad_rejected"]) == (1, 1, 1, 1)
    assert row["success@5_before"] == row["success@5_after"] == 1.0
    assert row["strength_after"] > row["strength_before"]
    assert report["kinds"]["all"] == row
    assert report["wrong"] == []


@pytest.mark.parametrize("line", ["{", '{"topic": "t"}', '{"topic": "t", "kind": "poem", "good": true, "reply": ""}'])
def test_a_line_that_is_no_reply_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "replies.jsonl").write_text(line)
    with pytest.raises(SourceError, match="Line 1"):
        load_replies(tmp_path / "replies.jsonl")


def test_the_committed_replies_are_thirty_or_more_and_a_third_of_them_bad() -> None:
    replies = load_replies(ROOT / "data" / "eval" / "rewrites.jsonl")
    topics = {json.loads(line)["id"] for line in (ROOT / "data" / "eval" / "topics.jsonl").read_text().splitlines()}
    assert len(replies) >= 30
    assert 1 / 3 <= sum(not reply.good for reply in replies) / len(replies) <= 0.4
    assert {reply.kind for reply in replies} == set(KINDS)
    assert {reply.topic for reply in replies} <= topics
