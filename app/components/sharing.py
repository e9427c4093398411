"""Share links: how one is made for an answer, and the page that one leads to."""

from functools import partial
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from app import render, session
from app.address import is_loopback
from app.chat_engine import ChatEngine
from app.conversation import Exchange
from app.reader import reader_data
from pipelines.store.conversations import Archive


def share_link(engine: ChatEngine, exchange: Exchange, key: str) -> None:
    """Offer a link to a finished answer; it is made only when asked, and can be revoked."""
    if exchange.answer is None or not exchange.id:
        return
    stored = session.archive(engine)
    if token := _tokens(stored).get(exchange.id):
        st.caption("Whoever has this link can read this answer with the sources that it cites.")
        if is_loopback(urlsplit(st.context.url or "").hostname or ""):
            st.caption("It leads to this machine: to somebody elsewhere, send the answer as a file.")
        st.code(_address(token), language=None)
        st.button("Stop sharing", key=f"revoke_{key}", icon=":material/link_off:", on_click=render.attempt,
                  args=(_revoke, stored, exchange.id))  # fmt: skip
    else:
        st.caption("Makes a link to this one answer. Private documents are left out of it.")
        st.button("Make a link", key=f"link_{key}", icon=":material/add_link:", on_click=render.attempt,
                  args=(_share, stored, exchange.id))  # fmt: skip


def shared_page(engine: ChatEngine, token: str) -> None:
    """Show one shared answer, and nothing else of its conversation."""
    message = session.archive(engine).shared(token)
    with st.container(key="reading"):
        if message is None or message.answer is None:
            render.problem("This link leads nowhere.", "It was revoked, or it is not whole. Ask for a new one.")
            return
        exchange = Exchange.of(message)
        session.entries()[:] = [exchange]  # read again in every run: a source may have become private
        st.caption("A shared answer. Every sentence carries a footnote to the words that it stands on.")
        render.question(exchange.question)
        render.answer(exchange, "shared", session.opened_in(0), partial(session.open_pressed, "shared", 0), latest=True)
    if opened := session.opened():
        exchange, place = opened
        data = reader_data(exchange, place.n, place.sentence, partial(engine.passage, audience="visitor"))
        render.reader(data | {"key": place.name, "page": None}, session.close_source)


def _tokens(stored: Archive) -> dict[int, str]:
    """The share links of the open conversation, read once a conversation."""
    conversation = session.conversation_id()
    return session.read_once("shares", conversation, lambda: stored.shares(conversation), {})


def _share(stored: Archive, message_id: int) -> None:
    _tokens(stored)[message_id] = stored.share(message_id)


def _revoke(stored: Archive, message_id: int) -> None:
    stored.revoke(message_id)
    _tokens(stored).pop(message_id, None)


def _address(token: str) -> str:
    """The address of the chat with this token."""
    here = urlsplit(st.context.url or "")
    return urlunsplit((here.scheme, here.netloc, here.path or "/", f"a={token}", ""))
