"""Questions in other languages over English documents, with the default embedding model."""

import pytest

from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.engine import QueryEngine
from tests.conftest import ReadOnly

FILES = {
    "resume.md": (
        "# Ines Varga\n\nPorto, Portugal | ines@varga.example\n\n"
        "## Experience\n\n### River Office | Data Engineer | Porto | March 2019 - February 2021\n\n"
        "- Moved the gauge archive\n\n"
        "### Tide Lab | Analyst | Lisbon | May 2015 - February 2019\n\n- Wrote tide reports\n\n"
        "## Education\n\n### MSc in Hydrology, University of Porto, 2013 - 2015\n\n"
        "## Languages\n\nPortuguese (native), English (fluent)\n"
    ),
    "garden.md": "# Garden\n\nTomatoes need sun every day, and water in the evening.\n",
}


@pytest.fixture
def engine(read_only: ReadOnly) -> QueryEngine:
    return read_only(FILES)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Wie lange hat sie bei Tide Lab gearbeitet?", "3 Jahre 10 Monate bei Tide Lab: Analyst bei Tide Lab"),
        ("Combien de temps a-t-elle travaillé chez Tide Lab ?", "3 ans 10 mois chez Tide Lab"),
        ("¿Cuánto tiempo trabajó en Tide Lab?", "3 años 10 meses en Tide Lab"),
        ("Quanto tempo ha lavorato presso Tide Lab?", "3 anni 10 mesi presso Tide Lab"),
        ("Quanto tempo ela trabalhou na Tide Lab?", "3 anos 10 meses em Tide Lab"),
        ("Hoe lang heeft zij bij Tide Lab gewerkt?", "3 jaar 10 maanden bij Tide Lab"),
        ("Welche Sprachen spricht Ines Varga?", "Portuguese, native"),
        ("¿Qué idiomas habla?", "English, fluent"),
        ("Dove ha studiato Ines?", "University of Porto"),
        ("Wann hat sie Tide Lab verlassen?", "Bei Tide Lab bis February 2019 (Analyst)"),
    ],
)
def test_a_computed_answer_is_in_the_language_of_the_question(engine: QueryEngine, question: str, said: str) -> None:
    answer = engine.ask(question, record=False)
    assert answer.model == CAREER_FACTS
    assert said in answer.answer
    assert all(sentence.verdict == "supported" for sentence in answer.sentences)


def test_an_abstention_shows_words_as_they_were_typed(engine: QueryEngine) -> None:
    answer = engine.ask("Combien coûte le gardn de Lisbonne ?", record=False)
    assert (answer.answered, "gardn" in answer.answer) == (False, True)


@pytest.mark.parametrize("question", ["Wie lange hat ihr Hund bei Tide Lab gelebt?", "Welche Sprachen mag ihr Hund?"])
def test_a_question_with_a_word_that_careers_do_not_know_is_not_computed(engine: QueryEngine, question: str) -> None:
    assert engine.ask(question, record=False).model != CAREER_FACTS
