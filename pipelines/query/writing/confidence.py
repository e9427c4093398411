"""CONFIDENCE: how sure a reader may be of an answer, by one rule over the evidence and the verdicts."""

import math
from collections.abc import Sequence

from pipelines.store.tokens import tokenise
from pipelines.types import Band, Evidence, Sentence

# Sums of two log-odds. Of extractive answers of each level, high 86 % (94 %), medium 79 % (84 %) and low 74 % (46 %)
# were right on the portfolio topics (on the dialogues of mtrag_un: were given to questions that have an answer).
_HIGH = 3.0
_LOW = 1.0
_SUPPORTED = 0.5  # share of the sentences below which an answer is hardly one
_HELD = 0.5  # share of the question's terms that one sentence must hold


def confidence(
    evidence: Evidence, sentences: Sequence[Sentence], terms: Sequence[str], answers: float | None = None
) -> Band:
    """high: every sentence is supported and the evidence is strong; low: most are not, or it is weak.

    Of a quotation it counts, with the strength of the evidence, how likely its lines answer. Of what a model wrote the
    band of the evidence counts, and it is never high when no one sentence holds half of the question's terms, or it has
    none: terms that are scattered over sentences about other things are no answer.

    Args:
        evidence: What the sentences were written from.
        sentences: With their verdicts.
        terms: The question's index terms.
        answers: The probability (0..1) that quoted lines answer; None for what a model wrote.
    """
    supported = sum(sentence.verdict == "supported" for sentence in sentences) / max(len(sentences), 1)
    if supported < _SUPPORTED:
        return "low"
    found = _of_model(evidence, sentences, terms) if answers is None else _of_lines(evidence, answers)
    return "medium" if found == "high" and supported < 1 else found


def _of_lines(evidence: Evidence, answers: float) -> Band:
    sure = _log_odds(answers) + _log_odds(evidence.strength)
    return "high" if sure >= _HIGH else "low" if sure < _LOW else "medium"


def _of_model(evidence: Evidence, sentences: Sequence[Sentence], terms: Sequence[str]) -> Band:
    spoken = [set(tokenise(sentence.text)) for sentence in sentences]
    held = max((sum(term in said for term in terms) / max(len(terms), 1) for said in spoken), default=0.0)
    return "medium" if evidence.band == "high" and held < _HELD else evidence.band


def _log_odds(probability: float) -> float:
    held = min(max(probability, 0.01), 0.99)
    return math.log(held / (1 - held))
