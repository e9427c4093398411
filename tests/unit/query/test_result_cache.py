import threading
from dataclasses import dataclass, replace
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.schema import QueryBundle

from pipelines.query import result_cache
from pipelines.query.escalate import find
from pipelines.query.result_cache import ResultCache, cache_key
from pipelines.query.search import SearchOutcome
from pipelines.query.trace import Ledger
from pipelines.store.read_snapshot import Mark
from pipelines.types import Evidence, Filters, QueryIntent
from tests.unit.query.builders import FakeSearch, hit
from tests.unit.query.voice import Voice

INTENT = QueryIntent("where does she work", "where does she work", years=(2023,))
SEARCH = FakeSearch(INTENT)
KEY = cache_key(SEARCH)  # type: ignore[arg-type]
EVIDENCE = Evidence(0.9, "high", 0.8, 1.0, {}, 1, (), sufficient=True)


def searched(note: str = "") -> SearchOutcome:
    """An outcome with one candidate, and the ledger of the query that found it."""
    ledger, node = Ledger(), hit("n1")
    ledger.leg("dense", [node])
    ledger.fused([node])
    ledger.factor("n1", "recency", 1.3)
    ledger.attempt("base", INTENT.search_text, EVIDENCE, kept=True, why="first")
    if note:
        ledger.note(note)
    return SearchOutcome(INTENT, QueryBundle(INTENT.search_text), [node, hit("n2")], [node], EVIDENCE, ledger)


def kept(entries: int = 8) -> ResultCache:
    cache = ResultCache(entries)
    cache.keep(KEY, searched())
    return cache


def test_an_equal_request_recalls_the_ranking_the_evidence_and_the_ledger() -> None:
    found = searched(note="too few candidates")
    first = found.ledger
    cache = ResultCache(8)
    cache.keep(KEY, found)
    ledger = Ledger()
    again = cache.recall(cache_key(replace(SEARCH)), ledger)  # type: ignore[arg-type]
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
        {"request": replace(SEARCH.request, filters=Filters(category=("resume",)))},
        {"request": replace(SEARCH.request, audience="visitor")},
        {"request": replace(SEARCH.request, mode="dense")},
        {"request": replace(SEARCH.request, top_n=6)},
        {"request": replace(SEARCH.request, embedding=(1.0, 0.0))},
        {"fingerprint": "beef"},
        {"mark": Mark(8, 7)},
        {"mark": Mark(7, 8)},
    ],
)
def test_a_request_that_differs_in_anything_is_not_recalled(change: dict[str, Any]) -> None:
    ledger = Ledger()
    assert kept().recall(cache_key(replace(SEARCH, **change)), ledger) is None  # type: ignore[arg-type]
    assert not ledger.used("cached")


def test_a_request_of_another_day_is_not_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "date", SimpleNamespace(today=lambda: date(2020, 1, 1)))
    assert kept().recall(cache_key(SEARCH), Ledger()) is None  # type: ignore[arg-type]


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
    found = searched()
    first = found.ledger
    cache = ResultCache(8)
    cache.keep(KEY, found)
    first.kept("n1", 1, merged=False)
    found.ranking.clear()
    ledger = Ledger()
    again = cache.recall(KEY, ledger)
    assert again is not None
    assert len(again.ranking) == 1
    assert ledger.candidate("n1").fate == ""


def test_a_finding_on_the_way_to_which_a_part_failed_is_not_kept() -> None:
    found = searched()
    ledger = found.ledger
    ledger.fork("base").lacking("The sparse search failed: the index is gone.")
    cache = ResultCache(8)
    cache.keep(KEY, found)
    assert len(cache) == 0
    assert ledger.notes == ["The sparse search failed: the index is gone."]


def test_a_finding_for_which_a_try_was_left_out_for_want_of_time_is_not_kept() -> None:
    found = searched()
    ledger = found.ledger
    ledger.lacking("A second try was left out: the time was used up.")
    cache = ResultCache(8)
    cache.keep(KEY, found)
    assert len(cache) == 0


def test_what_was_noted_before_the_search_is_not_told_again() -> None:
    found = searched(note="The follow-up was made whole by rules, as the language model failed.")
    ledger = found.ledger
    before = tuple(ledger.notes)
    ledger.note("Too few candidates.")
    cache, later = ResultCache(8), Ledger()
    cache.keep(KEY, found, before=before)
    cache.recall(KEY, later)
    assert later.notes == ["Too few candidates."]
    assert ledger.notes == [*before, "Too few candidates."], "the query that met it still tells it"


def test_the_one_that_was_used_longest_ago_goes_first() -> None:
    cache = ResultCache(2)
    keys = [(KEY, n) for n in (1, 2, 3)]
    cache.keep(keys[0], searched())
    cache.keep(keys[1], searched())
    cache.recall(keys[0], Ledger())
    cache.keep(keys[2], searched())
    assert [cache.recall(key, Ledger()) is not None for key in keys] == [True, False, True]


def test_no_entries_keep_nothing() -> None:
    assert len(kept(entries=0)) == 0


def test_many_threads_share_one_cache() -> None:
    cache, errors = ResultCache(4), []

    def use(n: int) -> None:
        try:
            for step in range(50):
                key = KEY, (n + step) % 8
                if cache.recall(key, Ledger()) is None:
                    cache.keep(key, searched())
        except Exception as error:  # noqa: BLE001 - a thread must report what it met
            errors.append(error)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, len(cache)) == ([], 4)


# A search that asks the cache


@dataclass
class CountingSearch(FakeSearch):
    """Finds evidence of this strength, and counts its attempts."""

    evidence: Evidence = EVIDENCE
    attempts: int = 0

    def attempt(self, query: QueryBundle, ledger: Ledger) -> SearchOutcome:
        self.attempts += 1
        return SearchOutcome(self.intent, query, [hit("n1")], [hit("n1")], self.evidence, ledger)

    def vector(self, text: str) -> list[float]:
        return [1.0, 0.0]


def counting(*, weak: bool = False, **given: Any) -> CountingSearch:
    return CountingSearch(intent=INTENT, evidence=replace(EVIDENCE, sufficient=not weak), **given)


def test_an_equal_request_is_searched_for_once() -> None:
    cache, first, again = ResultCache(8), counting(weak=True), counting(weak=True)
    outcomes = [find(search, cache) for search in (first, again)]
    assert (first.attempts, again.attempts) == (1, 0)
    assert [held.node.node_id for held in outcomes[1].ranking] == [held.node.node_id for held in outcomes[0].ranking]


@pytest.mark.parametrize(("weak", "attempts"), [(True, 1), (False, 0)])
def test_what_a_search_without_escalation_found_is_kept_only_where_escalation_would_not_change_it(
    weak: bool, attempts: int
) -> None:
    cache = ResultCache(8)
    quick, full = (counting(weak=weak, escalates=e, llm=Voice(replies=[""])) for e in (False, True))
    find(quick, cache)
    find(full, cache)
    assert full.attempts == attempts


def test_without_a_language_model_what_a_search_without_escalation_found_is_kept() -> None:
    cache, full = ResultCache(8), counting(weak=True)
    find(counting(weak=True, escalates=False), cache)
    find(full, cache)
    assert full.attempts == 0


def test_a_search_without_escalation_is_answered_by_what_was_found_with_it() -> None:
    cache, quick = ResultCache(8), counting(escalates=False)
    find(counting(), cache)
    find(quick, cache)
    assert quick.attempts == 0


def test_without_a_cache_every_request_is_searched_for() -> None:
    search = counting()
    for _ in range(2):
        find(search)
    assert search.attempts == 2
    assert "recall" not in search.ledger.timings.as_dict()
