"""The units of quotation of a source: paragraphs, lists, tables and blocks of code, with heading and lead-in."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from pipelines.answers import Source
from pipelines.query.verification.normalise import count_negations
from pipelines.query.verification.words import has_phrase, lowered
from pipelines.structure import TITLE_LEVEL, Element, Structure, row_cells
from pipelines.text import plain

UnitKind = Literal["paragraph", "list", "table", "code"]
ExcludeSpan = Callable[[Source, int, int], bool]  # True if this span of a source's snippet must not be quoted

_SEGMENT = 3  # sentences of a long paragraph that are one unit
_MAX_PART = 600  # characters; a longer piece is no sentence that a reader would be shown
_STOPS = (".", "!", "?", "。", "！", "？")
_MIN_LETTERS, _MIN_WORDS = 3, 5  # of an answer; of a line that is more than a title
_UNIT_KINDS: dict[str, UnitKind] = {"item": "list", "row": "table", "code": "code"}


@dataclass(frozen=True, slots=True)
class QuotableSources:
    """The sources from which units may be quoted, and a test for spans that must not be; None excludes nothing."""

    sources: Sequence[Source]
    excluded: ExcludeSpan | None = None


class Part(NamedTuple):
    """A sentence, list item, table row or line of code: its span in the source's snippet, and its words."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QuotableUnit:
    """A block of a source that can be quoted: at least one sentence, item, row or line.

    Attributes:
        lead: What leads in to a list, table or block of code right above it, in the same section; else None.
        above: The words of the last sentence right above it, whether it leads in to it or not.
        headings: The words of the headings above, outermost first.
        columns: The names of a table's columns; else empty.
        around: All sentences of the paragraph that it is a segment of; else its own parts.
    """

    source: Source
    kind: UnitKind
    parts: tuple[Part, ...]
    lead: Part | None = None
    above: str = ""
    headings: tuple[str, ...] = ()
    columns: str = ""
    around: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        """The words of its parts."""
        return ("\n" if self.kind == "code" else " ").join(part.text for part in self.parts)

    @property
    def lead_text(self) -> str:
        """The words right above it, and the names of its columns."""
        return " ".join(filter(None, (self.above, self.columns)))

    @property
    def denials(self) -> tuple[str, ...]:
        """The headings below the title, or the lead-in, that say of it that it is not so, planned or left out."""
        told = (*self.headings, *((self.lead.text,) if self.lead else ()))
        below = [words for words in told if words != plain(self.source.title)]
        return tuple(each for each in below if count_negations(each) or has_phrase(lowered(each), "excluding"))

    def cells(self, row: Part) -> list[tuple[str, str]]:
        """(the name of its column, a cell) for each cell of a row; empty where they do not fit the columns."""
        names, held = row_cells(self.columns), row_cells(row.text)
        return list(zip(names, held, strict=False)) if 1 < len(held) <= len(names) else []

    def shown(self, part: Part) -> str:
        """The words of a part; of a row of a table with the names of its columns: `bolts (A: yes; B: no)`."""
        if not (named := self.cells(part)):
            return part.text
        of, subject = named[0]
        told = "; ".join(f"{name}: {cell}" if name else cell for name, cell in named[bool(not of) :] if cell)
        return told if of or not subject else f"{subject} ({told})" if told else subject

    @property
    def start(self) -> int:
        """Where it begins in its document."""
        return self.source.start + self.parts[0].start

    @property
    def end(self) -> int:
        """Where it ends in its document."""
        return self.source.start + self.parts[-1].end


class PlacedElement(NamedTuple):
    """An element of a source with its sentences, the headings that hold for it and the names of its columns."""

    element: Element
    sentences: tuple[tuple[int, int], ...]
    headings: tuple[Element, ...]
    columns: str


def placed_elements(structure: Structure) -> Iterator[PlacedElement]:
    """The elements of a structure in order, without those that stand before its text and hold for it."""
    opened: list[Element] = []
    columns: dict[int, str] = {}
    spans, at = structure.sentences, 0
    for element in structure.elements:
        opened = [heading for heading in opened if heading.of > max(element.start, 0)]
        if element.kind == "head":
            columns[element.of] = element.name
        if element.end > 0:
            first = at
            while at < len(spans) and spans[at][0] < element.end:
                at += 1
            yield PlacedElement(element, spans[first:at], tuple(opened), columns.get(element.of, ""))
        if element.kind == "heading":
            opened.append(element)


def quotable_units(sources: Sequence[Source], excluded: ExcludeSpan | None = None) -> list[QuotableUnit]:
    """The units of the sources, in order, without the parts for which `excluded` is true.

    Headings (but those without a mark that say something), lead-ins, badges, contents and lines of links are none.
    """
    every = (unit for source in sources for unit in _units_of(source))
    return list(filter(None, (_without(unit, excluded) for unit in every)))


def _without(unit: QuotableUnit, excluded: ExcludeSpan | None) -> QuotableUnit | None:
    """The unit without the excluded parts; None where none is left."""
    if excluded is None:
        return unit

    def kept(parts: Sequence[Part]) -> tuple[Part, ...]:
        return tuple(part for part in parts if not excluded(unit.source, part.start, part.end))

    parts = kept(unit.parts)
    lead = unit.lead if unit.lead and kept([unit.lead]) else None
    return replace(unit, parts=parts, around=kept(unit.around), lead=lead) if parts else None


def _units_of(source: Source) -> Iterator[QuotableUnit]:
    structure = source.read()
    outer = tuple(dict.fromkeys(filter(None, (plain(title) for title in (source.title, *source.section_path)))))
    placed = (each for each in placed_elements(structure) if each.element.kind != "head")
    groups = [list(group) for _, group in groupby(placed, key=_group_of)]
    for before, group, after in zip([[], *groups], groups, [*groups[1:], []], strict=False):
        element, _, above, columns = group[0]
        kind = _UNIT_KINDS.get(element.kind, "paragraph")
        headings = (*outer, *(each.name for each in above if each.name not in outer))
        beside = _sentence_above(structure, before[-1:], above) if kind != "paragraph" else None
        lead = beside if beside and before[-1].element.kind == "paragraph" and _is_open(beside) else None
        parts = [part for each in group for part in _parts(structure, each)]
        is_led = bool(after) and after[0].element.kind in _UNIT_KINDS
        if element.kind == "paragraph" and parts and is_led and _is_open(parts[-1]):
            parts = parts[:-1]
        over = beside.text if beside else ""
        for segment in _segments(parts) if kind == "paragraph" else filter(None, [parts]):
            yield QuotableUnit(source, kind, tuple(segment), lead, over, headings, columns, tuple(parts))


def _is_open(part: Part) -> bool:
    return not part.text.rstrip("\"'”’»)").endswith(_STOPS)


def _group_of(placed: PlacedElement) -> tuple[str, int]:
    """Items of a list and rows of a table are one unit; everything else stands alone."""
    element = placed.element
    return element.kind, element.of if element.kind in ("item", "row") else element.start


def _segments(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """The sentences of a paragraph in groups of three, as even as they can be; up to four stay together."""
    count = max(1, round(len(parts) / _SEGMENT)) if len(parts) > _SEGMENT + 1 else 1
    edges = [round(place * len(parts) / count) for place in range(count + 1)]
    yield from (parts[first:last] for first, last in pairwise(edges) if last > first)


def _sentence_above(structure: Structure, last: Sequence[PlacedElement], above: tuple[Element, ...]) -> Part | None:
    """The last sentence of the paragraph or caption right above, in the same section."""
    for placed in last:
        if placed.element.kind in ("paragraph", "caption") and placed.headings == above and placed.sentences:
            span = placed.sentences[-1]
            return Part(*span, words) if is_quotable(words := structure.words(*span), placed.element) else None
    return None


def _parts(structure: Structure, placed: PlacedElement) -> list[Part]:
    element = placed.element
    if element.kind in ("links", "caption") or (element.kind == "heading" and not _is_statement(element)):
        return []
    if element.kind == "code":
        return [Part(start, end, structure.text[start:end].strip()) for start, end in placed.sentences]
    whole = (element.body if element.kind == "item" else element.start, element.end)
    is_one = element.kind in ("item", "row", "label") and whole[1] - whole[0] <= _MAX_PART
    spans = [whole] if is_one else placed.sentences
    return [Part(*span, words) for span in spans if is_quotable(words := structure.words(*span), element)]


def _is_statement(heading: Element) -> bool:
    """True for a line without a mark that reads as a heading and says a number, or much in small letters."""
    words, is_numbered = heading.name.split(), any(map(str.isdigit, heading.name))
    is_sentence = len(words) >= _MIN_WORDS and 2 * sum(map(str.islower, words)) > len(words)
    return heading.level == TITLE_LEVEL and len(words) > 1 and (is_sentence or is_numbered)


def is_quotable(words: str, element: Element) -> bool:
    """True for words that say something: a single one only in an item or a row."""
    if sum(map(str.isalnum, words)) < _MIN_LETTERS or len(words) > _MAX_PART:
        return False
    return element.kind in ("item", "row") or not words.isalpha()
