"""One document of the library: its text with node boundaries, facts, near-duplicates and versions; what can be done."""

from collections.abc import Callable, Iterator
from html import escape
from pathlib import PurePosixPath

import streamlit as st

from app import render
from app.chat_engine import ChatEngine
from app.typeset import blocks_html, is_markdown, literal, page_blocks
from app.wording import address
from pipelines.store.document_details import DocumentDetails
from pipelines.types import CATEGORIES

_MOST_SHOWN = 60_000  # characters


def document_page(engine: ChatEngine, found: DocumentDetails, remove: Callable[[], None]) -> None:
    """Show a document, and `remove` it if that is asked."""
    document = found.document
    st.button("Library", key="back", icon=":material/arrow_back:", type="tertiary", on_click=st.query_params.clear)
    st.header(literal(document.title or document.name))
    link = address(document.source_uri)
    st.caption(f"{literal(document.name)} · {document.category} · {document.collection}"
               + (f" · {document.year}" if document.year else "") + (f" · [open]({link})" if link else ""))  # fmt: skip
    _actions(engine, found, remove)
    text, facts, alike, versions = st.tabs(
        ["Text", f"Facts ({len(found.facts)})", f"Alike ({len(found.alike)})", f"Versions ({len(found.versions)})"]
    )
    with text:
        st.html("".join(_text(found)))
    with facts:
        _facts(found)
    with alike:
        st.caption("Documents that share a passage with this one:" if found.alike else "No other document is like it.")
        for name in found.alike:
            st.markdown(f"- {literal(name)}")
    with versions:
        _versions(engine, found)


def _actions(engine: ChatEngine, found: DocumentDetails, remove: Callable[[], None]) -> None:
    document = found.document
    reread = engine.jobs.reread, document.id, document.name
    with st.container(horizontal=True, vertical_alignment="bottom", key="document_actions"):
        category = st.selectbox("Category", CATEGORIES, index=_place(document.category), key=f"category_{document.id}",
                                width=160)  # fmt: skip
        collection = st.text_input("Collection", value=document.collection, key=f"collection_{document.id}", width=160)
        changed = {
            name: value
            for name, value in (("category", category), ("collection", collection.strip()))
            if value and value != getattr(document, name)
        }
        st.button("Save", key="save_document", disabled=not changed, on_click=render.attempt,
                  args=reread, kwargs=changed)  # fmt: skip
        st.button("Read again", key="reread", icon=":material/refresh:", on_click=render.attempt, args=reread)
        if original := engine.original(document.id):
            st.download_button("Original", original.read_bytes, file_name=PurePosixPath(document.name).name,
                               key="original", icon=":material/download:", on_click="ignore")  # fmt: skip
        st.button("Remove", key="remove_document", icon=":material/delete:", on_click=render.attempt,
                  args=(remove,))  # fmt: skip


def _place(category: str) -> int | None:
    return CATEGORIES.index(category) if category in CATEGORIES else None


def _text(found: DocumentDetails) -> Iterator[str]:
    """The text, each node under the name of its section; what is in no node is marked as not searched."""
    text, name, at = found.document.text, found.document.name, 0
    for node in sorted(found.nodes, key=lambda each: (each.start, -each.end)):
        if node.end <= at:
            continue
        yield _part(name, "Not searched", text[at : node.start])
        page = f" · page {node.page}" if node.page else ""
        yield _part(name, f"{node.section or 'Text'}{page}", text[max(at, node.start) : node.end])
        at = node.end
        if at > _MOST_SHOWN:
            yield f'<p class="fn-note">{len(text) - at:,} more characters are not shown here.</p>'
            return
    yield _part(name, "Not searched", text[at:])


def _part(name: str, heading: str, text: str) -> str:
    body = blocks_html(page_blocks(text.strip("\n"), (), is_markdown=is_markdown(name)))
    inside = f'<small>{escape(heading)}</small><div class="fn-page">{body}</div>'
    return f'<section class="fn-node">{inside}</section>' if body else ""


def _facts(found: DocumentDetails) -> None:
    if not found.facts:
        st.caption("It states no fact that is computed with.")
        return
    st.dataframe(
        [
            {"Kind": fact.kind, "What": fact.title, "Where": fact.organisation, "From": fact.start_month,
             "To": fact.end_month, "In its words": " ".join(fact.words.split())[:300]}
            for fact in found.facts
        ],
        key="facts",
        hide_index=True,
    )  # fmt: skip


def _versions(engine: ChatEngine, found: DocumentDetails) -> None:
    if not found.versions:
        st.caption("It has not changed since it was added.")
    for place, version in enumerate(found.versions):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{literal(version.title)}, {version.characters:,} characters, "
                       f"replaced on {version.replaced_at:%d %b %Y, %H:%M}", width="stretch")  # fmt: skip
            if version.run_id:
                restore = engine.jobs.restore, found.document.id, found.document.name, version.run_id
                st.button("Restore", key=f"restore_{place}", type="tertiary", icon=":material/history:",
                          on_click=render.attempt, args=restore)  # fmt: skip
