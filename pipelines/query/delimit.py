"""Sources as data in a prompt, between delimiters with a random key that no document can know."""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from pipelines.answers import Source
from pipelines.text import fold, plain

# What looks like a delimiter of ours, whatever the space in it and the way its signs are written.
_DELIMITER = re.compile(
    r"[<＜‹]\s*(?=[<＜‹]\s*[/／]?\s*(?:source|conversation|document)\b)|[《«](?=\s*[/／]?\s*source\b)", re.I
)


def fresh_key(texts: Iterable[str]) -> str:
    """Nine random decimal digits that stand in none of the texts: three cl100k tokens, whatever is drawn."""
    shown = list(texts)
    while True:
        key = f"{secrets.randbelow(10**9):09d}"
        if not any(key in text for text in shown):
            return key


def escape_delimiters(text: str) -> str:
    """The text with a stroke before what looks like a delimiter; any other text is as it was."""
    return _DELIMITER.sub(lambda match: f"|{match.group()}", text)


def one_line(text: str) -> str:
    """The text without line breaks, for the head of a quotation."""
    return " ".join(escape_delimiters(text).split())


@dataclass(frozen=True)
class Context:
    """The sources that are shown to the writer, 1..n without gaps, within the budget.

    `dropped` holds (node id, reason) of each node left out.
    """

    sources: tuple[Source, ...]
    delimiter: str
    dropped: tuple[tuple[str, str], ...] = ()

    @cached_property
    def text(self) -> str:
        """The sources as a writer is shown them."""
        return format_sources(self.sources, self.delimiter)


SEPARATOR = "\n\n---\n\n"
_NAMED = 5  # other documents that are named with a source


def format_sources(sources: Sequence[Source], delimiter: str) -> str:
    """The sources as a writer is shown them."""
    pairs = zip(sources, (None, *sources), strict=False)
    return SEPARATOR.join(format_source(source, delimiter, before) for source, before in pairs)


def format_source(source: Source, delimiter: str, before: Source | None) -> str:
    """A source between its delimiters, under a line with its file, its kind (resume, linkedin, blog) and its place.

    The title follows unless it is the file's name. Headings are shown once: not those that `before`, the source above,
    stands under too, and not those that the snippet begins with.
    """
    page = f", p.{source.page}" if source.page else ""
    again = before is not None and before.document_id == source.document_id
    path = () if again and before and before.section_path == source.section_path else _unsaid(source)
    head = f"[Source: {_file_and_kind(source)}{page}] {' > '.join(map(one_line, path))}".rstrip()
    about = f"\n[Repository: {one_line(source.about)}]" if source.about and not again else ""
    named, more = ", ".join(map(one_line, source.near_copies[:_NAMED])), len(source.near_copies) - _NAMED
    copies = f"\n[Nearly the same in: {named}{f' and {more} more' if more > 0 else ''}]" if named else ""
    body = f"{head}{about}{copies}\n{escape_delimiters(source.shown)}"
    return f"<<source {source.n} {delimiter}>>\n{body}\n<</source {source.n} {delimiter}>>"


def _file_and_kind(source: Source) -> str:
    """`resume.pdf (resume)`, or `README.md (github), driftbuoy` where the title says more than the file's name."""
    name, title = one_line(source.documentName), one_line(source.title)
    kind = f" ({one_line(source.category)})" if source.category else ""
    return f"{name}{kind}" if title in (name, PurePath(name).stem) else f"{name}{kind}, {title}"


def about(facts: Mapping[str, Any] | None) -> str:
    """A line about a node's repository: `footnotes: Python; 120 stars; last pushed 2026-01-02`; empty for none."""
    if not facts or facts["type"] != "repository":
        return ""
    stars = "" if facts["stars"] is None else f"{facts['stars']} stars"
    pushed = f"last pushed {facts['pushed_at'][:10]}" if facts["pushed_at"] else ""
    parts = (facts["language"], stars, facts["licence"], facts["homepage"], pushed)
    return f"{facts['name']}: {'; '.join(filter(None, parts))}"


def draw_delimiter(sources: Sequence[Source]) -> str:
    """A random key that stands nowhere in what is shown of these sources."""
    return fresh_key(
        "\n".join((_file_and_kind(source), source.about, *source.section_path, *source.near_copies, source.snippet))
        for source in sources
    )


def _unsaid(source: Source) -> tuple[str, ...]:
    """The headings above a snippet, without the title that is shown before them and those that it begins with."""
    path = source.section_path[1:] if source.section_path[:1] == (source.title,) else source.section_path
    lines = [line for line in source.snippet[:2_000].splitlines() if line.strip()][: len(path)]
    opening = [fold(plain(line).strip(" #*_")) for line in lines]
    for count in range(len(lines), 0, -1):
        if [fold(plain(heading)) for heading in path[-count:]] == opening[:count]:
            return path[:-count]
    return path
