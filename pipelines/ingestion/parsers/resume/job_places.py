"""Where a job's place may stand in its lines: places that are known, and names that could be one."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.ingestion.parsers.career.job_words import (
    company_score,
    is_department,
    is_employment_type,
    is_industry,
    title_score,
)
from pipelines.ingestion.parsers.career.places import could_be_place, place_score
from pipelines.ingestion.parsers.career.section_names import section_of
from pipelines.ingestion.parsers.resume.lines import words_of

Segment = tuple[int, int]

_TAIL = re.compile(r",\s+|\s+[–—-]\s+|\s+/\s+|\s+in\s+|;\s+")
_AFTER = re.compile(r",\s+|\s+[–—-]\s+|\s+/\s+|:\s+")
_LAST = re.compile(r"(.*[^\s,–—/-])(?:(,)\s+|\s+([–—/-])\s+)([^,–—/]+)", re.DOTALL)
_ASIDE = re.compile(r"([^()]*[^\s()])\s*\(([^()]{2,60})\)?")
_NO_PLACE = -2.0
_PERHAPS = 0.2
_FEW = 4
_STATE = 4
_MAX_WORDS = 160


@dataclass(frozen=True, slots=True)
class Spot:
    """Words that may be a job's place: segment number `at` of line `row`, or the end of one, with what precedes it.

    `key` is the same for the same spot in each job, `score` (-2 to 2) how much the words look like a place.
    """

    words: str
    row: int
    at: int
    key: str
    score: float
    head: str = ""
    aligned: bool = False

    @property
    def segment(self) -> Segment:
        """The segment that it is, or is the end of."""
        return self.row, self.at


def whole_spot(row: int, at: int, words: str, aligned: bool = False) -> Spot:
    """A whole segment as a place."""
    return Spot(words, row, at, f"{row}.{at}", likeness(words), aligned=aligned)


def tail_spot(row: int, at: int, side: str, words: str, city: str = "") -> Spot | None:
    """The end of words as a place ("Acme, Lower Brackenby", "Acme (Lindau)"); None where they hold nothing like it.

    Args:
        row: The line.
        at: The segment's number in it.
        side: Which side of a separator the words are.
        words: Those, without the known place at their end.
        city: That place.
    """
    if city:
        return Spot(city, row, at, f"{row}.{at}{side},", likeness(city), words)
    if len(words) > _MAX_WORDS:
        return None
    if aside := _ASIDE.fullmatch(words):
        head, tail, mark = words_of(aside[1]), aside[2].strip(), "("
    elif last := _LAST.fullmatch(words):
        head, tail, mark = words_of(last[1]), _unstopped(words_of(last[4])), last[2] or ("/" if last[3] == "/" else "-")
    else:
        return None
    return Spot(tail, row, at, f"{row}.{at}{side}{mark}", likeness(tail), head) if head and tail else None


def _unstopped(words: str) -> str:
    """The words without a full stop that ends their line."""
    return words[:-1] if words.endswith(".") and words.count(".") == 1 and len(words) > _STATE else words


def likeness(words: str) -> float:
    """How much the words look like a job's place, -2 to 2; 0.2 for a name of which nothing tells."""
    known = place_score(words)
    if known:
        return (0.5, 1.5, 2.0)[known - 1]
    told = title_score(words) >= 0.5 or company_score(words) or is_employment_type(words)
    if told or not could_be_place(words) or is_industry(words) or is_department(words) or section_of(words):
        return _NO_PLACE
    return _PERHAPS


def shared(spots: Sequence[Sequence[Spot]]) -> dict[str, float]:
    """How much the words at each key look like places over all jobs, the mean of their scores, about -2 to 2."""
    found: dict[str, float] = defaultdict(float)
    for held in spots:
        best: dict[str, float] = {}
        for spot in held:
            best[spot.key] = max(best.get(spot.key, _NO_PLACE), spot.score)
        for key, score in best.items():
            found[key] += score / max(len(spots), _FEW)
    return found


def without_place(words: str) -> tuple[str, str]:
    """The words without a known place at their end or before them, and that place.

    "Acme, Princeton, NJ", "Acme (Berlin)", "Berlin – Acme", "Austin, TX: Acme".
    """
    aside = _ASIDE.fullmatch(words)
    if aside:
        return (words_of(aside[1]), aside[2].strip()) if place_score(aside[2]) >= 2 else (words, "")
    for match in list(_TAIL.finditer(words))[-4:]:
        head, tail = words_of(words[: match.start()]), words_of(words[match.end() :])
        known = place_score(tail)
        if head and (known >= 3 or (known == 2 and not title_score(tail) and not company_score(tail))):
            return head, tail
    for match in reversed(list(_AFTER.finditer(words))[:2]):
        head, tail = words_of(words[: match.start()]), words_of(words[match.end() :])
        if tail and place_score(head) >= 3 and ("," in head or match[0].strip() != ","):
            return tail, head
    return words, ""
