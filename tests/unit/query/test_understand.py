from datetime import date

import pytest

from config.prompts import GREETING, REPLIES, THANKS
from config.settings import AnalysisSettings
from pipelines.errors import RetrievalError
from pipelines.query.question.rules import is_greeting, reply_to_courtesy
from pipelines.query.question.understand import Narrowing, analyse, narrowings, outside
from pipelines.store.known_names import NameIndex
from pipelines.types import Filters, QueryIntent, Turn
from tests.unit.query.builders import hit

TODAY = date(2025, 6, 1)
BEFORE = [Turn("When did Ann join Acme?", "In 2019.")]


def years(question: str) -> tuple[int, ...]:
    return analyse(question, today=TODAY).years


# The question


def test_the_terms_are_what_an_answer_must_be_about() -> None:
    assert analyse("Tell me about her C++ projects, please").terms == ("c++", "project")


def test_a_question_is_folded_to_one_clean_line() -> None:
    assert analyse("  Who\n is\tAnn\x00? ").question == "Who is Ann?"


@pytest.mark.parametrize("question", ["", "  \n ", "\x00"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(RetrievalError, match="empty"):
        analyse(question)


@pytest.mark.parametrize("question", ["???", '"."', "👋", "。"])
def test_a_question_without_a_letter_or_digit_is_searched_as_it_is_and_asks_for_no_term(question: str) -> None:
    intent = analyse(question)
    assert (intent.search_text.strip('"'), intent.terms, intent.greeting) == (question.strip('"'), (), False)


def test_a_question_over_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(RetrievalError, match=r"2,001 characters, and 2,000"):
        analyse("x" * 2001)


@pytest.mark.parametrize(
    "question",
    ['"' * 1999 + "x", "“" * 1999 + "x", '" ' * 999 + "x", "«a" * 1000, "2019-" * 399, "hi " * 660 + "x", "I am " * 399,
     "find all " * 220, "(I'm not interested in " * 80, "is it " * 300, "a\ud800b", "שלום מה שלומך?", "🤔" * 500 + "x"],
)  # fmt: skip
def test_hostile_questions_are_read_at_once_and_within_the_limit(question: str) -> None:
    assert 0 < len(analyse(question, history=BEFORE).search_text) <= 2000


# Categories and sections


@pytest.mark.parametrize(
    ("question", "categories"),
    [
        ("Where has she worked?", ("resume", "linkedin")),
        ("Which jobs?", ("resume", "linkedin")),
        ("Which projects use Go?", ("github", "resume", "linkedin")),
        ("What decisions are in there?", ("journey",)),
        ("Which university?", ("resume", "linkedin")),
        ("Is that on the résumé?", ("resume",)),
    ],
)
def test_words_and_their_inflections_ask_for_categories_the_likeliest_first(question: str, categories) -> None:
    assert analyse(question).categories == categories


@pytest.mark.parametrize(
    "question",
    [
        "Which network is it?",
        "Which frameworks?",
        "Is it about machine learning?",
        "Who did the artwork?",
        "A zip code",
    ],
)
def test_a_word_inside_another_word_or_in_a_compound_asks_for_no_category(question: str) -> None:
    assert analyse(question).categories == ()


def test_the_category_with_more_of_the_words_comes_first() -> None:
    assert analyse("Why this approach to the project?").categories == ("journey", "github", "resume", "linkedin")
    assert analyse("Which project at which company at work?").categories == ("resume", "linkedin", "github")


def test_section_names_are_read_folded() -> None:
    assert analyse("Which SKILLS and certifications?").sections == ("skills", "certifications")
    assert analyse("Which language model?").sections == ()


def test_categories_and_years_are_not_read_when_switched_off() -> None:
    intent = analyse("What work was done in 2023?", AnalysisSettings(categories="off", years="off"))
    assert (intent.categories, intent.years) == ((), ())


# Years


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("in 2023", (2023,)),
        ("the 2021 report", (2021,)),
        ("in 2019, 2020 and 2022", (2019, 2020, 2022)),
        ("2019–2021", (2019, 2020, 2021)),
        ("2019-21", (2019, 2020, 2021)),
        ("from 2019 to 2021", (2019, 2020, 2021)),
        ("between 2019 and 2021", (2019, 2020, 2021)),
        ("since 2023", (2023, 2024, 2025)),
        ("from 2024 on", (2024, 2025)),
        ("after 2023", (2024, 2025)),
        ("before 1953", (1950, 1951, 1952)),
        ("in the 1990s", tuple(range(1990, 2000))),
        ("last year", (2024,)),
        ("this year", (2025,)),
        ("two years ago", (2023,)),
        ("in the last 2 years", (2023, 2024, 2025)),
        ("FY25", (2025,)),
        ("FY2025-26", (2025,)),
        ("FY25-26", (2025,)),
        ("on 2023-06-01", (2023,)),
        ("mid-2023", (2023,)),
        ("in 2000", (2000,)),
        ("what about 2021?", (2021,)),
    ],
)
def test_years_are_named_or_implied(question: str, expected: tuple[int, ...]) -> None:
    assert years(question) == expected


@pytest.mark.parametrize(
    "question",
    ["in 2000 characters", "2000-character pieces", "1999 users", "2000", "port 2019", "issue 2021", "RFC 2019",
     "#2021", "ABC-2021", "v2021", "$2000", "2,023 rows", "2023.5", "in 2027", "1949", "20230", "how many years ago"],
)  # fmt: skip
def test_other_numbers_are_no_years(question: str) -> None:
    assert years(question) == ()


@pytest.mark.parametrize("question", ["Where does she work now?", "her latest talk", "What did she do recently?"])
def test_a_question_may_ask_for_what_is_new(question: str) -> None:
    assert analyse(question).recent


@pytest.mark.parametrize("question", ["What does she know?", "How fast is the ocean current?", "Which currents?"])
def test_words_that_only_look_like_it_do_not_ask_for_what_is_new(question: str) -> None:
    assert not analyse(question).recent


# Phrases


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('Who wrote "late data is data"?', ("late data is data",)),
        ('"latemark"', ("latemark",)),
        ("“late\n  data” and «du lait»", ("late data", "du lait")),
        ('"Late data," she wrote.', ("Late data",)),
        ('Does "C++" count?', ("C++",)),
    ],
)
def test_words_in_quotation_marks_are_phrases(question: str, phrases: tuple[str, ...]) -> None:
    assert analyse(question).phrases == phrases


def test_quotation_marks_are_not_searched_for() -> None:
    assert analyse('Who wrote "late data"?').search_text == "Who wrote late data?"


@pytest.mark.parametrize("question", ["Ann's and the boats' hulls", "what is 'late data'?", 'a 5" and a 7" screen'])
def test_apostrophes_and_inches_quote_nothing(question: str) -> None:
    assert analyse(question).phrases == ()


def test_a_question_that_is_quoted_whole_is_no_phrase() -> None:
    assert analyse('"Where does she work?"').phrases == ()


def test_quotations_in_a_long_request_are_examples() -> None:
    request = (
        'Articles on text formatting, including "what you see is what you get" systems. '
        "Examples: scribe, bravo, and the like."
    )
    assert analyse(request).phrases == ()


def test_at_most_five_phrases_of_200_characters_bind() -> None:
    assert analyse('"a" "b" "c" "d" "e" "f"').phrases == tuple("abcde")
    assert analyse(f'who said "{"x" * 201}"').phrases == ()


def test_phrases_do_not_bind_when_switched_off() -> None:
    assert analyse('Who wrote "late data"?', AnalysisSettings(phrases=False)).phrases == ()


# What only asks


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("Tell me about latemark", "latemark"),
        ("Please describe the buoy", "the buoy"),
        ("I am interested in articles on robotics.", "robotics."),
        ("I’m looking for papers on design", "design"),
        ("find all discussions of microcode", "microcode"),
        ("Is there any information about buoys?", "buoys?"),
        ("Hello, where does she work?", "where does she work?"),
    ],
)
def test_what_only_asks_is_not_searched_for(question: str, searched: str) -> None:
    assert analyse(question).search_text == searched
    assert analyse(question, AnalysisSettings(trim=False)).search_text == question


@pytest.mark.parametrize(
    "question",
    ["What did she tell us about Go?", "In 2023 what did she do?", "In which articles is Go?",
     "Which roles did she not want?", "Tell me", "We are not interested in arms.", "Ships,  sails."],
)  # fmt: skip
def test_a_question_without_request_phrases_or_nothing_else_is_searched_whole(question: str) -> None:
    assert analyse(question).search_text == " ".join(question.split())


# Names, values, greetings


def test_names_that_the_database_knows_give_their_documents() -> None:
    known = NameIndex([("latemark", "d1"), ("latemark", "d2"), ("manualgrep", "d2")])
    intent = analyse("latemark or manualgrep", known=known)
    assert (intent.names, intent.documents) == (("latemark", "manualgrep"), ("d1", "d2"))


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("How many talks?", ("count",)),
        ("the number of buoys", ("count",)),
        ("How long was she there?", ("duration",)),
        ("How many years?", ("duration",)),
        ("How many years ago?", ("count",)),
        ("How?", ()),
    ],
)
def test_counts_and_durations_are_noted(question: str, wants: tuple[str, ...]) -> None:
    assert analyse(question).wants == wants


@pytest.mark.parametrize(
    "question", ["hi", "Hello there!", "thanks", "Good morning", "Thank you for your help!", "hey 👋"]
)
def test_a_greeting_asks_nothing(question: str) -> None:
    assert analyse(question, history=BEFORE).greeting


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Hi there", GREETING),
        ("thanks", THANKS),
        ("Great, thank you so much!", THANKS),
        ("Guten Morgen!", REPLIES["de"][0]),
        ("Danke schön", REPLIES["de"][1]),
        ("Merci beaucoup !", REPLIES["fr"][1]),
        ("¡Hola! Buenos días", REPLIES["es"][0]),
        ("¡Muchas gracias!", REPLIES["es"][1]),
        ("Thanks to whom?", ""),
        ("Danke für was?", ""),
    ],
)
def test_thanks_and_greetings_have_replies_of_their_own_in_their_language(question: str, reply: str) -> None:
    assert (reply_to_courtesy(question), is_greeting(question)) == (reply, bool(reply))


@pytest.mark.parametrize("question", ["hi, where?", "Is it good?", "thanks, and how much?", "Who is Hi?", "Highlights"])
def test_a_question_is_no_greeting(question: str) -> None:
    assert not analyse(question).greeting


# Follow-ups


@pytest.mark.parametrize(
    "question", ["And why, in short?", "Why did they leave it?", "what about that one", "tell me more"]
)
def test_a_question_that_points_back_is_searched_with_the_topic_of_the_one_before(question: str) -> None:
    intent = analyse(question, history=BEFORE)
    assert intent.follow_up
    assert intent.search_text.endswith(" (Ann Acme)")
    assert intent.question == question


def test_a_year_of_ones_own_replaces_the_earlier_one() -> None:
    history = [Turn("What did Ann build in 2019?", "A boat.")]
    assert analyse("what about 2021?", history=history, today=TODAY).years == (2021,)
    assert analyse("and why?", history=history, today=TODAY).years == (2019,)


def test_a_chain_of_follow_ups_reaches_back_to_the_question_that_stands_alone() -> None:
    history = [Turn("Who founded Gridmoor?", "Ann."), Turn("thanks!", "Hello."), Turn("When was that?", "In 2019.")]
    assert analyse("and where?", history=history).search_text == "and where? (Gridmoor)"


@pytest.mark.parametrize(
    "question",
    ["What broke the winter pump?", "how do I build lumen", "Which licence does lumen have?",
     "When the red valves of the old pump leak, who mends them?"],
)  # fmt: skip
def test_a_short_question_with_matter_of_its_own_stands_alone(question: str) -> None:
    history = [Turn("Which licence does tarn have?", "MIT.")]
    assert analyse(question, history=history).condensed == ""


def test_no_word_of_a_title_that_nobody_named_is_taken_over() -> None:
    history = [Turn("What watches the cold stores?", "A logger.", ("Cold store notes",))]
    assert analyse("Who wrote it?", history=history).search_text == "Who wrote it? (watches cold stores)"


@pytest.mark.parametrize(
    "question",
    ["Which databases did Marit use at Gridmoor?", "What are the five steps of putting wave buoys into deep water?",
     "Is it possible to count the atoms of ordinary matter in small droplets?"],
)  # fmt: skip
def test_a_question_that_stands_alone_is_searched_alone(question: str) -> None:
    intent = analyse(question, history=BEFORE)
    assert (intent.follow_up, intent.search_text) == (False, question)


def test_without_history_nothing_points_back() -> None:
    assert analyse("And why?").follow_up is False


def test_a_condensed_question_keeps_the_limit() -> None:
    history = [Turn("x" * 1990, "y")]
    assert len(analyse("and why is that so?", history=history).search_text) <= 2000


WORK = QueryIntent("q", "q", categories=("resume", "linkedin"), years=(2023, 2024))
CATEGORIES, YEARS = WORK.categories, WORK.years


def use(categories: str = "off", years: str = "off") -> AnalysisSettings:
    return AnalysisSettings(categories=categories, years=years)


@pytest.mark.parametrize("mode", ["boost", "off"])
def test_a_boost_narrows_nothing(mode: str) -> None:
    asked = Filters(collection=("c",))
    assert narrowings(WORK, asked, use(mode, mode)) == [Narrowing(asked)]


def test_prefilters_are_given_up_years_first_then_categories() -> None:
    assert narrowings(WORK, Filters(), use("prefilter", "prefilter")) == [
        Narrowing(Filters(category=CATEGORIES, year=YEARS), guessed=True),
        Narrowing(Filters(category=CATEGORIES), guessed=True, dropped="years"),
        Narrowing(Filters(), dropped="categories"),
    ]


def test_postfilters_are_kept_from_the_legs() -> None:
    assert narrowings(WORK, Filters(), use("postfilter", "prefilter")) == [
        Narrowing(Filters(year=YEARS), keep=Filters(category=CATEGORIES), guessed=True),
        Narrowing(Filters(), keep=Filters(category=CATEGORIES), guessed=True, dropped="years"),
        Narrowing(Filters(), dropped="categories"),
    ]


def test_guessed_years_alone_are_given_up_at_once() -> None:
    assert narrowings(WORK, Filters(), use(years="prefilter")) == [
        Narrowing(Filters(year=YEARS), guessed=True),
        Narrowing(Filters(), dropped="years"),
    ]


def test_a_guess_narrows_what_the_caller_asked_for_and_never_widens_it() -> None:
    asked = Filters(category=("linkedin", "blog"), year=(2024, 2025))
    first, *_, last = narrowings(WORK, asked, use("prefilter", "prefilter"))
    assert first.filters == Filters(category=("linkedin",), year=(2024,))
    assert last.filters == asked


def test_a_guess_outside_what_the_caller_asked_for_is_none() -> None:
    asked = Filters(category=("blog",), year=(2010,))
    assert narrowings(WORK, asked, use("prefilter", "postfilter")) == [Narrowing(asked)]


def test_phrases_join_the_caller_s_and_are_in_every_narrowing() -> None:
    quoting = QueryIntent("q", "q", categories=("blog",), phrases=("late data", "a"))
    steps = narrowings(quoting, Filters(phrase=("a", "b")), use("prefilter"))
    assert [step.filters.phrase for step in steps] == [("a", "b", "late data")] * 2


def test_a_question_without_words_or_years_guesses_nothing() -> None:
    assert narrowings(QueryIntent("q", "q"), Filters(), use("prefilter", "prefilter")) == [Narrowing(Filters())]


def test_a_postfilter_takes_out_the_other_categories_and_years() -> None:
    ranking = [
        hit("a", category="resume", year=2023),
        hit("b", category="blog", year=2023),
        hit("c", category="resume", year=2019),
        hit("d", category="resume", year=None),
    ]
    keep = Filters(category=("resume",), year=(2023,))
    assert outside(ranking, Narrowing(Filters(), keep=keep)) == {"b", "c", "d"}
    assert outside(ranking, Narrowing(keep)) == set()


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How many documents are there?", "corpus"),
        ("Tell me about yourself.", "overview"),
        ("When did the buoy sink?", "value"),
        ("Which sensors were lost?", "list"),
        ("What is Gridmoor?", "definition"),
        ("How do I start the crane?", "how-to"),
        ("Did the crane fall?", "yes-no"),
        ("Is the crane faster than the lift?", "comparison"),
        ("Why did the crane fall?", "fact"),
        ("Hello", "greeting"),
    ],
)
def test_the_form_of_answer_that_is_asked_for(question: str, form: str) -> None:
    assert analyse(question, known=NameIndex((), ["Ann Lee"])).form == form


def test_the_person_meant_is_the_one_named_else_the_only_one() -> None:
    two = NameIndex((), ["Ann Lee", "Jon Frost"])
    assert [analyse(q, known=two).person for q in ("Where does Jon live?", "Where do you live?")] == ["Jon Frost", ""]
    assert analyse("Where do you live?", known=NameIndex((), ["Ann Lee"])).person == "Ann Lee"


@pytest.mark.parametrize(
    ("question", "proper"),
    [
        ("We run a choir. Which languages can she sing in?", "Which languages can she sing in?"),
        ("Our newsletter wants two lines. Who is he?", "Who is he?"),
        ("We run on Windows. Will it work for you?", ""),  # points back
        ("I want the build to fail. Which flag?", ""),  # asks of nobody
        ("Where is she? And what does she do?", ""),  # two questions
        ("I am late. Wait for her.", ""),
        ("Which languages can she sing in?", ""),
    ],
)
def test_a_sentence_of_context_is_no_part_of_the_question_proper(question: str, proper: str) -> None:
    assert analyse(question).proper == proper
    assert analyse(question).search_text == question
