"""The gate of the tests: what ranking must reach on the judged sets of the project, topic by topic.

python -m tests.bench.gate           # each set's mean beside its baseline in data/eval/baseline.json
python -m tests.bench.gate --write   # write today's scores as the baseline
"""

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from config.settings import Settings, get_settings
from pipelines.evaluation.answers import right_quote
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import load_topics
from pipelines.evaluation.experiment import index_judged_sets
from pipelines.evaluation.measures import Comparison, compare
from tests.bench import arguments, show

Scores = Mapping[str, float]  # by topic
DATA = Path(__file__).parents[2] / "data"
BASELINE = DATA / "eval" / "baseline.json"
# Sets with quoted answers: where in `data` their topics and their documents are. A further set is a line here;
# `--write` then gives it its baseline.
QUOTED = {
    "portfolio": ("eval/topics.jsonl", "sample"),
    "qa": ("eval/qa/topics.jsonl", "eval/qa/documents"),
}
SMALL = "nDCG@10"  # the measure of data/eval/small; that of QUOTED is success@5


def measure_gate(settings: Settings) -> dict[str, dict[str, float]]:
    """By set, by topic: success@5 over each of QUOTED, nDCG@10 over `data/eval/small`."""
    scores: dict[str, dict[str, float]] = {}
    for name, (judged, documents) in QUOTED.items():
        engine = portfolio_engine(settings, DATA / documents, name=name)
        scores[name] = {
            topic.id: float(right_quote(topic, engine.search(topic.question, top_n=5, record=False).results))
            for topic in load_topics(DATA / judged)
            if topic.answerable
        }
    [small] = index_judged_sets(settings, [DATA / "eval" / "small"])
    return scores | {"small": {topic: round(row[SMALL], 4) for topic, row in small.scores({}, [SMALL]).items()}}


def compare_gate(baseline: Mapping[str, Scores], now: Mapping[str, Scores]) -> dict[str, Comparison]:
    """By set, how it differs from its baseline; the topics must be the same."""
    for name, scores in now.items():
        odd = sorted(baseline.get(name, {}).keys() ^ scores.keys())
        assert not odd, f"the topics of {name} are not those of the baseline: {odd[:5]}; run it with --write"
    return {name: compare([baseline[name][topic] for topic in of], [*of.values()]) for name, of in now.items()}


def fell(change: Comparison) -> bool:
    """True if a set is worse by more than chance gives in one case of twenty."""
    return change.difference < 0 and change.p < 0.05


def read_baseline(path: Path = BASELINE) -> dict[str, Any]:
    """The committed scores, by set, by topic."""
    return dict(json.loads(path.read_text(encoding="utf-8"))["gate"])


def write_baseline(scores: Mapping[str, Scores], path: Path = BASELINE) -> None:
    """Put these scores in the place of the gate's baseline; the rest of the file stays."""
    held = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**held, "gate": scores}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = arguments("gate", __doc__)
    parser.add_argument("--write", action="store_true", help="write these scores as the baseline of the tests")
    given, today = parser.parse_args(), measure_gate(get_settings())
    if given.write:
        write_baseline(today)
    changes = compare_gate(read_baseline(), today)
    means = {name: fmean(of.values()) for name, of in today.items()}
    show({"means": means, "against the baseline": changes, "fell": [name for name in changes if fell(changes[name])]})
