"""The years that a question names or implies, and whether it asks for what is new."""

import re
from collections.abc import Callable, Iterable
from datetime import date

from pipelines.text import fold

_FIRST = 1950
_Y = r"(?:19[5-9]\d|20\d\d)"
_NUMBERS = {word: n for n, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)}
_N = rf"(?:\d{{1,2}}|{'|'.join(_NUMBERS)})"

# What stands before a number that is none of a year, and what it counts when it stands before it.
_NUMBERED = frozenset(
    """port ports issue issues ticket tickets pr prs request bug rfc section page pages line lines room error code
    number no nr id version model chapter office windows iso""".split()
)
_COUNTED = frozenset(
    """characters chars words tokens users people customers employees students members pages lines rows columns
    records items files documents nodes requests queries messages events tests commits stars times hours days
    minutes seconds ms mb gb kb km m kg g w v kwh dollars euros pounds usd eur gbp percent points tickets calls
    sensors devices units copies readers visitors downloads lookups metres meters miles feet square""".split()
)
_CUE = frozenset(
    """in since of during from by early late mid year spring summer autumn fall winter january february march april
    may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_RECENT = re.compile(
    r"\b(?:recent(?:ly)?|latest|newest|current(?:ly)?|now(?:adays)?|today|these days|at (?:the moment|present)"
    r"|presently)\b(?<!ocean current)(?<!electric current)(?<!sea current)"
)

Handler = Callable[[re.Match[str], int], Iterable[int]]


def years_in(question: str, today: date) -> tuple[int, ...]:
    """The years that a question names or implies, ascending; between 1950 and next year.

    "2019-2021" is a range, "since 2020" reaches to this year, "before 2018" from 1950; a fiscal year (`FY25-26`) is
    its first year. Four digits that count or number something ("2000 characters", "port 2019", "#2021") are no year.
    """
    rest, found = fold(question), set[int]()
    for pattern, years in _RULES:
        for match in pattern.finditer(rest):
            found.update(years(match, today.year))
        rest = pattern.sub(" | ", rest)
    for match in _PLAIN.finditer(rest):
        if _is_year(rest, match):
            found.add(int(match.group()))
    return tuple(sorted(year for year in found if _FIRST <= year <= today.year + 1))


def asks_for_recent(question: str) -> bool:
    """Whether a question asks for what is new or current ("latest", "now")."""
    return bool(_RECENT.search(fold(question)))


def _is_year(text: str, match: re.Match[str]) -> bool:
    before = re.findall(r"[a-z#]+", text[max(0, match.start() - 20) : match.start()])[-1:]
    after = re.match(r"[ -]*([a-z]*)", text[match.end() :])
    if (before and before[0] in _NUMBERED) or (after and after.group(1) in _COUNTED):
        return False
    return int(match.group()) % 1000 != 0 or (bool(before) and before[0] in _CUE)


def _number(text: str) -> int:
    return _NUMBERS.get(text) or int(text)


def _span(match: re.Match[str], _: int) -> Iterable[int]:
    first, last = int(match[1]), match[2]
    end = int(last) if len(last) == 4 else first // 100 * 100 + int(last)
    return range(first, end + 1) if end > first else (first, end if len(last) == 4 else first)


def _fiscal(match: re.Match[str], _: int) -> Iterable[int]:
    return (int(match[1]) if len(match[1]) == 4 else 2000 + int(match[1]),)


def _decade(match: re.Match[str], this: int) -> Iterable[int]:
    start = int(match[1]) * 10 if len(match[1]) == 3 else 1900 + int(match[1]) * 10
    return range(start, min(start + 9, this) + 1)


_PLAIN = re.compile(rf"(?:(?<![\w.,$€£#/:@-])|(?<=\bmid-)|(?<=\bearly-)|(?<=\blate-)){_Y}(?![\w%]|[.,:]\d|-[a-z])")
# In this order; what one rule has read, the next does not see.
_RULES: tuple[tuple[re.Pattern[str], Handler], ...] = (
    (
        re.compile(rf"\b(?:fy|(?:fiscal|financial) year)[\s_-]*'?({_Y}|\d\d)(?:\s*[-/]\s*(?:{_Y}|\d\d))?(?![\w-]*\d)"),
        _fiscal,
    ),
    (re.compile(rf"\bbetween ({_Y}) and ({_Y})\b"), _span),
    (re.compile(rf"(?<![\w.#/-])({_Y}) ?(?:-|to|through|till|until) ?({_Y}|\d\d)(?![\w-])"), _span),
    (
        re.compile(rf"\bsince (?:\w+ )?({_Y})(?!\w)|\bfrom (?:\w+ )?({_Y}) on(?:wards?)?\b"),
        lambda m, this: range(int(m[1] or m[2]), this + 1),
    ),
    (re.compile(rf"\bafter (?:\w+ )?({_Y})(?!\w)"), lambda m, this: range(int(m[1]) + 1, this + 1)),
    (re.compile(rf"\bbefore (?:\w+ )?({_Y})(?!\w)"), lambda m, _: range(_FIRST, int(m[1]))),
    (re.compile(rf"\b(?:until|up to) (?:\w+ )?({_Y})(?!\w)"), lambda m, _: range(_FIRST, int(m[1]) + 1)),
    (re.compile(r"(?<![\w'])'?(19[5-9]|20\d|[5-9])0'?s\b"), _decade),
    (re.compile(r"\blast year\b"), lambda _, this: (this - 1,)),
    (re.compile(r"\bthis year\b"), lambda _, this: (this,)),
    (re.compile(rf"\b({_N}) years? ago\b"), lambda m, this: (this - _number(m[1]),)),
    (
        re.compile(rf"\b(?:last|past) ({_N}) years\b"),
        lambda m, this: range(this - _number(m[1]), this + 1),
    ),
)
