"""Auto-RAG over fakes: a corpus is a table of what each search text finds and how strong that is."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from llama_index.core.schema import QueryBundle

from config.settings import EscalationSettings, Settings
from pipelines.errors import ServiceUnavailable
from pipelines.query.escalate import (
    MARGIN,
    cosine,
    escalate,
    expected_strength,
    is_weak,
    lexical_cosine,
    unit,
    weighted_direction,
)
from pipelines.query.retrieve import WeightedQuery
from pipelines.query.search import SearchOutcome
from pipelines.query.trace import Ledger
from pipelines.types import Attempt, Evidence, QueryIntent
from tests.unit.query.builders import FakeSearch, hit
from tests.unit.query.voice import Voice

QUESTION = "pull the plug on training"
GOOD = "stop the training project"
OTHER = "end the training early"
FAR = "what do cats eat"
FLOOR = 0.5
# Directions of texts: the good wordings are near the question, the far one is not.
DIRECTIONS = {
    QUESTION: [1.0, 0.0, 0.0],
    GOOD: [0.8, 0.6, 0.0],
    OTHER: [0.8, 0.0, 0.6],
    FAR: [0.1, 0.99, 0.0],
}


def evidence(strength: float, *, similarity: float | None = 0.5) -> Evidence:
    enough = strength >= FLOOR
    return Evidence(strength, "medium" if enough else "low", similarity, 0.5, {}, 3, (), sufficient=enough)


def settings(*kinds: str, **changes: Any) -> EscalationSettings:
    return EscalationSettings.model_validate({"kinds": kinds, "seconds": 30.0, **changes})


@dataclass
class Corpus(FakeSearch):
    """(search text, what it is evidence for) -> strength; searches are recorded."""

    strengths: Mapping[tuple[str, str], float] = field(default_factory=dict)
    hits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    similarity: float | None = 0.5
    seconds: float = 0.0  # that a search takes
    searched: list[QueryBundle] = field(default_factory=list)

    def attempt(self, query: QueryBundle, ledger: Ledger) -> SearchOutcome:
        self.searched.append(query)
        time.sleep(self.seconds)
        strength = self.strengths.get((query.query_str, QUESTION), 0.0)
        names = self.hits.get(query.query_str, ["a", "b"])
        ranking = [hit(name, f"text of {name}", 1 - n / 10, mime="text/plain") for n, name in enumerate(names)]
        ledger.fused(ranking)
        for cut in ranking[2:]:
            ledger.cut(cut.node.node_id, "top_n")
        return SearchOutcome(
            self.intent, query, ranking, ranking[:2], evidence(strength, similarity=self.similarity), ledger
        )

    def assess_as(self, outcome: SearchOutcome, intent: QueryIntent) -> Evidence:
        strength = self.strengths.get((outcome.query.query_str, intent.search_text), 0.0)
        return evidence(strength, similarity=self.similarity)

    def vector(self, text: str) -> list[float]:
        return DIRECTIONS[text]


def corpus_of(strengths: Mapping[tuple[str, str], float], **given: Any) -> Corpus:
    intent = QueryIntent(QUESTION, QUESTION, terms=("pull", "plug", "train"))
    return Corpus(intent=intent, strengths=strengths, **given)


def run(corpus: Corpus, llm: Voice | None, options: EscalationSettings) -> tuple[SearchOutcome, SearchOutcome, Ledger]:
    corpus.llm, corpus.settings = llm, Settings(_env_file=None, escalation=options)
    base = corpus.attempt(QueryBundle(QUESTION), corpus.ledger.fork("base"))
    corpus.searched.clear()
    return base, escalate(corpus, base), corpus.ledger


WEAK = {(QUESTION, QUESTION): 0.3}


def tried(ledger: Ledger, name: str) -> Attempt:
    return next(attempt for attempt in ledger.attempts if attempt.name == name)


# When


def test_weak_evidence_is_low_or_insufficient() -> None:
    assert is_weak(evidence(0.3))
    assert is_weak(replace(evidence(0.9), sufficient=False))
    assert not is_weak(evidence(0.9))


@pytest.mark.parametrize(("mode", "strength", "searches"), [("off", 0.3, 0), ("auto", 0.9, 0), ("auto", 0.3, 1),
                                                            ("always", 0.9, 1)])  # fmt: skip
def test_the_mode_says_when_there_is_a_second_try(mode: str, strength: float, searches: int) -> None:
    corpus = corpus_of({(QUESTION, QUESTION): strength})
    base, best, _ = run(corpus, Voice(replies=[GOOD]), settings("rewrite", mode=mode))
    assert len(corpus.searched) == searches
    assert best is base


def test_a_greeting_is_never_tried_again() -> None:
    corpus = corpus_of(WEAK)
    corpus.intent = replace(corpus.intent, greeting=True)
    base, best, ledger = run(corpus, Voice(replies=[GOOD]), settings("rewrite", mode="always"))
    assert best is base
    assert [attempt.name for attempt in ledger.attempts] == ["base"]


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_without_a_language_model_nothing_is_tried_and_nothing_is_missing(mode: str) -> None:
    base, best, ledger = run(corpus_of(WEAK), None, settings("rewrite", "hyde", mode=mode))
    assert best is base
    assert [attempt.name for attempt in ledger.attempts] == ["base"]
    assert (ledger.degraded, ledger.notes) == (False, [])


def test_a_search_that_does_not_escalate_is_tried_once() -> None:
    corpus = corpus_of(WEAK, escalates=False)
    base, best, _ = run(corpus, Voice(replies=[GOOD]), settings("rewrite", mode="always"))
    assert (best is base, corpus.searched) == (True, [])


def test_no_more_calls_are_made_than_allowed() -> None:
    voice = Voice(replies=[FAR])
    run(corpus_of(WEAK), voice, settings("rewrite", "hyde", calls=1))
    assert voice.asked == 1


def test_no_try_begins_after_the_time_is_over() -> None:
    voice = Voice(replies=[GOOD], wait=0.3)
    _, _, ledger = run(corpus_of(WEAK), voice, settings("rewrite", "hyde", seconds=0.1))
    assert [attempt.name for attempt in ledger.attempts] == ["base", "rewrite"]
    assert "took more than" in tried(ledger, "rewrite").why


def test_a_try_that_is_left_out_for_want_of_time_is_noted_so_that_the_weaker_result_is_not_kept() -> None:
    corpus = corpus_of(WEAK, seconds=0.5)
    base, best, ledger = run(corpus, Voice(replies=[GOOD]), settings("rewrite", "hyde", seconds=0.4))
    assert [attempt.name for attempt in ledger.attempts] == ["base", "rewrite"]
    assert best is base
    assert ledger.notes == ["A second try was left out: the time was used up."]
    assert ledger.degraded


def test_enough_evidence_ends_the_tries_in_auto_but_not_in_always() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.6, (GOOD, GOOD): 0.9}
    for mode, names in (("auto", ["base", "rewrite"]), ("always", ["base", "rewrite", "hyde"])):
        _, best, ledger = run(corpus_of(strengths), Voice(replies=[GOOD, FAR]), settings("rewrite", "hyde", mode=mode))
        assert [attempt.name for attempt in ledger.attempts] == names
        assert best.evidence.sufficient


# What is kept


def test_a_reading_is_kept_when_question_and_reading_together_are_borne_out_better() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.3, (GOOD, GOOD): 0.9}
    base, best, ledger = run(
        corpus_of(strengths), Voice(replies=[f"Sure! Here it is:\n1. {GOOD}"]), settings("rewrite")
    )
    trust = 0.8**2
    assert best.evidence.strength == pytest.approx((0.3 + trust * 0.9) / (1 + trust), abs=5e-5)
    assert best is not base
    assert tried(ledger, "rewrite").kept
    assert tried(ledger, "rewrite").search_text == GOOD
    assert best.intent == base.intent


@pytest.mark.parametrize(("own", "kept"), [(0.9, True), (0.29, False)])
def test_a_reading_in_far_words_is_kept_by_what_its_passages_say_to_the_question(own: float, kept: bool) -> None:
    corpus = corpus_of({**WEAK, (FAR, FAR): 1.0, (FAR, QUESTION): own})
    base, best, ledger = run(corpus, Voice(replies=[FAR]), settings("rewrite"))
    assert (best is not base, tried(ledger, "rewrite").kept) == (kept, kept)


def test_a_reading_is_rejected_when_its_passages_bear_the_question_itself_out_less() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.29, (GOOD, GOOD): 1.0}
    base, best, _ = run(corpus_of(strengths), Voice(replies=[GOOD]), settings("rewrite"))
    assert best is base


def test_a_gain_within_the_margin_changes_nothing() -> None:
    base, best, ledger = run(
        corpus_of({**WEAK, (GOOD, QUESTION): 0.3 + MARGIN / 2, (GOOD, GOOD): 0.3 + MARGIN / 2}), Voice(replies=[GOOD]),
        settings("rewrite"),
    )  # fmt: skip
    assert best is base
    assert tried(ledger, "rewrite").why.startswith("the evidence did not rise")


def test_what_is_rejected_leaves_base_and_its_ledger_as_they_were() -> None:
    corpus = corpus_of(WEAK, hits={QUESTION: ["a", "b"], GOOD: ["c", "a"]})
    corpus.llm = Voice(replies=[GOOD])
    corpus.settings = Settings(_env_file=None, escalation=settings("rewrite", "hyde", mode="always"))
    base = corpus.attempt(QueryBundle(QUESTION), corpus.ledger.fork("base"))
    before = (list(base.ranked), base.ledger.candidate("a"))
    assert escalate(corpus, base) is base
    assert (base.ranked, base.ledger.candidate("a")) == before


def test_every_attempt_is_noted_with_its_evidence_and_time() -> None:
    _, _, ledger = run(corpus_of(WEAK), Voice(replies=[GOOD]), settings("rewrite", "hyde"))
    assert [(attempt.name, attempt.kept) for attempt in ledger.attempts] == [
        ("base", True), ("rewrite", False), ("hyde", False)
    ]  # fmt: skip
    assert all(attempt.why and attempt.ms >= 0 for attempt in ledger.attempts)


# What is searched for


def test_without_the_dense_leg_nothing_is_embedded() -> None:
    corpus = corpus_of(WEAK, similarity=None)
    run(corpus, Voice(replies=["pull the training plug"]), settings("rewrite"))
    assert [query.embedding for query in corpus.searched] == [None]


def test_a_rewrite_weighs_as_much_as_it_is_like_the_question() -> None:
    corpus = corpus_of(WEAK)
    run(corpus, Voice(replies=[GOOD]), settings("rewrite"))
    query = corpus.searched[0]
    assert isinstance(query, WeightedQuery)
    assert query.term_weights == pytest.approx({"pull": 1, "plug": 1, "train": 1 + 0.64, "stop": 0.64, "project": 0.64})
    expected = np.array(DIRECTIONS[QUESTION]) + 0.8**2 * np.array(DIRECTIONS[GOOD])
    assert query.embedding == pytest.approx((expected / np.linalg.norm(expected)).tolist())


def test_a_hypothetical_answer_lends_its_direction_and_not_its_words() -> None:
    corpus = corpus_of(WEAK)
    run(corpus, Voice(replies=[f"Hypothetical answer: {GOOD}"]), settings("hyde"))
    query = corpus.searched[0]
    assert isinstance(query, WeightedQuery)
    assert query.query_str == QUESTION
    assert query.term_weights == {"pull": 1, "plug": 1, "train": 1}
    assert query.embedding is not None
    assert query.embedding[1] > 0


# Failures


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't help with that.", "```\n```", QUESTION])
def test_a_reply_without_a_question_is_noted_and_changes_nothing(reply: str) -> None:
    corpus = corpus_of(WEAK)
    base, best, ledger = run(corpus, Voice(replies=[reply]), settings("rewrite"))
    assert best is base
    assert not corpus.searched
    assert not tried(ledger, "rewrite").kept


def test_a_model_that_fails_is_noted_once_and_not_asked_again() -> None:
    voice = Voice(replies=["!boom"])
    base, best, ledger = run(corpus_of(WEAK), voice, settings("rewrite", "hyde"))
    assert best is base
    assert voice.asked == 1
    assert "boom" in tried(ledger, "rewrite").why
    assert any("rewrite" in note for note in ledger.notes)


def test_a_search_that_fails_leaves_the_base() -> None:
    class Broken(Corpus):
        def attempt(self, query: QueryBundle, ledger: Ledger) -> SearchOutcome:
            if query.query_str != QUESTION:
                raise ServiceUnavailable("The database is gone.", hint="Start it.")
            return super().attempt(query, ledger)

    corpus = Broken(intent=corpus_of(WEAK).intent, strengths=WEAK)
    base, best, ledger = run(corpus, Voice(replies=[GOOD]), settings("rewrite"))
    assert best is base
    assert "gone" in tried(ledger, "rewrite").why


# Vectors and strengths


def test_unit_leaves_zeros_alone() -> None:
    assert unit([0.0, 0.0]).tolist() == [0.0, 0.0]


def test_a_weighted_direction_adds_directions_not_lengths() -> None:
    assert weighted_direction([2.0, 0.0], [0.0, 9.0], 1.0) == pytest.approx([1 / math.sqrt(2), 1 / math.sqrt(2)])
    assert weighted_direction([3.0, 4.0], [1.0, 0.0], 0.0) == pytest.approx([3 / 5, 4 / 5])


def test_the_cosine_of_opposites_is_zero() -> None:
    assert cosine([1, 0], [1, 1]) == pytest.approx(1 / math.sqrt(2))
    assert cosine([1, 0], [-1, 0]) == 0
    assert cosine(np.zeros(2), [1, 0]) == 0


def test_the_lexical_cosine_is_that_of_idf_vectors() -> None:
    rarity = {"a": 1.0, "b": 2.0, "c": 2.0}
    assert lexical_cosine(["a", "b", "b"], ["b", "c"], rarity.__getitem__) == pytest.approx(4 / (5**0.5 * 8**0.5))
    assert lexical_cosine([], ["a"], rarity.__getitem__) == 0
    assert lexical_cosine(["a"], ["c"], rarity.__getitem__) == 0


def test_expected_strength_is_the_mean_weighted_by_trust() -> None:
    assert expected_strength(0.4, 0.5, 0.7) == pytest.approx((0.4 + 0.5 * 0.7) / 1.5)
    assert expected_strength(0.4, 0.0, 1.0) == 0.4
