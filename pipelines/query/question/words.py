"""The words of a question, its phrases, and the vocabulary that they are compared with (words.toml)."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from pipelines.text import fold

# A word with inner joints (side-project, node.js) and trailing signs (C++, C#), or a leading dot (.NET).
_WORD = re.compile(r"(?:(?<![\w.])\.)?[^\W_]+(?:['’.+#@&_-]+[^\W_]+)*[+#]*")
_OWNER = ("'s", "’s")
_MOST_BETWEEN = 12  # words that "..." stands for
_MANY = 40


@dataclass(frozen=True, slots=True)
class Word:
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
    def parts(self) -> tuple[str, ...]:
        """The letters and digits on each side of its joints."""
        return tuple("".join(char if char.isalnum() else " " for char in self.text).split())


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
        self.words: list[Word] = []
        after = 0
        for match in _WORD.finditer(text):
            typed = match.group().removesuffix(_OWNER[0]).removesuffix(_OWNER[1])
            owns = typed != match.group()
            before, start = text[after : match.start()], match.start()
            self.words.append(Word(fold(typed), typed, start, start + len(typed), before, owns))
            after = match.end()
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
        for steps in _phrases(name):
            if steps and steps[0].kind == "literal" and not steps[0].spare and self.set.isdisjoint(steps[0].words):
                continue
            for at in range(len(self.words)):
                if found := next(self._ends(steps, at), None):
                    yield Phrase(at, found[0], found[1])

    def at(self, name: str, place: int) -> Phrase | None:
        """The longest phrase of a list that begins at this word; None without one."""
        ends = [(end, groups) for steps in _phrases(name) for end, groups in self._ends(steps, place)]
        longest = max(ends, key=lambda found: found[0], default=None)
        return Phrase(place, *longest) if longest else None

    def slice(self, first: int, last: int) -> str:
        """What was typed from one word up to another, without its possessive ending."""
        return self.text[self.words[first].start : self.words[last - 1].end] if first < last else ""

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
        word = self.all[at] if at < count else ""
        match step.kind:
            case "edge":
                holds = {"^": at == 0, "$": at == count, ",": at < count and bool({*",;"} & {*self.words[at].before})}
                if holds[step.value]:
                    yield at
            case "not":
                if word not in step.words:
                    yield at
            case "literal" if at < count and word in step.words:
                if step.repeats:
                    yield from self._step_ends(step, at + 1)
                yield at + 1
            case "any" if at < count:
                yield at + 1
            case "year" if at < count and len(word) == 4 and word.isdigit():
                yield at + 1
            case "plural" if at < count:
                if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word != "does":
                    yield at + 1
            case "gap":
                yield from range(at, min(at + _MOST_BETWEEN, count) + 1)
            case "group" if at < count:
                yield from range(at + 1, min(at + _MANY, count) + 1)
            case "phrase":
                for steps in _phrases(step.value):
                    yield from (end for end, _ in self._ends(steps, at))


@lru_cache(maxsize=256)
def read(text: str) -> Text:
    """The words of a text."""
    return Text(text)


class _Step(NamedTuple):
    kind: str
    value: str = ""
    words: frozenset[str] = frozenset()
    spare: bool = False
    repeats: bool = False


_KINDS = {"_": "any", "...": "gap", "%plural": "plural", "%year": "year", "^": "edge", "$": "edge", ",": "edge"}


@cache
def _phrases(name: str) -> tuple[tuple[_Step, ...], ...]:
    """The phrases of a list. A phrase is a row of steps: words (`a|b`), a list of words (`@list`), phrases (`&list`),
    any word (`_`), up to a dozen words (`...`), a plural (`%plural`), a year (`%year`), one or more words with a name (`<topic>`), none of
    some words next (`!a|b`), the beginning (`^`), the end (`$`), after a comma (`,`). With `?` it may be left out, with
    `*` be said several times as well."""
    return tuple(tuple(map(_step, phrase.split())) for phrase in _vocabulary()["phrases"][name])


def _step(said: str) -> _Step:
    if said in _KINDS:
        return _Step(_KINDS[said], said)
    spare, repeats = said[-1] in "?*", said.endswith("*")
    said = said.rstrip("?*")
    match said[0]:
        case "&":
            return _Step("phrase", said[1:], spare=spare)
        case "<":
            return _Step("group", said.strip("<>"), spare=spare)
        case "!":
            return _Step("not", said, _said_words(said[1:]))
    if said in _KINDS:
        return _Step(_KINDS[said], said, spare=spare)
    return _Step("literal", said, _said_words(said), spare, repeats)


def _said_words(said: str) -> frozenset[str]:
    return frozenset[str]().union(*(words(one[1:]) if one[0] == "@" else {one} for one in said.split("|")))


@cache
def words(name: str) -> frozenset[str]:
    """The words of a list, and of the lists that it names (`@list`)."""
    said = _vocabulary()["words"][name].split()
    return frozenset[str]().union(*(words(one[1:]) if one[0] == "@" else {one} for one in said))


@cache
def _vocabulary() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = tomllib.loads(
        Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
    )
    return found
