"""Conversations: questions with their answers, drafts and share links, each of the owner or of a visitor's browser."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import ColumnElement, Connection, Engine, Select, delete, exists, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.answers import Answer, Source
from pipelines.errors import RetrievalError
from pipelines.store.database import read_rows, reading, writing
from pipelines.store.query_log import jsonable
from pipelines.store.schema import conversations, messages, shared_answers
from pipelines.store.shared_view import as_seen
from pipelines.text import printable
from pipelines.types import Audience, Filters, Turn

MessageState = Literal["asked", "answered", "stopped", "failed"]
MOST_TITLE, MOST_DRAFT = 120, 4000  # characters
MOST_LISTED = 200
KEPT_DELETED = timedelta(hours=1)  # for which a deletion can be taken back
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
_SOURCES: TypeAdapter[tuple[Source, ...]] = TypeAdapter(tuple[Source, ...])
_FILTERS: TypeAdapter[Filters] = TypeAdapter(Filters)
_TURNS: TypeAdapter[tuple[Turn, ...]] = TypeAdapter(tuple[Turn, ...])
_UNREADABLE = ("This answer was stored by another release and cannot be shown.", "Ask the question again.")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has conversations: the owner, or one browser of a visitor, known by its random key of 128 bits or more."""

    audience: Audience = "owner"
    key: str = ""

    @property
    def stored(self) -> str:
        """The name in the database, from which the key cannot be read.

        Raises:
            RetrievalError: If a visitor has no key of 22 characters or more.
        """
        if self.audience == "owner":
            return "owner"
        if len(self.key) < 22:
            raise RetrievalError("This browser has no key of its own.", hint="Reload the page.")
        return f"visitor:{hashlib.sha256(self.key.encode()).hexdigest()}"


def new_key() -> str:
    """A random key of 128 bits for a visitor's browser."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, slots=True)
class Message:
    """A question of a conversation, and what came in answer to it.

    Attributes:
        id: 0 until it is stored.
        turns: The turns that it was read with.
        reader: The language model that answers; empty without one.
        state: `asked` until the answer is stored; `stopped` by the reader; `failed` with its `problem`.
        pieces: The text as it came, with the numbers of footnotes where they came.
        sources: Of an answer that was not finished: those that it had cited.
        problem: What went wrong, and what to do.
        waits_for: The job that has to end before it is answered; 0 for none.
    """

    question: str
    filters: Filters = field(default_factory=Filters)
    turns: tuple[Turn, ...] = ()
    reader: str = ""
    state: MessageState = "asked"
    answer: Answer | None = None
    pieces: tuple[str | int, ...] = ()
    sources: tuple[Source, ...] = ()
    problem: tuple[str, str] | None = None
    waits_for: int = 0
    id: int = 0
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation as a list shows it."""

    id: str
    title: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its messages, oldest first, and the question that was not sent yet."""

    id: str
    title: str
    draft: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Archive:
    """The conversations of one holder; each call raises ServiceUnavailable if the database cannot be reached."""

    engine: Engine
    holder: Holder

    def list(self, search: str = "") -> list[ConversationRow]:
        """The holder's conversations, the latest first; with `search` those that hold its words in this order.

        Title, questions and answers are searched, whatever the case.
        """
        c, words = conversations.c, _plain(search).strip()
        statement = select(c.id, c.title, c.changed_at).where(_of(self.holder))
        if words:
            said = (messages.c.question, messages.c.answer["answer"].astext)
            inside = exists().where(
                messages.c.conversation_id == c.id, or_(*(part.icontains(words, autoescape=True) for part in said))
            )
            statement = statement.where(or_(c.title.icontains(words, autoescape=True), inside))
        rows = read_rows(
            self.engine, "listing conversations", statement.order_by(c.changed_at.desc(), c.id).limit(MOST_LISTED)
        )
        return [ConversationRow(row.id, row.title, row.changed_at) for row in rows]

    def read(self, conversation_id: str) -> Conversation | None:
        """A conversation of this holder; None if there is none of that id.

        A visitor no longer sees the sources that became private or are gone, nor what was said from them.
        """
        c = conversations.c
        with reading(self.engine, "reading a conversation") as connection:
            row = connection.execute(
                select(c.id, c.title, c.draft).where(c.id == conversation_id, _of(self.holder))
            ).first()
            if row is None:
                return None
            found = select(messages).where(messages.c.conversation_id == row.id).order_by(messages.c.id)
            read = [message_of(each._mapping) for each in connection.execute(found)]
            if self.holder.audience != "owner":
                read = [seen_message(connection, message, self.holder.audience) for message in read]
        return Conversation(row.id, row.title, row.draft, tuple(read))

    def begin(self, title: str) -> str:
        """Store a new, empty conversation, and return its id, which cannot be guessed."""
        conversation_id = secrets.token_hex(16)
        row = {"id": conversation_id, "holder": self.holder.stored, "title": _title(title), "draft": ""}
        with writing(self.engine, "beginning a conversation") as connection:
            connection.execute(insert(conversations).values(row))
        return conversation_id

    def add(self, conversation_id: str, message: Message) -> int:
        """Store a question before it is answered, and return the message's id; the draft is empty then.

        Raises:
            RetrievalError: If the holder has no such conversation.
        """
        with writing(self.engine, "storing a question") as connection:
            if not self._change(connection, conversation_id, draft="", changed_at=func.clock_timestamp()):
                raise RetrievalError("This conversation is gone.", hint="Begin a new one.")
            row = {"conversation_id": conversation_id, "waits_for": message.waits_for or None, **_values(message)}
            return int(connection.execute(insert(messages).values(row).returning(messages.c.id)).scalar_one())

    def store(self, message: Message) -> bool:
        """Store the outcome of a question; False if the holder's conversation has it no more."""
        mine = select(conversations.c.id).where(_of(self.holder))
        statement = update(messages).where(messages.c.id == message.id, messages.c.conversation_id.in_(mine))
        with writing(self.engine, "storing an answer") as connection:
            return connection.execute(statement.values(_values(message))).rowcount == 1

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; an empty one changes nothing."""
        if named := _title(title):
            with writing(self.engine, "renaming a conversation") as connection:
                self._change(connection, conversation_id, title=named)

    def keep_draft(self, conversation_id: str, draft: str) -> None:
        """Keep the question that was not sent yet."""
        with writing(self.engine, "keeping a draft") as connection:
            self._change(connection, conversation_id, draft=_plain(draft)[:MOST_DRAFT])

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation; `restore` takes that back for an hour. Older deletions become final."""
        c = conversations.c
        with writing(self.engine, "deleting a conversation") as connection:
            connection.execute(delete(conversations).where(c.deleted_at < datetime.now(UTC) - KEPT_DELETED))
            self._change(connection, conversation_id, deleted_at=func.now())

    def restore(self, conversation_id: str) -> None:
        """Take back the deletion of a conversation."""
        c = conversations.c
        with writing(self.engine, "restoring a conversation") as connection:
            mine = update(conversations).where(c.id == conversation_id, c.holder == self.holder.stored)
            connection.execute(mine.values(deleted_at=None))

    def share(self, message_id: int) -> str:
        """The token of an answer's share link (128 random bits), made now if there is none.

        Raises:
            RetrievalError: If the holder has no such answer.
        """
        shared = shared_answers.c
        mine = _message(self.holder, message_id).where(
            messages.c.answer.is_not(None), conversations.c.deleted_at.is_(None)
        )
        with writing(self.engine, "sharing an answer") as connection:
            if connection.execute(mine).first() is None:
                raise RetrievalError("There is no such answer to share.", hint="Ask the question again.")
            made = upsert(shared_answers).values(token=secrets.token_urlsafe(16), message_id=message_id)
            connection.execute(made.on_conflict_do_nothing(constraint="shared_answers_message"))
            return str(connection.execute(select(shared.token).where(shared.message_id == message_id)).scalar_one())

    def revoke(self, message_id: int) -> None:
        """Make the share link of an answer lead nowhere, for good; another one can be made."""
        mine = _message(self.holder, message_id)
        with writing(self.engine, "revoking a share link") as connection:
            connection.execute(delete(shared_answers).where(shared_answers.c.message_id.in_(mine)))

    def shares(self, conversation_id: str) -> dict[int, str]:
        """The tokens of a conversation's shared answers, by message."""
        c, shared = conversations.c, shared_answers.c
        statement = (
            select(shared.message_id, shared.token)
            .join(messages, messages.c.id == shared.message_id)
            .join(conversations, c.id == messages.c.conversation_id)
            .where(c.id == conversation_id, c.holder == self.holder.stored)
        )
        return {row.message_id: row.token for row in read_rows(self.engine, "reading share links", statement)}

    def shared(self, token: str) -> Message | None:
        """The shared answer under this token as a visitor may see it; None if there is none any more.

        The owner sees no more of it here than anybody else. The turns that it was read with are not shared.
        """
        c = conversations.c
        statement = (
            select(messages)
            .join(shared_answers, shared_answers.c.message_id == messages.c.id)
            .join(conversations, c.id == messages.c.conversation_id)
            .where(shared_answers.c.token == token.replace("\0", ""), c.deleted_at.is_(None))
        )
        with reading(self.engine, "reading a shared answer") as connection:
            row = connection.execute(statement).first()
            return (
                None if row is None else seen_message(connection, message_of({**row._mapping, "turns": []}), "visitor")
            )

    def _change(self, connection: Connection, conversation_id: str, **values: Any) -> bool:
        """Change columns of a conversation; False if the holder has none of that id."""
        mine = update(conversations).where(conversations.c.id == conversation_id, _of(self.holder))
        return connection.execute(mine.values(**values)).rowcount == 1


def seen_message(connection: Connection, message: Message, audience: Audience) -> Message:
    """A message without the sources that this audience may not see."""
    answer = None if message.answer is None else as_seen(connection, message.answer, audience)
    return replace(message, answer=answer, pieces=(), sources=())


def message_of(row: Mapping[Any, Any]) -> Message:
    """The message that a row holds; one whose answer cannot be read any more has failed."""
    message = Message(
        question=row["question"],
        filters=_FILTERS.validate_python(row["filters"]),
        turns=_TURNS.validate_python(row["turns"]),
        reader=row["reader"],
        state=row["state"],
        problem=(row["problem"][0], row["problem"][1]) if row["problem"] else None,
        waits_for=row["waits_for"] or 0,
        id=row["id"],
        asked_at=row["asked_at"],
    )
    try:
        arrived = row["arrived"]
        return replace(
            message,
            answer=None if row["answer"] is None else _ANSWER.validate_python(row["answer"]),
            pieces=tuple(arrived.get("pieces", ())),
            sources=_SOURCES.validate_python(arrived.get("sources", ())),
        )
    except ValidationError:
        return replace(message, state="failed", problem=_UNREADABLE)


def forget_visitors(engine: Engine) -> int:
    """Delete every conversation of visitors, with its messages and share links; returns their number."""
    with writing(engine, "forgetting visitors") as connection:
        return connection.execute(delete(conversations).where(conversations.c.holder != "owner")).rowcount


def exported(conversation: Conversation) -> dict[str, Any]:
    """A conversation as plain data, for a file."""
    kept = [
        {
            "asked_at": message.asked_at,
            "question": message.question,
            "filters": {name: getattr(message.filters, name) for name in message.filters.narrowing},
            "state": message.state,
            "answer": message.answer,
            "problem": message.problem,
        }
        for message in conversation.messages
    ]
    head = {"format": "footnote-conversation", "id": conversation.id, "title": conversation.title}
    return dict(jsonable({**head, "messages": kept}))


def _of(holder: Holder) -> ColumnElement[bool]:
    """The condition of the conversations that a holder has; every statement has it."""
    return (conversations.c.holder == holder.stored) & conversations.c.deleted_at.is_(None)


def _values(message: Message) -> dict[str, Any]:
    """The columns of a message that are written with its question and again with its answer."""
    arrived = {"pieces": message.pieces, "sources": message.sources if message.answer is None else ()}
    return {
        "question": _plain(message.question),
        "reader": message.reader,
        "state": message.state,
        "filters": _storable(message.filters),
        "turns": _storable(message.turns),
        "arrived": _storable(arrived),
        "problem": _storable(message.problem or ()),
        "answer": None if message.answer is None else _storable(message.answer),
        "ended_at": None if message.state == "asked" else datetime.now(UTC),
    }


def _title(text: str) -> str:
    words = " ".join(_plain(text).split())
    return words if len(words) <= MOST_TITLE else f"{words[: MOST_TITLE - 1].rstrip()}…"


def _plain(text: str) -> str:
    """The text without what Postgres cannot hold: NUL and lone surrogates."""
    return printable(text.replace("\0", ""))


def _storable(value: Any) -> Any:
    """Plain data for JSONB, each text as `_plain` leaves it."""
    data = jsonable(value)
    if isinstance(data, str):
        return _plain(data)
    if isinstance(data, Mapping):
        return {name: _storable(each) for name, each in data.items()}
    return [_storable(each) for each in data] if isinstance(data, Sequence) else data


def _message(holder: Holder, message_id: int) -> Select[tuple[int]]:
    """Selects the id of a message, if it is the holder's."""
    c = conversations.c
    own = select(messages.c.id).join(conversations, c.id == messages.c.conversation_id)
    return own.where(messages.c.id == message_id, c.holder == holder.stored)
