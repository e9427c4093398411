"""The query log: questions, answers and their settings, and the readers' feedback on them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Engine, delete, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.answers import Answer
from pipelines.errors import NotFound, RetrievalError, TooLarge
from pipelines.store.database import read_rows, reading, writing
from pipelines.store.documents import DocumentLinks, document_links
from pipelines.store.schema import feedback, queries
from pipelines.types import Audience, Trace

_DIGITS = frozenset("0123456789abcdef")  # of a query's id


def save_query(
    engine: Engine,
    trace: Trace,
    *,
    kind: str,
    answer: Answer | None = None,
    usage: Mapping[str, int] | None = None,
    cost: float | None = None,
) -> None:
    """Write a query's ledger with its answer, if there is one; a crash of the server may lose the last ones.

    `usage` and `cost` are those of all models that were called for it, as in Answer.
    """
    with reading(engine, "logging a query") as connection, connection.begin():
        connection.execute(text("SET LOCAL synchronous_commit = off"))
        connection.execute(
            insert(queries).values(
                id=trace.id,
                kind=kind,
                question=trace.intent.question,
                audience=trace.audience,
                corpus_version=trace.corpus_version,
                settings=trace.settings,
                trace=jsonable(trace),
                answer=None if answer is None else jsonable(answer),
                latency_ms=trace.timings_ms["total"],
                route="auto" if "auto" in trace.tags else "base",
                tags=list(trace.tags),
                timings_ms=dict(trace.timings_ms),
                usage=dict(usage or {}),
                cost=cost,
                band=next((tried.evidence.band for tried in reversed(trace.attempts) if tried.kept), ""),
                answered=None if answer is None else answer.answered,
            )
        )


def latest_queries(engine: Engine, limit: int) -> list[dict[str, Any]]:
    """The last questions, newest first.

    Each has `id`, `asked_at`, `kind` (search or ask), `question`, `audience`, `route` (base or auto), `tags`,
    `latency_ms`, `band` (of the evidence), `answered` (None for a search).
    """
    wanted = ("id", "asked_at", "kind", "question", "audience", "route", "tags", "latency_ms", "band", "answered")
    statement = select(*(queries.c[name] for name in wanted)).order_by(queries.c.asked_at.desc(), queries.c.id)
    rows = read_rows(engine, "reading the query log", statement.limit(limit))
    return [{name: jsonable(getattr(row, name)) for name in wanted} for row in rows]


def read_query(engine: Engine, named: str) -> dict[str, Any]:
    """One logged query with its `trace` and `answer`, by its id or by a unique beginning of one.

    Raises:
        RetrievalError: If there is none, or there are several.
    """
    found: list[str] = []
    with reading(engine, "reading the query log") as connection:
        if named and set(named) <= _DIGITS:
            begins = queries.c.id.startswith(named)
            found = list(connection.execute(select(queries.c.id).where(begins).limit(6)).scalars())
        if len(found) > 1:
            raise RetrievalError(
                f"{named!r} could be {len(found)} queries or more: {', '.join(sorted(found)[:5])}.",
                hint="Give more of the id.",
            )
        if not found:
            raise NotFound(f"There is no query {named[:80]!r}.", hint="`footnote trace` lists the latest.")
        row = connection.execute(select(queries).where(queries.c.id == found[0])).one()
    return {name: jsonable(value) for name, value in row._mapping.items()}


def forget_visitor_queries(engine: Engine) -> int:
    """Delete the logged queries of visitors with the feedback on them; returns their number."""
    with writing(engine, "forgetting visitors") as connection:
        return connection.execute(delete(queries).where(queries.c.audience == "visitor")).rowcount


def jsonable(value: Any) -> Any:
    """A value type as what `json.dumps` takes: dataclasses become objects, tuples lists, dates ISO strings."""
    if is_dataclass(value) and not isinstance(value, type):
        kept = (name for name, each in value.__dataclass_fields__.items() if each.metadata.get("kept", True))
        return {name: jsonable(getattr(value, name)) for name in kept}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def fingerprint(settings: Mapping[str, Any]) -> str:
    """A hash of settings, of twelve hex digits."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:12]


FeedbackKind = Literal["thumb", "wrong_source", "text", "opened"]
MOST_WORDS = 2000  # characters
_PLACES = ("", "sentence", "list")


@dataclass(frozen=True, slots=True)
class Feedback:
    """One piece of feedback; a session has one for each answer, kind and source.

    Attributes:
        kind: `opened` is a footnote or a row of the list of sources that was opened.
        value: A thumb is 1 (up) or -1 (down); 0 withdraws a thumb or a report.
        source: The number of the source that is wrong or was opened; else 0.
        words: For `text`; empty words withdraw it.
        place: For `opened`: where it was opened the first time, `sentence` or `list`.
    """

    kind: FeedbackKind
    value: int = 1
    source: int = 0
    words: str = ""
    place: str = ""


def save_feedback(
    engine: Engine, query_id: str, given: Feedback, *, session: str, audience: Audience, limit: int
) -> None:
    """Store a piece of feedback with the query, the nodes of its sources and its settings; it replaces an earlier one.

    Opening a source again is counted. A visitor can give feedback only on what a visitor asked; `limit` is the most
    pieces of one session.

    Raises:
        RetrievalError: If there is no such answer or source, the words are too long, or the session is at its limit.
    """
    words = "".join(char for char in given.words if char.isprintable() or char == "\n").strip()
    if len(words) > MOST_WORDS:
        raise TooLarge(f"Feedback of {len(words):,} characters is too long.", hint=f"Keep it to {MOST_WORDS:,}.")
    of_source = given.kind in ("wrong_source", "opened")
    is_odd = (given.value < 0 and given.kind != "thumb") or (given.source and not of_source)
    if given.place not in _PLACES or given.value not in (-1, 0, 1) or is_odd:
        raise RetrievalError("This is not valid feedback.", hint="Give a thumb, a wrong source or a comment.")
    with writing(engine, "keeping feedback") as connection:
        answer, settings = _answer(connection, query_id, audience)
        sources = _sources(answer)
        if given.source not in sources and of_source:
            numbers = ", ".join(map(str, sources)) or "none"
            raise NotFound(f"The answer has no source {given.source}.", hint=f"It has {numbers}.")
        source = sources.get(given.source, {})
        key = {"query_id": query_id, "session": session, "kind": given.kind, "source": given.source}
        same = [feedback.c[name] == value for name, value in key.items()]
        if not given.value or (given.kind == "text" and not words):
            connection.execute(delete(feedback).where(*same))
            return
        pieces = select(func.count().label("mine"), func.count().filter(*same).label("replaced"))
        given_before = connection.execute(pieces.where(feedback.c.session == session)).one()
        if given_before.mine - given_before.replaced >= limit:
            raise RetrievalError(
                "This session has reached its limit of feedback; thank you.", hint="Start a new session to give more."
            )
        row = {
            **key,
            "value": given.value,
            "place": given.place,
            "words": words,
            "audience": audience,
            "settings": settings,
            "document_id": source.get("document_id", ""),
            "node_ids": list(source.get("node_ids", ())),
            "shown": [node for each in sources.values() for node in each["node_ids"]],
        }
        given_now = upsert(feedback).values(row)
        new = given_now.excluded
        changed: dict[str, Any] = {"at": func.now(), "value": new.value, "words": new.words}
        if given.kind == "opened":
            changed = {"value": feedback.c.value + 1}
        connection.execute(given_now.on_conflict_do_update(constraint="feedback_once", set_=changed))


def feedback_given(engine: Engine, session: str) -> list[tuple[str, Feedback]]:
    """(the query, what was given on it) of a reader's session, in any order."""
    names = ("query_id", "kind", "value", "source", "words", "place")
    statement = select(*(feedback.c[name] for name in names)).where(feedback.c.session == session)
    rows = read_rows(engine, "reading a reader's feedback", statement)
    return [(query_id, Feedback(*given)) for query_id, *given in rows]


def _answer(connection: Connection, query_id: str, audience: Audience) -> tuple[Mapping[str, Any], str]:
    asked = select(queries.c.answer, queries.c.settings).where(queries.c.id == query_id, queries.c.answer.is_not(None))
    row = connection.execute(
        asked if audience == "owner" else asked.where(queries.c.audience == audience)
    ).one_or_none()
    if row is None:
        raise NotFound(f"There is no answer {query_id[:40]!r}.", hint="`footnote trace` lists the latest queries.")
    return row.answer, row.settings


def _sources(answer: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The sources of an answer by number; the nearest passages of an abstention."""
    return {source["n"]: source for source in answer.get("sources") or answer.get("nearest") or ()}


def latest_feedback(engine: Engine, limit: int, audience: Audience) -> list[dict[str, Any]]:
    """The latest feedback, newest first; a visitor sees that of visitors on what visitors asked.

    Each has `at`, `query_id`, `question`, `answered`, `kind`, `value`, `source` (0 = none), `document` (its name;
    empty if it is gone or may not be seen), `place`, `words`, `session`, `audience`, `settings`, `node_ids`.
    """
    columns = ("at", "query_id", "kind", "value", "source", "document_id", "place", "words", "session", "audience",
               "settings", "node_ids")  # fmt: skip
    statement = (
        select(*(feedback.c[name] for name in columns), queries.c.question, queries.c.answered)
        .join(queries, queries.c.id == feedback.c.query_id)
        .order_by(feedback.c.at.desc(), feedback.c.id.desc())
        .limit(limit)
    )
    if audience != "owner":
        statement = statement.where(queries.c.audience == audience, feedback.c.audience == audience)
    with reading(engine, "reading feedback") as connection:
        rows = [dict(row._mapping) for row in connection.execute(statement)]
        links = document_links(connection, {row["document_id"] for row in rows}, audience)
    documents = [links.get(row.pop("document_id"), DocumentLinks()).name for row in rows]
    return [jsonable({**row, "document": name}) for row, name in zip(rows, documents, strict=True)]


@dataclass(frozen=True, slots=True)
class AnswerFeedback:
    """A logged answer and all feedback on it.

    Attributes:
        question: As asked; `alone` is the question that was searched for, a follow-up made standalone.
        filtered: True if filters narrowed it.
        sources: By number, as the answer shows them.
        quotes: By number, the words that the answer cites; none for a source that no sentence cites.
        given: The feedback, each with `kind`, `value`, `source`, `words`, `session`.
    """

    query_id: str
    question: str
    alone: str
    answered: bool
    filtered: bool
    sources: Mapping[int, Mapping[str, Any]]
    quotes: Mapping[int, tuple[str, ...]]
    given: tuple[Mapping[str, Any], ...]


def answers_with_feedback(engine: Engine, audience: Audience) -> list[AnswerFeedback]:
    """Every answer with feedback, oldest first; for a visitor only those that visitors asked for."""
    statement = (
        select(queries.c.id, queries.c.question, queries.c.trace["intent"].label("intent"), queries.c.answer,
               queries.c.trace["filters"].label("filters"), feedback.c.kind, feedback.c.value, feedback.c.source,
               feedback.c.words, feedback.c.session)
        .join(feedback, feedback.c.query_id == queries.c.id)
        .order_by(queries.c.asked_at, queries.c.id, feedback.c.id)
    )  # fmt: skip
    if audience != "owner":
        statement = statement.where(queries.c.audience == audience)
    found: dict[str, AnswerFeedback] = {}
    for row in read_rows(engine, "reading feedback", statement):
        one = {name: getattr(row, name) for name in ("kind", "value", "source", "words", "session")}
        before = found.get(row.id) or _answer_feedback(row)
        found[row.id] = replace(before, given=(*before.given, one))
    return list(found.values())


def _answer_feedback(row: Any) -> AnswerFeedback:
    answer = row.answer
    quotes: dict[int, dict[str, None]] = {}
    for sentence in answer.get("sentences") or ():
        for cited in sentence.get("evidence") or ():
            quotes.setdefault(cited["n"], {})[cited["quote"]] = None
    follows = bool((row.intent or {}).get("follow_up"))
    return AnswerFeedback(
        query_id=row.id,
        question=row.question,
        alone=row.intent["search_text"] if follows else row.question,
        answered=bool(answer.get("answered")),
        filtered=any((row.filters or {}).values()),
        sources=_sources(answer),
        quotes={n: tuple(words) for n, words in quotes.items()},
        given=(),
    )
