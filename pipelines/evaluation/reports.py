"""Reports of `footnote eval answers`, stored as runs: the newest one is shown by the chat's page Health."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from config.settings import Settings
from pipelines.evaluation.answers import AnswerReport, evaluate_answers
from pipelines.evaluation.corpus import Progress, no_progress, portfolio_engine, with_cached_vectors
from pipelines.evaluation.datasets import load_topics
from pipelines.query.engine import build_query_engine
from pipelines.store.database import read_rows, writing
from pipelines.store.query_log import jsonable
from pipelines.store.schema import evaluations

SYSTEM = "default"  # the one whose answers are kept
_KEPT = 20  # reports


def own_topics(home: Path) -> Path:
    """Where the owner's judged questions about the stored documents stand, if there are any."""
    return home / "eval" / "topics.jsonl"


def keep_report(engine: Engine, dataset: str, done: AnswerReport) -> None:
    """Store the measures and answers of a report's first system as the newest run; the oldest of many go."""
    name = SYSTEM if SYSTEM in done.systems else next(iter(done.systems))
    missed = {row["id"]: row["why"] for row in done.misses[name]}
    topics = [{**row, "missed": missed.get(key, [])} for key, row in done.per_topic[name].items()]
    report = {
        "dataset": dataset, "system": name, "fingerprint": done.fingerprint,
        "measures": done.systems[name], "kinds": done.kinds[name], "topics": topics,
    }  # fmt: skip
    e = evaluations.c
    kept = select(e.id).order_by(e.id.desc()).limit(_KEPT).scalar_subquery()
    with writing(engine, "storing an evaluation") as connection:
        connection.execute(insert(evaluations).values(report=jsonable(report)))
        connection.execute(delete(evaluations).where(e.id.not_in(kept)))


def newest_report(engine: Engine) -> Mapping[str, Any] | None:
    """The newest report as `keep_report` stored it, with the time in `at`; None if there is none."""
    e = evaluations.c
    rows = read_rows(engine, "reading an evaluation", select(e.made_at, e.report).order_by(e.id.desc()).limit(1))
    return {**rows[0].report, "at": rows[0].made_at.isoformat(timespec="seconds")} if rows else None


def evaluate_and_keep(settings: Settings, kept_in: Engine, sample: Path, on_progress: Progress = no_progress) -> None:
    """Ask the owner's topics about the stored documents, else those of the sample about the sample; keep the report."""
    own = own_topics(settings.home.resolve())
    if own.is_file():
        dataset, topics = "your questions", load_topics(own)
        engine = with_cached_vectors(build_query_engine(settings))
    else:
        dataset, topics = "questions of the sample", load_topics(sample.parent / "eval" / "topics.jsonl")
        engine = portfolio_engine(settings, sample, name="portfolio", on_progress=on_progress)
    try:
        keep_report(kept_in, dataset, evaluate_answers(engine, topics, {SYSTEM: {}}, on_progress=on_progress))
    finally:
        engine.close()
