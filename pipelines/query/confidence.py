"""Confidence of an answer from the evidence and the verdicts of its sentences."""

from collections.abc import Sequence

from pipelines.answers import Sentence
from pipelines.query.evidence import log_odds
from pipelines.store.tokens import tokenise
from pipelines.types import Band, Evidence

# Of quotations: a logistic fit of which hold the facts of a portfolio topic, asked of all documents and asked of those
# that do not answer it. Fitted on each half of the topics and checked on the other, 88 % of the high, 54 % of the
# medium and 37 % of the low ones held them. Of those that questions of mtrag_un were given, 96 %, 81 % and 33 % were
# given to one that has an answer.
_STRENGTH, _COVERAGE = 0.8, 1.9
_HIGH, _LOW = 1.2, 0.2
_SUPPORTED = 0.5  # share of the sentences below which an answer is hardly one
_MOST_UNSUPPORTED = 1 / 3  # share of a model's sentences without a source from which on the rest is doubtful too
_LEAST_HELD = 0.5  # share of the question's terms that one sentence must hold


def confidence(
    evidence: Evidence, sentences: Sequence[Sentence], terms: Sequence[str], *, quoted: bool = False, sure: bool = True
) -> Band:
    """high: every sentence is supported and the evidence is strong; low: most are not, or the evidence is weak.

    Text of a model is low if a third of its sentences have no support.

    A quotation is judged by the strength of the evidence and the share of the question that one passage covers. Text of
    a model is judged by the band of the evidence, and is never high unless one sentence holds half of the question's
    terms.

    Args:
        evidence: What the sentences were written from.
        sentences: With their verdicts.
        terms: The question's index terms.
        quoted: True if they are lines of the sources; else a model wrote them.
        sure: True if they hold what is asked; else the answer is never high.
    """
    supported = sum(sentence.verdict == "supported" for sentence in sentences) / max(len(sentences), 1)
    unborne = sum(sentence.verdict in ("unsupported", "uncited") for sentence in sentences) / max(len(sentences), 1)
    if supported < _SUPPORTED or (not quoted and unborne >= _MOST_UNSUPPORTED):
        return "low"
    if quoted:
        certainty = _STRENGTH * log_odds(evidence.strength) + _COVERAGE * evidence.coverage
        band: Band = "high" if certainty >= _HIGH else "low" if certainty < _LOW else "medium"
    else:
        indexed = [set(tokenise(sentence.text)) for sentence in sentences]
        share = max((sum(term in own for term in terms) / max(len(terms), 1) for own in indexed), default=0.0)
        band = "medium" if evidence.band == "high" and share < _LEAST_HELD else evidence.band
    return "medium" if band == "high" and (supported < 1 or not sure) else band
