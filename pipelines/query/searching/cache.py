"""What was found for a question, kept until the corpus or a setting changes."""

import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date

from pipelines.query.searching.escalate import is_weak
from pipelines.query.searching.find import Finder, Found, Request
from pipelines.query.trace import Ledger
from pipelines.store.changes import Mark
from pipelines.types import Audience, Filters, Mode, QueryIntent


@dataclass(frozen=True, slots=True)
class Key:
    """All that a finding hangs on; two requests share it only when every part is equal.

    Attributes:
        intent: The question, and what was understood of it: a follow-up is whole, a name is a document's id.
        filters: As given.
        audience: For whom.
        mode: Which legs.
        top_n: How many passages.
        settings: Their fingerprint.
        corpus: Which state of it was searched.
        day: Today, from which recency is counted.
    """

    intent: QueryIntent
    filters: Filters
    audience: Audience
    mode: Mode
    top_n: int
    settings: str
    corpus: Mark
    day: date


class FoundCache:
    """The findings that were used last, at most `entries` of them (0 = none); safe to share between threads."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self._held: OrderedDict[Key, tuple[Found, Ledger]] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: Key, ledger: Ledger) -> Found | None:
        """What was found for an equal request, told to this query's ledger, which is tagged `cached`.

        Its `ranked` holds no more than its `ranking`.
        """
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
        found, told = held
        ledger.resume(told)
        ledger.tag("cached")
        return replace(found, ranked=list(found.ranking), ranking=list(found.ranking), ledger=ledger)

    def keep(self, key: Key, found: Found, ledger: Ledger, *, before: Collection[str] = ()) -> None:
        """Keep a finding and its ledger as they are now, unless a part failed or was left out for want of time.

        The notes from `before` the search (how the question was read) are left out: they need not hold another time.
        """
        if self.entries == 0 or ledger.degraded:
            return
        told = Ledger()
        told.resume(ledger)
        told.notes = [said for said in told.notes if said not in before]
        with self._lock:
            self._held[key] = (replace(found, ranked=[], ranking=list(found.ranking), ledger=told), told)
            self._held.move_to_end(key)
            while len(self._held) > self.entries:
                self._held.popitem(last=False)

    def __len__(self) -> int:
        with self._lock:
            return len(self._held)


@dataclass(frozen=True, slots=True)
class CachedSearch:
    """Searching that is told what was found for an equal request of the same corpus.

    Attributes:
        finder: Searches.
        cache: What was found.
        settings: The fingerprint of the finder's settings and of the embedding model that serves.
    """

    finder: Finder
    cache: FoundCache
    settings: str

    def find(self, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        """What the finder finds, or found for an equal request.

        Raises:
            ModelError, ServiceUnavailable: If no leg could search.
        """
        return self.find_with(self.finder, request, intent, ledger)

    def find_with(self, finder: Finder, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        """What another finder finds, of the same store; one that makes fewer second tries is told what was found.

        What it finds itself is only kept where the own one would find the same.

        Raises:
            ModelError, ServiceUnavailable: If no leg could search.
        """
        if not self.cache.entries:
            return finder.find(request, intent, ledger)
        with ledger.timings.stage("recall"):
            key = self._key(request, intent)
            held = self.cache.recall(key, ledger)
        if held is not None:
            return held
        noted = tuple(ledger.notes)
        found = finder.find(request, intent, ledger)
        tries = self.finder.settings.escalation.mode
        if finder.settings.escalation.mode == tries or (tries == "auto" and not is_weak(found.evidence)):
            self.cache.keep(key, found, ledger, before=noted)
        return found

    def _key(self, request: Request, intent: QueryIntent) -> Key:
        with self.finder.store.moment() as moment:
            return Key(
                intent, request.filters, request.audience, request.mode, request.top_n, self.settings, moment.mark,
                date.today(),
            )  # fmt: skip
