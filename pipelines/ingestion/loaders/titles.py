"""The title that the headings of a document give it."""

import re
from collections.abc import Sequence
from functools import cache

from pipelines.blocks import title_of
from pipelines.markup import plain
from pipelines.text import fold
from pipelines.types import Block

# Sections of the standard-readme specification, of manual pages, and of contents: they title no document.
_SECTIONS = frozenset({
    "readme", "table of contents", "contents", "security", "background", "install", "installation", "usage", "api",
    "maintainers", "thanks", "contributing", "license", "licence", "name", "synopsis", "description", "options",
    "overview", "introduction", "getting started", "requirements", "features", "about",
})  # fmt: skip
_HTML_HEADING = re.compile(r"<h([1-3])\b[^<>]{0,500}>(.{0,3000}?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"v?\d+(?:\.\d+)*(?:st|nd|rd|th)?")
_PICTURE_WORDS = frozenset("logo banner icon header image picture screenshot".split())
_PROSE = 3  # words


def markdown_title(text: str, blocks: Sequence[Block]) -> str:
    """The title by the first HTML heading before Markdown's own, unless that is of a higher level, else by those."""
    first = next((block for block in blocks if block.kind == "heading"), None)
    end = first.start if first else len(text)
    for block in blocks:
        if block.kind == "code" or block.start >= end:
            continue
        written = _HTML_HEADING.search(text, block.start, min(end, block.start + 5_000))
        is_title = written and written.start() < block.end and int(written[1]) <= (first.level if first else 3)
        if written and is_title and (title := _html_title(written[2])):
            return "" if fold(title) in _SECTIONS else title
    return heading_title(text, blocks)


def _html_title(words: str) -> str:
    """The words of an HTML heading; of one that is only a picture, its alternative text."""
    shown = " ".join(plain(words, images=False).split())
    if shown or words.count("<img") + words.count("![") != 1:
        return title_of(shown, 0, len(shown)) if shown else ""
    return " ".join(word for word in plain(words).split() if word.lower() not in _PICTURE_WORDS)


def heading_title(text: str, blocks: Sequence[Block]) -> str:
    """The words of the first heading without its images; empty if it titles an entry or a section.

    A heading of images alone, as a row of badges, is passed over. The first heading is an entry if it is a date or a
    version, or begins with one or with a numbered word as another of its level does ("Day 1", "Day 2"); a section if it
    has a usual name of one, or if prose stands above it and others of its level below.
    """
    headings = [(block, title_of(text, block.start, block.end)) for block in blocks if block.kind == "heading"]
    headings = [(block, words) for block, words in headings if words]
    if not headings:
        return ""
    first, title = headings[0]
    others = [words for block, words in headings[1:] if block.level == first.level]
    if fold(title) in _SECTIONS or _is_entry(title, others):
        return ""
    is_below = first.level > 1 and others and all(block.level > 1 for block, _ in headings)
    return "" if is_below and _has_prose(text, blocks, first.start) else title


def _has_prose(text: str, blocks: Sequence[Block], end: int) -> bool:
    above = (text[block.start : block.end] for block in blocks if block.end <= end and block.kind == "paragraph")
    return any(len(plain(each, images=False).split()) >= _PROSE for each in above)


def _is_entry(title: str, others: Sequence[str]) -> bool:
    parts = _parts(title)
    opening = _opening(parts)
    if opening == len(parts) and any(part in _date_words() or "." in part or len(part) == 10 for part in parts):
        return True
    if opening and any(_opening(_parts(other)) for other in others):
        return True
    at = next((place for place, part in enumerate(parts) if _NUMBER.fullmatch(part)), -1)
    series = parts[:at] if at > 0 else []
    return bool(series) and any(_is_next(series, _parts(other)) for other in others)


def _is_next(series: Sequence[str], parts: Sequence[str]) -> bool:
    return parts[: len(series)] == series and bool(_NUMBER.fullmatch("".join(parts[len(series) : len(series) + 1])))


def _parts(title: str) -> list[str]:
    """The words and numbers of a title, folded; an ISO date is one of them."""
    return [
        part.strip(".,:;()[]*_#") for part in re.split(r"[\s/,:–—]+|(?<!\d)-|-(?!\d)|(?<=\D)-", fold(title)) if part
    ]


def _opening(parts: Sequence[str]) -> int:
    """How many words a title begins with that are a date, a weekday or a version."""
    count = 0
    for part in parts:
        digits = part.replace("-", "").strip("年月日")
        if part and part not in _date_words() and not _NUMBER.fullmatch(digits):
            break
        count += 1
    return count


@cache
def _date_words() -> frozenset[str]:
    from babel import Locale

    names = {"unreleased", "today", "yesterday"}
    for language in ("en", "de", "fr", "es"):
        locale = Locale.parse(language)
        for table in (locale.months["format"], locale.days["format"]):
            for width in ("wide", "abbreviated"):
                names |= {fold(str(name)).rstrip(".") for name in table[width].values()}
    return frozenset(names)
