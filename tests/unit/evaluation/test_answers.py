import json
from math import log2
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.answers import (
    compare_gate,
    misses,
    overlaps,
    ranking_measures,
    read_baseline,
    right_quote,
    summary,
    write_baseline,
)
from pipelines.evaluation.datasets import Quote, Topic, load_beir
from pipelines.types import SearchResult

WORDS = "She built the crane in 2014."


def result(rank: int, document: str, text: str) -> SearchResult:
    given: dict[str, Any] = {
        "rank": rank, "node_id": f"n{rank}", "document_id": document, "document_name": document, "title": "",
        "category": "blog", "section_path": (), "kind": "text", "page": None, "line_start": 1, "line_end": 1,
        "start": 0, "end": len(text), "text": text, "score": 1.0, "dense": None, "sparse": None, "fused": 1.0,
        "factors": {},
    }  # fmt: skip
    return SearchResult(**given)


def topic(*quotes: tuple[str, str]) -> Topic:
    return Topic("t1", "Who built it?", True, "fact", tuple(Quote(*quote) for quote in quotes), ("crane",))


def test_a_result_overlaps_a_quote_that_it_holds_or_half_of_which_it_holds_from_an_edge() -> None:
    quote = Quote("a.md", WORDS)
    half = len(WORDS) // 2
    assert overlaps(quote, result(1, "a.md", f"Then.\n{WORDS.replace(' ', chr(10))} Now."))
    assert overlaps(quote, result(1, "a.md", f"before {WORDS[:half]}"))
    assert overlaps(quote, result(1, "a.md", f"{WORDS[half:]} after"))
    assert not overlaps(quote, result(1, "a.md", f"before {WORDS[: half - 2]}"))
    assert not overlaps(quote, result(1, "b.md", WORDS))


def test_a_quote_in_several_documents_is_one_item_that_any_of_them_finds() -> None:
    asked = topic(("resume.pdf", WORDS), ("resume.docx", WORDS))
    found = ranking_measures(asked, [result(1, "talk.md", "else"), result(2, "resume.docx", WORDS)])
    assert found == {"success@1": 0.0, "success@5": 1.0, "RR@10": 1 / 2, "nDCG@10": (1 / log2(3)) / 1}
    assert right_quote(asked, [result(1, "resume.docx", WORDS)])


def test_a_second_result_that_overlaps_the_same_quote_brings_nothing() -> None:
    asked = topic(("a.md", WORDS), ("b.md", "Another said so."))
    twice = [result(1, "a.md", WORDS), result(2, "a.md", f"again {WORDS}"), result(3, "b.md", "Another said so.")]
    ideal = 1 + 1 / log2(3)
    assert ranking_measures(asked, twice)["nDCG@10"] == (1 + 1 / log2(4)) / ideal
    assert ranking_measures(asked, [result(1, "a.md", WORDS), result(2, "b.md", "Another said so.")])["nDCG@10"] == 1.0


def test_nothing_found_scores_nothing() -> None:
    assert set(ranking_measures(topic(("a.md", WORDS)), []).values()) == {0.0}


def row(name: str, answerable: bool, answered: bool, **found: Any) -> dict[str, Any]:
    measures = {"success@1": 1, "success@5": 1, "RR@10": 1, "nDCG@10": 1, "document@5": True, "facts": answered}
    return {"id": name, "question": "?", "answerable": answerable, "answered": answered, "confidence": "high"} | (
        measures | found if answerable else {}
    )


def test_abstention_is_right_where_nothing_answers() -> None:
    rows = [row("a", True, True), row("b", True, False), row("c", False, False), row("d", False, True)]
    found = summary([*rows, row("e", False, False)])
    assert (found["abstention_precision"], found["abstention_recall"]) == (2 / 3, 2 / 3)
    assert found["abstention_F1"] == 2 * 2 / (3 + 3)
    assert (found["answered"], found["facts"]) == (1 / 2, 1 / 2)


def test_a_confidence_is_right_as_often_as_its_answers_hold_the_facts() -> None:
    rows = [row("a", True, True), row("b", True, True, facts=False), row("c", False, True), row("d", True, False)]
    low = row("e", True, True) | {"confidence": "low"}
    found = summary([*rows, low])
    assert (found["right_high"], found["right_medium"], found["right_low"]) == (1 / 3, 0.0, 1.0)


def test_no_topics_have_measures_of_nothing() -> None:
    assert set(summary([]).values()) == {0.0}


def test_a_miss_is_listed_once_with_all_its_reasons() -> None:
    rows = [
        row("a", True, True), row("b", True, False, **{"success@5": 0.0}), row("c", False, True),
        row("d", False, False), row("e", True, True, facts=False),
    ]  # fmt: skip
    assert [(miss["id"], miss["why"]) for miss in misses(rows)] == [
        ("b", ["success@5", "answered"]), ("c", ["answered"]), ("e", ["facts"]),
    ]  # fmt: skip


TOPICS = [f"t{number}" for number in range(20)]
HIGH, LOW = dict.fromkeys(TOPICS, 1.0), dict.fromkeys(TOPICS, 0.8)
SMALL = Path(__file__).parents[3] / "data" / "eval" / "small"


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
