"""Measure how well the verifier separates supported claims from others, and whether it cites the right sentence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from pipelines.answers import Source, VerdictName
from pipelines.evaluation.datasets import Claim
from pipelines.evaluation.measures import auroc
from pipelines.query.verify import WORDS_ONLY, Judge, verify

SUPPORTED, PARTIAL, NOT_SUPPORTED = "supported", "partially_supported", "not_supported"
_TITLE = "(meta data) TITLE:"


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """The verifier's verdict on a claim, its support (0..1), and if its first place overlaps a gold sentence (None: no
    gold).
    """

    label: str
    verdict: VerdictName
    support: float
    overlaps: bool | None


def verify_claim(claim: Claim, judge: Judge = WORDS_ONLY) -> VerifiedClaim:
    """The verifier's judgement of a claim against the whole page that it cites, as one source."""
    source, starts = as_source(claim.evidence)
    said = verify(claim.text, [source.n], [source], judge)
    gold = [(starts[n], starts[n] + len(claim.evidence[n])) for chosen in claim.gold for n in chosen]
    first = said.evidence[0]
    overlaps = any(first.start < end and start < first.end for start, end in gold) if gold else None
    return VerifiedClaim(claim.label, said.verdict, first.support, overlaps)


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


def summary(rows: Sequence[VerifiedClaim]) -> dict[str, Any]:
    """The measures of verified claims.

    `auroc`: `auroc_of_labels` of the committed weights. `verdicts`: by label, how often each verdict was given.
    `bounds`: precision and recall of the verdict `supported`, and of `partial` or better for any support. `overlap`:
    the share of the claims with any support and gold sentences whose first place overlaps one. All 0..1; 0 where
    nothing counts.
    """
    gold = [row.overlaps for row in rows if row.overlaps is not None and row.label != NOT_SUPPORTED]
    verdicts: dict[str, Counter[str]] = {}
    for row in rows:
        verdicts.setdefault(row.label, Counter())[row.verdict] += 1
    return {
        "claims": dict(Counter(row.label for row in rows)),
        "auroc": {"committed": auroc_of_labels([row.label for row in rows], [row.support for row in rows])},
        "bounds": {
            "supported": _bound(rows, {"supported"}, {SUPPORTED}),
            "partial": _bound(rows, {"supported", "partial"}, {SUPPORTED, PARTIAL}),
        },
        "verdicts": verdicts,
        "overlap": sum(gold) / max(len(gold), 1),
    }


def auroc_of_labels(labels: Sequence[str], scores: Sequence[float]) -> dict[str, float]:
    """The share of pairs in which a supported claim scores higher, against all others and against those not supported.

    `any support` is the same for claims with any support against those without.
    """

    def of(*wanted: str) -> list[float]:
        return [score for label, score in zip(labels, scores, strict=True) if label in wanted]

    return {
        "supported": auroc(of(SUPPORTED), of(PARTIAL, NOT_SUPPORTED)),
        "supported against not": auroc(of(SUPPORTED), of(NOT_SUPPORTED)),
        "any support": auroc(of(SUPPORTED, PARTIAL), of(NOT_SUPPORTED)),
    }


def _bound(rows: Sequence[VerifiedClaim], verdicts: set[str], labels: set[str]) -> dict[str, float]:
    given = [row.label in labels for row in rows if row.verdict in verdicts]
    meant = sum(row.label in labels for row in rows)
    return {"precision": sum(given) / max(len(given), 1), "recall": sum(given) / max(meant, 1)}
