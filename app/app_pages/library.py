"""The library: stored documents with their coverage and failures; upload and removal."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import streamlit as st

from app import render
from app.chat_engine import ChatEngine
from app.components.document import document_page
from app.components.tray import tray, upload_box
from app.shelf import Shelf, Shelved
from app.typeset import literal
from pipelines.wording import format_count, with_hint

_SHOWN = 50  # rows, until more are asked for
_ORDERS: dict[str, Callable[[Shelved], Any]] = {
    "Title": lambda each: ((each.title or each.name).lower(), each.id),
    "Newest": lambda each: (-each.last_success.timestamp() if each.last_success else 0.0, each.id),
    "Category": lambda each: (each.category, (each.title or each.name).lower()),
    "Year": lambda each: (-(each.year or 0), (each.title or each.name).lower()),
    "Largest": lambda each: (-each.nodes, each.id),
}


@render.page
def page(engine: ChatEngine) -> None:
    """Show the library or one document, let the worker take things in, and remove documents."""
    if wanted := st.query_params.get("d"):
        _document(engine, wanted)
    else:
        _library(engine)


def _library(engine: ChatEngine) -> None:
    st.title("Library")
    upload_box(engine, "Add documents")
    _links(engine)
    named = tray(engine)
    if removed := st.session_state.get("removed"):
        render.undo("removal", f"Removed {literal(removed[1])}.", partial(_bring_back, engine, removed[0]))
    shelf = engine.shelf()
    _failures(shelf, named)
    _documents(engine, shelf)


def _document(engine: ChatEngine, document_id: str) -> None:
    found = engine.document(document_id)
    shelved = next((each for each in engine.shelf().documents if each.id == document_id), None)
    if found is None or shelved is None:
        st.query_params.pop("d", None)
        st.toast("That document is no longer there.")
        _library(engine)
        return
    tray(engine)
    document_page(engine, found, partial(_remove, engine, shelved))


def _links(engine: ChatEngine) -> None:
    """A field for a link beside a button that looks at every source again."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Add from a link, github:OWNER or notion:PAGE", key="link", placeholder="https://…",
                      on_change=render.attempt, args=(_take_in_link, engine))  # fmt: skip
        st.button("Refresh all sources", key="refresh", icon=":material/refresh:", on_click=render.attempt,
                  args=(engine.jobs.refresh,))  # fmt: skip


def _take_in_link(engine: ChatEngine) -> None:
    if location := str(st.session_state["link"]).strip():
        engine.jobs.ingest(location)
        st.session_state["link"] = ""


def _bring_back(engine: ChatEngine, run_id: int) -> None:
    engine.undo_removal(run_id)
    st.session_state.pop("removed", None)


def _documents(engine: ChatEngine, shelf: Shelf) -> None:
    """The documents in rows; a row opens its document."""
    documents = shelf.documents
    if not documents:
        st.caption("No documents yet.")
        return
    st.subheader(format_count(len(documents), "document"))
    with st.container(horizontal=True, vertical_alignment="bottom", key="library_order"):
        words = st.text_input("Search", key="library_search", placeholder="Title, file or category").lower().split()
        order = st.selectbox("Order", list(_ORDERS), key="library_order_by", width=160)
    named = [each for each in documents if all(word in _names(each) for word in words)]
    pages = int(st.session_state.get("library_pages", 1))
    picked = [each for each in named if st.session_state.get(f"pick_{each.id}")]
    if picked:
        st.button(f"Remove {format_count(len(picked), 'document')}", key="remove_picked", icon=":material/delete:",
                  on_click=render.attempt, args=(_remove, engine, *picked))  # fmt: skip
    with st.container(key="library_rows", gap="small"):
        for document in sorted(named, key=_ORDERS[order])[: _SHOWN * pages]:
            _row(engine, document)
    if not named:
        st.caption("No document has these words.")
    if len(named) > _SHOWN * pages:
        st.button(f"Show more of {len(named)}", key="library_more", on_click=st.session_state.update,
                  kwargs={"library_pages": pages + 1})  # fmt: skip


def _names(document: Shelved) -> str:
    return f"{document.title} {document.name} {document.category} {document.year or ''}".lower()


def _row(engine: ChatEngine, document: Shelved) -> None:
    with st.container(key=f"row_{document.id}", horizontal=True, vertical_alignment="center", gap="small"):
        st.checkbox(f"Choose {document.name}", key=f"pick_{document.id}", label_visibility="collapsed", width="content")
        with st.container(gap=None):
            st.button(literal(document.title or document.name), key=f"open_{document.id}", type="tertiary",
                      icon=":material/description:", on_click=st.query_params.update,
                      kwargs={"d": document.id})  # fmt: skip
            year = f" · {document.year}" if document.year else ""
            st.caption(f"{literal(document.name)} · {document.category}{year} · {literal(document.state)}")
        st.button("Remove", key=f"remove_{document.id}", type="tertiary", icon=":material/delete:",
                  on_click=render.attempt, args=(_remove, engine, document))  # fmt: skip


def _failures(shelf: Shelf, named: Collection[str]) -> None:
    """The failures of the last time, but for those that the tray names."""
    for failure in (failure for failure in shelf.failures if failure.name not in named):
        still = " An earlier version of it still answers." if failure.stored else ""
        render.problem(f"{failure.name} could not be taken in", with_hint(failure.reason, failure.hint) + still)


def _remove(engine: ChatEngine, *chosen: Shelved) -> None:
    named = chosen[0].name if len(chosen) == 1 else format_count(len(chosen), "document")
    st.session_state["removed"] = engine.remove(chosen), named
    st.query_params.pop("d", None)


if __name__ == "__main__":
    page()
