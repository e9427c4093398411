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
    every = shelf.documents
    names = {document.id: readable(document.title, document.name) for document in every}
    with st.bottom, st.container(key="filters", horizontal=True, gap="small", vertical_alignment="center"):
        with st.popover("Search only in …", icon=":material/filter_alt:", type="tertiary"):
            chosen = {kind: _menu(kind, [getattr(document, kind) for document in every]) for kind in _KINDS}
            document = st.multiselect(
                "Document", list(names), format_func=lambda i: names.get(i, i), key="filter_document",
                placeholder="Every document",
            )  # fmt: skip
            with st.container(horizontal=True):
                since = _day("Since", "filter_since")
                until = _day("Until", "filter_until")
        for kind, values in chosen.items():
            left_out = sum(getattr(each, kind) not in values for each in every)
            _pill(f"filter_{kind}", f"Only {', '.join(map(str, values))}" if values else "", left_out, len(every))
        titles = ", ".join(names.get(each, each) for each in document)
        _pill("filter_document", f"Only {titles}" if titles else "", len(every) - len(document), len(every))
        early = sum(each.dated[:10] < since or not each.dated for each in every)
        _pill("filter_since", f"Since {since}" if since else "", early, len(every))
        late = sum(each.dated[:10] > until or not each.dated for each in every)
        _pill("filter_until", f"Until {until}" if until else "", late, len(every))
    selected: dict[str, Any] = {kind: tuple(values) for kind, values in chosen.items()}
    return Filters(**selected, document=tuple(document), since=since, until=until)


def _menu(kind: str, values: Sequence[Any]) -> list[Any]:
    """What is chosen of the values of a kind; nothing is asked where there is nothing to choose."""
    known = sorted({*values} - {"", None}, reverse=kind == "year")
    key = f"filter_{kind}"
    if len(known) < 2 and not st.session_state.get(key):
        return []
    return st.multiselect(kind.capitalize(), known, key=key, placeholder=f"Every {kind}")


def _day(label: str, key: str) -> str:
    """The ISO date that is chosen; empty for none."""
    chosen = st.date_input(label, value=None, key=key, min_value=date(1900, 1, 1), format="YYYY-MM-DD")
    return chosen.isoformat() if isinstance(chosen, date) else ""


def _pill(widget: str, said: str, left_out: int, every: int) -> None:
    """What a filter selects and leaves out, with a cross that takes it away; nothing for one that is not set."""
    if said:
        label = f"{literal(said)}: leaves out {left_out} of {every} document{'s' * (every != 1)}"
        st.button(label, key=f"no_{widget}", icon=":material/close:", icon_position="right", type="tertiary",
                  on_click=session.unset, args=(widget,), help="Take this filter away")  # fmt: skip
