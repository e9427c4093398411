"""How well words suit to be a job's company and its position, by the words themselves."""

import re
from functools import lru_cache

from pipelines.ingestion.parsers.career.job_words import (
    company_score,
    is_break,
    is_department,
    is_industry,
    is_unit,
    looks_named,
    title_score,
)
from pipelines.ingestion.parsers.career.places import place_score

_INSIDE = re.compile(r"\s(?:[–—-]|/)\s|:\s|\s(?:en|em|na|no|presso|chez|bei|at)\s(?=[A-ZÀ-Ý])")
_DASH = re.compile(r"\s[–—-]\s")


@lru_cache(maxsize=16384)
def fit(company: str, position: str) -> float:
    """How well the words suit their roles, about -6 to 5; either may be empty."""
    first, _, more = position.partition(", ")
    titled = first if is_department(more) else position
    score = title_score(titled) - title_score(company) + company_score(company) - company_score(titled)
    score -= 2.0 * (place_score(company) >= 3) + 2.0 * (place_score(position) >= 2)
    return score - _unlike_company(company) - _unlike_position(position, titled)


@lru_cache(maxsize=4096)
def _unlike_company(words: str) -> float:
    """What it costs that the words hold more than a name, or less than that of a company."""
    cost = 0.2 * ((", " in words and company_score(words) < 2) or bool(_DASH.search(words)))
    cost += 3.0 * is_break(words)
    cost += 1.5 * is_department(words) or 0.5 * (is_industry(words) or is_unit(words))
    return cost + _unnamed(words, 2, 0.7)


@lru_cache(maxsize=4096)
def _unlike_position(words: str, titled: str) -> float:
    """What it costs that the words have parts; more where the first one is no position."""
    first = title_score(words.partition(", ")[0])
    cost = (0.15 if first else 0.5) * (", " in titled)
    cost += (0.3 if title_score(_INSIDE.split(words)[0]) else 0.5) * bool(_INSIDE.search(words))
    return cost + _unnamed(words, 0, 0.5)


def _unnamed(words: str, few: int, cost: float) -> float:
    """What it costs that the words do not look like a name; less for so few words as a company may be styled in."""
    if not words or looks_named(words):
        return 0.0
    return cost if len(words.split()) > few else 0.3
