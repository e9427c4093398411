"""Reports of `footnote eval answers`, kept under FOOTNOTE_HOME: the newest one is shown by the chat's page Health."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from config.settings import Settings
from pipelines.evaluation.answers import AnswerReport, evaluate_answers
from pipelines.evaluation.corpus import Progress, no_progress, portfolio_engine, with_cached_vectors
from pipelines.evaluation.datasets import load_topics
from pipelines.query.engine import build_query_engine

SYSTEM = "default"  # the one whose answers are kept


def own_topics(home: Path) -> Path:
    """Where the owner's judged questions about the stored documents stand, if there are any."""
    return home / "eval" / "topics.jsonl"


def keep_report(home: Path, dataset: str, done: AnswerReport) -> Path:
    """Write the measures and answers of a report's first system as the newest one; returns the file."""
    name = SYSTEM if SYSTEM in done.systems else next(iter(done.systems))
    now = datetime.now(UTC)
    missed = {row["id"]: row["why"] for row in done.misses[name]}
    topics = [{**row, "missed": missed.get(key, [])} for key, row in done.per_topic[name].items()]
    report = {
        "at": now.isoformat(timespec="seconds"), "dataset": dataset, "system": name, "fingerprint": done.fingerprint,
        "measures": done.systems[name], "kinds": done.kinds[name], "topics": topics,
    }  # fmt: skip
    path = home / "eval" / "answers" / f"{now:%Y%m%dT%H%M%S%f}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def newest_report(home: Path) -> Mapping[str, Any] | None:
    """The newest report as `keep_report` wrote it; None if there is none that can be read."""
    for path in sorted((home / "eval" / "answers").glob("*.json"), reverse=True):
        with suppress(OSError, ValueError):  # half written
            return dict(json.loads(path.read_text("utf-8")))
    return None


def evaluate_and_keep(settings: Settings, sample: Path, on_progress: Progress = no_progress) -> Path:
    """Ask the owner's topics about the stored documents, else those of the sample about the sample; keep the report.

    Raises:
        SourceError: If the topics cannot be read, or no quoted document is stored.
    """
    home, own = settings.home.resolve(), own_topics(settings.home.resolve())
    if own.is_file():
        dataset, topics = "your questions", load_topics(own)
        engine = with_cached_vectors(build_query_engine(settings))
    else:
        dataset, topics = "questions of the sample", load_topics(sample.parent / "eval" / "topics.jsonl")
        engine = portfolio_engine(settings, sample, name="portfolio", on_progress=on_progress)
    try:
        return keep_report(home, dataset, evaluate_answers(engine, topics, {SYSTEM: {}}, on_progress=on_progress))
    finally:
        engine.database.engine.dispose()
