"""Dates, numbers, money, units and short forms of `not` in one spelling."""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from pipelines.query.verification.words import LISTS, MONTHS

_MONTH = {name[:length]: name for name in MONTHS for length in (3, len(name))} | {"Sept": "September"}
_MONTH |= {short.upper(): name for short, name in _MONTH.items()}
_SMALL = {word: n for n, word in enumerate(LISTS["small"], start=1)}
_SMALL |= {word: 10 * n for n, word in enumerate(LISTS["tens"], start=2)}
_SCALES: dict[str, int] = LISTS["scales"]
_SHORT_SCALES: dict[str, int] = _SCALES | LISTS["short_scales"]
_ORDINALS = {word: f"{n}{'rd' if n == 3 else 'th'}" for n, word in enumerate(LISTS["ordinals"], start=3)}
UNITS = {spelt: unit for unit, others in LISTS["units"].items() for spelt in (unit, *others.split())}
_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_PIECE = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|\S")


class _FigurePiece(NamedTuple):
    """A number, a run of letters or a sign; and the space before it."""

    text: str
    start: int
    end: int
    gap: str
    lower: str

    @property
    def is_number(self) -> bool:
        return self.text[:1].isdigit()

    @property
    def is_decimal(self) -> bool:
        return self.is_number and self.text.count(".") < 2


_NONE = _FigurePiece("", 0, 0, "", "")
_Found = tuple[str, int]  # another spelling, and the index of the piece after it


@lru_cache(maxsize=4_096)
def normalise_figures(text: str) -> str:
    """The text with its dates, numbers, money and units in one spelling; nothing else of it changes.

    `2019-05-07` is `7 May 2019`, `Sept. 2nd` is `September 2`, `twenty-one` is `21`, `$3 million` is `3000000 dollars`,
    `40 per cent` and `40%` are `40 percent`, `half of the` is `50 percent of the`, `5km` is `5 kilometers`, `won't` is
    `will not`. A lone `one` stays: it is seldom a number. The thousands separators must be out.
    """
    return _FigureScan(text).normalised()


class _FigureScan:
    """The pieces of a text, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[_FigurePiece] = []
        done = 0
        for found in _PIECE.finditer(text):
            self.pieces.append(
                _FigurePiece(found[0], found.start(), found.end(), text[done : found.start()], found[0].lower())
            )
            done = found.end()

    def normalised(self) -> str:
        made, done, at = list[str](), 0, 0
        while at < len(self.pieces):
            piece = self.pieces[at]
            is_short = piece.text[-1] in "nN" and self.text[piece.end : piece.end + 1] in ("'", "’")
            may_begin = piece.lower in _BEGINNINGS or piece.text[0].isdigit() or is_short
            found = next(filter(None, (read(self, at) for read in _READERS)), None) if may_begin else None
            if found is None:
                at += 1
                continue
            made += [self.text[done : self.pieces[at].start], found[0]]
            at, done = found[1], self.pieces[found[1] - 1].end
        return "".join((*made, self.text[done:]))

    def piece(self, at: int) -> _FigurePiece:
        return self.pieces[at] if 0 <= at < len(self.pieces) else _NONE

    def joined(self, at: int, *texts: str) -> bool:
        """True if these texts stand from `at` on, without space between them and the piece before."""
        found = self.pieces[at : at + len(texts)]
        return [each.lower for each in found] == list(texts) and not any(each.gap for each in found)

    def is_apart(self, at: int, end: int, signs: str = "") -> bool:
        """True if neither a letter, a digit nor one of these signs stands right before `at` or before `end`."""
        before = self.text[: self.pieces[at].start][-1:]
        after = self.text[self.pieces[end - 1].end :][:1]
        return not any(sign.isalnum() or sign in ("_", *signs) for sign in (before, after) if sign)

    def is_near(self, at: int) -> bool:
        """True if a piece follows the one before after one space, a hyphen or nothing."""
        return at < len(self.pieces) and len(self.pieces[at].gap) < 2


def _date(scan: _FigureScan, at: int) -> _Found | None:
    first, sign, second = scan.piece(at), scan.piece(at + 1), scan.piece(at + 2)
    if not first.is_number:
        return None
    if first.text.count(".") == 2 and scan.is_apart(at, at + 1, "."):
        day, month, year = first.text.split(".")
        return _dated(day, month, year, at + 1)
    if sign.gap or second.gap or not second.is_number:
        return None
    if sign.text == "/" and len(second.text) == 4 and scan.is_apart(at, at + 3, "/"):
        return _dated("", first.text, second.text, at + 3)
    if sign.text == "-" and len(first.text) == 4 and len(second.text) == 2:
        third = scan.piece(at + 4)
        has_day = scan.joined(at + 3, "-", third.text) and len(third.text) == 2 and third.is_number
        end = at + 5 if has_day else at + 3
        return (
            _dated(third.text if has_day else "", second.text, first.text, end) if scan.is_apart(at, end, "-") else None
        )
    return None


def _dated(day: str, month: str, year: str, end: int) -> _Found | None:
    if not (month.isdigit() and 0 < int(month) < 13 and len(month) < 3 and len(year) == 4):
        return None
    if day and not 0 < int(day) < 32:
        return None
    return " ".join(filter(None, [day.lstrip("0"), MONTHS[int(month) - 1], year])), end


def _month(scan: _FigureScan, at: int) -> _Found | None:
    """The whole name of a month beside a number."""
    name = _MONTH.get(scan.piece(at).text)
    if name is None:
        return None
    end = at + 1 + scan.joined(at + 1, ".")
    after = end + scan.joined(end, ",")
    is_before = scan.piece(after).is_number and len(scan.piece(after).gap) == 1
    is_after = scan.piece(at - 1).is_number and len(scan.piece(at).gap) == 1
    return (name, end) if scan.is_apart(at, at + 1) and (is_before or is_after) else None


def _nth(scan: _FigureScan, at: int) -> _Found | None:
    """The day of `2nd of May`, `May 2nd`; `third` as `3rd`."""
    day, ending = scan.piece(at), scan.piece(at + 1)
    if day.lower in _ORDINALS and scan.is_apart(at, at + 1):
        is_part = scan.piece(at + 1 + (scan.piece(at + 1).text == "-")).lower.startswith("part")
        return None if is_part else (_ORDINALS[day.lower], at + 1)
    if not day.is_number or ending.gap or ending.text not in _ENDINGS or len(day.text) > 2:
        return None
    after = scan.piece(at + 2 + (scan.piece(at + 2).text == "of"))
    is_dated = after.text in _MONTH or scan.piece(at - 1).text.rstrip(".") in _MONTH
    return (day.text, at + 2) if is_dated or scan.piece(at - 2).text in _MONTH else None


def _money(scan: _FigureScan, at: int) -> _Found | None:
    sign = scan.piece(at).lower
    amount = at + 1
    if sign == "us" and scan.joined(at + 1, "$"):
        sign, amount = "us$", at + 2
    currency, digits = LISTS["currencies"].get(sign), scan.piece(amount)
    before = scan.text[: scan.piece(at).start][-1:]
    if currency is None or not digits.is_decimal or len(digits.gap) > 1 or before.isalnum():
        return None
    place = amount + 1 + scan.joined(amount + 1, "-")
    scale = _SHORT_SCALES.get(scan.piece(place).lower, 0) if scan.is_near(place) else 0
    end = place + 1 if scale else amount + 1
    return (f"{_times(digits.text, scale or 1)} {currency}", end) if scan.is_apart(at, end) else None


def _quantity(scan: _FigureScan, at: int) -> _Found | None:
    """A number in digits, with its scale and its unit."""
    said, end = _spelt(scan, at)
    is_spelt = bool(said)
    if not said:
        before = scan.text[: scan.piece(at).start][-1:]
        if not scan.piece(at).is_decimal or before.isalnum() or before in ("_", "."):
            return None
        said, end = scan.piece(at).text, at + 1
        place = end + scan.joined(end, "-")
        scale = scan.piece(place).lower if scan.is_near(place) else ""
        is_short = scale == "k" and place == end and not scan.piece(end).gap and scan.is_apart(at, end + 1)
        if scale in _SCALES or is_short:
            said, end = _times(said, _SHORT_SCALES[scale]), place + 1
    unit = _unit(scan, end, scan.text[: scan.piece(at).start][-1:])
    if unit:
        return f"{said} {unit[0]}", unit[1]
    return (said, end) if is_spelt or end > at + 1 else None


def _unit(scan: _FigureScan, at: int, before: str) -> _Found | None:
    """The unit that begins at a piece, after the number before it."""
    place = at + (scan.joined(at, "-"))
    piece = scan.piece(place)
    if not piece.text or not scan.is_near(place):
        return None
    own = _percent(scan, place)
    if own:
        return own
    after = scan.text[piece.end :]
    if piece.text in LISTS["letter_units"] and place == at and before not in ("$", "€", "£", "¥"):
        ends = not after or after[0].isspace() or after[0] in ".,;:)" or after.startswith(("/s", "/min", "/h"))
        if ends and not (after[:1] == "." and after[1:2].isalnum()):
            return LISTS["letter_units"][piece.text], place + 1
    name, end = (piece.lower, place + 1)
    if scan.joined(place + 1, "/", "h"):
        name, end = f"{name}/h", place + 3
    follows = scan.text[scan.pieces[end - 1].end :][:1]
    return (UNITS[name], end) if name in UNITS and not (follows.isalnum() or follows in ("_", "/")) else None


def _percent(scan: _FigureScan, at: int) -> _Found | None:
    pair = scan.piece(at).lower, scan.piece(at + 1).lower
    if pair == ("per", "cent"):
        return "percent", at + 2
    return ("points", at + 2) if pair in (("percentage", "point"), ("percentage", "points")) else None


def _spelt(scan: _FigureScan, at: int) -> _Found:
    """A run of number words as digits: one number for each run that reads on, as `two hundred and six` does."""
    words, end = list[str](), at
    if scan.piece(at).lower not in _SMALL:
        return "", at
    while end < len(scan.pieces):
        skipped = int(bool(words)) * (scan.joined(end, "-") or 2 * (scan.piece(end).lower == "and"))
        place = end + min(skipped, 1)
        word = scan.piece(place).lower
        if word not in _SMALL and word not in _SCALES:
            break
        words.append(word)
        end = place + 1
    if words == ["one"]:
        return "", at
    if not scan.is_apart(at, end):
        return scan.text[scan.pieces[at].start : scan.pieces[end - 1].end], end
    numbers: list[str] = []
    start = 0
    while start < len(words):
        number, start = _number_from(words, start)
        numbers.append(number)
    return " ".join(numbers), end


def _number_from(words: list[str], start: int) -> tuple[str, int]:
    """(the number that the words from `start` on say, where it ends)."""
    total = part = 0
    end = start
    while end < len(words):
        word = words[end]
        value = _SMALL.get(word, 0)
        if word in _SCALES:
            scale = _SCALES[word]
            total, part = (total, part * scale) if scale == 100 else (total + max(part, 1) * scale, 0)
        elif part % 100 == 0 or (part % 100 >= 20 and part % 10 == 0 and value < 10):
            part += value
        else:
            break
        end += 1
    return str(total + part), end


def _times(digits: str, scale: int) -> str:
    return f"{(Decimal(digits) * scale).normalize():f}"


def _half(scan: _FigureScan, at: int) -> _Found | None:
    """`half of the readings` as a share; the first half of a year is none."""
    words = [scan.piece(at + each).lower for each in range(-1, 3)]
    is_share = words[1:3] == ["half", "of"] and words[3] in LISTS["wholes"] and words[0] not in LISTS["relative"]
    return ("50 percent", at + 1) if is_share else None


def _short_not(scan: _FigureScan, at: int) -> _Found | None:
    verb = scan.piece(at).text
    is_short = verb[-1:] in ("n", "N") and any(scan.joined(at + 1, sign, "t") for sign in "'’")
    return (f"{_VERBS.get(verb.lower(), verb[:-1])} not", at + 3) if is_short and len(verb) > 1 else None


_VERBS = {"can": "can", "won": "will", "shan": "shall"}
_BEGINNINGS = frozenset(
    {*_SMALL, *_ORDINALS, *LISTS["currencies"], *(name.lower() for name in _MONTH), "us", "per", "percentage", "half"}
)
_Reader = Callable[[_FigureScan, int], _Found | None]
_READERS: tuple[_Reader, ...] = (_date, _month, _nth, _money, _quantity, _percent, _half, _short_not)
