"""Proper names and years in a question, with the words before each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.text import fold

NAME = re.compile(r"(?<=[\w,;:)'\"] )(?!I\b)[A-Z][\w'’.+#-]*\w[+#]*")
PLACED = r"(?:in|at|on|from|to|near|within|into|since|until|during|before|after|bei|seit|vor|nach)"
YEAR = r"(?:19|20)\d\d"
_BEFORE = 16  # characters before a name
_FIRST = re.compile(r"[A-Z][\w'’.+#-]*\w[+#]*")
_BEGINS = re.compile(
    r"(?:wh\w+|how|did|do|does|is|are|was|were|has|have|had|can|could|will|would|should|the|an?|and|und"
    r"|we[rnm]|wann|wo|wie|warum)\b",
    re.IGNORECASE,
)
OWNER = re.compile(r"['’]s\b")
_YEAR = re.compile(rf"\b{YEAR}\b")
_BETWEEN = frozenset({" ", " of ", " of the ", " de ", " van ", " von ", " & "})
_PREPOSITION = re.compile(rf"\b({PLACED})(?: (?:the|der|dem|den))? $", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|the) $", re.IGNORECASE)
_DOER = re.compile(r"\b(?:did|does|do|has|have|had|can|could|will|would|hat|war) $", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text, without a possessive ending: its words, its span, and what stands before it.

    Attributes:
        placed: The preposition before it.
        article: True if an article stands before it.
        acts: True if it does something: "did" or the like stands before it.
    """

    text: str
    start: int
    end: int
    placed: str = ""
    article: bool = False
    acts: bool = False


def names_in(text: str, titles: Sequence[str] = ()) -> list[Name]:
    """The names in a text, in its order; those that stand side by side are one.

    The first word counts where it owns something, a name follows, or a title has it; a word of a title counts
    whatever its case where it is the whole title.
    """
    spans = [match.span() for match in NAME.finditer(text)]
    first = _FIRST.match(text)
    known = {word for title in titles for word in fold(title).split()}
    if first and (OWNER.search(first[0]) or fold(first[0]) in known or _follows(text, first.end(), spans)):
        spans.insert(0, first.span())
    runs: list[tuple[int, int]] = []
    for start, end in [*spans, *_titles_in(text, titles)]:
        if any(start < until and since < end for since, until in runs):
            continue
        if runs and _is_one(text[slice(*runs[-1])], text[runs[-1][1] : start]):
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return [_name(text, start, end) for start, end in sorted(runs)]


def _is_one(before: str, between: str) -> bool:
    """True if a name goes on after what stands between: in "City of Leith", but not in "Ann's Leith", "CEO of Acme"."""
    return between in _BETWEEN and not OWNER.search(before) and (between == " " or not before.isupper())


def _follows(text: str, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return not _BEGINS.match(text) and bool(spans) and spans[0][0] == end + 1


def _titles_in(text: str, titles: Sequence[str]) -> list[tuple[int, int]]:
    """The places of a whole title in a text."""
    lower = text.lower()
    found = ((lower.find(title.lower()), len(title)) for title in titles if title)
    spans = [(start, start + length) for start, length in found if start >= 0]
    return [(a, b) for a, b in spans if not (text[a - 1 : a].isalnum() or text[b : b + 1].isalnum())]


def _name(text: str, start: int, end: int) -> Name:
    end -= len(owner[0]) if (owner := OWNER.search(text[start:end])) else 0
    before = text[max(start - _BEFORE, 0) : start]
    placed, article, acts = _PREPOSITION.search(before), bool(_ARTICLE.search(before)), bool(_DOER.search(before))
    return Name(text[start:end], start, end, placed[1] if placed else "", article, acts)


def bounds_in(text: str, titles: Sequence[str] = ()) -> list[Name]:
    """The names and years in a text, in its order: what something can come before or after."""
    years = [_name(text, *match.span()) for match in _YEAR.finditer(text)]
    return sorted([*names_in(text, titles), *years], key=lambda name: name.start)
