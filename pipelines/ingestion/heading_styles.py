"""What makes a line of a text without markup look like a heading."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_TITLE = 200
NONE, MARKED, PART, CHAPTER, CAPITALS, TITLE, LABEL = range(7)  # from the strongest style to the weakest

_ATX = re.compile(r"(#{1,6})[ \t]+\S")
_WIKI = re.compile(r"((?:= ?){1,6})[^=;\n]{1,150}((?: ?=){1,6})")
_CAPS_END = ".,;!?"
_CAPS_SHARE = 0.4
_SHORT = 80
_TITLE_CHARACTERS = 60
_TITLE_WORDS = 9
_LONG = 150
_SERIES = 1_000
_UNWRAPPED = 120

_NUMERAL = (
    r"(?:[ivxlc]{1,7}|\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|the (?:first|second|third|last))\b"
)
_PART_LINE = re.compile(
    rf"(?:part|book|volume|teil|buch|band|partie|livre|parte|libro|livro) {_NUMERAL}", re.IGNORECASE
)
_CHAPTER_LINE = re.compile(
    rf"(?:chapter|letter|section|appendix|kapitel|abschnitt|anhang|chapitre|cap[íi]tulo|capitolo|secci[óo]n|sezione)"
    rf" {_NUMERAL}|(?:introduction|preface|foreword|prologue|epilogue|afterword|conclusion)[.:]?$",
    re.IGNORECASE,
)
_AFTER_NUMERAL = re.compile(r"[.:]?$|[.:]? ?[–—-] ?\S|[.:] \S")
_ROMAN = re.compile(r"[IVXLC]{1,7}\.?")
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z]\.|[IVX]{1,5}\.)[ \t]+(?=\S)")
_CODE = re.compile(r"[=|<>{}\\_$;]|://|^[-+/]")
_NO_TITLE = re.compile(
    r"[\[@\t|<>{}\\=_*]|://|\.\.\.|\b(?:19|20)\d\d\b.{0,12}[-–—]|[-–—] ?(?:19|20)\d\d\b|^by |\bdear\b|↩", re.IGNORECASE
)
_TITLE_END = ".,;:!…\"'”’»“-–—"
_SPEAKER = re.compile(r"[^a-z:]{2,40}: ")
_QUOTES = "\"'“”‘’«»„([-–—•"
_NO_PROSE = "-*+•‣◦▪▫●○∙➢➤►▶✓✔|"
_LEAD_INS = frozenset(
    "for as in on at here he she it they we i you this these those that such like and or but to with if when while then"
    " because so e.g i.e example note thus also there what who how why dear hi hello".split()
)
_SMALL_WORDS = frozenset(
    "a an the of and or for to in on with by at & de la le du des und der die das von y e del di".split()
)


class Line(NamedTuple):
    """A line, and what decides whether it is a heading."""

    start: int
    end: int
    text: str
    indented: bool
    opens: bool  # the text begins here, or a blank line or a chapter's number stands above
    apart: bool  # a blank line stands below
    below: str  # the next line that is not blank
    size: int  # characters of the paragraph that begins there


def in_series(lines: Sequence[Line]) -> list[Line]:
    """The lines; where numbered ones alone open long paragraphs, the others of the series count as long too."""
    numbered = {line.start for line in lines if line.apart and not line.indented and _NUMBERED.match(line.text)}
    long = sum(line.start in numbered and line.size >= _LONG for line in lines)
    return [
        line._replace(size=_SERIES) if long > 1 and line.start in numbered and line.size else line for line in lines
    ]


def is_capitals(line: str) -> bool:
    """Whether a line is short, all in capitals and no sentence."""
    line = line.strip()
    return (
        4 <= len(line) <= _SHORT and line.isupper() and line[-1] not in _CAPS_END and sum(map(str.isalpha, line)) >= 4
    )


def is_shouting(lines: Iterable[str]) -> bool:
    """Whether so many lines are in capitals that it says nothing."""
    filled = [line for line in lines if line.strip()]
    return len(filled) > 3 and sum(map(is_capitals, filled)) > _CAPS_SHARE * len(filled)


def style_of(line: Line, shouting: bool) -> tuple[int, int]:
    """The style of a heading, with its level if its marks say so; NONE for what is no heading.

    Args:
        line: The line, and what stands around it.
        shouting: Whether capitals say nothing in this text.
    """
    if not line.text or line.end - line.start > MAX_TITLE:
        return NONE, 0
    level = _level(line)
    if level:
        return MARKED, level
    capitals = CAPITALS if not shouting and is_capitals(line.text) and not _CODE.search(line.text) else NONE
    return (_chapter(line) or capitals or _short(line) if line.opens else capitals), 0


def _level(line: Line) -> int:
    """The level that `#` or `==` marks give a line, or 0."""
    if line.text[0] not in "#=":
        return 0
    atx, wiki = _ATX.match(line.text), _WIKI.fullmatch(line.text)
    if atx and not line.indented:
        return len(atx[1])
    return wiki[1].count("=") if wiki and wiki[1].count("=") == wiki[2].count("=") else 0


def _chapter(line: Line) -> int:
    """The style of a line that numbers a part or a chapter."""
    words = line.text
    if line.apart and line.below and _ROMAN.fullmatch(words):
        return CHAPTER
    for style, pattern in ((PART, _PART_LINE), (CHAPTER, _CHAPTER_LINE)):
        match = pattern.match(words) if len(words) <= _SHORT else None
        if match and _AFTER_NUMERAL.match(words, match.end()):
            bare = match.end() >= len(words) - 1
            return style if bare or words[-1] not in _CAPS_END or words.isupper() else NONE
    return NONE


def _short(line: Line) -> int:
    """The style of a short line: a section's name before a colon, or a title over a long paragraph."""
    if line.indented or len(line.text) > _TITLE_CHARACTERS:
        return NONE
    if line.text[-1] == ":":
        return LABEL if line.below and _is_label(line.text[:-1].strip()) else NONE
    return TITLE if _is_title(line) else NONE


def _is_label(words: str) -> bool:
    """Whether what stands before a colon names a section: a word or two, or words in title case."""
    parts = words.split()
    if not parts or len(parts) > 6 or not parts[0][0].isupper() or _NO_TITLE.search(words):
        return False
    if parts[0].lower().strip(".,") in _LEAD_INS or not any(map(str.isalpha, words)):
        return False
    return len(parts) <= 2 or all(part[0].isupper() or part.lower() in _SMALL_WORDS for part in parts)


def _is_title(line: Line) -> bool:
    """Whether a short line opens a long paragraph: prose of another length than a wrapped line would leave."""
    number = _NUMBERED.match(line.text)
    words = line.text[number.end() :] if number else line.text
    if line.size < max(_LONG, 3 * len(words)) or not (line.apart or _is_paragraph(line.below)):
        return False
    if len(words) < 2 or len(words.split()) > _TITLE_WORDS or words[-1] in _TITLE_END or words[0] in _QUOTES:
        return False
    if not any(map(str.isalpha, words)) or words[0].islower() or _NO_TITLE.search(words):
        return False
    if _SPEAKER.match(words):
        return False
    return not _NUMBERED.match(line.below) and line.below.lstrip()[:1] not in _NO_PROSE


def _is_paragraph(line: str) -> bool:
    """Whether a line is a paragraph that nobody wrapped."""
    return len(line) >= _UNWRAPPED and line[0].isalpha() and not line[0].islower()
