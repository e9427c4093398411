"""A question that leaves open whom of several people it means is asked back."""

import pytest

from config.prompts import ASKED_BACK
from config.settings import Settings
from pipelines.ingestion.run import ingest
from pipelines.query.answer import answer_json, read_answer
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.types import Turn
from tests.conftest import MakeSettings


def resume(name: str, headline: str, city: str, degree: str, school: str) -> str:
    return (
        f"# {name}\n\n{headline}\n\n{city} | {name.split(maxsplit=1)[0].lower()}@mail.example\n\n## Experience\n\n"
        f"### {school} | Engineer | {city} | March 2019 - Present\n\n- Built gauges\n\n"
        f"## Education\n\n### {degree}, {school}, 2013 - 2015\n"
    )


@pytest.fixture(scope="module")
def stored(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder, settings = tmp_path_factory.mktemp("docs"), stock()
    (folder / "ines.md").write_text(resume("Ines Varga", "Hydrologist", "Porto", "MSc in Hydrology", "Porto College"))
    (folder / "joan.md").write_text(resume("Joan Tull", "Welder", "Hull", "BSc in Metals", "Hull College"))
    ingest(settings, [str(folder)])
    return settings


@pytest.fixture(scope="module")
def engine(stored: Settings) -> QueryEngine:
    return build_query_engine(stored)


@pytest.mark.parametrize(
    ("question", "word"),
    [("What did she study?", "she"), ("Which degrees does he hold?", "he"), ("Tell me about her work", "her")],
)
def test_a_word_that_fits_two_people_is_asked_back(engine: QueryEngine, question: str, word: str) -> None:
    answer = engine.ask(question)
    assert answer.answer == f"Two people fit “{word}”: Ines Varga and Joan Tull. Which one do you mean?"
    assert (answer.model, answer.answered, answer.sentences) == (ASKED_BACK, False, ())
    assert [source.snippet[:6] for source in answer.nearest] == ["# Ines", "# Joan"]
    assert read_answer(answer_json(answer)) == answer


def test_the_question_asked_of_each_is_what_may_be_asked_next(engine: QueryEngine) -> None:
    answer = engine.ask("What did she study?")
    assert engine.suggest(answer) == ("What did Ines Varga study?", "What did Joan Tull study?")
    assert "Hull College" in engine.ask(engine.suggest(answer)[1]).answer


def test_a_name_in_reply_is_the_question_asked_of_that_person(engine: QueryEngine) -> None:
    asked = engine.ask("What did she study?")
    reply = engine.ask("Joan Tull", history=[Turn("What did she study?", asked.answer)])
    assert reply.condensed == "What did Joan Tull study?"
    assert "Metals" in reply.answer


@pytest.mark.parametrize("question", ["What did Joan study?", "What is Hull College?", "Did Joan say where she works?"])
def test_a_question_that_names_whom_it_means_is_answered(engine: QueryEngine, question: str) -> None:
    assert engine.ask(question).model != ASKED_BACK


def test_the_person_of_the_conversation_is_meant(engine: QueryEngine) -> None:
    before = Turn("Where does Joan Tull work?", "Engineer at Hull College.")
    answer = engine.ask("What did she study?", history=[before])
    assert answer.model != ASKED_BACK
    assert "Metals" in answer.answer


def test_stated_pronouns_tell_whom_a_word_fits(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, settings = tmp_path_factory.mktemp("pronouns"), stock()
    ines = resume("Ines Varga (she/her)", "Hydrologist", "Porto", "MSc in Hydrology", "Porto College")
    (folder / "ines.md").write_text(ines)
    (folder / "joan.md").write_text(resume("Joan Tull (he/him)", "Welder", "Hull", "BSc in Metals", "Hull College"))
    ingest(settings, [str(folder)])
    assert build_query_engine(settings).ask("What did she study?").model != ASKED_BACK


def test_one_person_under_two_names_is_not_asked_for(
    stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, settings = tmp_path_factory.mktemp("names"), stock()
    (folder / "ines.md").write_text(resume("Ines Varga", "Hydrologist", "Porto", "MSc in Hydrology", "Porto College"))
    (folder / "nes.md").write_text(resume("Nes Varga", "Hydrologist", "Porto", "MSc in Hydrology", "Porto College"))
    ingest(settings, [str(folder)])
    assert build_query_engine(settings).ask("What did she study?").model != ASKED_BACK
