"""The structure of a document: blocks, sentences and markup, made once at ingestion and read by every stage."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple, get_args

from pipelines.blocks import fill_gaps, frames, has_tag, markdown_blocks, read_blocks, title_of
from pipelines.bullets import item_body, mark_end
from pipelines.headings import trim_span
from pipelines.markup import CELL, Markup, bars_of_row, fence_of, outermost, replaced, scan_markup
from pipelines.text import Span, has_words, prose_sentences, sentence_pieces
from pipelines.types import Block, Document

STRUCTURE_VERSION = 4
ElementKind = Literal["heading", "paragraph", "item", "head", "row", "code", "quote", "label", "links", "caption"]
_KINDS: tuple[ElementKind, ...] = get_args(ElementKind)
TITLE_LEVEL, QUESTION_LEVEL = 7, 8  # of headings without a mark, below all that have one

_MAX_LINE = 80  # of a line that says something of its own
_MAX_TITLE, _MAX_TITLE_WORDS = 60, 7  # of a heading without a mark
_MAX_LABEL, _MAX_LABEL_WORDS, _MAX_VALUE = 60, 7, 200
_STOPS = ".!?;。！？"
# A short line with one of these says something; a line that begins with an article defines something.
_SAYING = frozenset("is are was were be been has have had can could will would must may should does did do".split())
_DEFINING = frozenset("a an".split())
_COMMAND_SIGNS = "$>./`"
_ARROWS = (" → ", " ⇒ ", " -> ", " => ")
_COLUMN_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-[-:| \t]*")
_TABLE_ROW = re.compile(r"<tr[\s>].*?(?=</tr\s*>|<tr[\s>]|\Z)", re.IGNORECASE | re.DOTALL)
_FENCE_MARKS = ("```", "~~~")
_MAX_ROW = 200
_NAMED_CELLS = re.compile(r"[^:;\n]{1,80}: [^;\n]*; [^:;\n]{1,80}: ")  # a row under the names of its columns
_MAX_NAMED_ROW = 600
_MARKS = "-=*_~`|:+#>^ \t"


class Element(NamedTuple):
    """A piece of a document, smaller than a block where that holds several.

    Attributes:
        kind: `head` is the row that names a table's columns; `links` holds nothing but links and pictures; `caption`
            numbers the table, code or picture beside it (`Table 1: loads`).
        start, end: Its span, marks included.
        body: Where its words begin: after the mark of an item or heading, a label, the opening fence of code.
        level: Of a heading from 1, `TITLE_LEVEL` and `QUESTION_LEVEL` without a mark; of an item its depth from 0.
        of: Where the list or table that it belongs to begins; of a heading where what it heads ends; of code where
            its lines end.
        name: The words of a heading, the names of the columns of a head, the language of code, the label of a labelled
            line or item.
    """

    kind: ElementKind
    start: int
    end: int
    body: int
    level: int = 0
    of: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Structure:
    """The elements, sentences and markup of a text, in its offsets.

    Of a part of a document, headings and names of columns that stand before it and hold for it come first, at offsets
    below 0.
    """

    text: str
    elements: tuple[Element, ...] = ()
    sentences: tuple[Span, ...] = ()
    markup: tuple[Markup, ...] = ()

    def words(self, start: int, end: int) -> str:
        """The words of a span, without markup, on one line."""
        return " ".join(replaced(self.text, self.markup, start, end).split())

    def shown(self) -> str:
        """The text without what its markup hides."""
        return replaced(self.text, [span._replace(words="") for span in self.markup if span.hides])

    def lines(self) -> Iterator[Span]:
        """The lines of all elements but headings, without their marks."""
        for element in self.elements:
            if element.kind not in ("heading", "head") and element.end > 0:
                start = element.start if element.kind == "label" else element.body
                yield from (trim_span(self.text, *line) for line in lines_between(self.text, start, element.end))

    def between(self, start: int, end: int, text: str | None = None) -> "Structure":
        """The structure of a part.

        Args:
            start, end: Its span.
            text: Its text, where this structure was read without one.
        """
        named: dict[int, Element] = {}
        kept: list[Element] = []
        for element in self.elements:
            if element.start >= end:
                break
            if element.end <= start:
                if element.kind == "heading" and element.of > start:
                    kept.append(_moved(element, start, end))
                elif element.kind == "head":
                    named[element.of] = element
            elif element.kind == "row" and element.of in named:
                kept += [_moved(named.pop(element.of), start, end), _moved(element, start, end)]
            else:
                kept.append(_moved(element, start, end))
        return Structure(
            self.text[start:end] if text is None else text,
            tuple(kept),
            tuple(_clipped(self.sentences, start, end)),
            tuple(
                span._replace(start=max(span.start, start) - start, end=min(span.end, end) - start)
                for span in _overlapping(self.markup, start, end)
            ),
        )

    def stored(self) -> dict[str, Any]:
        """The structure without its text, as JSON that `read_structure` reads."""
        return {
            "version": STRUCTURE_VERSION,
            "characters": len(self.text),
            "elements": [[_KINDS.index(element.kind), *element[1:]] for element in self.elements],
            "sentences": [place for span in self.sentences for place in span],
            "markup": [list(span[: 4 if span.hides else 3 if span.words else 2]) for span in self.markup],
        }


def _moved(element: Element, start: int, end: int) -> Element:
    """An element in the offsets of a part; one that begins before the part and reaches into it is cut."""
    if element.end <= start:
        first, last, body = element.start - start, element.end - start, element.body - start
    else:
        first, last = max(element.start - start, 0), min(element.end, end) - start
        body = min(max(element.body - start, 0), last)
    return element._replace(start=first, end=last, body=body, of=element.of - start)


def _overlapping(markup: Sequence[Markup], start: int, end: int) -> Sequence[Markup]:
    first = max(bisect_right(markup, (start,)) - 1, 0)
    last = bisect_left(markup, (end,), lo=first)
    return [span for span in markup[first:last] if span.end > start]


def _clipped(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    for first, last in spans[max(bisect_right(spans, (start, start)) - 1, 0) : bisect_left(spans, (end, end))]:
        if last > start:
            yield max(first, start) - start, min(last, end) - start


def read_structure(stored: Mapping[str, Any], text: str = "") -> Structure:
    """A stored structure of a text; without the text, only its parts can be read (`Structure.between`)."""
    places = stored["sentences"]
    return Structure(
        text,
        tuple(Element(_KINDS[kind], *rest) for kind, *rest in stored["elements"]),
        tuple(zip(places[::2], places[1::2], strict=True)),
        tuple(Markup(*span) for span in stored["markup"]),
    )


def structure_of(text: str, blocks: Sequence[Block] = (), mime: str = "text/markdown") -> Structure:
    """The structure of a document's text. Takes time linear in the text.

    Only in Markdown is an asterisk a mark; elsewhere markup is what a loader put around the words: fences, and the bars
    of tables.

    Args:
        text: Canonical text.
        blocks: The loader's; without any, the text is read as Markdown or plain text.
        mime: Of the document.
    """
    is_markdown = mime in ("", "text/markdown")
    if is_markdown and not blocks:
        blocks = markdown_blocks(text)
    return _Reader(text, read_blocks(text, tuple(blocks), mime), is_markdown=is_markdown).read()


def stored_structure(document: Document) -> Mapping[str, Any]:
    """The structure of a document as it is stored: its own if it is of this text and of today's version."""
    own = document.structure
    if own.get("version") == STRUCTURE_VERSION and own.get("characters") == len(document.text):
        return own
    return structure_of(document.text, document.blocks, document.mime).stored()


class _Reader:
    """Reads blocks into elements."""

    def __init__(self, text: str, blocks: Sequence[Block], *, is_markdown: bool) -> None:
        self.text = text
        self.is_markdown = is_markdown
        self.elements: list[Element] = []
        self.blocks = fill_gaps(text, blocks)
        code = [(text.rfind("\n", 0, block.start) + 1, block.end) for block in blocks if block.kind == "code"]
        self.frames: dict[int, Element] = {}
        if is_markdown:
            scan = scan_markup(text, [span for span in code if fence_of(text, *span) is None])
            self.markup, self.links, self.images = scan.markup, scan.links, frozenset(scan.images)
            for frame in frames(text, scan):
                name = " ".join(replaced(text, self.markup, frame.start, frame.end).split())
                element = Element("heading", frame.start, frame.end, frame.start, TITLE_LEVEL, frame.until, name)
                self.frames[frame.start] = element
        else:
            self.markup, self.links, self.images = list(_rendering_marks(text, self.blocks)), [], frozenset()
        self._framed = sorted(self.frames)

    def read(self) -> Structure:
        for number, block in enumerate(self.blocks):
            if block.kind == "heading":
                name = title_of(self.text, block.start, block.end)
                self._add("heading", block.start, block.end, level=block.level, name=name)
            elif block.kind == "code":
                self._read_code(block)
            elif block.kind == "table":
                self._read_table(block)
            elif block.kind == "list":
                self._read_item(block)
            else:
                self._read_paragraph(block, self.blocks[number + 1 : number + 2])
        elements = _with_scopes(self._with_contents_marked(), len(self.text))
        return Structure(self.text, tuple(elements), tuple(self._sentences(elements)), tuple(self.markup))

    def _words(self, start: int, end: int) -> str:
        return " ".join(replaced(self.text, self.markup, start, end).split())

    def _add(
        self, kind: ElementKind, start: int, end: int, body: int | None = None, *, level: int = 0, name: str = ""
    ) -> None:
        """Add an element; one that goes on with the list or table of the last one belongs to it."""
        last = self.elements[-1] if self.elements else None
        of = start
        if last and _FAMILY.get(kind) == _FAMILY.get(last.kind, "") and not self._words(last.end, start):
            is_apart = self.text.startswith("|", start) and "\n\n" in self.text[last.end : start]
            of = start if is_apart or kind == "head" else last.of
        if body is None:
            body = start
            held = bisect_left(self.markup, (start,))
            if kind == "heading" and held < len(self.markup) and self.markup[held].start == start:
                body = min(self.markup[held].end, end)
        self.elements.append(Element(kind, start, end, body, level, of, name))

    def _read_code(self, block: Block) -> None:
        fence = fence_of(self.text, block.start, block.end)
        body, last = block.start, block.end
        if fence is not None:
            body = min(self.text.find("\n", block.start, block.end) % (block.end + 1) + 1, block.end)
            closing = self.text.rfind("\n", body - 1, block.end) + 1
            if closing >= body and self.text[closing : block.end].strip(" \t>`~") == "":
                last = max(body, closing)
        element = Element("code", block.start, block.end, body, 0, last, fence or "")
        self.elements.append(element)

    def _read_table(self, block: Block) -> None:
        """The rows of a table: of HTML, between bars, or, where each row is a block, the whole block."""
        start, end, text = block.start, block.end, self.text
        if tagged := list(_TABLE_ROW.finditer(text, start, end)):
            for place, row in enumerate(tagged):
                is_head = not place and has_tag(row[0], "th") and not has_tag(row[0], "td")
                self._add_row(*trim_span(text, *row.span()), is_head=bool(is_head))
            return
        lines = list(lines_between(text, start, end))
        rule = next((place for place, line in enumerate(lines) if _COLUMN_RULE.fullmatch(text, *line)), None)
        if rule is None and not text.startswith("|", start):
            self._add_row(start, end)
            return
        for place, line in enumerate(lines):
            if place != rule:
                self._add_row(*trim_span(text, *line), is_head=rule is not None and place < rule)

    def _add_row(self, start: int, end: int, *, is_head: bool = False) -> None:
        name = self._words(start, end) if is_head else ""
        if start < end:
            self._add("head" if is_head else "row", start, end, name=name)

    def _read_item(self, block: Block) -> None:
        body = item_body(self.text, block.start, block.end)
        held = bisect_right(self.markup, (body,)) - 1
        if body > block.start and held >= 0 and self.markup[held].start <= body < self.markup[held].end:
            body = min(self.markup[held].end, block.end)  # the box of a task
        column = block.start - (self.text.rfind("\n", 0, block.start) + 1)
        if not has_words(self._words(body, block.end)):
            return
        label = self._label(body, block.end)
        kind: ElementKind = "links" if self._is_links(body, block.end) else "item"
        self._add(kind, block.start, block.end, body, level=column, name=label[1] if label else "")

    def _read_paragraph(self, block: Block, following: Sequence[Block]) -> None:
        """A paragraph: a title, labels with values, a quotation, navigation, or words; the titles of its containers."""
        lines = [trim_span(self.text, *line) for line in lines_between(self.text, block.start, block.end)]
        framed = [line for line in lines if (frame := self._frame_in(*line)) is not None]
        for line in framed:
            frame = self._frame_in(*line)
            if frame and frame.name:
                self.elements.append(frame)
        lines = [line for line in lines if line not in framed and has_words(self._words(*line))]
        if lines:
            self._read_lines(lines, following)

    def _read_lines(self, lines: Sequence[Span], following: Sequence[Block]) -> None:
        text, start, end = self.text, lines[0][0], lines[-1][1]
        words = self._words(start, end)
        names = [named_cells(text[slice(*line)]) for line in lines]
        labels = [self._label(*line) for line in lines]
        if self._is_links(start, end):
            self._add("links", start, end)
        elif all(names):
            for place, line in enumerate(lines):
                is_first = not place or names[place].isdisjoint(names[place - 1])
                self.elements.append(Element("row", *line, line[0], 0, line[0] if is_first else self.elements[-1].of))
        elif all(labels):
            is_beside = len(lines) == 1 and self._is_beside_figure(following)
            for line, label in zip(lines, labels, strict=True):
                if label:
                    is_caption = is_beside and label[1].split()[-1].strip(".").isdigit() and " " in label[1]
                    self._add("caption" if is_caption else "label", *line, label[0], name=label[1])
        elif text.startswith(">", start):
            self._add("quote", start, end)
        elif len(lines) == 1 and (level := self._title_level(words, following)):
            self._add("heading", start, end, level=level, name=words)
        else:
            for line in lines if self._is_by_line(lines) else [(start, end)]:
                self._add("paragraph", *line)

    def _is_by_line(self, lines: Sequence[Span]) -> bool:
        """True if each of several lines says something of its own: short, from a capital or digit on, with no stop."""
        texts = [self.text[slice(*line)] for line in lines]
        is_short = all(len(line) <= _MAX_LINE and (line[0].isupper() or line[0].isdigit()) for line in texts)
        return len(lines) > 1 and is_short and not any(line[-1] in f"{_STOPS},:-\\" for line in texts[:-1])

    def _is_beside_figure(self, following: Sequence[Block]) -> bool:
        """True right below or above a table, code or pictures."""
        is_below = bool(self.elements) and self.elements[-1].kind in ("row", "code", "links")
        return is_below or any(block.kind in ("table", "code") for block in following)

    def _frame_in(self, start: int, end: int) -> Element | None:
        """The title of the container that a line opens."""
        place = bisect_left(self._framed, start)
        is_framed = place < len(self._framed) and self._framed[place] <= end
        return self.frames[self._framed[place]] if is_framed else None

    def _label(self, start: int, end: int) -> tuple[int, str] | None:
        """(where the value begins, the label) of a line `Label: value` or `key → value`; None for any other."""
        limit = min(end, start + 2 * _MAX_LABEL)
        arrows = [(place, place + len(sign)) for sign in _ARROWS if (place := self.text.find(sign, start, limit)) >= 0]
        arrow, colon = min(arrows, default=None), self.text.find(":", start, limit)
        place, after = arrow or (colon, colon + 1)
        if place < 0 or after >= end or not (arrow or self.text[after] in " \t*_"):
            return None
        name, value = self._words(start, place), self._words(after, end)
        is_name = 0 < len(name) <= _MAX_LABEL and len(name.split()) <= _MAX_LABEL_WORDS and name[0].isalnum()
        is_value = 0 < len(value) <= _MAX_VALUE and has_words(value) and len(sentences(value)) == 1
        if not is_name or any(stop in name for stop in ".!?,;") or not is_value:
            return None
        while after < end and self.text[after] in " \t*_":
            after += 1
        return after, name

    def _title_level(self, words: str, following: Sequence[Block]) -> int:
        """The level of a line of its own that heads what follows; 0 for one that does not."""
        if not following or following[0].kind == "heading" or len(sentences(words)) > 1:
            return 0
        if words.endswith("?") and len(words) <= 2 * _MAX_TITLE:
            return QUESTION_LEVEL
        if not self.is_markdown:  # its loader knows the headings by their type or place
            return 0
        parts = words.casefold().split()
        is_short = len(words) <= _MAX_TITLE and len(parts) <= _MAX_TITLE_WORDS
        if (
            not is_short
            or words[-1] in f"{_STOPS}:,"
            or words[0] in _COMMAND_SIGNS
            or parts[0] in _DEFINING
            or not _SAYING.isdisjoint(parts)
        ):
            return 0
        below = self._words(following[0].start, following[0].end)
        is_prose = below[-1:] in _STOPS or len(below) > 2 * _MAX_TITLE or below.endswith(":")
        return TITLE_LEVEL if following[0].kind != "paragraph" or is_prose else 0

    def _is_links(self, start: int, end: int) -> bool:
        """True for several links or pictures with no word beside them, or pictures alone."""
        first = bisect_left(self.links, (start,))
        own = [link for link in self.links[first : bisect_left(self.links, (end,))] if link[1] <= end]
        if not own:
            return False
        inside = _overlapping(self.markup, start, end)
        around = replaced(self.text, outermost([*(Markup(*link) for link in own), *inside]), start, end)
        pictures = sum(link in self.images or not has_words(self._words(*link)) for link in own)
        return not has_words(around) and (len(own) > 1 or pictures == len(own))

    def _with_contents_marked(self) -> list[Element]:
        """The elements, with the items of a table of contents as links; an item's depth instead of its column."""
        lists: dict[int, list[int]] = {}
        for place, element in enumerate(self.elements):
            if element.kind in ("item", "links"):
                lists.setdefault(element.of, []).append(place)
        found = list(self.elements)
        for places in lists.values():
            own = [self.elements[place] for place in places]
            anchors = sum("](#" in self.text[element.start : element.end] for element in own)
            columns: list[int] = []
            for place, element in zip(places, own, strict=True):
                while columns and columns[-1] > element.level:
                    columns.pop()
                if not columns or columns[-1] < element.level:
                    columns.append(element.level)
                kind = "links" if 2 * anchors > len(own) else element.kind
                found[place] = element._replace(kind=kind, level=len(columns) - 1)
        return found

    def _sentences(self, elements: Iterable[Element]) -> Iterator[Span]:
        masked = _masked(self.text, self.markup)
        spans: Iterator[Span]
        for element in elements:
            if element.kind == "code":
                spans = (trim_span(self.text, *line) for line in lines_between(self.text, element.body, element.of))
            elif element.kind in ("heading", "head", "row", "label", "caption"):
                spans = sentence_pieces(self.text, element.start, element.end)
            else:
                body, found = element.body, sentences(masked[element.body : element.end])
                spans = ((body + start, body + end) for start, end in found)
            yield from (span for span in spans if span[0] < span[1] and has_words(self._words(*span)))


def named_cells(line: str) -> frozenset[str]:
    """The names of the columns in a row like `Name: Ada; Born: 1815`; empty for any other line."""
    parts = [part.partition(": ") for part in line.split("; ")]
    names = frozenset(name.strip() for name, _, value in parts if value and len(name) <= _MAX_LABEL)
    return names if len(names) == len(parts) > 1 else frozenset()


def row_cells(line: str) -> list[str]:
    """The cells of a row like `bolts | yes | no`, without the space around them."""
    return [cell.strip() for cell in line.split("|")]


_FAMILY = {"item": "list", "links": "list", "head": "table", "row": "table"}


def _masked(text: str, markup: Iterable[Markup]) -> str:
    """The text with a mark of emphasis for each sign of markup, so that no sentence ends inside of it.

    Markup that says a whole sentence ends one.
    """
    kept: list[str] = []
    done = 0
    for start, end, words, _ in markup:
        if words != CELL and text[start:end].strip(" \t>-+•#"):
            mask = "".join("\n" if sign == "\n" else "*" for sign in text[start:end])
            is_sentence = len(words) > 1 and words[-1] in _STOPS
            kept += [text[done:start], f"{mask[:-1]}." if is_sentence else mask]
            done = end
    return "".join((*kept, text[done:]))


def lines_between(text: str, start: int, end: int) -> Iterator[Span]:
    """The lines of a span that are not blank."""
    while start < end:
        last = text.find("\n", start, end)
        last = end if last < 0 else last
        if text[start:last].strip():
            yield start, last
        start = last + 1


def _rendering_marks(text: str, blocks: Iterable[Block]) -> Iterator[Markup]:
    """The marks that a loader put around words: lines of fences, bars between cells, and strokes before bars."""
    for block in blocks:
        if block.kind == "code" and fence_of(text, block.start, block.end) is not None:
            lines = list(lines_between(text, block.start, block.end))
            yield from (Markup(*line) for line in dict.fromkeys((lines[0], lines[-1])))
        elif block.kind == "table" and text.startswith("|", block.start):
            for start, end in lines_between(text, block.start, block.end):
                is_rule = _COLUMN_RULE.fullmatch(text, start, end)
                yield from [Markup(start, end)] if is_rule else bars_of_row(text, start, end)


def _with_scopes(elements: Sequence[Element], length: int) -> list[Element]:
    """The elements, each heading with where what it heads ends.

    A heading without a mark above a list, a table or code heads that alone.
    """
    found = list(elements)
    opened: list[int] = []
    for place, element in enumerate(elements):
        if element.kind != "heading" or element.of > element.end:
            continue
        while opened and found[opened[-1]].level >= element.level:
            last = opened.pop()
            found[last] = found[last]._replace(of=min(found[last].of, element.start))
        until = length
        after = elements[place + 1 : place + 2]
        if element.level >= TITLE_LEVEL and after and after[0].kind in ("item", "head", "row", "code"):
            until = after[0].end
            for other in elements[place + 2 :]:
                if other.of != after[0].of or other.kind == "heading" or after[0].kind == "code":
                    break
                until = other.end
        found[place] = element._replace(of=until)
        opened.append(place)
    return found


class _Unit(NamedTuple):
    """A run of text that holds whole sentences; a line of code, a table row or a heading is exactly one."""

    start: int
    end: int
    single: bool


def sentences(text: str) -> list[Span]:
    """The spans of the sentences of `text`: ascending, apart, trimmed, none empty, none over 2,000 characters.

    A list item, a heading, a table row and a line of code is a sentence of its own, a blank line ends one, and a
    single newline inside a paragraph does not. What lies outside the spans is white space and markers (bullets,
    item numbers, quote marks, rules, fences).
    """
    found: list[Span] = []
    for unit in _units(text):
        found += (sentence_pieces if unit.single else prose_sentences)(text, unit.start, unit.end)
    return found


def _units(text: str) -> Iterator[_Unit]:
    """Cut at blank lines, and before and after everything that is a line of its own."""
    opened = -1
    closed = 0
    numbered = fenced = quoted = False
    for start, end in _every_line(text):
        first = start
        while first < end and text[first] == ">":
            first += 1
            first += text[first : first + 1] in (" ", "\t") and first < end
        quote = first > start
        while first < end and text[first].isspace():
            first += 1
        blank = first >= end
        fence = text.startswith(_FENCE_MARKS, first, end)
        marks = not blank and not text[first:end].strip(_MARKS)
        bullet = None if blank or marks or fenced else _bullet(text, first, end, opened >= 0, numbered)
        alone = not blank and (fence or fenced or marks or _is_own_line(text, first, end))
        if opened >= 0 and (blank or alone or bullet is not None or (quote and not quoted)):
            yield _Unit(opened, closed, False)
            opened = -1
        if alone and not marks:
            yield _Unit(bullet if bullet is not None else first, end, True)
        elif not blank and not alone and opened < 0:
            opened = bullet if bullet is not None else first
        numbered = bullet is not None or (numbered and not blank and not alone)
        fenced ^= fence
        quoted = quote
        closed = end
    if opened >= 0:
        yield _Unit(opened, closed, False)


def _every_line(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _bullet(text: str, start: int, end: int, inside: bool, in_list: bool) -> int | None:
    """The start of the item if the line opens one: a number inside a paragraph opens one only if it is 1."""
    begin = start + 1 if text[start] in "–—" else mark_end(text, start, end, letters=True)
    mark = text[start:begin]
    if not mark or not text[begin : begin + 1].isspace() or (inside and mark in "–—"):
        return None
    if inside and not in_list and mark[-1] in ".)" and mark.strip("().") not in ("1", *ascii_lowercase):
        return None
    while begin < end and text[begin].isspace():
        begin += 1
    return begin if begin < end else None


def _is_own_line(text: str, start: int, end: int) -> bool:
    level = len(text[start : start + 7]) - len(text[start : start + 7].lstrip("#"))
    if (0 < level < 7 and text[start + level : start + level + 1].isspace()) or text[start] == "|":
        return True
    if end - start > 1_000:
        return False
    line = text[start:end].rstrip()
    row = " | " in line and "{{" not in line and len(line) <= _MAX_ROW and line[-1] not in ".!?"
    row |= len(line) <= _MAX_NAMED_ROW and _NAMED_CELLS.match(line) is not None
    if row or (line[0] == "<" and line[-1] == ">"):
        return True
    return len(line) <= 80 and line.isupper() and sum(map(str.isalpha, line)) >= 4 and line[-1] not in ".,;!?"
