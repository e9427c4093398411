"""Questions, sources, facts and feedback of one audience, for every door: chat, command line, MCP server, HTTP API."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine as SqlEngine

from app.careers import read_careers
from app.serialise import serialise
from app.shelf import Shelf, read_shelf
from app.wording import address, without_settings
from config.settings import PersonaSettings
from pipelines.answers import Answer, Footnote, Preview, Source
from pipelines.errors import NotFound
from pipelines.query.answer import answer_json
from pipelines.query.careers.people import Person, group_people
from pipelines.query.engine import Event, QueryEngine
from pipelines.query.pack import Pack, pack_answer
from pipelines.query.search import Request
from pipelines.store.database import reading
from pipelines.store.document_details import DocumentDetails, document_details
from pipelines.store.documents import document_links, find_documents, lines_of, load_document, passage
from pipelines.store.facts import read_facts
from pipelines.store.originals import original_path
from pipelines.store.query_log import Feedback, feedback_given, jsonable, save_feedback
from pipelines.store.questions import StoredQuestion
from pipelines.store.versions import hashes_of
from pipelines.types import Audience, Filters, LineBox, Mode, Turn

if TYPE_CHECKING:
    from app.jobs import Jobs

NO_FILTERS = Filters()
MOST_AROUND = 20_000  # characters on each side of a span


class Door:
    """Questions, sources, facts and feedback of one audience; safe to share between threads."""

    def __init__(self, engine: QueryEngine, audience: Audience = "owner") -> None:
        self._engine = engine
        self._others: dict[Audience, Door] = {audience: self}
        self.settings = engine.settings
        self.audience = audience

    def seen_by(self, audience: Audience) -> "Door":
        """The door of an audience to the same engine."""
        return self._others.setdefault(audience, Door(self._engine, audience))

    @property
    def model_name(self) -> str:
        """The language model that writes; empty when answers are extractive."""
        return self._engine.model_name

    @property
    def database(self) -> SqlEngine:
        """The pool of database connections."""
        return self._engine.database.engine

    def close(self) -> None:
        """Close the database connections."""
        self._engine.close()

    # Questions

    def answer(self, question: str, *, history: Sequence[Turn], filters: Filters) -> Iterator[Event]:
        """The answer as it is made, the Answer last; raises what `QueryEngine.answer` raises."""
        return self._engine.answer(question, history=history, filters=filters, audience=self.audience)

    def suggest(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> tuple[str, ...]:
        """Questions that may be asked next, each new and with an answer; none where the documents cannot be read."""
        return self._engine.suggest(answer, history=history, filters=filters, audience=self.audience)

    def whole_answer(
        self, question: str, *, history: Sequence[Turn] = (), filters: Filters = NO_FILTERS, follow_ups: bool = True
    ) -> Answer:
        """The finished Answer, with what may be asked next unless `follow_ups` is False."""
        return self._engine.unstreamed.ask(
            question, history=history, filters=filters, audience=self.audience, follow_ups=follow_ups
        )

    def turns(self, questions: Sequence[str], filters: Filters) -> tuple[Turn, ...]:
        """These questions with their answers, each asked after those before it; not logged."""
        turns: tuple[Turn, ...] = ()
        for question in questions:
            answer = self._engine.ask(question, history=turns, filters=filters, audience=self.audience, record=False)
            turns = (*turns, Turn(question, answer.answer))
        return turns

    def with_follow_ups(self, answer: Answer, history: Sequence[Turn], filters: Filters) -> Answer:
        """The Answer with the questions that may be asked next."""
        return replace(answer, follow_ups=self.suggest(answer, history, filters))

    def answer_data(self, answer: Answer) -> dict[str, Any]:
        """The Answer as the plain data of `footnote ask --json`, for a visitor without paths and settings."""
        return answer_json(answer if self.audience == "owner" else _for_visitors(answer))

    def event_data(self, event: Event) -> dict[str, Any]:
        """An event of an answer as plain data, for a visitor without paths and settings."""
        match event:
            case Answer():
                return self.answer_data(event)
            case Preview(answer):
                return self.answer_data(answer)
            case Footnote(n, source) if self.audience == "visitor":
                event = Footnote(n, *_with_web_addresses([source]))
        data: dict[str, Any] = jsonable(event)
        return data

    def search(
        self, question: str, *, filters: Filters = NO_FILTERS, mode: Mode | None = None, top_n: int | None = None
    ) -> dict[str, Any]:
        """The best passages as the plain data of `footnote search --json`; raises what `QueryEngine.search` raises."""
        report = self._engine.search(question, filters=filters, audience=self.audience, mode=mode, top_n=top_n)
        if self.audience == "visitor":
            shown = tuple(replace(result, uri=address(result.uri)) for result in report.results)
            report = replace(report, results=shown)
        found: dict[str, Any] = serialise(report)
        if self.audience == "visitor":
            found["notes"] = list(filter(None, map(without_settings, found["notes"])))
        return found

    def questions(self) -> Sequence[StoredQuestion]:
        """The questions that were tried and have an answer; none where they cannot be read."""
        return self._engine.stored_questions(self.audience)

    def persona(self) -> PersonaSettings:
        """The person whose documents these are: as set, as stored, or by the only person whom the documents name."""
        return self._engine.persona(self.audience)

    def pack(self, answer: Answer, history: Sequence[Turn], filters: Filters, *, streamed: bool = True) -> Pack:
        """All that it takes to check an answer that was given; raises what `pack_answer` raises."""
        mode, passages = self.settings.retrieval.mode, self._engine.passages
        request = Request(answer.question, filters, self.audience, mode, passages, tuple(history))
        engine = self._engine if streamed else self._engine.unstreamed
        return pack_answer(engine.speaking(self.audience), request, answer)

    # Documents

    def shelf(self) -> Shelf:
        """The stored documents and the failures; for a visitor only what is public."""
        return read_shelf(self._engine.database, self.audience)

    def listed(
        self, *, category: str = "", collection: str = "", first: int = 0, limit: int | None = None
    ) -> dict[str, Any]:
        """The stored `documents` by name, as plain data, from the `first` on, and the `total` of those that fit."""
        rows = [
            row
            for row in serialise(self.shelf().documents)
            if category in ("", row["category"]) and collection in ("", row["collection"])
        ]
        if self.audience == "visitor":
            rows = [{**row, "uri": address(row["uri"])} for row in rows]
        first = max(first, 0)
        return {"documents": rows[first : None if limit is None else first + max(limit, 0)], "total": len(rows)}

    def find(self, named: str) -> str:
        """The id of the first document with this id, URI, name or title.

        Raises:
            NotFound: If there is none that may be seen; names the nearest.
        """
        with reading(self.database, "finding a document") as connection:
            ids = find_documents(connection, named)
            seen = document_links(connection, ids, self.audience)
        if seen:
            return next(each for each in ids if each in seen)
        near = get_close_matches(named, [document.name for document in self.shelf().documents], 1)
        hint = f"Did you mean {near[0]}?" if near else "The list of documents has every name and id."
        raise NotFound(f"There is no document {named[:200]!r}.", hint=hint)

    def document(self, document_id: str) -> DocumentDetails | None:
        """A document with all that is derived from it; None if it is gone."""
        with reading(self.database, "reading a document"):
            return document_details(self._engine.store, document_id, self.audience)

    def passage(
        self, document_id: str, start: int, end: int, around: int, audience: Audience | None = None
    ) -> tuple[str, str, str] | None:
        """The stored text before, inside and after a span; None when the document is gone or may not be seen."""
        with reading(self.database, "reading a passage") as connection:
            return passage(connection, document_id, (start, end), around=around, audience=audience or self.audience)

    def read_source(self, named: str, start: int = 0, end: int | None = None, around: int = 500) -> dict[str, Any]:
        """A span of a document with its surroundings, as plain data: `before`, `text`, `after`, and where it stands.

        Args:
            named: The document's id, URI, name or title.
            start: The offset of the span's first character.
            end: The offset behind its last one; None = the end of the document.
            around: Characters shown on each side, at most `MOST_AROUND`.

        Raises:
            NotFound: If there is no such document, or the span does not lie in it.
        """
        document_id = self.find(named)
        with reading(self.database, "reading a passage") as connection:
            document = load_document(connection, document_id, self.audience)
        text = document.text if document else ""
        stop, around = len(text) if end is None else end, min(max(around, 0), MOST_AROUND)
        if document is None or not 0 <= start < stop <= len(text):
            raise NotFound(
                f"{named[:200]!r} has no characters {start} to {stop}: it ends at {len(text)}.",
                hint="Take `start` and `end` of a source or a search result.",
            )
        return {
            "document_id": document.id,
            "document": document.name,
            "title": document.title,
            "uri": document.source_uri if self.audience == "owner" else address(document.source_uri),
            "category": document.category,
            "content_sha": document.content_sha,
            "page": bisect_right(document.pages, start) or None,
            "line_start": document.first_line + text.count("\n", 0, start),
            "line_end": document.first_line + text.count("\n", 0, stop),
            "start": start,
            "end": stop,
            "before": text[max(0, start - around) : start],
            "text": text[start:stop],
            "after": text[stop : stop + around],
        }

    def original(self, document_id: str) -> Path | None:
        """The kept file of a document that may be seen; None where its bytes are not kept."""
        with reading(self.database, "finding an original") as connection:
            found = hashes_of(connection, [document_id], self.audience).get(document_id)
        path = original_path(self.settings.home.resolve(), found.file_sha) if found else None
        return path if path and path.is_file() else None

    def lines(self, document_id: str, spans: Sequence[tuple[int, int]]) -> tuple[LineBox, ...]:
        """Where the lines of these spans stand on the pages of a document that may be seen."""
        with reading(self.database, "finding the lines of a passage") as connection:
            return lines_of(connection, document_id, spans, self.audience)

    # What a worker is asked to do, for the owner

    @property
    def jobs(self) -> "Jobs":
        """Jobs for the worker."""
        from app.jobs import Jobs  # what ingests is loaded only where it is asked for

        return Jobs(self.database, self._uploads, self.settings.web.private_hosts)

    @property
    def _uploads(self) -> Path:
        return self.settings.home.resolve() / "uploads"

    # Facts and feedback

    def people(self, today: date) -> list[Person]:
        """The people whose careers the documents state, by name; undated jobs that go on end today."""
        return group_people(read_facts(self._engine.store, NO_FILTERS, self.audience), today)

    def careers(self, filters: Filters = NO_FILTERS) -> dict[str, Any]:
        """Careers and projects as the plain data of `footnote facts --json`."""
        return read_careers(self._engine.store, filters, self.audience)

    def feedback(self, query_id: str, given: Feedback, session: str) -> None:
        """Save a reader's feedback on an answer; raises what `save_feedback` raises."""
        limit = self.settings.chat.feedback
        save_feedback(self.database, query_id, given, session=session, audience=self.audience, limit=limit)

    def feedback_given(self, session: str) -> list[tuple[str, Feedback]]:
        """(the query, what was given on it) of a reader's session."""
        return feedback_given(self.database, session)


def _for_visitors(answer: Answer) -> Answer:
    """The answer without the paths of files, the names of settings, and its cost."""
    return replace(
        answer,
        sources=_with_web_addresses(answer.sources),
        nearest=_with_web_addresses(answer.nearest),
        notes=tuple(filter(None, map(without_settings, answer.notes))),
        searched=tuple(map(without_settings, answer.searched)),
        fallback_reason=without_settings(answer.fallback_reason),
        usage={},
        cost=None,
    )


def _with_web_addresses(sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(replace(source, uri=address(source.uri)) for source in sources)
