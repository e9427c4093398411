import json
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.datasets import load_beir, load_topics
from pipelines.evaluation.gate import MEASURES, QUOTED, compare_gate, read_baseline, write_baseline

DATA = Path(__file__).parents[3] / "data"
TOPICS = [f"t{number}" for number in range(20)]
HIGH, LOW = dict.fromkeys(TOPICS, 1.0), dict.fromkeys(TOPICS, 0.8)
SMALL = DATA / "eval" / "small"


def test_a_set_that_lost_on_every_topic_fell_and_the_other_did_not() -> None:
    portfolio, small = compare_gate({"portfolio": HIGH, "small": HIGH}, {"portfolio": LOW, "small": HIGH})
    assert (portfolio.change.fell, small.change.fell) == (True, False)
    assert (portfolio.baseline, portfolio.now) == (1.0, pytest.approx(0.8))


def test_a_rise_is_no_fall() -> None:
    assert not any(
        v.change.fell for v in compare_gate({"portfolio": LOW, "small": LOW}, {"portfolio": HIGH, "small": HIGH})
    )


def test_other_topics_than_those_of_the_baseline_are_refused() -> None:
    with pytest.raises(SourceError, match="t99") as raised:
        compare_gate(
            {"portfolio": HIGH, "small": HIGH}, {"portfolio": {**HIGH, "t0": 1.0, "t99": 1}, "small": {"x": 1}}
        )
    assert "--write" in raised.value.hint


def test_writing_a_baseline_keeps_the_rest_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"note": "kept", "gate": {"small": {"old": 1}}}))
    write_baseline(path, {"small": {"s01": 0.5}})
    assert read_baseline(path) == {"small": {"s01": 0.5}}
    assert json.loads(path.read_text())["note"] == "kept"


def test_a_baseline_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"baseline\.json"):
        read_baseline(tmp_path / "baseline.json")


def test_the_small_set_is_sound() -> None:
    dataset = load_beir(SMALL)
    known = {item.id for item in dataset.corpus}
    assert (len(known), len(dataset.topics)) == (120, 62)
    assert all(judged.keys() <= known for judged in dataset.qrels.values())
    assert sum(path.stat().st_size for path in SMALL.rglob("*.*")) < 200_000


def test_the_baseline_holds_the_answerable_topics_of_every_set() -> None:
    baseline = read_baseline(DATA / "eval" / "baseline.json")
    assert baseline.keys() == MEASURES.keys()
    for name, (judged, documents) in QUOTED.items():
        topics = load_topics(DATA / judged)
        assert baseline[name].keys() == {topic.id for topic in topics if topic.answerable}
        assert (DATA / documents).is_dir()
