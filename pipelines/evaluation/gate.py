"""The gate of the tests: what ranking must reach on the judged sets of the project, topic by topic."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.answers import right_quote
from pipelines.evaluation.corpus import Progress, no_progress, portfolio_engine
from pipelines.evaluation.datasets import load_topics
from pipelines.evaluation.experiment import index_judged_sets
from pipelines.evaluation.measures import Comparison, compare

Scores = Mapping[str, float]


# Sets with quoted answers: where in `data` their topics and their documents are. A further set is a line here;
# `footnote eval baseline --write` then gives it its baseline.
QUOTED = {
    "portfolio": ("eval/topics.jsonl", "sample"),
    "qa": ("eval/qa/topics.jsonl", "eval/qa/documents"),
}
MEASURES = {**dict.fromkeys(QUOTED, "success@5"), "small": "nDCG@10"}


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """A set's mean (0..1) compared with its baseline."""

    name: str
    measure: str
    baseline: float
    now: float
    change: Comparison


def measure_gate(settings: Settings, data: Path, on_progress: Progress = no_progress) -> dict[str, dict[str, float]]:
    """By set, by topic: success@5 over each of QUOTED, nDCG@10 over `data`/eval/small.

    Each is indexed in its own database, where unchanged documents are kept from one call to the next.
    """
    scores: dict[str, dict[str, float]] = {}
    for name, (judged, documents) in QUOTED.items():
        engine = portfolio_engine(settings, data / documents, name=name, on_progress=on_progress)
        topics = [topic for topic in load_topics(data / judged) if topic.answerable]
        scores[name] = {}
        for done, topic in enumerate(topics, start=1):
            results = engine.search(topic.question, top_n=5, record=False).results
            scores[name][topic.id] = float(right_quote(topic, results))
            on_progress(name, done, len(topics))
    [small] = index_judged_sets(settings, [data / "eval" / "small"], on_progress)
    ranked = small.scores({}, [MEASURES["small"]], label="small")
    return scores | {"small": {topic: round(row[MEASURES["small"]], 4) for topic, row in ranked.items()}}


def compare_gate(baseline: Mapping[str, Scores], now: Mapping[str, Scores]) -> list[GateVerdict]:
    """The verdict of each set that was measured.

    Raises:
        SourceError: If the topics are not those of the baseline.
    """
    verdicts = []
    for name in now:
        then = baseline.get(name, {})
        if then.keys() != now[name].keys():
            odd = sorted(then.keys() ^ now[name].keys())
            raise SourceError(
                f"The topics of {name} are not those of the baseline: {', '.join(odd[:5])}.",
                hint="Run `footnote eval baseline --write` and commit the file.",
            )
        change = compare([then[topic] for topic in then], [now[name][topic] for topic in then])
        verdicts.append(GateVerdict(name, MEASURES[name], fmean(then.values()), fmean(now[name].values()), change))
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
