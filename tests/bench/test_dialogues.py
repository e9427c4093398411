"""The judged dialogues are sound, and what counts as right and as unchanged."""

from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.datasets import Topic
from pipelines.ingestion.loaders import load
from pipelines.text import fold
from pipelines.types import SourceItem
from tests.bench.dialogues import DATA, DIALOGUES, Outcome, load_dialogues, reported


def text_of(path: Path) -> str:
    """The folded text of a document of the sample, without front matter."""
    return fold(load(path.read_bytes(), SourceItem(path.as_uri(), path.name, path.as_uri(), "file")).text)


def test_half_of_the_first_sixty_dialogues_of_each_set_go_on_and_half_ask_something_else() -> None:
    dialogues = load_dialogues(DIALOGUES)
    assert len({dialogue.id for dialogue in dialogues}) == len(dialogues)
    seconds = [(dialogue.set, dialogue.topics[1].kind) for dialogue in dialogues[:60]]
    assert {each: seconds.count(each) for each in seconds} == {
        (name, kind): 15 for name in ("sample", "qa") for kind in ("independent", "dependent")
    }


def test_every_question_of_the_dialogues_has_what_it_is_judged_by() -> None:
    for dialogue in load_dialogues(DIALOGUES):
        assert [topic.kind for topic in dialogue.topics].count("first") == 1
        for topic, standalone in zip(dialogue.topics, dialogue.standalone, strict=True):
            assert bool(topic.quotes) == bool(topic.facts) == topic.answerable, topic.id
            assert (standalone == topic.question) == (topic.kind != "dependent"), topic.id


def test_the_quotes_and_facts_of_the_dialogues_stand_in_the_sample() -> None:
    topics = [topic for dialogue in load_dialogues(DIALOGUES) if dialogue.set == "sample" for topic in dialogue.topics]
    texts = {name: text_of(DATA / "sample" / name) for topic in topics for name in {q.document for q in topic.quotes}}
    for topic in topics:
        assert all(fold(quote.text).strip("| ") in texts[quote.document] for quote in topic.quotes), topic.id
        quoted = " ".join(fold(quote.text) for quote in topic.quotes)
        assert all(fold(fact) in quoted for fact in topic.facts), topic.id


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": "c1", "set": "sample", "turns": [{"question": "What?"}]}')
    with pytest.raises(SourceError, match=r"Line 1 of .*d\.jsonl lacks 'quotes'"):
        load_dialogues(tmp_path / "d.jsonl")


def outcome(name: str, group: str, *, right: bool = True, changed: bool = False) -> Outcome:
    topic = Topic(name, "When?", True, group, (), ())
    return Outcome(topic, "sample", group, right, True, changed, "")


def test_an_independent_question_fails_by_a_changed_answer_and_a_dependent_one_by_a_wrong_one() -> None:
    outcomes = [
        outcome("changed", "independent", changed=True),
        outcome("wrong as it is alone", "independent", right=False),
        outcome("in other words", "dependent", changed=True),
        outcome("wrong", "dependent", right=False, changed=True),
    ]
    report = reported(outcomes)
    assert [one["id"] for one in report["failed"]] == ["changed", "wrong"]
    assert report["groups"]["all"]["independent"] == {"questions": 2, "right": 1, "right_alone": 2, "unchanged": 1}
    assert report["groups"]["sample"] == report["groups"]["all"]
