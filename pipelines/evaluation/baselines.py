"""Ways to cut a text that others have published figures for, to stand beside our parsers; in tokens of cl100k."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise

from pipelines.ingestion.parsers.window import split_windows
from pipelines.text import count_tokens

Span = tuple[int, int]
Measure = Callable[[Span], int]
_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")


def recursive(text: str, *, tokens: int, overlap: int) -> list[Span]:
    """Spans of about `tokens`, cut at blank lines, else newlines, else full stops, question marks and so on to letters.

    Args:
        text: What is cut.
        tokens: The most that the parts of a span sum up to.
        overlap: The most that a span repeats of the one before, in whole parts.

    Source: LangChain's recursive splitter with the separators of Smith, Troynikov, "Evaluating Chunking Strategies for
    Retrieval", Chroma 2024; a separator stays with what follows it.
    """
    counted = lru_cache(maxsize=None)(count_tokens)
    found = _recurse(text, (0, len(text)), _SEPARATORS, lambda span: counted(text[slice(*span)]), (tokens, overlap))
    spans = [(start + len(part) - len(part.lstrip()), start + len(part.rstrip())) for start, part in
             ((start, text[start:end]) for start, end in found)]  # fmt: skip
    return [(start, end) for start, end in spans if start < end]


def fixed(text: str, *, tokens: int, overlap: int) -> list[Span]:
    """Windows of `tokens` that share `overlap`, each from word to word."""
    return [(piece.start, piece.end) for piece in split_windows(text, (), tokens=tokens, overlap=overlap)]


BASELINES: Mapping[str, Callable[[str], list[Span]]] = {
    "recursive 250/125": partial(recursive, tokens=250, overlap=125),
    "recursive 200/0": partial(recursive, tokens=200, overlap=0),
    "token 250/125": partial(fixed, tokens=250, overlap=125),
}


def _recurse(text: str, span: Span, separators: Sequence[str], measure: Measure, sizes: tuple[int, int]) -> list[Span]:
    stretch = text[slice(*span)]
    level = next((at for at, separator in enumerate(separators) if separator in stretch), len(separators) - 1)
    finer = separators[level + 1 :]
    spans: list[Span] = []
    small: list[Span] = []
    for part in _split(text, span, separators[level]):
        if measure(part) < sizes[0]:
            small.append(part)
            continue
        spans.extend(_merged(small, measure, *sizes))
        small = []
        spans.extend(_recurse(text, part, finer, measure, sizes) if finer else [part])
    return [*spans, *_merged(small, measure, *sizes)]


def _split(text: str, span: Span, separator: str) -> list[Span]:
    """The parts of the stretch, each but the first beginning with the separator; its characters for none."""
    start, end = span
    if not separator:
        return [(at, at + 1) for at in range(start, end)]
    inside = [match.start() for match in re.compile(re.escape(separator)).finditer(text, start, end)]
    return list(pairwise(sorted({start, *inside, end})))


def _merged(parts: Sequence[Span], measure: Measure, tokens: int, overlap: int) -> list[Span]:
    spans: list[Span] = []
    held: list[Span] = []
    total = 0
    for part in parts:
        size = measure(part)
        if held and total + size > tokens:
            spans.append((held[0][0], held[-1][1]))
            while held and (total > overlap or total + size > tokens):
                total -= measure(held.pop(0))
        held.append(part)
        total += size
    return [*spans, (held[0][0], held[-1][1])] if held else spans
