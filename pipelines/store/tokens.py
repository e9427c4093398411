"""The terms of the BM25 index: the same for nodes and for questions."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pipelines.text import bare

TOKENISER_VERSION = 3
# A word, with inner joints (node.js, GPT-4, snake_case) and trailing signs (C++, C#), or a leading dot (.NET); words
# that are joined by / & + are one run (CI/CD, R&D, C/C++).
_WORD = r"(?:(?<![\w.])\.[a-z]{2,}\b|\w+(?:[.\-'’#@:]\w+)*(?:\+\+|#)?)"
_RAW = re.compile(rf"{_WORD}(?:[/&+]{_WORD})*", re.IGNORECASE)
_SIDE = re.compile(_WORD, re.IGNORECASE)
# Digits between letters (k8s, i18n) are no part.
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|(?<![^\W_])\d+|\d+(?![^\W_])|[^\W\d_]+")
_MAX_RAW = 64  # longer runs (base64, minified code) count by their parts only
STOP_WORDS = frozenset(
    """a about an and are as at be but by can could did do does for from had has have he her hers him his how i if in
    into is it its me my no not of on or our she should so such that the their them then there these they this to us
    was we were what when where which who whom whose why will with would you your s t""".split()
)  # fmt: skip
_SPARED = {"IT", "US"}


@lru_cache(maxsize=1)
def _aliases() -> dict[str, tuple[str, ...]]:
    table: dict[str, str] = json.loads((files("pipelines.store") / "aliases.json").read_text())
    return {short: tuple(token for token in tokenise(full, aliases=False)) for short, full in table.items()}


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word)) if len(word) > 3 and word.isalpha() else word


def stems(words: Sequence[str]) -> list[str]:
    """The stems of words in lower case, in their order."""
    return list(_stemmer().stemWords(words))


def tokenise(text: str, *, aliases: bool = True) -> list[str]:
    """The index terms of a text, in order: the same for nodes and for questions.

    Case and accents are folded, English stop words dropped, words stemmed. A word with joints counts whole and by its
    parts (`node.js` -> `node.js node js`, `getUserName` -> `getusernam get user name`), except that `C++`, `C#` and
    `.NET` are only themselves. Words joined by `/`, `&` or `+` count whole and each as a word (`C/C++` -> `c/c++ c
    c++`); a single letter only beside `/`. A known short form also counts as its long one (`k8s` -> `k8s kubernet`).
    """
    return [term for raw in _RAW.findall(bare(text)) for term in _terms(raw, aliases)]


def _terms(raw: str, aliases: bool) -> tuple[str, ...]:
    return _few_terms(raw, aliases) if len(raw) <= _MAX_RAW else _all_terms(raw, aliases)


@lru_cache(maxsize=100_000)
def _few_terms(raw: str, aliases: bool) -> tuple[str, ...]:
    return _all_terms(raw, aliases)


def _all_terms(raw: str, aliases: bool) -> tuple[str, ...]:
    """The terms of a run."""
    sides = _sides(raw)
    if sides == [raw]:
        return tuple(_word(raw, aliases=aliases))
    terms, whole = [], _lowered(raw)
    if len(whole) <= _MAX_RAW:
        terms.append(whole)
    terms += _aliases().get(whole, ()) if aliases else ()
    terms += (term for side in sides for term in _word(side, aliases=aliases))
    return tuple(terms)


def _sides(raw: str) -> list[str]:
    """The words of a run; a single letter beside `&` or `+` is none (R&D), beside `/` it is (Python/R)."""
    sides: list[str] = []
    for group in raw.split("/"):
        words = _SIDE.findall(group)
        sides += words if len(words) == 1 else (word for word in words if len(word) > 1 or word.isdigit())
    return sides


def _lowered(raw: str) -> str:
    return raw.lower().replace("’", "'").removesuffix("'s")


def _word(raw: str, *, aliases: bool) -> list[str]:
    whole = _lowered(raw)
    if whole in STOP_WORDS and raw not in _SPARED:
        return []
    terms = [_stem(whole)] if len(whole) <= _MAX_RAW else []
    if not whole.isalpha() or (raw != raw.lower() and raw != raw.upper() and not raw.istitle()):
        terms += _parts(raw, whole)
    if aliases and whole in _aliases():
        terms += _aliases()[whole]
    return terms


def _parts(raw: str, whole: str) -> list[str]:
    if whole.endswith(("++", "#")) or whole.startswith(".") or "'" in whole:
        return []
    parts = [part.lower() for part in _PARTS.findall(raw)]
    wanted = (part for part in parts if (len(part) > 1 or part.isdigit()) and part not in STOP_WORDS)
    family = [".net"] if whole.endswith(".net") and "@" not in whole else []
    return [_stem(part) for part in wanted if part != whole] + family
