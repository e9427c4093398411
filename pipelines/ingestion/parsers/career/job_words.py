"""How much a few words look like a position, a company, a school or a degree."""

import re

from pipelines.ingestion.parsers.career.career_words import (
    BREAK_WORDS,
    COMPANY_ENDINGS,
    COMPANY_SUFFIXES,
    COMPANY_WORDS,
    DEGREE_ENDINGS,
    DEGREE_WORDS,
    DEPARTMENT_WORDS,
    EMPLOYMENT_TYPES,
    FIELD_WORDS,
    INDUSTRY_WORDS,
    INSTITUTION_ENDINGS,
    INSTITUTION_WORDS,
    INTERNSHIPS,
    LEVEL_WORDS,
    SELF_EMPLOYED,
    TITLE_ENDINGS,
    TITLE_WORDS,
    TRADE_ENDINGS,
    TRADE_WORDS,
    UNIT_STARTS,
    UNIT_WORDS,
)
from pipelines.ingestion.parsers.career.remembered import remembered
from pipelines.text import fold

_WORD = re.compile(r"[^\W_](?:[\w.'+#]|[-/:*](?=\w))*")
_PIECE = re.compile(r"[\W\d_]+")
_GENDER = re.compile(r"(?:\(in\)|[/:*_]-?in(?:nen)?|\((?:a|e|ne|rice|m|f|w|d|x|/)+\)|/-?(?:a|e|o)|·e|\(in\))(?=\W|$)")
_SURE = frozenset("inc llc ltd limited gmbh mbh kg corp plc srl sarl spa lda ltda llp".split())
_DOERS = ("er", "or", "ist", "ian", "ant", "eur", "euse", "ista", "ador", "edor", "rice", "ora")
_LONG_ENDING = 4
_MANY_WORDS = 9


@remembered
def tokens(words: str) -> tuple[str, ...]:
    """The folded words, gender endings ("Entwickler/in", "Développeur(se)") taken off."""
    return tuple(
        token.rstrip(".'") if token.count(".") < 2 else token for token in _WORD.findall(_GENDER.sub("", fold(words)))
    )


def _bits(words: str) -> list[str]:
    return [
        bit for token in tokens(words) for bit in ([token, *_PIECE.split(token)] if _PIECE.search(token) else [token])
    ]


def _ends(token: str, endings: list[str] | tuple[str, ...]) -> bool:
    return any(len(token) >= len(end) + _LONG_ENDING - 1 and token.endswith(end) for end in endings)


@remembered
def title_score(words: str) -> float:
    """How much the words look like a position, 0 to 2.5."""
    found = _bits(words)
    if fold(words) in INTERNSHIPS:
        return 1.5
    hit = any(
        token in TITLE_WORDS or token.removesuffix("in") in TITLE_WORDS or _ends(token, TITLE_ENDINGS)
        for token in found
    )
    level = any(token in LEVEL_WORDS for token in found)
    score = 2.0 * hit + 0.5 * level
    if not hit and found and ({found[0], found[-1]} & TRADE_WORDS or _ends(found[-1], TRADE_ENDINGS)):
        return 1.0 + 0.5 * level
    if not score and found and len(found[-1]) > _LONG_ENDING and found[-1].endswith(_DOERS):
        return 0.3
    return score - 1 if score and len(tokens(words)) > _MANY_WORDS else score


@remembered
def company_score(words: str) -> float:
    """How much the words look like a company or another employer, 0 to 2.5."""
    found = _bits(re.sub(r"\([^()]*\)", " ", words))
    squeezed = [token.strip(",()") for token in fold(words).replace(".", "").split()]
    if len(squeezed) > 1 and (squeezed[-1] in COMPANY_SUFFIXES or any(token in _SURE for token in squeezed[1:])):
        return 2.5
    if is_unit(words):
        return 0.2
    known = any(token in COMPANY_WORDS or token in INSTITUTION_WORDS for token in found if token not in FIELD_WORDS)
    if known or set(found[-1:]) & FIELD_WORDS or any(_ends(token, INSTITUTION_ENDINGS) for token in found):
        return 1.2
    if any(_ends(token, COMPANY_ENDINGS) for token in found):
        return 1.0
    return 0.8 if "".join(squeezed) in SELF_EMPLOYED else 0.0


def has_title(words: str) -> bool:
    """Whether the words hold one that names a position."""
    return title_score(words) >= 1.0


@remembered
def institution_score(words: str) -> float:
    """How much the words look like a school, 0 to 2."""
    found = _bits(words)
    return 2.0 * any(token in INSTITUTION_WORDS or _ends(token, INSTITUTION_ENDINGS) for token in found)


def has_school(words: str) -> bool:
    """Whether the words hold one that names a school."""
    return institution_score(words) > 0


@remembered
def degree_score(words: str) -> float:
    """How much the words look like a degree, 0 to 2."""
    found = [*_bits(words), *fold(words).split()]
    return 2.0 * any(token in DEGREE_WORDS or _ends(token, DEGREE_ENDINGS) for token in found)


def is_employment_type(words: str) -> bool:
    """Whether the words only say how somebody is employed ("Full-time", "CDI")."""
    found = fold(words).replace(" ", "-").split("/")
    return bool(words) and all(part.strip("-()·,") in EMPLOYMENT_TYPES for part in found)


def is_industry(words: str) -> bool:
    """Whether the words hold one that names an industry ("Fintech", "Food and beverage")."""
    return any(token in INDUSTRY_WORDS for token in tokens(words))


def is_department(words: str) -> bool:
    """Whether the words only name a part of a company or its trade ("Retail Operations", "Credit")."""
    found = tokens(words)
    return bool(found) and all(token in DEPARTMENT_WORDS for token in found)


def is_unit(words: str) -> bool:
    """Whether the words name a part of an employer ("Department of Geology", "Risk Department"), and no other one."""
    found = tokens(words)
    if len(found) < 2 or "," in words:
        return False
    of = found[1] in ("of", "for", "de", "fur", "der", "di")
    return found[-1] in UNIT_WORDS or (of and found[0] in UNIT_WORDS | UNIT_STARTS)


def is_break(words: str) -> bool:
    """Whether the words name a time without work ("Career Break", "Elternzeit")."""
    found = tokens(words)
    return any(token in BREAK_WORDS for token in found) and len(found) <= _MANY_WORDS


def is_own_work(words: str) -> bool:
    """Whether the words say that somebody worked on their own account ("Freelance developer", "Autónoma")."""
    return any(token in SELF_EMPLOYED for token in tokens(words))


def looks_named(words: str) -> bool:
    """Whether the words could be a name or a position: mostly with capitals, or with words that name either."""
    found = words.split()
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
