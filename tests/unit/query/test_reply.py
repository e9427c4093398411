import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.query.writing.reply import Reply, is_json, numbers_of, read_json
from tests.linear import assert_linear
from tests.unit.query.builders import source

WHOLE = '{"answer": "She joined in 2019 [2].", "sources": [2]}'
CRANE = source(1, "The crane moved 40 containers.", documentName="crane.md", title="Crane")
CRANE_LATER = source(2, "The crane stood still in 2019.", documentName="crane.md", title="Crane")
HARBOUR = source(3, "Harbour fees rose.", documentName="harbour.md", title="Harbour")


def test_whole_json_is_its_answer_and_its_sources() -> None:
    assert read_json(WHOLE) == Reply("She joined in 2019 [2].", (2,))


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
    assert is_json(said)
    assert read_json(said) == Reply("She joined in 2019 [2].", (2,))


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
    reply = read_json(said)
    assert reply is not None
    assert reply.text == text


@pytest.mark.parametrize(
    "said", ["{}", '{"sources": [1]}', '{"answer": ""}', '{"answer": null}', '{"answer": 3}', "{" * 5_000, "[1]", ""]
)
def test_json_without_an_answer_is_no_reply(said: str) -> None:
    assert read_json(said) is None


@pytest.mark.parametrize("said", ["She joined in 2019 [2].", "It is written f{x} [1].", ""])
def test_prose_is_not_taken_for_json(said: str) -> None:
    assert not is_json(said)


@pytest.mark.parametrize("said", [WHOLE, '{"foo": 1}', '```\n{"foo": 1}\n```', 'Here: {"answer": "'])
def test_what_begins_as_json_is_taken_for_json(said: str) -> None:
    assert is_json(said)


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
    assert numbers_of(listed, [CRANE, CRANE_LATER, HARBOUR]) == numbers


@given(st.text(alphabet="{}[]\",:\\u12an'“” \n", max_size=60))
def test_whatever_is_said_is_read_or_refused(said: str) -> None:
    reply = read_json('{"answer": "' + said)
    assert reply is None or isinstance(reply.text, str)


@given(st.text(max_size=40).filter(lambda text: text.strip()), st.lists(st.integers(1, 9), max_size=3))
def test_every_whole_json_is_read_as_it_stands(text: str, sources: list[int]) -> None:
    reply = read_json(json.dumps({"answer": text, "sources": sources}))
    assert reply == Reply(text.strip(), tuple(sources))


@pytest.mark.parametrize(("head", "piece"), [('{"answer": "', '"'), ("", "{'a':"), ('{"answer": "', "\\u")])
def test_hostile_json_is_read_in_linear_time(head: str, piece: str) -> None:
    assert_linear(lambda length: read_json(head + piece * (length // len(piece))), 30_000)
