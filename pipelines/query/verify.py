"""VERIFY: compare a sentence with the spans of its sources and decide its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.answers import Citation, Sentence, Source, VerdictName
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.verification.clauses import split_clauses
from pipelines.query.verification.details import best_allowed_verdict, overstated
from pipelines.query.verification.misattached import is_misattached
from pipelines.query.verification.normalise import contains_phrase, count_negations, folded_words, without_attribution
from pipelines.query.verification.rows import is_of_other_row
from pipelines.query.verification.support import (
    PARTIAL_AT,
    SUPPORTED_AT,
    VECTOR_MODELS,
    WORDS_MODEL,
    Embed,
    SupportModel,
    align_claim,
    best_places,
    features,
    probability,
)
from pipelines.query.verification.words import find_phrases, lowered, read
from pipelines.store.tokens import tokenise

VERDICT_RANK: dict[VerdictName, int] = {
    "unsupported": 0,
    "uncited": 0,
    "misattributed": 0,
    "partial": 1,
    "supported": 2,
}
_BELOW = 0.01  # of what `supported` needs


@dataclass(frozen=True, slots=True)
class Judge:
    """The means to judge a claim: its words and, where there are weights for their model, vectors."""

    weights: SupportModel = WORDS_MODEL
    embed: Embed | None = None


WORDS_ONLY = Judge()


def build_judge(model: str, embed: Embed | None) -> Judge:
    """A judge that uses vectors where there are weights for the model that makes them."""
    weights = VECTOR_MODELS.get(model) if embed else None
    return Judge(weights, embed) if weights else WORDS_ONLY


def cached_embedding(model: BaseEmbedding) -> Embed:
    """The vectors of an embedding model; each text is embedded once, however often it is asked for."""
    held: dict[str, np.ndarray] = {}

    def embed(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in held]
        held.update(zip(new, map(np.asarray, model.get_text_embedding_batch(new)), strict=True) if new else ())
        return np.stack([held[text] for text in texts])

    return embed


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a claim, the probability (0..1) of support, and the spans (source, start, end in it), best
    first.
    """

    verdict: VerdictName
    support: float
    spans: tuple[tuple[int, int, int], ...]


def judge_claim(claim: str, sources: Sequence[Source], judge: Judge) -> Judgement:
    """Judge how far the sources together support a claim.

    The verdict follows from the probability; it is lowered if details of the claim disagree, and the support then stays
    below the threshold of `supported` if a detail stands nowhere. If the vectors fail, the words alone decide.
    """
    try:
        return _judged(claim, sources, judge)
    except FootnoteError as error:
        log_failure("a sentence was verified by its words alone", error)
        return _judged(claim, sources, WORDS_ONLY)


def _judged(claim: str, sources: Sequence[Source], judge: Judge) -> Judgement:
    aligned = align_claim(claim, sources)
    found = best_places(aligned, claim, judge.embed)
    spans = [
        (aligned.lines[place.start].n, aligned.lines[place.start].start, aligned.lines[place.stop - 1].end)
        for place in found
    ]
    snippets = {source.n: source.snippet for source in sources}
    texts = [snippets[n][start:end] for n, start, end in spans]
    support = probability(features(claim, aligned, judge.embed), judge.weights)
    cited = "\n".join(line.text for line in aligned.lines)
    most = best_allowed_verdict(claim, texts[0], "\n".join(texts), cited)
    if is_of_other_row(claim, [source.read() for source in sources]):
        most = "unsupported"
    if most == "supported" and is_misattached(claim, aligned):
        most = "partial"
    reached: VerdictName = (
        "supported" if support >= SUPPORTED_AT else "partial" if support >= PARTIAL_AT else "unsupported"
    )
    if most == "unsupported":
        support = min(support, SUPPORTED_AT - _BELOW)
    return Judgement(min(reached, most, key=VERDICT_RANK.__getitem__), round(support, 4), tuple(spans))


def verify(sentence: str, cited: Sequence[int], sources: Sequence[Source], judge: Judge = WORDS_ONLY) -> Sentence:
    """The sentence with its verdict and the exact spans of the sources that support it, best first.

    `supported`: the cited sources together state it, verbatim or by its words, with every number, date, unit, name and
    negation. `partial`: they state a good part of it, or all of it and it names another source's document.
    `misattributed`: another source states it, which is the last citation. `unsupported`: none does. `uncited`: it cites
    no source. A claim of two halves is supported if each of them is, by whatever source; a reason must be stated by
    itself. `Based on the sources, ` and such are not checked.
    """
    by_number = {source.n: source for source in sources}
    named = [by_number[n] for n in dict.fromkeys(cited) if n in by_number]
    if not named:
        return Sentence(sentence, (), "uncited")
    claim = without_attribution(sentence)
    checks = [_citations_in(claim, source, judge) for source in named]
    checks.sort(key=lambda own: (-VERDICT_RANK[own[0].verdict], -own[0].support))
    verdict, is_verbatim = checks[0][0].verdict, checks[0][0].support == 1
    if verdict != "supported" and len(named) > 1:
        joint = judge_claim(claim, named, judge)
        if VERDICT_RANK[joint.verdict] > VERDICT_RANK[verdict]:
            verdict = joint.verdict
            spans = {n: [(start, end) for own, start, end in joint.spans if own == n] for n in by_number}
            checks = [
                [_citation(source, span, "partial", joint.support) for span in spans[source.n]] for source in named
            ]
    evidence = [citation for own in checks for citation in own]
    if verdict == "partial" and (halves := _supported_halves(claim, sources, judge)):
        return Sentence(sentence, tuple(dict.fromkeys(citation.n for citation in halves)), "supported", halves)
    if verdict == "supported" and not is_verbatim and not _is_reason_stated(claim, named, judge):
        verdict = "partial"
    if verdict == "supported" and _names_other_document(claim, named, sources):
        return Sentence(sentence, tuple(cited), "partial", tuple(evidence))
    if verdict != "supported":
        right = _best_supported(claim, [source for source in sources if source.n not in cited], judge)
        if right:
            return Sentence(sentence, tuple(cited), "misattributed", (*evidence, right))
    return Sentence(sentence, tuple(cited), verdict, tuple(evidence))


_JOINTS = frozenset({"and", "but", "while", "whereas", "which", "where", "who"})
_FEWEST_TERMS = 3  # of a part that is judged by itself


def _supported_halves(claim: str, sources: Sequence[Source], judge: Judge) -> tuple[Citation, ...]:
    """The places that support the two halves of a claim, each by itself; empty unless both have one.

    A second half without a subject of its own is of the first one's: the same document must support both.
    """
    clauses = split_clauses((claim,))
    for at, clause in enumerate(clauses[1:], start=1):
        halves = [" ".join(each.text for each in side) for side in (clauses[:at], clauses[at:])]
        is_joined = lowered(clause.text)[0] in _JOINTS or f"; {clause.text}" in claim
        if is_joined and all(len(set(tokenise(half))) >= _FEWEST_TERMS for half in halves):
            first = _best_supported(halves[0], sources, judge)
            same = [source for source in sources if first and source.document_id == first.document_id]
            second = _best_supported(halves[1], sources if clause.says_subject else same, judge) if first else None
            if first and second and first.n != second.n:  # what one source does not support whole stays as it is
                return first, second
    return ()


def _best_supported(claim: str, sources: Sequence[Source], judge: Judge) -> Citation | None:
    """The best place of the source that supports a claim best, and its reason if it gives one; None if none does."""
    checks = ((_citations_in(claim, source, judge)[0], source) for source in sources)
    found = (
        one
        for one, source in checks
        if one.verdict == "supported" and (one.support == 1 or _is_reason_stated(claim, [source], judge))
    )
    return max(found, key=lambda one: one.support, default=None)


def _is_reason_stated(claim: str, named: Sequence[Source], judge: Judge) -> bool:
    """True unless a claim gives a reason that the sources state nowhere."""
    words = read(claim)
    reason = next(find_phrases([word.lower for word in words], "reasons"), None)
    given = claim[words[reason.end - 1].end :] if reason and reason.start else ""
    if len(set(tokenise(given))) < _FEWEST_TERMS:
        return True
    return judge_claim(given, named, judge).verdict != "unsupported"


def _names_other_document(claim: str, cited: Sequence[Source], sources: Sequence[Source]) -> bool:
    """True if a claim names another source's document by its title, which stands nowhere in the cited sources."""
    own = {source.document_id for source in cited}
    held = "\n".join(part for s in cited for part in (s.documentName, s.title, *s.section_path, s.about, s.snippet))
    titles = {folded_words(source.title) for source in sources if source.document_id not in own}
    return any(title and contains_phrase(claim, title) and not contains_phrase(held, title) for title in titles)


def verify_computed(
    sentence: str, quoted: Sequence[tuple[int, Sequence[str]]], derived: Sequence[str], sources: Sequence[Source]
) -> Sentence:
    """The verdict on a computed sentence: its values are derived from quoted facts.

    `supported` if every quotation (source number, words that must stand in it) stands verbatim in its source and the
    sentence holds no number besides quotations and derived values; else `partial` if some quotation stands,
    `unsupported` if none does.
    """
    by_number = {source.n: source for source in sources}
    held = [
        (n, words, [contains_phrase(by_number[n].snippet, folded_words(said)) for said in words]) for n, words in quoted
    ]
    rest = folded_words(sentence)
    for said in sorted([*derived, *(said for _, words in quoted for said in words)], key=len, reverse=True):
        rest = rest.replace(folded_words(said), " ")
    checks = {n: _quotation(by_number[n], words, found) for n, words, found in held}
    if all(all(found) for _, _, found in held) and not any(map(str.isdigit, rest)):
        verdict: VerdictName = "supported"
    else:
        verdict = "partial" if any(any(found) for _, _, found in held) else "unsupported"
    return Sentence(sentence, tuple(checks), verdict, tuple(checks.values()))


def _quotation(source: Source, words: Sequence[str], found: Sequence[bool]) -> Citation:
    """The citation from the first to the last sentence of a source that holds one of the quotations."""
    spans = source.sentences
    claims = [folded_words(said) for said in words]
    holding = [
        (s, e) for s, e in spans if any(contains_phrase(source.snippet[s:e], claim) for claim in claims)
    ] or spans
    verdict: VerdictName = "supported" if all(found) else "partial" if any(found) else "unsupported"
    return _citation(source, (holding[0][0], holding[-1][1]), verdict, round(sum(found) / max(len(found), 1), 4))


def check_source(sentence: str, source: Source, judge: Judge = WORDS_ONLY) -> Citation:
    """The best span of one source for a sentence, with verdict and support (0..1).

    Support is 1 for a verbatim sentence, else the probability that the source supports it by its words. The verdict
    also requires that the details agree.
    """
    return _citations_in(without_attribution(sentence), source, judge)[0]


def _citations_in(sentence: str, source: Source, judge: Judge) -> list[Citation]:
    """The places of a source that support a sentence, best first; all have the same verdict and support."""
    exact = _verbatim(sentence, source)
    if exact:
        return [_citation(source, exact, "supported", 1.0)]
    found = judge_claim(sentence, [source], judge)
    return [_citation(source, (start, end), found.verdict, found.support) for _, start, end in found.spans]


def _verbatim(sentence: str, source: Source) -> tuple[int, int] | None:
    """The span of the sentences that hold a sentence verbatim, without further negation or doubt; None without one."""
    snippet, spans = source.snippet, source.sentences
    claim = folded_words(sentence)
    exact = next(((s, e) for s, e in spans if contains_phrase(snippet[s:e], claim)), None)
    if exact is None and contains_phrase(snippet, claim):
        exact = _covering(claim, snippet, spans)
    if exact is None:
        return None
    said = snippet[slice(*exact)]
    return (
        exact
        if count_negations(said, sentence) == count_negations(sentence) and not overstated(sentence, said)
        else None
    )


def _citation(source: Source, span: tuple[int, int], verdict: VerdictName, support: float) -> Citation:
    return source.cite(source.start + span[0], source.start + span[1], verdict, support)


def _covering(claim: str, snippet: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The smallest run of sentences that holds a claim which crosses sentence boundaries."""
    for width in range(2, len(spans) + 1):
        for first in range(len(spans) - width + 1):
            start, end = spans[first][0], spans[first + width - 1][1]
            if contains_phrase(snippet[start:end], claim):
                return start, end
    return 0, len(snippet)
