"""Score how well each unit of quotation answers a question, by a fitted linear model over a dozen signals."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from llama_index.core.schema import NodeWithScore

from pipelines.query.line_scoring import Array, LineScorer
from pipelines.query.question_type import QuestionType, kind_fit
from pipelines.query.quotable_lines import index_terms
from pipelines.query.quotable_units import QuotableUnit
from pipelines.store.tokens import tokenise
from pipelines.text import fold

SIGNALS = (
    "interaction", "line", "focus_heading", "coverage", "passage", "code_asked", "code_unasked", "list_asked",
    "list_unasked", "early_definition", "fit", "subject", "document", "short",
)  # fmt: skip
WEIGHTS_FILE = Path(__file__).with_name("unit_weights.json")

_ASKS_FOR_CODE = re.compile(
    r"\b(?:commands?|code|run|install\w*|flags?|options?|syntax|calls?|called|functions?|imports?|api|examples?|usages?"
    r"|uses?|used|using|config\w*|set|build|built|compile|launch|type|invoke|start|write|query|queries)\b"
)
_EMBEDDED = 500  # characters of a unit that are read
_EARLY = 1_000  # characters from the beginning of a document at which a definition counts half
_SHORT = 5  # words


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """A linear model over SIGNALS: the sum of weight * (signal - mean) / deviation."""

    mean: Array
    deviation: Array
    weight: Array


@cache
def unit_weights() -> UnitWeights:
    """The fitted weights; made by `python -m tests.bench.fit_units --fit`."""
    held = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["signals"]
    rows = np.array([[held[name][key] for name in SIGNALS] for key in ("mean", "deviation", "weight")], np.float32)
    return UnitWeights(*rows)


def unit_signals(
    units: Sequence[QuotableUnit],
    wanted: QuestionType,
    question: str,
    ranking: Sequence[NodeWithScore],
    *,
    likenesses: Sequence[float],
    scorer: LineScorer,
) -> Array:
    """(n, len(SIGNALS)) for n units, in 0..1 but for likenesses on the model's scale and the interaction in -1..1.

    What a question asks about a document's subject is told by the words of its title; the rest of its words is its
    focus, by document.

    - `interaction`: the late interaction of the question with the unit under its headings.
    - `line`: likeness of its best line to the question.
    - `focus_heading`: likeness of what stands right above it to the focus.
    - `coverage`: the share of the focus's term weight in the unit, its headings and its lead-in.
    - `passage`: the score of its passage by the best one's.
    - `code_asked`, `list_asked`: 1 for code and lists where the question asks for such; `..._unasked`: where it does
      not.
    - `early_definition`: of a question "what is", 1 at the beginning of a document and half after 1,000 characters.
    - `fit`: whether a part holds the kind of value that is asked for.
    - `subject`: the share of the question's term weight in the title of its document.
    - `document`: 1 / place of its document in the ranking.
    - `short`: 1 for less than five words.

    Args:
        units: That can be quoted.
        wanted: What the question asks for.
        question: Its text.
        ranking: The passages, best first.
        likenesses: Of the best line of each unit to the question.
        scorer: Term weights and vectors.
    """
    titles = [index_terms(re.sub(r"[-_./]", " ", f"{unit.source.title} {unit.source.documentName}")) for unit in units]
    focuses = [_without(question, title) for title in titles]
    asked = list(dict.fromkeys(focuses))
    under = [_heading(unit) for unit in units]
    texts = [f"{heading}: {unit.lead_text} {unit.text[:_EMBEDDED]}" for heading, unit in zip(under, units, strict=True)]
    above = [" ".join((*unit.headings[-1:], unit.lead_text)).strip() or unit.source.title or "-" for unit in units]
    distinct = list(dict.fromkeys(above))
    ours, theirs = scorer.vectors(asked, distinct)
    interaction = scorer.interaction(question, texts)
    row_of = {text: row for row, text in enumerate(asked)}
    place_of = {text: row for row, text in enumerate(distinct)}
    best = max((hit.score or 0.0 for hit in ranking), default=0.0) or 1.0
    documents = {name: place for place, name in enumerate(dict.fromkeys(_document(hit) for hit in ranking), start=1)}
    wants_code = asks_for_code(question)
    found = []
    for at, unit in enumerate(units):
        focus = [term for term in wanted.terms if term not in titles[at]] or list(wanted.terms)
        held = index_terms(" ".join((unit.text, unit.lead_text, *unit.headings)))
        vector = ours[row_of[focuses[at]]]
        is_code, is_list = unit.kind == "code", unit.kind in ("list", "table")
        found.append((
            interaction[at],
            likenesses[at],
            scorer.likeness(theirs[place_of[above[at]]] @ vector) if ours.size else 0.0,
            _share(focus, held, scorer),
            _passage_score(unit, ranking) / best,
            is_code and wants_code,
            is_code and not wants_code,
            is_list and wanted.listed,
            is_list and not wanted.listed,
            (wanted.kind == "what") / (1 + unit.start / _EARLY),
            max(kind_fit(wanted, part.text) for part in unit.parts),
            _share(list(wanted.terms), titles[at], scorer),
            1 / documents.get(unit.source.document_id, len(documents) + 1),
            len(unit.text.split()) < _SHORT,
        ))  # fmt: skip
    return np.array(found, dtype=np.float32).reshape(-1, len(SIGNALS))


def asks_for_code(question: str) -> bool:
    """True if a question asks how something is run, called or set."""
    return bool(_ASKS_FOR_CODE.search(fold(question)))


def unit_scores(signals: Array) -> Array:
    """The score (n,) of each unit: log-odds, up to a constant of the question, that it is the one that answers."""
    weights = unit_weights()
    return np.asarray(((signals - weights.mean) / weights.deviation) @ weights.weight, dtype=np.float32)


def _heading(unit: QuotableUnit) -> str:
    """The outermost and the innermost heading of a unit."""
    return " > ".join(dict.fromkeys((*unit.headings[:1], *unit.headings[-1:])))


def _without(question: str, terms: frozenset[str]) -> str:
    """The question without the words whose terms are all among these; the question itself if nothing is left."""
    kept = (word for word in question.split() if not (own := set(tokenise(word))) or not own <= terms)
    return " ".join(kept) or question


def _share(terms: Sequence[str], held: frozenset[str], scorer: LineScorer) -> float:
    """The share (0..1) of the terms' weight that is held; 0 without terms."""
    weights = {term: scorer.weight(term) for term in terms}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0


def _document(hit: NodeWithScore) -> str:
    return str(hit.node.metadata["document_id"])


def _passage_score(unit: QuotableUnit, ranking: Sequence[NodeWithScore]) -> float:
    """The score of the first passage that overlaps the unit; 0 where none does."""
    for hit in ranking:
        meta = hit.node.metadata
        if meta["document_id"] == unit.source.document_id and meta["start"] < unit.end and unit.start < meta["end"]:
            return max(hit.score or 0.0, 0.0)
    return 0.0
