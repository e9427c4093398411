"""The blocks of a PDF as one text: hyphenation undone, and where every page and every line of it stands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.ingestion.loaders.pdf.glyphs import turned
from pipelines.ingestion.loaders.pdf.layout import Group
from pipelines.ingestion.loaders.pdf.lines import Line, breaks_address
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.text import count_tokens
from pipelines.types import LineBox

_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A document's words in lower case, and whether it breaks words at line ends.

    They tell `exam-ple` from `well-known`.
    """

    words: frozenset[str] = frozenset()
    breaks_words: bool = True


def render(groups: Sequence[Group], page_count: int) -> tuple[Rendering, tuple[int, ...], tuple[LineBox, ...]]:
    """(the text, where each page starts, where each line stands); a page without text starts where the next does."""
    spelling = spelling_of(groups)
    rendering = Rendering()
    starts: dict[int, int] = {}
    boxes: list[LineBox] = []
    for group in groups:
        text, spans = _text_of(group, spelling)
        start = rendering.add(text, group.kind, group.level)
        if start is not None:
            for line, first, last in spans:
                starts.setdefault(line.page, start + first)
                boxes.append(_box(line, start + first, start + last))
    following = len(rendering.text)
    filled: list[int] = []
    for page in range(page_count, 0, -1):
        following = min(starts.get(page, following), following)
        filled.append(following)
    return rendering, (0, *filled[::-1][1:]), tuple(boxes)


def join_lines(lines: Sequence[Line], spelling: Spelling = Spelling()) -> tuple[str, list[int]]:
    """(one paragraph, where each line begins in it); a word broken at a line end is made whole.

    Args:
        lines: The lines of one block.
        spelling: How the document spells.
    """
    text, offsets = "", []
    for line in lines:
        if text and not breaks_address(text, line.text):
            if not _breaks_word(text, line.text):
                text += " "
            elif line.text[0].islower() and not _is_compound(text, line.text, spelling):
                text = text[:-1]
        offsets.append(len(text))
        text += line.text
    return text, offsets


def spelling_of(groups: Iterable[Group]) -> Spelling:
    """What the lines of a document tell of its spelling."""
    words: set[str] = set()
    breaks_words = False
    for group in groups:
        for line in group.lines:
            words.update(word.lower() for word in _WORDS.findall(line.text))
        for above, below in pairwise(group.lines):
            if _breaks_word(above.text, below.text) and below.text[0].islower() and not breaks_words:
                left, right = _halves(above.text, below.text)
                breaks_words = "-" not in left and count_tokens(f" {left}{right}") == 1
    return Spelling(frozenset(words), breaks_words)


def _text_of(group: Group, spelling: Spelling) -> tuple[str, list[tuple[Line, int, int]]]:
    """(hints, paragraph and hints with tabs between them, the span of each line in it)."""
    text = "".join(f"{hint.text}\t" for hint in group.lines[0].left)
    spans = list(_laid_out(group.lines[0].left, 0))
    joined, offsets = join_lines(group.lines, spelling)
    ends = [*offsets[1:], len(joined)]
    for line, start, end in zip(group.lines, offsets, ends, strict=True):
        spans.append((line, len(text) + start, len(text) + start + len(joined[start:end].rstrip())))
    text += joined
    hints = [hint for line in group.lines for hint in line.right]
    spans += _laid_out(hints, len(text) + 1)
    return text + "".join(f"\t{hint.text}" for hint in hints), spans


def _laid_out(hints: Sequence[Line], start: int) -> Iterator[tuple[Line, int, int]]:
    for hint in hints:
        yield hint, start, start + len(hint.text)
        start += len(hint.text) + 1


def _box(line: Line, start: int, end: int) -> LineBox:
    one, other = turned(line.x0, line.bottom, line.turn), turned(line.x1, line.top, line.turn)
    (x0, x1), (y0, y1) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return LineBox(start, end, line.page, round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1))


def _breaks_word(text: str, following: str) -> bool:
    return text.endswith("-") and len(text) > 1 and text[-2].isalpha() and following[0].isalpha()


def _halves(text: str, following: str) -> tuple[str, str]:
    return _WORDS.findall(text[-60:-1])[-1].lower(), _WORDS.match(following)[0].lower()  # type: ignore[index]


def _is_compound(text: str, following: str, spelling: Spelling) -> bool:
    """Whether the hyphen belongs to the word: it is spelt so elsewhere, or its halves are commoner than the whole."""
    left, right = _halves(text, following)
    if f"{left}{right}" in spelling.words:
        return False
    if f"{left}-{right}" in spelling.words or "-" in left:
        return True
    whole, halves = count_tokens(f" {left}{right}"), count_tokens(f" {left}") + count_tokens(f" {right}")
    return whole > halves or (whole == halves == 2 and not spelling.breaks_words)
