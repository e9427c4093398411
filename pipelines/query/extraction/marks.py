"""MARKS: how well each line bears on a question, by signals that are weighed to one score."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from pipelines.query.extraction.aim import Aim
from pipelines.query.extraction.fitting import EXACT, fit
from pipelines.query.extraction.lines import Line
from pipelines.store.tokens import tokenise

_NOTHING = frozenset[str]()
Array = NDArray[np.float32]
Signals = Mapping[str, Array]

_DOCUMENT = 0.6  # of what a line is about, where only another place of its document names it
_TITLE = 2.0  # off the score of what reads as a heading
_TOGETHER = 0.9  # how far an item of a list is drawn towards the best
_ORDINAL = re.compile(
    r"(?:and |but |so )?(?:the )?(?:first|second|third|fourth|fifth|last|then|next|also|another|finally|lastly|one|two)"
    r"\b",
    re.IGNORECASE,
)
_IS_A = re.compile(r"\b(?:is|are|was|were) (?:an?|the|one|my|our)\b")
_OWN = frozenset({"resume", "linkedin"})
# A conditional logistic fit of which lines hold a fact of a portfolio topic, among those found for it: the fit on one
# half of the topics finds on the other 72 of 90, that on all 75.
WEIGHTS: Mapping[str, float] = {
    "placed": 2.3, "near": 0.75, "led": 1.0, "alike": 0.7, "alike_pair": 1.7, "alike_near": 0.85, "rank": 1.1,
    "score": 1.4, "fit": 1.1, "value": 1.8, "headed": 1.25, "passage": 1.95,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ruler:
    """What lines are measured with.

    Attributes:
        weight: The idf of a term.
        vectors: Unit vectors of questions and of texts, in their order; with no columns when there is no model.
        far, near: The scale of the model's similarities; see `Calibration`.
    """

    weight: Callable[[str], float]
    vectors: Callable[[Sequence[str], Sequence[str]], tuple[Array, Array]]
    far: float
    near: float

    def over(self, questions: Sequence[str], texts: Sequence[str]) -> "Ruler":
        """This ruler for these texts alone, with their vectors and those of the questions made once."""
        asked, told = self.vectors(questions, texts)
        places = {question: place for place, question in enumerate(questions)}
        return replace(self, vectors=lambda some, _: (asked[[places[question] for question in some]], told))


def measure(
    lines: Sequence[Line], question: str, aim: Aim, ranking: Sequence[NodeWithScore], ruler: Ruler
) -> tuple[Signals, Array]:
    """(signals (n,) by name, the lines' unit vectors) for n lines.

    All lie in 0..1 but for likenesses, which are on the model's scale.

    - `own`, `led`, `near`, `placed`: the share of the question's term weight that stands in the line; in it and the
      one before; in it and its neighbours; in it and its headings.
    - `alike`, `alike_pair`, `alike_near`: likeness to the question of the line; of it and the one before; of five.
    - `rank`, `score`: 1 / place of its passage in the ranking, and the passage's score by the best one's.
    - `headed`: the share of the weight of what is asked that stands in the heading or lead-in right above it.
    - `fit`: whether it holds the kind of value that is asked for.
    - `value`: the same where that is a number, a date or a person, which a line either holds or does not; else 0.
    - `passage`: the best `near` of its source.
    - `on`: the share of the weight of what the question names that stands in the line's surroundings, or a part of the
      share in all that is shown of its document.
    - `typed`: the same of the names that no earlier turn said.
    - `focus`: the share of the weight of what it asks about that, that stands in the line, its neighbours
      and the heading right above it.
    - `about`: likeness of the line to the question without what it names.
    """
    asked, texts = ruler.vectors([question, aim.about or question], [line.text for line in lines])
    whole, about = (_on_scale(asked[0], ruler), _on_scale(asked[1], ruler)) if asked.size else (_none, _none)
    rank, score = _ranks(lines, ranking)
    near = _shares([line.near | line.headings for line in lines], aim.terms, ruler)
    fitting = np.array([_fit(aim, line) for line in lines], dtype=np.float32)
    signals = {
        "own": _shares([line.own for line in lines], aim.terms, ruler),
        "led": _shares([line.own | line.before for line in lines], aim.terms, ruler),
        "near": near,
        "placed": _shares([line.own | line.headings for line in lines], aim.terms, ruler),
        "alike": whole(texts),
        "alike_pair": whole(_together(lines, texts, 1, 0)),
        "alike_near": whole(_together(lines, texts, 2, 2)),
        "rank": rank,
        "score": score,
        "headed": _shares([line.lead if aim.focus else _NOTHING for line in lines], aim.focus or aim.names, ruler),
        "fit": fitting,
        "value": fitting if aim.kind in EXACT and aim.focus else np.zeros_like(fitting),
        "passage": _best_of_source(lines, near),
        "on": _about(lines, aim.names, ruler),
        "typed": _about(lines, [name for name in aim.names if name not in aim.carried], ruler),
        "focus": _shares([line.near | line.lead for line in lines], aim.focus, ruler),
        "about": about(texts),
    }
    return signals, texts


def _fit(aim: Aim, line: Line) -> float:
    """As `fit`; what something is, is said by its document's first line, or where it is called a thing.

    A line of a person's resume says who did it without the name, unless that person is asked about.
    """
    if aim.kind == "what" and aim.names and not aim.focus:
        return 1.0 if line.opens or (_IS_A.search(line.text) and not line.own.isdisjoint(aim.names)) else 0.0
    own = aim.kind == "who" and aim.focus and line.source.category in _OWN
    return 1.0 if own and set(tokenise(line.source.title)).isdisjoint(aim.names) else fit(aim, line.text)


def likeliest(
    lines: Sequence[Line], aim: Aim, ranking: Sequence[NodeWithScore], ruler: Ruler, limit: int
) -> list[Line]:
    """At most `limit` of the lines, in their order: those that are worth a vector, by their words and their passage."""
    if len(lines) <= limit:
        return list(lines)
    rank, score = _ranks(lines, ranking)
    own = _shares([line.own for line in lines], aim.terms, ruler)
    near = _shares([line.near | line.headings for line in lines], aim.terms, ruler)
    fitting = np.array([_fit(aim, line) for line in lines], dtype=np.float32)
    kept = set(np.argsort(-(own + 1.5 * near + rank + score + 0.5 * fitting), kind="stable")[:limit].tolist())
    return [line for at, line in enumerate(lines) if at in kept]


def scores(lines: Sequence[Line], signals: Signals, aim: Aim) -> Array:
    """How well each line (n,) answers: the weighed sum of its signals, less where it reads as a heading.

    Where several things are asked for, the items of a list share most of the score of the best of them.
    """
    score = np.asarray(sum(weight * signals[name] for name, weight in WEIGHTS.items()), dtype=np.float32)
    score -= _TITLE * np.array([line.title for line in lines], dtype=np.float32)
    return _as_lists(lines, score) if aim.listed else score


def _as_lists(lines: Sequence[Line], score: Array) -> Array:
    """The scores with those of a list's items drawn towards the best of them, its lead-in among them."""
    lists: dict[tuple[int, str], list[int]] = {}
    for at, line in enumerate(lines):
        if line.item or _ORDINAL.match(line.text):
            lists.setdefault((line.source.n, line.under if line.item else "in words"), []).append(at)
    drawn = score.copy()
    for items in lists.values():
        first = items[0]
        lead = [at for at in range(max(first - 2, 0), first) if lines[at].source.n == lines[first].source.n]
        best = max(score[at] for at in (*lead, *items))
        if len(items) > 1:
            drawn[items] += _TOGETHER * (best - score[items])
    return drawn


def _shares(held: Sequence[frozenset[str]], terms: Sequence[str] | frozenset[str], ruler: Ruler) -> Array:
    """The share (0..1) of the terms' weight in each set; 1 where there are no terms."""
    weights = {term: ruler.weight(term) for term in terms}
    total = sum(weights.values())
    if not total:
        return np.ones(len(held), dtype=np.float32)
    return np.array([sum(weights[term] for term in weights if term in own) / total for own in held], dtype=np.float32)


def _about(lines: Sequence[Line], names: Sequence[str], ruler: Ruler) -> Array:
    """The share of the names' weight around each line, or less of it where another place of its document has more."""
    near = _shares([line.around for line in lines], names, ruler)
    far = _shares([line.document for line in lines], names, ruler)
    return np.asarray(np.maximum(near, _DOCUMENT * far), dtype=np.float32)


def _best_of_source(lines: Sequence[Line], marks: Array) -> Array:
    best: dict[int, float] = {}
    for line, mark in zip(lines, marks.tolist(), strict=True):
        best[line.source.n] = max(best.get(line.source.n, 0.0), mark)
    return np.array([best[line.source.n] for line in lines], dtype=np.float32)


def _none(texts: Array) -> Array:
    return np.zeros(len(texts), dtype=np.float32)


def _on_scale(asked: Array, ruler: Ruler) -> Callable[[Array], Array]:
    span = ruler.near - ruler.far
    return lambda texts: np.asarray(np.clip((texts @ asked - ruler.far) / span, -0.5, 1.5), dtype=np.float32)


def _together(lines: Sequence[Line], vectors: Array, before: int, after: int) -> Array:
    """Unit vectors of the lines with so many neighbours of their source: the means of theirs."""
    found = []
    for at, line in enumerate(lines):
        first, last = max(at - before, 0), min(at + after, len(lines) - 1)
        same = [
            place for place in range(first, last + 1)
            if lines[place].source.n == line.source.n and -before <= lines[place].place - line.place <= after
        ]  # fmt: skip
        mean = vectors[same].sum(axis=0)
        found.append(mean / max(float(np.linalg.norm(mean)), 1e-9))
    return np.asarray(found, dtype=np.float32)


def _ranks(lines: Sequence[Line], ranking: Sequence[NodeWithScore]) -> tuple[Array, Array]:
    """(1 / place of the best passage that a line stands in, that passage's share of the best score)."""
    best = max((hit.score or 0.0 for hit in ranking), default=0.0) or 1.0
    found = []
    for line in lines:
        at, document = line.source.start + line.start, line.source.document_id
        held = (
            (place, hit.score or 0.0)
            for place, hit in enumerate(ranking, start=1)
            if (meta := hit.node.metadata)["document_id"] == document and meta["start"] <= at < meta["end"]
        )
        place, score = next(held, (len(ranking) + 1, 0.0))
        found.append((1 / place, max(score, 0.0) / best))
    columns = np.array(found, dtype=np.float32).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]
