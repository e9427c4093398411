"""ANSWERERS: who may answer a question, asked in order; the first that can does."""

from collections.abc import Callable
from functools import cache

from pipelines.query.answer import Draft
from pipelines.query.answerers import careers, corpus, model, overview, people, quotation
from pipelines.query.context import Retrieved
from pipelines.query.search import Search

Retrieve = Callable[[], Retrieved]
# Each gives a Draft, or None and the reason to the ledger.
ANSWERERS: dict[str, Callable[[Search, Retrieve], Draft | None]] = {
    "corpus": lambda search, _: corpus.try_answer(search),
    "people": lambda search, _: people.try_answer(search),
    "careers": lambda search, _: careers.try_answer(search) if search.settings.answer.facts else None,
    "overview": lambda search, _: overview.try_answer(search) if search.settings.answer.facts else None,
    "model": model.try_answer,
    "quotation": quotation.try_answer,
}


def first_draft(search: Search, retrieve: Retrieve) -> Draft:
    """The Draft of the first answerer that can answer; passages are retrieved once, and only where one wants them.

    Raises:
        ModelError, ServiceUnavailable: If no retriever worked, or the database cannot be read.
    """
    once = cache(retrieve)
    drafts = (answerer(search, once) for answerer in ANSWERERS.values())
    return next(draft for draft in drafts if draft is not None)
