import pytest
from sqlalchemy import create_engine

from pipelines.answers import Answer, Sentence, Source
from pipelines.query.cited_documents import note_partial_documents
from pipelines.query.trace import Ledger
from tests.unit.query.builders import source

NOBODY = create_engine("postgresql+psycopg2://nobody@127.0.0.1:9/none")
CITED = Sentence("It moved.", (1,), "supported")


def answer(*sentences: Sentence, nearest: tuple[Source, ...] = ()) -> Answer:
    sources = () if nearest else (source(1, "It moved."),)
    return Answer("Did it?", not nearest, "low", "llm", "", "", sentences, sources, nearest)


def notes(told: Answer) -> list[str]:
    """What is noted under an answer where no database can be reached."""
    ledger = Ledger()
    note_partial_documents(told, NOBODY, "owner", ledger)
    return ledger.notes


def test_nothing_is_read_for_an_answer_that_cites_nothing() -> None:
    assert notes(answer(Sentence("It moved.", (), "uncited"))) == []


@pytest.mark.parametrize("told", [answer(CITED), answer(nearest=(source(1, "It moved."),))])
def test_when_it_cannot_be_read_the_answer_stays_and_says_that_it_is_not_known(told: Answer) -> None:
    (note,) = notes(told)
    assert note.startswith("Whether the documents are stored as a whole is not known: The database could not be")
