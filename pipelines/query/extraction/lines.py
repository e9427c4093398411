"""LINES: the sentences, list items and table rows of the sources that may be quoted, with what stands around them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.query.extraction.irregular import regular
from pipelines.query.extraction.tables import Row, rows_of
from pipelines.sentences import Span
from pipelines.store.tokens import tokenise
from pipelines.text import fold, plain, sentences
from pipelines.types import Source

_MAX_CHARACTERS = 600
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_CAPITALS = 60  # characters up to which a line in capitals is a heading
_ITEM = re.compile(r"(?:^|\n)[ \t]*(?:[-*+•·‣–]|\d{1,3}[.)]|\|)[ \t]*$")
_STOPS = ".!?。！？"
_LETTERS = 3  # fewer are no answer
_AROUND = 3  # lines before and after that say what a line is about
_Terms = frozenset[str]
Barred = Callable[[Source, int, int], bool]  # whether this span of a source's snippet may not be quoted

_PICTURES = ("[![", "![")  # badges: what they are called says nothing
_BAR = re.compile(r"(?<!\\)\|")  # one behind a backslash is a cell's own
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of a source that may be quoted.

    Attributes:
        source: Where it stands.
        start, end: Its span in the snippet.
        text: Its words, without markup.
        place: Which of the source's pieces it is, from 0.
        own: Its index terms.
        before: Those of the piece before it.
        near: Those of itself and the pieces right before and after it.
        around: Those of the pieces near it and of the headings that it stands under.
        headings: Those of the headings alone.
        document: Those of all that is shown of its document.
        item: Whether it is an item of a list or a row of a table.
        lead: Those of the heading or lead-in right above it.
        under: The words of that heading or lead-in.
        code: Whether it stands in a fenced block of code.
        opens: Whether it is the first of its document that says something.
        table: For a row of a table, where that begins in the snippet; else -1.
        title: Whether it reads as the heading of what follows, though no mark says so.
    """

    source: Source
    start: int
    end: int
    text: str
    place: int = 0
    own: _Terms = frozenset()
    before: _Terms = frozenset()
    near: _Terms = frozenset()
    around: _Terms = frozenset()
    headings: _Terms = frozenset()
    document: _Terms = frozenset()
    item: bool = False
    lead: _Terms = frozenset()
    under: str = ""
    code: bool = False
    opens: bool = False
    table: int = -1
    title: bool = False


def readable(line: Line) -> str:
    """The words of a line as they are quoted: of a row between bars with the bars between its cells."""
    raw = line.source.snippet[line.start : line.end].strip()
    if line.table < 0 or not (raw.startswith("|") or " | " in raw):
        return line.text
    cells = (" ".join(plain(cell).split()) for cell in _BAR.split(raw.strip("|")))
    return " | ".join(cells)


def lines_of(sources: Sequence[Source], barred: Barred | None = None) -> list[Line]:
    """What of the sources may be quoted, in their order: no headings, questions, lead-ins or names of columns.

    A `barred` piece is none, and its words count for nothing around it.
    """
    found = [line for source in sources for line in _lines(source, barred)]
    said: dict[str, set[str]] = {}
    for line in found:
        said.setdefault(line.source.document_id, set()).update(line.around)
    spoken = {document: frozenset(terms) for document, terms in said.items()}
    return [replace(line, document=spoken[line.source.document_id]) for line in found]


def _lines(source: Source, barred: Barred | None) -> Iterator[Line]:
    snippet = source.snippet
    spans = sentences(snippet)
    closed = {start for start, end in spans if barred and barred(source, start, end)}
    texts = [" ".join(plain(snippet[start:end]).split()) for start, end in spans]
    terms = [
        frozenset[str]() if start in closed else terms_of(text) for (start, _), text in zip(spans, texts, strict=True)
    ]
    path = (source.title, *source.section_path)
    titles = {fold(plain(title)) for title in path}
    outer, heading, lead = terms_of(" ".join(path)), frozenset[str](), ""
    fenced, rows, opens = _fenced(snippet), rows_of(snippet, spans), source.start == 0
    for place, ((start, end), text) in enumerate(zip(spans, texts, strict=True)):
        if start in closed:
            continue
        row, lead_in = rows[place], lead
        title = row is None and _is_title(snippet, spans, rows, place)
        if _is_heading(snippet[start:end], text, titles):
            heading, lead = terms[place], text
            continue
        if title or text.endswith((":", "：")):
            lead = text
        item = bool(_ITEM.search(snippet[max(start - 8, 0) : start])) or " | " in snippet[start:end]
        asks = text.endswith(("?", ":", "？", "：")) or snippet.startswith(_PICTURES, start)
        asks |= row is not None and row.is_head
        if asks or len(text) > _MAX_CHARACTERS or not _says_something(text, item=item):
            continue
        first = max(place - 1, 0)
        columns = terms_of(row.columns) if row else frozenset[str]()
        headings = outer | heading | columns
        around = headings.union(*terms[max(place - _AROUND, 0) : place + _AROUND + 1])
        yield Line(
            source, start, end, text, place,
            own=terms[place],
            before=terms[first] if place else frozenset(),
            near=frozenset().union(*terms[first : place + 2]),
            around=around,
            headings=headings,
            item=item,
            lead=terms_of(lead_in if title else lead) | columns,
            under=lead_in if title else lead,
            code=any(begin <= start < until for begin, until in fenced),
            opens=opens,
            table=row.table if row else -1,
            title=title,
        )  # fmt: skip
        heading = terms[place] if title else heading
        opens = False


def _fenced(snippet: str) -> list[tuple[int, int]]:
    """The spans of fenced code; a fence without a name that comes first closes a block that began before."""
    marks = list(_FENCE.finditer(snippet))
    edges = [mark.start() for mark in marks]
    if len(edges) % 2 and not marks[0][1]:
        edges.insert(0, 0)
    if len(edges) % 2:
        edges.append(len(snippet))
    return list(zip(edges[::2], edges[1::2], strict=True))


def terms_of(text: str) -> frozenset[str]:
    """The index terms of a text, and those of the base forms of its irregular verbs."""
    return frozenset(tokenise(text)) | frozenset(tokenise(regular(text)))


def _is_heading(raw: str, text: str, titles: set[str]) -> bool:
    """Whether a piece only names what follows: a heading, or a line in capitals."""
    capitals = len(text) <= _CAPITALS and text.isupper() and " " in text
    return bool(_HEADING.match(raw)) or fold(text) in titles or capitals


def _is_title(snippet: str, spans: Sequence[Span], rows: Sequence[Row | None], place: int) -> bool:
    """Whether a piece stands alone as a short line without a stop, above a sentence, a list or a table."""
    start, end = spans[place]
    if place + 1 == len(spans) or end - start > _CAPITALS or not snippet[end - 1].isalnum():
        return False
    first, last = spans[place + 1]
    before = snippet[spans[place - 1][1] : start] if place else "\n\n" + snippet[:start]
    between = snippet[end:first]
    alone = before.count("\n") > 1 and not before.strip() and between.count("\n") > 1
    return alone and (bool(between.strip()) or rows[place + 1] is not None or snippet[last - 1] in _STOPS)


def _says_something(text: str, *, item: bool) -> bool:
    """Whether a piece has letters beside its numbers and signs, and is more than the one word of a heading."""
    letters = sum(map(str.isalpha, text))
    return letters >= _LETTERS and (item or " " in text or letters < len(text))
