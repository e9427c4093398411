"""JUDGE: the verdict on a claim that sources do not hold verbatim, with the places that speak for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import FootnoteError
from pipelines.models.nli import Entailment
from pipelines.observe import log_failure
from pipelines.query.verification.claims import Alignment, align
from pipelines.query.verification.details import Passages, allowed
from pipelines.query.verification.displaced import displaced
from pipelines.query.verification.places import places
from pipelines.query.verification.support import VECTORS, WORDS, Embed, Weights, features, probability
from pipelines.types import Source, VerdictName

RANK: dict[VerdictName, int] = {"unsupported": 0, "uncited": 0, "misattributed": 0, "partial": 1, "supported": 2}
_CONTRADICTED = 0.5
_SHORT = 0.01  # of what `supported` needs


# (text, claim) -> how the text bears on it.
Entail = Callable[[str, str], Entailment]


@dataclass(frozen=True, slots=True)
class Judge:
    """What a claim is judged with, beside its words: vectors, and a model of inference; either may be missing."""

    weights: Weights = WORDS
    embed: Embed | None = None
    entail: Entail | None = None


BY_WORDS = Judge()


def judge_with(model: str, embed: Embed | None, entail: Entail | None = None) -> Judge:
    """A judge that uses vectors where there are weights for the model that makes them."""
    weights = VECTORS.get(model) if embed else None
    return Judge(weights, embed, entail) if weights else Judge(entail=entail)


def embedding(model: BaseEmbedding) -> Embed:
    """The vectors of an embedding model; each text is embedded once, however often it is asked for."""
    held: dict[str, np.ndarray] = {}

    def embed(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in held]
        held.update(zip(new, map(np.asarray, model.get_text_embedding_batch(new)), strict=True) if new else ())
        return np.stack([held[text] for text in texts])

    return embed


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a claim, how probable (0..1) it is by its words that it is borne out, and where it stands.

    `spans` are (source number, start, end) in the source's snippet, best first.
    """

    verdict: VerdictName
    support: float
    spans: tuple[tuple[int, int, int], ...]


def judge_claim(claim: str, sources: Sequence[Source], judge: Judge) -> Judgement:
    """How far sources together bear a claim out.

    The verdict follows from the probability; where the details of the claim disagree it is lower, and where one
    stands nowhere that stays below what `supported` needs. With a model of inference the
    support is the mean of the probability and of the entailment by the places found, and a claim that these contradict
    is unsupported. Where a model fails, the words alone decide.
    """
    try:
        return _judged(claim, sources, judge)
    except FootnoteError as error:
        log_failure("a sentence was verified by its words alone", error)
        return _judged(claim, sources, BY_WORDS)


def _judged(claim: str, sources: Sequence[Source], judge: Judge) -> Judgement:
    aligned = align(claim, sources)
    found = places(aligned, claim, judge.embed)
    texts = [_said(aligned, place, sources) for place in found]
    support = probability(features(claim, aligned, judge.embed), judge.weights)
    cited = "\n".join(line.text for line in aligned.lines)
    most = allowed(claim, Passages(texts[0], "\n".join(texts), cited))
    if most == "supported" and displaced(claim, aligned):
        most = "partial"
    if judge.entail:
        entailed, contradicted = judge.entail("\n".join(texts), claim)
        support = (support + entailed) / 2
        most = "unsupported" if contradicted >= _CONTRADICTED else most
    reached = _reached(support, judge.weights)
    if most == "unsupported":
        support = min(support, judge.weights.supported.at - _SHORT)
    spans = (
        (aligned.lines[place.start].n, aligned.lines[place.start].start, aligned.lines[place.stop - 1].end)
        for place in found
    )
    return Judgement(min(reached, most, key=RANK.__getitem__), round(support, 4), tuple(spans))


def _reached(support: float, weights: Weights) -> VerdictName:
    if support >= weights.supported.at:
        return "supported"
    return "partial" if support >= weights.partial.at else "unsupported"


def _said(aligned: Alignment, place: slice, sources: Sequence[Source]) -> str:
    first, last = aligned.lines[place.start], aligned.lines[place.stop - 1]
    snippet = next(source.snippet for source in sources if source.n == first.n)
    return snippet[first.start : last.end]
