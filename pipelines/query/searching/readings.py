"""Readings of a question: how far a text may be taken for it, and what the two find together."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from llama_index.core.schema import NodeWithScore, QueryBundle

from config.settings import EscalationSettings
from pipelines.query.searching.feedback import Vector, expected, lexical_likeness, likeness, mixed
from pipelines.query.searching.fuse import multiplicable
from pipelines.query.searching.retrieve import WeightedQuery
from pipelines.query.trace import Ledger
from pipelines.store.tokens import tokenise
from pipelines.types import Evidence, QueryIntent

if TYPE_CHECKING:
    from pipelines.query.searching.find import Found

# From here a text is taken for a reading of the question. On two dev sets, right answers to a question have .16 to .8,
# answers to the question most like it .01 to .4, answers to any other question 0 to .15 (10 % to 90 % of each).
TRUST = 0.25
T = TypeVar("T")
Merge = Callable[[Mapping[str, Sequence[tuple[str, float]]]], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Senses:
    """What a try is made with.

    Attributes:
        attempt: One search: (query, ledger=, and intent= to assess it for another reading alone) -> Found.
        judge: What a find is as evidence for another reading as well; nothing is searched.
        embed: The vector of a query; a text that was embedded before costs nothing.
        vectors: The mean unit vectors of nodes; ids that are gone are missing.
        idf: How rare a term is.
        regrade: Evidence as it stands at another strength.
    """

    attempt: Callable[..., "Found"]
    judge: Callable[["Found", QueryIntent], Evidence]
    embed: Callable[[QueryBundle], Sequence[float]]
    vectors: Callable[[Sequence[str]], Mapping[str, Vector]]
    idf: Callable[[str], float]
    regrade: Callable[[Evidence, float], Evidence]


@dataclass(frozen=True, slots=True)
class Case:
    """A question whose evidence is to improve.

    Attributes:
        base: Its own search.
        senses: What a try is made with.
        settings: How many variants.
        ledger: Whose forks the attempts write.
        ask: A prompt -> the language model's reply to the question.
        in_time: Whether another search may begin.
    """

    base: "Found"
    senses: Senses
    settings: EscalationSettings
    ledger: Ledger
    ask: Callable[[str], str]
    in_time: Callable[[], bool]

    @property
    def question(self) -> str:
        """What is searched for, a follow-up made whole."""
        return self.base.intent.search_text

    @property
    def by_vector(self) -> bool:
        """Whether the dense leg searched, so that vectors can be had."""
        return self.base.evidence.similarity is not None

    def vector(self, text: str) -> Sequence[float]:
        """The vector of a text."""
        return self.senses.embed(QueryBundle(text))

    def trust(self, texts: Sequence[str]) -> float:
        """How far texts, together, may be taken for the question: their cosine squared, 0..1, what both have in common.

        Of their vectors; without a dense leg, of their terms.
        """
        if self.by_vector:
            return likeness(self.vector(self.question), between([self.vector(text) for text in texts])) ** 2
        return lexical_likeness(tokenise(self.question), tokenise(" ".join(texts)), self.senses.idf) ** 2

    def each(self, searches: Sequence[Callable[[], T]]) -> list[T]:
        """What they find, in order: the first always, each other one only while there is time; noted if one is not."""
        found: list[T] = []
        for search in searches:
            if found and not self.in_time():
                self.ledger.lacking("A part of a second try was left out: the time was used up.")
                break
            found.append(search())
        return found


def search_reading(case: Case, name: str, text: str, trust: float, *, terms: bool = True) -> tuple["Found", float]:
    """What question and text find together, and its strength as evidence for the text alone."""
    weights: dict[str, float] = {term: float(times) for term, times in Counter(tokenise(case.question)).items()}
    for term in tokenise(text) if terms else ():
        weights[term] = weights.get(term, 0.0) + trust
    embedding = mixed(case.vector(case.question), [(case.vector(text), trust)]) if case.by_vector else None
    query = WeightedQuery(text if terms else case.question, embedding=embedding, term_weights=weights)
    found = case.senses.attempt(query, ledger=case.ledger.fork(name))
    return found, case.senses.judge(found, meaning(case, text)).strength


def meaning(case: Case, text: str) -> QueryIntent:
    """The question's intent, as if it had been asked in these words."""
    return replace(case.base.intent, search_text=text, terms=tuple(dict.fromkeys(tokenise(text))))


def weighed(case: Case, found: "Found", own: Evidence, readings: Sequence[tuple[float, float]]) -> "Found":
    """The find with the evidence that the question and its readings together make it.

    Passages that bear the question itself out less than its own search did are no better for what a reading says.
    """
    if own.strength < case.base.evidence.strength:
        return found
    return replace(found, evidence=case.senses.regrade(own, expected(own.strength, readings)))


def merged(case: Case, name: str, found: Sequence["Found"], merge: Merge) -> "Found":
    """One ranking of several, and of the question's own; what every one of them cut stays cut."""
    searched = {**{str(n): each for n, each in enumerate(found)}, "": case.base}
    rankings = {key: [(hit.node.node_id, float(hit.score or 0.0)) for hit in each.ranked]
                for key, each in searched.items()}  # fmt: skip
    nodes = {hit.node.node_id: hit.node for each in searched.values() for hit in each.ranked}
    scores = multiplicable(merge(rankings))
    ranked = [
        NodeWithScore(node=nodes[key], score=scores[key]) for key in sorted(scores, key=lambda k: (-scores[k], k))
    ]
    ledger = case.ledger.fork(name)
    for each in searched.values():
        ledger.join(each.ledger)
    ledger.fused(ranked)
    uncut = {hit.node.node_id for each in searched.values() for hit in each.ranking}
    shown = max(len(each.ranking) for each in searched.values())
    ranking = [hit for hit in ranked if hit.node.node_id in uncut][:shown]
    ledger.shown(ranking)
    return replace(case.base, ranked=ranked, ranking=ranking, ledger=ledger)


def between(vectors: Sequence[Sequence[float]]) -> list[float]:
    """The unit vector between these."""
    return mixed(vectors[0], [(vector, 1.0) for vector in vectors[1:]])
