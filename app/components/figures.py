"""Figures as HTML: pairs of a name and a text, and bars."""

from collections.abc import Iterable, Sequence
from html import escape


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


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; its first column holds the names of the rows, None is shown as nothing."""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{'' if cell is None else escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    inner = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="fn-table" tabindex="0"><table class="fn-figures">{inner}</table></div>'
