"""FIND: question -> intent -> ranking and evidence, in one or more attempts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from config.settings import Settings
from pipelines.query.analyse import analyse
from pipelines.query.assess import assess
from pipelines.query.escalate import escalate
from pipelines.query.fuse import (
    Fusion,
    HybridRetriever,
    ScoringRetriever,
    convex_fusion,
    multiplicable,
    reciprocal_rank_fusion,
)
from pipelines.query.narrow import narrowings, outside
from pipelines.query.postprocess import build_cuts, build_factors
from pipelines.query.retrieve import DenseRetriever, Reach, SparseRetriever
from pipelines.query.trace import Ledger
from pipelines.store import documents as document_rows
from pipelines.store.lexical import LexicalIndexes
from pipelines.store.reads import NodeReader
from pipelines.types import Audience, Evidence, Filters, Mode, QueryIntent, Turn


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, of what, for whom, and how many passages are wanted."""

    question: str
    filters: Filters
    audience: Audience
    mode: Mode
    top_n: int
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What an attempt brought.

    Attributes:
        intent: What was understood of the question.
        query: What was searched for.
        ranked: Every candidate after the factors, best first.
        ranking: Those that the cuts left, at most top_n (more with neighbours), best first.
        evidence: How well they bear on the question.
        ledger: What became of each candidate.
    """

    intent: QueryIntent
    query: QueryBundle
    ranked: list[NodeWithScore]
    ranking: list[NodeWithScore]
    evidence: Evidence
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Finder:
    """Searches one store with one set of settings; safe to share between threads."""

    settings: Settings
    store: NodeReader
    indexes: LexicalIndexes
    embed_model: BaseEmbedding
    model: str
    llm: LLM | None

    def find(self, request: Request, ledger: Ledger) -> Found:
        """The best attempt: the base search, or an escalation that brought better evidence.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no leg could search.
        """
        document_rows.matching(request.filters)  # a filter that cannot be compared is an error before any leg runs
        with ledger.timings.stage("analyse"):
            intent = self._analyse(request)
        attempt = partial(self.attempt, intent=intent, request=request)
        base = attempt(QueryBundle(intent.search_text), ledger=ledger.fork("base"))
        best = escalate(base, attempt, self.llm, self.settings.escalation, ledger)
        ledger.adopt(best.ledger)
        return best

    def attempt(self, query: QueryBundle, *, intent: QueryIntent, request: Request, ledger: Ledger) -> Found:
        """One search for `query`, ranked, cut and assessed."""
        retrieved = self._retrieve(query, intent, request, ledger)
        with ledger.timings.stage("postprocess"):
            ranked = retrieved
            for step in build_factors(self.settings.factors, intent, ledger):
                ranked = step.postprocess_nodes(ranked, query_bundle=query)
            ledger.ranked(ranked)
            ranking = ranked
            for step in build_cuts(
                self.settings.factors, intent, ledger, top_n=request.top_n, reader=self._window(request)
            ):
                ranking = step.postprocess_nodes(ranking, query_bundle=query)
        with ledger.timings.stage("assess"):
            evidence = assess(
                ranked,
                intent,
                ledger,
                self.indexes.current(request.audience),
                settings=self.settings.evidence,
                model=self.model,
            )
        return Found(intent, query, ranked, ranking, evidence, ledger)

    def _analyse(self, request: Request) -> QueryIntent:
        return analyse(request.question, history=request.history, limit=self.settings.analysis.max_question_characters)

    def _retrieve(
        self, query: QueryBundle, intent: QueryIntent, request: Request, ledger: Ledger
    ) -> list[NodeWithScore]:
        """The fused ranking under the narrowest filters that leave enough candidates."""
        ranking: list[NodeWithScore] = []
        for narrowing in narrowings(intent, request.filters, self.settings.analysis):
            if narrowing.dropped:
                ledger.note(f"Too few candidates: searched again without the guessed {narrowing.dropped}.")
            with ledger.timings.stage("retrieve"):
                ranking = self._retriever(replace(request, filters=narrowing.filters), ledger).retrieve(query)
            left_out = outside(ranking, narrowing)
            kept = [hit for hit in ranking if hit.node.node_id not in left_out]
            if len(kept) >= self.settings.analysis.min_candidates or not narrowing.guessed:
                for node_id in left_out:
                    ledger.cut(node_id, "filter")
                return kept
        return ranking

    def _retriever(self, request: Request, ledger: Ledger) -> HybridRetriever:
        options = self.settings.retrieval
        reach = Reach(options.leg_factor * request.top_n, request.filters, request.audience, ledger.timings)
        legs: dict[str, ScoringRetriever] = {}
        if request.mode != "sparse":
            look = options.ann_factor * request.top_n
            legs["dense"] = DenseRetriever(self.store, self.embed_model, reach, look=look)
        if request.mode != "dense":
            legs["sparse"] = SparseRetriever(self.store, self.indexes, reach)
        complete = options.complete and options.fusion == "convex"
        return HybridRetriever(legs, self._fusion(), ledger, complete=complete)

    def _fusion(self) -> Fusion:
        options = self.settings.retrieval
        if options.fusion == "rrf":
            weight = options.rrf_dense_weight
            weights = {"dense": weight, "sparse": 1 - weight}
            return lambda rankings: multiplicable(reciprocal_rank_fusion(rankings, weights, k=options.rrf_k))
        weights = {"dense": options.dense_weight, "sparse": 1 - options.dense_weight}
        if options.scale == "z":
            return lambda rankings: multiplicable(convex_fusion(rankings, weights, scale="z"))
        return partial(convex_fusion, weights=weights, scale=options.scale)

    def _window(self, request: Request) -> Callable[[str, int, int], Sequence[NodeWithScore]]:
        def read(document_id: str, ordinal: int, width: int) -> list[NodeWithScore]:
            nodes = self.store.window(document_id, ordinal, width, filters=request.filters, audience=request.audience)
            return [NodeWithScore(node=node, score=0.0) for node in nodes]

        return read
