"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import QueryEngineTool

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity, llm_identity
from pipelines.observe import log_failure
from pipelines.query.analyse import analyse
from pipelines.query.assemble import Passage, assemble
from pipelines.query.assess import DEFAULT_FLOOR, STRENGTH_FLOOR, assess
from pipelines.query.extract import extract
from pipelines.query.fuse import Fusion, HybridRetriever, ScoringRetriever, convex_fusion, reciprocal_rank_fusion
from pipelines.query.postprocess.duplicates import Duplicates
from pipelines.query.postprocess.quota import Quota
from pipelines.query.retrieve import DenseRetriever, Reach, SparseRetriever
from pipelines.query.trace import Ledger
from pipelines.query.write import Brief, Written, abstain, write_by_extraction, write_by_llm
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading
from pipelines.store.lexical import LexicalIndexes
from pipelines.store.nodes import NodeStore, build_lexical_indexes, build_node_store
from pipelines.store.runs import fingerprint, save_query
from pipelines.types import (
    Answer,
    Audience,
    Candidate,
    Context,
    Evidence,
    Filters,
    Footnote,
    Mode,
    QueryIntent,
    SearchReport,
    SearchResult,
    Token,
    Trace,
    Turn,
    Verdict,
)

PER_DOCUMENT = 3
_NO_FILTERS = Filters()
Event = Token | Footnote | Verdict | Answer


def build_query_engine(settings: Settings) -> "Engine":
    """An engine over the database of these settings; safe to share between threads.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    model = identity(settings)
    store = build_node_store(settings, database, model)
    return Engine(
        settings=settings,
        database=database,
        store=store,
        indexes=build_lexical_indexes(settings, database, store),
        embed_model=build_embed_model(settings),
        llm=_build_llm(settings),
        evidence_floor=settings.evidence.min_strength or STRENGTH_FLOOR.get(model.model, DEFAULT_FLOOR),
    )


def _build_llm(settings: Settings) -> LLM | None:
    if llm_identity(settings) is None:
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    return build_llm(settings)


@dataclass(frozen=True, slots=True)
class _Request:
    question: str
    filters: Filters
    audience: Audience
    mode: Mode
    top_n: int
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    intent: QueryIntent
    ranking: list[NodeWithScore]
    evidence: Evidence


@dataclass(slots=True)
class Engine:
    """Answers questions and searches; every call takes its filters and its audience."""

    settings: Settings
    database: Database
    store: NodeStore
    indexes: LexicalIndexes
    embed_model: BaseEmbedding
    llm: LLM | None
    evidence_floor: float

    @property
    def model_name(self) -> str:
        """The language model's name; empty when answers are extractive."""
        return str(self.llm.metadata.model_name) if self.llm else ""

    def answer(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
    ) -> Iterator[Event]:
        """The answer as it is made: Tokens and Footnotes, then a Verdict for each sentence, the Answer last.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no leg could search; a language model that fails is replaced by
                extraction, and the Answer says so.
        """
        ledger, options = Ledger(), self.settings.retrieval
        request = _Request(question, filters, audience, options.mode, options.top_n, tuple(history))
        found = self._find(request, ledger)
        with ledger.timings.stage("assemble"):
            context = self._assemble(found.ranking, audience, ledger)
        with ledger.timings.stage("write"):
            draft = yield from self._write(found, context, request, ledger)
        trace = self._close(ledger, found, request)
        answer = replace(draft, trace_id=trace.id, timings_ms=trace.timings_ms)
        self._save(trace, "ask", answer)
        yield answer

    def ask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
    ) -> Answer:
        """The finished Answer of `answer`."""
        *_, last = self.answer(question, history=history, filters=filters, audience=audience)
        assert isinstance(last, Answer)
        return last

    def search(
        self,
        question: str,
        *,
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
        mode: Mode | None = None,
        top_n: int | None = None,
    ) -> SearchReport:
        """The best passages for a question, with every score and what became of every candidate.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no leg could search.
        """
        ledger, options = Ledger(), self.settings.retrieval
        request = _Request(question, filters, audience, mode or options.mode, top_n or options.top_n)
        found = self._find(request, ledger)
        for hit in found.ranking:
            ledger.kept(hit.node.node_id, 0, merged=False)
        names = self._names(found.ranking, audience)
        results = tuple(
            _result(rank, hit, ledger.candidate(hit.node.node_id), names)
            for rank, hit in enumerate(found.ranking, start=1)
        )
        trace = self._close(ledger, found, request)
        self._save(trace, "search", None)
        return SearchReport(found.intent.question, found.intent, results, found.evidence, trace.timings_ms, trace)

    def rank(
        self,
        question: str,
        *,
        k: int,
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
        mode: Mode | None = None,
    ) -> list[NodeWithScore]:
        """The fused ranking before any postprocessor, best first, of the first k nodes of each leg; for evaluation."""
        ledger, options = Ledger(), self.settings.retrieval
        depth = -(-k // options.leg_factor)
        request = _Request(question, filters, audience, mode or options.mode, depth)
        return self._retriever(request, ledger).retrieve(QueryBundle(analyse(question).search_text))

    def as_tool(self, *, filters: Filters = _NO_FILTERS, audience: Audience = "owner") -> QueryEngineTool:
        """This engine as a tool for LlamaIndex agents, bound to these filters and audience."""
        return QueryEngineTool.from_defaults(
            query_engine=_QueryEngine(ask=partial(self.ask, filters=filters, audience=audience)),
            name="footnote",
            description="Answers questions about the ingested documents; every sentence carries checked citations.",
        )

    # Stages

    def _find(self, request: _Request, ledger: Ledger) -> _Found:
        limit = self.settings.retrieval.max_question_characters
        document_rows.matching(request.filters)  # a filter that cannot be compared is an error before any leg runs
        with ledger.timings.stage("analyse"):
            intent = analyse(request.question, history=request.history, limit=limit)
        with ledger.timings.stage("retrieve"):
            ranking = self._retriever(request, ledger).retrieve(QueryBundle(intent.search_text))
        with ledger.timings.stage("postprocess"):
            for step in (Duplicates(ledger), Quota(ledger, per_document=PER_DOCUMENT, top_n=request.top_n)):
                ranking = step.postprocess_nodes(ranking, query_str=intent.search_text)
        with ledger.timings.stage("assess"):
            evidence = assess(
                ranking,
                intent.terms,
                ledger,
                weight=self.indexes.current(request.audience).idf,
                floor=self.evidence_floor,
            )
        return _Found(intent, ranking, evidence)

    def _retriever(self, request: _Request, ledger: Ledger) -> HybridRetriever:
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
            return partial(reciprocal_rank_fusion, weights={"dense": weight, "sparse": 1 - weight}, k=options.rrf_k)
        return partial(convex_fusion, weights={"dense": options.dense_weight, "sparse": 1 - options.dense_weight})

    def _assemble(self, ranking: Sequence[NodeWithScore], audience: Audience, ledger: Ledger) -> Context:
        def read(spans: Sequence[tuple[str, int, int]]) -> dict[tuple[str, int, int], Passage]:
            with reading(self.database.engine, "reading passages") as connection:
                rows = document_rows.passages(connection, spans, audience)
            return {
                key: Passage(row.text, row.name, row.title, row.source_uri, row.content_sha, row.category)
                for key, row in rows.items()
            }

        limits = self.settings.context
        return assemble(
            ranking,
            read,
            ledger,
            max_characters=limits.max_characters,
            max_tokens=limits.max_tokens,
            token_margin=limits.token_margin,
        )

    def _write(self, found: _Found, context: Context, request: _Request, ledger: Ledger) -> Written:
        options = self.settings.answer
        tried = f"{found.intent.search_text} ({request.mode}: {found.evidence.reason or 'found'})"
        brief = Brief(found.intent, context, found.evidence, (tried,))
        if not found.evidence.sufficient or not context.sources:
            return (yield from abstain(brief))
        failure = ""
        if self.llm is not None:
            try:
                turns = request.history[-options.history_turns :] if options.history_turns else ()
                return (yield from write_by_llm(brief, self.llm, turns))
            except FootnoteError as error:
                log_failure("language model failed, answering by extraction", error)
                failure = str(error)
                ledger.notes.append(failure)
        picks = extract(
            found.intent,
            context,
            weight=self.indexes.current(request.audience).idf,
            similarity=self._similarity,
            max_sentences=options.max_sentences,
        )
        return (yield from write_by_extraction(brief, picks, failure))

    def _similarity(self, question: str, texts: Sequence[str]) -> np.ndarray:
        try:
            asked = np.asarray(self.embed_model.get_query_embedding(question), dtype=np.float32)
            vectors = np.asarray(self.embed_model.get_text_embedding_batch(list(texts)), dtype=np.float32)
        except FootnoteError as error:
            log_failure("sentences ranked without similarity", error)
            return np.zeros(len(texts), dtype=np.float32)
        return np.asarray(vectors @ asked, dtype=np.float32)

    # The record

    def _names(self, ranking: Sequence[NodeWithScore], audience: Audience) -> dict[str, str]:
        with reading(self.database.engine, "reading document names") as connection:
            return document_rows.names(connection, {hit.node.metadata["document_id"] for hit in ranking}, audience)

    def _close(self, ledger: Ledger, found: _Found, request: _Request) -> Trace:
        return ledger.close(
            intent=found.intent,
            corpus_version=self.indexes.current(request.audience).version,
            audience=request.audience,
            filters=request.filters,
            mode=request.mode,
            timings=ledger.timings.as_dict(),
        )

    def _save(self, trace: Trace, kind: str, answer: Answer | None) -> None:
        stated = self.settings.model_dump(mode="json", exclude={"home", "database_url", "log"})
        try:
            save_query(self.database.engine, trace, kind=kind, settings=fingerprint(stated), answer=answer)
        except FootnoteError as error:
            log_failure("query not logged", error)


class _QueryEngine(CustomQueryEngine):
    """LlamaIndex's view of the engine."""

    ask: Any

    def custom_query(self, query_str: str) -> Response:
        answer: Answer = self.ask(query_str)
        return Response(response=answer.answer, metadata={"trace_id": answer.trace_id, "answered": answer.answered})


def _result(rank: int, hit: NodeWithScore, row: Candidate, names: Mapping[str, str]) -> SearchResult:
    meta = hit.node.metadata
    return SearchResult(
        rank=rank,
        node_id=hit.node.node_id,
        document_id=meta["document_id"],
        document_name=names.get(meta["document_id"], ""),
        title=meta["title"],
        category=meta["category"],
        section_path=tuple(meta["section_path"]),
        kind=meta["kind"],
        page=meta["page"],
        line_start=meta["line_start"],
        line_end=meta["line_end"],
        start=meta["start"],
        end=meta["end"],
        text=hit.node.get_content(),
        score=float(hit.score or 0.0),
        dense=row.dense,
        sparse=row.sparse,
        fused=row.fused,
        factors=row.factors,
    )
