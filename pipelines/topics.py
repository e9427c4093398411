"""Fields of work and the words that belong to each, from `topics.toml`."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.text import fold

_MAX_PHRASE = 4
_KEPT = "+#"  # letters of names: C++, F#


def terms_of(text: str) -> tuple[str, ...]:
    """The words and phrases of any field that a text uses, as `topics.toml` spells them, in their order, each once."""
    spelt = _spelling()
    return tuple(dict.fromkeys(spelt[phrase] for phrase in _phrases_in(text)))


def words_of(topic: str) -> frozenset[str]:
    """The folded words and phrases of a field, in the singular; empty if there is no such field."""
    return frozenset(" ".join(_tokens(word)) for word in _fields().get(topic, ()))


def _phrases_in(text: str) -> Iterator[str]:
    """The longest known phrases of a text, in order; none overlaps another."""
    known, tokens, at = _spelling(), _tokens(text), 0
    while at < len(tokens):
        sizes = range(min(_MAX_PHRASE, len(tokens) - at), 0, -1)
        size = next((size for size in sizes if " ".join(tokens[at : at + size]) in known), 0)
        if size:
            yield " ".join(tokens[at : at + size])
        at += size or 1


def _tokens(text: str) -> list[str]:
    """The folded words of a text in the singular; hyphens and other signs separate words."""
    letters = (char if char.isalnum() or char in _KEPT else " " for char in fold(text))
    return [_singular(word) for word in "".join(letters).split()]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word


@cache
def _fields() -> dict[str, tuple[str, ...]]:
    stated = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {field: tuple(given["words"]) for field, given in stated.items()}


@cache
def _spelling() -> dict[str, str]:
    return {" ".join(_tokens(word)): word for words in _fields().values() for word in words}


_NAMES = 4  # words of a field's list, from the first on, that are names of the field itself


def widened(topic: str) -> frozenset[str]:
    """The words of the fields that a topic names as a whole (`machine learning`); else the topic alone."""
    phrase = " ".join(_tokens(topic))
    named = {name: [" ".join(_tokens(word)) for word in (name, *words[:_NAMES])] for name, words in _fields().items()}
    fields = [name for name, names in named.items() if phrase in names]
    return frozenset({phrase}).union(*map(words_of, fields))


def uses(text: str, words: frozenset[str]) -> bool:
    """True if one of these words or phrases, folded and in the singular, stands in a text."""
    held = f" {' '.join(_tokens(text))} "
    return any(f" {word} " in held for word in words)


def stated_tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags, topics or keywords that a document's front matter states."""
    stated = metadata.get("tags") or metadata.get("topics") or metadata.get("keywords") or ()
    listed = stated.split(",") if isinstance(stated, str) else stated if isinstance(stated, (list, tuple)) else ()
    return tuple(str(tag).strip() for tag in listed if str(tag).strip())
