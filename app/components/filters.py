"""The filters of the chat: a menu above the question box, and a pill for each that is set."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import streamlit as st

from app import session
from app.shelf import Shelf
from app.typeset import literal
from app.wording import readable
from pipelines.types import Filters

_KINDS = ("category", "year", "author", "collection")


def filter_bar(shelf: Shelf) -> Filters:
    """The documents that are searched; each pill says how many it leaves out, and takes its filter away."""
    with st.bottom:
        _bar(shelf)
    kinds: dict[str, Any] = {kind: tuple(_chosen(kind) or ()) for kind in (*_KINDS, "document")}
    return Filters(**kinds, since=_day("since"), until=_day("until"))


@st.fragment
def _bar(shelf: Shelf) -> None:
    # A fragment, as opening the menu would break off an answer. What is in it is made when it opens.
    session.keep_widgets()
    every = shelf.documents
    names = {document.id: readable(document.title, document.name) for document in every}
    with st.container(key="filters", horizontal=True, gap="small", vertical_alignment="center"):
        menu = st.popover("Search only in …", icon=":material/filter_alt:", type="tertiary", key="filter_menu",
                          on_change="rerun")  # fmt: skip
        if menu.open:
            with menu:
                for kind in _KINDS:
                    _menu(kind, [getattr(document, kind) for document in every])
                st.multiselect("Document", list(names), format_func=lambda i: names.get(i, i), key="filter_document",
                               placeholder="Every document")  # fmt: skip
                with st.container(horizontal=True):
                    for label in ("Since", "Until"):
                        st.date_input(label, value=None, key=f"filter_{label.lower()}", min_value=date(1900, 1, 1),
                                      format="YYYY-MM-DD")  # fmt: skip
        for kind in _KINDS:
            if values := _chosen(kind):
                left_out = sum(getattr(each, kind) not in values for each in every)
                _pill(kind, f"Only {', '.join(map(str, values))}", left_out, len(every))
        if chosen := _chosen("document"):
            titles = ", ".join(names.get(each, each) for each in chosen)
            _pill("document", f"Only {titles}", len(every) - len(chosen), len(every))
        if since := _day("since"):
            early = sum(each.dated[:10] < since or not each.dated for each in every)
            _pill("since", f"Since {since}", early, len(every))
        if until := _day("until"):
            late = sum(each.dated[:10] > until or not each.dated for each in every)
            _pill("until", f"Until {until}", late, len(every))


def _chosen(kind: str) -> Any:
    """The choice of a kind, also while its menu is shut; None or nothing for no filter."""
    return st.session_state.get(f"filter_{kind}")


def _day(name: str) -> str:
    """The ISO date that is chosen; empty for none."""
    chosen = _chosen(name)
    return chosen.isoformat() if isinstance(chosen, date) else ""


def _menu(kind: str, values: Sequence[Any]) -> None:
    """A menu of the values of a kind; nothing where there is nothing to choose."""
    known = sorted({*values} - {"", None}, reverse=kind == "year")
    if len(known) > 1 or _chosen(kind):
        st.multiselect(kind.capitalize(), known, key=f"filter_{kind}", placeholder=f"Every {kind}")


def _pill(kind: str, said: str, left_out: int, every: int) -> None:
    """A pill that names what a filter selects and leaves out, with a cross that takes it away."""
    st.button(f"{literal(said)}: leaves out {left_out} of {every} document{'s' * (every != 1)}",
              key=f"no_filter_{kind}", icon=":material/close:", icon_position="right", type="tertiary",
              on_click=session.unset, args=(f"filter_{kind}",), help="Take this filter away")  # fmt: skip
