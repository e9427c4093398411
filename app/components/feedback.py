"""A reader's word on an answer: thumbs, words, a wrong source, an opened footnote; kept once a conversation."""

import hashlib
import uuid
from typing import Any

import streamlit as st

from app import render, session
from app.chat_engine import ChatEngine
from app.conversation import Exchange
from pipelines.store.query_log import Feedback

_MOST = 1000  # characters


def thumbs(engine: ChatEngine, exchange: Exchange) -> None:
    """Thumbs for an answer; after a thumb down a line for words, after either thanks."""
    query = query_of(engine, exchange)
    if not query:
        return
    widget = f"thumbs_{query}"
    if widget not in st.session_state:  # a page that was left and opened again
        st.session_state[widget] = remembered(engine).get(query)
    st.feedback("thumbs", key=widget, on_change=_thumb, args=(engine, query, widget))
    thumb = remembered(engine).get(query)
    if thumb == 0 and (query, "words") not in remembered(engine):
        words = f"words_{query}"
        st.text_input(
            "What was wrong?", key=words, placeholder="What was wrong? (Enter sends it)", label_visibility="collapsed",
            max_chars=_MOST, on_change=_words, args=(engine, query, words), width=320,
        )  # fmt: skip
    elif thumb is not None:
        st.html('<span class="fn-thanks" role="status">Thank you.</span>')


def report(engine: ChatEngine, exchange: Exchange, n: int) -> None:
    """Say that a source is wrong, or take that back."""
    query = query_of(engine, exchange)
    is_wrong = (query, n) not in remembered(engine)
    if not _keep(engine, query, Feedback("wrong_source", int(is_wrong), n)):
        return
    if is_wrong:
        remembered(engine)[(query, n)] = True
    else:
        remembered(engine).pop((query, n), None)


def note_opening(engine: ChatEngine, exchange: Exchange, place: session.Opened) -> None:
    """Log that a source was opened, from a sentence or from the list; a failure is only logged."""
    if query := query_of(engine, exchange):
        opening = Feedback("opened", source=place.n, place="list" if place.sentence is None else "sentence")
        with session.tolerating("an opened footnote was not kept"):
            engine.feedback(query, opening, _reader())


def _thumb(engine: ChatEngine, query: str, widget: str) -> None:
    thumb = st.session_state[widget]
    value = 0 if thumb is None else 1 if thumb else -1
    if _keep(engine, query, Feedback("thumb", value)):
        remembered(engine)[query] = thumb
    else:
        st.session_state[widget] = remembered(engine).get(query)


def _words(engine: ChatEngine, query: str, widget: str) -> None:
    words = str(st.session_state[widget]).strip()
    if words and _keep(engine, query, Feedback("text", words=words)):
        remembered(engine)[(query, "words")] = True


def _keep(engine: ChatEngine, query: str, given: Feedback) -> bool:
    is_kept = False
    with render.attempting():
        engine.feedback(query, given, _reader())
        is_kept = True
    return is_kept  # noqa: RET504 - it stays False where that failed


def query_of(engine: ChatEngine, exchange: Exchange) -> str:
    """The id of the logged query; empty for an answer without content, or if feedback is off."""
    answer = exchange.answer
    has_content = answer is not None and (answer.sentences or answer.searched)
    return answer.trace_id if answer and has_content and engine.settings.chat.feedback else ""


def remembered(engine: ChatEngine) -> dict[Any, Any]:
    """The feedback in this conversation: a thumb (1 up, 0 down) by query, True by (query, "words") and (query, source).

    It is read once a conversation, so that a reload shows it again.
    """
    reader = _reader()
    return session.read_once("feedback", reader, lambda: _given(engine, reader), {})


def _given(engine: ChatEngine, reader: str) -> dict[Any, Any]:
    known: dict[Any, Any] = {}
    for query, given in engine.feedback_given(reader):
        if given.kind == "thumb":
            known[query] = max(given.value, 0)
        elif given.kind != "opened":
            known[(query, given.source or "words")] = True
    return known


def _reader() -> str:
    """A name of who reads this conversation, from which its id cannot be told."""
    read = session.conversation_id() or st.session_state.setdefault("visitor", uuid.uuid4().hex)
    return hashlib.sha256(f"reader:{read}".encode()).hexdigest()[:32]
