"""The state of a browser's session with its stored conversation, and the engine that all sessions share."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from app.chat_engine import ChatEngine, build_chat_engine
from app.conversation import Exchange
from app.settings import read_settings
from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.observe import log_failure
from pipelines.store.conversations import Archive, Holder, new_key
from pipelines.types import Filters, Turn

_DATES = ("filter_since", "filter_until")
FILTERS = ("filter_category", "filter_year", "filter_author", "filter_collection", "filter_document", *_DATES)

VISITOR_COOKIE = "footnote_key"
_Read = TypeVar("_Read")
_answering: set[int] = set()  # messages, in all tabs of this server


@dataclass(frozen=True, slots=True)
class Opened:
    """The source that is open: its entry (-1 for a career), its number, and the sentence whose footnote was opened."""

    entry: int
    n: int
    sentence: int | None = None

    @property
    def name(self) -> str:
        """A name for what is open."""
        return f"{self.entry}/{self.n}/{self.sentence}"


def get_engine() -> ChatEngine:
    """The engine for the current settings; built once, and again when they change.

    Raises:
        ConfigError: If the settings are wrong or do not fit the database.
        ServiceUnavailable: If the database cannot be reached.
    """
    return _engine(read_settings())


@st.cache_resource(
    max_entries=1, show_spinner="Opening the library …", hash_funcs={Settings: hash}, on_release=ChatEngine.close
)
def _engine(settings: Settings) -> ChatEngine:
    engine = build_chat_engine(settings)
    gc.unfreeze()
    gc.collect()
    gc.freeze()  # or Streamlit would go through all that is loaded after every run of a page, for a fifth of a second
    return engine


def is_visitor() -> bool:
    """True if the pages show what a visitor sees; also while the settings are wrong, which the page then says."""
    try:
        return read_settings().chat.visitor
    except ConfigError:
        return True


@contextmanager
def tolerating(what: str) -> Iterator[None]:
    """End with a failure, which is only logged."""
    try:
        yield
    except FootnoteError as error:
        log_failure(what, error)


def read_once(name: str, of: str, read: Callable[[], _Read], without: _Read) -> _Read:
    """The value read under this name, read again where it is of something else; `without` where it cannot be read."""
    known: tuple[str, _Read] | None = st.session_state.get(name)
    if known is None or known[0] != of:
        known = of, without
        with tolerating(f"{name} could not be read"):
            known = of, read()
        st.session_state[name] = known
    return known[1]


# The conversation


def entries() -> list[Exchange]:
    """The entries, oldest first; append to it, and change the last exchange while it is written."""
    found: list[Exchange] = st.session_state.setdefault("entries", [])
    return found


def clear() -> None:
    """Begin a new conversation."""
    st.session_state.update(entries=[], opened=None, pending=None, conversation="", draft="", edited=None)
    st.query_params.pop("c", None)


def holder() -> Holder:
    """The holder of this session's conversations: the owner, or a visitor's browser by the key in its cookie.

    The cookie is set by the page (`draft.js`); a browser that keeps none is another visitor after each load.
    """
    if not is_visitor():
        return Holder()
    if "visitor_key" not in st.session_state:
        kept = st.context.cookies.get(VISITOR_COOKIE, "")
        st.session_state["visitor_key"] = kept if len(kept) == len(new_key()) else new_key()
    return Holder("visitor", st.session_state["visitor_key"])


def archive(engine: ChatEngine) -> Archive:
    """The stored conversations of this session's reader."""
    return engine.archive(holder())


def conversation_id() -> str:
    """The stored conversation that is open; empty for a new one."""
    return str(st.session_state.get("conversation", ""))


def choose_conversation(wanted: str) -> None:
    """Open this conversation in the next run."""
    st.query_params["c"] = wanted


def edit(question: str | None) -> None:
    """Put the last question in the box, so that what is sent next takes its place; None leaves it as it is."""
    if question is not None or is_editing():
        st.session_state["filled"] = st.session_state.get("filled", (0, ""))[0] + 1, question or ""
    st.session_state["edited"] = question


def is_editing() -> bool:
    """True while the last question is edited."""
    return st.session_state.get("edited") is not None


def ask(question: str, turns: tuple[Turn, ...] | None = None) -> None:
    """Ask a question in the next run, as if it had been typed; with the turns given, not with the conversation."""
    st.session_state["pending"] = question, turns


def unset(*filters: str) -> None:
    """Take filters away."""
    for key in filters:
        st.session_state[key] = None if key in _DATES else []


def ask_everywhere(question: str, turns: tuple[Turn, ...]) -> None:
    """Take the filters away, and ask a question with these turns in the next run."""
    unset(*FILTERS)
    ask(question, turns)


def pending() -> tuple[str, tuple[Turn, ...] | None]:
    """Take the question that waits for an answer, and the turns that it is read with; empty if none waits."""
    question, turns = st.session_state.pop("pending", None) or ("", None)
    return str(question), turns


# The conversation as it is stored: opened by its address, written question by question, gone on with


@contextmanager
def answering(message_id: int) -> Iterator[None]:
    """Mark a question as one that this server is answering, so that no other tab asks it again meanwhile."""
    _answering.add(message_id)
    try:
        yield
    finally:
        _answering.discard(message_id)


def open_conversation(stored: Archive) -> None:
    """Read the conversation that the address names, if another one is open; name the open one in the address.

    Raises:
        ServiceUnavailable: If the database cannot be reached.
    """
    wanted, now = st.query_params.get("c", ""), conversation_id()
    if wanted == now:
        return
    if not wanted:
        st.query_params["c"] = now
    elif found := stored.read(wanted):
        read = [Exchange.of(message) for message in found.messages]
        st.session_state.update(entries=read, opened=None, conversation=found.id, draft=found.draft)
    else:
        clear()
        st.toast("That conversation is not here. It was deleted, or it is somebody else's.")


def reopen(stored: Archive) -> None:
    """Read the open conversation again, which another tab may have gone on with."""
    wanted = conversation_id()
    st.session_state["conversation"] = ""
    choose_conversation(wanted)
    open_conversation(stored)


def store_question(stored: Archive, exchange: Exchange) -> None:
    """Store a question before it is answered; the first one begins its conversation. A failure is only logged."""
    with tolerating("a question was not stored"):
        if not conversation_id():
            st.session_state["conversation"] = stored.begin(exchange.question)
            st.query_params["c"] = conversation_id()
        exchange.id = stored.add(conversation_id(), exchange.message())
        st.session_state["draft"] = ""


def store_outcome(stored: Archive, exchange: Exchange) -> None:
    """Store the outcome of a question. A failure is only logged."""
    if exchange.id:
        with tolerating("an answer was not stored"):
            stored.store(exchange.message())


def interrupted() -> Exchange | None:
    """The last question, if it still has to be answered."""
    last = entries()[-1] if entries() else None
    return last if last and last.is_unanswered else None


def left_to_answer(stored: Archive) -> Exchange | None:
    """The last question, if nobody answers it and no other tab has answered it."""
    left = interrupted()
    if left is None or left.id in _answering:
        return None
    if left.id:
        reopen(stored)
    return interrupted()


def is_answered_elsewhere() -> bool:
    """True while another tab answers the last question."""
    left = interrupted()
    return left is not None and left.id in _answering


def stop(stored: Archive) -> None:
    """Leave the last question as far as it was answered."""
    if left := interrupted():
        left.is_stopped = True
        store_outcome(stored, left)


def ask_again(stored: Archive) -> None:
    """Let the last question be answered again, in place of its answer."""
    if entries():
        close_source()
        edit(None)
        entries()[-1].begin()
        store_outcome(stored, entries()[-1])


def ask_instead(stored: Archive, question: str, filters: Filters) -> None:
    """Ask this in place of the last question, whose share link leads nowhere then."""
    last = entries()[-1]
    last.question, last.filters = question, filters
    st.session_state.update(draft="", shares=("", {}))
    with tolerating("the share link of a question was not revoked"):
        stored.revoke(last.id)
        stored.keep_draft(conversation_id(), "")
    ask_again(stored)


# The open source


def opened_in(entry: int) -> Opened | None:
    """The open source, where it is one of this entry."""
    place: Opened | None = st.session_state.get("opened")
    return place if place and place.entry == entry else None


def opened() -> tuple[Exchange, Opened] | None:
    """The exchange and the source of it that is open."""
    places = ((entry, opened_in(index)) for index, entry in enumerate(entries()))
    return next(((entry, place) for entry, place in places if place and place.n in entry.sources), None)


def close_source() -> None:
    """Close the open source."""
    st.session_state["opened"] = None


def open_source(entry: int, pressed: object) -> None:
    """Open the source of an entry that a browser names as pressed, with the sentence of its footnote."""
    match pressed:
        case {"n": int(n), "sentence": int(sentence)}:
            st.session_state["opened"] = Opened(entry, n, sentence)
        case {"n": int(n)}:
            st.session_state["opened"] = Opened(entry, n)


def open_pressed(key: str, entry: int) -> None:
    """Open the source whose footnote was pressed in the widget with this key."""
    open_source(entry, st.session_state[key].get("open"))


# The library


def fresh(widget: str) -> str:
    """A key for a widget that `empty` can reset: Streamlit forbids changing a widget that is on the page."""
    return f"{widget}_{st.session_state.get(f'{widget}_round', 0)}"


def empty(widget: str) -> None:
    """Reset a widget in the next run."""
    st.session_state[f"{widget}_round"] = st.session_state.get(f"{widget}_round", 0) + 1
