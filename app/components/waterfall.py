"""The candidates of a question, each with its ranks by both retrievers, the factors on its score, and its fate."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from app.answer import clipped
from app.inspection import CandidatePassage, RankChange
from app.wording import readable

_WORDS = 220  # characters of a passage
_CUTS = {
    "top_n": "ranked too low",
    "duplicate": "says the same as a better one",
    "quota": "its document had its share",
    "min-score": "too far from the question",
    "filter": "outside what the question names",
    "budget": "no room in the context",
    "document changed": "its document changed meanwhile",
}


def fate_in_words(fate: str) -> str:
    """`used`, or why a candidate was cut."""
    cut = fate.removeprefix("cut: ")
    return _CUTS.get(cut, cut) if cut != fate else "used" if fate else "not needed"


def fates(candidates: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many candidates had each fate: those that were used first, then by number."""
    counted = Counter(fate_in_words(candidate["fate"]) for candidate in candidates)
    return dict(sorted(counted.items(), key=lambda pair: (pair[0] != "used", -pair[1])))


def waterfall(
    candidates: Sequence[Mapping[str, Any]], passages: Mapping[str, CandidatePassage], shown: Sequence[int]
) -> str:
    """The HTML of a table of candidates.

    Args:
        candidates: All of them, as the trace has them: best first.
        passages: Their words, by node id.
        shown: The places in the list of those to show.
    """
    widest = max((max(each["fused"], each["final"], *_steps(each)) for each in candidates), default=0.0) or 1.0
    rows = "".join(_row(at + 1, candidates[at], passages.get(candidates[at]["node_id"]), widest) for at in shown)
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("", "Passage", "Dense", "Sparse", "Score", "Fate"))
    return f'<table class="fn-fall"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _row(rank: int, candidate: Mapping[str, Any], passage: CandidatePassage | None, widest: float) -> str:
    fate = fate_in_words(candidate["fate"])
    words = escape(clipped(passage.text, _WORDS)) if passage else "It is no longer stored."
    section = f" · {escape(passage.section)}" if passage and passage.section else ""
    title = escape(readable(candidate["title"], candidate["title"]))
    merged = f" in source {candidate['fate'].rpartition(' ')[2]}" if candidate["fate"].startswith("merged") else ""
    used = ' class="fn-used"' if fate == "used" else ""
    return (
        f"<tr{used}><td>{rank}</td>"
        f'<td><strong>{title}</strong><span class="fn-place">{section}</span>'
        f'<div class="fn-words-of">{words}</div></td>'
        f'<td data-label="Dense">{_leg(candidate["dense"], 3)}</td>'
        f'<td data-label="Sparse">{_leg(candidate["sparse"], 2)}</td>'
        f'<td data-label="Score">{_track(candidate, widest)}</td><td data-label="Fate">{escape(fate)}{merged}</td></tr>'
    )


def _leg(found: Mapping[str, Any] | None, digits: int) -> str:
    """The rank of a candidate by one retriever, and its score."""
    if not found:
        return '<span class="fn-place">not found</span>'
    return f'<b>{found["rank"]}</b> <span class="fn-place">{found["score"]:.{digits}f}</span>'


def _steps(candidate: Mapping[str, Any]) -> list[float]:
    """The score after each factor."""
    score, steps = candidate["fused"], []
    for factor in candidate["factors"].values():
        score *= factor
        steps.append(score)
    return steps


def _track(candidate: Mapping[str, Any], widest: float) -> str:
    """A bar of the fused score, with a piece for what each factor adds or takes; below it the figures."""
    pieces = "".join(_pieces(candidate, widest))
    factors = "".join(f" · {escape(name)} ×{value:.2f}" for name, value in candidate["factors"].items())
    came = f"{candidate['fused']:.3f}{factors} = " if factors else ""
    return f'<div class="fn-track">{pieces}</div>{came}<b>{candidate["final"]:.3f}</b>'


def _pieces(candidate: Mapping[str, Any], widest: float) -> Iterator[str]:
    """The parts of a bar: the score that stays, then each change of it."""
    scores = [candidate["fused"], *_steps(candidate)]
    yield f'<i style="width:{100 * min(scores) / widest:.1f}%"></i>'
    for before, after in pairwise(scores):
        low, high = sorted((before, after))
        kind = "fn-gain" if after > before else "fn-loss"
        yield f'<i class="{kind}" style="left:{100 * low / widest:.1f}%;width:{100 * (high - low) / widest:.1f}%"></i>'


_SIGNS = {"up": "▲", "down": "▼", "new": "+", "gone": "✕"}


def moved(changes: Sequence[RankChange]) -> Iterator[tuple[object, ...]]:
    """(rank before, rank after, passage) of each passage that moved."""
    for move in changes:
        why = f" · {fate_in_words(move.why)}" if move.why else ""
        passage = f"{readable(move.title, move.document_name)} · line {move.line_start}{why}"
        yield move.before or "–", f"{_SIGNS[move.kind]} {move.after or '–'}", passage
