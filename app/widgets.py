"""Buttons and boxes of the chat pages: thumbs, the answer pack, uploads."""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import render, session
from app.answer_markdown import as_markdown
from app.chat_engine import ChatEngine
from app.components.sharing import share_link
from app.conversation import Exchange
from app.page_picture import page_picture
from app.reader import reader_data
from app.typeset import literal
from app.wording import added, read_as
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.store.query_log import Feedback
from pipelines.types import LineBox

_MOST = 1000  # characters


def _thumbs(engine: ChatEngine, exchange: Exchange) -> None:
    """Thumbs for an answer; after a thumb down a line for words, after either thanks."""
    query = _query(engine, exchange)
    if not query:
        return
    widget = f"thumbs_{query}"
    if widget not in st.session_state:  # a page that was left and opened again
        st.session_state[widget] = _remembered(engine).get(query)
    st.feedback("thumbs", key=widget, on_change=_thumb, args=(engine, query, widget))
    thumb = _remembered(engine).get(query)
    if thumb == 0 and (query, "words") not in _remembered(engine):
        words = f"words_{query}"
        st.text_input(
            "What was wrong?", key=words, placeholder="What was wrong? (Enter sends it)", label_visibility="collapsed",
            max_chars=_MOST, on_change=_words, args=(engine, query, words), width=320,
        )  # fmt: skip
    elif thumb is not None:
        st.html('<span class="fn-thanks" role="status">Thank you.</span>')


def alone_chip(exchange: Exchange, key: str) -> None:
    """The words that a follow-up took from the conversation, with a cross that asks it again as it stands."""
    answer = exchange.answer
    if answer is None or not answer.condensed:
        return
    st.button(
        literal(added(answer.added) or f"read as “{answer.condensed}”"),
        key=f"alone_{key}",
        icon=":material/close:",
        icon_position="right",
        type="tertiary",
        on_click=session.ask,
        args=(exchange.question, ()),
        help=f"{literal(read_as(answer.condensed, answer.condensed_by))}. Press to ask it as it stands.",
    )


def everywhere_button(exchange: Exchange, key: str) -> None:
    """After an abstention under filters, a button that asks again without them."""
    answer = exchange.answer
    if answer is not None and not answer.answered and answer.filters:
        st.button(
            "Search everything",
            key=f"everywhere_{key}",
            icon=":material/filter_alt_off:",
            type="secondary",
            on_click=session.ask_everywhere,
            args=(exchange.question, exchange.before),
            help="Takes the filters away, and asks again",
        )


def reader(engine: ChatEngine, exchange: Exchange, place: session.Opened) -> None:
    """The open source: its text, the page where its file is kept, and a button that reports it as wrong."""
    query, n, name = _query(engine, exchange), place.n, session.open_name()
    data = reader_data(exchange, n, place.sentence, engine.passage)
    data |= {"number": None} if place.entry < 0 else {}
    document_id, document = exchange.sources[n].document_id, exchange.sources[n].documentName
    if engine.audience == "owner":
        data |= {"library": document_id, "versions": list(_versions(engine, document_id))}
    original = engine.original(document_id) if data["page"] else None
    wanted = st.session_state.get("drawn_page") == name
    drawn = None
    if original and wanted:
        spans = [] if data["note"] else data["cited"]  # those of a document that changed since mean nothing
        drawn = _page_picture(original, data["page"], engine.lines(document_id, spans)) or False
    reported = (query, n) in _remembered(engine) if query else None
    render.reader(
        data | {"key": name, "isDrawable": original is not None, "picture": drawn, "reported": reported},
        session.close_source,
        page=lambda: st.session_state.update(drawn_page=name),
        wrong=lambda: report(engine, exchange, n),
        restore=lambda: _restore(engine, document_id, document),
    )


def _versions(engine: ChatEngine, document_id: str) -> Iterator[tuple[str, int]]:
    """(what it was, the run that undone brings it back) of each version of a document."""
    for version in engine.versions(document_id):
        when = f"{version.replaced_at:%d %b %Y}"
        yield f"{version.title}, {version.characters:,} characters, replaced on {when}", version.run_id or 0


def _restore(engine: ChatEngine, document_id: str, name: str) -> None:
    if run_id := st.session_state["reader"].get("restore"):
        engine.jobs.restore(document_id, name, int(run_id))
        st.toast(f"{literal(name)} becomes what it was before.")


def report(engine: ChatEngine, exchange: Exchange, n: int) -> None:
    """Say that a source is wrong, or take that back."""
    query = _query(engine, exchange)
    is_wrong = (query, n) not in _remembered(engine)
    if not _keep(engine, query, Feedback("wrong_source", int(is_wrong), n)):
        return
    if is_wrong:
        _remembered(engine)[(query, n)] = True
    else:
        _remembered(engine).pop((query, n), None)


@st.cache_data(max_entries=20, show_spinner=False)
def _page_picture(pdf: Path, page: int, lines: tuple[LineBox, ...]) -> dict[str, Any] | None:
    return page_picture(pdf, page, [line for line in lines if line.page == page])


def note_opening(engine: ChatEngine, exchange: Exchange, n: int, sentence: int | None) -> None:
    """Log that a source was opened, from a sentence or from the list; a failure is only logged."""
    query = _query(engine, exchange)
    if query:
        try:
            engine.feedback(query, Feedback("opened", source=n, place="list" if sentence is None else "sentence"),
                            _reader())  # fmt: skip
        except FootnoteError as error:
            log_failure("an opened footnote was not kept", error)


def _thumb(engine: ChatEngine, query: str, widget: str) -> None:
    thumb = st.session_state[widget]
    value = 0 if thumb is None else 1 if thumb else -1
    if _keep(engine, query, Feedback("thumb", value)):
        _remembered(engine)[query] = thumb
    else:
        st.session_state[widget] = _remembered(engine).get(query)


def _words(engine: ChatEngine, query: str, widget: str) -> None:
    words = str(st.session_state[widget]).strip()
    if words and _keep(engine, query, Feedback("text", words=words)):
        _remembered(engine)[(query, "words")] = True


def _keep(engine: ChatEngine, query: str, given: Feedback) -> bool:
    try:
        engine.feedback(query, given, _reader())
    except FootnoteError as error:
        log_failure("feedback was not kept", error)
        st.toast(error.message)
        return False
    return True


def _query(engine: ChatEngine, exchange: Exchange) -> str:
    """The id of the logged query; empty for an answer without content, or if feedback is off."""
    answer = exchange.answer
    has_content = answer is not None and (answer.sentences or answer.searched)
    return answer.trace_id if answer and has_content and engine.settings.chat.feedback else ""


def _remembered(engine: ChatEngine) -> dict[Any, Any]:
    """The feedback in this conversation: a thumb (1 up, 0 down) by query, True by (query, "words") and (query, source).

    It is read once a conversation, so that a reload shows it again.
    """
    reader = _reader()
    known: tuple[str, dict[Any, Any]] = st.session_state.get("feedback", ("", {}))
    if known[0] != reader:
        known = reader, {}
        try:
            for query, given in engine.feedback_given(reader):
                if given.kind == "thumb":
                    known[1][query] = max(given.value, 0)
                elif given.kind != "opened":
                    known[1][(query, given.source or "words")] = True
        except FootnoteError as error:
            log_failure("feedback could not be read", error)
        st.session_state["feedback"] = known
    return known[1]


def _reader() -> str:
    """A name of who reads this conversation, from which its id cannot be told."""
    read = session.conversation_id() or st.session_state.setdefault("visitor", uuid.uuid4().hex)
    return hashlib.sha256(f"reader:{read}".encode()).hexdigest()[:32]


def actions(engine: ChatEngine, exchange: Exchange, key: str, *, is_last: bool) -> None:
    """What can be done with an answer that has begun: a link, files, thumbs; those of an earlier one in one menu."""
    if not (exchange.pieces or exchange.answer):
        return
    menu = st.popover("Share or save" if is_last else "", icon=":material/more_horiz:", type="tertiary",
                      key=f"more_{key}", on_change="rerun", help="A link to this answer, or a file")  # fmt: skip
    if menu.open:
        with menu:
            share_link(engine, exchange, key)
            _downloads(engine, exchange, key)
            if not is_last:
                _thumbs(engine, exchange)
    if is_last:
        _thumbs(engine, exchange)


def _downloads(engine: ChatEngine, exchange: Exchange, key: str) -> None:
    """An answer as Markdown, a finished one also as a pack."""
    st.download_button("As Markdown", partial(as_markdown, exchange), file_name="answer.md", mime="text/markdown",
                       key=f"download_{key}", type="tertiary", icon=":material/description:", on_click="ignore",
                       help="This answer with its sources")  # fmt: skip
    if exchange.answer:
        st.download_button(
            "As a pack", partial(engine.archived_pack, exchange.answer, exchange.before, exchange.filters),
            file_name="answer.zip", mime="application/zip", key=f"download_pack_{key}", type="tertiary",
            icon=":material/inventory_2:", on_click="ignore",
            help="The answer as Markdown and JSON, with all that it takes to check it: `footnote replay` asks it "
            "again and says what changed.",
        )  # fmt: skip


def upload_box(engine: ChatEngine, label: str) -> None:
    """A box for files, which the worker takes in; the tray shows how far it is."""
    files = st.file_uploader(
        label,
        accept_multiple_files=True,
        key=session.fresh("upload"),
        max_upload_size=engine.settings.chat.max_upload_mb,
        help="PDF, Word, Markdown, HTML and plain text",
    )
    if files:
        submit_files(engine, files)
        session.empty("upload")
        st.rerun()


def submit_files(engine: ChatEngine, files: Sequence[UploadedFile]) -> int:
    """Keep uploaded files and let the worker take them in: the job; 0 if they could not be kept, which is shown."""
    try:
        job = engine.jobs.upload([(file.name, file.getvalue()) for file in files])
    except FootnoteError as error:
        session.remember_problem((error.message, error.hint))
        return 0
    session.remember_problem(None)
    return job
