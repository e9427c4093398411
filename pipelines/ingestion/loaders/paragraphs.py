"""The lines of a paragraph: single spaces, single tabs, and a block for each line that a break sets apart."""

import re
from collections.abc import Sequence

from pipelines.ingestion.loaders.rendering import Part
from pipelines.ingestion.structure import is_capitals

_SPACES = re.compile(r"[ \xa0]+")
_TABS = re.compile(r"[ \xa0]*\t[ \t\xa0]*")
_BULLET = re.compile(r"[•‣◦▪▫●○∙·➢➤►▶✓✔][ \t]+(?=\S)")
_CAPITALS_SHARE = 0.4


def tidy(text: str) -> str:
    """The text with single spaces and tabs, without white space around its lines, and without blank lines."""
    lines = (_SPACES.sub(" ", _TABS.sub("\t", line)).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def lines_of(text: str, finds_headings: bool = False) -> list[Part]:
    """A part for each line, as a line break inside a paragraph is meant.

    A typed bullet makes it a list item, and where `finds_headings` capitals make it a heading.
    """
    parts: list[Part] = []
    for line in tidy(text).splitlines():
        close = bool(parts)
        if _BULLET.match(line):
            parts.append(Part(line, "list", close=close))
        elif finds_headings and is_capitals(line):
            parts.append(Part(line, "heading", 1, close))
        else:
            parts.append(Part(line, "paragraph", close=close))
    return parts


def is_shouting(lines: Sequence[str]) -> bool:
    """Whether so many lines are in capitals that it says nothing."""
    filled = [line for line in lines if line.strip()]
    return sum(map(is_capitals, filled)) > _CAPITALS_SHARE * len(filled)
