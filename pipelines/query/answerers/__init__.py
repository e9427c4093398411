"""ANSWERERS: who may answer a question, asked in order; the first that can does."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from pipelines.query.answer import AnswerEvents, Draft
from pipelines.query.answerers import careers, corpus, counts, kinds, model, overview, people, quotation
from pipelines.query.answerers.overview import OverviewAnswer
from pipelines.query.careers.computed_answer import ComputedAnswer
from pipelines.query.context import Retrieved
from pipelines.query.search import Search

Retrieve = Callable[[], Retrieved]


@dataclass(frozen=True, slots=True)
class FromDatabase:
    """An answerer that reads or computes its answer from the database, without passages.

    `find` returns what the answer says, or None, and `write` writes it; the trace says `why` nothing was found.
    """

    name: str
    find: Callable[[Search], Any]
    write: Callable[[Search, Any], AnswerEvents]
    why: str

    def __call__(self, search: Search, retrieve: Retrieve) -> Draft | None:
        """The Draft; None, and the ledger is told why, where nothing is found.

        Raises:
            ModelError, ServiceUnavailable: If the database or every retriever fails.
        """
        with search.ledger.stage(self.name):
            found = self.find(search)
        if found is None:
            search.ledger.declined(self.name, self.why)
            return None
        search.ledger.tag(self.name)
        doubts = found.doubts if isinstance(found, ComputedAnswer | OverviewAnswer) else ()
        return Draft(partial(self.write, search, found), doubts=doubts)


_DATABASE = (
    FromDatabase("corpus", corpus.find, corpus.write, "it does not ask about the documents as such"),
    FromDatabase("people", people.find, people.write, "it names whom it means, or only one person fits"),
    FromDatabase("careers", careers.find, careers.write, "no career fact answers every word of the question"),
    FromDatabase("overview", overview.find, overview.write, "it asks for no overview, or no fact states it"),
    FromDatabase("kinds", kinds.find, kinds.write, "no fact states what questions of its kind ask for"),
    FromDatabase(
        "counts", counts.find, overview.write, "no two documents count what it asks the number of, and differ"
    ),
)
# In this order; each gives a Draft, or None and the reason to the ledger.
ANSWERERS: tuple[Callable[[Search, Retrieve], Draft | None], ...] = (*_DATABASE, model.try_answer, quotation.try_answer)


def first_draft(search: Search, retrieve: Retrieve) -> Draft:
    """The Draft of the first answerer that can answer; passages are retrieved once, and only where one wants them.

    Raises:
        ModelError, ServiceUnavailable: If no retriever worked, or the database cannot be read.
    """
    once = cache(retrieve)
    drafts = (answerer(search, once) for answerer in ANSWERERS)
    return next(draft for draft in drafts if draft is not None)
