"""The baselines cut as the splitters do whose figures are published."""

from itertools import pairwise

from pipelines.evaluation.baselines import BASELINES, fixed, recursive
from pipelines.text import count_tokens

STORY = "\n\n".join(" ".join(f"Boat {row} number {place} sails." for place in range(6)) for row in range(12))


def texts(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


def test_what_is_short_is_one_span_without_its_outer_space() -> None:
    assert recursive("\n One two. \n", tokens=50, overlap=10) == [(2, 10)]
    assert recursive(" \n", tokens=50, overlap=10) == []


def test_paragraphs_that_fit_are_put_together_up_to_the_limit() -> None:
    paragraph = count_tokens("\n\n" + STORY.split("\n\n")[1])
    found = texts(STORY, recursive(STORY, tokens=3 * paragraph, overlap=0))
    assert [part.count("\n\n") + 1 for part in found] == [3, 3, 3, 3]


def test_an_overlap_repeats_whole_paragraphs_that_fit_in_it() -> None:
    paragraph = count_tokens("\n\n" + STORY.split("\n\n")[1])
    found = texts(STORY, recursive(STORY, tokens=3 * paragraph, overlap=paragraph + 1))
    for before, after in pairwise(found):
        assert before.split("\n\n")[-1] == after.split("\n\n")[0]


def test_a_paragraph_over_the_limit_is_cut_at_stops_which_begin_the_next_span() -> None:
    found = texts(
        "One two three. Four five six! Seven", recursive("One two three. Four five six! Seven", tokens=5, overlap=0)
    )
    assert found == ["One two three", ". Four five six", "! Seven"]


def test_what_has_no_separator_is_cut_between_letters() -> None:
    text = "x" * 400
    found = recursive(text, tokens=5, overlap=0)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(found))


def test_fixed_windows_have_the_tokens_and_the_overlap() -> None:
    found = fixed(STORY, tokens=40, overlap=20)
    assert all(30 <= count_tokens(part) <= 40 for part in texts(STORY, found[:-1]))
    assert all(10 <= count_tokens(STORY[after[0] : before[1]]) <= 20 for before, after in pairwise(found))


def test_the_published_baselines_are_there() -> None:
    assert list(BASELINES) == ["recursive 250/125", "recursive 200/0", "token 250/125"]
    assert all(cut(STORY)[0][0] == 0 for cut in BASELINES.values())
