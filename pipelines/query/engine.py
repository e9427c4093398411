"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import QueryEngineTool

from config.settings import Settings
from pipelines.models.identity import llm_identity
from pipelines.models.meter import Meter, metered, metering
from pipelines.models.prices import answer_cost
from pipelines.query.also_in import with_others
from pipelines.query.careers.reckoning import Reckoning
from pipelines.query.conflicts.conflicts import with_conflicts
from pipelines.query.conflicts.disputed import disputed
from pipelines.query.gather import gather
from pipelines.query.in_part import note_parts
from pipelines.query.parts import changed
from pipelines.query.record import closed, logged
from pipelines.query.searching.cache import CachedSearch, FoundCache
from pipelines.query.searching.find import Found, Request
from pipelines.query.searching.report import reported
from pipelines.query.serving import Served, Serving, build_serving, served_aside
from pipelines.query.suggestions.suggest import suggested
from pipelines.query.tool import query_tool
from pipelines.query.writing.write import write_by_facts
from pipelines.query.writing.writer import passages_for, write
from pipelines.store.database import Database, open_database
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.nodes import NodeStore
from pipelines.store.queries import fingerprint
from pipelines.types import (
    Answer,
    Audience,
    EmbeddingIdentity,
    Filters,
    Footnote,
    Mode,
    SearchReport,
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
    serving, llm = build_serving(settings, database), _build_llm(settings)
    return Engine(settings, database, serving, llm, FoundCache(settings.retrieval.cache_entries), _stated(settings))


def build_engine_aside(settings: Settings, database: Database, model: EmbeddingIdentity) -> "Engine":
    """An engine over the nodes of this embedding model for good, whichever serves; for evaluation.

    Raises:
        ConfigError: If the model cannot be used with these settings.
    """
    serving = Serving(settings, database, served_aside(settings, database, model), None)
    return Engine(settings, database, serving, None, FoundCache(0), _stated(settings))


def _build_llm(settings: Settings) -> LLM | None:
    if llm_identity(settings) is None:
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    return build_llm(settings)


def _stated(settings: Settings) -> str:
    """The fingerprint of what the settings say of a query."""
    return fingerprint(settings.model_dump(mode="json", exclude={"home", "database_url", "log"}))


@dataclass(frozen=True, slots=True)
class Engine:
    """Answers questions and searches; every call takes its filters and its audience.

    Each question is answered from the embedding model that serves when it is asked, whatever is promoted meanwhile.
    """

    settings: Settings
    database: Database
    serving: Serving
    llm: LLM | None
    cache: FoundCache
    stated: str  # the settings' fingerprint; taking it costs more than a look-up in the cache

    @property
    def identity(self) -> EmbeddingIdentity:
        """The embedding model that serves."""
        return self.serving.now().identity

    @property
    def store(self) -> NodeStore:
        """Its nodes."""
        return self.serving.now().store

    @property
    def indexes(self) -> LexicalIndexes:
        """The BM25 indexes of its nodes."""
        return self.serving.now().indexes

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model itself."""
        return self.serving.now().embed_model

    @property
    def fingerprint(self) -> str:
        """Of the settings and of the embedding model that serves."""
        return self._search(self.serving.now()).settings

    @property
    def model_name(self) -> str:
        """The language model's name; empty when answers are extractive."""
        return str(self.llm.metadata.model_name) if self.llm else ""

    @property
    def passages(self) -> int:
        """How many passages an answer is made from, as far as the budget goes."""
        return passages_for(self.settings, self.llm)

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
            logged(self.database.engine, trace, answer, answer.usage, answer.cost)
        yield answer

    def _answered(
        self, request: Request, *, suggest: bool
    ) -> Generator[Token | Footnote | Verdict, None, tuple[Answer, Trace]]:
        """The events of an answer; returns the Answer and its ledger."""
        meter = Meter()
        with metering(meter):
            served, gathered = self.serving.once(lambda served: gather(request, self._search(served)))
        search, intent, ledger = self._search(served), gathered.intent, gathered.ledger
        if isinstance(gathered.basis, Reckoning):
            draft = yield from write_by_facts(intent.question, gathered.basis)
        else:
            with ledger.timings.stage("write"):
                draft = yield from metered(meter, write(gathered.basis, request, search.finder))
        with metering(meter), ledger.timings.stage("conflicts"):
            draft = with_conflicts(draft, disputed(draft, gathered, search))
        draft = replace(draft, condensed=intent.condensed, condensed_by=intent.condensed_by)
        with metering(meter):
            follow_ups = suggested(draft, gathered, search) if suggest else ()
        draft = with_others(draft, ledger, self.database.engine, request.audience)
        note_parts(draft, self.database.engine, request.audience, ledger)
        trace = closed(ledger, intent, request, settings=search.settings, corpus_version=gathered.corpus_version)
        usage = meter.usage()
        answer = replace(
            draft,
            follow_ups=follow_ups,
            notes=tuple(note for note in dict.fromkeys(trace.notes) if note != draft.fallback_reason),
            trace_id=trace.id,
            timings_ms=trace.timings_ms,
            usage=usage,
            cost=answer_cost(usage, self.settings, served.identity),
        )
        return answer, trace

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
            served, report = self.serving.once(lambda served: reported(request, self._search(served)))
        if record:
            usage = meter.usage()
            cost = answer_cost(usage, self.settings, served.identity)
            logged(self.database.engine, report.trace, None, usage, cost)
        return report

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
        _, found = self.serving.once(lambda served: served.finder(self.settings, self.llm).examine(request))
        return found.ranking if cut else found.ranked

    def examine(self, question: str, *, history: Sequence[Turn] = (), top_n: int | None = None) -> Found:
        """What is found for a question, and how strong the evidence is; nothing is recorded. For evaluation.

        Raises:
            RetrievalError: If the question cannot be searched.
        """
        options = self.settings.retrieval
        request = Request(question, _NO_FILTERS, "owner", options.mode, top_n or options.top_n, tuple(history))
        return self.serving.once(lambda served: served.finder(self.settings, self.llm).examine(request))[1]

    def as_tool(self, *, filters: Filters = _NO_FILTERS, audience: Audience = "owner") -> QueryEngineTool:
        """This engine as a tool for LlamaIndex agents, bound to these filters and audience."""
        return query_tool(partial(self.ask, filters=filters, audience=audience))

    def with_changes(self, changes: Mapping[str, Any]) -> "Engine":
        """This engine with other settings by dotted name (`retrieval.top_n`), on the same store and models.

        Raises:
            ConfigError: If a name is no setting of a query, or a value does not fit it.
        """
        settings = changed(self.settings, changes)
        entries = settings.retrieval.cache_entries
        cache = self.cache if entries == self.cache.entries else FoundCache(entries)
        return Engine(settings, self.database, self.serving.under(settings), self.llm, cache, _stated(settings))

    def with_parts(self, **parts: Any) -> "Engine":
        """This engine over what serves now for good, but for some parts of it (`store`, `indexes`, `embed_model`)."""
        return replace(self, serving=self.serving.bound(replace(self.serving.now(), **parts)))

    def _search(self, served: Served) -> CachedSearch:
        told = fingerprint({"settings": self.stated, "model": served.identity.slug})
        return CachedSearch(served.finder(self.settings, self.llm), self.cache, told)
