"""Words of positions, companies, schools, degrees and languages in six languages, and scores by them."""

import re
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from typing import TypeVar

from pipelines.ingestion.parsers.careers.separators import without_asides
from pipelines.ingestion.words import word_lists
from pipelines.text import fold

_LISTS = word_lists("vocabulary")
TITLE_WORDS = frozenset(_LISTS["titles"])
TITLE_ENDINGS = _LISTS["title_endings"]
LEVEL_WORDS = frozenset(_LISTS["title_levels"])
TRADE_WORDS = frozenset(_LISTS["trades"])
TRADE_ENDINGS = _LISTS["trade_endings"]
COMPANY_SUFFIXES = frozenset(_LISTS["company_suffixes"])
COMPANY_WORDS = frozenset(_LISTS["companies"])
COMPANY_ENDINGS = _LISTS["company_endings"]
FIELD_WORDS = frozenset(_LISTS["fields_of_work"])
SELF_EMPLOYED = frozenset(_LISTS["self_employed"])
INSTITUTION_WORDS = frozenset(_LISTS["schools"])
INSTITUTION_ENDINGS = _LISTS["school_endings"]
DEGREE_WORDS = frozenset(_LISTS["degrees"])
DEGREE_ENDINGS = _LISTS["degree_endings"]
EMPLOYMENT_TYPES = frozenset(_LISTS["employment_types"])
INTERNSHIPS = frozenset(_LISTS["internships"])
NOT_INDUSTRIES = _LISTS["not_industries"]
INDUSTRY_WORDS = frozenset(_LISTS["industries"])
DEPARTMENT_WORDS = frozenset(_LISTS["departments"])
UNIT_WORDS = frozenset(_LISTS["units"])
UNIT_STARTS = frozenset(_LISTS["unit_starts"])
BREAK_WORDS = frozenset(_LISTS["breaks"])
LEVELS = frozenset(_LISTS["levels"])

MAX_CACHED_LENGTH = 500

_Result = TypeVar("_Result")
_CACHE_SIZE = 16_384
_WORD = re.compile(r"[^\W_](?:[\w.'+#]|[-/:*](?=\w))*")
_LANGUAGE = re.compile(r"[^\W\d_]{3,}")
_GENDER = re.compile(r"(?:\(in\)|[/:*_]-?in(?:nen)?|\((?:a|e|ne|rice|m|f|w|d|x|/)+\)|/-?(?:a|e|o)|·e|\(in\))(?=\W|$)")
_LEGAL_FORMS = frozenset("inc llc ltd limited gmbh mbh kg corp plc srl sarl spa lda ltda llp".split())
_AGENT_ENDINGS = ("er", "or", "ist", "ian", "ant", "eur", "euse", "ista", "ador", "edor", "rice", "ora")
_LONG_ENDING = 4
_MANY_WORDS = 9


def cached_for_short_text(find: Callable[[str], _Result]) -> Callable[[str], _Result]:
    """Cache the results for texts of at most `MAX_CACHED_LENGTH` characters; longer keys would fill gigabytes."""
    known = lru_cache(maxsize=_CACHE_SIZE)(find)

    @wraps(find)
    def found(words: str) -> _Result:
        return known(words) if len(words) <= MAX_CACHED_LENGTH else find(words)

    return found


@cached_for_short_text
def tokens(words: str) -> tuple[str, ...]:
    """The folded words without gender endings ("Entwickler/in", "Développeur(se)")."""
    return tuple(
        token.rstrip(".'") if token.count(".") < 2 else token for token in _WORD.findall(_GENDER.sub("", fold(words)))
    )


def _tokens_and_parts(words: str) -> list[str]:
    found: list[str] = []
    for token in tokens(words):
        found.append(token)
        if not token.isalpha():
            found += "".join([char if char.isalpha() else " " for char in token]).split()
    return found


def _has_ending(token: str, endings: tuple[str, ...]) -> bool:
    if not token.endswith(endings):
        return False
    return any(len(token) >= len(end) + _LONG_ENDING - 1 and token.endswith(end) for end in endings)


@cached_for_short_text
def title_score(words: str) -> float:
    """Score the words as a position, 0 to 2.5."""
    found = _tokens_and_parts(words)
    if fold(words) in INTERNSHIPS:
        return 1.5
    hit = any(
        token in TITLE_WORDS or token.removesuffix("in") in TITLE_WORDS or _has_ending(token, TITLE_ENDINGS)
        for token in found
    )
    level = any(token in LEVEL_WORDS for token in found)
    score = 2.0 * hit + 0.5 * level
    if not hit and found and ({found[0], found[-1]} & TRADE_WORDS or _has_ending(found[-1], TRADE_ENDINGS)):
        return 1.0 + 0.5 * level
    if not score and found and len(found[-1]) > _LONG_ENDING and found[-1].endswith(_AGENT_ENDINGS):
        return 0.3
    return score - 1 if score and len(tokens(words)) > _MANY_WORDS else score


@cached_for_short_text
def company_score(words: str) -> float:
    """Score the words as a company or another employer, 0 to 2.5."""
    found = _tokens_and_parts(without_asides(words))
    squeezed = [token.strip(",()") for token in fold(words).replace(".", "").split()]
    if len(squeezed) > 1 and (squeezed[-1] in COMPANY_SUFFIXES or any(token in _LEGAL_FORMS for token in squeezed[1:])):
        return 2.5
    if is_unit(words):
        return 0.2
    known = any(token in COMPANY_WORDS or token in INSTITUTION_WORDS for token in found if token not in FIELD_WORDS)
    if known or set(found[-1:]) & FIELD_WORDS or any(_has_ending(token, INSTITUTION_ENDINGS) for token in found):
        return 1.2
    if any(_has_ending(token, COMPANY_ENDINGS) for token in found):
        return 1.0
    return 0.8 if "".join(squeezed) in SELF_EMPLOYED else 0.0


def has_title(words: str) -> bool:
    """True if the words contain a position word."""
    return title_score(words) >= 1.0


@cached_for_short_text
def institution_score(words: str) -> float:
    """Score the words as a school, 0 or 2."""
    found = _tokens_and_parts(words)
    return 2.0 * any(token in INSTITUTION_WORDS or _has_ending(token, INSTITUTION_ENDINGS) for token in found)


def has_school(words: str) -> bool:
    """True if the words contain a school word."""
    return institution_score(words) > 0


@cached_for_short_text
def degree_score(words: str) -> float:
    """Score the words as a degree, 0 or 2."""
    found = [*_tokens_and_parts(words), *fold(words).split()]
    known = any(token in DEGREE_WORDS or _has_ending(token, DEGREE_ENDINGS) for token in found)
    return 2.0 * (known or any(map(_is_dotted_degree, words.split())))


def _is_dotted_degree(word: str) -> bool:
    """True for a degree in letters with full stops, one of them with a small letter: "M.A.Sc.", "B.Mus.Ed."."""
    parts = word.rstrip(",").split(".")
    is_short = len(parts) > 2 and all(part.isalpha() and len(part) <= _LONG_ENDING for part in parts[:-1])
    return is_short and parts[0] in ("B", "M", "D") and any(part[1:].islower() for part in parts[1:-1])


def is_employment_type(words: str) -> bool:
    """True if the words are only a type of employment ("Full-time", "CDI")."""
    found = fold(words).replace(" ", "-").split("/")
    return bool(words) and all(part.strip("-()·,") in EMPLOYMENT_TYPES for part in found)


def is_industry(words: str) -> bool:
    """True if the words contain an industry ("Fintech", "Food and beverage")."""
    return any(token in INDUSTRY_WORDS for token in tokens(words))


def is_department(words: str) -> bool:
    """True if the words are only a department or a trade ("Retail Operations", "Credit")."""
    found = tokens(words)
    return bool(found) and all(token in DEPARTMENT_WORDS for token in found)


def is_unit(words: str) -> bool:
    """True if the words name a unit of an employer ("Department of Geology", "Risk Department") and nothing else."""
    found = tokens(words)
    if len(found) < 2 or "," in words:
        return False
    of = found[1] in ("of", "for", "de", "fur", "der", "di")
    return found[-1] in UNIT_WORDS or (of and found[0] in UNIT_WORDS | UNIT_STARTS)


def is_break(words: str) -> bool:
    """True if the words name a break from work ("Career Break", "Elternzeit")."""
    found = tokens(words)
    return any(token in BREAK_WORDS for token in found) and len(found) <= _MANY_WORDS


def is_own_work(words: str) -> bool:
    """True if the words name self-employment ("Freelance developer", "Autónoma")."""
    return any(token in SELF_EMPLOYED for token in tokens(words))


def looks_named(words: str) -> bool:
    """True if the words outside brackets may be a name or a position: mostly capitalised, or with a position word."""
    found = without_asides(words).split() or words.split()
    if not found or len(found) > 14:
        return False
    if title_score(words) >= 2 and len(found) <= 10:
        return True
    letters = [word for word in found if any(map(str.isalpha, word))]
    if not letters:
        return len(found) <= 6
    long = [word for word in letters if len(word) > 3 or word[0].isupper()]
    capitals = sum(1 for word in long if word.lstrip("(\"'„“«[*_#")[:1].isupper() or any(map(str.isupper, word)))
    start = letters[0].lstrip("(\"'„“«[*_")[:1]
    return (
        bool(long)
        and capitals >= 0.5 * len(long)
        and (start.isupper() or not start.isalpha() or any(map(str.isupper, letters[0])))
    )


def is_level(words: str) -> bool:
    """True if the words are only how well something is known: "Full professional proficiency"."""
    found = [word.strip(".,()") for word in fold(words).replace("-", " ").split()]
    return len(found) > 0 and all(word in LEVELS for word in found)


@cache
def spoken_languages() -> frozenset[str]:
    """The folded names of natural languages, in six languages."""
    from babel import Locale

    tables = (Locale(code).languages for code in ("en", "de", "fr", "es", "pt", "it"))
    named = (name for table in tables for code, name in table.items() if len(code) == 2)
    return frozenset(map(fold, named)) | frozenset(_LISTS["languages"])


def language_names(text: str) -> list[tuple[int, int]]:
    """The spans of the names of spoken languages in the text, in order; only names with a capital count."""
    return [
        match.span()
        for match in _LANGUAGE.finditer(text)
        if any(map(str.isupper, match[0])) and fold(match[0]) in spoken_languages()
    ]
