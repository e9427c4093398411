"""SEARCH: one question's work in hand, handed from stage to stage, and a search: retrieve, boost, cut, assess."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from config.prompts import Prompts
from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.active_index import ModelIndex
from pipelines.query.careers.people import StatedCareers
from pipelines.query.evidence import assess
from pipelines.query.fuse import HybridRetriever, build_fusion
from pipelines.query.postprocess import build_cuts, build_factors
from pipelines.query.question.followup import recent_turns, rewrite_follow_up, stand_alone
from pipelines.query.question.understand import analyse, checked, narrowings, outside
from pipelines.query.retrieve import DenseRetriever, QueryEmbedder, SearchScope, SparseRetriever
from pipelines.query.spelling import corrected
from pipelines.query.trace import Ledger
from pipelines.store.facts import read_facts
from pipelines.store.filters import matching
from pipelines.store.known_names import NO_NAMES, NameIndex
from pipelines.store.known_values import assert_known
from pipelines.store.lexical_index import LexicalIndex
from pipelines.store.read_snapshot import Mark
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.types import MAX_QUESTION_CHARACTERS, Audience, Evidence, Filters, Mode, QueryIntent, Trace, Turn

_PROMPTS = Prompts()


@dataclass(frozen=True, slots=True)
class Request:
    """A question, with its filters, its audience and the number of passages.

    `embedding` is the question's vector where the caller gives one; the embedding model makes it else. With `previews`,
    a quotation is shown while a slow language model reads.
    """

    question: str
    filters: Filters
    audience: Audience
    mode: Mode
    top_n: int
    history: tuple[Turn, ...] = ()
    embedding: tuple[float, ...] | None = None
    previews: bool = False


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of one search: every candidate after the boosts (`ranked`), and how strong they are as evidence.

    `ranking` is what the cuts left, best first: at most top_n, of a follow-up twice as many.
    """

    intent: QueryIntent
    query: QueryBundle
    ranked: list[NodeWithScore]
    ranking: list[NodeWithScore]
    evidence: Evidence
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Search:
    """The state of one question; every stage reads it and writes to its ledger.

    `lexical` is the BM25 index of the snapshot that is read, `mark` says which state of the corpus that is,
    `fingerprint` is of the settings and the embedding model. If it `escalates`, query variants follow weak evidence.
    """

    request: Request
    settings: Settings
    index: ModelIndex
    llm: LLM | None
    fingerprint: str
    ledger: Ledger
    intent: QueryIntent
    lexical: LexicalIndex
    mark: Mark
    names: NameIndex
    embedder: QueryEmbedder
    prompts: Prompts = _PROMPTS
    escalates: bool = True

    @property
    def store(self) -> FootnoteVectorStore:
        """The nodes that are searched."""
        return self.index.store

    @property
    def embed_model(self) -> BaseEmbedding:
        """The embedding model."""
        return self.index.embed_model

    @property
    def model(self) -> str:
        """The embedding model's name."""
        return self.index.identity.model

    @property
    def llm_name(self) -> str:
        """The language model's name; empty without one."""
        return str(self.llm.metadata.model_name) if self.llm else ""

    def careers(self, filters: Filters) -> StatedCareers:
        """The typed facts of the nodes that pass these filters, by document name and place, and what they tell of."""
        audience = self.request.audience
        if filters:
            return StatedCareers(read_facts(self.store, filters, audience))
        return self.index.careers.current(audience, self.mark)

    def holding(self, terms: Sequence[str]) -> dict[str, float]:
        """The nodes that hold every term and pass the filters, with their BM25 scores."""
        index, request = self.lexical, self.request
        rarest = min(terms, key=index.document_frequency)
        allowed = self.store.matching_ids(request.filters, request.audience) if request.filters else None
        held = [node_id for node_id, _ in index.search({rarest: 1.0}, index.document_frequency(rarest), allowed)]
        for term in terms:
            holders = index.holders([term], held)
            held = [node_id for node_id in held if node_id in holders]
        return dict(index.score_of(dict.fromkeys(terms, 1.0), held))

    def fetch(self, node_ids: Iterable[str]) -> list[BaseNode]:
        """The nodes of these ids that pass the filters, in their order."""
        ids, request = list(node_ids), self.request
        nodes = self.store.fetch(ids, filters=request.filters, audience=request.audience)
        return [nodes[node_id] for node_id in ids if node_id in nodes]

    def trace(self) -> Trace:
        """The trace of this question as it is now."""
        ledger, request = self.ledger, self.request
        return Trace(
            id=ledger.id,
            intent=self.intent,
            attempts=tuple(ledger.attempts),
            candidates=ledger.candidates(),
            corpus_version=self.mark.version,
            audience=request.audience,
            filters=request.filters,
            mode=request.mode,
            settings=self.fingerprint,
            tags=ledger.tags,
            notes=tuple(ledger.notes),
            timings_ms=ledger.timings.as_dict(),
            readings=tuple(ledger.readings),
            declined=tuple(ledger.declines),
        )

    def attempt(self, query: QueryBundle, ledger: Ledger) -> SearchOutcome:
        """One search for `query` under the narrowest filters that leave enough candidates: ranked, cut, and
        assessed.
        """
        options = self.settings.analysis
        for narrowing in narrowings(self.intent, self.request.filters, options):
            if narrowing.dropped:
                ledger.note(f"Too few candidates: searched again without the guessed {narrowing.dropped}.")
            narrow = ledger.fork(ledger.name)
            with ledger.stage("retrieve"):
                ranking = self._retriever(narrowing.filters, narrow).fused(query)
            left_out = outside(ranking, narrowing)
            kept = [hit for hit in ranking if hit.node.node_id not in left_out]
            if len(kept) >= options.min_candidates or not narrowing.guessed:
                break
        for node_id in left_out:
            narrow.cut(node_id, "filter")
        ledger.adopt(narrow)
        return self._ranked(kept, query, ledger)

    def _ranked(self, ranked: Sequence[NodeWithScore], query: QueryBundle, ledger: Ledger) -> SearchOutcome:
        """The candidates boosted, assessed and cut."""
        factors, ranked = self.settings.factors, list(ranked)
        with ledger.stage("postprocess"):
            for boost in build_factors(self.settings, self.intent, ledger, today=date.today()):
                ranked = boost.applied(ranked, query)
            ledger.ranked(ranked)
        evidence = self._assess(ranked, self.intent, ledger)  # notes the similarities, by which a cut may go
        ranking, top_n = ranked, self.request.top_n
        with ledger.stage("postprocess"):
            for cut in build_cuts(
                factors, self.intent, ledger, top_n=top_n, families=self.store.families, similarity=ledger.similarity
            ):
                ranking = cut.applied(ranking, query)
        return SearchOutcome(self.intent, query, ranked, ranking, evidence, ledger)

    def assess_as(self, outcome: SearchOutcome, intent: QueryIntent) -> Evidence:
        """The evidence of an outcome for another wording of the question; its own ledger stays as it is."""
        ledger = outcome.ledger.fork(outcome.ledger.name)
        ledger.join(outcome.ledger)
        return self._assess(outcome.ranked, intent, ledger)

    def _retriever(self, filters: Filters, ledger: Ledger) -> HybridRetriever:
        options, request = self.settings.retrieval, self.request
        scope, k = SearchScope(filters, request.audience, ledger), options.leg_factor * request.top_n
        legs: list[DenseRetriever | SparseRetriever] = []
        if request.mode != "sparse":
            look, power = options.ann_factor * request.top_n, options.whitening
            space = self.index.spaces.current(request.audience, self.mark) if power else None
            whiten = (lambda vector: space.whiten(vector, power).tolist()) if space else list
            legs.append(
                DenseRetriever(self.index.vectors, self.embedder, scope, similarity_top_k=k, look=look, whiten=whiten)
            )
        if request.mode != "dense":
            legs.append(
                SparseRetriever(
                    self.store, self.index.indexes, scope, similarity_top_k=k, typo_weight=options.typo_weight
                )
            )
        weights = {"dense": options.dense_weight, "sparse": 1 - options.dense_weight}
        return HybridRetriever(
            legs,
            weights=[weights[leg.name] for leg in legs],
            fusion=build_fusion(options, self.model),
            similarity_top_k=len(legs) * k,
            complete=options.complete and options.fusion == "convex",
            observer=ledger,
        )

    def _assess(self, ranked: Sequence[NodeWithScore], intent: QueryIntent, ledger: Ledger) -> Evidence:
        """Note the cosine of every candidate, and of the corpus, to what the intent searches for, and assess them."""
        if ledger.used("dense"):
            vector = self.embedder.vector(QueryBundle(intent.search_text))
            ids, own = [hit.node.node_id for hit in ranked], intent is self.intent
            unknown = [node_id for node_id in ids if not own or ledger.similarity(node_id) is None]
            with ledger.stage("compare"):
                if unknown:
                    ledger.similar(
                        self.index.vectors.searched(self.request.audience).similarities([vector], unknown)[0]
                    )
                space = self.index.spaces.current(self.request.audience, self.mark)
                ledger.background = space.background(vector) if space else None
        with ledger.stage("assess"):
            return assess(ranked, intent, ledger, self.lexical, settings=self.settings.evidence, model=self.model)


def begin_search(
    request: Request,
    settings: Settings,
    index: ModelIndex,
    llm: LLM | None = None,
    *,
    fingerprint: str = "",
    prompts: Prompts = _PROMPTS,
) -> Search:
    """A search whose question is understood.

    Raises:
        RetrievalError: If the question, its embedding or a filter cannot be searched.
    """
    ledger, options = Ledger(), settings.analysis
    matching(request.filters)  # a filter that cannot be compared is an error before any retriever runs
    assert_known(index.store, request.filters, request.audience)
    lexical = index.indexes.current(request.audience)
    with index.store.read_snapshot() as snapshot, ledger.stage("analyse"):
        known = index.names.current(request.audience, snapshot.mark) if options.names else NO_NAMES
        asked = checked(request.question)
        right = corrected(asked, lexical, ledger.note) if settings.retrieval.typo_weight else asked
        right = right[:MAX_QUESTION_CHARACTERS]  # a corrected word may be longer
        rewrite = partial(_rewritten, settings=settings, llm=llm, ledger=ledger, prompt=prompts.condense)
        alone = partial(stand_alone, known=known, rewrite=rewrite)
        intent = analyse(right, options, history=request.history, known=known, stand_alone=alone)
    if right != asked:
        intent = replace(intent, question=asked, corrected=right)
    given = {} if request.embedding is None else {intent.search_text: index.store.fitting(request.embedding)}
    words = QueryBundle(intent.search_text)
    embedder = QueryEmbedder(index.embed_model, ledger, given, index.store.fitting, asked=words)
    state = snapshot.mark
    return Search(request, settings, index, llm, fingerprint, ledger, intent, lexical, state, known, embedder, prompts)


def _rewritten(
    question: str, turns: Sequence[Turn], *, settings: Settings, llm: LLM | None, ledger: Ledger, prompt: str
) -> str:
    """A follow-up as the language model rewrites it; empty without a model, or where it fails or is not usable."""
    options = settings.answer
    history = recent_turns(turns, tokens=options.history_tokens)
    if llm is None or options.condense == "rules" or not history:
        return ""
    try:
        return rewrite_follow_up(question, history, llm, prompt, seconds=options.condense_seconds)
    except FootnoteError as error:
        log_failure("a follow-up is made whole by rules", error)
        ledger.note(f"The follow-up was made whole by rules, as the language model failed: {error}")
        return ""
