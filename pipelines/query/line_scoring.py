"""Score how well each quotable line answers a question, by weighted signals."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from pipelines.errors import FootnoteError
from pipelines.models.embedding import piece_vectors
from pipelines.observe import log_failure
from pipelines.query.evidence import calibration
from pipelines.query.late_interaction import late_interaction
from pipelines.query.question_type import EXACT_KINDS, QuestionType, kind_fit
from pipelines.query.quotable_lines import QuotableLine
from pipelines.store.tokens import tokenise

_NOTHING = frozenset[str]()
Array = NDArray[np.float32]
Embedded = TypeVar("Embedded")
Signals = Mapping[str, Array]

_DOCUMENT_SHARE = 0.6  # of what a line is about, where only another place of its document names it
_HEADING_PENALTY = 2.0  # off the score of what reads as a heading
_LIST_PULL = 0.9  # how far an item of a list is drawn towards the best
_ORDINAL = re.compile(
    r"(?:and |but |so )?(?:the )?(?:first|second|third|fourth|fifth|last|then|next|also|another|finally|lastly|one|two)"
    r"\b",
    re.IGNORECASE,
)
_IS_A = re.compile(r"\b(?:is|are|was|were) (?:an?|the|one|my|our)\b")
_FIRST_PERSON = frozenset({"resume", "linkedin"})
# A conditional logistic fit of which lines hold a fact of a portfolio topic, among those found for it: the fit on one
# half of the topics finds on the other 72 of 90, that on all 75.
WEIGHTS: Mapping[str, float] = {
    "placed": 2.3, "near": 0.75, "led": 1.0, "alike": 0.7, "alike_pair": 1.7, "alike_near": 0.85, "rank": 1.1,
    "score": 1.4, "fit": 1.1, "value": 1.8, "headed": 1.25, "passage": 1.95,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LineScorer:
    """Term weights and vectors for scoring lines.

    Attributes:
        weight: Inverse document frequency of a term.
        vectors: Unit vectors of the questions and of the texts, in order; zero columns without a model.
        interaction: The late interaction (n,) of a question with n texts, -1..1; zeros without a model.
        far, near: Similarities of unrelated and of matching texts for this model; see `Calibration`.
    """

    weight: Callable[[str], float]
    vectors: Callable[[Sequence[str], Sequence[str]], tuple[Array, Array]]
    interaction: Callable[[str, Sequence[str]], Array]
    far: float
    near: float

    def likeness(self, cosine: float) -> float:
        """A cosine on the model's scale: 0 for unrelated texts, 1 for matching ones; -0.5 to 1.5."""
        return min(max((cosine - self.far) / (self.near - self.far), -0.5), 1.5)


def line_signals(
    lines: Sequence[QuotableLine],
    question: str,
    wanted: QuestionType,
    ranking: Sequence[NodeWithScore],
    scorer: LineScorer,
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
    asked, texts = scorer.vectors([question, wanted.about or question], [line.text for line in lines])
    whole, about = (
        (_likeness(asked[0], scorer), _likeness(asked[1], scorer)) if asked.size else (_no_likeness, _no_likeness)
    )
    rank, score = _passage_ranks(lines, ranking)
    near = _weight_shares([line.near | line.headings for line in lines], wanted.terms, scorer)
    fitting = np.array([_line_fit(wanted, line) for line in lines], dtype=np.float32)
    signals = {
        "own": _weight_shares([line.own for line in lines], wanted.terms, scorer),
        "led": _weight_shares([line.own | line.before for line in lines], wanted.terms, scorer),
        "near": near,
        "placed": _weight_shares([line.own | line.headings for line in lines], wanted.terms, scorer),
        "alike": whole(texts),
        "alike_pair": whole(_neighbourhood_vectors(lines, texts, 1, 0)),
        "alike_near": whole(_neighbourhood_vectors(lines, texts, 2, 2)),
        "rank": rank,
        "score": score,
        "headed": _weight_shares(
            [line.lead if wanted.focus else _NOTHING for line in lines], wanted.focus or wanted.names, scorer
        ),
        "fit": fitting,
        "value": fitting if wanted.kind in EXACT_KINDS and wanted.focus else np.zeros_like(fitting),
        "passage": _best_of_source(lines, near),
        "on": _surrounding_shares(lines, wanted.names, scorer),
        "typed": _surrounding_shares(lines, [name for name in wanted.names if name not in wanted.carried], scorer),
        "focus": _weight_shares([line.near | line.lead for line in lines], wanted.focus, scorer),
        "about": about(texts),
    }
    return signals, texts


def _line_fit(wanted: QuestionType, line: QuotableLine) -> float:
    """As `kind_fit`, with two exceptions.

    "What is X" fits the first line of a document and lines of the form "X is a ...". "Who did X" fits any line of a
    resume or profile, unless the question names its owner.
    """
    if wanted.kind == "what" and wanted.names and not wanted.focus:
        return 1.0 if line.opens or (_IS_A.search(line.text) and not line.own.isdisjoint(wanted.names)) else 0.0
    own = wanted.kind == "who" and wanted.focus and line.source.category in _FIRST_PERSON
    return 1.0 if own and set(tokenise(line.source.title)).isdisjoint(wanted.names) else kind_fit(wanted, line.text)


def shortlist(
    lines: Sequence[QuotableLine],
    wanted: QuestionType,
    ranking: Sequence[NodeWithScore],
    scorer: LineScorer,
    limit: int,
) -> list[QuotableLine]:
    """At most `limit` lines in their order, chosen by terms and passage rank, so that fewer are embedded."""
    if len(lines) <= limit:
        return list(lines)
    rank, score = _passage_ranks(lines, ranking)
    own = _weight_shares([line.own for line in lines], wanted.terms, scorer)
    near = _weight_shares([line.near | line.headings for line in lines], wanted.terms, scorer)
    fitting = np.array([_line_fit(wanted, line) for line in lines], dtype=np.float32)
    kept = set(np.argsort(-(own + 1.5 * near + rank + score + 0.5 * fitting), kind="stable")[:limit].tolist())
    return [line for at, line in enumerate(lines) if at in kept]


def line_scores(lines: Sequence[QuotableLine], signals: Signals, wanted: QuestionType) -> Array:
    """Score (n,) of each line: the weighted sum of its signals, with a penalty for lines that read as a heading.

    If several things are asked for, the items of a list are pulled towards the score of the best item.
    """
    score = np.asarray(sum(weight * signals[name] for name, weight in WEIGHTS.items()), dtype=np.float32)
    score -= _HEADING_PENALTY * np.array([line.title for line in lines], dtype=np.float32)
    return _pull_list_items(lines, score) if wanted.listed else score


def _pull_list_items(lines: Sequence[QuotableLine], score: Array) -> Array:
    """The scores, with the items of each list pulled towards the best of them and of the list's lead-in."""
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
            drawn[items] += _LIST_PULL * (best - score[items])
    return drawn


def _weight_shares(held: Sequence[frozenset[str]], terms: Sequence[str] | frozenset[str], scorer: LineScorer) -> Array:
    """The share (0..1) of the terms' weight in each set; 1 where there are no terms."""
    weights = {term: scorer.weight(term) for term in terms}
    total = sum(weights.values())
    if not total:
        return np.ones(len(held), dtype=np.float32)
    return np.array([sum(weights[term] for term in weights if term in own) / total for own in held], dtype=np.float32)


def _surrounding_shares(lines: Sequence[QuotableLine], names: Sequence[str], scorer: LineScorer) -> Array:
    """The share of the names' weight around each line, or 0.6 of the share in its whole document if that is more."""
    near = _weight_shares([line.around for line in lines], names, scorer)
    far = _weight_shares([line.document for line in lines], names, scorer)
    return np.asarray(np.maximum(near, _DOCUMENT_SHARE * far), dtype=np.float32)


def _best_of_source(lines: Sequence[QuotableLine], marks: Array) -> Array:
    best: dict[int, float] = {}
    for line, mark in zip(lines, marks.tolist(), strict=True):
        best[line.source.n] = max(best.get(line.source.n, 0.0), mark)
    return np.array([best[line.source.n] for line in lines], dtype=np.float32)


def _no_likeness(texts: Array) -> Array:
    return np.zeros(len(texts), dtype=np.float32)


def _likeness(asked: Array, scorer: LineScorer) -> Callable[[Array], Array]:
    span = scorer.near - scorer.far
    return lambda texts: np.asarray(np.clip((texts @ asked - scorer.far) / span, -0.5, 1.5), dtype=np.float32)


def _neighbourhood_vectors(lines: Sequence[QuotableLine], vectors: Array, before: int, after: int) -> Array:
    """Unit vectors of the mean of each line and its neighbours in the same source."""
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


def _passage_ranks(lines: Sequence[QuotableLine], ranking: Sequence[NodeWithScore]) -> tuple[Array, Array]:
    """(reciprocal rank of the first passage that holds the line, that passage's share of the best score)."""
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


def build_line_scorer(embed_model: BaseEmbedding, model: str, weight: Callable[[str], float]) -> LineScorer:
    """A scorer by terms and similarities; by terms alone if the model cannot be reached or used.

    Args:
        embed_model: Makes the vectors.
        model: Its name, whose scale is used.
        weight: The idf of a term.
    """

    asked_vectors = _once(lambda questions: [embed_model.get_query_embedding(question) for question in questions])
    text_vectors = _once(embed_model.get_text_embedding_batch)
    pieces = _once(lambda texts: [each.vectors for each in piece_vectors(embed_model, texts)])

    def vectors(questions: Sequence[str], texts: Sequence[str]) -> tuple[Array, Array]:
        try:
            asked, embedded = asked_vectors(questions), text_vectors(texts)
        except FootnoteError as error:
            log_failure("sentences ranked without similarity", error)
            return _no_vectors(questions, texts)
        if len({len(vector) for vector in (*asked, *embedded)}) > 1 or not np.isfinite(asked).all():
            return _no_vectors(questions, texts)  # the search has noted it
        return np.asarray(asked, dtype=np.float32), np.asarray(embedded, dtype=np.float32)

    def interaction(question: str, texts: Sequence[str]) -> Array:
        try:
            asked, *held = pieces((question, *texts))
        except FootnoteError as error:
            log_failure("units ranked without late interaction", error)
            return _no_interaction(question, texts)
        return late_interaction(asked, held)

    scale = calibration(model)
    return LineScorer(weight, vectors, interaction, scale.far, scale.near)


def _once(embed: Callable[[list[str]], Sequence[Embedded]]) -> Callable[[Sequence[str]], list[Embedded]]:
    """The same for texts in any order, which embeds none of them twice."""
    known: dict[str, Embedded] = {}

    def embedded(texts: Sequence[str]) -> list[Embedded]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return [known[text] for text in texts]

    return embedded


def lexical_line_scorer(weight: Callable[[str], float]) -> LineScorer:
    """A scorer by terms alone."""
    return LineScorer(weight, _no_vectors, _no_interaction, 0.0, 1.0)


def _no_vectors(questions: Sequence[str], texts: Sequence[str]) -> tuple[Array, Array]:
    return np.zeros((len(questions), 0), dtype=np.float32), np.zeros((len(texts), 0), dtype=np.float32)


def _no_interaction(_: str, texts: Sequence[str]) -> Array:
    return np.zeros(len(texts), dtype=np.float32)
