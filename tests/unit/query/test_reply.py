"""What is read of a language model's reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.prompts import NO_ANSWER
from pipelines.query.reply import (
    ModelReply,
    clean_reply,
    is_empty_reply,
    is_refusal,
    listed_source_numbers,
    looks_like_json,
    parse_json_reply,
    repetition,
    strip_sources_list,
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
        ('{"answer": "It moved 40 containers [1].", "sour', "It moved 40 containers [1]."),
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
        ([0, 99, True, None, 1.5, "moon.md", {"x": []}, ["1"]], ()),
    ],
)
def test_sources_are_listed_by_number(listed: list[object], numbers: tuple[int, ...]) -> None:
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


SOURCES = (
    source(1, "It is red.", documentName="resume.pdf", page=2),
    source(2, "It is tall.", documentName="notes.md"),
)


def test_the_thoughts_that_a_reply_begins_with_are_left_out() -> None:
    said = "\n<think>Two cranes [1]. Hm </thin.</think>\n\nThe crane is red [1]."
    assert clean_reply(said, SOURCES).text == "The crane is red [1]."
    assert clean_reply("<think>Well, the crane", SOURCES).text == clean_reply("<thi", SOURCES).text == ""


@given(st.text(alphabet="<>/think ab\n", max_size=40).filter(lambda text: "<" not in text.lstrip()[:1]))
def test_a_reply_without_marks_stays_as_it_is(said: str) -> None:
    assert clean_reply(said, SOURCES).text in (said, said[: repetition(said)].rstrip())


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("It is red. <<source 2 813600000>> It is tall.", "It is red. [2] It is tall."),
        ("It is red. <</source 2 813600000>>", "It is red. [2]"),
        ("<<source 1 8136>>\n[Source: resume.pdf (resume), p.2] Work > Acme\nIt is red.\n", "It is red.\n"),
        ("[Nearly the same in: linkedin.pdf]\nIt is red.", "It is red."),
        ("It is red [Source: resume.pdf (resume), p.2].", "It is red [1]."),
        ("It is red [Source: other.pdf].", "It is red."),
        ("It is red. [Source: resu", "It is red. "),
        ("It is red. <<sour", "It is red. <<sour"),
        ("<|im_start|>assistant\nIt is red.", "It is red."),
        ("[INST] It is red. [/INST]", " It is red. "),
        ("Answer: It is red.", "It is red."),
        ("Question: What is red?\nIt is red.", "It is red."),
        ("It is <b>red</b>, and a < b.", "It is <b>red</b>, and a < b."),
    ],
)
def test_marks_of_the_prompt_and_of_templates_are_left_out(said: str, text: str) -> None:
    assert clean_reply(said, SOURCES).text == text


@pytest.mark.parametrize(
    "end", ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>\n", "<end_of_turn>", "\nQuestion: x"]
)
def test_what_follows_the_end_of_a_turn_is_left_out(end: str) -> None:
    assert clean_reply(f"It is red.{end}\nuser: And now?", SOURCES).text.strip() == "It is red."


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("A crane is red and tall. It moves. A crane is red [2] and tall. It", "A crane is red and tall. It moves."),
        ("It is red. It was the 3 the 3 the 3 the 3 the 3 the 3 the 3", "It is red."),
        ("- Go\n- C\n" + "- Rust\n- Java\n" * 3, "- Go\n- C\n- Rust\n- Java"),
        ("".join(f"The {n} paragraph was written by a man in sales. " for n in ("first", "next", "last")),
         "The first paragraph was written by a man in sales."),
        ("It is red. It is a fine large crane, a fine large crane, and a fine large crane.", "It is red."),
    ],
)  # fmt: skip
def test_a_reply_ends_before_it_repeats_itself(said: str, text: str) -> None:
    reply = clean_reply(said, SOURCES)
    assert (reply.text, reply.is_over, reply.repeats) == (text, True, True)


@pytest.mark.parametrize(
    "said",
    [
        "Yes, it is. Yes, it is.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 |\n",
        "```\nif one and two and three:\nif one and two and three:\n```\n",
        "It is red in the first year. It is red in the second year. It was blue before that.",
        "- Ann wrote it in Go.\n- Bob wrote it in Go.\n- Eve wrote it in Go.\n",
    ],
)
def test_what_only_looks_alike_is_no_repetition(said: str) -> None:
    assert repetition(said) is None


def test_a_long_reply_is_cleaned_in_linear_time() -> None:
    assert_linear(lambda length: clean_reply("ab <<[Source: " * (length // 14), SOURCES), 6_000)


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


@pytest.mark.parametrize(
    "said",
    [
        "- 2019: worked on the pumps of the ferry at Oban.\n- 2020: worked on the pumps of the ferry at Oban.\n"
        "- 2021: worked on the pumps of the ferry at Oban.",
        "She was a member of the board of Acme, a member of the board of Beta and a member of the board of Gamma.",
    ],
)
def test_rows_and_lists_of_a_kind_are_no_repetition(said: str) -> None:
    assert repetition(said) is None


def test_four_words_said_three_times_one_after_the_other_are_a_repetition() -> None:
    assert repetition("It won a best paper award twice, a best paper award twice, and a best paper award twice.") == 0
