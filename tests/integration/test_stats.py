import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.cli.maintenance import Statistics
from app.cli.output import emit
from config.settings import Settings
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.database import open_database
from pipelines.store.query_log import Feedback, save_feedback
from pipelines.store.schema import feedback, queries
from pipelines.store.statistics import statistics
from pipelines.types import Turn
from tests.fake_openai import FakeOpenAI

TODAY = date(2026, 3, 10)
CRANE = "How many containers did the harbour crane move?"


@pytest.fixture
def engine(settings: Settings) -> Engine:
    return open_database(settings).engine


def log_query(engine: Engine, number: int, **changes: Any) -> str:
    """A logged answer of today; its id."""
    row = {
        "id": f"{number:016x}", "asked_at": datetime(2026, 3, 10, 12, tzinfo=UTC), "kind": "ask", "question": "Why?",
        "audience": "owner", "corpus_version": 1, "settings": "s", "trace": {}, "answer": {"confidence": "high"},
        "latency_ms": 0.0, "route": "base", "tags": [], "timings_ms": {}, "usage": {}, "band": "high",
        "answered": True, "cost": 0.0,
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(queries.insert().values({**row, **changes}))
    return str(row["id"])


def test_percentiles_are_interpolated_between_the_nearest_ranks(engine: Engine) -> None:
    latencies = [10.0, 20.0, 30.0, 40.0, 1000.0]
    for number, ms in enumerate(latencies):
        log_query(engine, number, latency_ms=ms, timings_ms={"write": ms / 10, "total": ms})
    log_query(engine, 99, kind="search", answer=None, answered=None, latency_ms=7.0, timings_ms={"embed": 3.0})
    report = statistics(engine, 1, today=TODAY)
    p95, p99 = 40 + (0.95 * 4 - 3) * 960, 40 + (0.99 * 4 - 3) * 960  # rank p * (n - 1) from 0, between 40 and 1000
    assert report["latency_ms"] == {
        "ask": {"count": 5, "p50": 30.0, "p95": pytest.approx(p95), "p99": pytest.approx(p99)},
        "search": {"count": 1, "p50": 7.0, "p95": 7.0, "p99": 7.0},
    }
    assert report["stages_ms"] == {
        "write": {"count": 5, "p50": 3.0, "p95": pytest.approx(p95 / 10), "p99": pytest.approx(p99 / 10)},
        "embed": {"count": 1, "p50": 3.0, "p95": 3.0, "p99": 3.0},
    }


def test_questions_are_counted_by_day_kind_and_route(engine: Engine) -> None:
    yesterday = datetime(2026, 3, 9, 23, 59, tzinfo=UTC)
    log_query(engine, 1)
    log_query(engine, 2, route="auto", answered=False, answer={"confidence": "low"})
    log_query(engine, 3, asked_at=yesterday, answer={"confidence": "medium"})
    log_query(engine, 4, asked_at=yesterday, kind="search", answer=None, answered=None)
    log_query(engine, 5, asked_at=yesterday - timedelta(days=1))
    report = statistics(engine, 2, today=TODAY)
    assert [tuple(row.values()) for row in report["by_day"]] == [
        ("2026-03-10", "ask", "auto", 1, 0, 1),
        ("2026-03-10", "ask", "base", 1, 1, 0),
        ("2026-03-09", "ask", "base", 1, 1, 0),
        ("2026-03-09", "search", "base", 1, 0, 0),
    ]
    assert (report["questions"], report["asked"], report["answered"], report["abstained"]) == (4, 3, 2, 1)
    assert report["confidence"] == {"high": 1, "medium": 1}
    assert statistics(engine, 1, today=TODAY)["questions"] == 2


def test_tokens_and_cost_add_up_by_day_and_an_unknown_price_is_counted_apart(engine: Engine) -> None:
    for number, (tokens, cost) in enumerate([(100, 0.001), (300, 0.003), (200, None)]):
        usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens, "calls": 2}
        log_query(engine, number, usage=usage | {"embedding_tokens": 5}, cost=cost)
    usage = statistics(engine, 1, today=TODAY)["usage"]
    (day,) = usage["by_day"]
    assert day == {
        "day": "2026-03-10", "answers": 3, "prompt_tokens": 570, "completion_tokens": 30, "total_tokens": 600,
        "embedding_tokens": 15, "estimated_tokens": 0, "calls": 6, "cost": pytest.approx(0.004), "unpriced": 1,
    }  # fmt: skip
    assert usage["per_answer"]["tokens"] == {"mean": 200.0, "p50": 200.0, "p95": 290.0, "p99": 298.0}
    assert usage["per_answer"]["cost"]["mean"] == usage["per_answer"]["cost"]["p50"] == pytest.approx(0.002)


def test_clicks_and_thumbs_are_counted_by_answer_number_and_place(engine: Engine) -> None:
    sources = [{"n": n, "document_id": "d", "node_ids": []} for n in (1, 2)]
    answer = {"confidence": "high", "sources": sources}
    first, second, _ = (log_query(engine, number, answer=answer) for number in range(3))
    for query, given in [
        (first, Feedback("opened", source=1, place="sentence")),
        (first, Feedback("opened", source=1, place="sentence")),
        (first, Feedback("opened", source=2, place="list")),
        (second, Feedback("opened", source=1, place="sentence")),
        (first, Feedback("thumb", 1)),
        (second, Feedback("thumb", -1)),
        (second, Feedback("wrong_source", source=2)),
        (second, Feedback("text", words="No.")),
    ]:
        save_feedback(engine, query, given, session="s", audience="owner", limit=100)
    report = statistics(engine, 1, today=TODAY)
    assert report["clicks"] == {
        "opened": 3, "answers": 2, "per_answer": 1.0, "share_of_answers": pytest.approx(2 / 3),
        "by_number": {"1": 2, "2": 1}, "by_place": {"list": 1, "sentence": 2},
    }  # fmt: skip
    assert report["feedback"] == {"up": 1, "down": 1, "wrong_source": 1, "text": 1}


def test_statistics_of_an_empty_log_are_zero(
    engine: Engine, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    report = statistics(engine, 7)
    assert (report["questions"], report["latency_ms"], report["usage"]["by_day"]) == (0, {}, [])
    assert report["usage"]["per_answer"]["cost"] == {"mean": None, "p50": None, "p95": None, "p99": None}
    emit(Statistics(report), False)
    assert "0 questions" in capsys.readouterr().out


# What an answer used


@pytest.fixture
def talking(make_settings: Callable[..., Settings], tmp_path: Path) -> Callable[..., Any]:
    """An engine whose answers a fake model writes, over two documents."""
    (tmp_path / "crane.md").write_text("# Crane\n\nThe harbour crane moved 40 containers an hour in 2014.\n")
    (tmp_path / "garden.md").write_text("# Garden\n\nTomatoes need sun. Water them every morning.\n")

    def make(fake: FakeOpenAI, **changes: Any) -> Any:
        llm = {"provider": "openai", "model": "fake", "api_base": fake.url, "retries": 0, "price": 2.0}
        settings = make_settings(llm=llm | {"completion_price": 10.0}, **changes)
        ingest(settings, [str(tmp_path)])
        return build_query_engine(settings)

    return make


def cite_the_crane(body: Any) -> str:
    found = re.search(r"<<source (\d+)[^>]*>>(?:(?!<</source).)*crane", json.dumps(body), re.DOTALL)
    return f"It moved 40 containers an hour [{found[1] if found else 1}]."


def test_a_model_that_is_asked_to_search_and_to_write_is_counted_twice(talking: Callable[..., Any]) -> None:
    with FakeOpenAI(reply=cite_the_crane) as fake:
        changes = {"mode": "always", "kinds": ("rewrite",), "seconds": 20.0}
        answer = talking(fake, escalation=changes).ask(CRANE)
        chats = [request for request in fake.requests if request.path.endswith("/chat/completions")]
    assert len(chats) == answer.usage["calls"] >= 2
    assert answer.usage["prompt_tokens"] == 7 * len(chats)  # as the fake reports
    read, written = answer.usage["prompt_tokens"], answer.usage["completion_tokens"]
    assert answer.usage["total_tokens"] == read + written
    assert answer.cost == pytest.approx((read * 2.0 + written * 10.0) / 1_000_000)


def test_every_request_of_a_follow_up_is_counted(talking: Callable[..., Any]) -> None:
    with FakeOpenAI(reply="The crane was painted pink in 1931 [1].") as fake:
        options = {"unsupported": "mark", "condense": "auto"}
        engine = talking(fake, answer=options, escalation={"mode": "off"})
        turn = Turn(CRANE, "It moved 40 containers an hour.", ("Crane",))
        answer = engine.ask("And when was it painted?", history=[turn])
        chats = [request for request in fake.requests if request.path.endswith("/chat/completions")]
    assert len(chats) == answer.usage["calls"] >= 2
    assert answer.usage["prompt_tokens"] == 7 * len(chats)


def test_usage_and_cost_are_logged_with_the_answer(talking: Callable[..., Any], capsys: Any) -> None:
    with FakeOpenAI(reply=cite_the_crane) as fake:
        engine = talking(fake)
        answer = engine.ask(CRANE)
    with engine.database.engine.connect() as connection:
        row = connection.execute(select(queries.c.usage, queries.c.cost)).one()
    assert (row.usage, row.cost) == (dict(answer.usage), answer.cost)
    report = Statistics(statistics(engine.database.engine, 1))
    emit(report, True)
    (day,) = json.loads(capsys.readouterr().out)["usage"]["by_day"]
    assert (day["cost"], day["total_tokens"]) == (answer.cost, answer.usage["total_tokens"])
    emit(report, False)
    assert f"{answer.cost:.6f}" in capsys.readouterr().out


def test_the_tokens_of_a_remote_embedding_model_are_counted(talking: Callable[..., Any]) -> None:
    with FakeOpenAI(reply=cite_the_crane) as fake:
        remote = {"provider": "openai", "model": "text-embedding-3-small", "dimension": 64, "pause_ms": 0}
        engine = talking(
            fake, embedding=remote, openai_api_key="sk-1", openai_api_base=fake.url, escalation={"mode": "off"}
        )
        engine.search(CRANE)
        with engine.database.engine.connect() as connection:
            usage, cost = connection.execute(select(queries.c.usage, queries.c.cost)).one()
    assert usage["embedding_tokens"] >= 1
    assert cost == pytest.approx(usage["embedding_tokens"] * 0.02 / 1_000_000)


def test_an_extractive_answer_of_local_models_uses_and_costs_nothing(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "crane.md").write_text("# Crane\n\nThe harbour crane moved 40 containers an hour in 2014.\n")
    ingest(settings, [str(tmp_path)])
    answer = build_query_engine(settings).ask(CRANE)
    assert (dict(answer.usage), answer.cost) == ({}, 0.0)


def test_statistics_never_hold_words_of_questions_or_readers(engine: Engine) -> None:
    query = log_query(engine, 1, question="A private matter?")
    save_feedback(engine, query, Feedback("text", words="Secret words."), session="who", audience="owner", limit=9)
    with engine.connect() as connection:
        assert connection.execute(select(feedback.c.words)).scalar() == "Secret words."
    said = json.dumps(statistics(engine, 1, today=TODAY))
    assert not re.search(r"private|secret|who", said, re.IGNORECASE)
