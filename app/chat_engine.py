"""The one object that the chat pages talk to."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

from app.answer_markdown import pack_archive
from app.face import data_url
from app.health import HealthDesk
from app.inspection import Inspection
from app.jobs import Jobs, bring_back, set_aside
from app.shelf import Shelf, Shelved, read_shelf
from config.settings import PersonaSettings, Settings
from pipelines.answers import Answer
from pipelines.ingestion.context_header import HeaderWriter, build_header_writer
from pipelines.ingestion.rollback import RollbackPlan, plan_rollback, roll_back
from pipelines.ingestion.run import Ingestion, Progress
from pipelines.ingestion.workers import Executor, build_executor
from pipelines.observe import configure_logging, log_failure
from pipelines.query.careers.people import Person, group_people
from pipelines.query.engine import Event, QueryEngine, build_query_engine
from pipelines.query.pack import pack_answer
from pipelines.query.search import Request
from pipelines.store.conversations import Archive, Holder
from pipelines.store.database import reading
from pipelines.store.document_details import DocumentDetails, KeptVersion, document_details, kept_versions
from pipelines.store.documents import lines_of, passage
from pipelines.store.facts import read_facts, stated_people
from pipelines.store.known_names import only_person
from pipelines.store.originals import original_path
from pipelines.store.persona import read_persona, save_persona
from pipelines.store.query_log import Feedback, feedback_given, save_feedback
from pipelines.store.questions import StoredQuestion
from pipelines.store.versions import hashes_of
from pipelines.types import Audience, Filters, LineBox, Turn


class ChatEngine:
    """One object for every page; safe to share between sessions."""

    def __init__(self, engine: QueryEngine, writer: HeaderWriter | None, executor: Executor) -> None:
        self._engine = self._speaking = engine
        self._writer = writer
        self._executor = executor
        self.settings = engine.settings
        self.audience: Audience = "visitor" if engine.settings.chat.visitor else "owner"

    @property
    def model_name(self) -> str:
        """The language model that writes; empty when answers are extractive."""
        return self._engine.model_name

    def answer(self, question: str, *, history: Sequence[Turn], filters: Filters) -> Iterator[Event]:
        """The answer as it is made, the Answer last; raises what `QueryEngine.answer` raises."""
        return self._as(self.persona()).answer(question, history=history, filters=filters, audience=self.audience)

    def suggest(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> tuple[str, ...]:
        """Questions that may be asked next, each new and with an answer; none where the documents cannot be read."""
        return self._engine.suggest(answer, history=history, filters=filters, audience=self.audience)

    def ask(self, question: str) -> Answer:
        """The answer to a question that nobody asked; it is not logged."""
        return self._engine.ask(question, filters=Filters(), audience=self.audience, record=False)

    def persona(self) -> PersonaSettings:
        """Whose documents these are: as set, as stored, or by the only person whom the documents name."""
        persona, _ = read_persona(self._engine.database.engine, self.settings.persona)
        if persona.name:
            return persona
        name = only_person([name for name, _ in stated_people(self._engine.store, self.audience)])
        return persona.model_copy(update={"name": name.partition(",")[0]})

    def picture(self) -> str:
        """The picture of the persona as a data URL; empty without one."""
        if path := self.settings.persona.picture:
            return _picture_of(path)
        return read_persona(self._engine.database.engine, self.settings.persona)[1]

    def save_persona(self, changed: PersonaSettings, picture: str) -> None:
        """Store the persona of the page."""
        save_persona(self._engine.database.engine, changed, picture)

    def _as(self, persona: PersonaSettings) -> QueryEngine:
        """The engine that answers in the voice of a persona."""
        if self._speaking.settings.persona != persona:
            self._speaking = replace(self._engine, settings=self.settings.model_copy(update={"persona": persona}))
        return self._speaking

    def questions(self) -> Sequence[StoredQuestion]:
        """The questions that were tried and have an answer; none where they cannot be read."""
        return self._engine.stored_questions(self.audience)

    def passage(
        self, document_id: str, start: int, end: int, around: int, audience: Audience | None = None
    ) -> tuple[str, str, str] | None:
        """The stored text before, inside and after a span; None when the document is gone or may not be seen."""
        with reading(self._engine.database.engine, "reading a passage") as connection:
            return passage(connection, document_id, (start, end), around=around, audience=audience or self.audience)

    def original(self, document_id: str) -> Path | None:
        """The kept file of a document that may be seen; None where its bytes are not kept."""
        with reading(self._engine.database.engine, "finding an original") as connection:
            found = hashes_of(connection, [document_id], self.audience).get(document_id)
        path = original_path(self.settings.home.resolve(), found.file_sha) if found else None
        return path if path and path.is_file() else None

    def lines(self, document_id: str, spans: Sequence[tuple[int, int]]) -> tuple[LineBox, ...]:
        """Where the lines of these spans stand on the pages of a document that may be seen."""
        with reading(self._engine.database.engine, "finding the lines of a passage") as connection:
            return lines_of(connection, document_id, spans, self.audience)

    def pack(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> bytes:
        """The archive of an answer that was given; raises what `pack_answer` raises."""
        options = self.settings.retrieval
        request = Request(answer.question, filters, self.audience, options.mode, self._engine.passages, tuple(history))
        return pack_archive(pack_answer(self._as(self.persona()), request, answer))

    def people(self, today: date) -> list[Person]:
        """The people whose careers the documents state, by name; undated jobs that go on end today."""
        return group_people(read_facts(self._engine.store, Filters(), self.audience), today)

    def feedback(self, query_id: str, given: Feedback, session: str) -> None:
        """Save a reader's feedback on an answer; raises what `save_feedback` raises."""
        limit = self.settings.chat.feedback
        save_feedback(
            self._engine.database.engine, query_id, given, session=session, audience=self.audience, limit=limit
        )

    def feedback_given(self, session: str) -> list[tuple[str, Feedback]]:
        """(the query, what was given on it) of a reader's session."""
        return feedback_given(self._engine.database.engine, session)

    def archive(self, holder: Holder) -> Archive:
        """The stored conversations of a holder."""
        return Archive(self._engine.database.engine, holder)

    def versions(self, document_id: str) -> tuple[KeptVersion, ...]:
        """The versions of a document that runs replaced, newest first; none for a visitor."""
        with reading(self._engine.database.engine, "reading versions") as connection:
            return kept_versions(connection, document_id) if self.audience == "owner" else ()

    def document(self, document_id: str) -> DocumentDetails | None:
        """A document with all that is derived from it; None if it is gone."""
        with reading(self._engine.database.engine, "reading a document"):
            return document_details(self._engine.store, document_id, self.audience)

    def shelf(self) -> Shelf:
        """The stored documents and the failures; for a visitor only what is public."""
        return read_shelf(self._engine.database, self.audience)

    @property
    def health(self) -> HealthDesk:
        """Checks, figures and settings, for the owner."""
        return HealthDesk(self._engine)

    @property
    def inspection(self) -> Inspection:
        """The logged questions, for the owner."""
        return Inspection(self._engine)

    @property
    def jobs(self) -> Jobs:
        """What the worker is asked to do."""
        return Jobs(self._engine.database.engine, self._uploads, self.settings.web.private_hosts)

    def try_questions(self) -> None:
        """Try questions about new documents."""
        self._engine.try_questions()

    def remove(self, chosen: Sequence[Shelved]) -> int:
        """Remove documents with all that was derived from them; returns the run, which `undo_removal` undoes.

        The files of uploads are set aside, and deleted with a removal after `KEPT_REMOVED`.
        """
        report = self.ingestion().remove([document.id for document in chosen])
        set_aside(self._uploads, {document.uri for document in chosen})
        return report.run_id

    def undo_removal(self, run_id: int) -> None:
        """Bring back what a run removed, with the files of uploads.

        Raises:
            RetrievalError: If there is no such run.
        """
        ingestion = self.ingestion()
        self.roll_back(ingestion, plan_rollback(ingestion.database, run_id))

    def roll_back(self, ingestion: Ingestion, undo: RollbackPlan, on_progress: Progress | None = None) -> None:
        """Undo a run with the files of uploads: those of removed documents come back, those it added are set aside."""
        bring_back(self._uploads, {step.item.uri for step in undo.steps if step.action == "add"})
        roll_back(ingestion, undo, on_progress)
        added = {step.item.uri for step in undo.steps if step.action == "remove"}
        set_aside(self._uploads, added - {document.source_uri for document in ingestion.known()})

    def close(self) -> None:
        """Close the database connections."""
        self._engine.database.engine.dispose()

    def ingestion(self, stop: threading.Event | None = None) -> Ingestion:
        """An ingestion with the active embedding model; `stop` ends its run early."""
        served = self._engine.active.now()
        return Ingestion(
            self.settings,
            self._engine.database,
            served.store,
            served.indexes,
            served.embed_model,
            served.identity,
            self._writer,
            self._executor,
            stop=stop or threading.Event(),
        )

    @property
    def _uploads(self) -> Path:
        return self.settings.home.resolve() / "uploads"


def build_chat_engine(settings: Settings) -> ChatEngine:
    """Build the chat's engine: one database, one embedding model and one sparse index for questions and uploads.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    configure_logging(settings.log.level, settings.log.format)
    engine = build_query_engine(settings)
    writer = build_header_writer(settings, engine.database.engine)
    return ChatEngine(engine, writer, build_executor(settings.ingestion))


@cache
def _picture_of(path: str) -> str:
    try:
        return data_url(Path(path).read_bytes())
    except OSError as error:
        log_failure("the picture of the persona cannot be read", error)
        return ""
