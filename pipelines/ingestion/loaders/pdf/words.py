"""The words of a PDF page, each with its place, size and weight."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from pipelines.ingestion.loaders.pdf.glyphs import Glyphs
from pipelines.text import canonical

_LINE_END_HYPHEN = "\x02"
_WORD = re.compile("[^\\s\x02]+\x02?|\x02")
_BREAK = re.compile("[\r\n\x02]")
_DINGBATS = re.compile(r"wingdings|webdings", re.IGNORECASE)
_DINGBAT_BULLETS = frozenset("lnquvwt§Ø¨üþ•·")
_SYMBOL_BULLETS = dict.fromkeys("\uf0b7\uf0a7\uf076\uf0d8\uf0fc\uf0a8\uf06e\uf02d", "•")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_SPACES = dict.fromkeys("\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}  # never control characters
_CLEAN = {**_WINDOWS, **str.maketrans(_SYMBOL_BULLETS | _LIGATURES | _SPACES)}
_RUNS = re.compile("[ \t]+")
_SPACED_LETTERS = 4
_LETTER_GAP = 1.5


@dataclass(frozen=True, slots=True)
class Word:
    """A word; lengths in points, `y` its baseline, measured from the lower left corner of the page as it is shown.

    `turn` counts the quarter turns to the left that its text makes; the lengths are those of the page turned back by
    as many. `hyphen` says that it goes on in the next line.
    """

    text: str
    x0: float
    x1: float
    y: float
    bottom: float
    top: float
    size: float
    bold: bool = False
    hyphen: bool = False
    turn: int = 0


def page_words(page: Any, textpage: Any) -> list[Word]:
    """The words of a page that can be read, in the order in which the file draws them; icons are left out."""
    from pypdfium2 import raw

    drawn = "".join(chr(raw.FPDFText_GetUnicode(textpage.raw, index)) for index in range(textpage.count_chars()))
    glyphs = Glyphs(page, textpage.raw)
    words: list[Word] = []
    for start, end in _lines(drawn):
        spans = [match.span() for match in _WORD.finditer(drawn, start, end)]
        spans = _respaced(drawn, spans, glyphs) if _is_spaced_out(drawn, spans) else spans
        words += [word for span in spans if (word := _word(drawn, span, glyphs, first=span == spans[0]))]
    return words


def readable(drawn: str) -> str:
    """The characters as a reader reads them: ligatures and odd spaces undone, icons dropped."""
    if drawn.isascii() and drawn.isprintable():
        return _RUNS.sub(" ", drawn).strip()
    if any("\ud800" <= char <= "\udfff" for char in drawn):
        drawn = drawn.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = drawn.replace(_LINE_END_HYPHEN, "-").translate(_CLEAN)
    return _RUNS.sub(" ", canonical(text)).strip()


def _lines(drawn: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BREAK.finditer(drawn):
        yield start, match.end()
        start = match.end()
    yield start, len(drawn)


def _is_spaced_out(drawn: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether letters stand apart like words: `E X P E R I E N C E`."""
    lone = sum(end - start == 1 and drawn[start].isalpha() for start, end in spans)
    return lone >= _SPACED_LETTERS and lone >= 0.5 * len(spans)


def _respaced(drawn: str, spans: Sequence[tuple[int, int]], glyphs: Glyphs) -> list[tuple[int, int]]:
    """The words of a line of letters that stand apart, told by the wider gaps between them."""
    places = [index for span in spans for index in range(*span)]
    edges = [glyphs.edges(index) for index in places]
    gaps = [after[0] - before[1] for before, after in pairwise(edges)]
    widest = _LETTER_GAP * max(median(gaps), 0.0) + 0.05 * glyphs.style(places[0]).size
    words, begun = [], places[0]
    for gap, (last, first) in zip(gaps, pairwise(places), strict=True):
        if gap > widest:
            words.append((begun, last + 1))
            begun = first
    return [*words, (begun, places[-1] + 1)]


def _word(drawn: str, span: tuple[int, int], glyphs: Glyphs, *, first: bool) -> Word | None:
    places: Sequence[int] = range(*span)
    raw = drawn[span[0] : span[1]]
    if not raw.isprintable() or " " in raw:
        places = [index for index in places if not drawn[index].isspace()]
        raw = "".join(drawn[index] for index in places)
    style = glyphs.style(places[0])
    if style.icons or (len(raw) > 1 and glyphs.style(places[-1]).icons):
        places = [index for index in places if not glyphs.style(index).icons]
        raw = "".join(drawn[index] for index in places)
    text = _bullet(readable(raw), style.font, first=first) if len(raw) == 1 else readable(raw)
    if not text:
        return None
    if not raw[0].isalnum() and len(raw) > 1:
        style = glyphs.style(next((index for index in places if drawn[index].isalnum()), places[0]))
    x0, bottom, top, y = glyphs.begin(places[0], style.turn)
    x1 = glyphs.end(places[-1], style.turn)
    if x1 < x0:  # written from right to left
        x0, x1 = glyphs.begin(places[-1], style.turn)[0], glyphs.end(places[0], style.turn)
    return Word(
        text=text,
        x0=x0,
        x1=x1,
        y=y,
        bottom=bottom,
        top=top,
        size=style.size,
        bold=style.bold,
        hyphen=raw[-1] == _LINE_END_HYPHEN,
        turn=style.turn,
    )


def _bullet(text: str, font: str, *, first: bool) -> str:
    """A lone character as what it looks like in a font of signs; Word's second bullet is an `o` in Courier."""
    if _DINGBATS.search(font):
        return "•" if text in _DINGBAT_BULLETS else text if ord(text[:1] or "a") >= 0x2000 else ""
    return "◦" if first and text == "o" and "courier" in font.lower() else text
