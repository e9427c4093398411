"""CITE: cited sentences -> Citations; each sentence verified against the spans of its sources."""

from collections.abc import Sequence

from pipelines.query.verification.agree import denials, folded, holds
from pipelines.query.verification.judge import BY_WORDS, RANK, Judge, Judgement, judge_claim
from pipelines.query.verification.scope import overstated
from pipelines.text import sentences
from pipelines.types import Citation, Sentence, Source, VerdictName


def verify(sentence: str, cited: Sequence[int], sources: Sequence[Source], judge: Judge = BY_WORDS) -> Sentence:
    """The sentence with its verdict and, for each source that bears it out, the exact spans, best first.

    `supported`: the cited sources hold it together, verbatim or by its words, with every number, date, unit, name and
    negation. `partial`: they hold a good part. `misattributed`: another source holds it, which is the last citation.
    `unsupported`: none does. `uncited`: it names no source.
    """
    by_number = {source.n: source for source in sources}
    named = [by_number[n] for n in dict.fromkeys(cited) if n in by_number]
    if not named:
        return Sentence(sentence, (), "uncited")
    checks = [_checked(sentence, source, judge) for source in named]
    checks.sort(key=lambda own: (-RANK[own[0].verdict], -own[0].support))
    verdict = checks[0][0].verdict
    if verdict != "supported" and len(named) > 1:
        joint = judge_claim(sentence, named, judge)
        if RANK[joint.verdict] > RANK[verdict]:
            verdict = joint.verdict
            checks = _by_source(joint, named)
    evidence = [citation for own in checks for citation in own]
    if verdict != "supported":
        others = (check(sentence, source, judge) for source in sources if source.n not in cited)
        right = max((found for found in others if found.verdict == "supported"), key=_support, default=None)
        if right:
            return Sentence(sentence, tuple(cited), "misattributed", (*evidence, right))
    return Sentence(sentence, tuple(cited), verdict, tuple(evidence))


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


def check(sentence: str, source: Source, judge: Judge = BY_WORDS) -> Citation:
    """How far one source bears a sentence out, with the span of it that does best; support in 0..1.

    Support is 1 for a sentence that the source holds verbatim, else the probability that it bears the sentence out by
    its words; the verdict also asks that the details agree.
    """
    return _checked(sentence, source, judge)[0]


def _checked(sentence: str, source: Source, judge: Judge) -> list[Citation]:
    """The places of a source where a sentence stands, best first; they share verdict and support."""
    exact = _verbatim(sentence, source.snippet)
    if exact:
        return [_citation(source, exact, "supported", 1.0)]
    found = judge_claim(sentence, [source], judge)
    return [_citation(source, (start, end), found.verdict, found.support) for _, start, end in found.spans]


def _by_source(joint: Judgement, sources: Sequence[Source]) -> list[list[Citation]]:
    """The places of a claim that only several sources bear out: each says a part of it."""
    return [
        [_citation(source, (start, end), "partial", joint.support) for n, start, end in joint.spans if n == source.n]
        for source in sources
    ]


def _verbatim(sentence: str, snippet: str) -> tuple[int, int] | None:
    """The sentences of a snippet that hold a sentence word for word, and deny or doubt no more; None without."""
    spans = sentences(snippet) or [(0, len(snippet))]
    claim = folded(sentence)
    exact = next(((s, e) for s, e in spans if holds(snippet[s:e], claim)), None)
    if exact is None and holds(snippet, claim):
        exact = _covering(claim, snippet, spans)
    if exact is None:
        return None
    said = snippet[slice(*exact)]
    return exact if denials(said, sentence) == denials(sentence) and not overstated(sentence, said) else None


def _support(citation: Citation) -> float:
    return citation.support


def _citation(source: Source, span: tuple[int, int], verdict: VerdictName, support: float) -> Citation:
    start, end = span
    page, first, last = source.place(source.start + start, source.start + end)
    return Citation(
        n=source.n,
        document_id=source.document_id,
        content_sha=source.content_sha,
        start=source.start + start,
        end=source.start + end,
        quote=source.snippet[start:end],
        verdict=verdict,
        support=support,
        page=page,
        line_start=first,
        line_end=last,
    )


def _covering(claim: str, snippet: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The fewest neighbouring sentences that hold a claim which crosses sentence ends."""
    for width in range(2, len(spans) + 1):
        for first in range(len(spans) - width + 1):
            start, end = spans[first][0], spans[first + width - 1][1]
            if holds(snippet[start:end], claim):
                return start, end
    return 0, len(snippet)
