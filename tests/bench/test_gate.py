import json
from pathlib import Path

import pytest

from pipelines.evaluation.datasets import load_beir, load_topics
from tests.bench.gate import DATA, QUOTED, compare_gate, fell, read_baseline, write_baseline

HIGH, LOW = ({f"t{number}": score for number in range(20)} for score in (1.0, 0.8))


def test_a_set_that_lost_on_every_topic_fell_and_the_other_did_not() -> None:
    changes = compare_gate({"portfolio": HIGH, "small": HIGH}, {"portfolio": LOW, "small": HIGH})
    assert {name: fell(change) for name, change in changes.items()} == {"portfolio": True, "small": False}


def test_a_rise_and_one_topic_that_lost_are_no_fall() -> None:
    assert not fell(compare_gate({"small": LOW}, {"small": HIGH})["small"])
    assert not fell(compare_gate({"small": HIGH}, {"small": {**HIGH, "t0": 0.4}})["small"])


def test_other_topics_than_those_of_the_baseline_are_refused() -> None:
    with pytest.raises(AssertionError, match=r"t99.*--write"):
        compare_gate({"small": HIGH}, {"small": {**HIGH, "t99": 1.0}})


def test_writing_a_baseline_keeps_the_rest_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"note": "kept", "gate": {"small": {"old": 1}}}))
    write_baseline({"small": {"s01": 0.5}}, path)
    assert read_baseline(path) == {"small": {"s01": 0.5}}
    assert json.loads(path.read_text())["note"] == "kept"


def test_the_small_set_is_sound() -> None:
    small = DATA / "eval" / "small"
    dataset = load_beir(small)
    known = {item.id for item in dataset.corpus}
    assert (len(known), len(dataset.topics)) == (120, 62)
    assert all(judged.keys() <= known for judged in dataset.qrels.values())
    assert sum(path.stat().st_size for path in small.rglob("*.*")) < 200_000


def test_the_baseline_holds_the_answerable_topics_of_every_set() -> None:
    baseline = read_baseline()
    assert baseline.keys() == {*QUOTED, "small"}
    for name, (judged, documents) in QUOTED.items():
        topics = load_topics(DATA / judged)
        assert baseline[name].keys() == {topic.id for topic in topics if topic.answerable}
        assert (DATA / documents).is_dir()
