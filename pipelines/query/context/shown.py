"""SHOWN: sources as a writer sees them: quoted data between delimiters that no document can know."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.query.context.quoted import fresh_key, harmless, on_one_line
from pipelines.text import fold, plain
from pipelines.types import Source

SEPARATOR = "\n\n---\n\n"
_NAMED = 5  # other documents that are named with a source


def shown(source: Source, delimiter: str, before: Source | None) -> str:
    """A source between its delimiters, under a line that says where it stands.

    Headings are shown once: not those that `before`, the source above, stands under too, and not those that the
    snippet begins with.
    """
    page = f", p.{source.page}" if source.page else ""
    again = before is not None and before.document_id == source.document_id
    path = () if again and before and before.section_path == source.section_path else _unsaid(source)
    head = f"[Source: {on_one_line(source.title)}{page}] {' > '.join(map(on_one_line, path))}".rstrip()
    about = f"\n[Repository: {on_one_line(source.about)}]" if source.about and not again else ""
    copies = f"\n[Nearly the same in: {_named(source.near_copies)}]" if source.near_copies else ""
    body = f"{head}{about}{copies}\n{harmless(source.snippet)}"
    return f"<<source {source.n} {delimiter}>>\n{body}\n<</source {source.n} {delimiter}>>"


def about(facts: Mapping[str, Any] | None) -> str:
    """What is told of a node's repository: `footnotes: Python; 120 stars; last pushed 2026-01-02`; empty for none."""
    if not facts or facts["type"] != "repository":
        return ""
    stars = "" if facts["stars"] is None else f"{facts['stars']} stars"
    pushed = f"last pushed {facts['pushed_at'][:10]}" if facts["pushed_at"] else ""
    told = (facts["language"], stars, facts["licence"], facts["homepage"], pushed)
    return f"{facts['name']}: {'; '.join(filter(None, told))}"


def draw_delimiter(sources: Sequence[Source]) -> str:
    """A random key that stands nowhere in what is shown of these sources."""
    return fresh_key(
        "\n".join((source.title, source.about, *source.section_path, *source.near_copies, source.snippet))
        for source in sources
    )


def _unsaid(source: Source) -> tuple[str, ...]:
    """The headings above a snippet, without the title that is shown before them and those that it begins with."""
    path = source.section_path[1:] if source.section_path[:1] == (source.title,) else source.section_path
    lines = [line for line in source.snippet[:2_000].splitlines() if line.strip()][: len(path)]
    opening = [fold(plain(line).strip(" #*_")) for line in lines]
    for said in range(len(lines), 0, -1):
        if [fold(plain(heading)) for heading in path[-said:]] == opening[:said]:
            return path[:-said]
    return path


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    listed = ", ".join(map(on_one_line, names[:_NAMED]))
    return f"{listed} and {more} more" if more > 0 else listed
