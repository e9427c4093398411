"""Pieces of a text, and the ways to cut a stretch that is too long; the cuts lose nothing."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.facts import Facts
from pipelines.ingestion.structure import covered, title_of, trimmed
from pipelines.text import fold, sentences
from pipelines.types import Block

ATOMIC = frozenset({"table", "code"})

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CHARACTERS_PER_WORD = 10
_MAX_HEAD = 500

Span = tuple[int, int]
Measure = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a document that becomes one node.

    `lead` is what its header repeats (a job line, the head of a table) where the stretch is a later part; `year` is
    the stretch's own, None = the document's.
    """

    start: int
    end: int
    section_path: tuple[str, ...] = ()
    kind: str = "text"
    facts: Facts | None = None
    year: int | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the blocks up to the next one; before the first heading, blocks alone."""

    path: tuple[str, ...]
    heading: Block | None
    body: tuple[Block, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The heading and the body."""
        return (self.heading, *self.body) if self.heading else self.body

    @property
    def start(self) -> int:
        """Where the heading, else the body, begins."""
        return self.heading.start if self.heading else self.body[0].start

    @property
    def end(self) -> int:
        """Where the body, else the heading, ends."""
        return self.body[-1].end if self.body else self.heading.end if self.heading else 0


def sections_of(text: str, blocks: Sequence[Block]) -> list[Section]:
    """The text by heading, in order; each path ends with the section's own heading, and no two sections share one.

    A second "Usage" under the same headings is "Usage (2)".
    """
    found: list[Section] = []
    stack: list[tuple[int, str]] = []
    seen: dict[tuple[str, ...], int] = {}
    heading: Block | None = None
    body: list[Block] = []
    for block in covered(text, blocks):
        if block.kind != "heading":
            body.append(block)
            continue
        if heading or body:
            found.append(Section(tuple(title for _, title in stack), heading, tuple(body)))
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        above = tuple(title for _, title in stack)
        stack.append((block.level, _told_apart(seen, above, title_of(text, block.start, block.end))))
        heading, body = block, []
    if heading or body:
        found.append(Section(tuple(title for _, title in stack), heading, tuple(body)))
    return found


def joined(sections: Iterable[Section], is_tiny: Callable[[Section], bool]) -> Iterator[Section]:
    """The sections, one that is tiny in front of the next if that lies below it, and then under the path of that.

    Between others nothing is joined, however little they hold: a passage belongs to one heading and those above it.
    """
    waiting: Section | None = None
    for section in sections:
        current = section
        if waiting and section.path[: len(waiting.path)] == waiting.path:
            current = Section(section.path, waiting.heading, (*waiting.body, *section.blocks))
        elif waiting:
            yield waiting
        waiting = current if is_tiny(current) else None
        if not waiting:
            yield current
    if waiting:
        yield waiting


def is_bare(section: Section) -> bool:
    """Whether the section holds nothing but headings."""
    return all(block.kind == "heading" for block in section.body)


def _told_apart(seen: dict[tuple[str, ...], int], above: tuple[str, ...], title: str) -> str:
    """The title, numbered where a section of that path came before; `seen` counts them."""
    name, number = title, seen.get((*above, fold(title)), 0)
    while (*above, fold(name)) in seen:
        number += 1
        name = f"{title} ({number})"
    seen[(*above, fold(title))] = max(number, 1)
    seen.setdefault((*above, fold(name)), 1)
    return name


def words_in(text: str) -> int:
    """The length in words; a CJK character counts as one, and so do ten characters where words are longer on average.

    The length of a text is at most the sum of its parts' lengths.
    """
    words = text.split()
    count = len(words) if text.isascii() else len(words) + len(_CJK.findall(text))
    return max(count, -(-sum(map(len, words)) // _CHARACTERS_PER_WORD))


def head_of(text: str, block: Block) -> str:
    """The head of a table, which its later parts repeat in their header; nothing for another block."""
    if block.kind != "table":
        return ""
    return text[block.start : min(block.end, block.start + _MAX_HEAD)].partition("\n")[0].strip()


def cut(text: str, span: Span, limit: int, measure: Measure, *, by_line: bool = False) -> list[Span]:
    """The stretch in parts of at most `limit`, at sentence ends (or line ends), else at spaces, else anywhere.

    The parts touch but for white space between them.
    """
    start, end = span
    if measure(text[start:end]) <= limit:
        return [span]
    starts = _line_starts(text, start, end) if by_line else [start + at for at, _ in sentences(text[start:end])]
    bounds = [start, *(at for at in starts if at > start), end]
    parts: list[Span] = []
    opened, size = start, 0
    for sentence in pairwise(bounds):
        fits = measure(text[slice(*sentence)]) <= limit
        for begin, finish in [sentence] if fits else _halves(text, sentence, max(limit // 2, 1), measure):
            length = measure(text[begin:finish])
            if size and size + length > limit:
                parts.append(trimmed(text, opened, begin))
                opened, size = begin, 0
            size += length
    parts.append(trimmed(text, opened, end))
    return [part for part in parts if part[0] < part[1]]


def _line_starts(text: str, start: int, end: int) -> list[int]:
    return [match.end() for match in re.compile("\n").finditer(text, start, end)]


def _halves(text: str, span: Span, limit: int, measure: Measure) -> Iterator[Span]:
    """The stretch halved at spaces until each part fits."""
    start, end = span
    if end - start < 2 or measure(text[start:end]) <= limit:
        yield span
        return
    middle = (start + end) // 2
    space = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    at = space if space > start + (middle - start) // 2 else middle
    yield from _halves(text, (start, at), limit, measure)
    yield from _halves(text, (at, end), limit, measure)
