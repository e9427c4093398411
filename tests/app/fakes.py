"""A library that is kept in memory, and answers that are written down beforehand."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from app.inspection import CandidatePassage, RankChange
from app.shelf import Shelf, ShelfFailure, Shelved
from config.prompts import NO_ANSWER
from config.settings import ChatSettings, EmbeddingSettings, PersonaSettings, Settings
from pipelines.answers import Answer, Citation, Footnote, Sentence, Source, Token, Verdict, VerdictName
from pipelines.errors import RetrievalError
from pipelines.models.connect import FoundServer, ModelChoice
from pipelines.query.careers.people import Person
from pipelines.query.engine import Event
from pipelines.store.conversations import Conversation, ConversationRow, Holder, Message
from pipelines.store.document_details import DocumentDetails, KeptVersion, NodePlace, StatedFact
from pipelines.store.health import Finding
from pipelines.store.jobs import JobFile, JobKind, JobState, JobStatus
from pipelines.store.query_log import Feedback
from pipelines.store.questions import StoredQuestion
from pipelines.types import (
    Audience,
    Document,
    Evidence,
    Filters,
    IngestItem,
    LineBox,
    Mode,
    QueryIntent,
    SearchReport,
    Trace,
    Turn,
)

RESUME = (
    "# Ann Bell\n\nShe tuned organs for nine years. In 2019 she moved to Leith. She now builds clavichords in Leith."
)
POST = "# On reeds\n\nA reed is a strip of brass. It speaks when wind bends it."


def shelved(
    name: str, *, category: str = "resume", title: str = "", nodes: int = 3, year: int | None = None
) -> Shelved:
    """A stored document, named and identified alike."""
    return Shelved(
        name, name, title or name, f"file:///home/ann/{name}", category, nodes, 1.0, datetime.now(UTC), year=year,
        author="Ann", dated=f"{year}-06-01T00:00:00+00:00" if year else "",
    )  # fmt: skip


def source(n: int, document: str, text: str, snippet: str, *, page: int | None = None, title: str = "") -> Source:
    """Source `n`: where `snippet` stands in the text of a document."""
    start = text.index(snippet)
    return Source(
        n=n,
        document_id=document,
        documentName=document,
        title=title or document,
        uri=f"file:///home/ann/{document}",
        content_sha="",
        category="resume",
        page=page,
        line_start=3,
        line_end=4,
        section_path=("Ann Bell",),
        snippet=snippet,
        start=start,
        end=start + len(snippet),
        node_ids=("n",),
    )


def sentence(text: str, cited: Source | None, quote: str = "", verdict: VerdictName = "supported") -> Sentence:
    """A sentence that cites a source for a quotation (the sentence itself when none is given)."""
    if cited is None:
        return Sentence(text, (), "uncited")
    start = cited.start + cited.snippet.index(quote or text)
    end = start + len(quote or text)
    evidence = Citation(cited.n, cited.document_id, "", start, end, quote or text, verdict, 1.0)
    return Sentence(text, (cited.n,), verdict, (evidence,))


def answered(
    question: str, sentences: Sequence[Sentence], sources: Sequence[Source], *, model: str = "", **changes: object
) -> list[Event]:
    """The events of an answer: every sentence with its footnotes, the verdicts, the Answer."""
    by_number = {one.n: one for one in sources}
    events: list[Event] = []
    for index, each in enumerate(sentences):
        events.append(Token(f"{' ' if index else ''}{each.text}"))
        events += [Footnote(n, by_number[n]) for n in each.citations]
    events += [Verdict(index, each) for index, each in enumerate(sentences)]
    fields: dict[str, object] = {
        "question": question,
        "answered": True,
        "confidence": "high",
        "mode": "llm" if model else "extractive",
        "model": model,
        "answer": (" " if model else "\n\n").join(each.text for each in sentences),
        "sentences": tuple(sentences),
        "sources": tuple(sources),
        "timings_ms": {"total": 420.0},
    }
    return [*events, Answer(**{**fields, **changes})]  # type: ignore[arg-type]


def abstained(
    question: str, nearest: Sequence[Source], searched: Sequence[str], *, notes: Sequence[str] = (), **changes: object
) -> list[Event]:
    """The events of an abstention."""
    return [
        Token(NO_ANSWER),
        *answered(question, (), (), answered=False, confidence="low", answer=NO_ANSWER, nearest=tuple(nearest),
                  searched=tuple(searched), notes=tuple(notes), **changes),
    ]  # fmt: skip


class FakeArchive:
    """Conversations that are kept in memory, as if they were stored."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, list[Message]]] = {}
        self.drafts: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.tokens: dict[str, int] = {}

    def list(self, search: str = "") -> list[ConversationRow]:
        rows = [ConversationRow(each, title, datetime.now(UTC)) for each, (title, _) in self.kept.items()]
        return [row for row in reversed(rows) if row.id not in self.deleted and search.lower() in row.title.lower()]

    def read(self, conversation_id: str) -> Conversation | None:
        if conversation_id in self.deleted or conversation_id not in self.kept:
            return None
        title, messages = self.kept[conversation_id]
        return Conversation(conversation_id, title, self.drafts.get(conversation_id, ""), tuple(messages))

    def begin(self, title: str) -> str:
        conversation_id = f"c{len(self.kept) + 1}"
        self.kept[conversation_id] = title, []
        return conversation_id

    def add(self, conversation_id: str, message: Message) -> int:
        number = 1 + sum(len(messages) for _, messages in self.kept.values())
        self.kept[conversation_id][1].append(replace(message, id=number))
        return number

    def store(self, message: Message) -> None:
        for _, messages in self.kept.values():
            messages[:] = [message if each.id == message.id else each for each in messages]

    def rename(self, conversation_id: str, title: str) -> None:
        self.kept[conversation_id] = title, self.kept[conversation_id][1]

    def keep_draft(self, conversation_id: str, draft: str) -> None:
        self.drafts[conversation_id] = draft

    def delete(self, conversation_id: str) -> None:
        self.deleted.add(conversation_id)

    def restore(self, conversation_id: str) -> None:
        self.deleted.discard(conversation_id)

    def share(self, message_id: int) -> str:
        token = f"token{message_id}"
        self.tokens[token] = message_id
        return token

    def revoke(self, message_id: int) -> None:
        self.tokens.pop(f"token{message_id}", None)

    def shares(self, conversation_id: str) -> dict[int, str]:
        of_it = {message.id for message in self.kept.get(conversation_id, ("", []))[1]}
        return {number: token for token, number in self.tokens.items() if number in of_it}

    def shared(self, token: str) -> Message | None:
        every = (message for _, messages in self.kept.values() for message in messages)
        return next((message for message in every if message.id == self.tokens.get(token)), None)


@dataclass
class FakeJobs:
    """A worker that waits until `finish` is called; remembers what it was asked."""

    fault: Exception | None = None
    taken: list[tuple[str, bytes]] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)
    known: dict[int, JobStatus] = field(default_factory=dict)
    outcomes: dict[int, list[JobFile]] = field(default_factory=dict)

    def _add(self, kind: JobKind, title: str, files: int = 0) -> int:
        number = len(self.known) + 1
        self.known[number] = JobStatus(
            number, kind, title, "waiting", False, "", "", (), datetime.now(UTC), files, 0, 0
        )
        return number

    def upload(self, files: Sequence[tuple[str, bytes]]) -> int:
        if self.fault:
            raise self.fault
        self.taken += files
        return self._add("upload", files[0][0] if len(files) == 1 else f"{len(files)} files", len(files))

    def finish(self, number: int, *items: IngestItem, state: JobState = "done") -> None:
        """Let a job end with these outcomes."""
        files = [
            JobFile(at, i.document, i.document, i.outcome, i.message, i.hint, i.nodes) for at, i in enumerate(items)
        ]
        self.outcomes[number] = files
        failed = sum(file.outcome == "failed" for file in files)
        self.known[number] = replace(
            self.known[number], state=state, runs=(7,), files=len(files), ended=len(files), failed=failed
        )

    def progress(self, number: int, ended: int) -> None:
        """Let a job get so far."""
        self.known[number] = replace(self.known[number], state="running", ended=ended)

    def ingest(self, location: str) -> int:
        if self.fault:
            raise self.fault
        return self._add("ingest", location)

    def refresh(self) -> int:
        return self._add("refresh", "All sources")

    def reindex(self) -> int:
        return self._add("reindex", "Documents")

    def evaluate(self) -> int:
        return self._add("evaluate", "Evaluation")

    def reread(self, document_id: str, name: str, *, category: str = "", collection: str = "") -> int:
        self.asked.append(("reread", document_id, category, collection))
        return self._add("reread", name)

    def restore(self, document_id: str, name: str, run_id: int) -> int:
        self.asked.append(("restore", document_id, run_id))
        return self._add("undo", name)

    def undo(self, job: JobStatus) -> int:
        self.known.pop(job.id)
        return self._add("undo", job.title)

    def cancel(self, job_id: int) -> None:
        self.known[job_id] = replace(self.known[job_id], cancelled=True)

    def retry(self, job_id: int) -> None:
        self.known[job_id] = replace(self.known[job_id], state="waiting")

    def dismiss(self, job_id: int) -> None:
        self.known.pop(job_id)

    def recent(self) -> list[JobStatus]:
        return list(reversed(self.known.values()))

    def find(self, job_id: int) -> JobStatus | None:
        return self.known.get(job_id)

    def files(self, job_id: int) -> list[JobFile]:
        return self.outcomes.get(job_id, [])


def logged_query(query_id: str, question: str) -> dict[str, Any]:
    """A logged question as the store gives it: two candidates, one of them used."""
    evidence = {"strength": 0.6, "band": "medium", "sufficient": True, "reason": "", "similarity": None,
                "coverage": 0.5, "matches": 2, "missing": [], "signals": {}}  # fmt: skip
    found = {"document_id": "resume.md", "title": "Ann Bell", "similarity": None, "also_in": [], "factors": {}}
    candidates = [
        {**found, "node_id": "n1", "dense": {"rank": 1, "score": 0.5}, "sparse": None, "fused": 1.0, "final": 1.0,
         "fate": "kept"},
        {**found, "node_id": "n2", "dense": None, "sparse": {"rank": 1, "score": 2.0}, "fused": 0.5, "final": 0.5,
         "fate": "cut: top_n"},
    ]  # fmt: skip
    trace = {
        "id": query_id, "intent": {"question": question, "search_text": question}, "notes": [], "tags": ["base"],
        "attempts": [{"name": "base", "kept": True, "why": "first", "ms": 0.0, "search_text": question,
                      "evidence": evidence}],
        "candidates": candidates, "timings_ms": {"dense": 12.5, "total": 20.0}, "filters": {}, "mode": "hybrid",
        "declined": [["model", "no language model is set"]], "readings": [],
    }  # fmt: skip
    return {"id": query_id, "asked_at": "2026-03-01T10:00:00+00:00", "kind": "ask", "question": question,
            "audience": "owner", "route": "base", "latency_ms": 20.0, "band": "medium", "answered": True,
            "answer": {"answered": True, "answer": "She did.", "model": ""}, "trace": trace}  # fmt: skip


@dataclass
class FakeInspection:
    """Questions that were logged; remembers what was searched again."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    moves: list[RankChange] = field(default_factory=list)
    asked: list[tuple[tuple[str, ...], Mode | None]] = field(default_factory=list)
    fault: Exception | None = None

    def latest(self, limit: int = 50) -> list[dict[str, Any]]:
        return self.rows[:limit]

    def query(self, named: str) -> dict[str, Any]:
        found = [row for row in self.rows if row["id"] == named]
        if not found:
            raise RetrievalError(f"There is no query {named!r}.")
        return found[0]

    def passages(self, node_ids: Collection[str]) -> dict[str, CandidatePassage]:
        return {"n1": CandidatePassage("Ann Bell", "Work", "She tuned organs for nine years.")}

    def search_again(
        self, row: Mapping[str, Any], parts: Sequence[str], mode: Mode | None
    ) -> tuple[SearchReport, SearchReport, list[RankChange]]:
        if self.fault:
            raise self.fault
        self.asked.append((tuple(parts), mode))
        intent = QueryIntent(row["question"], row["question"])
        none = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False)
        trace = Trace("t", intent, (), (), 1, "owner", Filters(), "hybrid", "", (), (), {})
        report = SearchReport(row["question"], intent, (), none, {}, trace)
        return report, report, self.moves


@dataclass
class FakeHealth:
    """Findings, figures and servers as they are set; remembers what was asked."""

    found: list[Finding] = field(default_factory=lambda: [Finding("disk", True, "9 GB free")])
    report: dict[str, Any] | None = None
    local: list[FoundServer] = field(default_factory=list)
    trial: tuple[bool, str, str] = (True, "it answered in 0.2 s", "")
    connected: list[ModelChoice] = field(default_factory=list)
    checked: int = 0
    looked: int = 0
    topics_file: str = "/home/ann/topics.jsonl"

    def checks(self, *, fix: bool = False) -> list[Finding]:
        self.checked += 1
        self.found = [replace(each, ok=True) for each in self.found] if fix else self.found
        return self.found

    def statistics(self, days: int) -> dict[str, Any]:
        times = {"count": 4, "p50": 200.0, "p95": 900.0, "p99": 950.0}
        used = dict.fromkeys(("answers", "calls", "prompt_tokens", "completion_tokens", "embedding_tokens"), 1)
        volume = {"day": "2026-03-01", "category": "", "documents": 2, "nodes": 9, "characters": 99, "bytes": 1 << 20}
        return {
            "asked": 4, "answered": 3, "latency_ms": {"ask": times}, "stages_ms": {"dense": times},
            "usage": {"per_answer": {"cost": {"mean": None}}, "by_day": [{"day": "2026-03-01", "cost": 0.0, **used}]},
            "volumes": [volume], "clicks": {"opened": 2, "answers": 1},
            "feedback": {"up": 1, "down": 1, "wrong_source": 0, "text": 1},
        }  # fmt: skip

    def feedback(self, limit: int = 30) -> list[dict[str, Any]]:
        row = {"at": "2026-03-01T10:00:00", "question": "Who?", "value": 1, "document": ""}
        return [{**row, "kind": "text", "words": "<b>wrong year"}, {**row, "kind": "thumb", "words": ""}]

    def evaluation(self) -> dict[str, Any] | None:
        return self.report

    def servers(self) -> list[FoundServer]:
        self.looked += 1
        return self.local

    def try_model(self, choice: ModelChoice) -> tuple[bool, str, str]:
        return self.trial

    def connect(self, choice: ModelChoice) -> None:
        self.connected.append(choice)


@dataclass
class FakeEngine:
    """Answers from a script; remembers how it was called."""

    texts: dict[str, str] = field(default_factory=lambda: {"resume.md": RESUME, "reeds.md": POST})
    documents: list[Shelved] = field(
        default_factory=lambda: [shelved("resume.md", year=2024), shelved("reeds.md", category="blog", year=2019)]
    )
    failures: tuple[ShelfFailure, ...] = ()
    script: dict[str, list[Event | BaseException | Callable[[], None]]] = field(default_factory=dict)
    suggestions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bin: list[Shelved] = field(default_factory=list)
    model_name: str = ""
    audience: Audience = "owner"
    stated: PersonaSettings = field(default_factory=PersonaSettings)
    saved: list[tuple[PersonaSettings, str]] = field(default_factory=list)
    tried: tuple[StoredQuestion, ...] = ()
    asked: list[tuple[str, tuple[Turn, ...], Filters]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    given: list[tuple[str, Feedback, str]] = field(default_factory=list)
    given_fault: Exception | None = None
    feedback_limit: int = 200
    stored: FakeArchive = field(default_factory=FakeArchive)
    desk: FakeJobs = field(default_factory=FakeJobs)
    careers: list[Person] = field(default_factory=list)
    inspection: FakeInspection = field(default_factory=FakeInspection)
    health: FakeHealth = field(default_factory=FakeHealth)

    @property
    def settings(self) -> Settings:
        chat = ChatSettings(feedback=self.feedback_limit)
        hashed = EmbeddingSettings(provider="hashed")
        return Settings(_env_file=None, embedding=hashed, chat=chat, persona=self.stated)

    def persona(self) -> PersonaSettings:
        return self.saved[-1][0] if self.saved else self.stated

    def picture(self) -> str:
        return self.saved[-1][1] if self.saved else ""

    def save_persona(self, changed: PersonaSettings, picture: str) -> None:
        self.saved.append((changed, picture))

    def ask(self, question: str) -> Answer:
        *_, answer = self.script[question]
        assert isinstance(answer, Answer)
        return answer

    def answer(self, question: str, *, history: Sequence[Turn], filters: Filters) -> Iterator[Event]:
        self.asked.append((question, tuple(history), filters))
        for event in self.script[question]:
            if isinstance(event, BaseException):
                raise event
            if callable(event):
                event()
            else:
                yield event

    def suggest(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> tuple[str, ...]:
        return self.suggestions.get(answer.question, ())

    def feedback(self, query_id: str, given: Feedback, session: str) -> None:
        if self.given_fault:
            raise self.given_fault
        self.given.append((query_id, given, session))

    def feedback_given(self, session: str) -> list[tuple[str, Feedback]]:
        return [(query, given) for query, given, reader in self.given if reader == session]

    def archived_pack(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> bytes:
        return f"{answer.question}\n{len(history)}\n{filters.year}".encode()

    def questions(self) -> Sequence[StoredQuestion]:
        return self.tried

    def people(self, today: date) -> list[Person]:
        return self.careers

    def passage(
        self, document_id: str, start: int, end: int, around: int, audience: Audience = "owner"
    ) -> tuple[str, str, str] | None:
        text = self.texts.get(document_id)
        return (
            None if text is None else (text[max(0, start - around) : start], text[start:end], text[end : end + around])
        )

    def original(self, document_id: str) -> Path | None:
        return None

    def lines(self, document_id: str, spans: Sequence[tuple[int, int]]) -> tuple[LineBox, ...]:
        return ()

    def archive(self, holder: Holder) -> FakeArchive:
        return self.stored

    def versions(self, document_id: str) -> tuple[KeptVersion, ...]:
        return (KeptVersion(5, datetime(2026, 3, 1, tzinfo=UTC), "Old", 80),) if self.audience == "owner" else ()

    def document(self, document_id: str) -> DocumentDetails | None:
        text = self.texts.get(document_id)
        if text is None:
            return None
        made = Document(document_id, text, "", "", "file", document_id, "", 1, "", title=document_id, category="resume")
        end = len(text) // 2
        return DocumentDetails(
            made,
            (NodePlace(0, end, "Ann Bell", 2),),
            (StatedFact("job", "tuner", "Bell", "2010", "2019", "She tuned organs"),),
            ("reeds.md",),
            (KeptVersion(5, datetime(2026, 3, 1, tzinfo=UTC), "Old", 80),),
        )

    def shelf(self) -> Shelf:
        return Shelf(tuple(self.documents), self.failures)

    @property
    def jobs(self) -> FakeJobs:
        return self.desk

    def ingestion(self, stop: object = None) -> None:
        """The worker's, which the pages do not use."""

    def try_questions(self) -> None:
        """The worker's, too."""

    def remove(self, chosen: Sequence[Shelved]) -> int:
        self.removed += [document.id for document in chosen]
        self.bin = [document for document in self.documents if document in chosen]
        self.documents = [document for document in self.documents if document not in chosen]
        return len(self.removed)

    def roll_back(self, ingestion: object, undo: object, on_progress: object = None) -> None:
        """The worker's."""

    def undo_removal(self, run_id: int) -> None:
        self.documents += self.bin

    def close(self) -> None:
        """Nothing is open."""
