"""The kind of question that a visitor asks about a person, by a linear model over its words and its vector."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.models.minilm import Pieces
from pipelines.text import fold

KINDS_FILE = Path(__file__).with_name("question_kinds.npz")
OTHER = "other"  # a particular fact of a document, how to do something, another person: what passages answer
_CERTAIN = 0.9
_LEADING = 0.3  # log-odds; less has a word that only stands beside such questions
SURE = 0.5  # probability from which a question is taken for one of its kind

Array = NDArray[np.float32]


class Kind(NamedTuple):
    """A kind of question, and its probability (0..1)."""

    name: str
    probability: float

    @property
    def is_certain(self) -> bool:
        """True if words that lead to no kind may stand in the question."""
        return self.is_sure and self.probability >= _CERTAIN

    @property
    def is_sure(self) -> bool:
        """True if the question is to be answered as one of this kind."""
        return self.name != OTHER and self.probability >= SURE


class KindModel(NamedTuple):
    """Weights of a multinomial logistic regression, for each kind: by word or pair, by the vector, and alone."""

    kinds: tuple[str, ...]
    places: dict[str, int]
    words: Array
    vector: Array
    alone: Array

    def kind(self, question: str, vector: Array) -> Kind:
        """The likeliest kind of a question with this unit vector, of shape (384,)."""
        held = [self.places[gram] for gram in grams(question) if gram in self.places]
        scores = vector @ self.vector + self.alone
        if held:
            scores = scores + self.words[held].sum(axis=0) / np.sqrt(len(held))
        odds = np.exp(scores - scores.max())
        best = int(odds.argmax())
        return Kind(self.kinds[best], float(odds[best] / odds.sum()))

    def leads_to(self, word: str, kind: str) -> bool:
        """True if a word by itself makes a kind clearly likelier."""
        place = self.places.get(word)
        return place is not None and float(self.words[place, self.kinds.index(kind)]) > _LEADING


def question_vectors(pieces: Sequence[Pieces]) -> list[Array]:
    """The unit means of the word pieces of each question, of shape (384,)."""
    sums = [each.vectors.sum(axis=0) for each in pieces]
    return [total / max(float(np.linalg.norm(total)), 1e-9) for total in sums]


def grams(question: str) -> tuple[str, ...]:
    """The folded words of a question, its pairs of neighbouring words, and its first word as such, each once."""
    said = "".join(letter if letter.isalnum() else " " for letter in fold(question).replace("'", "")).split()
    pairs = (f"{one} {other}" for one, other in pairwise(said))
    return tuple(dict.fromkeys([*said, *pairs, *(f"^{word}" for word in said[:1])]))


@cache
def kind_model() -> KindModel:
    """The packaged model, as `python -m tests.bench.fit_kinds` writes it."""
    with np.load(KINDS_FILE) as stored:
        return KindModel(
            tuple(map(str, stored["kinds"])),
            {str(gram): place for place, gram in enumerate(stored["grams"])},
            *(stored[name].astype(np.float32) for name in ("words", "vector", "alone")),
        )
