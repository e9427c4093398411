"""Pairs of terms that stand next to each other: of a question, and of nodes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from pipelines.store.postings import Integers

_DISTANCES = (1, 2)
_SECOND = 32  # bits


def with_pairs(weights: Mapping[str, float], order: Sequence[str]) -> dict[str, float]:
    """These term weights, and under `first second` each pair of neighbours in `order`, as heavy as its lighter term.

    Terms hold no space, so that a pair is never mistaken for a term. A pair of a term without weight is left out.
    """
    pairs = {
        f"{first} {second}": min(weights[first], weights[second])
        for first, second in pairwise(order)
        if first in weights and second in weights
    }
    return {**weights, **pairs}


def pair_key(first: int, second: int) -> int:
    """The one number of an ordered pair of term ids."""
    return first << _SECOND | second


def pairs_of(nodes: Sequence[Sequence[Sequence[int]]]) -> tuple[Integers, Integers]:
    """The key and the node of every ordered pair of terms that stand one or two places apart, as often as it stands.

    Nodes are sequences of fields, and these of term ids; no pair spans fields.

    Source: sequential dependence, Metzler, Croft, SIGIR 2005, doi:10.1145/1076034.1076115, with BM25 for the ordered
    window as in Rasolofo, Savoy, ECIR 2003, doi:10.1007/3-540-36618-0_15.
    """
    sizes = np.array([len(field) for node in nodes for field in node], dtype=np.int64)
    owners = np.array([row for row, node in enumerate(nodes) for _ in node], dtype=np.int64)
    flat = np.fromiter((term for node in nodes for field in node for term in field), np.int64, count=int(sizes.sum()))
    field_of = np.repeat(np.arange(len(sizes)), sizes)
    keys, rows = [flat[:0]], [flat[:0]]
    for distance in _DISTANCES:
        together = field_of[:-distance] == field_of[distance:]
        keys.append((flat[:-distance] << _SECOND | flat[distance:])[together])
        rows.append(owners[field_of[:-distance]][together])
    return np.concatenate(keys), np.concatenate(rows)
