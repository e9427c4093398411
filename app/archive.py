"""The stored conversations of one holder, as the pages read and write them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from threading import Lock

from sqlalchemy import Engine

from app.answer_markdown import as_markdown
from app.conversation import Exchange
from app.typeset import literal
from pipelines.store import conversations as stored
from pipelines.store import shared_answers
from pipelines.store.conversations import Conversation, ConversationRow, Holder, Message


@dataclass(frozen=True, slots=True)
class Archive:
    """The conversations that one holder has in the database; raises what the store raises."""

    engine: Engine
    holder: Holder

    def list(self, search: str = "") -> list[ConversationRow]:
        """The conversations, the latest first; with `search` those that hold its words."""
        return stored.list_conversations(self.engine, self.holder, search)

    def read(self, conversation_id: str) -> Conversation | None:
        """A conversation; None if this holder has none of that id."""
        return stored.read_conversation(self.engine, self.holder, conversation_id)

    def begin(self, title: str) -> str:
        """The id of a new conversation."""
        return stored.begin_conversation(self.engine, self.holder, title)

    def add(self, conversation_id: str, message: Message) -> int:
        """Store a question before it is answered; returns its number."""
        return stored.add_message(self.engine, self.holder, conversation_id, message)

    def store(self, message: Message) -> None:
        """Store the outcome of a question; nothing if its conversation was deleted."""
        stored.store_message(self.engine, self.holder, message)

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        stored.rename_conversation(self.engine, self.holder, conversation_id, title)

    def keep_draft(self, conversation_id: str, draft: str) -> None:
        """Keep the question that was not sent yet."""
        stored.save_draft(self.engine, self.holder, conversation_id, draft)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation; `restore` takes that back for an hour."""
        stored.delete_conversation(self.engine, self.holder, conversation_id)

    def restore(self, conversation_id: str) -> None:
        """Take back the deletion of a conversation."""
        stored.restore_conversation(self.engine, self.holder, conversation_id)

    def share(self, message_id: int) -> str:
        """The token of an answer's share link, made now if there is none."""
        return shared_answers.share_answer(self.engine, self.holder, message_id)

    def revoke(self, message_id: int) -> None:
        """Make an answer's share link lead nowhere."""
        shared_answers.revoke_share(self.engine, self.holder, message_id)

    def shares(self, conversation_id: str) -> dict[int, str]:
        """The tokens of a conversation's shared answers, by message."""
        return shared_answers.shares_of(self.engine, self.holder, conversation_id)

    def shared(self, token: str) -> Message | None:
        """The answer under a share link, as a visitor sees it; None if there is none any more."""
        return shared_answers.read_shared(self.engine, token)


_answering: set[int] = set()
_lock = Lock()


@contextmanager
def answering(message_id: int) -> Iterator[None]:
    """Mark a question as one that this server is answering, so that no other tab asks it again meanwhile."""
    with _lock:
        _answering.add(message_id)
    try:
        yield
    finally:
        with _lock:
            _answering.discard(message_id)


def is_being_answered(message_id: int) -> bool:
    """True while a tab of this server answers this question."""
    return message_id in _answering


def by_day(rows: Sequence[ConversationRow], now: datetime, zone: tzinfo) -> Iterator[tuple[str, list[ConversationRow]]]:
    """Conversations under the names of their days, in the given order."""
    today = now.astimezone(zone).date()
    names = {today: "Today", today - timedelta(days=1): "Yesterday"}
    for day, of_day in groupby(rows, lambda row: row.changed_at.astimezone(zone).date()):
        this_year = f"{day:%A}, {day.day} {day:%B}"
        yield names.get(day, this_year if day.year == today.year else f"{this_year} {day.year}"), list(of_day)


def conversation_markdown(conversation: Conversation) -> str:
    """A conversation as a Markdown file, each question with its answer and sources."""
    parts = [f"# {literal(conversation.title)}\n"]
    parts += [f"#{as_markdown(Exchange.of(message))}" for message in conversation.messages]
    return "\n".join(parts)
