"""Questions in words that no rule knows, answered from the typed facts of the person whom they are about."""

import pytest

from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.engine import QueryEngine
from tests.conftest import ReadOnly

FILES = {
    "resume.md": (
        "# Ines Varga\n\nPorto, Portugal | ines@varga.example\n\n"
        "## Experience\n\n### River Office | Data Engineer | Porto | March 2019 - Present\n\n"
        "- Moved the gauge archive\n\n"
        "### Tide Lab | Analyst | Lisbon | May 2015 - February 2019\n\n- Wrote tide reports\n\n"
        "## Skills\n\nCode: Rust, Python\n\nPrograms: QGIS, Excel\n\n"
        "## Languages\n\nPortuguese (native), English (fluent)\n\n"
        "## Off the clock\n\n- Sea swimming in winter\n"
    ),
    "tidebook/README.md": "# tidebook\n\nA small Rust library that predicts tides.\n\n## Install\n\nRun cargo.\n",
    "talks.md": (
        "# Talks\n\n- Tides in Rust, RivConf, Lyon, 3 May 2022. Slides, video\n"
        "- Gauges, Hydro Day, Bergen, 4 June 2021\n"
    ),
    "posts/2021-04-02-floods.md": "# Floods by night\n\nI keep the flood levels in Postgres.\n",
}


@pytest.fixture
def engine(read_only: ReadOnly) -> QueryEngine:
    return read_only(FILES)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("current occupation of I. Varga", "Data Engineer at River Office"),
        ("your very first job?", "Analyst at Tide Lab"),
        ("What programming languages does she know?", "Rust, Python"),
        ("Anything written in Rust?", "tidebook"),
        ("what do you blog about", "Floods by night"),
        ("Hobbies?", "Sea swimming in winter"),
        ("Has she given a talk in Bergen?", "Yes: Gauges"),
        ("What's the email address?", "ines@varga.example"),
        ("Does she live in Porto?", "Yes: Porto, Portugal"),
        ("Posts on floods?", "1 blog post mentions"),
        ("Did she work at Tide Lab?", "Yes: Analyst at Tide Lab"),
        ("Summarise her career", "River Office"),
        ("hey there, who are you?", "River Office"),
    ],
)
def test_a_question_is_answered_by_its_kind(engine: QueryEngine, question: str, said: str) -> None:
    answer = engine.ask(question)
    assert answer.answered
    assert said in answer.answer
    assert all(sentence.verdict == "supported" for sentence in answer.sentences)


@pytest.mark.parametrize("question", ["What was Dorothea's first job?", "Does she speak German?"])
def test_what_the_facts_do_not_say_is_not_listed(engine: QueryEngine, question: str) -> None:
    answer = engine.ask(question)
    assert "Tide Lab" not in answer.answer
    assert answer.model != CAREER_FACTS  # their line may be quoted: it does not name German


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("Has she ever given a talk in Paris?", "RivConf"),
        ("Which of her talks has a video?", "Hydro Day"),
        ("Did she live in Halifax?", "Porto"),
        ("Posts on small models?", "Floods by night"),
        ("Has she published papers?", "Floods by night"),
        ("Did she work at River Tower?", "Yes"),
    ],
)
def test_words_that_a_kind_does_not_explain_narrow_its_answer(engine: QueryEngine, question: str, unsaid: str) -> None:
    assert unsaid not in engine.ask(question).answer
