"""Places: scores for words that name a city, a region, a country or remote work."""

from functools import cache
from itertools import chain

from pipelines.ingestion.parsers.careers.separators import cuts
from pipelines.ingestion.parsers.careers.vocabulary import cached_for_short_text
from pipelines.ingestion.words import word_lists
from pipelines.text import fold

_COMMAS = str.maketrans(dict.fromkeys("/|(·&–—", ","))
_JOINTS = frozenset(("-", "and", "und", "et", "y", "e"))
_IN_NAME = str.maketrans("", "", ".'’/-")
_POSTAL_COUNTRIES = frozenset(("d", "a", "ch", "f", "i", "e"))
_SMALL = frozenset(
    "de la le les du des am an der den die das in im of the sur en el los las do da dos di del on upon".split()
)
_BEFORE_AREA = ("greater", "near", "raum", "region", "grossraum", "area de", "area", "metropolitan", "zona")
_BEHIND_AREA = ("metropolitan area", "area", "region")


def is_place(words: str) -> bool:
    """True if the words name a place or remote work: "Berlin", "Princeton, NJ", "Remote (US)"."""
    return place_score(words) >= 2


@cached_for_short_text
def place_score(words: str) -> int:
    """Score the words as a place: 3 = a known place, 2 = "Somewhere, Country", 1 = "Something, City", 0 = unknown.

    "Something" may be a district or a company in the city.
    """
    words = words.strip(" \t\n.,;()[]")
    if not words or len(words) > 80:
        return 0
    joined = " ".join("," if token in _JOINTS else token for token in words.translate(_COMMAS).split())
    parts = [part.strip(" ()") for part in joined.split(",") if part.strip(" ()")]
    if not parts or len(parts) > 5:
        return 0
    known = [_known(part, bool(place)) for place, part in enumerate(parts)]
    if all(known):
        return 3
    named = [known_part or _is_name(part) for known_part, part in zip(known, parts, strict=True)]
    if len(parts) > 3 or not all(named) or "," not in words or cuts(words, "-"):
        return 0
    if not known[-1]:
        return 2 * (known[0] and len(parts) == 2)
    doubtful = fold(parts[-1]) in _REMOTE or (len(parts) > 2 and not any(known[:2]))
    in_a_city = len(parts) > 1 and fold(parts[1]) in _CITIES and parts[1] not in _STATES
    return 1 if doubtful or (in_a_city and not (known[0] and len(parts) == 2)) else 2


def is_region(words: str) -> bool:
    """True if the words name a known country, state or region, and no city of its name."""
    return place_score(words) == 3 and fold(words) not in _CITIES and "," not in words


def could_be_place(words: str) -> bool:
    """True if the words may name an unknown place: up to four words with capitals."""
    return not any(map(str.isdigit, words)) and _is_name(words)


def _known(part: str, after_another: bool) -> bool:
    bare = _without_postcode(part)
    name = fold(bare)
    name = next((name[len(start) + 1 :] for start in _BEFORE_AREA if name.startswith(f"{start} ")), name)
    name = next((name[: -len(end) - 1] for end in _BEHIND_AREA if name.endswith(f" {end}")), name)
    state = after_another and bare in _STATES
    return state or name in _places() or (name.startswith("remote") and len(name.split()) <= 3)


def _without_postcode(part: str) -> str:
    """The part without a postal code before the name ("D-10115 Berlin") or behind it ("NJ 08540-1234")."""
    first, *others = part.split()
    country, dash, code = first.rpartition("-")
    if others and code.isdecimal() and 4 <= len(code) <= 6 and (not dash or country.lower() in _POSTAL_COUNTRIES):
        return " ".join(others)
    zip_code, _, box = part.rsplit(maxsplit=1)[-1].partition("-")
    is_zip = len(zip_code) == 5 and zip_code.isdecimal() and (not box or (len(box) == 4 and box.isdecimal()))
    return " ".join([first, *others[:-1]]) if others and is_zip else part


def _is_name(part: str) -> bool:
    """True if the part may be the name of a city: up to four words with capitals."""
    words = part.split()
    return 0 < len(words) <= 4 and all(
        word.lower() in _SMALL or (word[0].isupper() and word.translate(_IN_NAME).isalnum()) for word in words
    )


@cache
def _places() -> frozenset[str]:
    """The folded names of countries in six languages, of regions, cities, and of remote work."""
    from babel import Locale

    tables = (Locale(code).territories for code in ("en", "de", "fr", "es", "pt", "it"))
    countries = (name for table in tables for code, name in table.items() if len(code) == 2)
    return frozenset(map(fold, chain(countries, _LISTS["countries"], _LISTS["regions"]))) | _CITIES | _REMOTE


_LISTS = word_lists("places")
_STATES = frozenset(_LISTS["states"])
_CITIES = frozenset(map(fold, _LISTS["cities"]))
_REMOTE = frozenset(map(fold, _LISTS["remote"]))
