"""When a value that was found says the same as the one that is stated."""

import re

from rapidfuzz.fuzz import ratio

from pipelines.facts import EducationFacts, JobFacts
from pipelines.text import fold

_SAME_BULLET = 97
_PRESENT = "present"
_FILLING = frozenset({"in", "of", "en", "de", "des", "di", "em", "the", "der"})


def normal(value: str) -> str:
    """A value for comparing: case, spaces, accents and typographic variants folded, no sign at its ends."""
    return re.sub(r"\s*-\s*", "-", fold(value)).strip(" .,;:|-'\"")


def alike(stated: str, found: str) -> bool:
    """Whether two values are the same once both are folded."""
    return normal(stated) == normal(found)


def same_month(stated: str, found: str) -> bool:
    """Whether two ISO dates agree to the precision that both state: `2023` and `2023-04` do."""
    shorter = min(len(stated), len(found))
    return shorter > 0 and stated[:shorter] == found[:shorter]


def ends(said: JobFacts | EducationFacts, heard: JobFacts | EducationFacts) -> tuple[str, str]:
    """The two ends; where one side has a single date only, the other's end is none if it is that date as well."""
    last, ended = (_PRESENT if each.current else each.end_month or "" for each in (said, heard))
    if heard.start_month and not ended and same_month(last, said.start_month):
        return "", ""
    if said.start_month and not last and same_month(ended, heard.start_month):
        return "", ""
    return last, ended


def same_bullet(stated: str, found: str) -> bool:
    """Whether two sentences are the same but for a joined hyphen or a space."""
    return ratio(normal(stated), normal(found)) >= _SAME_BULLET


def same_study(stated: str, found: str) -> bool:
    """Degree and subject as one, since a page may write them so: "M.Sc. in Physics", "M.Sc., Physics"."""
    return _study(stated) == _study(found)


def _study(text: str) -> list[str]:
    return [word for word in re.findall(r"[\w.+#&-]+", fold(text)) if word not in _FILLING]
