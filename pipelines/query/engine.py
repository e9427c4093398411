"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import QueryEngineTool
from sqlalchemy import Engine as SqlEngine

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.identity import llm_identity
from pipelines.models.usage import Meter, answer_cost, metered, metering
from pipelines.observe import log_failure
from pipelines.query.ablation import change_settings
from pipelines.query.active_index import ActiveIndex, ModelIndex, build_active_index, build_inactive_index
from pipelines.query.answer import write_computed
from pipelines.query.careers.computed_answer import ComputedAnswer, provenance_note
from pipelines.query.careers.questions import compute_answer
from pipelines.query.cited_documents import note_partial_documents, with_identical_documents
from pipelines.query.conflict_evidence import career_disagreements_for
from pipelines.query.conflicts.detect import is_about_career, with_conflicts
from pipelines.query.context import Retrieved, documents_shown, retrieve_context
from pipelines.query.escalate import find
from pipelines.query.result_cache import NO_CACHE, ResultCache
from pipelines.query.search import Request, Search, SearchOutcome, begin_search
from pipelines.query.suggest import suggest_follow_ups
from pipelines.query.trace import Ledger
from pipelines.query.write import passage_count, write
from pipelines.store.database import Database, open_database
from pipelines.store.documents import DocumentLinks
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.query_log import fingerprint, save_query
from pipelines.store.vector_store import NodeStore
from pipelines.types import (
    Answer,
    Audience,
    Candidate,
    Context,
    EmbeddingIdentity,
    Filters,
    Footnote,
    Mode,
    SearchReport,
    SearchResult,
    Token,
    Trace,
    Turn,
    Verdict,
)

_NO_FILTERS = Filters()
Event = Token | Footnote | Verdict | Answer


def build_query_engine(settings: Settings) -> "Engine":
    """An engine over the database of these settings; safe to share between threads.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    active, llm = build_active_index(settings, database), _build_llm(settings)
    cache = ResultCache(settings.retrieval.cache_entries)
    return Engine(settings, database, active, llm, cache, _fingerprint_of(settings))


def build_engine_aside(settings: Settings, database: Database, model: EmbeddingIdentity) -> "Engine":
    """An engine over the nodes of this embedding model for good, whichever is active; for evaluation.

    Raises:
        ConfigError: If the model cannot be used with these settings.
    """
    active = ActiveIndex(settings, database, build_inactive_index(settings, database, model), None)
    return Engine(settings, database, active, None, NO_CACHE, _fingerprint_of(settings))


def _build_llm(settings: Settings) -> LLM | None:
    if llm_identity(settings) is None:
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    return build_llm(settings)


def _fingerprint_of(settings: Settings) -> str:
    """The fingerprint of the settings that queries depend on."""
    return fingerprint(settings.model_dump(mode="json", exclude={"home", "database_url", "log"}))


@dataclass(frozen=True, slots=True)
class Engine:
    """Answers questions and searches; every call takes its filters and its audience.

    Each question is answered from the embedding model that is active when it is asked, whatever is promoted meanwhile.
    """

    settings: Settings
    database: Database
    active: ActiveIndex
    llm: LLM | None
    cache: ResultCache
    settings_fingerprint: str  # taking it costs more than a look-up in the cache

    @property
    def identity(self) -> EmbeddingIdentity:
        """The active embedding model."""
        return self.active.now().identity

    @property
    def store(self) -> NodeStore:
        """Its nodes."""
        return self.active.now().store

    @property
    def indexes(self) -> LexicalIndexes:
        """The BM25 indexes of its nodes."""
        return self.active.now().indexes

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model itself."""
        return self.active.now().embed_model

    @property
    def fingerprint(self) -> str:
        """Of the settings and of the active embedding model."""
        return self._fingerprint(self.active.now())

    @property
    def model_name(self) -> str:
        """The language model's name; empty when answers are extractive."""
        return str(self.llm.metadata.model_name) if self.llm else ""

    @property
    def passages(self) -> int:
        """How many passages an answer is made from, as far as the budget goes."""
        return passage_count(self.settings, self.llm)

    def answer(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
        record: bool = True,
    ) -> Iterator[Event]:
        """The answer as it is made: Tokens and Footnotes, then a Verdict for each sentence, the Answer last.

        A search that fails leaves what the other found, and the Answer's notes say so. Without `record` the query log
        does not learn of it, and nothing is suggested to be asked next.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no leg could search; a language model that fails is replaced by
                extraction, and the Answer says so.
        """
        request = Request(question, filters, audience, self.settings.retrieval.mode, self.passages, tuple(history))
        answer, trace = yield from self._answered(request, suggest=record)
        if record:
            _log_query(self.database.engine, trace, answer, answer.usage, answer.cost)
        yield answer

    def _answered(
        self, request: Request, *, suggest: bool
    ) -> Generator[Token | Footnote | Verdict, None, tuple[Answer, Trace]]:
        """The events of an answer; returns the Answer and its trace."""
        meter = Meter()
        with metering(meter):
            for attempt in self.active.attempts():
                with attempt as index:
                    search = self._begin(request, index)
                    evidence = _career_facts(search) or retrieve_context(search, self.cache)
        ledger = search.ledger
        if isinstance(evidence, ComputedAnswer):
            draft = yield from write_computed(search.intent.question, evidence)
        else:
            with ledger.stage("write"):
                draft = yield from metered(meter, write(evidence, request, search))
        with metering(meter), ledger.stage("conflicts"):
            beside = self._beside_facts(draft, search) if isinstance(evidence, ComputedAnswer) else evidence.context
            draft = with_conflicts(draft, career_disagreements_for(draft, search, evidence, beside))
        with metering(meter):
            intent = search.intent
            draft = replace(draft, condensed=intent.condensed, condensed_by=intent.condensed_by)
            retrieved = evidence if isinstance(evidence, Retrieved) else None
            follow_ups = suggest_follow_ups(draft, search, retrieved) if suggest else ()
        draft = with_identical_documents(draft, ledger, self.database.engine, request.audience)
        note_partial_documents(draft, self.database.engine, request.audience, ledger)
        trace = _closed(search)
        usage = meter.usage()
        answer = replace(
            draft,
            follow_ups=follow_ups,
            notes=tuple(note for note in dict.fromkeys(trace.notes) if note != draft.fallback_reason),
            trace_id=trace.id,
            timings_ms=trace.timings_ms,
            usage=usage,
            cost=answer_cost(usage, self.settings, index.identity),
        )
        return answer, trace

    def _beside_facts(self, answer: Answer, search: Search) -> Context | None:
        """The passages that may contradict an answer computed from career facts; None where none can."""
        if not is_about_career(answer):
            return None
        try:
            return retrieve_context(replace(search, ledger=Ledger(), escalates=False), self.cache).context
        except FootnoteError as error:
            log_failure("career facts were not compared with what else is said", error)
            return None

    def reask(self, request: Request) -> tuple[Answer, Trace]:
        """The finished Answer to a request, and its ledger; nothing is recorded, and nothing is suggested.

        Raises:
            RetrievalError, ModelError, ServiceUnavailable: As `answer` does.
        """
        events = self._answered(request, suggest=False)
        while True:
            try:
                next(events)
            except StopIteration as done:
                answered: tuple[Answer, Trace] = done.value
                return answered

    def ask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
        record: bool = True,
    ) -> Answer:
        """The finished Answer of `answer`."""
        *_, last = self.answer(question, history=history, filters=filters, audience=audience, record=record)
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
        record: bool = True,
    ) -> SearchReport:
        """The best passages for a question, with every score and what became of every candidate.

        Without `record` the query log does not learn of it.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no leg could search.
        """
        options = self.settings.retrieval
        request = Request(question, filters, audience, mode or options.mode, top_n or options.top_n)
        meter = Meter()
        with metering(meter):
            for attempt in self.active.attempts():
                with attempt as index:
                    search = self._begin(request, index)
                    outcome = find(search, self.cache)
                    results = _results(outcome, search)
        trace = _closed(search)
        if record:
            usage = meter.usage()
            _log_query(self.database.engine, trace, None, usage, answer_cost(usage, self.settings, index.identity))
        intent = search.intent
        return SearchReport(intent.question, intent, results, outcome.evidence, trace.timings_ms, trace)

    def rank(
        self,
        question: str,
        *,
        k: int,
        filters: Filters = _NO_FILTERS,
        audience: Audience = "owner",
        mode: Mode | None = None,
        cut: bool = False,
    ) -> list[NodeWithScore]:
        """Every candidate of each leg's first k, best first, after the factors; for evaluation.

        With `cut`, those that the cuts left of them, at most k / leg_factor.
        """
        options = self.settings.retrieval
        request = Request(question, filters, audience, mode or options.mode, top_n=-(-k // options.leg_factor))
        outcome = self._find(request)
        return outcome.ranking if cut else outcome.ranked

    def examine(self, question: str, *, history: Sequence[Turn] = (), top_n: int | None = None) -> SearchOutcome:
        """What is found for a question, and how strong the evidence is; nothing is recorded. For evaluation.

        Raises:
            RetrievalError: If the question cannot be searched.
        """
        options = self.settings.retrieval
        request = Request(question, _NO_FILTERS, "owner", options.mode, top_n or options.top_n, tuple(history))
        return self._find(request)

    def _find(self, request: Request) -> SearchOutcome:
        for attempt in self.active.attempts():
            with attempt as index:
                outcome = find(self._begin(request, index))
        return outcome

    def _begin(self, request: Request, index: ModelIndex) -> Search:
        return begin_search(request, self.settings, index, self.llm, self._fingerprint(index))

    def _fingerprint(self, index: ModelIndex) -> str:
        return fingerprint({"settings": self.settings_fingerprint, "model": index.identity.slug})

    def as_tool(self, *, filters: Filters = _NO_FILTERS, audience: Audience = "owner") -> QueryEngineTool:
        """This engine as a tool for LlamaIndex agents, bound to these filters and audience."""
        return QueryEngineTool.from_defaults(
            query_engine=_QueryEngine(ask=partial(self.ask, filters=filters, audience=audience)),
            name="footnote",
            description="Answers questions about the ingested documents; every sentence carries checked citations.",
        )

    def with_changes(self, changes: Mapping[str, Any]) -> "Engine":
        """This engine with other settings by dotted name (`retrieval.top_n`), on the same store and models.

        Raises:
            ConfigError: If a name is no setting of a query, or a value does not fit it.
        """
        settings = change_settings(self.settings, changes)
        entries = settings.retrieval.cache_entries
        cache = self.cache if entries == self.cache.entries else ResultCache(entries)
        active = self.active.under(settings)
        return Engine(settings, self.database, active, self.llm, cache, _fingerprint_of(settings))

    def with_parts(self, **parts: Any) -> "Engine":
        """This engine over the index that is active now, with other parts (`store`, `indexes`, `embed_model`)."""
        return replace(self, active=self.active.fixed(replace(self.active.now(), **parts)))


class _QueryEngine(CustomQueryEngine):
    """LlamaIndex's view of the engine."""

    ask: Any

    def custom_query(self, query_str: str) -> Response:
        answer: Answer = self.ask(query_str)
        return Response(response=answer.answer, metadata={"trace_id": answer.trace_id, "answered": answer.answered})


def _career_facts(search: Search) -> ComputedAnswer | None:
    """The answer that is computed from career facts; None where they do not answer the question."""
    request, ledger = search.request, search.ledger
    with ledger.stage("facts"):
        is_wanted = search.settings.answer.facts
        reckoning = (
            compute_answer(search.intent, search.store, request.filters, request.audience) if is_wanted else None
        )
    if reckoning is not None:
        ledger.tag("facts")
        ledger.note(provenance_note(reckoning))
    return reckoning


def _closed(search: Search) -> Trace:
    """The trace of a search as it is now."""
    request = search.request
    return search.ledger.close(
        intent=search.intent,
        corpus_version=search.mark.version,
        audience=request.audience,
        filters=request.filters,
        mode=request.mode,
        settings=search.fingerprint,
    )


def _log_query(
    database: SqlEngine, trace: Trace, answer: Answer | None, usage: Mapping[str, int], cost: float | None
) -> None:
    """Log a question with its answer, or a search without one; a failure is a warning only."""
    kind = "ask" if answer else "search"
    try:
        save_query(database, trace, kind=kind, answer=answer, usage=usage, cost=cost)
    except FootnoteError as error:
        log_failure("query not logged", error)


def _results(outcome: SearchOutcome, search: Search) -> tuple[SearchResult, ...]:
    """The passages of an outcome, each with its scores and where it stands."""
    ledger = search.ledger
    for hit in outcome.ranking:
        ledger.kept(hit.node.node_id, 0, merged=False)
    rows = [ledger.candidate(hit.node.node_id) for hit in outcome.ranking]
    documents = {hit.node.metadata["document_id"] for hit in outcome.ranking}
    audience = search.request.audience
    known = documents_shown(search.store.engine, documents.union(*(row.also_in for row in rows)), audience)
    ranked = enumerate(zip(outcome.ranking, rows, strict=True), start=1)
    return tuple(_result(rank, hit, row, known) for rank, (hit, row) in ranked)


def _result(rank: int, hit: NodeWithScore, row: Candidate, known: Mapping[str, DocumentLinks]) -> SearchResult:
    meta = hit.node.metadata
    own = known.get(meta["document_id"], DocumentLinks())
    return SearchResult(
        rank=rank,
        node_id=hit.node.node_id,
        document_id=meta["document_id"],
        document_name=own.name,
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
        near_copies=tuple(known[other].name for other in row.also_in if other in known),
        uri=own.uri,
        lines_uri=own.lines_uri,
    )
