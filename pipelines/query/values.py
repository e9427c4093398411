"""VALUES: amounts of money, durations, lengths, sizes, shares and counts in a text, by the unit beside the number."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal
from unicodedata import category

from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold

ValueKind = Literal[
    "money", "time", "recurrence", "length", "extent", "area", "volume", "weight", "temperature", "speed", "storage",
    "share", "measure", "number",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its unit, or a word of time: `text` is the span [start, end) of the text that was read."""

    kind: ValueKind
    start: int
    end: int
    text: str


_LONGEST = 1_200  # characters of a text that are read
_MOST_UNIT_TOKENS = 5
# The kinds that answer a question which leaves the unit open: "how long", "how many".
_ANSWERING: Mapping[str, frozenset[ValueKind]] = {
    "duration": frozenset({"time", "recurrence", "length", "extent"}),
    "count": frozenset(
        {"money", "time", "length", "extent", "area", "volume", "weight", "temperature", "speed", "storage", "share",
         "measure", "number"}
    ),
}  # fmt: skip
_CATEGORIES: Mapping[str, ValueKind] = {
    "duration": "time", "length": "length", "area": "area", "volume": "volume", "mass": "weight", "speed": "speed",
    "temperature": "temperature", "digital": "storage",
}  # fmt: skip
# A running time, another date, clock time or version; a number with its separators; a word; a sign.
_TOKEN = re.compile(
    r"(?P<running>\d+:\d\d:\d\d)|(?P<other>\d{4}-\d\d(?:-\d\d)?(?!\d)|\d+(?:/\d+){2,}|\d+:\d\d|\d+(?:\.\d{1,2}(?!\d)){2,})"
    r"|(?P<number>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?!\d)|\d+(?:[.,'’/]\d+)*|[½⅓⅔¼¾])|[^\W\d_]+|\S"
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


@cache
def _word_lists() -> Mapping[str, Any]:
    lists = json.loads(Path(__file__).with_name("value_words.json").read_text(encoding="utf-8"))
    return {name: frozenset(own.split()) if isinstance(own, str) else own for name, own in lists.items()}


@cache
def _units() -> Mapping[tuple[str, ...], frozenset[ValueKind]]:
    """The kinds of the units that follow a number, by their tokens in lower case: names and abbreviations of CLDR."""
    from babel import Locale

    words = _word_lists()
    kinds: dict[tuple[str, ...], set[ValueKind]] = {}
    for locale in ("en", "en_GB"):
        for unit, widths in Locale.parse(locale)._data["unit_patterns"].items():
            is_share = unit in ("concentr-percent", "concentr-permille")
            kind: ValueKind = "share" if is_share else _CATEGORIES.get(unit.split("-")[0], "measure")
            for pattern in (widths[width][count] for width in widths for count in widths[width] if count != "per"):
                name = _words(str(pattern).removeprefix("{0}"))
                is_minute = kind == "time" and name == ("m",)
                if "{" not in name and not is_minute and not words["no_units"].issuperset(name):
                    kinds.setdefault(name, set()).add(kind)
    own: tuple[tuple[ValueKind, str], ...] = (("extent", "extents"), ("time", "times"), ("share", "shares"))
    for kind, name_list in own:
        for word in words[name_list]:
            kinds.setdefault((word,), set()).add(kind)
    for word, kind in words["other_units"].items():
        kinds.setdefault((word,), set()).add(kind)
    return {name: frozenset(found) for name, found in kinds.items() if name}


@cache
def _currencies() -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    """Of all currencies: (codes and the signs of their countries, as written; English names, in lower case).

    A name stands whole and by its last word ("Swiss francs", "francs"). The file is made by data/make_currencies.py.
    """
    words, of_cldr = _word_lists(), json.loads(Path(__file__).with_name("currencies.json").read_text(encoding="utf-8"))
    signs = {*words["lower_codes"], *of_cldr["signs"]}
    names = set[tuple[str, ...]]((name,) for name in words["money_names"])
    for name in map(_words, of_cldr["names"]):
        names |= {name, name[-1:]}
    short = {sign for sign in signs if len(sign) > 1}  # a single letter is seldom a currency (R5, M1)
    return frozenset(short), frozenset(names - {(name,) for name in words["no_money"]})


def _words(text: str) -> tuple[str, ...]:
    return tuple(match[0].lower() if len(match[0]) > 1 else match[0] for match in _TOKEN.finditer(text))


@lru_cache(maxsize=4_096)
def values_in(text: str) -> tuple[Value, ...]:
    """The values of the first 1,200 characters, in order; one whose unit is ambiguous (m, pounds) once by each kind.

    A number without a unit is a `number`, and `money` beside a word like "salary" if it counts nothing. Dates, clock
    times, versions, years and numbers in names (H7, GPT-4) are no values.
    """
    return tuple(_Scan(text[:_LONGEST]).values())


def holds(kind: str, text: str, asked: frozenset[str]) -> bool:
    """True if a text holds a value of the kind that the question does not give itself, by its index terms (`asked`).

    Besides ValueKinds, `duration` is a time, a length or an extent (only a time where the question names a unit of
    time), and `count` any number, with or without a unit.
    """
    kinds = _ANSWERING.get(kind, frozenset({kind}))
    if kind == "duration" and not _time_terms().isdisjoint(asked):
        kinds = frozenset({"time", "recurrence"})
    if kind == "money" and any(phrase in fold(text[:_LONGEST]) for phrase in _word_lists()["free"]):
        return True
    return any(
        value.kind in kinds and not asked.issuperset(tokenise(value.text) or [value.text]) for value in values_in(text)
    )


@cache
def _time_terms() -> frozenset[str]:
    return frozenset(tokenise("seconds minutes hours days weeks months years decades"))


class _Scan:
    """The tokens of a text, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_TOKEN.finditer(text))
        self.lower = [token[0].lower() for token in self.tokens]
        self.names = _words(text)
        self.words = _word_lists()
        self.is_priced = not self.words["money_nouns"].isdisjoint(self.lower)

    def values(self) -> Iterator[Value]:
        at = last = 0
        while at < len(self.tokens):
            if self.tokens[at].lastgroup == "running":
                yield self._value("time", at, at + 1)
            elif self.lower[at] in self.words["recurring"] or self.lower[at] in _weekdays():
                yield self._value("recurrence", at, at + 1)
            stop = self._amount_end(at)
            first, end = at, stop
            if stop > at and not (0 < at == last and self.lower[at] in ("a", "an")):  # 95k a year
                first, end, kinds = self._measured(at, stop)
                yield from (self._value(kind, first, end) for kind in sorted(kinds))
                last = end
            at = max(end, at + 1)

    def _value(self, kind: ValueKind, first: int, end: int) -> Value:
        start, stop = self.tokens[first].start(), self.tokens[end - 1].end()
        return Value(kind, start, stop, self.text[start:stop])

    def _joins(self, at: int) -> bool:
        return 0 < at < len(self.tokens) and self.tokens[at - 1].end() == self.tokens[at].start()

    def _amount_end(self, at: int) -> int:
        """The index after an amount in digits or words with its scale; `at` where none begins there."""
        stop = at + 1
        if self.tokens[at].lastgroup == "number":
            if self._is_in_name(at):
                return at
            if self._joins(stop) and self.tokens[stop][0] in ("K", "M", "B", "m", "b"):
                stop += self.tokens[stop][0].isupper() or self._is_sign(at - 1) or self._is_currency(stop + 1)
            while stop < len(self.tokens) and self.lower[stop] in self.words["scales"]:
                stop += 1
            return stop
        amounts = self.words["numbers"] | self.words["scales"] | self.words["loose"]
        if self.lower[at] not in amounts:
            return at + (self.lower[at] in self.words["alone"])
        joint = ("-", "and", "of")
        while set(self.lower[stop : stop + 1]) & amounts or (
            set(self.lower[stop : stop + 1]) & {*joint} and set(self.lower[stop + 1 : stop + 2]) & amounts
        ):
            stop += 1
        return stop

    def _is_sign(self, at: int) -> bool:
        """True for a token that is the code or the sign of a currency."""
        token = self.tokens[at][0] if 0 <= at < len(self.tokens) else ""
        return token in _currencies()[0] or (len(token) == 1 and category(token) == "Sc")

    def _is_currency(self, at: int) -> bool:
        return self._is_sign(at) or self.names[at : at + 1] in _currencies()[1]

    def _is_in_name(self, at: int) -> bool:
        """True for digits right after letters: H7, GPT-4; not for those after a currency or a range (60k-80k)."""
        before = at - 2 if self._joins(at) and self.lower[at - 1] == "-" and self._joins(at - 1) else at - 1
        if not self._joins(before + 1) or not self.tokens[before][0].isalpha():
            return False
        return not self._is_sign(before) and not (self._joins(before) and before < at - 1)

    def _measured(self, at: int, stop: int) -> tuple[int, int, set[ValueKind]]:
        """The first and the end token of an amount with its unit, and its kinds; none for a number that is no value."""
        before = at - 2 if at > 1 and self.lower[at - 1] == "." else at - 1  # Rs. 500
        if self._is_sign(before):
            return before, stop, {"money"}
        begin = stop + 1 if self.lower[stop : stop + 1] in (["-"], ["‑"]) else stop
        if self._is_sign(begin):
            return at, begin + 1, {"money"}
        is_loose = self.words["loose"].issuperset(self.lower[at:stop])
        for end in range(min(begin + _MOST_UNIT_TOKENS, len(self.tokens)), begin, -1):
            name = self.names[begin:end]
            kinds = {*_units().get(name, ())}
            if name in _currencies()[1]:
                kinds.add("money")
            is_decade = name == ("s",) and _YEAR.fullmatch(self.lower[at])  # the 1980s
            if kinds and not is_decade and not (is_loose and name == ("second",)):  # a second boat
                return at, end, kinds | self._share(at, end)
        if is_loose:
            return at, stop, set()
        return at, stop, self._number(at, stop) | self._share(at, stop)

    def _number(self, at: int, stop: int) -> set[ValueKind]:
        """The kinds of an amount without a unit: none for a year, a day of a month, an ordinal, an item's number."""
        is_digits, after = self.tokens[at].lastgroup == "number", "".join(self.lower[stop : stop + 1])
        is_noun = after not in STOP_WORDS and after not in self.words["recurring"] and after != "per"
        counts_something = after.isalpha() and self.tokens[stop][0].islower() and is_noun
        if is_digits and stop == at + 1:
            is_year = _YEAR.fullmatch(self.lower[at]) and not counts_something
            is_dated = not _months().isdisjoint((*self.lower[max(at - 1, 0) : at], after))
            if is_year or is_dated or (self._joins(stop) and after.isalpha()) or (at == 0 and after in (".", ")")):
                return set()
        return {"number", "money"} if self.is_priced and not counts_something else {"number"}

    def _share(self, at: int, end: int) -> set[ValueKind]:
        """`share` for a half, for "3 of 7", and for "from 3 to 7"."""
        if self.lower[at:end] == ["half"]:
            return {"share"}
        later = [word for word in self.lower[end : end + 4] if word not in ("out", "the")]
        is_part = len(later) > 1 and later[0] in ("of", "in")
        is_change = len(later) > 1 and later[0] == "to" and "from" in self.lower[max(at - 2, 0) : at]
        if not (is_part or is_change):
            return set()
        place = end + self.lower[end : end + 4].index(later[1])
        is_number = self.tokens[place].lastgroup == "number" or later[1] in self.words["numbers"]
        return {"share"} if is_number and not _YEAR.fullmatch(later[1]) else set()


@cache
def _weekdays() -> frozenset[str]:
    from babel import Locale

    return frozenset(f"{name}s".lower() for name in Locale.parse("en").days["format"]["wide"].values())


@cache
def _months() -> frozenset[str]:
    from babel import Locale

    names = Locale.parse("en").months["format"]
    return frozenset(str(name).lower() for width in ("wide", "abbreviated") for name in names[width].values())
