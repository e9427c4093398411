"""What is being answered now, and conversations as lists and files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from threading import Lock

from app.answer_markdown import as_markdown
from app.conversation import Exchange
from app.typeset import literal
from pipelines.store.conversations import Conversation, ConversationRow

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
