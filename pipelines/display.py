"""DISPLAY: results as HTML, Markdown, short text and frames, for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

_CLIP = 300


def clip(text: str, limit: int = _CLIP) -> str:
    """The text on one line, cut to at most `limit` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else f"{folded[: limit - 1]}…"


def link(words: str, address: str) -> str:
    """A link to an address of the web, else the words alone."""
    if urlsplit(address).scheme not in ("http", "https"):
        return escape(words)
    return f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(words)}</a>'


def with_footnotes(text: str, quotes: Mapping[int, str], anchor: str) -> str:
    """The text as HTML, each of its markers `[n]` a link to `#<anchor>-<n>` that shows the quotation of n."""
    head, *rest = text.split("[")
    made = escape(head)
    for part in rest:
        number, bracket, after = part.partition("]")
        n = int(number) if bracket and number.isdecimal() else -1
        mark = f'<sup><a href="#{anchor}-{n}" title="{escape(clip(quotes.get(n, "")))}">{n}</a></sup>'
        made += mark + escape(after) if n in quotes else escape(f"[{part}")
    return made.replace("\n", "<br>\n")


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of texts and numbers."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = ("".join(f"<td>{escape(_text(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The same as a Markdown table."""
    cells = ([" ".join(_text(cell).replace("|", "\\|").split()) for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *cells])


def frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame of these rows."""
    import pandas as pd  # what Streamlit brings; it takes half a second to import

    return pd.DataFrame(list(rows))
