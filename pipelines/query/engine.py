"""ANSWER: the whole flow, question -> evidence -> sentences with checked footnotes."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import QueryEngineTool

from config.prompts import NO_DOCUMENTS, NOTHING_PASSES
from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.identity import llm_identity
from pipelines.models.meter import Meter, metered, metering
from pipelines.models.nli import load_inference
from pipelines.models.prices import answer_cost
from pipelines.models.prompt_tokens import margin
from pipelines.observe import log_failure
from pipelines.query.cache import FoundCache, Key
from pipelines.query.careers.career import may_reckon, reckon
from pipelines.query.careers.listing import asked_about
from pipelines.query.careers.quotable import quotable
from pipelines.query.careers.reckoning import Reckoning, said_of
from pipelines.query.careers.sections import read_sections
from pipelines.query.careers.timeline import people
from pipelines.query.conflicts.career_conflicts import CAREERS, career_disagreements
from pipelines.query.conflicts.conflicts import is_about_a_career, with_conflicts
from pipelines.query.conflicts.disagreement import Disagreement
from pipelines.query.conflicts.retold import retold
from pipelines.query.context.assemble import Budget, assemble
from pipelines.query.context.spans import Passage
from pipelines.query.extraction.extract import UNTOLD, extract, is_answer
from pipelines.query.extraction.injection import borne_by_commands
from pipelines.query.extraction.marks import Ruler
from pipelines.query.parts import changed
from pipelines.query.searching.assess import assess
from pipelines.query.searching.calibration import calibration
from pipelines.query.searching.escalate import is_weak
from pipelines.query.searching.find import Finder, Found, Request
from pipelines.query.serving import Serving, build_serving, served_aside
from pipelines.query.suggestions.follow_ups import follow_ups
from pipelines.query.suggestions.propose import Answered
from pipelines.query.trace import Ledger
from pipelines.query.understanding.history import recent
from pipelines.query.verification.judge import Judge, embedding, judge_with
from pipelines.query.writing.prompt import Manner, fitted
from pipelines.query.writing.write import Brief, Written, abstain, write_by_extraction, write_by_facts
from pipelines.query.writing.write_llm import write_by_llm
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading
from pipelines.store.facts import read_facts, stated_people
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

    @property
    def passages(self) -> int:
        """How many passages an answer is made from, as far as the budget goes."""
        return self.settings.retrieval.top_n if self.llm else self._quoted

    @property
    def _quoted(self) -> int:
        """How many passages a quotation is picked from."""
        return max(self.settings.retrieval.top_n, self.settings.answer.passages)

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
        options = self.settings.retrieval
        request = Request(question, filters, audience, options.mode, self.passages, tuple(history))
        answer, trace = yield from self._answered(request, suggest=record)
        if record:
            self._save(trace, "ask", answer, answer.usage, answer.cost)
        yield answer

    def _answered(
        self, request: Request, *, suggest: bool
    ) -> Generator[Token | Footnote | Verdict, None, tuple[Answer, Trace]]:
        """The events of an answer; returns the Answer and its ledger."""
        meter = Meter()
        with metering(meter):
            bound, gathered = self._once(lambda engine: engine._gather(request))
        intent, ledger = gathered.intent, gathered.ledger
        if gathered.reckoning is not None:
            draft = yield from write_by_facts(intent.question, gathered.reckoning)
        else:
            with ledger.timings.stage("write"):
                draft = yield from metered(meter, bound._write(gathered, request))
        with metering(meter), ledger.timings.stage("conflicts"):
            draft = with_conflicts(draft, bound._disputed(draft, gathered, request))
        draft = replace(draft, condensed=intent.condensed, condensed_by=intent.condensed_by)
        with metering(meter):
            suggested = bound._suggest(draft, gathered, request) if suggest else ()
        trace = bound._close(ledger, intent, request, gathered.index.version)
        notes = tuple(note for note in dict.fromkeys(trace.notes) if note != draft.fallback_reason)
        usage = meter.usage()
        cost = answer_cost(usage, self.settings, bound.identity)
        answer = replace(draft, notes=notes, trace_id=trace.id, timings_ms=trace.timings_ms, usage=usage, cost=cost)
        return replace(answer, follow_ups=suggested), trace

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
            bound, report = self._once(lambda engine: engine._search(request))
        if record:
            usage = meter.usage()
            self._save(report.trace, "search", None, usage, answer_cost(usage, self.settings, bound.identity))
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
            context = self._assemble(found, request.audience, ledger)
        return _Gathered(ledger, index, intent, found=found, context=context)

    def _find(self, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        """What the finder finds, or found when an equal request was made of the same corpus."""
        return self._find_with(self._finder, request, intent, ledger)

    def _find_with(self, finder: Finder, request: Request, intent: QueryIntent, ledger: Ledger) -> Found:
        """What this finder finds; one that makes fewer second tries than the engine's is told what was found before.

        What it finds itself is only kept where the engine's would find the same.
        """
        if not self.cache.entries:
            return finder.find(request, intent, ledger)
        with ledger.timings.stage("recall"):
            key = self._key(request, intent)
            held = self.cache.recall(key, ledger)
        if held is not None:
            return held
        noted = tuple(ledger.notes)
        found = finder.find(request, intent, ledger)
        tries = self.settings.escalation.mode
        if finder.settings.escalation.mode == tries or (tries == "auto" and not is_weak(found.evidence)):
            self.cache.keep(key, found, ledger, before=noted)
        return found

    def _key(self, request: Request, intent: QueryIntent) -> Key:
        with self.store.moment() as moment:
            return Key(
                intent, request.filters, request.audience, request.mode, request.top_n, self.fingerprint, moment.mark,
                date.today(),
            )  # fmt: skip

    def _assemble(self, found: Found, audience: Audience, ledger: Ledger) -> Context:
        def read(spans: Sequence[tuple[str, int, int]]) -> dict[tuple[str, int, int], Passage]:
            with reading(self.database.engine, "reading passages") as connection:
                rows = document_rows.passages(connection, spans, audience)
            return {
                key: Passage(
                    row.text, row.name, row.title, row.source_uri, row.content_sha, row.category, (), tuple(row.pages)
                )
                for key, row in rows.items()
            }

        limits = self.settings.context
        budget = Budget(limits.max_characters, limits.max_tokens, margin(self.model_name, limits.token_margin))
        names = partial(self._names, audience=audience)
        return assemble(found.ranking, read, ledger, budget, names=names, named=found.intent.documents)

    def _reckon(self, intent: QueryIntent, request: Request, ledger: Ledger) -> Reckoning | None:
        """What can be computed from career facts in answer to the question, and the ledger's note of it."""
        if not self.settings.answer.facts or not may_reckon(intent):
            return None
        filters = replace(request.filters, phrase=(*request.filters.phrase, *intent.phrases))
        facts = read_facts(self.store, filters, request.audience)
        known = people(facts, date.today())
        if unread := read_sections(self.store, facts, asked_about(intent, known), request.audience):
            known = people([*facts, *unread], date.today())
        reckoning = reckon(intent, known)
        if reckoning is not None:
            ledger.tag("facts")
            ledger.note(said_of(reckoning))
        return reckoning

    def _write(self, gathered: "_Gathered", request: Request) -> Written:
        found, context, ledger, options = gathered.found, gathered.context, gathered.ledger, self.settings.answer
        assert found is not None
        assert context is not None
        tried = f"{found.intent.search_text} ({request.mode}: {found.evidence.reason or 'found'})"
        searched = () if found.intent.greeting else (tried,)
        brief = Brief(found.intent, context, found.evidence, searched, judge=self._judge(request, ledger))
        nothing = self._nothing(gathered, request)
        failure = ""
        if self.llm is not None and found.evidence.sufficient and context.sources:
            try:
                return (yield from self._write_by_llm(brief, self.llm, request, ledger))
            except FootnoteError as error:
                log_failure("language model failed, answering by extraction", error)
                failure = str(error)
                ledger.note(failure)
                found, context = self._found_without_llm(found, context, request, ledger)
                brief = replace(brief, context=context, evidence=found.evidence)
        is_llm_silent = self.llm is not None and not failure  # too little evidence to ask it
        if not context.sources or nothing or is_llm_silent:
            return (yield from abstain(replace(brief, instead=nothing), failure))
        evidence = self._evidence(found, gathered)
        brief = replace(brief, evidence=evidence)
        own, barred = quotable(found.intent, context, self.store, request.audience)
        told = extract(
            found.intent,
            own,
            found.ranking,
            self._ruler(gathered),
            strength=evidence.strength,
            max_sentences=options.max_sentences,
            barred=barred,
        )
        if not is_answer(told, evidence, self.settings.evidence):
            why = f"{found.intent.search_text} ({request.mode}: {told.silence or evidence.reason or UNTOLD})"
            return (yield from abstain(replace(brief, searched=(why,)), failure))
        if told.more:
            ledger.note(f"{told.more} more of what is listed there are not quoted: open the source for all of them.")
        return (yield from write_by_extraction(brief, told, failure))

    def _found_without_llm(
        self, found: Found, context: Context, request: Request, ledger: Ledger
    ) -> tuple[Found, Context]:
        """What is found and shown where there is no language model: more passages than one is shown."""
        wide = replace(request, top_n=self._quoted)
        if wide.top_n <= request.top_n:
            return found, context
        try:
            found = replace(self._finder, llm=None).find(wide, found.intent, ledger)
            return found, self._assemble(found, request.audience, ledger)
        except FootnoteError as error:
            log_failure("sentences are quoted from the passages of the language model alone", error)
            return found, context

    def _evidence(self, found: Found, gathered: "_Gathered") -> Evidence:
        """How well what may be quoted bears on the question: without passages that do by their commands alone."""
        left_out = borne_by_commands(found.intent, found.ranking)
        if not left_out:
            return found.evidence
        ranked = [hit for hit in found.ranked if hit.node.node_id not in left_out]
        again = assess(
            ranked,
            found.intent,
            gathered.ledger,
            gathered.index,
            settings=self.settings.evidence,
            model=self.identity.model,
        )
        return min(found.evidence, again, key=lambda evidence: evidence.strength)

    def _write_by_llm(self, brief: Brief, llm: LLM, request: Request, ledger: Ledger) -> Written:
        """What the language model writes of as much as it has room for; raises what `write_by_llm` raises."""
        options, limits = self.settings.answer, self.settings.llm
        spare = margin(self.model_name, self.settings.context.token_margin)
        room = (limits.context_window - limits.max_tokens) / spare
        output: Literal["prose", "json"] = "json" if options.output == "json" else "prose"
        manner = Manner(self.settings.persona, output, options.unsupported, room)
        turns = recent(request.history, turns=options.history_turns, tokens=options.history_tokens)
        context, turns = fitted(brief.intent, brief.context, turns, manner)
        for node_id, why in context.dropped[len(brief.context.dropped) :]:
            ledger.cut(node_id, why)
        draft = yield from write_by_llm(replace(brief, context=context), llm, turns, manner)
        for said in draft.notes:
            ledger.note(said)
        return draft

    def _nothing(self, gathered: "_Gathered", request: Request) -> str:
        """What to say when there was nothing to search in; empty when there was."""
        if gathered.intent.greeting or (gathered.found and gathered.found.ranked):
            return ""
        if not len(gathered.index):
            return NO_DOCUMENTS
        any_passes = not request.filters or self.store.matching_ids(request.filters, request.audience)
        return "" if any_passes else NOTHING_PASSES

    def _disputed(self, draft: Answer, gathered: "_Gathered", request: Request) -> Sequence[Disagreement]:
        """What the resumes and profiles among the candidates say differently, where the answer rests on one of them."""
        if gathered.reckoning is not None:
            return (*gathered.reckoning.doubts, *self._retold(draft, gathered, request))
        documents, rests = gathered.ledger.documents, any(source.category in CAREERS for source in draft.sources)
        if len(documents) < 2 or not rests or not is_about_a_career(draft):
            return ()
        told = Filters(document=documents, category=tuple(sorted(CAREERS)))
        try:
            facts = read_facts(self.store, told, request.audience)
        except FootnoteError as error:
            log_failure("career facts were not compared", error)
            return ()
        return career_disagreements(people(facts, date.today()))

    def _retold(self, draft: Answer, gathered: "_Gathered", request: Request) -> Sequence[Disagreement]:
        """What other documents say of the dates of the jobs that an answer was computed from, where they are asked."""
        if gathered.reckoning is None or not is_about_a_career(draft):
            return ()
        try:
            finder = replace(self._finder, llm=None)
            found = self._find_with(finder, request, gathered.intent, Ledger())
            context = self._assemble(found, request.audience, Ledger())
            names = {document: name for name, document in stated_people(self.store, request.audience)}
        except FootnoteError as error:
            log_failure("career facts were not compared with what else is said", error)
            return ()
        return retold((item.fact for item in gathered.reckoning.items), names, context.sources)

    def _suggest(self, draft: Answer, gathered: "_Gathered", request: Request) -> tuple[str, ...]:
        """What may be asked next; nothing where a part of the search failed, or the time is over."""
        ledger, shown = gathered.ledger, gathered.context.text if gathered.context else ""
        if not self.settings.answer.follow_ups or gathered.intent.greeting or ledger.degraded:
            return ()
        with ledger.timings.stage("follow_ups"):
            try:
                return follow_ups(Answered(draft, request, gathered.found, shown), self._finder, self._find_with)
            except FootnoteError as error:
                log_failure("nothing is suggested to be asked next", error)
                return ()

    def _judge(self, request: Request, ledger: Ledger) -> Judge:
        """What sentences are verified with; without vectors when the search had to do without them."""
        named, blind = self.settings.answer.nli_model, request.mode == "sparse" or ledger.degraded
        embed = None if blind else embedding(self.embed_model)
        return judge_with(self.identity.model, embed, load_inference(named) if named else None)

    def _ruler(self, gathered: "_Gathered") -> Ruler:
        """What the lines of the sources are measured with; without vectors when the model cannot be reached."""
        scale = calibration(self.identity.model)

        def vectors(questions: Sequence[str], texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
            try:
                asked = [self.embed_model.get_query_embedding(question) for question in questions]
                told = self.embed_model.get_text_embedding_batch(list(texts))
            except FootnoteError as error:
                log_failure("sentences ranked without similarity", error)
                return np.zeros((len(questions), 0), dtype=np.float32), np.zeros((len(texts), 0), dtype=np.float32)
            return np.asarray(asked, dtype=np.float32), np.asarray(told, dtype=np.float32)

        return Ruler(gathered.index.idf, vectors, scale.far, scale.near)

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

    def _save(
        self, trace: Trace, kind: str, answer: Answer | None, usage: Mapping[str, int], cost: float | None
    ) -> None:
        try:
            save_query(self.database.engine, trace, kind=kind, answer=answer, usage=usage, cost=cost)
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
