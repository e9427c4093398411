"""Pieces held to a number of tokens: cut between lines, what they state kept with the part in which it begins."""

from dataclasses import replace

from pipelines.facts import CareerRecord, Facts, JobFacts, SeveralFacts, records_of
from pipelines.ingestion.parsers.cuts import Piece, Span, cut
from pipelines.text import count_tokens


def within(text: str, piece: Piece, limit: int) -> list[Piece]:
    """The piece in parts of at most `limit` cl100k tokens; each later part of a job has the job line as its `lead`.

    A record that reaches over the end of the part in which it begins, such as that of a long job, is cut there.
    """
    start, end = piece.start, piece.end
    if count_tokens(text[start:end]) <= limit:
        return [piece]
    later = job_line(piece.facts) or piece.lead
    return [
        replace(
            piece,
            start=begin,
            end=finish,
            facts=_inside(piece.facts, begin, finish),
            lead=later if number else piece.lead,
        )
        for number, (begin, finish) in enumerate(_parts(text, (start, end), limit))
    ]


def _parts(text: str, span: Span, limit: int) -> list[Span]:
    """The span cut between lines; a part may hold more tokens than the lines that it is made of, and is cut again."""
    parts = cut(text, span, limit, count_tokens, by_line=True)
    for tighter in (limit * 3 // 4, limit // 2, limit // 4):
        over = [count_tokens(text[start:end]) > limit for start, end in parts]
        if not any(over):
            break
        parts = [
            smaller
            for part, too_long in zip(parts, over, strict=True)
            for smaller in (cut(text, part, tighter, count_tokens, by_line=True) if too_long else [part])
        ]
    return parts


def job_line(facts: Facts | None) -> str:
    """`Company | Position | Location | Date Range` of a job, as far as they are stated."""
    if not isinstance(facts, JobFacts):
        return ""
    return " | ".join(filter(None, (facts.company, facts.position, facts.location, facts.date_range)))


def _inside(facts: Facts | None, start: int, end: int) -> Facts | None:
    """The records that begin in the span, their own spans within it."""
    kept = [_clipped(record, end) for record in records_of(facts) if start <= record.span[0] < end]
    return SeveralFacts(records=tuple(kept)) if len(kept) > 1 else kept[0] if kept else None


def _clipped(record: CareerRecord, end: int) -> CareerRecord:
    return record.model_copy(update={"span": (record.span[0], min(record.span[1], end))})
