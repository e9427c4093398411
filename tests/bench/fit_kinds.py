"""Fit the kinds of questions on files with a line "kind<TAB>question" for each question, a file for each writer.

It prints, for each file, how a model of the other files reads it. `--fit` writes the model of all files.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from pipelines.models.minilm import load_minilm
from pipelines.query.question.kind import KINDS_FILE, OTHER, SURE, Array, KindModel, grams, question_vectors
from tests.bench import show

_STRENGTH = 12.0  # the inverse of the L2 penalty; of 3, 10 and 30 the best between writers
_LEAST = 2  # questions that must hold a word or a pair of words


def read(path: Path) -> list[tuple[str, str]]:
    """(kind, question) of each line."""
    lines = (line.partition("\t") for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line)
    return [(kind, question) for kind, _, question in lines]


def vectors(questions: Sequence[str]) -> Array:
    """(n, 384): the unit means of the word pieces of each question."""
    return np.stack(question_vectors(load_minilm().embed_pieces(questions)))


def fit(questions: Sequence[tuple[str, str]], dense: Array) -> KindModel:
    """The model with the greatest likelihood less its L2 penalty."""
    kinds = tuple(sorted({kind for kind, _ in questions}))
    counts = Counter(gram for _, question in questions for gram in grams(question))
    places = {gram: place for place, gram in enumerate(sorted(g for g, n in counts.items() if n >= _LEAST))}
    held = np.zeros((len(questions), len(places)), np.float32)
    for row, (_, question) in enumerate(questions):
        own = [places[gram] for gram in grams(question) if gram in places]
        held[row, own] = 1 / np.sqrt(max(len(own), 1))
    signals = np.hstack([held, dense, np.ones((len(questions), 1), np.float32)])
    wanted = np.eye(len(kinds), dtype=np.float32)[[kinds.index(kind) for kind, _ in questions]]

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(signals.shape[1], len(kinds)).astype(np.float32)
        scores = signals @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        told = odds / odds.sum(axis=1, keepdims=True)
        kept = np.vstack([weights[:-1], np.zeros((1, len(kinds)), np.float32)])
        cost = -_STRENGTH * float(np.log((told * wanted).sum(axis=1) + 1e-12).sum()) + 0.5 * float((kept**2).sum())
        return cost, (_STRENGTH * (signals.T @ (told - wanted)) + kept).ravel().astype(np.float64)

    best = minimize(
        loss, np.zeros(signals.shape[1] * len(kinds)), jac=True, method="L-BFGS-B", options={"maxiter": 200}
    )
    weights = best.x.reshape(signals.shape[1], len(kinds)).astype(np.float32)
    return KindModel(kinds, places, weights[: len(places)], weights[len(places) : -1], weights[-1])


def report(model: KindModel, questions: Sequence[tuple[str, str]], dense: Array) -> str:
    """How the model reads these questions."""
    found = [model.kind(question, vector) for (_, question), vector in zip(questions, dense, strict=True)]
    right = [own.name == kind for own, (kind, _) in zip(found, questions, strict=True)]
    sure = [at for at, own in enumerate(found) if own.is_sure]
    known = [at for at, (kind, _) in enumerate(questions) if kind != OTHER]
    others = [at for at, (kind, _) in enumerate(questions) if kind == OTHER]
    told = sum(right[at] for at in sure)
    return (
        f"{len(questions)} questions: right {np.mean(right):.3f}; taken for a kind (from {SURE}): right "
        f"{told / len(sure):.3f} of {len(sure)}, {told / len(known):.3f} of those of a kind, "
        f"{len(set(sure) & set(others)) / len(others):.3f} of the others"
    )


def main(arguments: Sequence[str]) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fit_kinds", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--fit", action="store_true", help=f"write {KINDS_FILE.name}")
    chosen = parser.parse_args(arguments)
    by_file = [read(path) for path in chosen.files]
    dense = [vectors([question for _, question in questions]) for questions in by_file]
    for at, path in enumerate(chosen.files):
        rest = [place for place in range(len(by_file)) if place != at]
        model = fit([each for place in rest for each in by_file[place]], np.vstack([dense[place] for place in rest]))
        show({path.name: report(model, by_file[at], dense[at])})
    if chosen.fit:
        model = fit([each for questions in by_file for each in questions], np.vstack(dense))
        np.savez_compressed(
            KINDS_FILE,
            kinds=np.array(model.kinds),
            grams=np.array(list(model.places)),
            words=model.words.astype(np.float16),
            vector=model.vector.astype(np.float16),
            alone=model.alone,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
