"""RECORD: a query's ledger closed, and the query logged."""

from collections.abc import Mapping

from sqlalchemy import Engine

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.searching.find import Request
from pipelines.query.trace import Ledger
from pipelines.store.queries import save_query
from pipelines.types import Answer, QueryIntent, Trace


def closed(ledger: Ledger, intent: QueryIntent, request: Request, *, settings: str, corpus_version: int) -> Trace:
    """The Trace of a request, under the settings of this fingerprint."""
    return ledger.close(
        intent=intent,
        corpus_version=corpus_version,
        audience=request.audience,
        filters=request.filters,
        mode=request.mode,
        settings=settings,
    )


def logged(database: Engine, trace: Trace, answer: Answer | None, usage: Mapping[str, int], cost: float | None) -> None:
    """Log a question with its answer, or a search, which has none; where that fails, nothing but a warning says so."""
    kind = "ask" if answer else "search"
    try:
        save_query(database, trace, kind=kind, answer=answer, usage=usage, cost=cost)
    except FootnoteError as error:
        log_failure("query not logged", error)
