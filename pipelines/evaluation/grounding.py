"""Measure how well the verifier separates supported claims from others, and whether it cites the right sentence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from pipelines.answers import Source, VerdictName
from pipelines.evaluation.datasets import Claim
from pipelines.evaluation.experiment import Progress, no_progress
from pipelines.evaluation.logistic import Array, auroc, fit_logistic, held_out
from pipelines.query.verification.normalise import normalise, numbers_in
from pipelines.query.verification.support import Alignment, Embed, align_claim, features, nearest_vectors
from pipelines.query.verify import WORDS_ONLY, Judge, verify
from pipelines.store.tokens import tokenise

SUPPORTED, PARTIAL, NOT_SUPPORTED = "supported", "partially_supported", "not_supported"
PENALTY = 10.0  # of a fit: few claims, features that go together
_TITLE = "(meta data) TITLE:"
_BASELINES = {"coverage": ("coverage",), "coverage + cosine + numbers": ("coverage", "cosine", "numbers")}


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """The verifier's verdict on a claim, and its support (0..1).

    Attributes:
        overlaps: Whether its first place overlaps a gold sentence; None for a claim without one.
        any_overlaps: Whether one of its places does.
        page: Which page it cites; claims about one page are never on both sides of a fit.
        features: Those of the committed model.
        plain: What the baselines see: `coverage` and `numbers` (0..1), and with vectors `cosine`.
    """

    label: str
    verdict: VerdictName
    support: float
    overlaps: bool | None
    any_overlaps: bool | None = None
    page: str = ""
    features: Mapping[str, float] = field(default_factory=dict)
    plain: Mapping[str, float] = field(default_factory=dict)


def verify_claim(claim: Claim, judge: Judge = WORDS_ONLY) -> VerifiedClaim:
    """The verifier's judgement of a claim against the whole page that it cites, as one source."""
    source, starts = as_source(claim.evidence)
    said = verify(claim.text, [source.n], [source], judge)
    gold = [(starts[n], starts[n] + len(claim.evidence[n])) for chosen in claim.gold for n in chosen]
    hits = [any(place.start < end and start < place.end for start, end in gold) for place in said.evidence]
    aligned = align_claim(claim.text, [source])
    return VerifiedClaim(
        label=claim.label,
        verdict=said.verdict,
        support=said.evidence[0].support,
        overlaps=hits[0] if gold else None,
        any_overlaps=any(hits) if gold else None,
        page=source.snippet,
        features=features(claim.text, aligned, judge.embed),
        plain=_plain(claim.text, aligned, judge.embed),
    )


def as_source(evidence: Sequence[str]) -> tuple[Source, list[int]]:
    """(a page as one source, its sentences apart by blank lines; where each sentence begins)."""
    starts = [0, *accumulate(len(sentence) + 2 for sentence in evidence)][: len(evidence)]
    text = "\n\n".join(evidence)
    title = evidence[0].removeprefix(_TITLE).strip() if evidence and evidence[0].startswith(_TITLE) else ""
    source = Source(
        n=1, document_id="page", documentName="page", title=title, uri="", content_sha="", category="web", page=None,
        line_start=1, line_end=max(1, 2 * len(evidence) - 1), section_path=(), snippet=text, start=0, end=len(text),
        node_ids=(),
    )  # fmt: skip
    return source, starts


def _plain(claim: str, aligned: Alignment, embed: Embed | None) -> dict[str, float]:
    terms, page = set(tokenise(claim)), frozenset[str]().union(*(line.terms for line in aligned.lines))
    numbers, held = set(numbers_in(claim)), numbers_in("\n".join(line.text for line in aligned.lines))
    found = {
        "coverage": len(terms & page) / max(len(terms), 1),
        "numbers": sum(number in held for number in numbers) / len(numbers) if numbers else 1.0,
    }
    if embed is None:
        return found
    vector, others = nearest_vectors(normalise(claim), aligned, embed)
    return found | {"cosine": float(max(others @ vector, default=0.0))}


def verify_claims(claims: Sequence[Claim], judge: Judge, on_progress: Progress = no_progress) -> list[VerifiedClaim]:
    """Each claim verified against its page, in order."""
    rows = []
    for done, claim in enumerate(claims, start=1):
        rows.append(verify_claim(claim, judge))
        on_progress("verifying", done, len(claims))
    return rows


def summary(rows: Sequence[VerifiedClaim]) -> dict[str, Any]:
    """The measures of verified claims.

    `auroc`: by who scores (`committed`: the verifier's support; `cross-validated`: its features in ten folds by page;
    and the baselines, cross-validated where they have several features), the share of pairs in which a `supported`
    claim scores higher, against all others and against those not supported, and of claims with any support.
    `verdicts`: by label, how often each verdict was given. `bounds`: precision and recall of the verdict `supported`,
    and of `partial` or better for any support. `overlap`: the share of the claims with any support and gold sentences
    whose first place overlaps one, by verdict and over `all`; `any place` counts every place shown.
    All 0..1; 0 where nothing counts.
    """
    gold = [row for row in rows if row.overlaps is not None and row.label != NOT_SUPPORTED]
    by_verdict = {verdict: [row for row in gold if row.verdict == verdict] for verdict in _verdicts(gold)}
    overlap = {
        verdict: _share([row.overlaps for row in held]) for verdict, held in (by_verdict | {"all": gold}).items()
    }
    return {
        "claims": dict(Counter(row.label for row in rows)),
        "auroc": {name: _told(rows, scores) for name, scores in _scores(rows).items()},
        "bounds": {
            "supported": _bound(rows, {"supported"}, {SUPPORTED}),
            "partial": _bound(rows, {"supported", "partial"}, {SUPPORTED, PARTIAL}),
        },
        "verdicts": {
            label: dict(Counter(row.verdict for row in rows if row.label == label))
            for label in dict.fromkeys(row.label for row in rows)
        },
        "overlap": overlap | {"any place": _share([row.any_overlaps for row in gold])},
    }


def refit(rows: Sequence[VerifiedClaim]) -> dict[str, Any]:
    """`intercept` and `weights` fitted on all claims, to be committed in `pipelines.query.verification.support`.

    The supported weigh as much as all others; of these, each label weighs the same.
    """
    names = list(rows[0].features) if rows else []
    if len({row.label == SUPPORTED for row in rows}) < 2:
        return {}
    matrix = np.array([[row.features[name] for name in names] for row in rows])
    fitted = fit_logistic(matrix, _answers(rows), _weight(rows), penalty=PENALTY)
    weights = {name: round(float(value), 3) for name, value in zip(names, fitted.weights, strict=True)}
    return {"intercept": round(fitted.intercept, 3), "weights": weights}


def _scores(rows: Sequence[VerifiedClaim]) -> dict[str, Sequence[float]]:
    scores: dict[str, Sequence[float]] = {"committed": [row.support for row in rows]}
    table = [{**row.features, **row.plain} for row in rows]
    own = {"cross-validated": tuple(rows[0].features) if rows else ()}
    for name, columns in (own | _BASELINES).items():
        if rows and columns and all(column in row for row in table for column in columns):
            matrix = np.array([[row[column] for column in columns] for row in table])
            scores[name] = matrix[:, 0].tolist() if len(columns) == 1 else _unseen(rows, matrix)
    return scores


def _unseen(rows: Sequence[VerifiedClaim], matrix: Array) -> list[float]:
    pages = [row.page for row in rows]
    found: list[float] = held_out(matrix, _answers(rows), pages, weight=_weight(rows), penalty=PENALTY).tolist()
    return found


def _answers(rows: Sequence[VerifiedClaim]) -> Array:
    return np.array([float(row.label == SUPPORTED) for row in rows])


def _weight(rows: Sequence[VerifiedClaim]) -> Array:
    counts = Counter(row.label for row in rows)
    others = max(len(counts) - (SUPPORTED in counts), 1)
    return np.array([1 / counts[row.label] / (1 if row.label == SUPPORTED else others) for row in rows])


def _told(rows: Sequence[VerifiedClaim], scores: Sequence[float]) -> dict[str, float]:
    def of(*labels: str) -> list[float]:
        return [score for row, score in zip(rows, scores, strict=True) if row.label in labels]

    return {
        "supported": auroc(of(SUPPORTED), of(PARTIAL, NOT_SUPPORTED)),
        "supported against not": auroc(of(SUPPORTED), of(NOT_SUPPORTED)),
        "any support": auroc(of(SUPPORTED, PARTIAL), of(NOT_SUPPORTED)),
    }


def _bound(rows: Sequence[VerifiedClaim], verdicts: set[str], labels: set[str]) -> dict[str, float]:
    given = [row for row in rows if row.verdict in verdicts]
    meant = [row for row in rows if row.label in labels]
    right = sum(row.label in labels for row in given)
    return {"precision": right / len(given) if given else 0.0, "recall": right / len(meant) if meant else 0.0}


def _verdicts(rows: Sequence[VerifiedClaim]) -> list[VerdictName]:
    return sorted({row.verdict for row in rows})


def _share(hits: Sequence[bool | None]) -> float:
    return sum(map(bool, hits)) / len(hits) if hits else 0.0
