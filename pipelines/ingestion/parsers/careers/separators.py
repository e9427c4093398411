"""Where a line of a resume may be cut: at commas, dashes, slashes, colons, brackets, and words such as "at"."""

from collections.abc import Collection
from typing import NamedTuple

DASHES = "-–—"
_AFTER_WORDS = ",;:"
_BETWEEN_WORDS = {"-": "-", "–": "-", "—": "-", "--": "-", "––": "-", "/": "/", "//": "/", ">": ">", "@": "@"}
_MIN_ASIDE, _MAX_ASIDE = 2, 60


class Cut(NamedTuple):
    """A separator: where the words before it end, where those after it begin, and its sign ("-" for every dash)."""

    start: int
    end: int
    sign: str


def cuts(words: str, signs: str, between: Collection[str] = ()) -> list[Cut]:
    """The separators in the words, in order and apart.

    A comma, semicolon or colon ends a word; a dash, slash or word stands between spaces; a bracket opens after a space.

    Args:
        words: A line, or a part of one.
        signs: Those that separate, of `,;:-/>@(`.
        between: Words that separate, also two together ("auprès de").
    """
    found: list[Cut] = []
    tokens = words.split()
    done = end = 0
    for number, token in enumerate(tokens):
        gap, start = end, words.index(token, end)
        end = start + len(token)
        is_apart = done <= gap < start
        last = number == len(tokens) - 1
        if is_apart and token[0] == "(" and "(" in signs:
            found.append(Cut(gap, start + 1, "("))
            done = start + 1
        if last:
            break
        after = words.index(tokens[number + 1], end)
        pair = f"{token} {tokens[number + 1]}"
        if is_apart and pair in between and number + 2 < len(tokens):
            found.append(Cut(gap, words.index(tokens[number + 2], after + len(tokens[number + 1])), pair))
        elif is_apart and (token in between or _BETWEEN_WORDS.get(token, " ") in signs):
            found.append(Cut(gap, after, _BETWEEN_WORDS.get(token, token)))
        elif token[-1] in _AFTER_WORDS and token[-1] in signs:
            found.append(Cut(end - 1, after, token[-1]))
        else:
            continue
        done = found[-1].end
    return found


def split_at(words: str, signs: str, between: Collection[str] = ()) -> list[str]:
    """The parts of the words between the separators of `cuts`."""
    parts, start = [], 0
    for cut in cuts(words, signs, between):
        parts.append(words[start : cut.start])
        start = cut.end
    return [*parts, words[start:]]


def split_aside(words: str) -> tuple[str, str]:
    """(the words before brackets at the end, the words in them): "Acme (Lindau)"; the second is "" without brackets."""
    head, _, aside = words.removesuffix(")").rpartition("(")
    is_aside = head.strip() and ")" not in aside and _MIN_ASIDE <= len(aside) <= _MAX_ASIDE
    return (head.rstrip(), aside) if is_aside else (words, "")
