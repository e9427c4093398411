"""The words of a question, and the phrases that stand in it."""

import tomllib
from pathlib import Path

import pytest

from pipelines.query import question
from pipelines.query.question.words import counted_things, read, words

ROOM = Path(str(question.__file__)).parent
VOCABULARY = tomllib.loads((ROOM / "words.toml").read_text(encoding="utf-8"))
# Lists that are named by a part of their name: by a table of categories, sections, values, or languages.
FAMILIES = (
    "category-",
    "section-",
    "disputed-",
    "overview-",
    "corpus-",
    "years-",
    "wants-",
    "hello-",
    "thanks-",
    "polite-",
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Does she know C++, C# or .NET?", ["does", "she", "know", "c++", "c#", "or", ".net"]),
        ("What's Ann's side-project on Node.js?", ["what", "ann", "side-project", "on", "node.js"]),
        ("Où est l’Été – 2019/20?", ["ou", "est", "l'ete", "2019", "20"]),
        ("...", []),
    ],
)
def test_words_are_folded_without_the_signs_around_them(text: str, said: list[str]) -> None:
    assert read(text).all == said


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("How many copies has Tidebook sold?", ("copies",)), ("number of marinas on your platform?", ("marinas",)),
        ("Lamps in use: how many", ("lamps",)), ("How many pull requests were merged?", ("requests",)),
        ("how many people are in the team", ("people",)), ("And how many?", ()), ("How much is it?", ()),
    ],
)  # fmt: skip
def test_what_a_question_asks_the_number_of_is_its_plural(question: str, things: tuple[str, ...]) -> None:
    assert counted_things(question) == things


def test_a_word_keeps_its_place_its_spelling_and_its_possessive() -> None:
    text = "Who read Ann’s thesis?"
    ann = read(text).words[2]
    assert (ann.typed, ann.owns, text[ann.start : ann.end], ann.parts) == ("Ann", True, "Ann", ("ann",))


@pytest.mark.parametrize(
    ("text", "phrases", "found"),
    [
        ("How many different foreign languages are there?", "counted", (0, 5)),
        ("How are many things counted?", "counted", None),
        ("Tell me, and when did it end?", "when", (2, 5)),  # after a comma
        ("Tell me when", "when", None),
        ("When?", "when", (0, 1)),  # at the beginning
        ("Which ships sank?", "several", (0, 2)),  # a plural
        ("Which bus sank?", "several", None),
        ("What was her job in 2019?", "in-year", (4, 6)),
        ("Does she still work there?", "is-current", (0, 4)),  # words between
    ],
)
def test_a_phrase_is_found_where_its_steps_follow_each_other(
    text: str, phrases: str, found: tuple[int, int] | None
) -> None:
    place = read(text).find(phrases)
    assert (place and (place.first, place.last)) == found


def test_a_phrase_names_the_words_that_it_leaves_open() -> None:
    asked = read("Which posts mention late data?")
    place = asked.find("corpus-mention")
    assert place is not None
    assert asked.slice(*place.groups["topic"]) == "late data"


def test_a_list_holds_the_words_of_the_lists_that_it_names() -> None:
    assert words("levels") == words("doctorate") | words("master") | words("bachelor")


def test_every_list_and_phrase_of_the_vocabulary_is_used() -> None:
    written = (ROOM / "words.toml").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in ROOM.parent.rglob("*.py"))
    lists = [name for name in VOCABULARY["words"] if f"@{name}" not in written]
    phrases = [name for name in VOCABULARY["phrases"] if f"&{name}" not in written]
    unused = [name for name in (*lists, *phrases) if f'"{name}"' not in code and not name.startswith(FAMILIES)]
    assert unused == []


def test_every_list_and_phrase_that_another_names_exists() -> None:
    said = [
        step.rstrip("?*=") for phrases in VOCABULARY["phrases"].values() for each in phrases for step in each.split()
    ]
    lists = {one[1:] for step in said for one in step.lstrip("!").split("/") if one.startswith("@")}
    lists |= {one[1:] for each in VOCABULARY["words"].values() for one in each.split() if one.startswith("@")}
    assert lists <= set(VOCABULARY["words"])
    assert {step[1:] for step in said if step.startswith("&")} <= set(VOCABULARY["phrases"])
