"""The languages that somebody speaks, and how well."""

import re
from collections.abc import Iterator
from itertools import pairwise

from pipelines.facts import LanguageFacts
from pipelines.ingestion.parsers.career.career_words import SPOKEN_LANGUAGES
from pipelines.ingestion.parsers.resume.lines import words_of
from pipelines.text import fold

_WORD = re.compile(r"[^\W\d_]{3,}")
_DOTS = re.compile(r"[●○◉◯⬤★☆■□▮▯•·]{2,}|\b\d{1,3}\s?%|\b\d\s?/\s?\d{1,2}\b")
_MAX_LEVEL = 60


def spoken_in(text: str) -> list[tuple[int, int]]:
    """The spans of the names of spoken languages, in order."""
    return [
        match.span() for match in _WORD.finditer(text) if fold(match[0]) in SPOKEN_LANGUAGES and match[0][0].isupper()
    ]


def language_facts(text: str, start: int, end: int) -> list[LanguageFacts]:
    """The languages of `text[start:end]`, each with the words up to the next one as its level."""
    return list(_facts(text, start, end))


def _facts(text: str, start: int, end: int) -> Iterator[LanguageFacts]:
    names = [(start + begin, start + finish) for begin, finish in spoken_in(text[start:end])]
    seen: set[str] = set()
    for (begin, finish), (following, _) in pairwise([*names, (end, end)]):
        language = text[begin:finish]
        if language in seen:
            continue
        seen.add(language)
        level = words_of(_DOTS.sub(" ", text[finish:following])) if following - finish <= 3 * _MAX_LEVEL else ""
        level = level.removesuffix(" and").strip()
        level = level.strip("()[] ") if level.count("(") != level.count(")") or level.startswith("(") else level
        stands = level and level in " ".join(text[finish:following].split()) and len(level) <= _MAX_LEVEL
        yield LanguageFacts(
            language=language, level=level if stands else "", span=(begin, following if stands else finish)
        )
