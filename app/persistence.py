"""The open conversation as it is stored: opened by its address, written question by question, gone on with."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app import session
from app.conversation import Exchange
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.store.conversations import Archive
from pipelines.types import Filters

_answering: set[int] = set()


@contextmanager
def answering(message_id: int) -> Iterator[None]:
    """Mark a question as one that this server is answering, so that no other tab asks it again meanwhile."""
    _answering.add(message_id)
    try:
        yield
    finally:
        _answering.discard(message_id)


def is_being_answered(message_id: int) -> bool:
    """True while a tab of this server answers this question."""
    return message_id in _answering


def open_conversation(stored: Archive) -> None:
    """Read the conversation that the address names, if another one is open; name the open one in the address.

    Raises:
        ServiceUnavailable: If the database cannot be reached.
    """
    wanted, now = st.query_params.get("c", ""), session.conversation_id()
    if wanted == now:
        return
    if not wanted:
        st.query_params["c"] = now
    elif found := stored.read(wanted):
        read = [Exchange.of(message) for message in found.messages]
        st.session_state.update(entries=read, opened=None, conversation=found.id, draft=found.draft)
    else:
        session.clear()
        st.toast("That conversation is not here. It was deleted, or it is somebody else's.")


def reopen(stored: Archive) -> None:
    """Read the open conversation again, which another tab may have gone on with."""
    wanted = session.conversation_id()
    st.session_state["conversation"] = ""
    session.choose_conversation(wanted)
    open_conversation(stored)


def store_question(stored: Archive, exchange: Exchange) -> None:
    """Store a question before it is answered; the first one begins its conversation. A failure is only logged."""
    try:
        if not session.conversation_id():
            st.session_state["conversation"] = stored.begin(exchange.question)
            st.query_params["c"] = session.conversation_id()
        exchange.id = stored.add(session.conversation_id(), exchange.message())
        st.session_state["draft"] = ""
    except FootnoteError as error:
        log_failure("a question was not stored", error)


def store_outcome(stored: Archive, exchange: Exchange) -> None:
    """Store the outcome of a question. A failure is only logged."""
    if exchange.id:
        try:
            stored.store(exchange.message())
        except FootnoteError as error:
            log_failure("an answer was not stored", error)


def interrupted() -> Exchange | None:
    """The last question, if it still has to be answered."""
    last = session.entries()[-1] if session.entries() else None
    return last if last and last.is_unanswered else None


def left_to_answer(stored: Archive) -> Exchange | None:
    """The last question, if nobody answers it and no other tab has answered it."""
    left = interrupted()
    if left is None or is_being_answered(left.id):
        return None
    if left.id:
        reopen(stored)
    return interrupted()


def is_answered_elsewhere() -> bool:
    """True while another tab answers the last question."""
    left = interrupted()
    return left is not None and is_being_answered(left.id)


def stop(stored: Archive) -> None:
    """Leave the last question as far as it was answered."""
    if left := interrupted():
        left.is_stopped = True
        store_outcome(stored, left)


def ask_again(stored: Archive) -> None:
    """Let the last question be answered again, in place of its answer."""
    if session.entries():
        session.close_source()
        session.edit(None)
        session.entries()[-1].begin()
        store_outcome(stored, session.entries()[-1])


def ask_instead(stored: Archive, question: str, filters: Filters) -> None:
    """Ask this in place of the last question, whose share link leads nowhere then."""
    last = session.entries()[-1]
    last.question, last.filters = question, filters
    st.session_state.update(draft="", shares=("", {}))
    try:
        stored.revoke(last.id)
        stored.keep_draft(session.conversation_id(), "")
    except FootnoteError as error:
        log_failure("the share link of a question was not revoked", error)
    ask_again(stored)
