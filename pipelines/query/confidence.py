"""Confidence of an answer from the evidence and the verdicts of its sentences."""

from collections.abc import Sequence

from pipelines.answers import Sentence
from pipelines.store.tokens import tokenise
from pipelines.types import Band, Evidence

# Of quotations: probabilities of `unit_scoring.answer_probability`.
_HIGH, _MEDIUM = 0.9, 0.75
_SUPPORTED = 0.5  # share of the sentences below which an answer is hardly one
_MOST_UNSUPPORTED = 1 / 3  # share of a model's sentences without a source from which on the rest is doubtful too
_LEAST_HELD = 0.5  # share of the question's terms that one sentence must hold


def confidence(evidence: Evidence, sentences: Sequence[Sentence], terms: Sequence[str]) -> Band:
    """The confidence of a model's text: the band of the evidence, less where sentences lack support.

    It is low if a third of the sentences have no support or less than half are supported, and never high unless all are
    and one holds half of the question's index terms. A line that leads in to others (`It has these limits:`) and cites
    nothing does not count.
    """
    sentences = [one for one in sentences if not (one.verdict == "uncited" and one.text.endswith(":"))]
    lacking = sum(sentence.verdict in ("unsupported", "uncited") for sentence in sentences) / max(len(sentences), 1)
    if _share_supported(sentences) < _SUPPORTED or lacking >= _MOST_UNSUPPORTED:
        return "low"
    indexed = [set(tokenise(sentence.text)) for sentence in sentences]
    share = max((sum(term in own for term in terms) / max(len(terms), 1) for own in indexed), default=0.0)
    band = "medium" if evidence.band == "high" and share < _LEAST_HELD else evidence.band
    return "medium" if band == "high" and _share_supported(sentences) < 1 else band


def quotation_confidence(sentences: Sequence[Sentence], answers: float, *, is_open: bool = False) -> Band:
    """The confidence of a quotation, by the probability (0..1) that it answers.

    It is low if less than half of its sentences are supported, and never high unless all are, or if it leaves open
    what is asked.
    """
    if _share_supported(sentences) < _SUPPORTED:
        return "low"
    if answers >= _HIGH and _share_supported(sentences) == 1 and not is_open:
        return "high"
    return "medium" if answers >= _MEDIUM else "low"


def computed_confidence(sentences: Sequence[Sentence], *, is_exact: bool) -> Band:
    """The confidence of computed sentences: low unless all are supported, high if they are exact as well."""
    return "low" if _share_supported(sentences) < 1 else "high" if is_exact else "medium"


def _share_supported(sentences: Sequence[Sentence]) -> float:
    return sum(sentence.verdict == "supported" for sentence in sentences) / max(len(sentences), 1)
