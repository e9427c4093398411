"""Characters that a PDF draws otherwise than it reads: ligatures by font code, accents apart from their letters."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from pipelines.text import count_tokens

NOTHING = "\u200b"  # in the place of a character that was joined to another one

_CODES = "\x0b\x0c\x0e\x0f\x1b\x1c\x1d\x1e\x1f"  # of ligatures in the encodings of TeX; \x0d ends a line
_MAX_WORD = 30
_CANDIDATES = ("ﬁ", "ﬂ", "ﬀ", "ﬃ", "ﬄ")
_LETTERS = {"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl"}
_ACCENTS = {
    "`": "\u0300", "´": "\u0301", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0304",
    "˘": "\u0306", "˙": "\u0307", "¨": "\u0308", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327",
    "˛": "\u0328",
}  # fmt: skip
_VOWELS = frozenset("aeiouyAEIOUY")
_ENDINGS = frozenset("s t re ll ve d m".split())  # behind an acute accent that stands for an apostrophe
_DOTLESS = {"ı": "i", "ȷ": "j"}
_REACH = 60
_RAISED = 1.2
_NEXT_TO = 0.25

Box = tuple[float, float, float]  # start, end and baseline of a glyph


def with_ligatures(drawn: str, font_of: Callable[[int], str]) -> str:
    """The drawn characters, control codes beside letters replaced by the ligatures that they stand for.

    A font without a table of its characters gives its codes; of the ligatures of f, a code is the one that makes the
    commonest words of all in which it occurs.
    """
    found: dict[tuple[str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for place in _places(drawn, _CODES):
        before = "".join(takewhile(str.isalpha, drawn[max(0, place - _MAX_WORD) : place][::-1]))[::-1]
        after = "".join(takewhile(str.isalpha, drawn[place + 1 : place + 1 + _MAX_WORD]))
        if before or after:
            found[drawn[place], font_of(place)].append((place, before, after))
    chars = list(drawn)
    for places in found.values():
        best = min(_CANDIDATES, key=lambda ligature: _strangeness(ligature, places))
        for place, _, _ in places:
            chars[place] = best
    return "".join(chars)


def _places(drawn: str, signs: Iterable[str]) -> list[int]:
    """Where these signs are drawn, ascending."""
    wanted = {sign for sign in signs if sign in drawn}
    return [place for place, char in enumerate(drawn) if char in wanted] if wanted else []


def _strangeness(ligature: str, places: Iterable[tuple[int, str, str]]) -> int:
    """The tokens of all words with the ligature: the commoner the words, the fewer."""
    return sum(count_tokens(f" {before}{_LETTERS[ligature]}{after}") for _, before, after in places)


def with_accents(drawn: str, box_of: Callable[[int], Box]) -> str:
    """The drawn characters, accents that stand over or under a letter, or right behind it, joined to it.

    The place of an accent holds `NOTHING`, and so do the spaces at it that only its own width had made.
    """
    places = _places(drawn, _ACCENTS)
    if not places:
        return drawn
    chars = list(drawn)
    for place in places:
        letter = _letter_at(chars, place, box_of)
        letter = place - 1 if letter is None and _is_behind_letter(chars, place) else letter
        if letter is None:
            continue
        base = _DOTLESS.get(chars[letter], chars[letter])
        joined = unicodedata.normalize("NFC", base + _ACCENTS[drawn[place]])
        if len(joined) == 1:
            chars[letter], chars[place] = joined, NOTHING
            _close_gap(chars, place, box_of)
    return "".join(chars)


def _letter_at(chars: Sequence[str], place: int, box_of: Callable[[int], Box]) -> int | None:
    """The letter whose middle is nearest to that of the accent, if the accent stands within its width."""
    start, end, y = box_of(place)
    middle, best = (start + end) / 2, None
    nearest = 0.0
    for at in range(max(0, place - _REACH), min(len(chars), place + _REACH)):
        if not chars[at].isalpha():
            continue
        left, right, base = box_of(at)
        off = abs((left + right) / 2 - middle)
        if left <= middle <= right and abs(base - y) <= _RAISED * (end - start) and (best is None or off < nearest):
            best, nearest = at, off
    return best


def _is_behind_letter(chars: Sequence[str], place: int) -> bool:
    """True if an accent stands behind a letter in the line ("Universite´"): no key of a keyboard, no apostrophe."""
    before, sign = chars[place - 1 : place], chars[place]
    rest = "".join(takewhile(str.isalpha, chars[place + 1 : place + _MAX_WORD])).lower()
    return (
        not sign.isascii()
        and any(map(str.isalpha, before))
        and (sign != "´" or (before[0] in _VOWELS and rest not in _ENDINGS))
    )


def _close_gap(chars: list[str], place: int, box_of: Callable[[int], Box]) -> None:
    """Replace the spaces around a joined accent by `NOTHING` if the characters beside them stand next to each other."""
    first, last = place, place
    while first > 0 and chars[first - 1] in (" ", NOTHING):
        first -= 1
    while last + 1 < len(chars) and chars[last + 1] in (" ", NOTHING):
        last += 1
    if first == 0 or last + 1 == len(chars) or chars[first - 1].isspace() or chars[last + 1].isspace():
        return
    before, after = box_of(first - 1), box_of(last + 1)
    if abs(before[2] - after[2]) < 1 and after[0] - before[1] < _NEXT_TO * (after[1] - after[0]):
        chars[first : last + 1] = [NOTHING] * (last + 1 - first)
