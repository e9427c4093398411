import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from llama_index.core.schema import QueryBundle

from config.settings import EscalationSettings, Settings
from pipelines.query.searching.cache import CachedSearch, FoundCache, Key
from pipelines.query.searching.find import Found, Request
from pipelines.query.trace import Ledger
from pipelines.store.changes import Mark
from pipelines.store.moment import Moment
from pipelines.types import Evidence, Filters, QueryIntent
from tests.unit.query.builders import hit

INTENT = QueryIntent("where does she work", "where does she work", years=(2023,))
KEY = Key(INTENT, Filters(), "owner", "hybrid", 5, "f00d", Mark(7, 7), date(2026, 1, 1))
EVIDENCE = Evidence(0.9, "high", 0.8, 1.0, {}, 1, (), sufficient=True)


def searched(note: str = "") -> tuple[Found, Ledger]:
    """A finding with one candidate, and the ledger of the query that found it."""
    ledger, node = Ledger(), hit("n1")
    ledger.leg("dense", [node])
    ledger.fused([node])
    ledger.factor("n1", "recency", 1.3)
    ledger.attempt("base", INTENT.search_text, EVIDENCE, kept=True, why="first")
    if note:
        ledger.note(note)
    return Found(INTENT, QueryBundle(INTENT.search_text), [node, hit("n2")], [node], EVIDENCE, ledger), ledger


def kept(entries: int = 8, key: Key = KEY) -> FoundCache:
    cache = FoundCache(entries)
    cache.keep(key, *searched())
    return cache


def test_an_equal_request_recalls_the_ranking_the_evidence_and_the_ledger() -> None:
    found, first = searched(note="too few candidates")
    cache = FoundCache(8)
    cache.keep(KEY, found, first)
    ledger = Ledger()
    again = cache.recall(replace(KEY), ledger)
    assert again is not None
    assert (again.ranking, again.evidence, again.intent) == (found.ranking, EVIDENCE, INTENT)
    assert ledger.candidate("n1") == first.candidate("n1")
    assert (ledger.attempts, ledger.notes) == (first.attempts, ["too few candidates"])
    assert ledger.used("cached")
    assert ledger.used("dense")
    assert ledger.id != first.id


@pytest.mark.parametrize(
    "change",
    [
        {"intent": replace(INTENT, question="Where does she work?")},
        {"intent": replace(INTENT, search_text="where does marit work")},
        {"filters": Filters(category=("resume",))},
        {"audience": "visitor"},
        {"mode": "dense"},
        {"top_n": 6},
        {"settings": "beef"},
        {"corpus": (8, 7)},
        {"corpus": (7, 8)},
        {"day": date(2026, 1, 2)},
    ],
)
def test_a_request_that_differs_in_anything_is_not_recalled(change: dict[str, Any]) -> None:
    ledger = Ledger()
    assert kept().recall(replace(KEY, **change), ledger) is None
    assert not ledger.used("cached")


def test_what_a_later_query_writes_into_its_ledger_stays_there() -> None:
    cache = kept()
    first, second = Ledger(), Ledger()
    cache.recall(KEY, first)
    first.kept("n1", 1, merged=True)
    first.factor("n1", "quality", 1.1)
    first.note("only here")
    cache.recall(KEY, second)
    assert (second.candidate("n1").fate, second.candidate("n1").factors) == ("", {"recency": 1.3})
    assert second.notes == []


def test_what_the_first_query_writes_after_it_was_kept_stays_out() -> None:
    found, first = searched()
    cache = FoundCache(8)
    cache.keep(KEY, found, first)
    first.kept("n1", 1, merged=False)
    found.ranking.clear()
    ledger = Ledger()
    again = cache.recall(KEY, ledger)
    assert again is not None
    assert len(again.ranking) == 1
    assert ledger.candidate("n1").fate == ""


def test_a_finding_on_the_way_to_which_a_part_failed_is_not_kept() -> None:
    found, ledger = searched()
    ledger.fork("base").lacking("The sparse search failed: the index is gone.")
    cache = FoundCache(8)
    cache.keep(KEY, found, ledger)
    assert len(cache) == 0
    assert ledger.notes == ["The sparse search failed: the index is gone."]


def test_a_finding_for_which_a_try_was_left_out_for_want_of_time_is_not_kept() -> None:
    found, ledger = searched()
    ledger.lacking("A second try was left out: the time was used up.")
    cache = FoundCache(8)
    cache.keep(KEY, found, ledger)
    assert len(cache) == 0


def test_what_was_noted_before_the_search_is_not_told_again() -> None:
    found, ledger = searched(note="The follow-up was made whole by rules, as the language model failed.")
    before = tuple(ledger.notes)
    ledger.note("Too few candidates.")
    cache, later = FoundCache(8), Ledger()
    cache.keep(KEY, found, ledger, before=before)
    cache.recall(KEY, later)
    assert later.notes == ["Too few candidates."]
    assert ledger.notes == [*before, "Too few candidates."], "the query that met it still tells it"


def test_the_one_that_was_used_longest_ago_goes_first() -> None:
    cache = FoundCache(2)
    keys = [replace(KEY, top_n=n) for n in (1, 2, 3)]
    cache.keep(keys[0], *searched())
    cache.keep(keys[1], *searched())
    cache.recall(keys[0], Ledger())
    cache.keep(keys[2], *searched())
    assert [cache.recall(key, Ledger()) is not None for key in keys] == [True, False, True]


def test_no_entries_keep_nothing() -> None:
    assert len(kept(entries=0)) == 0


def test_many_threads_share_one_cache() -> None:
    cache, errors = FoundCache(4), []

    def use(n: int) -> None:
        try:
            for step in range(50):
                key = replace(KEY, top_n=1 + (n + step) % 8)
                if cache.recall(key, Ledger()) is None:
                    cache.keep(key, *searched())
        except Exception as error:  # noqa: BLE001 - a thread must report what it met
            errors.append(error)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, len(cache)) == ([], 4)


# A search that is told what was found


class StandingStore:
    """A store whose corpus stands still."""

    @contextmanager
    def moment(self) -> Iterator[Moment]:
        yield Moment(KEY.corpus)


class CountingFinder:
    """A finder that finds evidence of this strength, and counts its searches."""

    def __init__(self, tries: str, *, weak: bool = False) -> None:
        self.settings = Settings(_env_file=None, escalation=EscalationSettings(mode=tries))
        self.store = StandingStore()
        self.evidence = replace(EVIDENCE, sufficient=not weak)
        self.searches = 0

    def find(self, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        self.searches += 1
        return Found(intent, QueryBundle(intent.search_text), [hit("n1")], [hit("n1")], self.evidence, ledger)


REQUEST = Request(INTENT.question, Filters(), "owner", "hybrid", 5)


def test_an_equal_request_is_searched_for_once() -> None:
    finder = CountingFinder("auto", weak=True)
    search = CachedSearch(finder, FoundCache(8), "f00d")
    first, again = (search.find(REQUEST, INTENT, Ledger()) for _ in range(2))
    assert finder.searches == 1
    assert [held.node.node_id for held in again.ranking] == [held.node.node_id for held in first.ranking]


@pytest.mark.parametrize(("weak", "searches"), [(True, 1), (False, 0)])
def test_what_a_finder_without_second_tries_found_is_kept_only_where_a_second_try_would_not_be_made(
    weak: bool, searches: int
) -> None:
    finder = CountingFinder("auto")
    search = CachedSearch(finder, FoundCache(8), "f00d")
    search.find_with(CountingFinder("off", weak=weak), REQUEST, INTENT, Ledger())
    search.find(REQUEST, INTENT, Ledger())
    assert finder.searches == searches


def test_a_finder_without_second_tries_is_told_what_was_found_with_them() -> None:
    quick = CountingFinder("off")
    search = CachedSearch(CountingFinder("auto"), FoundCache(8), "f00d")
    search.find(REQUEST, INTENT, Ledger())
    search.find_with(quick, REQUEST, INTENT, Ledger())
    assert quick.searches == 0


def test_without_entries_every_request_is_searched_for() -> None:
    finder, ledger = CountingFinder("auto"), Ledger()
    search = CachedSearch(finder, FoundCache(0), "f00d")
    for _ in range(2):
        search.find(REQUEST, INTENT, ledger)
    assert finder.searches == 2
    assert "recall" not in ledger.timings.as_dict()
