"""Buttons and boxes of the chat pages: thumbs, the answer pack."""

import uuid
from functools import partial
from typing import Any

import streamlit as st

from app.chat_engine import ChatEngine
from app.conversation import Exchange
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.store.query_log import Feedback

_MOST = 1000  # characters


def ask(engine: ChatEngine, said: Exchange) -> None:
    """Thumbs for an answer; after a thumb down a line for words, after either thanks."""
    query = _query(engine, said)
    if not query:
        return
    widget = f"thumbs_{query}"
    if widget not in st.session_state:  # a page that was left and opened again
        st.session_state[widget] = _remembered().get(query)
    st.feedback("thumbs", key=widget, on_change=_thumb, args=(engine, query, widget))
    thumb = _remembered().get(query)
    if thumb == 0 and (query, "words") not in _remembered():
        words = f"words_{query}"
        st.text_input(
            "What was wrong?", key=words, placeholder="What was wrong? (Enter sends it)", label_visibility="collapsed",
            max_chars=_MOST, on_change=_words, args=(engine, query, words), width=320,
        )  # fmt: skip
    elif thumb is not None:
        st.html('<span class="fn-thanks" role="status">Thank you.</span>')


def report(engine: ChatEngine, said: Exchange, n: int) -> None:
    """A button that says that the open source is wrong, or takes that back."""
    query = _query(engine, said)
    if query:
        reported = (query, n) in _remembered()
        st.button(
            "Reported as wrong" if reported else "Wrong source",
            key="wrong_source",
            icon=":material/undo:" if reported else ":material/flag:",
            type="tertiary",
            on_click=_wrong,
            args=(engine, query, n, not reported),
            help="Take it back" if reported else "It does not bear out what it is cited for",
        )


def note_opening(engine: ChatEngine, said: Exchange, n: int, sentence: int | None) -> None:
    """Keep that a source was opened, from a sentence or from the list; a reader never learns that it failed."""
    query = _query(engine, said)
    if query:
        try:
            engine.feedback(query, Feedback("opened", source=n, place="list" if sentence is None else "sentence"),
                            _visitor())  # fmt: skip
        except FootnoteError as error:
            log_failure("an opened footnote was not kept", error)


def _thumb(engine: ChatEngine, query: str, widget: str) -> None:
    thumb = st.session_state[widget]
    value = 0 if thumb is None else 1 if thumb else -1
    if _keep(engine, query, Feedback("thumb", value)):
        _remembered()[query] = thumb
    else:
        st.session_state[widget] = _remembered().get(query)


def _words(engine: ChatEngine, query: str, widget: str) -> None:
    words = str(st.session_state[widget]).strip()
    if words and _keep(engine, query, Feedback("text", words=words)):
        _remembered()[(query, "words")] = True


def _wrong(engine: ChatEngine, query: str, n: int, is_wrong: bool) -> None:
    if not _keep(engine, query, Feedback("wrong_source", int(is_wrong), n)):
        return
    if is_wrong:
        _remembered()[(query, n)] = True
    else:
        _remembered().pop((query, n), None)


def _keep(engine: ChatEngine, query: str, given: Feedback) -> bool:
    try:
        engine.feedback(query, given, _visitor())
    except FootnoteError as error:
        log_failure("feedback was not kept", error)
        st.toast(error.message)
        return False
    return True


def _query(engine: ChatEngine, said: Exchange) -> str:
    """The id of the logged query; empty where there is nothing to say anything of, or nobody asks for it."""
    answer = said.answer
    told = answer is not None and (answer.sentences or answer.searched)
    return answer.trace_id if answer and told and engine.settings.chat.feedback else ""


def _remembered() -> dict[Any, Any]:
    """What this reader said: a thumb (1 up, 0 down) by query, and True by (query, "words") and (query, source)."""
    held: dict[Any, Any] = st.session_state.setdefault("feedback", {})
    return held


def _visitor() -> str:
    """A name for this session that tells it from others, and says nothing of who reads."""
    return str(st.session_state.setdefault("visitor", uuid.uuid4().hex))


def pack_button(engine: ChatEngine, said: Exchange, key: str) -> None:
    """Offer the pack of a finished answer."""
    if said.answer is None:
        return
    st.download_button(
        "Answer pack",
        partial(engine.pack, said.answer, said.before, said.filters),
        file_name="answer.zip",
        mime="application/zip",
        key=f"download_pack_{key}",
        type="tertiary",
        icon=":material/inventory_2:",
        on_click="ignore",
        help="The answer as Markdown and JSON, with all that it takes to check it: `footnote replay` asks it again "
        "and says what changed.",
    )
