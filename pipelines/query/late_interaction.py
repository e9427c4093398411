"""How well a text answers a question, by the likeness of their word pieces: late interaction with fitted weights."""

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WEIGHTS_FILE = Path(__file__).with_name("piece_weights.json")

Array = NDArray[np.float32]


@cache
def piece_weights() -> Array:
    """(384,): its product with a piece's vector is the log of the piece's weight; made by `tests.bench.fit_pieces`."""
    return np.array(json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["weights"], np.float32)


def weighted_nearest(weights: Array, cosines: Array) -> float:
    """The weighted mean over a question's pieces (rows) of the greatest cosine to a text's (columns); 0 without any.

    Source: Khattab and Zaharia 2020, ColBERT, doi:10.1145/3397271.3401075, with a mean in the place of the sum.
    """
    return float(weights @ cosines.max(axis=1)) if cosines.shape[1] else 0.0


def normalised(vectors: Array) -> Array:
    """The rows with a length of 1."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


def softmax(values: Array) -> Array:
    """Positive weights with a sum of 1."""
    odds = np.exp(values - values.max())
    return np.asarray(odds / odds.sum(), np.float32)
