"""The open source beside the text: the words around a citation, the page of a PDF, its details."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import streamlit as st

from app import render, session
from app.chat_engine import ChatEngine
from app.components.feedback import query_of, remembered, report
from app.conversation import Exchange
from app.page_picture import page_picture
from app.reader import reader_data
from app.typeset import literal
from pipelines.types import LineBox


def show_source(engine: ChatEngine, exchange: Exchange, place: session.Opened) -> None:
    """The open source: its text, the page where its file is kept, and a button that reports it as wrong."""
    query, n = query_of(engine, exchange), place.n
    data = reader_data(exchange, n, place.sentence, engine.passage)
    data |= {"number": None} if place.entry < 0 else {}
    document_id, document = exchange.sources[n].document_id, exchange.sources[n].documentName
    if engine.audience == "owner":
        data |= {"library": document_id, "versions": list(_versions(engine, document_id))}
    original = engine.original(document_id) if data["page"] else None
    wanted = st.session_state.get("drawn_page") == place.name
    drawn = None
    if original and wanted:
        spans = [] if data["note"] else data["cited"]  # those of a document that changed since mean nothing
        drawn = _page_picture(original, data["page"], engine.lines(document_id, spans)) or False
    reported = (query, n) in remembered(engine) if query else None
    render.reader(
        data | {"key": place.name, "isDrawable": original is not None, "picture": drawn, "reported": reported},
        session.close_source,
        page=lambda: st.session_state.update(drawn_page=place.name),
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
        with render.attempting():
            engine.jobs.restore(document_id, name, int(run_id))
            st.toast(f"{literal(name)} becomes what it was before.")


@st.cache_data(max_entries=20, show_spinner=False)
def _page_picture(pdf: Path, page: int, lines: tuple[LineBox, ...]) -> dict[str, Any] | None:
    return page_picture(pdf, page, [line for line in lines if line.page == page])
