"""What is read of a language model's reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.prompts import NO_ANSWER
from pipelines.query.reply import (
    ModelReply,
    is_empty_reply,
    is_refusal,
    listed_source_numbers,
    looks_like_json,
    parse_json_reply,
    strip_sources_list,
    strip_thoughts,
)
from tests.linear import assert_linear
from tests.unit.query.builders import source

WHOLE = '{"answer": "She joined in 2019 [2].", "sources": [2]}'
CRANE = source(1, "The crane moved 40 containers.", documentName="crane.md", title="Crane")
CRANE_LATER = source(2, "The crane stood still in 2019.", documentName="crane.md", title="Crane")
HARBOUR = source(3, "Harbour fees rose.", documentName="harbour.md", title="Harbour")


def test_whole_json_is_its_answer_and_its_sources() -> None:
    assert parse_json_reply(WHOLE) == ModelReply("She joined in 2019 [2].", (2,))


@pytest.mark.parametrize(
    "said",
    [
        f"```json\n{WHOLE}\n```",
        f"Sure! Here is the JSON you asked for:\n\n{WHOLE}\n\nLet me know if you need more.",
        f"<think>{{a plan}}</think>{WHOLE}",
        '{"answer": "She joined in 2019 [2].", "sources": [2,],}',
        "{'answer': 'She joined in 2019 [2].', 'sources': [2]}",
        '{answer: "She joined in 2019 [2].", sources: [2]}',
        "{“answer”: “She joined in 2019 [2].”, “sources”: [2]}",
        '{"Answer": "She joined in 2019 [2].", "Sources": 2, "confidence": 0.9}',
        '{"response": "She joined in 2019 [2].", "citations": [2]}',
        '{"answer": ["She joined in 2019 [2]."], "sources": [2]}',
        '{"answer": "She joined in 2019 [2].", "sources": [2]',
        '{"answer": "She joined in 2019 [2].", "sources": [2]}}}',
    ],
)
def test_json_with_a_fault_is_mended(said: str) -> None:
    assert looks_like_json(said)
    assert parse_json_reply(said) == ModelReply("She joined in 2019 [2].", (2,))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('{"answer": "She said "yes" and left [1].", "sources": [1]}', 'She said "yes" and left [1].'),
        ('{"answer": "One [1].\nTwo [2].", "sources": [1]}', "One [1].\nTwo [2]."),
        ('{"answer": "It moved 40 cont', "It moved 40 cont"),
        ('{"answer": "It moved 40 containers [1].", "sources": [1', "It moved 40 containers [1]."),
        ('{"answer": "A tab\\t and \\u00e9 [1].", "sources": [1],}', "A tab\t and é [1]."),
    ],
)
def test_text_is_kept_where_json_breaks_around_it(said: str, text: str) -> None:
    reply = parse_json_reply(said)
    assert reply is not None
    assert reply.text == text


@pytest.mark.parametrize(
    "said", ["{}", '{"sources": [1]}', '{"answer": ""}', '{"answer": null}', '{"answer": 3}', "{" * 5_000, "[1]", ""]
)
def test_json_without_an_answer_is_no_reply(said: str) -> None:
    assert parse_json_reply(said) is None


@pytest.mark.parametrize("said", ["She joined in 2019 [2].", "It is written f{x} [1].", ""])
def test_prose_is_not_taken_for_json(said: str) -> None:
    assert not looks_like_json(said)


@pytest.mark.parametrize("said", [WHOLE, '{"foo": 1}', '```\n{"foo": 1}\n```', 'Here: {"answer": "'])
def test_what_begins_as_json_is_taken_for_json(said: str) -> None:
    assert looks_like_json(said)


@pytest.mark.parametrize(
    ("listed", "numbers"),
    [
        ([1, 3, 3], (1, 3)),
        (["[1]", "Source 3"], (1, 3)),
        (["1, 3"], (1, 3)),
        ([{"n": 3}, {"source": "1"}], (3, 1)),
        (["harbour.md"], (3,)),
        ([{"documentName": "crane.md", "snippet": "The crane stood still in 2019."}], (2,)),
        ([{"documentName": "crane.md", "snippet": "It never said this."}], (1,)),
        ([{"snippet": "harbour fees rose."}], (3,)),
        ([{"title": "Harbour"}], (3,)),
        ([0, 99, True, None, 1.5, "moon.md", {"x": []}, ["1"]], ()),
    ],
)
def test_sources_are_found_by_number_by_name_and_by_their_words(listed: list[object], numbers: tuple[int, ...]) -> None:
    assert listed_source_numbers(listed, [CRANE, CRANE_LATER, HARBOUR]) == numbers


@given(st.text(alphabet="{}[]\",:\\u12an'“” \n", max_size=60))
def test_whatever_is_said_is_read_or_refused(said: str) -> None:
    reply = parse_json_reply('{"answer": "' + said)
    assert reply is None or isinstance(reply.text, str)


@given(st.text(max_size=40).filter(lambda text: text.strip()), st.lists(st.integers(1, 9), max_size=3))
def test_every_whole_json_is_read_as_it_stands(text: str, sources: list[int]) -> None:
    reply = parse_json_reply(json.dumps({"answer": text, "sources": sources}))
    assert reply == ModelReply(text.strip(), tuple(sources))


@pytest.mark.parametrize(("head", "piece"), [('{"answer": "', '"'), ("", "{'a':"), ('{"answer": "', "\\u")])
def test_hostile_json_is_read_in_linear_time(head: str, piece: str) -> None:
    assert_linear(lambda length: parse_json_reply(head + piece * (length // len(piece))), 30_000)


@given(st.integers(1, 12))
def test_the_thoughts_that_a_reply_begins_with_are_left_out_however_the_stream_is_cut(size: int) -> None:
    said = "\n<think>Two cranes [1]. Hm </thin.</think>\n\nThe crane is red [1]."
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    assert "".join(strip_thoughts(pieces)) == "The crane is red [1]."


@given(st.text(alphabet="<>/think ab\n", max_size=40).filter(lambda text: not text.lstrip().startswith("<think")))
def test_any_other_reply_is_passed_on_as_it_is(said: str) -> None:
    assert "".join(strip_thoughts(said)) == said


def test_thoughts_without_an_end_are_no_answer() -> None:
    assert "".join(strip_thoughts(["<think>Well, ", "the crane"])) == ""


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("It is red [1].\n\n## Sources\n- [1] crane.md\n- [2] port.md", "It is red [1]."),
        ("It is red [1].\n\n**Sources:**\n1. crane.md", "It is red [1]."),
        ("The plan: paint.</think>It is red [1].", "It is red [1]."),
        ("It is red [1].\nSources\nare kept in a box [2].", "It is red [1].\nSources\nare kept in a box [2]."),
        ("**It is red** [1].", "**It is red** [1]."),
    ],
)
def test_the_list_of_sources_and_thoughts_are_left_out(said: str, left: str) -> None:
    assert strip_sources_list(said) == left


@pytest.mark.parametrize("said", ["null", "None.", '"N/A"', "", "  ", "`null`"])
def test_a_word_for_nothing_is_no_answer(said: str) -> None:
    assert is_empty_reply(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm sorry, I cannot help with that.",
        "I am very sorry.",
        "Unfortunately, I can’t answer that question.",
        "I don't have that information.",
        "The documents do not mention her salary.",
        "None of these sources mentions her salary.",
        "There is no information on her salary in the provided documents.",
        "Her salary cannot be determined from the sources.",
        NO_ANSWER,
    ],
)
def test_a_refusal_gives_up(said: str) -> None:
    assert is_refusal(said, is_supported=False)


@pytest.mark.parametrize("said", ["The documents do not mention her salary.", "I do not know Rust."])
def test_a_sentence_with_a_source_says_something(said: str) -> None:
    assert not is_refusal(said, is_supported=True)


@pytest.mark.parametrize(
    "said",
    [
        "She could not find the fault.",
        "None of the documents were lost in the fire.",
        "The pump has no information panel in the front.",
        "The fault cannot be found by looking.",
    ],
)
def test_a_plain_sentence_does_not_give_up(said: str) -> None:
    assert not is_refusal(said, is_supported=False)
    assert not is_empty_reply("None of the cranes is red.")
