"""Deterministic vectors from hashed words and letter trigrams: no model, for tests."""

import hashlib
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def hashed_vector(text: str, dimension: int) -> NDArray[np.float32]:
    """A unit vector that depends on the text alone; texts that share words or parts of words are near each other.

    Every feature adds or subtracts one at a place that its hash names. A text without words has a vector too.

    Source: Weinberger et al., ICML 2009, doi:10.1145/1553374.1553516.
    """
    vector = np.zeros(dimension, np.float32)
    for feature in _features(text):
        code = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        vector[(code >> 1) % dimension] += 1 - 2 * (code & 1)
    length = float(np.linalg.norm(vector))
    if not length:
        vector[0] = length = 1.0
    return vector / np.float32(length)


def _features(text: str) -> Iterator[str]:
    for word in re.findall(r"\w+", text.lower()):
        yield f"={word}"
        padded = f" {word} "
        yield from (padded[start : start + 3] for start in range(len(padded) - 2))
