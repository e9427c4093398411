"""SUGGEST: what may be asked next after an answer; nothing where that cannot be told."""

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.gather import Gathered, Retrieved
from pipelines.query.searching.cache import CachedSearch
from pipelines.query.suggestions.follow_ups import follow_ups
from pipelines.query.suggestions.propose import Answered
from pipelines.types import Answer


def suggested(answer: Answer, gathered: Gathered, search: CachedSearch) -> tuple[str, ...]:
    """What may be asked next; nothing where a part of the search failed, or the time is over."""
    ledger, basis = gathered.ledger, gathered.basis
    if not search.finder.settings.answer.follow_ups or gathered.intent.greeting or ledger.degraded:
        return ()
    answered = Answered(answer, gathered.request)
    if isinstance(basis, Retrieved):
        answered = Answered(answer, gathered.request, basis.found, basis.context.text)
    with ledger.timings.stage("follow_ups"):
        try:
            return follow_ups(answered, search.finder, search.find_with)
        except FootnoteError as error:
            log_failure("nothing is suggested to be asked next", error)
            return ()
