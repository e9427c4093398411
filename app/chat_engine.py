"""The one object that the chat pages talk to."""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.answer_markdown import pack_archive
from app.door import Door
from app.face import data_url
from app.inspection import Inspection
from app.shelf import Shelved
from app.uploads import bring_back, set_aside
from config.settings import PersonaSettings, Settings
from pipelines.answers import Answer
from pipelines.ingestion.context_header import HeaderWriter, build_header_writer
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import Ingestion, Progress
from pipelines.ingestion.workers import Executor, build_executor
from pipelines.observe import configure_logging, log_failure
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.conversations import Archive, Holder
from pipelines.store.database import reading
from pipelines.store.document_details import KeptVersion, kept_versions
from pipelines.store.persona import read_persona, save_persona
from pipelines.types import Filters, Turn

if TYPE_CHECKING:
    from app.health import HealthDesk


class ChatEngine(Door):
    """The owner's or visitors' door with all that the pages do beside asking; one object for every page."""

    def __init__(self, engine: QueryEngine, writer: HeaderWriter | None, executor: Executor) -> None:
        super().__init__(engine, "visitor" if engine.settings.chat.visitor else "owner")
        self._writer = writer
        self._executor = executor

    def ask(self, question: str) -> Answer:
        """The answer to a question that nobody asked; it is not logged."""
        return self._engine.ask(question, filters=Filters(), audience=self.audience, record=False)

    def picture(self) -> str:
        """The picture of the persona as a data URL; empty without one."""
        if path := self.settings.persona.picture:
            return _picture_of(path)
        return read_persona(self._engine.database.engine, self.settings.persona)[1]

    def save_persona(self, changed: PersonaSettings, picture: str) -> None:
        """Store the persona of the page."""
        save_persona(self._engine.database.engine, changed, picture)

    def archived_pack(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> bytes:
        """The archive of an answer that was given; raises what `pack_answer` raises."""
        return pack_archive(self.pack(answer, history, filters))

    def archive(self, holder: Holder) -> Archive:
        """The stored conversations of a holder."""
        return Archive(self._engine.database.engine, holder)

    def versions(self, document_id: str) -> tuple[KeptVersion, ...]:
        """The versions of a document that runs replaced, newest first; none for a visitor."""
        with reading(self._engine.database.engine, "reading versions") as connection:
            return kept_versions(connection, document_id) if self.audience == "owner" else ()

    @property
    def health(self) -> "HealthDesk":
        """Checks, figures and settings, for the owner."""
        from app.health import HealthDesk  # with the libraries of language models, which need not be there

        return HealthDesk(self._engine)

    @property
    def inspection(self) -> Inspection:
        """The logged questions, for the owner."""
        return Inspection(self._engine)

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

    def roll_back(self, ingestion: Ingestion, undo: Plan, on_progress: Progress | None = None) -> None:
        """Undo a run with the files of uploads: those of removed documents come back, those it added are set aside."""
        bring_back(self._uploads, {step.item.uri for step in undo.steps if step.action == "add"})
        roll_back(ingestion, undo, on_progress)
        added = {step.item.uri for step in undo.steps if step.action == "remove"}
        set_aside(self._uploads, added - {document.source_uri for document in ingestion.known()})

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
