"""The terms of the BM25 index, the same for nodes and questions, and the spelling of unknown words."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from string import ascii_lowercase
from typing import Any

from pipelines.language import SNOWBALL, function_words, text_language
from pipelines.text import base_verb_forms, count_tokens, without_accents, word_parts

TOKENISER_VERSION = 5
# A word, with inner joints (node.js, GPT-4, snake_case) and trailing signs (C++, C#), or a leading dot (.NET); words
# that are joined by / & + are one run (CI/CD, R&D, C/C++).
_WORD = r"(?:(?<![\w.])\.[a-z]{2,}\b|\w+(?:[.\-'’#@:]\w+)*(?:\+\+|#)?)"
_RAW = re.compile(rf"{_WORD}(?:[/&+]{_WORD})*", re.IGNORECASE)
_SIDE = re.compile(_WORD, re.IGNORECASE)
# Digits between letters (k8s, i18n) are not a part.
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|(?<![^\W_])\d+|\d+(?![^\W_])|[^\W\d_]+")
# Chinese, Japanese and Korean letters, which are written without spaces, or with endings.
_CJK = re.compile("([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+)")
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


@cache
def _stemmer(algorithm: str = "english") -> Any:
    import Stemmer

    return Stemmer.Stemmer(algorithm)


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

    A run of Chinese, Japanese or Korean letters counts by its pairs of neighbours (`図書館` -> `図書 書館`), a lone
    letter as itself, as in Lucene's CJKAnalyzer.
    """
    folded = without_accents(text)
    if folded.isascii():
        return [term for raw in _RAW.findall(folded) for term in _terms(raw, aliases)]
    terms: list[str] = []
    for place, piece in enumerate(_CJK.split(unicodedata.normalize("NFC", folded))):
        if place % 2:
            terms += [piece[at : at + 2] for at in range(max(len(piece) - 1, 1))]
        else:
            terms += [term for raw in _RAW.findall(piece) for term in _terms(raw, aliases)]
    return terms


def foreign_stems(text: str, language: str) -> list[str]:
    """The stems in a language of a text's words, in order, without accents: of those that English stems otherwise.

    Function words have none. A node in that language has them beside its index terms, and so has a question.
    """
    said = [word for word in word_parts(text) if len(word) > 3 and word not in function_words(language)]
    made = zip(said, _stemmer(SNOWBALL[language]).stemWords(said), strict=True)
    return [stem for word, stem in made if stem != _stem(word)]


def node_terms(text: str) -> list[str]:
    """The index terms of a passage, then its stems in its language where that is not English."""
    language = text_language(text)
    return [*tokenise(text), *(foreign_stems(text, language) if language else ())]


@lru_cache(maxsize=8_192)
def index_terms(text: str) -> frozenset[str]:
    """The index terms of a text, and those of the base forms of its irregular verbs."""
    return frozenset(tokenise(text)) | frozenset(tokenise(base_verb_forms(text)))


def _terms(raw: str, aliases: bool) -> tuple[str, ...]:
    return _short_terms(raw, aliases) if len(raw) <= _MAX_RAW else _all_terms(raw, aliases)


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


_short_terms = lru_cache(maxsize=100_000)(_all_terms)


def _sides(raw: str) -> list[str]:
    """The words of a run; a single letter next to `&` or `+` is none (R&D), next to `/` it is (Python/R)."""
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


_SWAPPED = 4  # letters of a word whose only edit may be two letters swapped
_ONE_EDIT = 5  # letters of the word; too many shorter ones are one edit from another real word
_TWO_EDITS = 9  # letters of its stem
_LONGEST = 32  # letters; a longer run is no word, and has too many spellings
_MOST = 2


@dataclass(frozen=True, slots=True)
class Spelling:
    """A term, the spelling that leads to it, its similarity to the word (0..1), and the edits between the two."""

    term: str
    spelling: str
    similarity: float
    edits: int


def nearest(word: str, frequency: Callable[[str], int], terms: Callable[[str], Sequence[str]]) -> list[Spelling]:
    """At most two terms at one edit from a word, the likeliest first; at two edits for a long word.

    An edit is a letter left out, added, wrong, or swapped with the next, in a word of four letters only the last; the
    first letter counts as right. Edits are
    undone before stemming, as most of them break the ending that the stemmer removes.

    A word of one cl100k token is no typo, and a spelling must have fewer tokens than the word, so that a correct word
    which the index lacks is seldom respelt (2 to 6 in 100, by the size of the index, against 13 to 31).

    `frequency` returns the number of nodes with a term, and `terms` those that begin with a letter; terms without a
    node are skipped.

    Source: Damerau, CACM 1964, doi:10.1145/363958.363994.
    """
    if not _SWAPPED <= len(word) <= _LONGEST or not (word.isascii() and word.isalpha()):
        return []
    if len(word) < _ONE_EDIT:
        found = _one_edit(word, frequency, _swapped)
    else:
        found = _one_edit(word, frequency, _undone) or _two_edits(word, frequency, terms)
    return [spelling for spelling in found if _tokens(spelling.spelling) < _tokens(word)][:_MOST]


def _one_edit(word: str, frequency: Callable[[str], int], undone: Callable[[str], Iterator[str]]) -> list[Spelling]:
    spellings = list(dict.fromkeys(undone(word)))
    found: dict[str, list[str]] = {}
    for spelling, stem in zip(spellings, stems(spellings), strict=True):
        if frequency(stem):
            found.setdefault(stem, []).append(spelling)
    best = {stem: min(forms, key=_tokens) for stem, forms in found.items()}
    ranked = sorted(best, key=lambda stem: (_tokens(best[stem]), -frequency(stem), stem))
    return [Spelling(stem, best[stem], 1 - 1 / max(len(word), len(best[stem])), 1) for stem in ranked]


def _undone(word: str) -> Iterator[str]:
    """The word with one edit undone: first without a letter, then with one more, with two swapped, with another."""
    halves = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]
    yield from (head + tail[1:] for head, tail in halves if tail)
    yield from (head + letter + tail for head, tail in halves for letter in ascii_lowercase)
    yield from _swapped(word)
    yield from (head + letter + tail[1:] for head, tail in halves if tail for letter in ascii_lowercase)


def _swapped(word: str) -> Iterator[str]:
    halves = ((word[:place], word[place:]) for place in range(1, len(word) - 1))
    yield from (head + tail[1] + tail[0] + tail[2:] for head, tail in halves)


def _two_edits(word: str, frequency: Callable[[str], int], terms: Callable[[str], Sequence[str]]) -> list[Spelling]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    (stem,) = stems([word])
    if len(stem) < _TWO_EDITS:
        return []
    near = process.extract(stem, terms(word[0]), scorer=OSA.distance, score_cutoff=2, limit=None)
    ranked = sorted((distance, -times, term) for term, distance, _ in near if (times := frequency(term)))
    ending = word[len(stem) :] if word.startswith(stem) else ""
    return [
        Spelling(term, term + ending, 1 - distance / max(len(stem), len(term)), int(distance))
        for distance, _, term in ranked
    ]


@lru_cache(maxsize=10_000)
def _tokens(word: str) -> int:
    return min(count_tokens(f" {word}"), count_tokens(f" {word.title()}"))
