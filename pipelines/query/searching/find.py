"""FIND: question -> intent -> ranking and evidence, in one or more attempts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.postprocess import build_additions, build_cuts, build_factors
from pipelines.query.searching.assess import assess, regraded
from pipelines.query.searching.escalate import escalate
from pipelines.query.searching.fuse import (
    Fusion,
    HybridRetriever,
    ScoringRetriever,
    convex_fusion,
    multiplicable,
    reciprocal_rank_fusion,
)
from pipelines.query.searching.readings import Senses
from pipelines.query.searching.retrieve import Asked, DenseRetriever, Reach, SparseRetriever, Whiten, best_documents
from pipelines.query.trace import Ledger
from pipelines.query.understanding.analyse import analyse
from pipelines.query.understanding.history import recent
from pipelines.query.understanding.narrow import narrowings, outside
from pipelines.query.understanding.standalone import stand_alone
from pipelines.store.families import families_of
from pipelines.store.filters import matching
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.names import NO_NAMES, KnownNames
from pipelines.store.reads import NodeReader
from pipelines.store.space import Spaces
from pipelines.types import Audience, Evidence, Filters, Mode, QueryIntent, Turn

NOTHING_ASKED = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False, reason="nothing is asked")


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
        ranking: Those that the cuts left, at most top_n, best first; of the attempt that is kept, with their
            neighbours.
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
    spaces: Spaces
    names: KnownNames
    model: str
    llm: LLM | None

    @property
    def llm_name(self) -> str:
        """The language model's name; empty without one."""
        return str(self.llm.metadata.model_name) if self.llm else ""

    def understand(self, request: Request, ledger: Ledger) -> QueryIntent:
        """What the question asks for.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
        """
        matching(request.filters)  # a filter that cannot be compared is an error before any leg runs
        with ledger.timings.stage("analyse"):
            return self._analyse(request, ledger)

    def find(self, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        """The best attempt: the base search, or an escalation that brought better evidence.

        Raises:
            ModelError, ServiceUnavailable: If no leg could search.
        """
        if intent.greeting:
            return Found(intent, QueryBundle(intent.search_text), [], [], NOTHING_ASKED, ledger)
        asked = Asked(self.embed_model, ledger.timings)
        attempt = partial(self.attempt, intent=intent, request=request, asked=asked)
        base = attempt(QueryBundle(intent.search_text), ledger=ledger.fork("base"))
        senses = Senses(
            attempt,
            partial(self.judge, request=request, asked=asked),
            asked.vector,
            self.store.vectors,
            self.indexes.current(request.audience).idf,
            partial(regraded, settings=self.settings.evidence, model=self.model),
        )
        best = escalate(base, senses, self.llm, self.settings.escalation, ledger)
        ledger.adopt(best.ledger)
        return replace(best, ranking=self._with_additions(best, request, ledger), ledger=ledger)

    def examine(self, request: Request) -> Found:
        """What is found for a request by itself, with a ledger of its own; raises what the two before raise."""
        ledger = Ledger()
        return self.find(request, self.understand(request, ledger), ledger)

    def attempt(
        self, query: QueryBundle, *, intent: QueryIntent, request: Request, asked: Asked, ledger: Ledger
    ) -> Found:
        """One search for `query`, ranked, cut, and assessed as evidence for the question itself."""
        ranked = self._retrieve(query, intent, request, asked, ledger)
        with ledger.timings.stage("postprocess"):
            for step in build_factors(self.settings, intent, ledger, today=date.today()):
                ranked = step.postprocess_nodes(ranked, query_bundle=query)
            ledger.ranked(ranked)
            ranking = ranked
            families = partial(families_of, self.store.engine)
            cuts = build_cuts(self.settings.factors, intent, ledger, top_n=request.top_n, families=families)
            for step in cuts:
                ranking = step.postprocess_nodes(ranking, query_bundle=query)
        evidence = self._assess(ranked, intent, request, asked, ledger)
        return Found(intent, query, ranked, ranking, evidence, ledger)

    def judge(self, found: Found, intent: QueryIntent, *, request: Request, asked: Asked) -> Evidence:
        """What a find is as evidence for another reading of the question; the find's own ledger is left alone."""
        ledger = found.ledger.fork(found.ledger.name)
        ledger.join(found.ledger)
        return self._assess(found.ranked, intent, request, asked, ledger)

    def _analyse(self, request: Request, ledger: Ledger) -> QueryIntent:
        options, index = self.settings.analysis, self.indexes.current(request.audience)
        known = self.names.current(request.audience, self.store.version()) if options.names else NO_NAMES
        return analyse(
            request.question,
            history=request.history,
            named=known.find,
            weight=index.idf,
            reword=partial(self._reword, ledger),
            trims=options.trim,
            phrases=options.phrases,
            categories=options.categories != "off",
            years=options.years != "off",
            limit=options.max_question_characters,
        )

    def _reword(self, ledger: Ledger, question: str, turns: Sequence[Turn]) -> str:
        """A follow-up as the language model makes it whole; empty when there is none, it fails, or says nothing fit."""
        options = self.settings.answer
        told = recent(turns, turns=options.history_turns, tokens=options.history_tokens)
        if self.llm is None or options.condense == "rules" or not told:
            return ""
        try:
            return stand_alone(question, told, self.llm, seconds=options.condense_seconds)
        except FootnoteError as error:
            log_failure("a follow-up is made whole by rules", error)
            ledger.note(f"The follow-up was made whole by rules, as the language model failed: {error}")
            return ""

    def _retrieve(
        self, query: QueryBundle, intent: QueryIntent, request: Request, asked: Asked, ledger: Ledger
    ) -> list[NodeWithScore]:
        """The fused ranking under the narrowest filters that leave enough candidates; the ledger tells of it alone."""
        for narrowing in narrowings(intent, request.filters, self.settings.analysis):
            if narrowing.dropped:
                ledger.note(f"Too few candidates: searched again without the guessed {narrowing.dropped}.")
            narrow = ledger.fork(ledger.name)
            with ledger.timings.stage("retrieve"):
                ranking = self._search(query, replace(request, filters=narrowing.filters), asked, narrow)
            left_out = outside(ranking, narrowing)
            kept = [hit for hit in ranking if hit.node.node_id not in left_out]
            if len(kept) >= self.settings.analysis.min_candidates or not narrowing.guessed:
                break
        for node_id in left_out:
            narrow.cut(node_id, "filter")
        ledger.adopt(narrow)
        return kept

    def _search(self, query: QueryBundle, request: Request, asked: Asked, ledger: Ledger) -> list[NodeWithScore]:
        """The fused ranking of all nodes, or of the best documents' nodes only."""
        flat = self._retriever(request, asked, ledger).retrieve(query)
        chosen = best_documents(flat, self.settings.retrieval.documents_first)
        if not chosen:
            return flat
        for hit in flat:
            if hit.node.metadata["document_id"] not in chosen:
                ledger.cut(hit.node.node_id, "document")
        within = replace(request, filters=replace(request.filters, document=chosen))
        return self._retriever(within, asked, ledger).retrieve(query)

    def _retriever(self, request: Request, asked: Asked, ledger: Ledger) -> HybridRetriever:
        options = self.settings.retrieval
        reach = Reach(options.leg_factor * request.top_n, request.filters, request.audience, ledger.timings)
        legs: dict[str, ScoringRetriever] = {}
        if request.mode != "sparse":
            look = options.ann_factor * request.top_n
            legs["dense"] = DenseRetriever(self.store, asked, reach, look=look, whiten=self._whiten(request))
        if request.mode != "dense":
            legs["sparse"] = SparseRetriever(
                self.store, self.indexes, reach, typo_weight=options.typo_weight, note=ledger.note
            )
        complete = options.complete and options.fusion == "convex"
        return HybridRetriever(legs, self._fusion(), ledger, complete=complete)

    def _assess(
        self, ranked: Sequence[NodeWithScore], intent: QueryIntent, request: Request, asked: Asked, ledger: Ledger
    ) -> Evidence:
        self._compare(ranked, intent, request, asked, ledger)
        index, options = self.indexes.current(request.audience), self.settings.evidence
        with ledger.timings.stage("assess"):
            return assess(ranked, intent, ledger, index, settings=options, model=self.model)

    def _with_additions(self, found: Found, request: Request, ledger: Ledger) -> list[NodeWithScore]:
        ranking = found.ranking
        with ledger.timings.stage("postprocess"):
            for step in build_additions(self.settings.factors, ledger, reader=self._window(request)):
                ranking = step.postprocess_nodes(ranking, query_bundle=found.query)
        return ranking

    def _compare(
        self, ranking: Sequence[NodeWithScore], intent: QueryIntent, request: Request, asked: Asked, ledger: Ledger
    ) -> None:
        """Note the cosine similarity of every candidate, and of the corpus, to what the intent searches for."""
        if ledger.used("dense"):
            vector = asked.vector(QueryBundle(intent.search_text))
            with ledger.timings.stage("compare"):
                ledger.similar(self.store.similarities(vector, [hit.node.node_id for hit in ranking]))
                space = self.spaces.current(request.audience)
                ledger.background = space.background(vector) if space else None

    def _whiten(self, request: Request) -> Whiten:
        power = self.settings.retrieval.whitening
        space = self.spaces.current(request.audience) if power else None
        return lambda vector: vector if space is None else space.whiten(vector, power).tolist()

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
