"""The menus of an answer: asked again, as it stands or of every document; shared, saved, rated."""

from functools import partial

import streamlit as st

from app import session
from app.answer_markdown import as_markdown
from app.chat_engine import ChatEngine
from app.components.feedback import thumbs
from app.components.sharing import share_link
from app.conversation import Exchange
from app.typeset import literal
from app.wording import added, read_as


def alone_chip(exchange: Exchange, key: str) -> None:
    """The words that a follow-up took from the conversation, with a cross that asks it again as it stands."""
    answer = exchange.answer
    if answer is None or not answer.condensed:
        return
    is_same = answer.condensed == exchange.question
    took = added(answer.added) or ("read as a follow-up" if is_same else f"read as “{answer.condensed}”")
    whole = "" if is_same else f"{literal(read_as(answer.condensed, answer.condensed_by))}. "
    st.button(literal(took), key=f"alone_{key}",
              icon=":material/close:", icon_position="right", type="tertiary", on_click=session.ask,
              args=(exchange.question, ()), help=f"{whole}Press to ask it as it stands.")  # fmt: skip


def everywhere_button(exchange: Exchange, key: str) -> None:
    """After an abstention under filters, a button that asks again without them."""
    if exchange.answer and exchange.abstains and exchange.answer.filters:
        st.button("Search everything", key=f"everywhere_{key}", icon=":material/filter_alt_off:",
                  on_click=session.ask_everywhere, args=(exchange.question, exchange.before),
                  help="Takes the filters away, and asks again")  # fmt: skip


def under_answer(engine: ChatEngine, exchange: Exchange, key: str, *, is_last: bool) -> None:
    """The actions on an answer: of the last one in a row, of an earlier one in a menu."""
    if not is_last:
        _menu(engine, exchange, key, "", with_thumbs=True)
        return
    with st.container(key="actions", horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Ask again", key="again", icon=":material/refresh:", type="tertiary", on_click=session.ask_again,
                  args=(session.archive(engine),), help="Takes the place of this answer")  # fmt: skip
        st.button("Edit", key="edit", icon=":material/edit:", type="tertiary", on_click=session.edit,
                  args=(exchange.question,),
                  help="Puts the question in the box; what you send takes its place")  # fmt: skip
        _menu(engine, exchange, key, "Share or save")
        thumbs(engine, exchange)


def _menu(engine: ChatEngine, exchange: Exchange, key: str, label: str, *, with_thumbs: bool = False) -> None:
    """A link to an answer that has begun, and its files, of a finished one a pack, too; made when the menu opens."""
    if not (exchange.pieces or exchange.answer):
        return
    menu = st.popover(label, icon=":material/more_horiz:", type="tertiary", key=f"more_{key}", on_change="rerun",
                      help="A link to this answer, or a file")  # fmt: skip
    if not menu.open:
        return
    with menu:
        share_link(engine, exchange, key)
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
        if with_thumbs:
            thumbs(engine, exchange)
