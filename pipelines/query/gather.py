"""GATHER: all that is read for an answer before a word of it is written: career facts, else passages."""

from dataclasses import dataclass

from pipelines.query.careers.computed import computed
from pipelines.query.careers.reckoning import Reckoning, said_of
from pipelines.query.context.stored import context_of
from pipelines.query.searching.cache import CachedSearch
from pipelines.query.searching.find import Found, Request
from pipelines.query.trace import Ledger
from pipelines.store.lexical import LexicalIndex
from pipelines.types import Context, QueryIntent


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found, what of it the writer is shown, and the BM25 index that was searched."""

    found: Found
    context: Context
    index: LexicalIndex


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an answer is made from.

    Attributes:
        request: What was asked.
        intent: What was understood of the question.
        basis: What career facts say, else what was found.
        ledger: What became of each candidate.
        corpus_version: Of what was read.
    """

    request: Request
    intent: QueryIntent
    basis: Reckoning | Retrieved
    ledger: Ledger
    corpus_version: int


def gather(request: Request, search: CachedSearch) -> Gathered:
    """What career facts say in answer to a request; where they say nothing, what is found and shown to the writer.

    Raises:
        RetrievalError: If the question or a filter cannot be searched.
        ModelError, ServiceUnavailable: If no leg could search, or the database cannot be read.
    """
    finder = search.finder
    ledger, index = Ledger(), finder.indexes.current(request.audience)
    intent = finder.understand(request, ledger)
    with ledger.timings.stage("facts"):
        is_wanted = finder.settings.answer.facts
        reckoning = computed(intent, finder.store, request.filters, request.audience) if is_wanted else None
    if reckoning is not None:
        ledger.tag("facts")
        ledger.note(said_of(reckoning))
        return Gathered(request, intent, reckoning, ledger, index.version)
    found = search.find(request, intent, ledger)
    with ledger.timings.stage("assemble"):
        context = context_of(found, finder, request.audience, ledger)
    return Gathered(request, intent, Retrieved(found, context, index), ledger, index.version)
