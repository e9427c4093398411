"""The result cache: outcomes of searches, kept until the corpus or a setting changes."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import replace
from datetime import date

from pipelines.query.search import Search, SearchOutcome
from pipelines.query.trace import Ledger


class ResultCache:
    """A least-recently-used cache of `entries` search outcomes (0 = none); safe to share between threads."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self._outcomes: OrderedDict[Hashable, SearchOutcome] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: Hashable, ledger: Ledger) -> SearchOutcome | None:
        """The outcome of an equal request; its ledger is copied into this query's, which is tagged `cached`.

        Its `ranked` holds no more than its `ranking`.
        """
        with self._lock:
            outcome = self._outcomes.get(key)
            if outcome is None:
                return None
            self._outcomes.move_to_end(key)
        ledger.resume(outcome.ledger)
        ledger.tag("cached")
        return replace(outcome, ranked=list(outcome.ranking), ranking=list(outcome.ranking), ledger=ledger)

    def keep(self, key: Hashable, outcome: SearchOutcome, *, before: Collection[str] = ()) -> None:
        """Keep an outcome and its ledger as they are now, unless a part failed or was left out for want of time.

        The notes from `before` the search (how the question was read) are left out: they may not hold another time.
        """
        if self.entries == 0 or outcome.ledger.degraded:
            return
        ledger = Ledger()
        ledger.resume(outcome.ledger)
        ledger.notes = [note for note in ledger.notes if note not in before]
        with self._lock:
            self._outcomes[key] = replace(outcome, ranked=[], ranking=list(outcome.ranking), ledger=ledger)
            self._outcomes.move_to_end(key)
            while len(self._outcomes) > self.entries:
                self._outcomes.popitem(last=False)

    def __len__(self) -> int:
        with self._lock:
            return len(self._outcomes)


NO_CACHE = ResultCache(0)


def cache_key(search: Search) -> Hashable:
    """All that the outcome of a search depends on, today's date too, from which recency is counted."""
    asked = search.request
    request = asked.filters, asked.audience, asked.mode, asked.top_n, asked.embedding
    return search.intent, request, search.fingerprint, search.mark, date.today()
