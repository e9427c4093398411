"""DISPLACED: a claim that says of one thing what its sources say of another."""

from collections.abc import Iterator

import numpy as np

from pipelines.query.verification.agree import clear, is_named, names_in, numbers_in
from pipelines.query.verification.claims import Alignment, Array
from pipelines.store.tokens import tokenise

_REST = 0.9  # of the words beside a detail, for a line to speak of the same


def displaced(claim: str, aligned: Alignment) -> bool:
    """Whether a line that holds nearly all else of a claim has another name or number in the place of one of its own.

    A claim that joins a detail of one sentence with the rest of another is told so: `Globex hired 12 people` of
    `Acme hired 12 people` and `Globex moved`. A line is read with the one before it, a name also with the headings.
    """
    others = {kind: np.array(list(_has_others(kind, claim, aligned))) for kind in ("name", "number")}
    inside = np.array([not line.is_head for line in aligned.lines])
    with_before = _with_before(aligned)
    for place, word in enumerate(aligned.words):
        own = aligned.held[:, place] > 0
        if not word.detail or not own.any() or (word.detail == "name" and own[~inside].any()):
            continue
        rest = aligned.weights.copy()
        rest[place] = 0.0
        near = with_before @ rest / max(rest.sum(), 1e-9)
        has = own if word.detail == "number" else with_before[:, place] > 0
        known = max(near[has & inside], default=0.0)
        if (inside & ~has & others[word.detail] & (near >= _REST) & (near > known)).any():
            return True
    return False


def _with_before(aligned: Alignment) -> Array:
    """What each line holds together with the line before it; headings go with none."""
    joined = aligned.held.copy()
    for own in aligned.of_each_source():
        joined[own.start + 2 : own.stop] = np.maximum(
            aligned.held[own.start + 2 : own.stop], aligned.held[own.start + 1 : own.stop - 1]
        )
    return joined


def _has_others(kind: str, claim: str, aligned: Alignment) -> Iterator[bool]:
    """Of each line, whether it has a number, or with the line before it a name, that the claim has not."""
    said = clear(claim)
    terms, numbers, before = set(tokenise(said)), numbers_in(said), False
    for line in aligned.lines:
        if kind == "number":
            yield any(number not in numbers for number in numbers_in(line.text))
        else:
            other = not line.is_head and any(not is_named(name, terms) for name in names_in(line.text))
            yield other or before
            before = other
