"""The filters of the chat: a menu above the question box, and a pill for each that is set."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import streamlit as st

from app import session
from app.shelf import Shelf, Shelved
from app.typeset import literal
from app.wording import readable
from pipelines.types import Filters
from pipelines.wording import format_count

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
                               placeholder="Every document", persist_state="session")  # fmt: skip
                with st.container(horizontal=True):
                    for label in ("Since", "Until"):
                        st.date_input(label, value=None, key=f"filter_{label.lower()}", min_value=date(1900, 1, 1),
                                      format="YYYY-MM-DD", persist_state="session")  # fmt: skip
        for kind, said, left_out in _narrowing(every, names):
            st.button(f"{literal(said)}: leaves out {left_out} of {format_count(len(every), 'document')}",
                      key=f"no_filter_{kind}", icon=":material/close:", icon_position="right", type="tertiary",
                      on_click=session.unset, args=(f"filter_{kind}",), help="Take this filter away")  # fmt: skip


def _narrowing(every: Sequence[Shelved], names: Mapping[str, str]) -> Iterator[tuple[str, str, int]]:
    """(kind, what is selected, how many documents are left out) of each filter that is set."""
    for kind in (*_KINDS, "document"):
        if values := _chosen(kind):
            of = "id" if kind == "document" else kind
            selected = ", ".join(names.get(each, str(each)) for each in values)
            yield kind, f"Only {selected}", sum(getattr(each, of) not in values for each in every)
    if since := _day("since"):
        yield "since", f"Since {since}", sum(each.dated[:10] < since for each in every)  # "" is before every day
    if until := _day("until"):
        yield "until", f"Until {until}", sum(each.dated[:10] > until or not each.dated for each in every)


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
        st.multiselect(kind.capitalize(), known, key=f"filter_{kind}", placeholder=f"Every {kind}",
                       persist_state="session")  # fmt: skip
