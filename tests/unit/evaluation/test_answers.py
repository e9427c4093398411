from dataclasses import replace
from typing import Any

import pytest

from pipelines.answers import Answer, Citation, Conflict, Sentence, Source
from pipelines.evaluation.answers import (
    answer_length,
    answer_precision,
    found_measures,
    misses,
    overlaps,
    places_of,
    right_quote,
    summary,
    summary_by_kind,
)
from pipelines.evaluation.datasets import Quote, Topic
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


def test_a_quote_in_several_documents_is_found_in_any_of_them() -> None:
    asked = topic(("resume.pdf", WORDS), ("resume.docx", WORDS))
    found = found_measures(asked, [result(1, "talk.md", "else"), result(2, "resume.docx", WORDS)])
    assert found == {"success@1": False, "success@5": True, "document@5": True}
    assert right_quote(asked, [result(1, "resume.docx", WORDS)])
    assert not any(found_measures(asked, []).values())


def row(name: str, answerable: bool, answered: bool, **found: Any) -> dict[str, Any]:
    measures = {"success@1": 1, "success@5": 1, "document@5": True, "facts": answered}
    measures["precision"] = 1.0 if answered else None
    said = {"answered": answered, "confidence": "high", "words": 10 * answered}
    return {"id": name, "question": "?", "kind": "fact", "answerable": answerable, **said} | (
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
    assert (found["n_high"], found["n_medium"], found["n_low"]) == (3, 0, 1)


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


def test_precision_is_the_mean_over_the_answered_answerable_topics() -> None:
    rows = [row("a", True, True, precision=0.5), row("b", True, True), row("c", True, False), row("d", False, True)]
    assert summary(rows)["precision"] == 0.75


def test_lengths_are_those_of_all_answers_and_of_no_abstention() -> None:
    rows = [row(str(n), n % 2 == 0, True) | {"words": n} for n in range(1, 22)]
    assert summary([*rows, row("silent", True, False)])["words"] == 11


def test_each_kind_of_question_is_summed_up_by_itself_the_most_frequent_first() -> None:
    rows = [row("a", True, True) | {"kind": "list"}, row("b", True, True, facts=False), row("c", False, False)]
    found = summary_by_kind(rows)
    assert list(found) == ["fact", "list"]
    assert (found["fact"]["answerable"], found["fact"]["unanswerable"]) == (1, 1)
    assert (found["fact"]["facts"], found["fact"]["abstention_recall"], found["list"]["facts"]) == (0.0, 1.0, 1.0)


# Precision and length of an answer

TEXT = """# Kran

Far before. Before it. She built the *crane* in 2014. After it. Far after.

- one
- two
- three
"""


@pytest.mark.parametrize(
    ("quote", "wide"),
    [
        ("built the *crane*", "Before it. She built the *crane* in 2014. After it."),
        ("built  THE\n*crane*", "Before it. She built the *crane* in 2014. After it."),
        ("in 2014. After it.", "Before it. She built the *crane* in 2014. After it. Far after."),
        ("- two", "- one\n- two\n- three"),
        ("Kran", "# Kran\n\nFar before."),
        ("She built the *crane* | broken off elsewhere", "Before it. She built the *crane* in 2014. After it."),
    ],
    ids=["part", "folded", "two-sentences", "item", "first", "half"],
)
def test_a_quote_stands_with_the_sentence_before_and_the_one_after(quote: str, wide: str) -> None:
    [(start, end)] = places_of(quote, TEXT)
    assert TEXT[start:end].strip("- \n") == wide.strip("- \n")


def test_a_quote_stands_wherever_it_is_repeated_or_nowhere() -> None:
    assert len(places_of("$ run", "$ run\n\nOne. Two. Three.\n\n$ run\n")) == 2
    assert places_of("not there at all", TEXT) == []


def said(text: str, *sentences: str, cites: str = "d1") -> Answer:
    """An answer whose sentences each cite the first three characters of a document."""
    source = Source(1, cites, "a.md", "", "", "", "blog", None, 1, 1, (), WORDS, 0, len(WORDS), ())
    cited = Citation(1, cites, "", 0, 3, WORDS[:3], "supported", 1.0)
    return Answer(
        "?", bool(sentences), "high", "extractive", "", text,
        tuple(Sentence(each, (1,), "supported", (cited,)) for each in sentences), (source,),
        conflicts=(Conflict("value", "But the other says 2015. [1] [2]", (cited, cited)),),
        searched=("crane (hybrid: nothing said it)",),
    )  # fmt: skip


def test_precision_is_the_share_of_sentences_that_cite_a_place_of_their_document() -> None:
    answer = said("One. [1] Two. [1]", "One.", "Two.")
    assert answer_precision(answer, {"d1": [(2, 20)]}) == 1.0
    assert answer_precision(answer, {"d1": [(3, 20)], "d2": [(0, 3)]}) == 0.0  # beside the words, in another document
    elsewhere = replace(answer.sentences[0], evidence=())
    assert answer_precision(replace(answer, sentences=(elsewhere, answer.sentences[1])), {"d1": [(0, 1)]}) == 1 / 2
    assert answer_precision(said("I searched for cranes and found nothing."), {"d1": [(0, 9)]}) == 0.0


@pytest.mark.parametrize(
    ("text", "sentences", "words"),
    [
        ("One two. [1] Three. [1]", ["One two.", "Three."], 3),
        ("- One two. [1]\n- Three. [1]", ["One two.", "Three."], 0),
        ("1. One two. [1]\n2. Three. [1]", ["One two.", "Three."], 0),
        ("Run this: [1]\n\n```\nmake all\n```", ["Run this:", "make all"], 2),
        ("## The crane\n\nOne two. [1]", ["One two."], 4),
        ("I searched for cranes and found nothing.", [], 0),
    ],
    ids=["prose", "bullets", "numbers", "code", "heading", "abstention"],
)
def test_words_are_counted_without_markers_and_apart_from_lists_and_code(
    text: str, sentences: list[str], words: int
) -> None:
    assert answer_length(said(text, *sentences)) == words
