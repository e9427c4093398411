"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, TypeVar

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import ToolMetadata

from config.prompts import Prompts, answer_system
from config.settings import PersonaSettings, Settings
from pipelines.answers import Answer
from pipelines.errors import ConfigError, FootnoteError, RetrievalError
from pipelines.models.identity import llm_identity
from pipelines.models.usage import Meter, answer_cost, metered, metering
from pipelines.observe import log_failure
from pipelines.query.ablation import change_settings, settings_without
from pipelines.query.active_index import ActiveIndex, ModelIndex, build_active_index, build_inactive_index
from pipelines.query.answer import AnswerEvent
from pipelines.query.answerers import first_draft
from pipelines.query.answerers.model import passage_count
from pipelines.query.cited_documents import note_partial_documents, with_identical_documents
from pipelines.query.context import documents_shown, retrieve_context
from pipelines.query.disagreements import career_disagreements_for, with_conflicts
from pipelines.query.escalate import find
from pipelines.query.response import (
    DESCRIPTION,
    Answered,
    AnswerTool,
    response,
    streamed,
    streamed_beside,
    tool_name,
)
from pipelines.query.search import Request, Search, SearchOutcome, begin_search
from pipelines.query.suggest import offered, proposals_beside, suggest, try_questions
from pipelines.store.added_nodes import restored
from pipelines.store.database import Database, open_database
from pipelines.store.documents import DocumentLinks
from pipelines.store.facts import stated_people
from pipelines.store.index_snapshots import LexicalIndexes
from pipelines.store.known_names import only_person
from pipelines.store.persona import read_persona
from pipelines.store.query_log import fingerprint, save_query
from pipelines.store.questions import StoredQuestion, read_questions
from pipelines.store.read_snapshot import KeptByMark, Mark
from pipelines.store.replica import database_to_read
from pipelines.store.sections import related
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.types import (
    Audience,
    Candidate,
    EmbeddingIdentity,
    Filters,
    Mode,
    SearchReport,
    SearchResult,
    Trace,
    Turn,
)

Event = AnswerEvent | Answer
Result = TypeVar("Result")
_NOT_OF_ANSWERS = {"home", "database_url", "log", "serve", "server", "server_token"}  # settings
_OFFERED = 2  # stored questions of an abstention
_PATIENCE = 2.0  # seconds that suggestions wait for other work
_KEPT_REPLIES = 500  # to questions that were tried, of one state of the corpus


def build_query_engine(
    settings: Settings,
    *,
    llm: LLM | None = None,
    embed_model: BaseEmbedding | None = None,
    streaming: bool = False,
) -> "QueryEngine":
    """An engine over the database of these settings; safe to share between threads.

    Args:
        settings: Of the database, the models and the stages.
        llm: Writes the answers, instead of the model that the settings name.
        embed_model: Makes the questions' vectors, instead of the model that made those of the stored nodes. Only its
            dimension can be compared with theirs: the caller answers for the model.
        streaming: `query` and `aquery` give a StreamingResponse.

    Raises:
        ConfigError: If the settings or the models do not fit the database, or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    active = build_active_index(settings, database_to_read(settings, database), embed_model)
    if llm is None and llm_identity(settings):
        from pipelines.models.llm import build_llm  # its libraries take a second to import

        llm = build_llm(settings)
    return QueryEngine(settings, database, active, llm, streaming=streaming)


def build_engine_aside(settings: Settings, database: Database, model: EmbeddingIdentity) -> "QueryEngine":
    """An engine that stays on the nodes of this embedding model, whichever is active; for evaluation.

    Raises:
        ConfigError: If the model cannot be used with these settings.
    """
    active = ActiveIndex(settings, database, build_inactive_index(settings, database, model), None)
    return QueryEngine(settings, database, active, None)


class UnderWay:
    """Counts the questions of readers that are being answered, so that other work can wait for them."""

    def __init__(self) -> None:
        self.suggesting = threading.Lock()
        self._count, self._changed = 0, threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        """While a question is answered."""
        with self._changed:
            self._count += 1
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    def wait_for_none(self, seconds: float) -> None:
        """Return when no question is being answered, at the latest after some seconds; at once from 0 on down."""
        with self._changed:
            self._changed.wait_for(lambda: not self._count, seconds)


@dataclass(eq=False)
class QueryEngine(BaseQueryEngine):
    """Answers questions and searches; a query engine of LlamaIndex.

    Each question is answered from the embedding model that is active when it is asked. `filters` and `audience` apply
    to every call that gives none of its own.
    """

    settings: Settings
    database: Database
    active: ActiveIndex
    llm: LLM | None
    filters: Filters = field(default_factory=Filters)
    audience: Audience = "owner"
    prompts: Prompts = field(default_factory=Prompts)
    streaming: bool = False
    under_way: UnderWay = field(default_factory=UnderWay, repr=False)  # also of the engines made from this one
    _speaking: "dict[Audience, QueryEngine]" = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__init__(callback_manager=None)
        relevant = self.settings.model_dump(mode="json", exclude=_NOT_OF_ANSWERS)
        self._settings_fingerprint = fingerprint(relevant)

    @property
    def identity(self) -> EmbeddingIdentity:
        """The active embedding model."""
        return self.active.now().identity

    def close(self) -> None:
        """Close the connections to the database and to its replica; both are opened again where that is needed."""
        self.database.engine.dispose()
        self.active.close()

    @property
    def store(self) -> FootnoteVectorStore:
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
        """The number of passages of an answer, within the budget."""
        return passage_count(self.settings, self.llm)

    def answer(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        audience: Audience | None = None,
        record: bool = True,
    ) -> Iterator[Event]:
        """The answer as it is made: Tokens, a sentence each, and Footnotes, then Verdicts, the Answer last.

        While a slow language model reads, a Preview comes first, which the answer replaces.

        A search that fails leaves what the other found, and the Answer's notes say so. Without `record` it is
        not logged, and without the voice of the persona. What may be asked next is left to `suggest`.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no retriever worked; a language model that fails is replaced by
                extraction, and the Answer says so.
        """
        engine = self.speaking(audience) if record else self
        request = self._request(question, filters, audience, top_n=self.passages, history=history)
        with self.under_way.one():
            answer, _ = yield from engine._answered(replace(request, previews=True), record=record)
        yield answer

    def persona(self, audience: Audience | None = None) -> PersonaSettings:
        """The person whose documents these are: as set, as stored, or by the only person whom the documents name.

        Raises:
            ServiceUnavailable: If the database cannot be read.
        """
        persona, _ = read_persona(self.database.engine, self.settings.persona)
        if persona.name:
            return persona
        name = only_person([name for name, _ in stated_people(self.store, audience or self.audience)])
        return persona.model_copy(update={"name": name.partition(",")[0]})

    def speaking(self, audience: Audience | None = None) -> "QueryEngine":
        """This engine in the voice of the persona."""
        audience = audience or self.audience
        persona, engine = self.persona(audience), self._speaking.get(audience, self)
        if engine.settings.persona != persona or engine.llm is not self.llm:
            changed = self.settings.model_copy(update={"persona": persona})
            engine = self._speaking[audience] = replace(self, settings=changed)
        return engine

    @cached_property
    def unstreamed(self) -> "QueryEngine":
        """This engine where nobody watches: a language model is asked for JSON unless the settings say otherwise."""
        if self.llm is None or self.settings.answer.output != "auto":
            return self
        return self.with_changes({"answer.output": "json"})

    def _request(
        self,
        question: str,
        filters: Filters | None = None,
        audience: Audience | None = None,
        *,
        mode: Mode | None = None,
        top_n: int | None = None,
        history: Sequence[Turn] = (),
    ) -> Request:
        """A request with the engine's own filters, audience, mode and number where none are given."""
        return Request(
            question,
            self.filters if filters is None else filters,
            audience or self.audience,
            mode or self.settings.retrieval.mode,
            top_n or self.settings.retrieval.top_n,
            tuple(history),
        )

    def _answered(self, request: Request, *, record: bool) -> Generator[AnswerEvent, None, tuple[Answer, Trace]]:
        """Yield the events of an answer; return the Answer and its trace. `record` logs it."""
        draft, search, meter = self._begun(
            request, lambda search: first_draft(search, partial(retrieve_context, search))
        )
        if draft.basis:  # knows which documents a follow-up goes on from
            search = replace(search, intent=draft.basis.found.intent)
        ledger = search.ledger
        with ledger.stage("write"):
            answer = yield from metered(meter, draft.events())
        with ledger.stage("conflicts"):
            if draft.basis is not None or draft.doubts:
                careers = draft.doubts or career_disagreements_for(answer, search)
                answer = with_conflicts(answer, search.intent.wording, careers)
        intent = search.intent
        answer = replace(
            answer,
            condensed=intent.condensed,
            condensed_by=intent.condensed_by,
            added=intent.added,
            filters=request.filters,
        )
        if not (answer.answered or answer.follow_ups or intent.greeting):
            answer = replace(answer, follow_ups=self._offered(answer, request, search.index, search.mark))
        answer = with_identical_documents(answer, ledger, self.database.engine, request.audience)
        note_partial_documents(answer, self.database.engine, request.audience, ledger)
        trace = search.trace()
        usage = meter.usage()
        answer = replace(
            answer,
            notes=tuple(note for note in dict.fromkeys(trace.notes) if note != answer.fallback_reason),
            trace_id=trace.id,
            timings_ms=trace.timings_ms,
            usage=usage,
            cost=self._cost(usage, search.index),
        )
        if record:
            self._record(trace, usage, search.index, answer)
        return answer, trace

    def finished(self, request: Request, *, record: bool = False) -> tuple[Answer, Trace]:
        """The Answer to a request, and its ledger."""
        events = self._answered(request, record=record)
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
        filters: Filters | None = None,
        audience: Audience | None = None,
        record: bool = True,
        follow_ups: bool = False,
    ) -> Answer:
        """The finished Answer of `answer`; with `follow_ups` also what may be asked next, which takes as long again."""
        engine = self.speaking(audience) if record else self
        request = self._request(question, filters, audience, top_n=self.passages, history=history)
        with self.under_way.one() if record else nullcontext():
            answer, _ = engine.finished(request, record=record)
        if not follow_ups:
            return answer
        return replace(answer, follow_ups=self.suggest(answer, history=history, filters=filters, audience=audience))

    def suggest(
        self,
        answer: Answer,
        *,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        audience: Audience | None = None,
    ) -> tuple[str, ...]:
        """Questions that may be asked next, for the Answer's `follow_ups`: each new, and answered by quotation here.

        Made after an answer, which does not wait for them; none where the documents cannot be read. An abstention has
        its own already, unless none was stored: then some are tried now. One answer's are tried at a time, each after
        the questions of readers that are under way; none where that takes seconds.
        """
        if answer.follow_ups:
            return answer.follow_ups
        if not self.under_way.suggesting.acquire(timeout=_PATIENCE):
            return ()
        try:
            return self._suggested(answer, history, filters, audience)
        finally:
            self.under_way.suggesting.release()

    def _suggested(
        self, answer: Answer, history: Sequence[Turn], filters: Filters | None, audience: Audience | None
    ) -> tuple[str, ...]:
        end = time.monotonic() + _PATIENCE
        request = self._request(answer.question, filters, audience, history=history)
        if not answer.answered and not answer.searched:
            return ()
        if not answer.answered:
            self.try_questions()
            index = self.active.now()
            with index.store.read_snapshot() as snapshot:
                return self._offered(answer, request, index, snapshot.mark)
        try:
            with self.active.snapshot() as snapshot:
                proposed = proposals_beside(answer, request, self.store)
                reply = partial(self._replies.current(request.audience, snapshot.mark), filters=request.filters)

                def ask(question: str) -> Answer:
                    self.under_way.wait_for_none(end - time.monotonic())
                    return reply(question)

                return suggest(answer, history, proposed, ask, limit=self.settings.answer.follow_ups)
        except FootnoteError as error:
            log_failure("no follow-up questions are suggested", error)
            return ()

    @property
    def _quoting(self) -> "QueryEngine":
        return replace(self, llm=None)

    @cached_property
    def _replies(self) -> KeptByMark[Callable[..., Answer]]:
        """Answers by quotation, and remembers them: the same questions are tried after many answers."""
        ask = self._quoting.ask
        return KeptByMark(lambda audience: lru_cache(_KEPT_REPLIES)(partial(ask, audience=audience, record=False)))

    def try_questions(self) -> None:
        """Try questions about documents that none was tried about, and store those that have an answer.

        An abstention offers two of them. `footnote ingest` and the chat call this after an ingest; it asks two dozen
        at most. A failure is logged.
        """
        ask = partial(self._quoting.ask, filters=Filters(), audience="owner", record=False)
        try:
            try_questions(self.store, ask, self.database.engine)
        except FootnoteError as error:
            log_failure("no questions are tried", error)
        self.active.now().questions.forget()

    def stored_questions(self, audience: Audience | None = None) -> Sequence[StoredQuestion]:
        """The questions that were tried and have an answer, by document name; none where they cannot be read.

        As they stand now: another process may have tried some without any change of the corpus.
        """
        try:
            return read_questions(self.store, Filters(), audience or self.audience)
        except FootnoteError as error:
            log_failure("no stored questions are offered", error)
            return ()

    def _offered(self, answer: Answer, request: Request, index: ModelIndex, mark: Mark) -> tuple[str, ...]:
        """Two stored questions for an abstention, within its filters; nothing is searched."""
        stored = _stored(index, mark, request.filters, request.audience)
        limit = min(_OFFERED, self.settings.answer.follow_ups)
        idf = index.indexes.current(request.audience).idf
        return offered(answer, request.history, stored, idf=idf, limit=limit)

    def search(
        self,
        question: str,
        *,
        filters: Filters | None = None,
        audience: Audience | None = None,
        mode: Mode | None = None,
        top_n: int | None = None,
        record: bool = True,
    ) -> SearchReport:
        """The best passages for a question, with every score and the outcome of every candidate.

        Without `record` it is not logged.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no retriever worked.
        """
        request, meter = self._request(question, filters, audience, mode=mode, top_n=top_n), Meter()
        with metering(meter):
            for attempt in self.active.attempts():
                with attempt as index:
                    search = self._begin(request, index)
                    outcome = find(search)
                    results = _results(outcome, search)
        trace, intent = search.trace(), search.intent
        if record:
            self._record(trace, meter.usage(), search.index)
        return SearchReport(intent.question, intent, results, outcome.evidence, trace.timings_ms, trace)

    def search_without(
        self,
        parts: Sequence[str],
        question: str,
        *,
        filters: Filters | None = None,
        mode: Mode | None = None,
        top_n: int | None = None,
    ) -> SearchReport:
        """As `search`, without these parts of `config/parts.py`; not logged.

        Raises:
            ConfigError: If a part does not exist.
            RetrievalError: If no retriever is left, or as `search` does.
        """
        if mode in parts or {"dense", "sparse"} <= {*parts}:
            raise RetrievalError(f"Without {' and '.join(parts)} no retriever is left.", hint="Keep dense or sparse.")
        own = {"dense", "sparse"} & {*parts}
        changed = self.with_changes(settings_without(tuple(parts)))
        return changed.search(question, filters=filters, mode=None if own else mode, top_n=top_n, record=False)

    def rank(self, question: str, *, k: int, mode: Mode | None = None, cut: bool = False) -> list[NodeWithScore]:
        """Every candidate of each retriever's first k, best first, after the factors; for evaluation.

        With `cut`, those that the cuts left of them, at most k / leg_factor.
        """
        top_n = -(-k // self.settings.retrieval.leg_factor)
        outcome = self._find(self._request(question, mode=mode, top_n=top_n))
        return outcome.ranking if cut else outcome.ranked

    def examine(self, question: str, *, history: Sequence[Turn] = (), top_n: int | None = None) -> SearchOutcome:
        """The outcome of a search, with its evidence; nothing is recorded. For evaluation."""
        return self._find(self._request(question, top_n=top_n, history=history))

    def _find(self, request: Request, *, record: bool = False) -> SearchOutcome:
        """The outcome of a search; only with `record` it is logged."""
        outcome, search, meter = self._begun(request, find)
        if record:
            self._record(search.trace(), meter.usage(), search.index)
        return outcome

    def _begun(self, request: Request, work: Callable[[Search], Result]) -> tuple[Result, Search, Meter]:
        """(what `work` makes of a search in one state of the corpus, that search, the meter of its models)."""
        meter = Meter()
        with metering(meter):
            for attempt in self.active.attempts():
                with attempt as index:
                    search = self._begin(request, index)
                    result = work(search)
        return result, search, meter

    def _begin(self, request: Request, index: ModelIndex) -> Search:
        mark = self._fingerprint(index)
        return begin_search(request, self.settings, index, self.llm, fingerprint=mark, prompts=self.prompts)

    def _record(self, trace: Trace, usage: Mapping[str, int], index: ModelIndex, answer: Answer | None = None) -> None:
        """Log a question with its answer, or a search without one; a failure is a warning only."""
        kind, cost = ("ask", answer.cost) if answer else ("search", self._cost(usage, index))
        try:
            save_query(self.database.engine, trace, kind=kind, answer=answer, usage=usage, cost=cost)
        except FootnoteError as error:
            log_failure("query not logged", error)

    def _fingerprint(self, index: ModelIndex) -> str:
        changed = {"prompts": asdict(self.prompts)} if self.prompts != Prompts() else {}
        return fingerprint({"settings": self._settings_fingerprint, "model": index.identity.slug, **changed})

    def _cost(self, usage: Mapping[str, int], index: ModelIndex) -> float | None:
        """The cost of these tokens; None for those of a language model that the settings do not price."""
        named = llm_identity(self.settings)
        if usage.get("prompt_tokens") and self.model_name != (named and named.model) and not self.settings.llm.price:
            return None
        return answer_cost(usage, self.settings, index.identity)

    def with_changes(self, changes: Mapping[str, Any]) -> "QueryEngine":
        """This engine with other settings by dotted name (`retrieval.top_n`), on the same store and models.

        Raises:
            ConfigError: If a name is not a setting of a query, or a value does not fit it.
        """
        settings = change_settings(self.settings, changes)
        return replace(self, settings=settings, active=self.active.under(settings))

    def with_parts(self, **parts: Any) -> "QueryEngine":
        """This engine over the index that is active now, with other parts (`store`, `indexes`, `embed_model`)."""
        return replace(self, active=self.active.fixed(replace(self.active.now(), **parts)))

    # LlamaIndex's seams

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self.streaming:
            return streamed(self._events_of(query_bundle))
        return response(*self.speaking().finished(self._request_of(query_bundle), record=True))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self.streaming:
            return streamed_beside(self._events_of(query_bundle))
        return await asyncio.to_thread(self._query, query_bundle)

    def _events_of(self, query_bundle: QueryBundle) -> Iterator[AnswerEvent | Answered]:
        answered = yield from self.speaking()._answered(self._request_of(query_bundle), record=True)
        yield answered

    def _request_of(self, query: QueryBundle, top_n: int | None = None) -> Request:
        """The request of a query of LlamaIndex, with the embedding that it may bring."""
        request = self._request(query.query_str, top_n=top_n or self.passages)
        return request if query.embedding is None else replace(request, embedding=tuple(query.embedding))

    def _get_prompts(self) -> PromptDictType:
        """The prompts as they are used: of the answer, and of the searches and follow-ups that a model words."""
        used_by = self.speaking().settings
        output: Literal["prose", "json"] = "json" if used_by.answer.output == "json" else "prose"
        used = {**asdict(self.prompts), "answer": self.prompts.answer or answer_system(used_by.persona, output)}
        return {name: PromptTemplate(text) for name, text in used.items()}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        known = [each.name for each in fields(self.prompts)]
        if unknown := [name for name in prompts if name not in known]:
            raise ConfigError(f"There is no prompt {unknown[0]!r}.", hint=f"Prompts: {', '.join(known)}.")
        texts = {name: prompt.get_template() for name, prompt in prompts.items()}
        self.prompts = replace(self.prompts, **texts)
        self._speaking.clear()
        self.__dict__.pop("unstreamed", None)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def as_tool(
        self,
        *,
        name: str = "",
        description: str = "",
        filters: Filters | None = None,
        audience: Audience | None = None,
    ) -> AnswerTool:
        """This engine as a tool for LlamaIndex agents, bound to these filters and audience.

        Its text is the answer and the list of its sources. Without a name it has one of its filters and audience, so
        that tools of other documents do not hide each other.
        """
        bound = replace(self._bound(filters, audience), streaming=False)
        named = name or tool_name(bound.filters, bound.audience)
        return AnswerTool(bound, ToolMetadata(name=named, description=description or DESCRIPTION))

    def as_retriever(
        self, *, filters: Filters | None = None, audience: Audience | None = None, similarity_top_k: int | None = None
    ) -> BaseRetriever:
        """The whole search as a retriever, bound to these filters and audience.

        The `embedding` of a QueryBundle, where it has one, takes the place of the question's own vector. A score is the
        cosine similarity (0 to 1) to the question, on which a SimilarityPostprocessor can cut; the order is that of the
        whole search. A language model is shown each node's title, document and section.
        """
        return _SearchRetriever(self._bound(filters, audience), similarity_top_k or self.settings.retrieval.top_n)

    def _bound(self, filters: Filters | None, audience: Audience | None) -> "QueryEngine":
        return replace(self, filters=self.filters if filters is None else filters, audience=audience or self.audience)


def _stored(index: ModelIndex, mark: Mark, filters: Filters, audience: Audience) -> Sequence[StoredQuestion]:
    """The stored questions within filters; none where they cannot be read."""
    try:
        kept = index.questions.current(audience, mark)
        return read_questions(index.store, filters, audience) if kept and filters else kept
    except FootnoteError as error:
        log_failure("no stored questions are offered", error)
        return ()


class _SearchRetriever(BaseRetriever):
    """The engine's search: both retrievers, fusion, boosts, cuts, and escalation where the evidence is weak."""

    def __init__(self, engine: QueryEngine, similarity_top_k: int) -> None:
        super().__init__()
        self.similarity_top_k = similarity_top_k
        self._engine = engine

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        engine = self._engine
        outcome = engine._find(engine._request_of(query_bundle, self.similarity_top_k), record=True)
        ids = {hit.node.metadata["document_id"] for hit in outcome.ranking}
        names = documents_shown(engine.database.engine, ids, engine.audience)
        similarity = outcome.ledger.similarity
        nodes = related([hit.node for hit in outcome.ranking], engine.store, engine.audience)
        return [
            NodeWithScore(node=_shown_node(node, names), score=_likeness(similarity(node.node_id), hit.score))
            for node, hit in zip(nodes, outcome.ranking, strict=True)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _shown_node(node: BaseNode, names: Mapping[str, DocumentLinks]) -> BaseNode:
    """The node with the caller's metadata and the name of its document, which a language model is shown."""
    if not isinstance(node, TextNode):
        return node
    made = restored(node)
    name = names.get(node.metadata["document_id"], DocumentLinks()).name
    made.metadata = {**made.metadata, "document_name": name}
    made.excluded_embed_metadata_keys = [*made.excluded_embed_metadata_keys, "document_name"]
    shown = ("title", "section_path")
    made.excluded_llm_metadata_keys = [key for key in made.excluded_llm_metadata_keys if key not in shown]
    return made


def _likeness(similarity: float | None, score: float | None) -> float | None:
    return score if similarity is None else min(max(similarity, 0.0), 1.0)


def _results(outcome: SearchOutcome, search: Search) -> tuple[SearchResult, ...]:
    """The passages of an outcome, each with its scores and where it stands."""
    ledger = search.ledger
    for hit in outcome.ranking:
        ledger.kept(hit.node.node_id, 0, merged=False)
    rows = [ledger.candidate(hit.node.node_id) for hit in outcome.ranking]
    documents = {hit.node.metadata["document_id"] for hit in outcome.ranking}
    known = search.store.links(documents.union(*(row.also_in for row in rows)), search.request.audience)
    ranked = enumerate(zip(outcome.ranking, rows, strict=True), start=1)
    return tuple(_result(rank, hit, row, known) for rank, (hit, row) in ranked)


_OF_NODE = ("document_id", "title", "category", "kind", "page", "line_start", "line_end", "start", "end")


def _result(rank: int, hit: NodeWithScore, row: Candidate, known: Mapping[str, DocumentLinks]) -> SearchResult:
    meta = hit.node.metadata
    own = known.get(meta["document_id"], DocumentLinks())
    return SearchResult(
        **{name: meta[name] for name in _OF_NODE},
        rank=rank,
        node_id=hit.node.node_id,
        document_name=own.name,
        section_path=tuple(meta["section_path"]),
        text=hit.node.get_content(),
        score=float(hit.score or 0.0),
        dense=row.dense,
        sparse=row.sparse,
        fused=row.fused,
        factors=row.factors,
        similarity=_likeness(row.similarity, None),
        near_copies=tuple(known[other].name for other in row.also_in if other in known),
        uri=own.uri,
        lines_uri=own.lines_uri,
    )
