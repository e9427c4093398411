"""Two people's resumes and a post, from the files to the answer: what somebody has is never taken from the other."""

import pytest

from config.settings import Settings
from pipelines.answers import Answer, Footnote, Token, Verdict
from pipelines.ingestion.run import ingest
from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.audit import audit
from pipelines.store.documents import load_document
from tests.conftest import MakeSettings

LENA = """# Lena Brandt

Hamburg, Germany | lena@example.com

## Experience

### Kieker AG | Software Developer | Kiel | Jan 2016 – Mar 2020

- Built the first API for parcel labels in Java.
- Mentored four juniors.

## Education

### University of Kiel | MSc Computer Science | 2013 – 2015

## Skills

Languages: Kotlin, Java

## Certifications

- Oracle Certified Professional (2018)
- Professional Scrum Master I (2021)
"""
OMAR = """# Omar Haddad

Lyon, France | omar@example.com

## Experience

### Kieker AG | Data Analyst | Kiel | Feb 2017 – Aug 2019

- Measured how often parcels were late, in Python.

## Education

### INSA Lyon | MSc Applied Mathematics | 2011 – 2016

## Skills

Languages: Python, R
"""
POST = "# Late parcels\n\nLena Brandt and I counted late parcels at Kieker. Lena has the rare skill of saying no.\n"


@pytest.fixture(scope="module")
def stored(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """What the tests have copies of."""
    folder, settings = tmp_path_factory.mktemp("docs"), stock()
    for name, text in {"lena-resume.md": LENA, "omar-resume.md": OMAR, "post.md": POST}.items():
        (folder / name).write_text(text)
    ingest(settings, [str(folder)])
    return settings


@pytest.fixture
def engine(stored: Settings, make_settings: MakeSettings) -> QueryEngine:
    return build_query_engine(make_settings(stored))


def assert_checked(engine: QueryEngine, answer: Answer) -> None:
    """Every sentence is supported by sources whose snippets are the stored text at their offsets."""
    assert answer.sentences
    for sentence in answer.sentences:
        assert sentence.verdict == "supported"
        assert sentence.citations
    with engine.database.engine.connect() as connection:
        for source in answer.sources:
            document = load_document(connection, source.document_id, "owner")
            assert document is not None
            assert document.text[source.start : source.end] == source.snippet


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What degrees does Lena have?", ["MSc in Computer Science, University of Kiel, 2013 – 2015"]),
        ("Where did Omar study?", ["MSc in Applied Mathematics, INSA Lyon, 2011 – 2016"]),
        ("Which companies did Omar work for?", ["Kieker AG"]),
        ("What was Lena's title at Kieker?", ["Software Developer at Kieker AG (Jan 2016 – Mar 2020)"]),
        ("What did Lena do at Kieker?", ["Built the first API for parcel labels in Java.", "Mentored four juniors."]),
        ("Which skills does Lena have?", ["Languages: Kotlin, Java"]),
        ("What certificates does Lena hold?", ["Oracle Certified Professional, 2018",
                                              "Professional Scrum Master I, 2021"]),
        ("Who worked at Kieker?", ["Lena Brandt: Software Developer at Kieker AG (Jan 2016 – Mar 2020)",
                                   "Omar Haddad: Data Analyst at Kieker AG (Feb 2017 – Aug 2019)"]),
    ],
)  # fmt: skip
def test_a_list_is_in_bullets_each_of_which_cites_the_span_that_states_it(
    engine: QueryEngine, question: str, said: list[str]
) -> None:
    answer = engine.ask(question)
    assert [sentence.text for sentence in answer.sentences] == said
    assert (answer.model, answer.confidence) == (CAREER_FACTS, "high")
    assert [line[:2] for line in answer.answer.splitlines()] == ["- "] * len(said)
    assert_checked(engine, answer)
    assert audit(engine.database.engine)["violations"] == []


def test_the_events_of_a_list_are_its_answer_with_each_footnote_once(engine: QueryEngine) -> None:
    *events, answer = engine.answer("Who worked at Kieker?")
    assert isinstance(answer, Answer)
    assert "".join(event.text for event in events if isinstance(event, Token)).count("\n- ") == 1
    assert [event.n for event in events if isinstance(event, Footnote)] == [source.n for source in answer.sources]
    assert [event.index for event in events if isinstance(event, Verdict)] == [0, 1]


@pytest.mark.parametrize(
    "question",
    [
        "Does Omar know Kotlin?",
        "Which juniors did Omar mentor?",
        "What did Omar build in Java?",
        "Which parcels did Lena measure in Python?",
        "Which of Lena's parcels were late in Python?",
        "Does omar hold the Professional Scrum Master certificate?",
    ],
)
def test_what_is_asked_of_one_person_is_never_quoted_from_the_resume_of_another(
    engine: QueryEngine, question: str
) -> None:
    other = "lena-resume.md" if "omar" in question.lower() else "omar-resume.md"
    answer = engine.ask(question)
    cited = {answer.sources[n - 1].documentName for sentence in answer.sentences for n in sentence.citations}
    assert other not in cited


@pytest.mark.parametrize(
    "question",
    [
        "What did Petra do at Kieker?",
        "When did Petra Vogel join Kieker AG?",
        "Did Petra mentor juniors at Kieker?",
        "Which languages does Omar speak?",
        "Which languages does Petra speak?",
    ],
)
def test_of_somebody_whose_career_is_not_stated_no_resume_is_quoted_nor_code_as_what_is_spoken(
    engine: QueryEngine, question: str
) -> None:
    answer = engine.ask(question)
    cited = {answer.sources[n - 1].documentName for sentence in answer.sentences for n in sentence.citations}
    assert cited <= {"post.md"}


@pytest.mark.parametrize(
    "question",
    [
        "Which skills does Petra have?",
        "Which companies did Lena Vogel work for?",
        "Who worked at Umbrella?",
        "What was Omar's title at Nordlicht?",
    ],
)
def test_people_and_companies_that_no_document_knows_have_no_list(engine: QueryEngine, question: str) -> None:
    assert engine.ask(question).model != CAREER_FACTS


def test_a_question_about_nobody_may_be_answered_from_any_resume(engine: QueryEngine) -> None:
    answer = engine.ask("Which API for parcel labels was built in Java?")
    assert "Built the first API for parcel labels in Java." in answer.answer
