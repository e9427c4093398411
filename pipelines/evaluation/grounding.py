"""How well the verifier tells claims that a source bears out from the others, and whether it shows the right place."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from pipelines.evaluation.datasets import Claim
from pipelines.evaluation.judged import Progress, no_progress
from pipelines.evaluation.logistic import auroc
from pipelines.query.cite import check
from pipelines.types import Source, VerdictName

SUPPORTED, NOT_SUPPORTED = "supported", "not_supported"
_TITLE = "(meta data) TITLE:"


@dataclass(frozen=True, slots=True)
class Verified:
    """What the verifier made of a claim: its verdict, and its support (0..1).

    `overlaps` tells whether its span overlaps a gold sentence; None for a claim without one.
    """

    label: str
    verdict: VerdictName
    support: float
    overlaps: bool | None


def verify_claim(claim: Claim) -> Verified:
    """The verifier's judgement of a claim against the whole page that it cites, as one source."""
    source, starts = as_source(claim.evidence)
    found = check(claim.text, source)
    gold = [(starts[n], starts[n] + len(claim.evidence[n])) for chosen in claim.gold for n in chosen]
    overlaps = any(found.start < end and start < found.end for start, end in gold) if gold else None
    return Verified(claim.label, found.verdict, found.support, overlaps)


def as_source(evidence: Sequence[str]) -> tuple[Source, list[int]]:
    """(a page as one source, a sentence a line; where each sentence begins)."""
    starts = [0, *accumulate(len(sentence) + 1 for sentence in evidence)][: len(evidence)]
    text = "\n".join(evidence)
    title = evidence[0].removeprefix(_TITLE).strip() if evidence and evidence[0].startswith(_TITLE) else ""
    source = Source(
        n=1, document_id="page", documentName="page", title=title, uri="", content_sha="", category="web", page=None,
        line_start=1, line_end=max(1, len(evidence)), section_path=(), snippet=text, start=0, end=len(text),
        node_ids=(),
    )  # fmt: skip
    return source, starts


def measure_grounding(claims: Sequence[Claim], on_progress: Progress = no_progress) -> dict[str, Any]:
    """How the verifier did on labelled claims.

    `auroc`: support of `supported` claims against all others, and of claims with any support against those with none.
    `precision` and `recall`: of the verdict `supported`. `verdicts`: by label, how often each verdict was given.
    `overlap`: the share of claims with gold sentences whose chosen span overlaps one, by the verdict and over `all`.
    All 0..1; 0 where nothing counts.
    """
    rows = []
    for done, claim in enumerate(claims, start=1):
        rows.append(verify_claim(claim))
        on_progress("verifying", done, len(claims))
    return summary(rows)


def summary(rows: Sequence[Verified]) -> dict[str, Any]:
    """The measures of `measure_grounding`."""
    supported = [row for row in rows if row.label == SUPPORTED]
    given = [row for row in rows if row.verdict == "supported"]
    right = sum(row.label == SUPPORTED for row in given)
    gold = [row for row in rows if row.overlaps is not None]
    by_verdict: dict[str, list[Verified]] = {
        verdict: [row for row in gold if row.verdict == verdict] for verdict in sorted({row.verdict for row in gold})
    }
    return {
        "claims": dict(Counter(row.label for row in rows)),
        "auroc": {
            "supported": _auroc(rows, lambda row: row.label == SUPPORTED),
            "any support": _auroc(rows, lambda row: row.label != NOT_SUPPORTED),
        },
        "precision": right / len(given) if given else 0.0,
        "recall": right / len(supported) if supported else 0.0,
        "verdicts": {
            label: dict(Counter(row.verdict for row in rows if row.label == label))
            for label in dict.fromkeys(row.label for row in rows)
        },
        "overlap": {verdict: _share(chosen) for verdict, chosen in (by_verdict | {"all": gold}).items()},
    }


def _auroc(rows: Sequence[Verified], is_positive: Callable[[Verified], bool]) -> float:
    return auroc(
        [row.support for row in rows if is_positive(row)], [row.support for row in rows if not is_positive(row)]
    )


def _share(rows: Sequence[Verified]) -> float:
    return sum(bool(row.overlaps) for row in rows) / len(rows) if rows else 0.0
