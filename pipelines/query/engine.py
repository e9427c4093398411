"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import QueryEngineTool

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity, is_stated, llm_identity, with_identity
from pipelines.observe import log_failure
from pipelines.query.assemble import Passage, assemble
from pipelines.query.cache import FoundCache, Key
from pipelines.query.career import may_reckon, reckon
from pipelines.query.extract import extract
from pipelines.query.find import Finder, Found, Request
from pipelines.query.parts import changed
from pipelines.query.reckoning import Reckoning, said_of
from pipelines.query.timeline import people
from pipelines.query.trace import Ledger
from pipelines.query.write import Brief, Written, abstain, write_by_extraction, write_by_facts, write_by_llm
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading
from pipelines.store.facts import read_facts
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.models import serving
from pipelines.store.names import KnownNames
from pipelines.store.nodes import NodeStore, build_lexical_indexes, build_node_store, build_spaces
from pipelines.store.runs import fingerprint, save_query
from pipelines.store.space import Spaces
from pipelines.types import (
    Answer,
    Audience,
    Candidate,
    Context,
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
Event = Token | Footnote | Verdict | Answer


def build_query_engine(settings: Settings) -> "Engine":
    """An engine over the database of these settings; safe to share between threads.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    model = serving(database.engine, identity(settings), stated=is_stated(settings))
    store = build_node_store(settings, database, model)
    return Engine(
        settings=settings,
        database=database,
        store=store,
        indexes=build_lexical_indexes(settings, database, store),
        embed_model=build_embed_model(with_identity(settings, model)),
        llm=_build_llm(settings),
        spaces=build_spaces(settings, database, store),
        names=KnownNames(store),
        cache=FoundCache(settings.retrieval.cache_entries),
    )


def _build_llm(settings: Settings) -> LLM | None:
    if llm_identity(settings) is None:
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    return build_llm(settings)


@dataclass(slots=True)
class Engine:
    """Answers questions and searches; every call takes its filters and its audience."""

    settings: Settings
    database: Database
    store: NodeStore
    indexes: LexicalIndexes
    embed_model: BaseEmbedding
    llm: LLM | None
    spaces: Spaces
    names: KnownNames
    cache: FoundCache
    fingerprint: str = field(init=False)  # of the settings; taking it costs more than a look-up in the cache

    def __post_init__(self) -> None:
        stated = self.settings.model_dump(mode="json", exclude={"home", "database_url", "log"})
        self.fingerprint = fingerprint(stated)

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
        ledger, options = Ledger(), self.settings.retrieval
        request = Request(question, filters, audience, options.mode, options.top_n, tuple(history))
        intent = self._finder.understand(request, ledger)
        with ledger.timings.stage("facts"):
            reckoning = self._reckon(intent, request, ledger)
        if reckoning is not None:
            draft = yield from write_by_facts(intent.question, reckoning)
        else:
            found = self._find(request, intent, ledger)
            with ledger.timings.stage("assemble"):
                context = self._assemble(found.ranking, audience, ledger)
            with ledger.timings.stage("write"):
                draft = yield from self._write(found, context, request, ledger)
        trace = self._close(ledger, intent, request)
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
        ledger, options = Ledger(), self.settings.retrieval
        request = Request(question, filters, audience, mode or options.mode, top_n or options.top_n)
        found = self._find(request, self._finder.understand(request, ledger), ledger)
        for hit in found.ranking:
            ledger.kept(hit.node.node_id, 0, merged=False)
        rows = {hit.node.node_id: ledger.candidate(hit.node.node_id) for hit in found.ranking}
        shown = {hit.node.metadata["document_id"] for hit in found.ranking}
        names = self._names(shown.union(*(row.also_in for row in rows.values())), audience)
        results = tuple(
            _result(rank, hit, rows[hit.node.node_id], names) for rank, hit in enumerate(found.ranking, start=1)
        )
        trace = self._close(ledger, found.intent, request)
        if record:
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
        cut: bool = False,
    ) -> list[NodeWithScore]:
        """Every candidate of each leg's first k, best first, after the factors; for evaluation.

        With `cut`, those that the cuts left of them, at most k / leg_factor.
        """
        ledger, options = Ledger(), self.settings.retrieval
        depth = -(-k // options.leg_factor)
        request = Request(question, filters, audience, mode or options.mode, depth)
        found = self._finder.find(request, self._finder.understand(request, ledger), ledger)
        return found.ranking if cut else found.ranked

    def examine(self, question: str, *, history: Sequence[Turn] = (), top_n: int | None = None) -> Found:
        """What is found for a question, and how strong the evidence is; nothing is recorded. For evaluation.

        Raises:
            RetrievalError: If the question cannot be searched.
        """
        ledger, options = Ledger(), self.settings.retrieval
        request = Request(question, _NO_FILTERS, "owner", options.mode, top_n or options.top_n, tuple(history))
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
        indexes = build_lexical_indexes(settings, self.database, self.store)
        entries = settings.retrieval.cache_entries
        return replace(
            self,
            settings=settings,
            indexes=self.indexes if indexes.parameters == self.indexes.parameters else indexes,
            cache=self.cache if entries == self.cache.entries else FoundCache(entries),
        )

    @property
    def _finder(self) -> Finder:
        return Finder(
            self.settings,
            self.store,
            self.indexes,
            self.embed_model,
            self.spaces,
            self.names,
            identity(self.settings).model,
            self.llm,
        )

    # Stages

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
        corpus = (self.store.version(), self.indexes.current(request.audience).version)
        return Key(
            intent, request.filters, request.audience, request.mode, request.top_n, self.fingerprint, corpus,
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

    def _write(self, found: Found, context: Context, request: Request, ledger: Ledger) -> Written:
        options = self.settings.answer
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

    def _names(self, document_ids: Collection[str], audience: Audience) -> dict[str, str]:
        if not document_ids:
            return {}
        with reading(self.database.engine, "reading document names") as connection:
            return document_rows.names(connection, document_ids, audience)

    def _close(self, ledger: Ledger, intent: QueryIntent, request: Request) -> Trace:
        return ledger.close(
            intent=intent,
            corpus_version=self.indexes.current(request.audience).version,
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
