"""Separate citation markers such as [1] from the text of an answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBERS = r"\d{1,9}(?:\s{0,2}[,;&–-]\s{0,2}\d{1,9}){0,10}"
_BRACKETED = (
    rf"[\[［]\s{{0,2}}(?:\^|(?:sources?|refs?)[ :]{{1,2}})?({_NUMBERS})\s{{0,2}}(?:†[^\[\]［］【】\n]{{0,40}})?[\]］]"
    rf"|【\s{{0,2}}({_NUMBERS})[^\[\]［］【】\n]{{0,40}}】"
)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_NUMBERS = rf"[{_RAISED}]{{1,3}}(?:[, ]{{1,2}}[{_RAISED}]{{1,3}}){{0,9}}"
# `m²` is an area: raised numbers are markers only after a punctuation mark, or in raised parentheses.
_MARKER = re.compile(
    rf"{_BRACKETED}|\(sources?[ :]{{1,2}}({_NUMBERS})\)|⁽({_RAISED_NUMBERS})⁾"
    rf"|(?<=[.!?…,;:\"”'’)])(?:({_RAISED_NUMBERS})|\^({_NUMBERS})\^|<sup>\[?({_NUMBERS})\]?</sup>)",
    re.IGNORECASE,
)
_ONLY_BRACKETED = re.compile(_BRACKETED, re.IGNORECASE)
_LOWERED = str.maketrans(_RAISED, "0123456789")
_LONGEST = 240  # characters of a marker
_OPENED = re.compile(r"(?:[\[［【][\d,;^ ]{0,20}){1,6}\Z")  # around another marker: [1[2]]
_UNFINISHED = re.compile(r"\s*[\[［【](?:[\d,;^ ]{0,40}|(?i:sources?)[ :\d,;]{0,40})\Z")
_CLOSERS = tuple("]］】")
_SEPARATORS = str.maketrans("&;–", ",,-")
_WIDEST = 20  # numbers of a range


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation in an answer's text: where it stood once all markers were out, and the number it names."""

    at: int
    n: int


def split_markers(text: str) -> tuple[str, list[Marker]]:
    """(the text without its markers, the markers in order).

    `[1, 2]`, `[1][2]`, `[1-3]`, `[source 1]`, `[^1]`, `【1†source】` and `(source 1)` are read alike, and after a
    punctuation mark `¹`, `^1^` and `<sup>1</sup>`.
    """
    pieces: list[str] = []
    markers: list[Marker] = []
    length = done = 0
    for match in _MARKER.finditer(text):
        before = text[done : match.start()]
        opened = _OPENED.search(before, max(0, len(before) - _LONGEST))
        outside = before[: opened.start()] + _year_inside(opened.group()) if opened else before
        pieces.append(outside.rstrip())
        length += len(pieces[-1])
        markers += (Marker(length, n) for n in numbers_of(next(filter(None, match.groups())).translate(_LOWERED)))
        done = match.end()
        while opened and text[done : done + 1] in _CLOSERS:
            done += 1
    return "".join((*pieces, text[done:])), markers


def escape_markers(text: str) -> str:
    """The text with round brackets where it has what reads as a marker: only ours are footnotes."""
    return _ONLY_BRACKETED.sub(lambda match: f"({match.group()[1:-1]})", text)


def strip_unfinished_marker(text: str) -> str:
    """The text of a stream that was cut, without the marker that it was cut in."""
    return text[: len(text) - 100] + _UNFINISHED.sub("", text[-100:]) if len(text) > 100 else _UNFINISHED.sub("", text)


def _year_inside(opened: str) -> str:
    """The text in brackets around a marker, if it is more than a number of a source."""
    return opened.strip("[［【") if re.search(r"\d{3}", opened) else ""


def numbers_of(marker: str) -> Iterator[int]:
    """The source numbers in a marker, ranges expanded."""
    bare = "".join(sign for sign in marker.translate(_SEPARATORS) if sign.isdecimal() or sign in ",- ")
    for part in bare.replace("- ", "-").replace(" -", "-").replace(",", " ").split():
        first, *last = map(int, filter(None, part.split("-")))
        yield from range(first, last[0] + 1) if last and 0 < last[0] - first <= _WIDEST else [first, *last]
