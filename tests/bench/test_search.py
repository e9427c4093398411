"""Vectors of corpora that are too large to be embedded."""

import numpy as np
import pytest

from tests.bench import search


def test_later_texts_have_vectors_near_those_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_EMBEDDED", 40)
    asked: list[str] = []

    def model(texts: list[str]) -> list[np.ndarray]:
        asked.extend(texts)
        return [np.eye(50, dtype=np.float32)[[int(text)]] for text in texts]

    embed = search.perturbing(model)
    first = np.concatenate([*embed([str(n) for n in range(20)]), *embed([str(n) for n in range(20, 40)])])
    later = np.concatenate(embed([str(n) for n in range(40, 100)]))
    assert (len(asked), later.shape) == (40, (60, 50))
    assert np.linalg.norm(later, axis=1) == pytest.approx(1, abs=1e-6)
    assert ((later @ first.T).max(axis=1) > 0.95).all()
    assert len(np.unique(later, axis=0)) == 60
