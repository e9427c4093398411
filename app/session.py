"""The state of a browser's session, and the engine that all sessions share."""

import gc
from dataclasses import dataclass

import streamlit as st

from app.chat_engine import ChatEngine, build_chat_engine
from app.conversation import Entry, Exchange, Intake
from app.settings import read_settings
from config.settings import Settings
from pipelines.types import Turn

FILTERS = ("filter_category", "filter_year", "filter_document")


@dataclass(frozen=True, slots=True)
class Opened:
    """The source that is open: of which entry, its number, and the sentence (from 0) whose footnote was opened."""

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


def keep_widgets() -> None:
    """Keep the filters while another page is shown: Streamlit forgets widgets that are not on the page."""
    for key in FILTERS:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


# The conversation


def entries() -> list[Entry]:
    """The entries, oldest first; append to it, and change the last exchange while it is written."""
    found: list[Entry] = st.session_state.setdefault("entries", [])
    return found


def clear() -> None:
    """Begin a new conversation."""
    st.session_state["entries"] = []
    st.session_state["opened"] = None
    st.session_state["pending"] = None


def ask(question: str, turns: tuple[Turn, ...] | None = None) -> None:
    """Ask a question in the next run, as if it had been typed; with the turns given, not with the conversation."""
    st.session_state["pending"] = question, turns


def ask_everywhere(question: str, turns: tuple[Turn, ...]) -> None:
    """Take the filters away, and ask a question with these turns in the next run."""
    for key in FILTERS:
        st.session_state[key] = []
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
    return (entry, place) if isinstance(entry, Exchange) and place.n in entry.sources else None


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


# The library


def intake() -> Intake | None:
    """The result of the last upload in the library."""
    last: Intake | None = st.session_state.get("intake")
    return last


def remember_intake(done: Intake | None) -> None:
    """Save the result of an upload."""
    st.session_state["intake"] = done


def fresh(widget: str) -> str:
    """A key for a widget that `empty` can reset: Streamlit forbids changing a widget that is on the page."""
    return f"{widget}_{st.session_state.get(f'{widget}_round', 0)}"


def empty(widget: str) -> None:
    """Reset a widget in the next run."""
    st.session_state[f"{widget}_round"] = st.session_state.get(f"{widget}_round", 0) + 1
