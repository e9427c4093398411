"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, TypeVar

import numpy as np
from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import QueryEngineTool

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.identity import llm_identity
from pipelines.observe import log_failure
from pipelines.query.assemble import Passage, assemble
from pipelines.query.cache import FoundCache, Key
from pipelines.query.career import may_reckon, reckon
from pipelines.query.extract import extract
from pipelines.query.find import Finder, Found, Request
from pipelines.query.parts import changed
from pipelines.query.reckoning import Reckoning, said_of
from pipelines.query.serving import Serving, build_serving, served_aside
from pipelines.query.timeline import people
from pipelines.query.trace import Ledger
from pipelines.query.write import Brief, Written, abstain, write_by_extraction, write_by_facts, write_by_llm
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading
from pipelines.store.facts import read_facts
from pipelines.store.lexical import LexicalIndex
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.nodes import NodeStore
from pipelines.store.queries import fingerprint, save_query
from pipelines.types import (
    Answer,
    Audience,
    Candidate,
    Context,
    EmbeddingIdentity,
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

_NO_FILTERS = Filters()
T = TypeVar("T")
Event = Token | Footnote | Verdict | Answer


def build_query_engine(settings: Settings) -> "Engine":
    """An engine over the database of these settings; safe to share between threads.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    return Engine(
        settings=settings,
        database=database,
        serving=build_serving(settings, database),
        llm=_build_llm(settings),
        cache=FoundCache(settings.retrieval.cache_entries),
    )


def build_engine_aside(settings: Settings, database: Database, model: EmbeddingIdentity) -> "Engine":
    """An engine over the nodes of this embedding model for good, whichever serves; for evaluation.

    Raises:
        ConfigError: If the model cannot be used with these settings.
    """
    serving = Serving(settings, database, served_aside(settings, database, model), None)
    return Engine(settings, database, serving, None, FoundCache(0))


def _build_llm(settings: Settings) -> LLM | None:
    if llm_identity(settings) is None:
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    return build_llm(settings)


@dataclass(slots=True)
class Engine:
    """Answers questions and searches; every call takes its filters and its audience.

    Each question is answered from the embedding model that serves when it is asked, whatever is promoted meanwhile.
    """

    settings: Settings
    database: Database
    serving: Serving
    llm: LLM | None
    cache: FoundCache
    stated: str = ""  # the settings' fingerprint; taking it costs more than a look-up in the cache

    def __post_init__(self) -> None:
        told = self.settings.model_dump(mode="json", exclude={"home", "database_url", "log"})
        self.stated = self.stated or fingerprint(told)

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
        return fingerprint({"settings": self.stated, "model": self.identity.slug})

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
        record: bool = True,
    ) -> Iterator[Event]:
        """The answer as it is made: Tokens and Footnotes, then a Verdict for each sentence, the Answer last.

        A search that fails leaves what the other found, and the Answer's notes say so. Without `record` the query log
        does not learn of it.

        Raises:
            RetrievalError: If the question or a filter cannot be searched.
            ModelError, ServiceUnavailable: If no leg could search; a language model that fails is replaced by
                extraction, and the Answer says so.
        """
        options = self.settings.retrieval
        request = Request(question, filters, audience, options.mode, options.top_n, tuple(history))
        bound, gathered = self._once(lambda engine: engine._gather(request))
        intent, ledger = gathered.intent, gathered.ledger
        if gathered.reckoning is not None:
            draft = yield from write_by_facts(intent.question, gathered.reckoning)
        else:
            with ledger.timings.stage("write"):
                draft = yield from bound._write(gathered, request)
        trace = bound._close(ledger, intent, request, gathered.index.version)
        notes = tuple(note for note in dict.fromkeys(trace.notes) if note != draft.fallback_reason)
        answer = replace(draft, notes=notes, trace_id=trace.id, timings_ms=trace.timings_ms)
        if record:
            self._save(trace, "ask", answer)
        yield answer

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
        _, report = self._once(lambda engine: engine._search(request))
        if record:
            self._save(report.trace, "search", None)
        return report

    def _search(self, request: Request) -> SearchReport:
        ledger, audience = Ledger(), request.audience
        with self.store.moment() as moment:
            found = self._find(request, self._finder.understand(request, ledger), ledger)
            for hit in found.ranking:
                ledger.kept(hit.node.node_id, 0, merged=False)
            rows = {hit.node.node_id: ledger.candidate(hit.node.node_id) for hit in found.ranking}
            shown = {hit.node.metadata["document_id"] for hit in found.ranking}
            names = self._names(shown.union(*(row.also_in for row in rows.values())), audience)
        results = tuple(
            _result(rank, hit, rows[hit.node.node_id], names) for rank, hit in enumerate(found.ranking, start=1)
        )
        trace = self._close(ledger, found.intent, request, moment.mark.version)
        return SearchReport(found.intent.question, found.intent, results, found.evidence, trace.timings_ms, trace)

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
        depth = -(-k // options.leg_factor)
        request = Request(question, filters, audience, mode or options.mode, depth)
        _, found = self._once(lambda engine: engine._examine(request))
        return found.ranking if cut else found.ranked

    def examine(self, question: str, *, history: Sequence[Turn] = (), top_n: int | None = None) -> Found:
        """What is found for a question, and how strong the evidence is; nothing is recorded. For evaluation.

        Raises:
            RetrievalError: If the question cannot be searched.
        """
        options = self.settings.retrieval
        request = Request(question, _NO_FILTERS, "owner", options.mode, top_n or options.top_n, tuple(history))
        return self._once(lambda engine: engine._examine(request))[1]

    def _examine(self, request: Request) -> Found:
        ledger = Ledger()
        return self._finder.find(request, self._finder.understand(request, ledger), ledger)

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
        settings = changed(self.settings, changes)
        entries = settings.retrieval.cache_entries
        return replace(
            self,
            settings=settings,
            serving=self.serving.under(settings),
            cache=self.cache if entries == self.cache.entries else FoundCache(entries),
            stated="",
        )

    def with_parts(self, **parts: Any) -> "Engine":
        """This engine over what serves now for good, but for some parts of it (`store`, `indexes`, `embed_model`)."""
        return replace(self, serving=self.serving.bound(replace(self.serving.now(), **parts)))

    def _once(self, do: Callable[["Engine"], T]) -> tuple["Engine", T]:
        """(this engine as it is at one moment, what `do` makes of it at that moment).

        It is done anew where another embedding model was promoted and the table of the one before dropped, before
        anything was read of it.
        """
        bound = self
        try:
            with self.serving.moment():
                bound = replace(self, serving=self.serving.bound(self.serving.now()))
                return bound, do(bound)
        except FootnoteError:
            if bound is not self and bound.identity == self.identity:
                raise
        with self.serving.moment():
            bound = replace(self, serving=self.serving.bound(self.serving.now()))
            return bound, do(bound)

    @property
    def _finder(self) -> Finder:
        served = self.serving.now()
        return Finder(
            self.settings,
            served.store,
            served.indexes,
            served.embed_model,
            served.spaces,
            served.names,
            served.identity.model,
            self.llm,
        )

    # Stages

    def _gather(self, request: Request) -> "_Gathered":
        """All that is read before a word is written: what facts say, else what was found and is shown to the writer."""
        ledger, index = Ledger(), self.indexes.current(request.audience)
        intent = self._finder.understand(request, ledger)
        with ledger.timings.stage("facts"):
            reckoning = self._reckon(intent, request, ledger)
        if reckoning is not None:
            return _Gathered(ledger, index, intent, reckoning=reckoning)
        found = self._find(request, intent, ledger)
        with ledger.timings.stage("assemble"):
            context = self._assemble(found.ranking, request.audience, ledger)
        return _Gathered(ledger, index, intent, found=found, context=context)

    def _find(self, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        """What the finder finds, or found when an equal request was made of the same corpus."""
        finder = self._finder
        if not self.cache.entries:
            return finder.find(request, intent, ledger)
        with ledger.timings.stage("recall"):
            key = self._key(request, intent)
            held = self.cache.recall(key, ledger)
        if held is not None:
            return held
        found = finder.find(request, intent, ledger)
        self.cache.keep(key, found, ledger)
        return found

    def _key(self, request: Request, intent: QueryIntent) -> Key:
        with self.store.moment() as moment:
            return Key(
                intent, request.filters, request.audience, request.mode, request.top_n, self.fingerprint, moment.mark,
                date.today(),
            )  # fmt: skip

    def _assemble(self, ranking: Sequence[NodeWithScore], audience: Audience, ledger: Ledger) -> Context:
        def read(spans: Sequence[tuple[str, int, int]]) -> dict[tuple[str, int, int], Passage]:
            with reading(self.database.engine, "reading passages") as connection:
                rows = document_rows.passages(connection, spans, audience)
            return {
                key: Passage(row.text, row.name, row.title, row.source_uri, row.content_sha, row.category)
                for key, row in rows.items()
            }

        limits = self.settings.context
        context = assemble(
            ranking,
            read,
            ledger,
            max_characters=limits.max_characters,
            max_tokens=limits.max_tokens,
            token_margin=limits.token_margin,
        )
        others = {source.n: ledger.also_in(source.node_ids, source.document_id) for source in context.sources}
        names = self._names(set().union(*others.values()), audience)
        named = (
            replace(source, also_in=tuple(names[other] for other in others[source.n] if other in names))
            for source in context.sources
        )
        return replace(context, sources=tuple(named))

    def _reckon(self, intent: QueryIntent, request: Request, ledger: Ledger) -> Reckoning | None:
        """What can be computed from career facts in answer to the question, and the ledger's note of it."""
        if not self.settings.answer.facts or not may_reckon(intent):
            return None
        filters = replace(request.filters, phrase=(*request.filters.phrase, *intent.phrases))
        facts = read_facts(self.store, filters, request.audience)
        reckoning = reckon(intent, people(facts, date.today()))
        if reckoning is not None:
            ledger.tag("facts")
            ledger.note(said_of(reckoning))
        return reckoning

    def _write(self, gathered: "_Gathered", request: Request) -> Written:
        found, context, ledger, options = gathered.found, gathered.context, gathered.ledger, self.settings.answer
        assert found is not None
        assert context is not None
        tried = f"{found.intent.search_text} ({request.mode}: {found.evidence.reason or 'found'})"
        brief = Brief(found.intent, context, found.evidence, () if found.intent.greeting else (tried,))
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
                ledger.note(failure)
        picks = extract(
            found.intent,
            context,
            weight=gathered.index.idf,
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

    def _names(self, document_ids: Collection[str], audience: Audience) -> dict[str, str]:
        if not document_ids:
            return {}
        with reading(self.database.engine, "reading document names") as connection:
            return document_rows.names(connection, document_ids, audience)

    def _close(self, ledger: Ledger, intent: QueryIntent, request: Request, corpus_version: int) -> Trace:
        return ledger.close(
            intent=intent,
            corpus_version=corpus_version,
            audience=request.audience,
            filters=request.filters,
            mode=request.mode,
            settings=self.fingerprint,
            timings=ledger.timings.as_dict(),
        )

    def _save(self, trace: Trace, kind: str, answer: Answer | None) -> None:
        try:
            save_query(self.database.engine, trace, kind=kind, answer=answer)
        except FootnoteError as error:
            log_failure("query not logged", error)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What was read for an answer: `reckoning`, or `found` with the `context` for the writer."""

    ledger: Ledger
    index: LexicalIndex
    intent: QueryIntent
    reckoning: Reckoning | None = None
    found: Found | None = None
    context: Context | None = None


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
        also_in=tuple(names[other] for other in row.also_in if other in names),
    )
