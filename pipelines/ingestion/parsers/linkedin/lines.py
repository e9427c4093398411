"""The lines of a LinkedIn profile with their words, and the places that they name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipelines.ingestion.parsers.career.dates import date_ranges, durations
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.structure import text_blocks, trimmed
from pipelines.text import plain
from pipelines.types import Document

PAGE_LINE = re.compile(
    r"(?:page|seite|página|pagina)[ ]?\d{1,3}(?:[ ](?:of|von|de|di|sur|/)[ ]\d{1,3})?", re.IGNORECASE
)

_LINE = re.compile(r"[^\n\t]+")
_BULLETS = "-*+•‣◦▪●·–"
_AREA = re.compile(
    r"\b(?:area|region|région|périphérie|alrededores|região|großraum|umgebung|dintorni|greater|metropolitan)\b",
    re.IGNORECASE,
)
_MARKED_UP = re.compile(r"[*`\[<\\]|^[#>]|&\w{2,6};")


@dataclass(frozen=True, slots=True)
class Row:
    """A line `text[start:end]`, or a stretch of it between tabs, with its words; `level` is a heading's, else 0.

    `alone` says that it is a whole block, `apart` that an empty line is above it.
    """

    start: int
    end: int
    words: str
    level: int = 0
    alone: bool = False
    apart: bool = False
    bullet: bool = False


def rows_of(document: Document) -> list[Row]:
    """The lines of the document in order, without page numbers.

    A line is joined to the one that closes its bracket, and one that ends in dates with a length is parted before them.
    """
    text = document.text
    blocks = document.blocks or text_blocks(text)
    levels = {block.start: block.level for block in blocks if block.kind == "heading"}
    whole = {(block.start, block.end) for block in blocks}
    found: list[Row] = []
    for start, end in _lines(text):
        before = found[-1] if found else None
        if before and not before.level and _is_open(before.words) and _closes(text[start:end]):
            found[-1] = replace(before, end=end, words=_words(text[before.start : end]))
            continue
        bullet = text[start] in _BULLETS and text[start + 1 : start + 2].isspace()
        words = _words(text[start + bullet : end])
        if words and not (before and before.words == words and before.level == levels.get(start, 0)):
            apart = before is None or text.count("\n", before.end, start) > 1
            found.append(Row(start, end, words, levels.get(start, 0), (start, end) in whole, apart, bullet))
    return found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for match in _LINE.finditer(text):
        start, end = trimmed(text, *match.span())
        if start == end or PAGE_LINE.fullmatch(text, start, end):
            continue
        dated = _dated_tail(text[start:end]) if text[end - 1] == ")" else 0
        if dated:
            yield trimmed(text, start, start + dated)
        yield start + dated, end


def _dated_tail(line: str) -> int:
    """Where the dates and the length in brackets begin that a line ends in; 0 where there are none, or nothing else."""
    lengths = durations(line)
    ranges = date_ranges(line) if lengths and lengths[-1][1] == len(line) else []
    if not ranges or line[ranges[-1].end : lengths[-1][0]].strip() or line[lengths[-1][0]] != "(":
        return 0
    words = line[: ranges[-1].start].rstrip()
    return ranges[-1].start if words and words[-1].isalnum() else 0


def location_of(row: Row, *, strict: bool = False) -> str:
    """The place that a row names, rather than what was done there; "" for other rows.

    Args:
        row: The row under a job's dates, or the last one under a name.
        strict: Only places that are known.
    """
    words = row.words.split(" · ")[0].strip()
    if row.bullet or len(words) > 80 or words.endswith((".", ":", "!", ";")):
        return ""
    if place_score(words) >= 2:
        return words
    parts = [part.split() for part in words.split(",")]
    named = len(parts) <= 4 and all(part and len(part) <= 4 and part[0][0].isupper() for part in parts)
    short = len(parts) == 1 and len(parts[0]) <= 2 and words.istitle()
    return words if named and not strict and (len(parts) > 1 or short or _AREA.search(words)) else ""


def _closes(raw: str) -> bool:
    return raw.count(")") > raw.count("(")


def _is_open(words: str) -> bool:
    return len(words) < 300 and words.count("(") > words.count(")")


def _words(raw: str) -> str:
    return " ".join((plain(raw) if _MARKED_UP.search(raw) else raw).split())
