"""The sentences, list items and table rows of the sources that may be quoted, with their surroundings."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.answers import Source
from pipelines.store.tokens import tokenise
from pipelines.structure import sentences
from pipelines.text import Span, base_verb_forms, fold, plain

_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-[-:| \t]*$", re.MULTILINE)
_CELL = re.compile(r"([^:;\n]{1,80}):[ \t]")
_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        table: Where the first row of its table begins.
        columns: The words of the row that names the columns; empty where none does.
        is_head: True if it is that row itself.
    """

    table: int
    columns: str = ""
    is_head: bool = False


def table_rows(text: str, spans: Sequence[Span]) -> list[TableRow | None]:
    """For each piece, its table row; None for a piece that is not a row.

    A row has cells between bars, or values after the names of their columns (`Name: Ada; Born: 1815`), as tables of
    files are written. Rows on lines that follow each other are one table; a line of dashes lies below its head.
    """
    found: list[TableRow | None] = []
    kind, done = frozenset[str](), 0
    for place, (start, end) in enumerate(spans):
        own, gap = _row_signature(text[start:end]), text[done:start]
        held = found[-1] if found else None
        if not own:
            found.append(None)
        elif text[start] == "|" and _is_rule_below(text, spans, place):
            found.append(TableRow(start, " ".join(plain(text[start:end]).split()), is_head=True))
        elif held and own & kind and ("\n\n" not in gap or _RULE.search(gap)):
            found.append(TableRow(held.table, held.columns))
        else:
            found.append(TableRow(start))
        kind, done = own, end
    return found


def _row_signature(piece: str) -> frozenset[str]:
    """A bar for cells between bars, the columns' names for named values, nothing for what is no row."""
    if piece.startswith("|") or " | " in piece:
        return frozenset("|")
    names = frozenset(cell[1].strip() for part in piece.split(_BETWEEN) if (cell := _CELL.match(part)))
    return names if len(names) > 1 else frozenset()


def _is_rule_below(text: str, spans: Sequence[Span], place: int) -> bool:
    """True if a line of dashes lies between this piece and the next one, or the end."""
    after = spans[place + 1][0] if place + 1 < len(spans) else len(text)
    return bool(_RULE.search(text, spans[place][1] + 1, after))


_MAX_CHARACTERS = 600
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_CAPITALS = 60  # characters up to which a line in capitals is a heading
_ITEM = re.compile(r"(?:^|\n)[ \t]*(?:[-*+•·‣–]|\d{1,3}[.)]|\|)[ \t]*$")
_STOPS = ".!?。！？"
_LETTERS = 3  # fewer are no answer
_AROUND = 3  # lines before and after that say what a line is about
_Terms = frozenset[str]
ExcludeSpan = Callable[[Source, int, int], bool]  # True if this span of a source's snippet must not be quoted

_PICTURES = ("[![", "![")  # badges: what they are called says nothing
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class QuotableSources:
    """The sources from which lines may be quoted, and a test for spans that must not be; None excludes nothing."""

    sources: Sequence[Source]
    excluded: ExcludeSpan | None = None


@dataclass(frozen=True, slots=True)
class QuotableLine:
    """A piece of a source that may be quoted.

    Attributes:
        source: Where it stands.
        start, end: Its span in the snippet.
        text: Its words, without markup.
        place: Its number among the pieces of the source, from 0.
        own: Its index terms.
        before: Terms of the piece before it.
        near: Terms of the piece and its two neighbours.
        around: Terms of the pieces within three lines and of the headings above.
        headings: Terms of the headings above.
        document: Terms of all sources of its document.
        item: True if it is an item of a list or a row of a table.
        lead: Terms of the heading or lead-in right above it.
        under: The words of that heading or lead-in.
        code: True if it stands in a fenced block of code.
        opens: True if it is the first quotable line of its document.
        table: For a row, the offset of its table in the snippet; else -1.
        title: True if it reads as an unmarked heading.
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


def quotable_lines(sources: Sequence[Source], barred: ExcludeSpan | None = None) -> list[QuotableLine]:
    """The lines of the sources that may be quoted, in order: no headings, questions, lead-ins or column names.

    A `barred` piece is left out, and its terms do not count for the lines around it.
    """
    found = [line for source in sources for line in _lines_of_source(source, barred)]
    said: dict[str, set[str]] = {}
    for line in found:
        said.setdefault(line.source.document_id, set()).update(line.around)
    spoken = {document: frozenset(terms) for document, terms in said.items()}
    return [replace(line, document=spoken[line.source.document_id]) for line in found]


def _lines_of_source(source: Source, barred: ExcludeSpan | None) -> Iterator[QuotableLine]:
    snippet = source.snippet
    spans = sentences(snippet)
    closed = {start for start, end in spans if barred and barred(source, start, end)}
    texts = [" ".join(plain(snippet[start:end]).split()) for start, end in spans]
    terms = [
        frozenset[str]() if start in closed else index_terms(text)
        for (start, _), text in zip(spans, texts, strict=True)
    ]
    path = (source.title, *source.section_path)
    titles = {fold(plain(title)) for title in path}
    outer, heading, lead = index_terms(" ".join(path)), frozenset[str](), ""
    fenced, rows, opens = _fenced(snippet), table_rows(snippet, spans), source.start == 0
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
        if asks or len(text) > _MAX_CHARACTERS or not _has_content(text, item=item):
            continue
        first = max(place - 1, 0)
        columns = index_terms(row.columns) if row else frozenset[str]()
        headings = outer | heading | columns
        around = headings.union(*terms[max(place - _AROUND, 0) : place + _AROUND + 1])
        yield QuotableLine(
            source, start, end, text, place,
            own=terms[place],
            before=terms[first] if place else frozenset(),
            near=frozenset().union(*terms[first : place + 2]),
            around=around,
            headings=headings,
            item=item,
            lead=index_terms(lead_in if title else lead) | columns,
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


def index_terms(text: str) -> frozenset[str]:
    """The index terms of a text, and those of the base forms of its irregular verbs."""
    return frozenset(tokenise(text)) | frozenset(tokenise(base_verb_forms(text)))


def _is_heading(raw: str, text: str, titles: set[str]) -> bool:
    """True if a piece is a heading or a line in capitals."""
    capitals = len(text) <= _CAPITALS and text.isupper() and " " in text
    return bool(_HEADING.match(raw)) or fold(text) in titles or capitals


def _is_title(snippet: str, spans: Sequence[Span], rows: Sequence[TableRow | None], place: int) -> bool:
    """True if a piece is a short line of its own without a final stop, above a sentence, a list or a table."""
    start, end = spans[place]
    if place + 1 == len(spans) or end - start > _CAPITALS or not snippet[end - 1].isalnum():
        return False
    first, last = spans[place + 1]
    before = snippet[spans[place - 1][1] : start] if place else "\n\n" + snippet[:start]
    between = snippet[end:first]
    alone = before.count("\n") > 1 and not before.strip() and between.count("\n") > 1
    return alone and (bool(between.strip()) or rows[place + 1] is not None or snippet[last - 1] in _STOPS)


def _has_content(text: str, *, item: bool) -> bool:
    """True if a piece has at least three letters and is more than a single word."""
    letters = sum(map(str.isalpha, text))
    return letters >= _LETTERS and (item or " " in text or letters < len(text))
