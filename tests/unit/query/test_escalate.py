"""Auto-RAG over fakes: a corpus is a table of what each search text finds and how strong that is."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from llama_index.core.schema import QueryBundle

from config.settings import EscalationSettings
from pipelines.errors import ServiceUnavailable
from pipelines.query.searching.escalate import MARGIN, escalate, is_weak, planned
from pipelines.query.searching.find import Found
from pipelines.query.searching.readings import Senses
from pipelines.query.searching.retrieve import WeightedQuery
from pipelines.query.searching.tries import best_rank
from pipelines.query.trace import Ledger
from pipelines.types import Attempt, Evidence, QueryIntent
from tests.unit.query.builders import hit
from tests.unit.query.voice import Voice

QUESTION = "pull the plug on training"
GOOD = "stop the training project"
OTHER = "end the training early"
COMPOUND = "pull the plug on training and why"
FAR = "what do cats eat"
FLOOR = 0.5
# Directions of texts: the good wordings are near the question, the far one is not.
DIRECTIONS = {
    QUESTION: [1.0, 0.0, 0.0],
    COMPOUND: [1.0, 0.0, 0.0],
    GOOD: [0.8, 0.6, 0.0],
    OTHER: [0.8, 0.0, 0.6],
    FAR: [0.1, 0.99, 0.0],
}


def evidence(strength: float, *, similarity: float | None = 0.5) -> Evidence:
    enough = strength >= FLOOR
    return Evidence(strength, "medium" if enough else "low", similarity, 0.5, {}, 3, (), sufficient=enough)


@dataclass
class Corpus:
    """(search text, what it is evidence for) -> strength; searches are recorded."""

    strengths: Mapping[tuple[str, str], float]
    hits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    similarity: float | None = 0.5
    seconds: float = 0.0  # that a search takes
    searched: list[tuple[QueryBundle, str]] = field(default_factory=list)

    def attempt(self, query: QueryBundle, *, ledger: Ledger, intent: QueryIntent | None = None) -> Found:
        meant = intent or QueryIntent(QUESTION, QUESTION, terms=("pull", "plug", "train"))
        self.searched.append((query, meant.search_text))
        time.sleep(self.seconds)
        strength = self.strengths.get((query.query_str, meant.search_text), 0.0)
        names = self.hits.get(query.query_str, ["a", "b"])
        ranking = [hit(name, f"text of {name}", 1 - n / 10, mime="text/plain") for n, name in enumerate(names)]
        ledger.fused(ranking)
        for cut in ranking[2:]:
            ledger.cut(cut.node.node_id, "top_n")
        return Found(meant, query, ranking, ranking[:2], evidence(strength, similarity=self.similarity), ledger)

    def judge(self, found: Found, intent: QueryIntent) -> Evidence:
        strength = self.strengths.get((found.query.query_str, intent.search_text), 0.0)
        return evidence(strength, similarity=self.similarity)

    @property
    def senses(self) -> Senses:
        return Senses(
            attempt=self.attempt,
            judge=self.judge,
            embed=lambda query: DIRECTIONS[query.query_str],
            vectors=lambda ids: {name: np.array([0, 1, 0], dtype=np.float32) for name in ids},
            idf=lambda term: 1.0,
            regrade=lambda given, strength: replace(
                given, strength=strength, sufficient=strength >= FLOOR, band="medium" if strength >= FLOOR else "low"
            ),
        )


def settings(*kinds: str, **changes: Any) -> EscalationSettings:
    return EscalationSettings.model_validate({"kinds": kinds, "seconds": 30.0, **changes})


def run(corpus: Corpus, llm: Voice | None, options: EscalationSettings) -> tuple[Found, Found, Ledger]:
    ledger = Ledger()
    base = corpus.attempt(QueryBundle(QUESTION), ledger=ledger.fork("base"))
    corpus.searched.clear()
    return base, escalate(base, corpus.senses, llm, options, ledger), ledger


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
    corpus = Corpus({(QUESTION, QUESTION): strength})
    base, best, _ = run(corpus, None, settings("feedback", mode=mode))
    assert len(corpus.searched) == searches
    assert best is base


def test_a_greeting_is_never_tried_again() -> None:
    corpus, ledger = Corpus({}), Ledger()
    base = corpus.attempt(QueryBundle(QUESTION), ledger=ledger.fork("base"))
    greeted = replace(base, intent=replace(base.intent, greeting=True))
    assert escalate(greeted, corpus.senses, None, settings("feedback", mode="always"), ledger) is greeted
    assert [attempt.name for attempt in ledger.attempts] == ["base"]


def test_without_a_language_model_only_feedback_is_tried() -> None:
    _, _, ledger = run(Corpus(WEAK), None, settings("feedback", "rewrite", "hyde", "multi"))
    assert [attempt.name for attempt in ledger.attempts] == ["base", "feedback"]


def test_a_compound_question_is_taken_apart_before_it_is_reworded() -> None:
    options = settings("rewrite", "hyde", "decompose", "feedback")
    assert planned(options, "Who is she and what does she do?") == ["feedback", "decompose", "rewrite", "hyde"]
    assert planned(options, "Who is she?") == ["feedback", "rewrite", "hyde"]


def test_no_more_calls_are_made_than_allowed() -> None:
    voice = Voice(replies=[FAR])
    run(Corpus(WEAK), voice, settings("rewrite", "hyde", "multi", calls=2))
    assert voice.asked == 2


def test_no_try_begins_after_the_time_is_over() -> None:
    voice = Voice(replies=[GOOD], wait=0.3)
    _, _, ledger = run(Corpus(WEAK), voice, settings("feedback", "rewrite", "hyde", "multi", seconds=0.1))
    assert [attempt.name for attempt in ledger.attempts] == ["base", "feedback", "rewrite"]
    assert "took more than" in tried(ledger, "rewrite").why


def test_a_try_that_is_left_out_for_want_of_time_is_noted_so_that_the_weaker_result_is_not_kept() -> None:
    corpus = Corpus(WEAK, seconds=0.05)
    base, best, ledger = run(corpus, Voice(replies=[GOOD]), settings("feedback", "rewrite", seconds=0.04))
    assert [attempt.name for attempt in ledger.attempts] == ["base", "feedback"]
    assert best is base
    assert ledger.notes == ["A second try was left out: the time was used up."]
    assert ledger.degraded


def test_a_try_that_no_language_model_could_make_is_not_left_out_for_want_of_time() -> None:
    _, _, ledger = run(Corpus(WEAK, seconds=0.05), None, settings("feedback", "rewrite", seconds=0.04))
    assert not ledger.degraded
    assert ledger.notes == []


def test_each_wording_is_searched_once_and_assessed_for_the_question_and_for_itself() -> None:
    corpus = Corpus({**WEAK, (GOOD, QUESTION): 0.3, (GOOD, GOOD): 0.9, (OTHER, QUESTION): 0.3, (OTHER, OTHER): 0.9})
    _, best, _ = run(corpus, Voice(replies=[f"- {GOOD}\n- {OTHER}"]), settings("multi"))
    assert [query.query_str for query, _ in corpus.searched] == [GOOD, OTHER]
    assert best.evidence.strength == pytest.approx((0.3 + 2 * 0.64 * 0.9) / (1 + 2 * 0.64))


def test_when_the_time_is_used_up_no_further_wording_is_searched_and_the_rest_still_count() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.3, (GOOD, GOOD): 0.9, (OTHER, QUESTION): 0.3, (OTHER, OTHER): 0.9}
    corpus = Corpus(strengths, seconds=0.2)
    _, best, ledger = run(corpus, Voice(replies=[f"- {GOOD}\n- {OTHER}"]), settings("multi", seconds=0.15))
    assert [query.query_str for query, _ in corpus.searched] == [GOOD]
    assert best.evidence.strength == pytest.approx((0.3 + 0.64 * 0.9) / (1 + 0.64))
    assert tried(ledger, "multi").search_text == GOOD
    assert ledger.degraded


def test_parts_that_were_not_all_searched_in_time_are_no_answer_to_the_whole() -> None:
    corpus, ledger = Corpus({(GOOD, GOOD): 0.9, (OTHER, OTHER): 0.9}, seconds=0.2), Ledger()
    base = corpus.attempt(QueryBundle(QUESTION), ledger=ledger.fork("base"))
    compound = replace(base, intent=replace(base.intent, search_text=COMPOUND))
    options = settings("decompose", seconds=0.15)
    assert escalate(compound, corpus.senses, Voice(replies=[f"{GOOD}\n{OTHER}"]), options, ledger) is compound
    assert "before every part" in tried(ledger, "decompose").why
    assert ledger.degraded


def test_enough_evidence_ends_the_tries_in_auto_but_not_in_always() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.6, (GOOD, GOOD): 0.9}
    for mode, names in (("auto", ["base", "rewrite"]), ("always", ["base", "rewrite", "hyde"])):
        _, best, ledger = run(Corpus(strengths), Voice(replies=[GOOD, FAR]), settings("rewrite", "hyde", mode=mode))
        assert [attempt.name for attempt in ledger.attempts] == names
        assert best.evidence.sufficient


# What is kept


def test_a_reading_is_kept_when_question_and_reading_together_are_borne_out_better() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.3, (GOOD, GOOD): 0.9}
    base, best, ledger = run(Corpus(strengths), Voice(replies=[f"Sure! Here it is:\n1. {GOOD}"]), settings("rewrite"))
    trust = 0.8**2
    assert best.evidence.strength == pytest.approx((0.3 + trust * 0.9) / (1 + trust))
    assert best is not base
    assert tried(ledger, "rewrite").kept
    assert tried(ledger, "rewrite").search_text == GOOD
    assert best.intent == base.intent


def test_a_confident_find_for_something_else_is_not_even_searched() -> None:
    corpus = Corpus({**WEAK, (FAR, FAR): 1.0, (FAR, QUESTION): 0.9})
    base, best, ledger = run(corpus, Voice(replies=[FAR]), settings("rewrite", "multi"))
    assert best is base
    assert not corpus.searched
    assert not tried(ledger, "rewrite").kept
    assert "something else" in tried(ledger, "rewrite").why


def test_a_reading_is_rejected_when_its_passages_bear_the_question_itself_out_less() -> None:
    strengths = {**WEAK, (GOOD, QUESTION): 0.29, (GOOD, GOOD): 1.0}
    base, best, _ = run(Corpus(strengths), Voice(replies=[GOOD]), settings("rewrite"))
    assert best is base


def test_a_gain_within_the_margin_changes_nothing() -> None:
    base, best, ledger = run(
        Corpus({**WEAK, (GOOD, QUESTION): 0.3 + MARGIN / 2, (GOOD, GOOD): 0.3 + MARGIN / 2}), Voice(replies=[GOOD]),
        settings("rewrite"),
    )  # fmt: skip
    assert best is base
    assert tried(ledger, "rewrite").why.startswith("the evidence did not rise")


def test_what_is_rejected_leaves_base_and_its_ledger_as_they_were() -> None:
    corpus = Corpus(WEAK, hits={QUESTION: ["a", "b"], GOOD: ["c", "a"]})
    ledger = Ledger()
    base = corpus.attempt(QueryBundle(QUESTION), ledger=ledger.fork("base"))
    before = (list(base.ranked), base.ledger.candidate("a"))
    options = settings("feedback", "rewrite", "multi", mode="always")
    assert escalate(base, corpus.senses, Voice(replies=[GOOD]), options, ledger) is base
    assert (base.ranked, base.ledger.candidate("a")) == before


def test_every_attempt_is_noted_with_its_evidence_and_time() -> None:
    _, _, ledger = run(Corpus(WEAK), Voice(replies=[GOOD]), settings("feedback", "rewrite"))
    assert [(attempt.name, attempt.kept) for attempt in ledger.attempts] == [
        ("base", True), ("feedback", False), ("rewrite", False)
    ]  # fmt: skip
    assert all(attempt.why and attempt.ms >= 0 for attempt in ledger.attempts)


# What is searched for


def test_feedback_searches_with_the_words_and_the_direction_of_the_best_passages() -> None:
    corpus = Corpus(WEAK)
    run(corpus, None, settings("feedback"))
    query = corpus.searched[0][0]
    assert isinstance(query, WeightedQuery)
    assert query.query_str == QUESTION
    assert query.term_weights is not None
    assert query.term_weights["plug"] == 1
    assert 0 < query.term_weights["text"] < 1
    assert query.embedding is not None
    assert query.embedding[0] > query.embedding[1] > 0


def test_feedback_without_passages_has_nothing_to_learn_from() -> None:
    corpus = Corpus(WEAK, hits={QUESTION: []})
    base, best, ledger = run(corpus, None, settings("feedback"))
    assert best is base
    assert tried(ledger, "feedback").why == "no passage to learn from"


def test_without_the_dense_leg_nothing_is_embedded() -> None:
    corpus = Corpus(WEAK, similarity=None)
    run(corpus, Voice(replies=["pull the training plug"]), settings("feedback", "rewrite"))
    assert [query.embedding for query, _ in corpus.searched] == [None] * 2


def test_a_rewrite_weighs_as_much_as_it_is_like_the_question() -> None:
    corpus = Corpus(WEAK)
    run(corpus, Voice(replies=[GOOD]), settings("rewrite"))
    query = corpus.searched[0][0]
    assert isinstance(query, WeightedQuery)
    assert query.term_weights == pytest.approx({"pull": 1, "plug": 1, "train": 1 + 0.64, "stop": 0.64, "project": 0.64})
    expected = np.array(DIRECTIONS[QUESTION]) + 0.8**2 * np.array(DIRECTIONS[GOOD])
    assert query.embedding == pytest.approx((expected / np.linalg.norm(expected)).tolist())


def test_a_hypothetical_answer_lends_its_direction_and_not_its_words() -> None:
    corpus = Corpus(WEAK)
    run(corpus, Voice(replies=[f"Hypothetical answer: {GOOD}"]), settings("hyde"))
    query = corpus.searched[0][0]
    assert isinstance(query, WeightedQuery)
    assert query.query_str == QUESTION
    assert query.term_weights == {"pull": 1, "plug": 1, "train": 1}
    assert query.embedding is not None
    assert query.embedding[1] > 0


def test_of_several_wordings_the_far_ones_are_left_out_and_the_rankings_are_fused() -> None:
    hits = {QUESTION: ["a", "b"], GOOD: ["c", "d"], OTHER: ["c", "e"]}
    strengths = {**WEAK, (GOOD, QUESTION): 0.4, (GOOD, GOOD): 0.9, (OTHER, QUESTION): 0.2, (OTHER, OTHER): 0.9}
    corpus = Corpus(strengths, hits=hits)
    _, best, ledger = run(corpus, Voice(replies=[f"- {GOOD}\n- {FAR}\n- {OTHER}"]), settings("multi"))
    assert best.ranked[0].node.node_id == "c"  # found by two of them
    assert {name.node.node_id for name in best.ranked} == {"a", "b", "c", "d", "e"}
    assert best.evidence.strength == pytest.approx((0.4 + 0.64 * 0.9 + 0.64 * 0.9) / (1 + 0.64 + 0.64))
    assert tried(ledger, "multi").search_text == f"{GOOD} | {OTHER}"
    assert [best.ledger.candidate(own.node.node_id).final for own in best.ranked] == [own.score for own in best.ranked]


def test_in_a_merged_ranking_just_what_is_not_shown_has_been_cut() -> None:
    hits = {QUESTION: ["a", "b"], GOOD: ["d", "e", "a"], OTHER: ["d", "f", "a"]}
    strengths = {**WEAK, (GOOD, QUESTION): 0.3, (GOOD, GOOD): 0.9, (OTHER, QUESTION): 0.3, (OTHER, OTHER): 0.9}
    _, best, _ = run(Corpus(strengths, hits=hits), Voice(replies=[f"- {GOOD}\n- {OTHER}"]), settings("multi"))
    shown = {own.node.node_id for own in best.ranking}
    assert shown == {"a", "d"}  # a is the question's own first, and third for both wordings, which cut it
    assert {own.node.node_id: best.ledger.candidate(own.node.node_id).fate for own in best.ranked} == {
        name: "" if name in shown else "cut: top_n" for name in "abdef"
    }


def test_the_parts_of_a_compound_question_each_bring_their_best_passage() -> None:
    hits = {QUESTION: ["a", "b"], GOOD: ["c", "a"], OTHER: ["d", "a"]}
    corpus = Corpus({**WEAK, (GOOD, GOOD): 0.9, (OTHER, OTHER): 0.7}, hits=hits)
    ledger = Ledger()
    base = corpus.attempt(QueryBundle(QUESTION), ledger=ledger.fork("base"))
    compound = replace(base, intent=replace(base.intent, search_text=COMPOUND))
    voice = Voice(replies=[f"1. {GOOD}\n2. {OTHER}"])
    best = escalate(compound, corpus.senses, voice, settings("decompose"), ledger)
    assert [name.node.node_id for name in best.ranking] == ["c", "d"]
    trust = (1.6 / np.linalg.norm([1.6, 0.6, 0.6])) ** 2
    assert best.evidence.strength == pytest.approx((0.3 + trust * 0.7) / (1 + trust))


def test_a_question_that_has_only_one_part_is_not_taken_apart() -> None:
    _, _, ledger = run(Corpus(WEAK), Voice(replies=[GOOD]), settings("decompose"))
    assert [attempt.name for attempt in ledger.attempts] == ["base"]


def test_best_rank_takes_the_best_of_every_ranking_before_the_second_of_any() -> None:
    scores = best_rank({"x": [("a", 1.0), ("b", 0.9)], "y": [("c", 0.1), ("a", 0.05)]})
    assert sorted(scores, key=lambda name: -scores[name]) == ["a", "c", "b"]


# Failures


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't help with that.", "```\n```", QUESTION])
def test_a_reply_without_a_question_is_noted_and_changes_nothing(reply: str) -> None:
    corpus = Corpus(WEAK)
    base, best, ledger = run(corpus, Voice(replies=[reply]), settings("rewrite"))
    assert best is base
    assert not corpus.searched
    assert not tried(ledger, "rewrite").kept


def test_a_model_that_fails_is_noted_once_and_not_asked_again() -> None:
    voice = Voice(replies=["!boom"])
    base, best, ledger = run(Corpus(WEAK), voice, settings("rewrite", "hyde", "multi"))
    assert best is base
    assert voice.asked == 1
    assert "boom" in tried(ledger, "rewrite").why
    assert any("rewrite" in note for note in ledger.notes)


def test_a_search_that_fails_leaves_the_base() -> None:
    corpus, ledger = Corpus(WEAK), Ledger()
    base = corpus.attempt(QueryBundle(QUESTION), ledger=ledger.fork("base"))

    def broken(*_: Any, **__: Any) -> Found:
        raise ServiceUnavailable("The database is gone.", hint="Start it.")

    senses = replace(corpus.senses, attempt=broken)
    assert escalate(base, senses, None, settings("feedback"), ledger) is base
    assert "gone" in tried(ledger, "feedback").why
