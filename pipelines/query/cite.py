"""CITE: markers -> Citations; each sentence verified against the spans of its sources."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.query.agree import PARTIAL, SUPPORTED, bare, denials, folded, holds, support_cap
from pipelines.store.tokens import tokenise
from pipelines.text import sentences
from pipelines.types import Citation, Sentence, Source, VerdictName

_MARKER = re.compile(
    r"\s*(?:\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)[^】\n]{0,40}】)"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation in an answer's text: where it stood once all markers were out, and the number it names."""

    at: int
    n: int


def split_markers(text: str) -> tuple[str, list[Marker]]:
    """(the text without its markers, the markers in order); `[1, 2]`, `[1][2]` and `【1】` are read alike."""
    clean: list[str] = []
    markers: list[Marker] = []
    length = done = 0
    for match in _MARKER.finditer(text):
        clean.append(text[done : match.start()])
        length += match.start() - done
        done = match.end()
        markers += [Marker(length, int(n)) for n in re.findall(r"\d+", match.group(1) or match.group(2))]
    clean.append(text[done:])
    return "".join(clean), markers


def cited_sentences(text: str, valid: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences of an answer with the sources each cites, in order; a number outside `valid` is dropped.

    A marker belongs to the sentence that it stands in or directly after.
    """
    clean, markers = split_markers(text)
    spans = sentences(clean)
    cited: list[list[int]] = [[] for _ in spans]
    for marker in markers:
        before = [index for index, (start, _) in enumerate(spans) if start < marker.at]
        if before and marker.n in valid and marker.n not in cited[before[-1]]:
            cited[before[-1]].append(marker.n)
    return [
        (" ".join(clean[start:end].split()), tuple(numbers)) for (start, end), numbers in zip(spans, cited, strict=True)
    ]


class MarkerFilter:
    """Takes markers out of a stream of text, whatever way it is cut into pieces."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> Iterator[str | int]:
        """Text that is safe to show, and the number of each marker as it is complete."""
        self._held += piece
        yield from self._drain(final=False)

    def close(self) -> Iterator[str | int]:
        """What was held back: an unfinished marker is text."""
        yield from self._drain(final=True)

    def _drain(self, *, final: bool) -> Iterator[str | int]:
        while match := _MARKER.search(self._held):
            yield from filter(None, [self._held[: match.start()]])
            yield from map(int, re.findall(r"\d+", match.group(1) or match.group(2)))
            self._held = self._held[match.end() :]
        if final:
            yield from filter(None, [self._held])
            self._held = ""
            return
        cut = _safe_until(self._held)
        yield from filter(None, [self._held[:cut]])
        self._held = self._held[cut:]


def _safe_until(text: str) -> int:
    """Where a marker may have begun that is not finished: from there the text is held back, 60 characters at most."""
    opening = max(text.rfind("["), text.rfind("【"))
    begun = opening >= 0 and len(text) - opening < 60 and not re.search(r"[\]】]", text[opening:])
    end = opening if begun else len(text)
    return len(text[:end].rstrip()) if begun or text[-1:].isspace() else end


def verify(sentence: str, cited: Sequence[int], sources: Sequence[Source]) -> Sentence:
    """The sentence with its verdict and, for each source that bears it out, the exact span.

    `supported`: the cited sources hold it, verbatim or by its terms, with every number, name and negation.
    `partial`: they hold a good part. `misattributed`: another source holds it. `unsupported`: none does.
    `uncited`: it names no source.
    """
    by_number = {source.n: source for source in sources}
    checks = [check(sentence, by_number[n]) for n in cited if n in by_number]
    checks.sort(key=lambda found: -found.support)
    if not checks:
        return Sentence(sentence, (), "uncited")
    best = checks[0].verdict
    if best in ("unsupported", "partial"):
        others = [check(sentence, source) for source in sources if source.n not in cited]
        right = [found for found in others if found.verdict == "supported"]
        if right:
            best = "misattributed"
            checks += right[:1]
    return Sentence(sentence, tuple(cited), best, tuple(checks))


def verify_computed(
    sentence: str, quoted: Sequence[tuple[int, Sequence[str]]], derived: Sequence[str], sources: Sequence[Source]
) -> Sentence:
    """A sentence that code computed, with its verdict: its values are derived, what they are derived from is quoted.

    `supported` when every quotation stands word for word in the source that it is cited from and no number stands
    beside the quotations and the derived values; else `partial` when one stands, `unsupported` when none does.

    Args:
        sentence: What was made of the quotations and the derived values.
        quoted: (source number, words of the sentence that must stand in it), in the order of the sentence.
        derived: What was computed, as it stands in the sentence.
        sources: Those that are cited, and others.
    """
    by_number = {source.n: source for source in sources}
    held = [(n, words, [holds(by_number[n].snippet, folded(said)) for said in words]) for n, words in quoted]
    rest = folded(sentence)
    for said in sorted([*derived, *(said for _, words in quoted for said in words)], key=len, reverse=True):
        rest = rest.replace(folded(said), " ")
    checks = {n: _quoting(by_number[n], words, found) for n, words, found in held}
    if all(all(found) for _, _, found in held) and not any(map(str.isdigit, rest)):
        verdict: VerdictName = "supported"
    else:
        verdict = "partial" if any(any(found) for _, _, found in held) else "unsupported"
    return Sentence(sentence, tuple(checks), verdict, tuple(checks.values()))


def _quoting(source: Source, words: Sequence[str], found: Sequence[bool]) -> Citation:
    """The sentences of a source from the first to the last that holds one of the words."""
    spans = sentences(source.snippet) or [(0, len(source.snippet))]
    claims = [folded(said) for said in words]
    holding = [(s, e) for s, e in spans if any(holds(source.snippet[s:e], claim) for claim in claims)] or spans
    verdict: VerdictName = "supported" if all(found) else "partial" if any(found) else "unsupported"
    return _citation(source, (holding[0][0], holding[-1][1]), verdict, round(sum(found) / max(len(found), 1), 4))


def check(sentence: str, source: Source) -> Citation:
    """How far one source bears a sentence out, with the span of it that does best; support in 0..1."""
    spans = sentences(source.snippet) or [(0, len(source.snippet))]
    claim = folded(sentence)
    exact = next(((s, e) for s, e in spans if holds(source.snippet[s:e], claim)), None)
    if exact is None and holds(source.snippet, claim):
        exact = _covering(claim, source.snippet, spans)
    if exact and denials(source.snippet[slice(*exact)], sentence) == denials(sentence):
        return _citation(source, exact, "supported", 1.0)
    span, support = _best_span(sentence, source, spans)
    verdict: VerdictName = "supported" if support >= SUPPORTED else "partial" if support >= PARTIAL else "unsupported"
    return _citation(source, span, verdict, round(support, 4))


def _citation(source: Source, span: tuple[int, int], verdict: VerdictName, support: float) -> Citation:
    start, end = span
    return Citation(
        n=source.n,
        document_id=source.document_id,
        content_sha=source.content_sha,
        start=source.start + start,
        end=source.start + end,
        quote=source.snippet[start:end],
        verdict=verdict,
        support=support,
    )


def _covering(claim: str, snippet: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The fewest neighbouring sentences that hold a claim which crosses sentence ends."""
    for width in range(2, len(spans) + 1):
        for first in range(len(spans) - width + 1):
            start, end = spans[first][0], spans[first + width - 1][1]
            if holds(snippet[start:end], claim):
                return start, end
    return 0, len(snippet)


def _best_span(sentence: str, source: Source, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], float]:
    """The one or two neighbouring sentences that bear a claim out best, and how well: their share (0..1) of its terms.

    The share is capped where the details disagree.
    """
    wanted = set(tokenise(bare(sentence)))
    windows = [*spans, *((left[0], right[1]) for left, right in pairwise(spans))]
    if not wanted:
        return windows[0], 0.0
    best, best_rank = windows[0], (-1.0, -1.0)
    for start, end in windows:
        text = source.snippet[start:end]
        held = len(wanted & set(tokenise(bare(text)))) / len(wanted)
        support = min(held, support_cap(sentence, text, _head(source))) if held >= PARTIAL else held
        if (support, held) > best_rank:
            best, best_rank = (start, end), (support, held)
    return best, best_rank[0]


def _head(source: Source) -> str:
    return " ".join((source.title, *source.section_path))
