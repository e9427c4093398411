"""Figures: pairs of a name and a text, bars, tables."""

from collections.abc import Iterable, Sequence
from html import escape

import streamlit as st

from app.typeset import literal


def pairs(said: Iterable[Sequence[str]]) -> str:
    """A list of names, each with its text; those without a text are left out."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in said if text)
    return f'<dl class="fn-bars fn-said">{rows}</dl>' if rows else "<div></div>"


def bars(values: Sequence[tuple[str, float]], form: str, widest: float = 0.0) -> str:
    """A bar for each (name, value), the longest for the largest value or `widest`, and the value as `form` has it."""
    widest = widest or max((value for _, value in values), default=0.0) or 1.0
    rows = "".join(
        f'<dt>{escape(name)}</dt><dd><span class="fn-track"><i style="width:{100 * value / widest:.1f}%"></i></span>'
        f"{form.format(value)}</dd>"
        for name, value in values
    )
    return f'<dl class="fn-bars">{rows}</dl>'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Show a table; None is shown as nothing."""
    cells = [[literal("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not cells:
        st.caption("Nothing yet.")
        return
    st.table([dict(zip(heads, row, strict=True)) for row in cells], border="horizontal", hide_index=True)
