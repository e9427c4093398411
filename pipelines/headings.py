"""Headings in text without markup: which lines are headings, and at which level."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipelines.types import Block

MAX_TITLE = 200
Span = tuple[int, int]

NONE, MARKED, PART, CHAPTER, CAPITALS, TITLE, LABEL = range(7)  # from the strongest style to the weakest
_WIKI = re.compile(r"((?:= ?){1,6})[^=;\n]{1,150}((?: ?=){1,6})")
_CAPS_END = ".,;!?"
_CAPS_SHARE = 0.4
_SHORT = 80
_TITLE_CHARACTERS = 60
_TITLE_WORDS = 9
_LONG = 150
_SERIES = 1_000
_UNWRAPPED = 120
_PARTS = frozenset("part book volume teil buch band partie livre parte libro livro".split())
_CHAPTERS = frozenset(
    "chapter letter section appendix kapitel abschnitt anhang chapitre capitulo capítulo capitolo seccion sección"
    " sezione".split()
)
_UNNUMBERED = frozenset("introduction preface foreword prologue epilogue afterword conclusion".split())
_NUMERALS = frozenset("one two three four five six seven eight nine ten first second third last".split())
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z]\.|[IVX]{1,5}\.)[ \t]+(?=\S)")
_IN_CODE = (*"=|<>{}\\_$;", "://")
_NO_TITLE = re.compile(
    r"[\[@\t|<>{}\\=_*]|://|\.\.\.|\b(?:19|20)\d\d\b.{0,12}[-–—]|[-–—] ?(?:19|20)\d\d\b|^by |\bdear\b|↩", re.IGNORECASE
)
_MAX_SPEAKER = 40
_TITLE_END = ".,;:!…\"'”’»“-–—"
_QUOTES = "\"'“”‘’«»„([-–—•"
_NO_PROSE = "-*+•‣◦▪▫●○∙➢➤►▶✓✔|"
_LEAD_INS = frozenset(
    "for as in on at here he she it they we i you this these those that such like and or but to with if when while then"
    " because so e.g i.e example note thus also there what who how why dear hi hello".split()
)
_SMALL_WORDS = frozenset(
    "a an the of and or for to in on with by at & de la le du des und der die das von y e del di".split()
)
_UNDERLINES = "=-~^\"'`#*+.:_"
_NO_BLOCK = Block(0, 0, "heading")


class LineInContext(NamedTuple):
    """A line with the context that decides whether it is a heading."""

    start: int
    end: int
    text: str
    indented: bool
    opens: bool  # first line, or after a blank line or a chapter number
    apart: bool  # a blank line follows
    below: str  # the next non-blank line
    size: int  # characters of the paragraph that begins there


class _Heading(NamedTuple):
    """A heading before levels are assigned; a marked one has its own level."""

    start: int
    end: int
    style: int
    level: int = 0


def headings(text: str, lines: Sequence[Span]) -> list[Block]:
    """Headings among the non-blank lines of a plain text, ascending.

    A heading is a `#` or `== wiki ==` line, an underlined line, a short line in capitals (unless most lines are), a
    chapter line, a short line before a long paragraph, or a `Section Name:` alone on its line.
    """
    return list(_assign_levels(_headings(text, lines)))


def promote_headings(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Turn one-line paragraphs that look like headings into headings, for loaders that miss some.

    Capitals and chapter lines always count; short lines before long paragraphs and `Section Name:` only where the
    loader found no heading but the title.
    """
    bare = sum(block.kind == "heading" for block in blocks) <= 1
    alone = [_single_line(text, block) for block in blocks]
    capitals_common = is_mostly_capitals(alone)
    found: list[_Heading] = []
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            found.append(_Heading(block.start, block.end, MARKED, block.level))
        elif alone[number]:
            after = blocks[number + 1] if number + 1 < len(blocks) else _NO_BLOCK
            below = text[after.start : min(after.end, after.start + MAX_TITLE)] if after.kind != "heading" else ""
            size = after.end - after.start if after.kind == "paragraph" else 0
            line = LineInContext(block.start, block.end, alone[number], False, True, True, below, size)
            style, _ = _heading_style(line, capitals_common)
            if MARKED < style <= CAPITALS or (bare and style > CAPITALS):
                found.append(_Heading(block.start, block.end, style))
    named = {block.start: block for block in _assign_levels(found)}
    return tuple(named.get(block.start, block) for block in blocks)


def _headings(text: str, lines: Sequence[Span]) -> Iterator[_Heading]:
    capitals_common = is_mostly_capitals([text[slice(*line)] for line in lines])
    underlines: list[str] = []
    before, style, done = -2, NONE, 0
    below = [*lines[1:], (len(text), len(text))][: len(lines)]
    for line, following in zip(_mark_series(_lines_in_context(text, lines)), below, strict=True):
        if line.start < done:
            before = line.end
            continue
        opens = line.start > before + 1
        mark = _underline(text, line, following) if opens or style else ""
        opens = opens or style in (PART, CHAPTER)
        if mark and mark not in underlines:
            underlines.append(mark)
        style, level = MARKED, 0
        if mark:
            level = underlines.index(mark) + 1
        else:
            style, level = _heading_style(line._replace(opens=opens), capitals_common)
        if style:
            done = following[1] if mark else line.end
            yield _Heading(*trim_span(text, line.start, done), style, level)
        before = line.end


def _lines_in_context(text: str, lines: Sequence[Span]) -> list[LineInContext]:
    """The lines with what follows each; `opens` is set later."""
    in_context: list[LineInContext] = []
    next_start, below, size = -1, "", 0
    for start, end in reversed(lines):
        apart = next_start != end + 1
        words = text[start : min(end, start + MAX_TITLE + 1)].strip()
        in_context.append(LineInContext(start, end, words, text[start] in " \t", False, apart, below, size))
        size = end - start + (0 if apart else size)
        next_start, below = start, text[start : min(end, start + MAX_TITLE)]
    return in_context[::-1]


def _underline(text: str, line: LineInContext, following: Span) -> str:
    """The character that underlines the line, or an empty string."""
    if following[0] != line.end + 1 or following[1] - line.start > MAX_TITLE or not any(map(str.isalnum, line.text)):
        return ""
    rule = text[slice(*following)].rstrip(" \t")
    is_rule = len(rule) > 2 and len(set(rule)) == 1 and rule[0] in _UNDERLINES
    return rule[0] if is_rule and len(rule) >= 0.6 * len(line.text) else ""


def _single_line(text: str, block: Block) -> str:
    """The text of a paragraph of one short line; empty for any other block."""
    if block.kind != "paragraph" or block.end - block.start > MAX_TITLE:
        return ""
    words = text[block.start : block.end]
    return "" if "\n" in words else words


def _assign_levels(found: Iterable[_Heading]) -> Iterator[Block]:
    """Give each heading a level; one without its own stands below the nearest heading of a stronger style."""
    open_: list[tuple[int, int, int]] = []
    for heading in found:
        rank = (heading.style, heading.level)
        while open_ and open_[-1][:2] > rank:
            open_.pop()
        if open_ and open_[-1][:2] == rank:
            level = open_[-1][2]
        else:
            level = min(heading.level or (open_[-1][2] if open_ else 0) + 1, 6)
            open_.append((*rank, level))
        yield Block(heading.start, heading.end, "heading", level)


def _mark_series(lines: Sequence[LineInContext]) -> list[LineInContext]:
    """Give every numbered line a long paragraph if several numbered lines open one, as titles in a series do."""
    numbered = {line.start for line in lines if line.apart and not line.indented and _NUMBERED.match(line.text)}
    long = sum(line.start in numbered and line.size >= _LONG for line in lines)
    return [
        line._replace(size=_SERIES) if long > 1 and line.start in numbered and line.size else line for line in lines
    ]


def _heading_style(line: LineInContext, capitals_common: bool) -> tuple[int, int]:
    """(the style of a line, its level if marks state one); `NONE` if it is no heading."""
    if not line.text or line.end - line.start > MAX_TITLE:
        return NONE, 0
    level = _level(line)
    if level:
        return MARKED, level
    capitals = CAPITALS if not capitals_common and is_capitals(line.text) and not _is_code(line.text) else NONE
    return (_chapter_style(line) or capitals or _short_style(line) if line.opens else capitals), 0


def _level(line: LineInContext) -> int:
    """The level given by `#` or `==` marks, or 0."""
    if line.text[0] not in "#=":
        return 0
    wiki, level = _WIKI.fullmatch(line.text), len(line.text) - len(line.text.lstrip("#"))
    if 0 < level < 7 and not line.indented and line.text[level : level + 1] in (" ", "\t"):
        return level
    return wiki[1].count("=") if wiki and wiki[1].count("=") == wiki[2].count("=") else 0


def _chapter_style(line: LineInContext) -> int:
    """The style of a line that numbers a part or a chapter."""
    words = line.text
    bare = words.removesuffix(".")
    if line.apart and line.below and bare and len(bare) < 8 and not bare.strip("IVXLC"):
        return CHAPTER
    name, _, rest = words.lower().partition(" ") if len(words) <= _SHORT else ("", "", "")
    if name.rstrip(".:") in _UNNUMBERED and not rest and len(name) - len(name.rstrip(".:")) < 2:
        return CHAPTER
    style = PART if name in _PARTS else CHAPTER if name in _CHAPTERS else NONE
    numeral = rest.removeprefix("the ")
    end = next((place for place, char in enumerate(numeral) if not char.isalnum()), len(numeral))
    if not style or not _is_numeral(numeral[:end]):
        return NONE
    behind = words[len(words) - len(numeral) + end :]
    title = behind[1:] if behind[:1] in (".", ":") else behind
    is_titled = title.lstrip(" ")[:1] in tuple("–—-") or (title != behind and title[:1] == " ")
    if title.strip() and not is_titled:
        return NONE
    return style if not title.strip() or words[-1] not in _CAPS_END or words.isupper() else NONE


def _is_numeral(word: str) -> bool:
    """True for a number of at most three digits, in Roman letters, or in words."""
    is_roman = 0 < len(word) < 8 and not word.strip("ivxlc")
    return is_roman or word in _NUMERALS or (word.isdecimal() and len(word) < 4)


def _is_code(words: str) -> bool:
    return words[0] in "-+/" or any(sign in words for sign in _IN_CODE)


def _short_style(line: LineInContext) -> int:
    """The style of a short line: a section name before a colon, or a title above a long paragraph."""
    if line.indented or len(line.text) > _TITLE_CHARACTERS:
        return NONE
    if line.text[-1] == ":":
        return LABEL if line.below and _is_label(line.text[:-1].strip()) else NONE
    return TITLE if _is_title(line) else NONE


def _is_label(words: str) -> bool:
    """True if the text before a colon names a section: one or two words, or title case."""
    parts = words.split()
    if not parts or len(parts) > 6 or not parts[0][0].isupper() or _NO_TITLE.search(words):
        return False
    if parts[0].lower().strip(".,") in _LEAD_INS or not any(map(str.isalpha, words)):
        return False
    return len(parts) <= 2 or all(part[0].isupper() or part.lower() in _SMALL_WORDS for part in parts)


def _is_title(line: LineInContext) -> bool:
    """True if a short line opens a long paragraph and is not just the end of a wrapped line."""
    number = _NUMBERED.match(line.text)
    words = line.text[number.end() :] if number else line.text
    if line.size < max(_LONG, 3 * len(words)):
        return False
    unwrapped = len(line.below) >= _UNWRAPPED and line.below[0].isalpha() and not line.below[0].islower()
    if not (line.apart or unwrapped):
        return False
    if len(words) < 2 or len(words.split()) > _TITLE_WORDS or words[-1] in _TITLE_END or words[0] in _QUOTES:
        return False
    if not any(map(str.isalpha, words)) or words[0].islower() or _NO_TITLE.search(words):
        return False
    speaker, colon, _ = words.partition(": ")
    if colon and 1 < len(speaker) <= _MAX_SPEAKER and speaker.upper() == speaker and ":" not in speaker:
        return False
    return not _NUMBERED.match(line.below) and line.below.lstrip()[:1] not in _NO_PROSE


def is_capitals(line: str) -> bool:
    """True if a line is short, in capitals and no sentence."""
    line = line.strip()
    return (
        4 <= len(line) <= _SHORT and line.isupper() and line[-1] not in _CAPS_END and sum(map(str.isalpha, line)) >= 4
    )


def is_mostly_capitals(lines: Iterable[str], least: int = 4) -> bool:
    """True if over 40 % of the non-blank lines are in capitals, and there are at least `least` of them."""
    filled = [line for line in lines if line.strip()]
    return len(filled) >= least and sum(map(is_capitals, filled)) > _CAPS_SHARE * len(filled)


def trim_span(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends; an empty span collapses to its start."""
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, max(start, start + len(stretch.strip()))
