"""What the pages show, from plain data: their frame, greetings, answers with their footnotes, a source, errors."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import session
from app.answer import answer_data
from app.answer_markdown import as_markdown
from app.chat_engine import ChatEngine
from app.conversation import Exchange
from app.face import accent_style, heading, nothing_yet
from app.session import is_visitor
from app.shelf import Shelf
from app.typeset import literal, running_html
from app.wording import address, readable, without_settings
from config.settings import PersonaSettings
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.wording import format_count, with_hint

_ASSETS = Path(__file__).parent / "assets"


def script(*names: str) -> str:
    """The scripts of a component, from `assets`."""
    return "\n".join((_ASSETS / name).read_text("utf-8") for name in names)


_answer = st.components.v2.component("footnote_answer", js=script("dom.js", "answer.js"), isolate_styles=False)
_reader = st.components.v2.component("footnote_reader", js=script("dom.js", "reader.js"), isolate_styles=False)
_connection = st.components.v2.component("footnote_connection", js=script("connection.js"))
_page = st.components.v2.component("footnote_page", js=script("page.js"))


def style() -> None:
    """Load the style sheet of every page, and what says that the connection is lost."""
    st.html(_ASSETS / "style.css")
    named = [st.query_params.get(each, "") for each in ("d", "trace")]
    _connection(key="connection", data={"opened": named}, height=1)


def attend(questions: int, part: Literal["begin", "end"]) -> None:
    """Put the keyboard in the question box, and show a new question; at the beginning and at the end of its answer."""
    _page(key=f"attend_{part}", data={"questions": questions}, height=1)


def page(show: Callable[[ChatEngine], None]) -> Callable[[], None]:
    """A page with its style, and in words the error that ends it."""

    def shown() -> None:
        style()
        try:
            show(session.get_engine())
        except FootnoteError as error:
            problem(error.message, error.hint)

    return shown


def accent(colour: str) -> None:
    """Set the accent colour of the page; the one of the style sheet without one."""
    if colour:
        st.html(accent_style(colour))


def portrait(picture: str) -> str:
    """The picture of the persona, which says nothing that its name does not; empty without one."""
    return f'<img class="fn-portrait" src="{escape(picture)}" alt="">' if picture else ""


def greeting(persona: PersonaSettings, picture: str, documents: int) -> None:
    """Show whose documents these are, above the first questions."""
    if not documents:
        said = nothing_yet(persona)
    else:
        said = f"{format_count(documents, 'document')} to read. Every sentence of an answer carries a footnote; "
        said += "press it to see the words that it stands on."
    bio = f'<p class="fn-bio">{escape(persona.bio)}</p>' if persona.bio else ""
    st.html(
        f'<div class="fn-welcome">{portrait(picture)}<h1>{escape(heading(persona))}</h1>{bio}<p>{said}</p>'
        f'<p class="fn-links">{anchors(persona.links)}</p></div>'
    )


def anchors(links: Iterable[str]) -> str:
    """Links to web addresses; others are left out."""
    return " ".join(
        f'<a href="{escape(link)}" rel="noopener noreferrer" target="_blank">{escape(link.partition("://")[2])}</a>'
        for link in dict.fromkeys(map(address, links))
        if link
    )


def visitor_bar(name: str, picture: str, shelf: Shelf, on_new: Callable[[], None]) -> None:
    """The bar over a visitor's page: whose documents they are, a new conversation, the documents by name."""
    with st.container(key="visitor_bar", horizontal=True, vertical_alignment="center"):
        st.html(f'<div class="fn-owner">{portrait(picture)}{escape(name)}</div>')
        st.button("New", key="new", icon=":material/edit_square:", type="tertiary", on_click=on_new)
        with st.popover(format_count(len(shelf.documents), "document"), type="tertiary"):
            names = sorted({readable(document.title, document.name) for document in shelf.documents})
            st.html(f"<ul>{''.join(f'<li>{escape(name)}</li>' for name in names)}</ul>")


def problem(message: str, hint: str = "") -> None:
    """Show an error and its hint."""
    if is_visitor():
        message, hint = without_settings(message) or "This cannot be shown now.", without_settings(hint)
    advice = f"<div>{escape(hint)}</div>" if hint else ""
    st.html(f'<div class="fn-problem" role="alert"><strong>{escape(message)}</strong>{advice}</div>')


def attempt(act: Callable[..., object], *args: object, **given: object) -> None:
    """Do what a button asks."""
    with attempting():
        act(*args, **given)


@contextmanager
def attempting() -> Iterator[None]:
    """End with a failure, which is shown until the reader closes it."""
    try:
        yield
    except FootnoteError as error:
        log_failure("a button did not do what it says", error)
        said = with_hint(error.message, error.hint)
        said = (without_settings(said) or "This cannot be done now.") if is_visitor() else said
        st.toast(literal(said), icon=":material/error:", duration="infinite")


def undo(key: str, said: str, act: Callable[[], object]) -> None:
    """Say what was done away with, beside a button that brings it back."""
    with st.container(key=f"undo_{key}", horizontal=True, vertical_alignment="center"):
        st.caption(said)
        st.button("Undo", key=f"restore_{key}", type="tertiary", icon=":material/undo:", on_click=attempt, args=(act,))


def question(text: str) -> None:
    """Show a question as a heading over its answer."""
    st.html(f'<h2 class="fn-question">{escape(text)}</h2>')


def running(slot: DeltaGenerator, exchange: Exchange) -> None:
    """Show an answer as far as it is written."""
    slot.html(running_html(exchange.running(), exchange.doing, exchange.standing_in))


def answer(
    entry: Exchange, key: str, opened: session.Opened | None, on_open: Callable[[], None], *, latest: bool
) -> None:
    """Show a whole answer: footnotes, verdicts, sources by document."""
    if entry.problem:
        problem(*entry.problem)
    if entry.pieces or entry.answer:
        entry.shown = entry.shown or json.dumps(_shown(entry))
        said = {"open": opened and {"n": opened.n, "sentence": opened.sentence}, "latest": latest}
        _answer(key=key, data=[entry.shown, said], on_open_change=on_open)  # in a dict Streamlit looks for tables
    elif not entry.problem:
        st.html('<p class="fn-note">Stopped before the answer began.</p>')


def _shown(entry: Exchange) -> dict[str, Any]:
    """The data of a finished answer's widget, but for what is open."""
    data = answer_data(entry) | {"markdown": as_markdown(entry)}
    if is_visitor():
        data["alerts"] = list(filter(None, map(without_settings, data["alerts"])))
        data["trace"] = ""
        data["how"] = [[name, without_settings(value)] for name, value in data["how"]]
    return data


# The source


def reader(data: dict[str, Any], on_close: Callable[[], None], **on: Callable[[], None]) -> None:
    """Show the open source, as `reader_data` gives it.

    Args:
        data: With `key`, a name for it; of `picture` (its page), `reported`, `versions` and `library` what is known.
        on_close: Closes it.
        on: What draws its `page`, reports it as `wrong` or takes that back, and brings a version back (`restore`).
    """
    acts: dict[str, Any] = {f"on_{name}_change": on.get(name, lambda: None) for name in ("page", "wrong", "restore")}
    _reader(key="reader", data=data, on_close_change=on_close, **acts, height=1)
