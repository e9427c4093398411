"""The state of a browser's session, and the engine that all sessions share."""

import gc
from dataclasses import dataclass

import streamlit as st

from app.chat_engine import ChatEngine, build_chat_engine
from app.conversation import Exchange
from app.settings import read_settings
from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.store.conversations import Archive, Holder, new_key
from pipelines.types import Turn

_DATES = ("filter_since", "filter_until")
FILTERS = ("filter_category", "filter_year", "filter_author", "filter_collection", "filter_document", *_DATES)

VISITOR_COOKIE = "footnote_key"


@dataclass(frozen=True, slots=True)
class Opened:
    """The source that is open: its entry (-1 for a career), its number, and the sentence whose footnote was opened."""

    entry: int
    n: int
    sentence: int | None = None


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


def keep_widgets() -> None:
    """Keep the filters while another page is shown: Streamlit forgets widgets that are not on the page."""
    for key in FILTERS:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


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
    """Who has the conversations of this session: the owner, or a visitor's browser by the key in its cookie.

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


# The open source


def opened() -> tuple[Exchange, Opened] | None:
    """The exchange and the source of it that is open."""
    place: Opened | None = st.session_state.get("opened")
    if place is None or not 0 <= place.entry < len(entries()):
        return None
    entry = entries()[place.entry]
    return (entry, place) if place.n in entry.sources else None


def open_name() -> str:
    """A name for the source that is open; empty when none is."""
    place: Opened | None = st.session_state.get("opened")
    return f"{place.entry}/{place.n}/{place.sentence}" if place else ""


def close_source() -> None:
    """Close the open source."""
    st.session_state["opened"] = None


def open_pressed(key: str, entry: int) -> None:
    """Open the source whose footnote was pressed in the answer with this widget key."""
    event = st.session_state[key].get("open")
    if isinstance(event, dict) and isinstance(event.get("n"), int):
        sentence = event.get("sentence")
        st.session_state["opened"] = Opened(entry, event["n"], sentence if isinstance(sentence, int) else None)


def opened_fact() -> Opened | None:
    """The fact of a career that is open."""
    place: Opened | None = st.session_state.get("opened")
    return place if place and place.entry < 0 else None


def open_fact(n: object) -> None:
    """Open a fact of a career, which is in no entry."""
    if isinstance(n, int):
        st.session_state["opened"] = Opened(-1, n)


# The library


def fresh(widget: str) -> str:
    """A key for a widget that `empty` can reset: Streamlit forbids changing a widget that is on the page."""
    return f"{widget}_{st.session_state.get(f'{widget}_round', 0)}"


def empty(widget: str) -> None:
    """Reset a widget in the next run."""
    st.session_state[f"{widget}_round"] = st.session_state.get(f"{widget}_round", 0) + 1
