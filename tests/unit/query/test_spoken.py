"""What a language model says around its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.prompts import NO_ANSWER
from pipelines.query.writing.spoken import gives_up, outside_thoughts, says_nothing, sentences_only


@given(st.integers(1, 12))
def test_the_thoughts_that_a_reply_begins_with_are_left_out_however_the_stream_is_cut(size: int) -> None:
    said = "\n<think>Two cranes [1]. Hm </thin.</think>\n\nThe crane is red [1]."
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    assert "".join(outside_thoughts(pieces)) == "The crane is red [1]."


@given(st.text(alphabet="<>/think ab\n", max_size=40).filter(lambda text: not text.lstrip().startswith("<think")))
def test_any_other_reply_is_passed_on_as_it_is(said: str) -> None:
    assert "".join(outside_thoughts(said)) == said


def test_thoughts_without_an_end_are_no_answer() -> None:
    assert "".join(outside_thoughts(["<think>Well, ", "the crane"])) == ""


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("## Summary\nIt is red [1].", "It is red [1]."),
        ("**Summary**\n\nIt is red [1].", "It is red [1]."),
        ("It is red [1].\n\n## Sources\n- [1] crane.md\n- [2] port.md", "It is red [1]."),
        ("It is red [1].\n\n**Sources:**\n1. crane.md", "It is red [1]."),
        ("The plan: paint.</think>It is red [1].", "It is red [1]."),
        ("It is red [1].\nSources\nare kept in a box [2].", "It is red [1].\nSources\nare kept in a box [2]."),
        ("**It is red** [1].", "**It is red** [1]."),
        ("# It is red [1]", "# It is red [1]"),
        ("```\n# a comment\n```", "```\n# a comment\n```"),
        ("## Summary", "## Summary"),
    ],
)
def test_headings_and_the_list_of_sources_are_no_sentences(said: str, left: str) -> None:
    assert sentences_only(said) == left


@pytest.mark.parametrize("said", ["null", "None.", '"N/A"', "", "  ", "`null`"])
def test_a_word_for_nothing_is_no_answer(said: str) -> None:
    assert says_nothing(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm sorry, I cannot help with that.",
        "I am very sorry.",
        "Unfortunately, I can’t answer that question.",
        "I don't have that information.",
        "The documents do not mention her salary.",
        NO_ANSWER,
    ],
)
def test_a_refusal_gives_up(said: str) -> None:
    assert gives_up(said, is_cited=False)


@pytest.mark.parametrize("said", ["The documents do not mention her salary.", "I do not know Rust."])
def test_a_sentence_with_a_source_says_something(said: str) -> None:
    assert not gives_up(said, is_cited=True)


def test_a_plain_sentence_does_not_give_up() -> None:
    assert not gives_up("She could not find the fault.", is_cited=False)
    assert not says_nothing("None of the cranes is red.")
