"""Separate citation markers such as [1] from the text of an answer, also in a stream."""

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
# The beginning of a marker without brackets, and a punctuation mark that one may follow.
_BEGUN = re.compile(
    rf"(?:\([a-z]{{0,7}}[ :]{{0,2}}[\d,;& –-]{{0,40}}|⁽[{_RAISED}, ]{{0,40}}"
    rf"|[.!?…,;:\"”'’)](?:[{_RAISED}][{_RAISED}, ]{{0,40}}|\^[\d,;& –-]{{0,40}}"
    r"|<(?:s(?:u(?:p(?:>[\[\]\d,;& –-]{0,40}(?:<(?:/(?:s(?:u(?:p)?)?)?)?)?)?)?)?)?)?)\Z",
    re.IGNORECASE,
)
_LONGEST = 240  # characters of a marker
_NUMBER = re.compile(r"\d+(?:\s*[–-]\s*\d+)?")
_OPENED = re.compile(r"(?:[\[［【][\d,;^ ]{0,20}){1,6}\Z")  # around another marker: [1[2]]
_UNFINISHED = re.compile(r"\s*[\[［【](?:[\d,;^ ]{0,40}|(?i:sources?)[ :\d,;]{0,40})\Z")
_CLOSERS = "]］】"
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
    stream = MarkerFilter()
    clean, markers = "", []
    for piece in (*stream.feed(text), *stream.close()):
        if isinstance(piece, str):
            clean += piece
        else:
            markers.append(Marker(len(clean), piece))
    return clean, markers


def escape_markers(text: str) -> str:
    """The text with round brackets where it has what reads as a marker: only ours are footnotes."""
    return _ONLY_BRACKETED.sub(lambda match: f"({match.group()[1:-1]})", text)


def strip_unfinished_marker(text: str) -> str:
    """The text of a stream that was cut, without the marker that it was cut in."""
    return text[: len(text) - 100] + _UNFINISHED.sub("", text[-100:]) if len(text) > 100 else _UNFINISHED.sub("", text)


class MarkerFilter:
    """Takes markers out of a stream of text, whatever way it is cut into pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._nested = False

    def feed(self, piece: str) -> Iterator[str | int]:
        """Text that is safe to show, and the number of each marker as it is complete."""
        self._held += piece
        yield from self._drain(final=False)

    def close(self) -> Iterator[str | int]:
        """The text that was held back: an unfinished marker is text."""
        yield from self._drain(final=True)

    def _drain(self, *, final: bool) -> Iterator[str | int]:
        done = self._after_nested(0)
        while match := _MARKER.search(self._held, done):
            if not final and match.group()[-1] in _RAISED and not self._held[match.end() :].strip(", "):
                break  # more numbers may follow
            before = self._held[done : match.start()]
            opened = _OPENED.search(before, max(0, len(before) - _LONGEST))
            outside = before[: opened.start()] + _year_inside(opened.group()) if opened else before
            yield from filter(None, [outside.rstrip()])
            yield from numbers_of(next(filter(None, match.groups())).translate(_LOWERED))
            self._nested = opened is not None
            done = self._after_nested(match.end())
        rest = self._held[done:]
        cut = len(rest) if final else _safe_until(rest)
        yield from filter(None, [rest[:cut]])
        self._held = rest[cut:]

    def _after_nested(self, start: int) -> int:
        """The place where text goes on: after the closing brackets of a marker around the one that was taken out."""
        end = start
        while self._nested and end < len(self._held):
            if self._held[end] not in _CLOSERS:
                self._nested = False
                break
            end += 1
        return end


def _year_inside(opened: str) -> str:
    """The text in brackets around a marker, if it is more than a number of a source."""
    return opened.strip("[［【") if re.search(r"\d{3}", opened) else ""


def numbers_of(marker: str) -> Iterator[int]:
    """The source numbers in a marker, ranges expanded."""
    for match in _NUMBER.finditer(marker):
        first, *last = map(int, re.findall(r"\d+", match.group()))
        yield from range(first, last[0] + 1) if last and 0 < last[0] - first <= _WIDEST else [first, *last]


def _safe_until(text: str) -> int:
    """The place where an unfinished marker may begin: from there the text is held back."""
    opening = max(map(text.rfind, "[［【"))
    begun = opening >= 0 and len(text) - opening < _LONGEST and not any(map(text[opening:].count, _CLOSERS))
    if begun:
        around = _OPENED.search(text, max(0, opening - _LONGEST), opening + 1)
        opening = around.start() if around else opening
    variant = _BEGUN.search(text, max(0, len(text) - _LONGEST))
    end = min(opening if begun else len(text), variant.start() if variant else len(text))
    return len(text[:end].rstrip()) if begun or variant or text[-1:].isspace() else end
