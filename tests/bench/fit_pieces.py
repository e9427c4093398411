"""Fit the weights of a question's word pieces on public pairs of questions and sentences; `--fit` writes them.

FOLDER holds `answers_<set>.jsonl.gz`: a pair a line with `a` (question), `b` (sentence), `score` (1 answers, 0 does
not) and `group` (page). One in ten groups is held out.
"""

import argparse
import gzip
import hashlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.models.minilm import MiniLM, load_minilm
from pipelines.query.late_interaction import WEIGHTS_FILE, normalised, softmax
from tests.bench import show

# Sets with a stated licence; see NOTICE.
SETS = ("clapnq", "covidqa", "hotpotqa", "selqa", "squad1", "tatqa")
_MOST, _MOST_HELD_OUT = 4000, 150  # questions of a set
_WRONG, _LEAST_WRONG = 4, 2  # sentences that do not answer, beside one that does
WIDTH = 384
_SCALE, _RATE, _PENALTY = 10.0, 5e-4, 0.04
_TOGETHER, _PASSES = 16, (1.0, 0.5, 0.2)  # questions a step; by pass over all, the share of the rate
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the vectors of its pieces (p, 384), and for each sentence the nearest cosines (n, p).

    The first sentence answers, the others do not.
    """

    pieces: Array
    near: Array


def nearest(asked: Array, held: Array) -> Array:
    """For each unit vector, the greatest cosine to one of the others, -1..1; 0 without others."""
    if not len(held):
        return np.zeros(len(asked), np.float32)
    return np.asarray((asked @ held.T).max(axis=1), np.float32)


def questions(folder: Path, name: str) -> tuple[list[list[str]], list[list[str]]]:
    """(to fit on, held out): each a question, a sentence that answers it, and some that do not."""
    pairs: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    with gzip.open(folder / f"answers_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for pair in map(json.loads, lines):
            held = pair["b"] if isinstance(pair["b"], str) else " ".join(pair["b"])
            pairs[pair["group"], pair["a"]][pair["score"] < 0.5].append(_titled(pair["group"], held))
    found: tuple[list[list[str]], list[list[str]]] = ([], [])
    chance = random.Random(name)
    for (group, question), (right, wrong) in pairs.items():
        if right and len(wrong) >= _LEAST_WRONG:
            chosen = [question, chance.choice(right), *chance.sample(wrong, min(_WRONG, len(wrong)))]
            found[_is_held_out(group)].append(chosen)
    for each, most in zip(found, (_MOST, _MOST_HELD_OUT), strict=True):
        chance.shuffle(each)
        del each[most:]
    return found


def _titled(group: str, text: str) -> str:
    """The text below the title of its page, where the group names one: as units stand below their heading."""
    kind, _, title = group.partition(":")
    return f"{title.replace('_', ' ')}: {text}" if kind in ("wp", "squad") and title else text


def _is_held_out(group: str) -> bool:
    return int(hashlib.sha1(group.encode(), usedforsecurity=False).hexdigest(), 16) % 10 == 0


def read(model: MiniLM, chosen: Sequence[Sequence[str]]) -> Iterator[Asked]:
    """The questions as the model reads them."""
    for question, *texts in chosen:
        pieces, *held = (each.vectors for each in model.embed_pieces((question, *texts)))
        asked = normalised(pieces)
        yield Asked(pieces.astype(np.float16), np.stack([nearest(asked, normalised(each)) for each in held]))


def fit(asked: Sequence[Asked]) -> Array:
    """(384,): the weights that maximise the probability of the sentence that answers among those given.

    Steps of Adam (Kingma and Ba 2015) over groups of 16 questions; the likenesses are scaled by a fitted factor.
    """
    chance, values = random.Random(1), np.append(np.zeros(WIDTH), _SCALE)
    mean, spread, step = np.zeros(WIDTH + 1), np.zeros(WIDTH + 1), 0
    rates = np.append(np.full(WIDTH, _RATE), _SCALE * _RATE)
    order = list(asked)
    for slower in _PASSES:
        chance.shuffle(order)
        for start in range(0, len(order), _TOGETHER):
            together, step = order[start : start + _TOGETHER], step + 1
            slope = sum(_slope(each, values) for each in together) / len(together)
            slope[:WIDTH] -= _PENALTY * values[:WIDTH]
            mean, spread = 0.9 * mean + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
            values += slower * rates * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
    return values[:WIDTH].astype(np.float32)


def _slope(asked: Asked, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slope (385,) of the log-likelihood of a question, by the weights and the scale."""
    share = softmax(asked.pieces @ values[:WIDTH].astype(np.float32))
    likeness = asked.near @ share
    off = -softmax(values[WIDTH] * likeness)
    off[0] += 1
    by_piece = values[WIDTH] * share * (off @ (asked.near - likeness[:, None]))
    return np.append(by_piece @ asked.pieces, off @ likeness).astype(np.float64)


def judged(asked: Sequence[Asked], weights: Array) -> dict[str, float]:
    """How often the sentence that answers is first, and its mean reciprocal rank."""
    ranks = []
    for each in asked:
        likeness = each.near @ softmax(each.pieces @ weights)
        ranks.append(int((likeness >= likeness[0]).sum()))
    return {"first": float(np.mean([rank == 1 for rank in ranks])), "MRR": float(np.mean([1 / rank for rank in ranks]))}


def main(arguments: Sequence[str]) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fit_pieces", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--fit", action="store_true", help=f"write {WEIGHTS_FILE.name}")
    chosen = parser.parse_args(arguments)
    model = load_minilm()
    fitted: list[Asked] = []
    held_out: list[Asked] = []
    for name in SETS:
        ours, theirs = questions(chosen.folder, name)
        fitted += read(model, ours)
        held_out += read(model, theirs)
    weights = fit(fitted)
    show({"questions": len(fitted), "plain": judged(held_out, weights * 0), "fitted": judged(held_out, weights)})
    if chosen.fit:
        rounded = [round(float(weight), 4) for weight in weights]
        WEIGHTS_FILE.write_text(json.dumps({"sets": SETS, "questions": len(fitted), "weights": rounded}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
