"""The library: stored documents with their coverage and failures; upload and removal."""

from collections.abc import Callable, Sequence

import streamlit as st

from app import render, session
from app.chat_engine import ChatEngine, Shelf, Shelved
from app.components.tray import tray
from app.typeset import literal
from app.widgets import upload_box
from app.wording import address
from pipelines.errors import FootnoteError
from pipelines.wording import with_hint


def page() -> None:
    """Show the library, let the worker take things in, and remove documents."""
    render.style()
    st.title("Library")
    try:
        engine = session.get_engine()
        upload_box(engine, "Add documents")
        _links(engine)
        if problem := session.last_problem():
            render.problem(*problem)
        tray(engine)
        shelf = engine.shelf()
        _undo(engine)
        _failures(shelf)
        _documents(shelf)
        if shelf.documents:
            _removal(engine, shelf)
    except FootnoteError as error:
        render.problem(error.message, error.hint)


def _links(engine: ChatEngine) -> None:
    """A field for a link beside a button that looks at every source again."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Add from a link", key="link", placeholder="https://…, github:OWNER or notion:PAGE",
                      on_change=_trying, args=(lambda: _take_in_link(engine),))  # fmt: skip
        st.button("Refresh all sources", key="refresh", icon=":material/refresh:", on_click=_trying,
                  args=(engine.jobs.refresh,))  # fmt: skip


def _take_in_link(engine: ChatEngine) -> None:
    if location := str(st.session_state["link"]).strip():
        engine.jobs.ingest(location)
        st.session_state["link"] = ""


def _trying(act: Callable[[], object]) -> None:
    """Do it; a failure is shown on the page."""
    try:
        act()
        session.remember_problem(None)
    except FootnoteError as error:
        session.remember_problem((error.message, error.hint))


def _undo(engine: ChatEngine) -> None:
    """Offer to take back the last removal of this session."""
    removed: tuple[int, str] | None = st.session_state.get("removed")
    if removed:
        with st.container(key="undo_removal", horizontal=True, vertical_alignment="center"):
            st.caption(f"Removed {literal(removed[1])}.")
            st.button("Undo", key="restore_documents", type="tertiary", icon=":material/undo:", on_click=_trying,
                      args=(lambda: _bring_back(engine, removed[0]),))  # fmt: skip


def _bring_back(engine: ChatEngine, run_id: int) -> None:
    engine.undo_removal(run_id)
    st.session_state.pop("removed", None)


def _documents(shelf: Shelf) -> None:
    documents = shelf.documents
    if not documents:
        st.caption("No documents yet.")
        return
    st.subheader(f"{len(documents)} document{'s' * (len(documents) != 1)}, {sum(d.nodes for d in documents)} nodes")
    linked = any(address(document.uri) for document in documents)
    remarked = any(document.remark for document in documents)
    st.dataframe(
        [
            {"Document": document.name}
            | ({"Link": address(document.uri)} if linked else {})
            | ({"Remark": document.remark} if remarked else {})
            | {"Title": document.title, "Category": document.category}
            | {"Nodes": document.nodes, "Coverage": document.coverage, "Last success": document.last_success}
            for document in documents
        ],
        key="documents",
        hide_index=True,
        column_config={
            "Coverage": st.column_config.ProgressColumn(
                format="percent",
                min_value=0.0,
                max_value=1.0,
                width=110,
                help="The share of a document's text that is searched",
            ),
            "Link": st.column_config.LinkColumn(display_text="open", width=60),
            "Last success": st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm"),
        },
    )


def _failures(shelf: Shelf) -> None:
    for failure in shelf.failures:
        still = " An earlier version of it still answers." if failure.stored else ""
        render.problem(f"{failure.name} could not be taken in", with_hint(failure.reason, failure.hint) + still)


def _removal(engine: ChatEngine, shelf: Shelf) -> None:
    known = {document.id: document for document in shelf.documents}
    st.subheader("Remove documents")
    with st.container(horizontal=True):
        chosen = st.multiselect(
            "Documents to remove",
            list(known),
            format_func=lambda i: known[i].name if i in known else i,
            key=session.fresh("removal"),
            placeholder="Choose documents",
            label_visibility="collapsed",
        )
        st.button("Remove", key="remove", disabled=not chosen, on_click=_trying,
                  args=(lambda: _remove(engine, [known[i] for i in chosen]),))  # fmt: skip


def _remove(engine: ChatEngine, chosen: Sequence[Shelved]) -> None:
    run_id = engine.remove(chosen)
    what = chosen[0].name if len(chosen) == 1 else f"{len(chosen)} documents"
    st.session_state["removed"] = run_id, what
    session.empty("removal")


if __name__ == "__main__":
    page()
