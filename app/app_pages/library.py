"""The library: stored documents with their coverage and failures; upload and removal."""

from collections.abc import Sequence

import streamlit as st

from app import render, session
from app.chat_engine import ChatEngine, Shelf, Shelved
from app.conversation import Intake
from app.widgets import upload_box
from app.wording import address
from pipelines.errors import FootnoteError
from pipelines.wording import with_hint


def page() -> None:
    """Show the library, take files in, and remove documents."""
    render.style()
    st.title("Library")
    try:
        engine = session.get_engine()
        upload_box(engine, "Add documents")
        last = session.intake()
        if last:
            render.intake(last)
        shelf = engine.shelf()
        _failures(shelf, shown={item.document for item in last.items} if last else set())
        _documents(shelf)
        if shelf.documents:
            _removal(engine, shelf)
    except FootnoteError as error:
        render.problem(error.message, error.hint)


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


def _failures(shelf: Shelf, shown: set[str]) -> None:
    for failure in (failure for failure in shelf.failures if failure.name not in shown):
        still = " An earlier version of it still answers." if failure.stored else ""
        render.problem(f"{failure.name} could not be taken in", with_hint(failure.reason, failure.hint) + still)


def _removal(engine: ChatEngine, shelf: Shelf) -> None:
    known = {document.id: document for document in shelf.documents}
    st.subheader("Remove documents")
    chosen = st.multiselect(
        "Documents to remove",
        list(known),
        format_func=lambda i: known[i].name if i in known else i,
        key=session.fresh("removal"),
        placeholder="Choose documents",
        label_visibility="collapsed",
    )
    if st.button("Remove …", key="remove", disabled=not chosen):
        _confirm(engine, [known[i] for i in chosen])


@st.dialog("Remove these documents?")
def _confirm(engine: ChatEngine, chosen: Sequence[Shelved]) -> None:
    render.names(document.name for document in chosen)
    st.caption("Answers will no longer use them. What a source still has comes back with its next ingest.")
    with st.container(horizontal=True):
        yes = st.button("Remove", key="confirm_removal", type="primary", on_click=_remove, args=(engine, chosen))
        no = st.button("Keep", key="cancel_removal")
    if yes or no:
        st.rerun()


def _remove(engine: ChatEngine, chosen: Sequence[Shelved]) -> None:
    session.remember_intake(None)
    try:
        engine.remove(chosen)
        session.empty("removal")
    except FootnoteError as error:
        session.remember_intake(Intake(problem=(error.message, error.hint)))


if __name__ == "__main__":
    page()
