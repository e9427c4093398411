"""Share links: one answer under an address that cannot be guessed, until it is revoked."""

import secrets

from sqlalchemy import Engine, Select, delete, select
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.errors import RetrievalError
from pipelines.store.conversations import Holder, Message, message_of, seen_message
from pipelines.store.database import read_rows, reading, writing
from pipelines.store.schema import conversations, messages, shared_answers


def share_answer(engine: Engine, holder: Holder, message_id: int) -> str:
    """The token of an answer's share link (128 random bits), made now if there is none.

    Raises:
        RetrievalError: If the holder has no such answer.
    """
    shared = shared_answers.c
    mine = _message(holder, message_id).where(messages.c.answer.is_not(None), conversations.c.deleted_at.is_(None))
    with writing(engine, "sharing an answer") as connection:
        if connection.execute(mine).first() is None:
            raise RetrievalError("There is no such answer to share.", hint="Ask the question again.")
        made = upsert(shared_answers).values(token=secrets.token_urlsafe(16), message_id=message_id)
        connection.execute(made.on_conflict_do_nothing(constraint="shared_answers_message"))
        return str(connection.execute(select(shared.token).where(shared.message_id == message_id)).scalar_one())


def revoke_share(engine: Engine, holder: Holder, message_id: int) -> None:
    """Make the share link of an answer lead nowhere, for good; another one can be made."""
    mine = _message(holder, message_id)
    with writing(engine, "revoking a share link") as connection:
        connection.execute(delete(shared_answers).where(shared_answers.c.message_id.in_(mine)))


def _message(holder: Holder, message_id: int) -> Select[tuple[int]]:
    """Selects the id of a message, if it is the holder's."""
    c = conversations.c
    own = select(messages.c.id).join(conversations, c.id == messages.c.conversation_id)
    return own.where(messages.c.id == message_id, c.holder == holder.stored)


def shares_of(engine: Engine, holder: Holder, conversation_id: str) -> dict[int, str]:
    """The tokens of a conversation's shared answers, by message."""
    c, shared = conversations.c, shared_answers.c
    statement = (
        select(shared.message_id, shared.token)
        .join(messages, messages.c.id == shared.message_id)
        .join(conversations, c.id == messages.c.conversation_id)
        .where(c.id == conversation_id, c.holder == holder.stored)
    )
    return {row.message_id: row.token for row in read_rows(engine, "reading share links", statement)}


def read_shared(engine: Engine, token: str) -> Message | None:
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
    with reading(engine, "reading a shared answer") as connection:
        row = connection.execute(statement).first()
        return None if row is None else seen_message(connection, message_of({**row._mapping, "turns": []}), "visitor")
