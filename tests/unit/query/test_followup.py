from collections.abc import Sequence
from functools import partial

import pytest

from pipelines.query.question.followup import recent_turns, stand_alone
from pipelines.query.question.understand import analyse
from pipelines.store.known_names import NameIndex
from pipelines.store.tokens import tokenise
from pipelines.text import count_tokens, fold
from pipelines.types import Turn

BELL = ("Ann Bell",)  # the title of her resume
NONE: tuple[str, ...] = ()
# (the questions before it, the titles of the last answer's sources, the follow-up, what the condensed question must
# hold, what it must not)
DIALOGUES: Sequence[tuple[Sequence[str], Sequence[str], str, str, str]] = [
    # Who
    (["Which databases did Ann tune at Gridmoor?"], BELL, "Does she know Rust?", "Ann Rust", "she databases"),
    (["Where did Ann study?"], BELL, "What was her thesis about?", "Ann thesis", "her"),
    (["Where did Ann study?"], BELL, "Who supervised her?", "supervised Ann", "her"),
    (["Was Ann Bell ever in Hull?"], BELL, "When did she leave?", "Ann leave", "she"),
    (["What is on the resume?"], BELL, "Where does she live?", "Ann Bell live", "she"),
    (["Who was Andre Frank?"], NONE, "Was he a communist?", "Andre Frank communist", "he"),
    (["Who was the CEO at Gridmoor?"], ("Grid news",), "When did he leave?", "leave CEO Gridmoor", "news"),
    (["What did the report on Leith say?"], ("Late data is data",), "Did she sign it?", "sign report Leith", ""),
    (["Did Carl meet Ann Bell in Oslo?"], BELL, "What did she say?", "Ann Bell say", "she"),
    # What
    (["Who founded Gridmoor?"], NONE, "And when was it sold?", "when Gridmoor sold", "it founded who"),
    (["Who wrote coldcurve?"], ("coldcurve",), "Is it fast?", "coldcurve fast", "it who"),
    (["What is latemark?"], ("latemark",), "Which language is it written in?", "language latemark written", "it"),
    (["What watches the cold stores?"], ("coldcurve",), "Who wrote it?", "who wrote coldcurve", "it"),
    (["What is Gridmoor?"], NONE, "What are its limits?", "Gridmoor limits", "its"),
    (["Who built the anagama kiln at Dunsyre?"], ("Dunsyre pottery",), "And when was it built?", "kiln built", "who"),
    (["How is the pitch measured?"], ("Late data is data",), "Does it rise in heat?", "rise heat pitch", ""),
    (["What happened on 14 November 2021?"], ("A bad night",), "Why did it happen?", "why happen 2021", ""),
    (["When was the Gridmoor outage?"], BELL, "How long did it last?", "how long Gridmoor outage last", "it when"),
    (["Where is the Gridmoor now?"], NONE, "Who owns it?", "who owns Gridmoor", "it now"),
    (["Which ship was Carl on?"], ("Harbour news",), "Where did it sail?", "it sail ship Carl", ""),
    (["Does she know Kubernetes?"], BELL, "Where did she use it?", "where did Ann Bell use Kubernetes", "she it"),
    # Then and there
    (["Where did Ann work in 2019?"], BELL, "What did she do before that?", "Ann before 2019", "she that where"),
    (["What did Ann do at Gridmoor?"], BELL, "And what did she do after that?", "Ann after Gridmoor", "she that"),
    (["Which databases did Ann tune at Gridmoor?"], BELL, "How many people worked there?", "people worked Gridmoor",
     "there databases"),
    (["How long was Ann in Oslo?"], BELL, "What did she do there?", "what Ann do in Oslo", "she there long"),
    (["Where did Ann work in 2019?"], BELL, "And before that?", "where Ann work before 2019", "that"),
    (["Why did you leave Gridmoor?"], NONE, "What did you do afterwards?", "you do after Gridmoor", "afterwards"),
    (["Why did you leave Gridmoor?"], NONE, "How long were you there?", "how long you at Gridmoor", "there why"),
    (["Which talks did Ann give?"], BELL, "Were there any in Ghent?", "which talks Ann give in Ghent", "any"),
    (["Which talks did Ann give?"], BELL, "Any in 2021?", "which talks Ann give in 2021", "any"),
    (["Is Ann open to freelance work?"], BELL, "At what rate?", "what rate freelance work", ""),
    (["What was Ann's thesis about?"], NONE, "Which tools came out of it?", "tools came out of Ann thesis", "it what"),
    (["What's Knotty?"], NONE, "Which language does it need?", "language Knotty need", "it what"),
    # Another word to ask with
    (["Where did Ann work before Gridmoor?"], BELL, "And when?", "when Ann work before Gridmoor", "where and"),
    (["Where did Ann work before Gridmoor?"], BELL, "And why?", "why Ann work Gridmoor", "where"),
    (["Where does Ann work now?"], BELL, "How long?", "how long Ann work", "where"),
    (["Where does Ann work now?"], BELL, "Since when?", "since when Ann work", "where"),
    (["When did Ann join Acme?"], BELL, "Where?", "where Ann join Acme", "when"),
    (["When did Ann join Acme?"], BELL, "And why was that?", "why Ann join Acme", "when that"),
    (["Who founded Gridmoor?"], NONE, "And where exactly?", "where Gridmoor founded", "who"),
    (["Who built the kiln at Dunsyre?"], NONE, "And when?", "when kiln Dunsyre built", "who"),
    (["Who wrote coldcurve?"], ("coldcurve",), "Why?", "why coldcurve written", "who"),
    (["Which databases did Ann tune at Gridmoor?"], BELL, "And when?", "when Ann tune databases Gridmoor", "which"),
    (["How many sensors were deployed at sea?"], NONE, "And when?", "when sensors deployed sea", "many"),
    (["Did Ann work in Oslo?"], BELL, "When?", "when Ann work Oslo", ""),
    (["Tell me about Ann's time at Gridmoor."], BELL, "How long?", "how long Ann time Gridmoor", "tell me"),
    # Another name or year
    (["How is the weather in Oslo?"], NONE, "what about Berlin?", "weather Berlin", "Oslo about"),
    (["How is the weather in Oslo?"], NONE, "And Berlin?", "weather Berlin", "Oslo"),
    (["How is the weather in Oslo?"], NONE, "and in Berlin?", "weather in Berlin", "Oslo"),
    (["What did Ann do at Gridmoor?"], BELL, "How about at Acme?", "Ann do at Acme", "Gridmoor about"),
    (["What is the licence of coldcurve?"], ("coldcurve",), "And that of driftbuoy?", "licence driftbuoy", "coldcurve"),
    (["Where does she work?"], ("Reed notes",), "And Ann?", "where does Ann work", "she"),
    (["Does Carl know Python?"], BELL, "And Rust?", "does Carl know Rust", "Python"),
    (["What did Ann build?"], BELL, "And Carl?", "Carl build", "Ann Bell"),
    (["What is the capital of France?"], NONE, "And of Spain?", "capital Spain", "France"),
    (["Who is the CEO of Acme?"], NONE, "And of Brass Bros?", "CEO Brass Bros", "Acme"),
    (["Who is the CEO of Acme?"], NONE, "And the CFO?", "who CFO of Acme", "CEO"),
    (["Does Ann know Kubernetes?"], BELL, "what about C++?", "Ann know C++", "Kubernetes"),
    (["What is latemark?"], ("latemark",), "And driftbuoy?", "driftbuoy", "latemark"),
    (["What did Ann build in 2019?"], BELL, "what about 2021?", "Ann build 2021", "2019"),
    (["What did Ann build?"], BELL, "And in 2021?", "Ann build in 2021", ""),
    # Another phrase, a place of the same kind, or a year some years away
    (["How fast is encoding on a Cortex?"], NONE, "and on a laptop?", "fast encoding laptop", "Cortex"),
    (["What is its life for strawberry?"], NONE, "And for raw milk?", "life for raw milk", "strawberry"),
    (["How far off is tideglass in Hull?"], NONE, "And for Oslo?", "far off tideglass Oslo", "Hull for"),
    (["Where was the talk Late Data given?"], NONE, "and the one on game days?", "where talk game days", "Late"),
    (["Which talk did Ann give in 2019?"], BELL, "And two years before?", "talk Ann give 2017", "2019 two years"),
    (["What did you win in 2023?"], NONE, "what about the year before, for the dimmer?", "win 2022", "2023 year"),
    (["How many charts did Ann draw in spring 2020?"], BELL, "Who helped her with those?",
     "who helped Ann with the charts in spring 2020", "those draw"),
    (["What broke at the preview of Bag of Nails?"], NONE, "What does she do since then?", "since preview Nails", ""),
    (["When did the Gridmoor outage of 2021 end?"], NONE, "And when did it begin?", "outage 2021 begin", "it"),
    (["What did Ann Reed say a manual is?"], NONE, "Which ship is she on?", "which ship Ann Reed", "she"),
    # A follow-up after a follow-up
    (["Who founded Gridmoor?", "When was that?"], NONE, "and where?", "where Gridmoor founded", "who when"),
    (["How is the weather in Oslo?", "what about Berlin?"], NONE, "and why?", "why weather Berlin", "Oslo"),
    (["How is the weather in Oslo?", "what about Berlin?"], NONE, "And the sea there?", "sea Berlin", "Oslo"),
    (["Where did Ann study?", "What was her thesis about?"], BELL, "And when?", "when Ann thesis", "her"),
    (["What is Gridmoor?", "Who founded it?"], NONE, "And when?", "when Gridmoor founded", "it who"),
    (["Where did Ann work in 2019?", "And in 2021?"], BELL, "And why?", "why Ann work 2021", "2019"),
    (["Where did Ann study?", "What was her thesis about?"], BELL, "Did she publish it?", "Ann publish thesis", "she"),
    (["What is latemark?", "And driftbuoy?"], ("driftbuoy",), "Who wrote it?", "wrote driftbuoy", "latemark it"),
]  # fmt: skip


def words(text: str) -> set[str]:
    """The words of a text and their stems, without "'s"."""
    plain = fold(text).replace("’s", " ").replace("'s", " ")
    return {word.strip("?.,()") for word in plain.split()} | set(tokenise(plain))


@pytest.mark.parametrize(("before", "titles", "question", "holds", "lacks"), DIALOGUES)
def test_a_follow_up_is_made_whole(
    before: Sequence[str], titles: Sequence[str], question: str, holds: str, lacks: str
) -> None:
    history = [Turn(asked, "So it says.", tuple(titles)) for asked in before]
    intent = analyse(question, history=history)
    said = words(intent.condensed)
    assert {word for word in holds.casefold().split() if word not in said} == set()
    assert {word for word in lacks.casefold().split() if word in said} == set()
    assert (intent.follow_up, intent.condensed_by, intent.search_text) == (True, "rules", intent.condensed)
    assert intent.question == question


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("And before that?", "Where did Ann work before Brass Bros?"),
        ("What did she do before that?", "What did Ann do before Brass Bros?"),
        ("And after that?", "Where did Ann work after Gridmoor?"),
    ],
)
def test_before_that_is_before_what_was_answered_where_that_was_asked_for(question: str, whole: str) -> None:
    history = [Turn("Where did Ann work before Gridmoor?", "Brass Bros, Tuner, in Hull.", BELL)]
    assert analyse(question, history=history).condensed == whole


def test_there_is_what_was_answered_where_a_question_asks_what_was_before_something() -> None:
    history = [Turn("Where was Ann before Gridmoor?", "She tuned pipes at Brass Bros.", BELL)]
    assert analyse("What did she do there?", history=history).condensed == "What did Ann do at Brass Bros?"


def test_before_a_job_that_is_named_by_its_town_is_before_the_years_that_were_answered() -> None:
    history = [Turn("Where did Ann work in Hull?", "Tuner, Brass Bros (2012 - 2018)", BELL)]
    assert analyse("and before?", history=history).condensed == "Where did Ann work before 2012?"
    assert analyse("and after?", history=history).condensed == "Where did Ann work after 2018?"


def test_the_year_after_what_was_answered_takes_the_place_of_a_town() -> None:
    history = [Turn("Which talk did Ann give in Hull?", "Reeds (Hull, 4 May 2018)", BELL)]
    assert analyse("and the year after?", history=history).condensed == "Which talk did Ann give in 2019?"


def test_before_that_of_what_is_now_is_asked_in_the_past() -> None:
    history = [Turn("Where does Ann work now?", "Brass Bros, Tuner, in Hull.", BELL)]
    assert analyse("And before that?", history=history).condensed == "Where did Ann work before Brass Bros?"


@pytest.mark.parametrize(
    "question", ["What is saltlick?", "Which awards?", "And what is saltlick?", "Ok. Tell me about the Leith bridge"]
)
def test_a_short_question_with_a_word_of_its_own_is_read_alone(question: str) -> None:
    assert not analyse(question, history=[Turn("What did Ann do at Acme?", "She tuned.", BELL)]).follow_up


def test_before_that_is_before_the_company_that_an_answer_names_after_the_title() -> None:
    said = "Before Gridmoor Energy: Senior Engineer at Brass Bros (2018 - 2020); Tuner at Reed Works (2015 - 2018)."
    history = [Turn("Where did Ann work before Gridmoor?", said, BELL)]
    assert analyse("And before that?", history=history).condensed == "Where did Ann work before Brass Bros?"


def test_a_question_with_matter_of_its_own_is_no_part_of_another() -> None:
    question = "How does the harbour authority measure the height of a wave?"
    history = [Turn("How is the weather in Oslo?", "Cold.")]
    assert analyse(question, history=history).search_text.startswith(question)


def test_a_title_is_never_read_as_a_pattern() -> None:
    history = [Turn("What is a+b(c?", "It.", (r"a+b(c\1", "[", "Ann (")), Turn("And why?", "So.", ("*",))]
    assert "a+b(c" in analyse("And when?", history=history).condensed


def test_a_long_conversation_is_read_from_its_last_turns() -> None:
    history = [Turn("Where does Ann work?", "Here."), *[Turn("And why?", "So.")] * 400]
    assert analyse("And when?", history=history).condensed


def test_a_name_after_a_she_whom_nothing_names_is_not_taken_for_her() -> None:
    history = [Turn("Does she know Python?", "Yes.", ("Reed notes",))]
    assert analyse("Where does she work?", history=history).search_text == "Where does she work?"


TURNS = [Turn("Who is Ann?", "A welder in Oslo."), Turn("Since when?", "Since 2019."), Turn("Why?", "She likes fire.")]


def size(turn: Turn) -> int:
    return count_tokens(turn.question) + count_tokens(turn.answer)


def test_the_last_turns_are_kept_oldest_first() -> None:
    assert recent_turns(TURNS, turns=2, tokens=1_000) == tuple(TURNS[1:])
    assert recent_turns(TURNS, turns=0, tokens=1_000) == ()
    assert recent_turns([], turns=4, tokens=1_000) == ()


def test_a_turn_that_does_not_fit_ends_it() -> None:
    room = size(TURNS[2]) + size(TURNS[1])
    assert recent_turns(TURNS, turns=4, tokens=room) == tuple(TURNS[1:])
    assert recent_turns(TURNS, turns=4, tokens=room - 1) == tuple(TURNS[2:])


def test_the_answer_of_the_last_turn_is_cut_to_what_there_is_room_for() -> None:
    long = Turn("Why?", "fire " * 500)
    (kept,) = recent_turns([*TURNS, long], turns=4, tokens=50)
    assert kept.answer.startswith("fire fire")
    assert kept.answer.endswith(" ...")
    assert size(kept) <= 50


def test_a_question_that_is_too_long_alone_leaves_no_history() -> None:
    assert recent_turns([Turn("why " * 200, "x")], turns=4, tokens=50) == ()


def test_a_thing_that_was_asked_about_is_not_who_she_is() -> None:
    asked = "How much had she asked for?"
    whole, by = stand_alone(asked, [Turn("What is Quiet Harbour?", "A study.")], asked)
    assert by == "rules"
    assert whole.startswith("How much had she asked for?")
    assert stand_alone("What did he write?", [Turn("Who is Colm?", "A student.")], "What did he write?")[0] == (
        "What did Colm write?"
    )


STORED = NameIndex(
    [("coldcurve", "1"), ("ifc-sieve", "2"), ("Gridmoor", "3"), ("Brass Bros", "3"), ("Ann Bell", "3"), ("Talks", "4")],
    people=["Ann Bell"],
    projects=["coldcurve", "ifc-sieve"],
)


def whole(question: str, asked: str, said: str = "So it says.", titles: Sequence[str] = ()) -> str:
    """A question as it stands alone after another, where names are stored."""
    history = [Turn(asked, said, tuple(titles))]
    return analyse(question, history=history, known=STORED, stand_alone=partial(stand_alone, known=STORED)).search_text


@pytest.mark.parametrize(
    ("asked", "question", "read_as"),
    [
        ("Licence of coldcurve", "And ifc-sieve?", "Licence of ifc-sieve?"),
        ("What did Ann do at Gridmoor?", "And Brass Bros?", "What did Ann do at Brass Bros?"),
        ("What did Carl do at Gridmoor?", "What about coldcurve?", "coldcurve?"),
        ("What is coldcurve?", "And Gridmoor?", "Gridmoor?"),
        ("Does she know Python?", "And Ann?", "Does Ann know Python?"),
        ("Does Carl know Python?", "And Ann?", "Does Ann know Python?"),
        ("Does coldcurve read CSV?", "Why not?", "Why not: Does coldcurve read CSV?"),
        ("What does coldcurve read?", "Why not use ifc-sieve for it?", "Why not use ifc-sieve for it?"),
    ],
)
def test_a_stored_name_replaces_one_of_its_kind_or_stands_alone(asked: str, question: str, read_as: str) -> None:
    assert whole(question, asked).removeprefix("What about ") == read_as


def test_she_is_only_a_person_and_is_left_to_mean_the_owner_where_none_was_named() -> None:
    assert whole("Is she married?", "What is coldcurve?") == "Is she married?", "as it is asked alone"
    assert whole("Which languages does she speak?", "Which talks were given?", titles=["Talks"]) == (
        "Which languages does she speak?"
    )
    assert whole("Is she married?", "Did Carl meet them?") == "Is Carl married?"


def test_it_is_never_a_person() -> None:
    assert whole("Who wrote it?", "Did Ann Bell write coldcurve?") == "Who wrote coldcurve?"


def test_a_question_without_a_subject_takes_the_last_one() -> None:
    assert whole("How many people?", "What do you know of Gridmoor") == "How many people? (Gridmoor)"
    assert whole("Which licence?", "What is coldcurve?") == "Which licence? (coldcurve)"


def test_there_is_the_company_that_was_answered() -> None:
    said = "Before Gridmoor: Senior Engineer in the Pitch Team, Brass Bros (2018 - 2020)."
    assert whole("What did she do there?", "Where was Ann before Gridmoor?", said) == "What did Ann do at Brass Bros?"


def test_how_long_after_what_somebody_did_asks_how_long_they_worked_there() -> None:
    assert whole("How long?", "What did Ann do at Gridmoor?") == "How long did Ann work at Gridmoor?"
