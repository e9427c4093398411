"""MinHash signatures of texts: how alike two texts are, told from 512 bytes of each."""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.text import fold

Signature = NDArray[np.uint32]

LEAST = 18  # shingles, which are 20 words: a shorter text says too little to be called a copy
PERMUTATIONS = 128
_SEED = 1
ROWS = 4  # of a band: two texts that are alike by .7 share one of the 32 bands in all but 2 of 10,000 cases
_WORD = re.compile(r"\w+")
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_BAND_MIX = np.array([0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3], dtype=np.uint64)


def shingles(text: str) -> NDArray[np.uint32]:
    """The hashes of all three words that follow on each other, each once, ascending; none for fewer than three words.

    Case, accents and punctuation make no difference.
    """
    words = _WORD.findall(fold(text))
    if len(words) < 3:
        return np.empty(0, dtype=np.uint32)
    hashes = np.fromiter(map(zlib.crc32, map(str.encode, words)), dtype=np.uint64, count=len(words))
    mixed = sum((hashes[place : len(words) - 2 + place] * _MIX[place] for place in range(3)), np.uint64(0))
    return np.unique((np.asarray(mixed) >> np.uint64(32)).astype(np.uint32))


def signatures(hashed: Sequence[NDArray[np.uint32]]) -> list[Signature | None]:
    """The signature of each set of shingles, (128,); None for an empty one.

    They are those of datasketch's MinHash ("affine32", seed 1), which takes half a second to import, and ten times as
    long for a set. Source: Broder, SEQUENCES 1997, doi:10.1109/SEQUEN.1997.666900.
    """
    factors, offsets = _permutations()
    return [(_mixed(each)[:, None] * factors + offsets).min(axis=0) if len(each) else None for each in hashed]


@lru_cache(maxsize=1)
def _permutations() -> tuple[Signature, Signature]:
    """The odd factors and the offsets of 128 permutations of the numbers of 32 bits."""
    drawn = np.random.RandomState(_SEED)
    factors = drawn.randint(0, 1 << 31, PERMUTATIONS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    return factors, drawn.randint(0, 1 << 32, PERMUTATIONS, dtype=np.uint32)


def _mixed(hashes: Signature) -> Signature:
    """The hashes behind MurmurHash3's last step, so that neighbours come to stand far apart."""
    mixed = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return np.asarray(mixed ^ (mixed >> np.uint32(16)))


def joint(parts: Sequence[Signature | None]) -> Signature | None:
    """The signature of the union of some sets, from their signatures."""
    some = [part for part in parts if part is not None]
    return np.minimum.reduce(some) if some else None


def bands(signature: Signature) -> list[int]:
    """32 numbers of 64 bits: texts that are alike share some of them, others hardly any."""
    rows = signature.astype(np.uint64).reshape(-1, ROWS)
    places = np.arange(len(rows), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (rows * _BAND_MIX).sum(axis=1, dtype=np.uint64) + places
    mixed ^= mixed >> np.uint64(29)
    return [int(value) for value in (mixed * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)]


def likeness(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The estimated Jaccard similarity (0..1) of the shingles behind signatures, along the last axis.

    Its standard error is sqrt(s (1 - s) / 128), at most 0.045. Source: Broder, SEQUENCES 1997,
    doi:10.1109/SEQUEN.1997.666900.
    """
    return np.asarray((one == other).mean(axis=-1))
