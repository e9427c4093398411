"""A resume and a LinkedIn export of one career that disagree, from the files to the answer."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from config.settings import LLMSettings, Settings
from pipelines.answers import Answer
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.audit import audit
from pipelines.store.documents import load_document
from tests.fake_openai import FakeOpenAI

RESUME = """# Ann Lee

Data engineer in Bergen. ann@example.com

## Experience

### Data Engineer, Acme Robotics

*January 2019 - March 2021*

- Built the pallet routing pipelines in Python.
- Cut the cost of the Brook cluster by 40 percent.

### Consultant, Beta AS

*April 2021 - May 2024*

- Advised ports on container planning.

## Education

MSc Computer Science, NTNU, 2014 - 2016
"""
EXPORT = """Contact
ann@example.com
www.linkedin.com/in/ann-lee (LinkedIn)

Top Skills
Python
Kafka

Languages
Norwegian (Native or Bilingual)

Ann Lee
Data engineer in Bergen
Bergen, Vestland, Norway

Summary
I build pipelines for machines that carry things.

Experience
Acme Robotics
Data Engineer
January 2019 - November 2022 (3 years 11 months)
Bergen, Norway
Built the pallet routing pipelines in Python.
Cut the cost of the Brook cluster by 60 percent.

Beta AS
Consultant
April 2021 - May 2024 (3 years 2 months)
Bergen, Norway

Education
NTNU
Master's degree, Computer Science · (2014 - 2016)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "resume.md").write_text(RESUME)
    (tmp_path / "Profile.txt").write_text(EXPORT)
    return tmp_path


@pytest.fixture
def engine(folder: Path, settings: Settings) -> QueryEngine:
    ingest(settings, [str(folder)])
    return build_query_engine(settings)


def assert_cited(engine: QueryEngine, answer: Answer) -> None:
    """Every side's quote is the stored text at its offsets, and its number is a source of the answer."""
    assert [source.n for source in answer.sources] == list(range(1, len(answer.sources) + 1))
    numbers = {source.n: source.document_id for source in answer.sources}
    for conflict in answer.conflicts:
        assert len({side.document_id for side in conflict.sides}) == len(conflict.sides) > 1
        for side in conflict.sides:
            with engine.database.engine.connect() as connection:
                document = load_document(connection, side.document_id, "owner")
            assert document is not None
            assert document.text[side.start : side.end] == side.quote
            assert numbers[side.n] == side.document_id
    assert audit(engine.database.engine)["violations"] == []


@pytest.mark.parametrize(
    "question",
    ["When was Ann at Acme Robotics?", "How long did she work at Acme Robotics?", "What was her job in 2020?"],
)
def test_dates_that_differ_are_shown_with_both_sides(engine: QueryEngine, question: str) -> None:
    answer = engine.ask(question)
    (dates,) = [conflict for conflict in answer.conflicts if conflict.kind == "dates"]
    assert dates.said.startswith("Acme Robotics: January 2019 - March 2021 [")
    assert "January 2019 - November 2022 [" in dates.said
    assert answer.confidence != "high"
    assert_cited(engine, answer)


def test_what_nobody_disputes_has_no_conflict(engine: QueryEngine) -> None:
    answer = engine.ask("How long did she work at Beta?")
    assert answer.answered
    assert answer.conflicts == ()


def test_a_named_value_of_another_document_is_shown_with_both_sides(
    folder: Path, engine: QueryEngine, settings: Settings
) -> None:
    (folder / "call.md").write_text("# Brook fair\n\nWho may come.\n\n- Deadline: 3 May 2024\n- Place: Oslo\n")
    (folder / "reminder.md").write_text("# Brook fair: reminder\n\nPlease apply.\n\n- Deadline: 10 May 2024\n")
    ingest(settings, [str(folder)])
    answer = engine.ask("When is the deadline of the Brook fair?")
    (value,) = answer.conflicts
    assert value.kind == "value"
    assert {"Deadline: 3 May 2024", "Deadline: 10 May 2024"} <= {side.quote.removeprefix("- ") for side in value.sides}
    assert answer.confidence != "high"
    assert_cited(engine, answer)


HARBOURS = (
    "# Ann Lee\n\nAt Tidewell my group runs reservations for more than {} marinas.\n\nTidewell trials: 214 berths.\n"
)


@pytest.mark.parametrize("question", ["number of marinas on your platform?", "Marinas: how many?"])
def test_two_documents_that_count_the_same_things_differently_are_both_quoted(
    folder: Path, engine: QueryEngine, settings: Settings, question: str
) -> None:
    (folder / "about.md").write_text(HARBOURS.format(190))
    (folder / "news.md").write_text("# News\n\nReservations run in 214 marinas of nine countries.\n")
    ingest(settings, [str(folder)])
    answer = engine.ask(question)
    assert "more than 190 marinas. [" in answer.answer
    assert "214 marinas of nine countries. [" in answer.answer
    (counts,) = answer.conflicts
    assert re.sub(r" \[\d\]", "", counts.said) in {
        "marinas: 190 marinas, 214 marinas",
        "marinas: 214 marinas, 190 marinas",
    }
    assert answer.confidence == "medium"
    assert_cited(engine, answer)


@pytest.mark.parametrize(
    ("why", "other"),
    [
        ("the same", "Reservations run in 190 marinas of nine countries."),
        ("far from it", "Reservations run in 12 marinas of nine countries."),
        ("of a time", "Reservations run in 214 marinas a month."),
        ("of a year", "In 2021 the reservations ran in 170 marinas."),
        ("nothing in common", "A guide lists 214 marinas."),
        ("other things", "Reservations run for 214 boats."),
    ],
)
def test_counts_that_may_both_hold_are_no_disagreement(
    folder: Path, engine: QueryEngine, settings: Settings, why: str, other: str
) -> None:
    (folder / "about.md").write_text(HARBOURS.format(190))
    (folder / "news.md").write_text(f"# News\n\n{other}\n")
    ingest(settings, [str(folder)])
    assert engine.ask("How many marinas run your reservations?").conflicts == (), why


@pytest.fixture
def talking(folder: Path, make_settings: Callable[..., Settings], openai: FakeOpenAI) -> QueryEngine:
    """An engine whose answers a fake model writes."""
    llm = LLMSettings(provider="openai", model="fake", api_base=openai.url, retries=0, timeout_seconds=5)
    settings = make_settings(llm=llm)
    ingest(settings, [str(folder)])
    return build_query_engine(settings)


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def citing(words: str, said: str) -> Callable[[Mapping[str, Any]], str]:
    """A model that says something and cites the first source that has these words."""

    def reply(body: Mapping[str, Any]) -> str:
        sources = re.findall(r"<<source (\d+) \w+>>(.*?)<</source", body["messages"][-1]["content"], re.DOTALL)
        return f"{said} [{next(n for n, text in sources if words in text)}]."

    return reply


def test_an_answer_of_a_language_model_shows_the_disputed_dates_that_it_states(
    talking: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = citing("March 2021", "She was at Acme Robotics until March 2021")
    answer = talking.ask("When was Ann at Acme Robotics?")
    assert answer.mode == "llm"
    assert [conflict.kind for conflict in answer.conflicts] == ["dates"]
    assert_cited(talking, answer)
