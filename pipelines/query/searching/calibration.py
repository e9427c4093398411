"""What turns signals into a probability: one set of parameters for each embedding model, and one without any."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Bound:
    """A probability, and the shares (0..1) of labelled questions that reached it in the fit; None = a guess."""

    at: float
    answerable: float | None = None
    unanswerable: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model: 1 / (1 + exp(-(intercept + sum of weight * signal))).

    Attributes:
        far: Cosine similarity, on the model's scale, of a question and a text about something else.
        near: The same of a question and the passage that answers it.
        intercept: The log-odds when every signal is 0.
        weights: By signal; see `pipelines.query.searching.assess.signals`.
        floor: From here a question counts as answerable.
        high: From here its evidence is called high.
    """

    far: float
    near: float
    intercept: float
    weights: Mapping[str, float]
    floor: Bound
    high: Bound

    def on_scale(self, far: float, near: float) -> "Calibration":
        """A guess for a model with another scale of similarities: the same weights, and bounds without rates."""
        return replace(self, far=far, near=near, floor=Bound(self.floor.at), high=Bound(self.high.at))


# Fitted by `footnote eval answerability mtrag_un/dev.jsonl anthropic_docs cacm cisi scifact --fit`: 202 questions of
# dialogues, and 1,037 that were asked with and without the passages that answer them. Rates are means over the sets.
MINILM = Calibration(
    far=0.05,
    near=0.6,
    intercept=-4.41,
    weights={"support": 2.395, "contrast": 0.266, "agreement": 0.59},
    floor=Bound(0.269, 0.953, 0.770),
    high=Bound(0.724, 0.308, 0.049),
)
# The same command with FOOTNOTE_RETRIEVAL__MODE=sparse: for searches without vectors.
LEXICAL = Calibration(
    far=0.0,
    near=1.0,
    intercept=-0.942,
    weights={"bm25": 2.833},
    floor=Bound(0.354, 0.901, 0.838),
    high=Bound(0.657, 0.206, 0.048),
)
# Hashed words have no meaning to measure; half of a question's words in one passage is enough for a test.
HASHED = Calibration(0.0, 1.0, -3.5, {"support": 10.0}, Bound(0.5), Bound(0.9))

# Scales of models that could not be run here are guessed from published similarities: fit them on your own questions.
CALIBRATIONS: dict[str, Calibration] = {
    "all-MiniLM-L6-v2": MINILM,
    "text-embedding-3-small": MINILM.on_scale(0.1, 0.55),
    "text-embedding-3-large": MINILM.on_scale(0.08, 0.55),
    "text-embedding-ada-002": MINILM.on_scale(0.7, 0.87),
    "hashed": HASHED,
}
DEFAULT = CALIBRATIONS["text-embedding-3-small"]


def calibration(model: str, *, dense: bool = True) -> Calibration:
    """The parameters for an embedding model, or for a search without vectors."""
    return CALIBRATIONS.get(model, DEFAULT) if dense else LEXICAL
