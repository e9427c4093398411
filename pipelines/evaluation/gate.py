"""The gate: the portfolio topics and a small judged set, each topic against a committed baseline."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.compare import Comparison, compare
from pipelines.evaluation.datasets import load_topics
from pipelines.evaluation.judged import Progress, judged, no_progress
from pipelines.evaluation.portfolio import portfolio_engine, right_quote

MEASURES = {"portfolio": "success@5", "small": "nDCG@10"}
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a set's mean (0..1) stands against its baseline."""

    name: str
    measure: str
    baseline: float
    now: float
    change: Comparison


def measure_gate(settings: Settings, data: Path, on_progress: Progress = no_progress) -> dict[str, dict[str, float]]:
    """By set, by topic: success@5 over the portfolio of `data`/sample, nDCG@10 over `data`/eval/small.

    Both are indexed in databases of their own, where what is unchanged stays from one call to the next.

    Raises:
        SourceError: If a file of `data` is missing, or a document of the sample cannot be ingested.
        ConfigError: If the server does not let a database be made.
    """
    small = judged(settings, data / "eval" / "small", on_progress)
    ranked = small.scores({}, [MEASURES["small"]], label="small", on_progress=on_progress)
    return {
        "portfolio": _portfolio(settings, data, on_progress),
        "small": {topic: round(row[MEASURES["small"]], 4) for topic, row in ranked.items()},
    }


def compare_gate(baseline: Mapping[str, Scores], now: Mapping[str, Scores]) -> list[Verdict]:
    """Each set's verdict.

    Raises:
        SourceError: If the topics are not those of the baseline.
    """
    verdicts = []
    for name, measure in MEASURES.items():
        then = baseline.get(name, {})
        if then.keys() != now[name].keys():
            odd = sorted(then.keys() ^ now[name].keys())
            raise SourceError(
                f"The topics of {name} are not those of the baseline: {', '.join(odd[:5])}.",
                hint="Run `footnote eval baseline --write` and commit the file.",
            )
        change = compare([then[topic] for topic in then], [now[name][topic] for topic in then])
        verdicts.append(Verdict(name, measure, _mean(then), _mean(now[name]), change))
    return verdicts


def read_baseline(path: Path) -> dict[str, dict[str, float]]:
    """The committed scores, by set, by topic; empty when none were ever written.

    Raises:
        SourceError: If the file cannot be read.
    """
    try:
        gate: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8")).get("gate", {})
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read.", hint="It is part of the project: check it out again.") from error
    return gate


def write_baseline(path: Path, scores: Mapping[str, Scores]) -> None:
    """Put these scores in the place of the gate's baseline; the rest of the file stays."""
    held = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**held, "gate": scores}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _portfolio(settings: Settings, data: Path, on_progress: Progress) -> dict[str, float]:
    engine = portfolio_engine(settings, data / "sample", on_progress=on_progress)
    topics = [topic for topic in load_topics(data / "eval" / "topics.jsonl") if topic.answerable]
    scores = {}
    for done, topic in enumerate(topics, start=1):
        scores[topic.id] = float(right_quote(topic, engine.search(topic.question, top_n=5, record=False).results))
        on_progress("portfolio", done, len(topics))
    return scores


def _mean(scores: Scores) -> float:
    return sum(scores.values()) / len(scores) if scores else 0.0
