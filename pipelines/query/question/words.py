"""The words of a question, its phrases, and the vocabulary that they are compared with (words.toml)."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from pipelines.query.verification.words import read as text_words
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold, word_parts

_OWNER = ("'s", "’s")
_MOST_COUNTED = 3  # words after "how many" of which one is what is counted
_MOST_BETWEEN = 12  # words that "..." stands for


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word: folded and without a possessive ending, as it was typed, its span, and the signs before it.

    `owns` is True for a possessive; its ending is no part of the span.
    """

    text: str
    typed: str
    start: int
    end: int
    before: str = ""
    owns: bool = False

    @property
    def whole(self) -> str:
        """The word as it was typed, with a possessive ending."""
        return f"{self.typed}'s" if self.owns else self.typed

    @property
    def is_capital(self) -> bool:
        """True for a word with a capital that is no stop word, nor one letter."""
        first = next(iter(self.parts), "")
        return self.typed[:1].isupper() and len(first) > 1 and self.text not in STOP_WORDS

    @property
    def parts(self) -> tuple[str, ...]:
        """The letters and digits on each side of its joints."""
        return tuple(word_parts(self.text))


@dataclass(frozen=True, slots=True)
class Phrase:
    """Where a phrase stands: from its first word up to, without, its last; and the spans that it names."""

    first: int
    last: int
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class Text:
    """A text's words, in order, with what is asked of them. The vocabulary and the phrases are those of words.toml."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[QuestionWord] = []
        after = 0
        for word in text_words(text):
            if word.is_sign:
                continue
            typed = word.text.removesuffix(_OWNER[0]).removesuffix(_OWNER[1])
            owns, before = typed != word.text, text[after : word.start]
            if before in ("-", "–") and word.is_number and self.words[-1:] and self.words[-1].text[-1].isdigit():
                start, before = self.words[-1].start, self.words.pop().before  # 2019-21
                typed = text[start : word.end]
                self.words.append(QuestionWord(fold(typed), typed, start, word.end, before))
                after = word.end
                continue
            self.words.append(QuestionWord(fold(typed), typed, word.start, word.start + len(typed), before, owns))
            after = word.end
        self.rest = text[after:]
        self.all = [word.text for word in self.words]
        self.set = frozenset(self.all)

    def has(self, *names: str) -> bool:
        """True if a word of one of these lists was said."""
        return any(not self.set.isdisjoint(words(name)) for name in names)

    def find(self, name: str) -> Phrase | None:
        """The first place of the first phrase of this list that the text holds; None without one."""
        return next(self.all_of(name), None)

    def says(self, name: str) -> bool:
        """True if the text holds a phrase of this list."""
        return self.find(name) is not None

    def all_of(self, name: str) -> Iterator[Phrase]:
        """Each place of each phrase of a list, in the order of the list."""
        for steps, needed in _phrases(name):
            if any(map(self.set.isdisjoint, needed)):
                continue
            first = steps[0]
            for at in range(1 if first.value == "^" else len(self.words)):
                if first.words and not first.spare and first.kind == "word" and self.all[at] not in first.words:
                    continue
                if found := next(self._ends(steps, at), None):
                    yield Phrase(at, found[0], found[1])

    def at(self, name: str, place: int) -> Phrase | None:
        """The longest phrase of a list that begins at this word; None without one."""
        ends = [(end, groups) for steps, _ in _phrases(name) for end, groups in self._ends(steps, place)]
        longest = max(ends, key=lambda found: found[0], default=None)
        return Phrase(place, *longest) if longest else None

    def after(self, at: int) -> str:
        """The signs after a word, up to the next."""
        return self.words[at + 1].before if at + 1 < len(self.words) else self.rest

    def slice(self, first: int, last: int) -> str:
        """The text from one word up to another, without its possessive ending."""
        return self.text[self.words[first].start : self.words[last - 1].end] if first < last else ""

    def with_words(self, place: Phrase, said: str) -> str:
        """The text with other words in a place; a possessive ending stays."""
        return f"{self.text[: self.words[place.first].start]}{said}{self.text[self.words[place.last - 1].end :]}"

    def _ends(
        self, steps: tuple["_Step", ...], at: int, groups: Mapping[str, tuple[int, int]] | None = None
    ) -> Iterator[tuple[int, Mapping[str, tuple[int, int]]]]:
        """(where the steps end from this word on, what they name), the longest reading of optional steps first."""
        found = groups or {}
        if not steps:
            yield at, found
            return
        step, rest = steps[0], steps[1:]
        for end in self._step_ends(step, at):
            yield from self._ends(rest, end, {**found, step.value: (at, end)} if step.kind == "group" else found)
        if step.spare:
            yield from self._ends(rest, at, found)

    def _step_ends(self, step: "_Step", at: int) -> Iterator[int]:
        count = len(self.words)
        if step.kind == "word":
            if at < count and step.fits(self.all[at]):
                yield from self._step_ends(step, at + 1) if step.repeats else ()
                yield at + 1
        elif step.kind == "not":
            yield from () if at < count and step.fits(self.all[at]) else (at,)
        elif step.kind == "edge":
            after_comma = at < count and not {*",;"}.isdisjoint(self.words[at].before)
            yield from (at,) if {"^": at == 0, "$": at == count, ",": after_comma}[step.value] else ()
        elif step.kind == "phrase":
            yield from (end for steps, _ in _phrases(step.value) for end, _ in self._ends(steps, at))
        else:
            least, most = (at, at + _MOST_BETWEEN) if step.kind == "gap" else (at + 1, count)
            yield from range(least, min(most, count) + 1)


@lru_cache(maxsize=256)
def read(text: str) -> Text:
    """The words of a text."""
    return Text(text)


class _Step(NamedTuple):
    kind: Literal["word", "not", "edge", "phrase", "gap", "group"]
    value: str = ""
    words: frozenset[str] = frozenset()
    spare: bool = False
    repeats: bool = False

    def fits(self, word: str) -> bool:
        """True if the step stands for this word."""
        test = _TESTS.get(self.value)
        return test(word) if test else word in self.words


def is_year(word: str) -> bool:
    """True for the four digits of a year of the last centuries or this one."""
    return len(word) == 4 and word.isdigit() and word[:2] in ("18", "19", "20")


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word[-1] == "s" and not word.endswith(("ss", "us", "is")) and word != "does"


_TESTS: Mapping[str, Callable[[str], bool]] = {"_": lambda _: True, "%plural": _is_plural, "%year": is_year}


@cache
def _phrases(name: str) -> tuple[tuple[tuple[_Step, ...], tuple[frozenset[str], ...]], ...]:
    """The phrases of a list: the steps of each, and lists of words of each of which one must be said.

    A step is words (`a/b`), a list of words (`@list`), one of some phrases (`&list`), any word (`_`), up to a dozen
    words (`...`), a plural (`%plural`), a year (`%year`), one or more words with a name (`<topic>`), none of some words
    next (`!a/b`), the beginning (`^`), the end (`$`), or after a comma (`,`). With `?` it may be left out, and with
    `*` it may also be said several times.
    """
    found = (tuple(map(_step, phrase.split())) for phrase in _vocabulary()["phrases"][name])
    return tuple(
        (steps, tuple(step.words for step in steps if step.kind == "word" and step.words and not step.spare))
        for steps in found
    )


def _step(written: str) -> _Step:
    said = written.rstrip("?*")
    spare, repeats = written[-1] in "?*", written.endswith("*")
    if said in ("^", "$", ","):
        return _Step("edge", said)
    if said == "...":
        return _Step("gap")
    if said[0] in "&<":
        return _Step("phrase" if said[0] == "&" else "group", said.strip("&<>"), spare=spare)
    negative = said[0] == "!"
    said = said.lstrip("!")
    meant = frozenset[str]() if said in _TESTS else _united(said.split("/"))
    return _Step("not" if negative else "word", said, meant, spare, repeats)


def _united(said: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*(words(one[1:]) if one[0] == "@" else {one} for one in said))


@cache
def words(name: str) -> frozenset[str]:
    """The words of a list, and of the lists that it names (`@list`)."""
    return _united(_vocabulary()["words"][name].split())


@cache
def terms_in(name: str) -> frozenset[str]:
    """The index terms of the words of a list."""
    return frozenset(term for word in words(name) for term in tokenise(word))


@cache
def _vocabulary() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def counted_things(question: str) -> tuple[str, ...]:
    """The words of what a question asks the number of (`how many copies`, `copies: how many`), in the plural."""
    asked = read(question)
    place = asked.find("counts-things")
    if place is None:
        return ()
    is_last = place.last == len(asked.words)
    near = range(place.first) if is_last else range(place.last, min(place.last + _MOST_COUNTED, len(asked.words)))
    return tuple(asked.all[at] for at in near if _is_plural(asked.all[at]) or asked.all[at] == "people")[:1]
