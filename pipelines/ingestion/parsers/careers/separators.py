"""Where a line of a resume may be cut: at commas, dashes, slashes, colons, brackets, and words such as "at"."""

from collections.abc import Collection
from typing import NamedTuple

from pipelines.text import word_spans

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
    spans = list(word_spans(words))
    done = gap = 0  # where the last separator, and the word before, end
    for number, (start, end) in enumerate(spans):
        token, following = words[start:end], spans[number + 1 : number + 3]
        is_apart = done <= gap < start
        gap_start, gap = gap, end
        if is_apart and token[0] == "(" and "(" in signs:
            found.append(Cut(gap_start, start + 1, "("))
            done = start + 1
        if not following:
            break
        after = following[0][0]
        pair = f"{token} {words[slice(*following[0])]}"
        if is_apart and pair in between and len(following) > 1:
            found.append(Cut(gap_start, following[1][0], pair))
        elif is_apart and (token in between or _BETWEEN_WORDS.get(token, " ") in signs):
            found.append(Cut(gap_start, after, _BETWEEN_WORDS.get(token, token)))
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


def without_asides(words: str, brackets: str = "()") -> str:
    """The words with a space in place of each part in brackets."""
    kept = words
    while (end := kept.find(brackets[1])) >= 0 and (start := kept.rfind(brackets[0], 0, end)) >= 0:
        kept = f"{kept[:start]} {kept[end + 1 :]}"
    return kept
