import json
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.datasets import Quote, Topic
from pipelines.evaluation.tune import Passage, labelled, load_feedback

TOPIC = Topic("t1", "How fast is the crane?", True, "fact", (Quote("crane.md", "40 containers an hour"),), ("40",))
UNANSWERABLE = Topic("t2", "Who painted it?", False, "fact", (), ())
GARDEN = Passage("1", "garden.md", "Tomatoes need sun; 40 containers an hour do not.")
CRANE = Passage("2", "crane.md", "It moves 40\ncontainers  an hour.")
OTHER = Passage("3", "crane.md", "It is yellow.")


def test_a_topic_scores_by_the_first_passage_of_its_document_that_holds_a_quote() -> None:
    [one] = labelled([TOPIC, UNANSWERABLE])
    assert one.score([GARDEN, OTHER, CRANE]) == 1 / 3
    assert one.score([GARDEN, OTHER]) == 0


def feedback(*judged: tuple[str, bool]):
    return labelled([], [{"question": "crane?", "document": name, "good": good} for name, good in judged])


def test_a_good_document_scores_by_its_rank_under_its_id_or_name() -> None:
    for name in ("crane.md", "2"):
        [one] = feedback((name, True))
        assert one.score([GARDEN, CRANE]) == 1 / 2


def test_a_bad_document_scores_the_less_the_higher_it_stands() -> None:
    [one] = feedback(("garden.md", False))
    assert one.score([GARDEN, CRANE]) == 1 - 1 / 1
    assert one.score([CRANE, GARDEN]) == 1 - 1 / 2
    assert one.score([CRANE]) == 1


def test_good_and_bad_documents_of_one_question_count_half_each() -> None:
    [one] = feedback(("crane.md", True), ("garden.md", False))
    assert one.score([CRANE, GARDEN]) == (1 / 1 + (1 - 1 / 2)) / 2


def test_feedback_is_read_line_by_line(tmp_path: Path) -> None:
    rows = [{"question": "q", "document": "d", "good": True}, {"question": "q", "document": "e", "good": False}]
    path = tmp_path / "feedback.jsonl"
    path.write_text("\n\n".join(json.dumps({**row, "at": "today"}) for row in rows))
    assert load_feedback(path) == rows


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"question": "q"}', '{"question": "q", "document": "d", "good": 1}',
             '{"question": " ", "document": "d", "good": true}'],
)  # fmt: skip
def test_a_line_that_is_no_feedback_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "feedback.jsonl"
    path.write_text(f'{{"question": "q", "document": "d", "good": true}}\n{line}')
    with pytest.raises(SourceError, match="Line 2"):
        load_feedback(path)
