"""ASSEMBLE: ranked nodes -> numbered Context: overlaps merged, budget kept, document order."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from llama_index.core.schema import NodeWithScore

from pipelines.query.trace import Ledger
from pipelines.text import count_tokens
from pipelines.types import Context, Source

SEPARATOR = "\n\n---\n\n"


@dataclass(frozen=True, slots=True)
class Span:
    """A contiguous piece of a document, and the nodes it was merged from, best first."""

    document_id: str
    start: int
    end: int
    nodes: tuple[NodeWithScore, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A span's stored text with what is shown of its document."""

    text: str
    name: str
    title: str
    uri: str
    content_sha: str
    category: str


def merge_spans(spans: Sequence[Span], gap: Callable[[str, int, int], bool]) -> list[Span]:
    """Join overlapping and adjacent spans of a document, so that no sentence stands twice; best span first.

    Args:
        spans: Best first.
        gap: Whether nothing but space stands between two offsets of a document.
    """
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.document_id, span.start, span.end)):
        last = merged[-1] if merged else None
        joins = (
            last is not None
            and last.document_id == span.document_id
            and (span.start <= last.end or gap(span.document_id, last.end, span.start))
        )
        if last is not None and joins:
            merged[-1] = replace(last, end=max(last.end, span.end), nodes=last.nodes + span.nodes)
        else:
            merged.append(span)
    first = {span.nodes[0].node.node_id: place for place, span in enumerate(spans)}
    return sorted(merged, key=lambda span: min(first[hit.node.node_id] for hit in span.nodes))


def assemble(
    ranking: Sequence[NodeWithScore],
    read: Callable[[Sequence[tuple[str, int, int]]], Mapping[tuple[str, int, int], Passage]],
    ledger: Ledger,
    *,
    max_characters: int,
    max_tokens: int,
    token_margin: float = 1.15,
) -> Context:
    """The sources that a writer is shown, numbered in document order, within both budgets.

    Args:
        ranking: Best first.
        read: Stored passages of (document id, start, end); a span whose document is gone is missing.
        ledger: Told the fate of every node.
        max_characters: Of all snippets together.
        max_tokens: cl100k tokens of all snippets together, counted `token_margin` times.
    """
    spans = [
        Span(hit.node.metadata["document_id"], hit.node.metadata["start"], hit.node.metadata["end"], (hit,))
        for hit in ranking
    ]
    gaps = _blank_gaps(spans, read)
    merged = merge_spans(spans, lambda document, end, start: (document, end, start) in gaps)
    passages = read([(span.document_id, span.start, span.end) for span in merged])
    kept: list[tuple[Span, Passage]] = []
    dropped: list[tuple[str, str]] = []
    characters = tokens = 0
    for span in merged:
        passage = passages.get((span.document_id, span.start, span.end))
        size = count_tokens(passage.text) * token_margin if passage else 0
        if passage is None or not _unchanged(span, passage):
            why = "document changed"
        elif characters + len(passage.text) > max_characters or tokens + size > max_tokens:
            why = "budget"
        else:
            characters, tokens = characters + len(passage.text), tokens + round(size)
            kept.append((span, passage))
            continue
        for hit in span.nodes:
            ledger.cut(hit.node.node_id, why)
            dropped.append((hit.node.node_id, why))
    return _number(kept, tokens, tuple(dropped), ledger)


def _blank_gaps(
    spans: Sequence[Span], read: Callable[[Sequence[tuple[str, int, int]]], Mapping[tuple[str, int, int], Passage]]
) -> set[tuple[str, int, int]]:
    """The gaps between neighbouring nodes of a document that hold only space."""
    ordered = sorted(spans, key=lambda span: (span.document_id, span.start))
    gaps = [
        (left.document_id, left.end, right.start)
        for left, right in pairwise(ordered)
        if left.document_id == right.document_id and 0 <= right.start - left.end <= 16
    ]
    return {gap for gap, passage in read(gaps).items() if not passage.text.strip()} if gaps else set()


def _unchanged(span: Span, passage: Passage) -> bool:
    """Whether the stored text still holds the nodes: their document may have been replaced since they were found."""
    return all(
        passage.text[hit.node.metadata["start"] - span.start : hit.node.metadata["end"] - span.start]
        == hit.node.get_content()
        for hit in span.nodes
    )


def _number(
    kept: Sequence[tuple[Span, Passage]], tokens: int, dropped: tuple[tuple[str, str], ...], ledger: Ledger
) -> Context:
    best = {span.document_id: place for place, (span, _) in reversed(list(enumerate(kept)))}
    ordered = sorted(kept, key=lambda pair: (best[pair[0].document_id], pair[0].start))
    sources = []
    for n, (span, passage) in enumerate(ordered, start=1):
        sources.append(_source(n, span, passage))
        for hit in span.nodes:
            ledger.kept(hit.node.node_id, n, merged=len(span.nodes) > 1)
    delimiter = secrets.token_hex(4)
    text = SEPARATOR.join(_shown(source, delimiter) for source in sources)
    return Context(tuple(sources), text, delimiter, tokens, dropped)


def _source(n: int, span: Span, passage: Passage) -> Source:
    in_order = sorted(span.nodes, key=lambda hit: hit.node.metadata["start"])
    first, last = in_order[0].node.metadata, in_order[-1].node.metadata
    return Source(
        n=n,
        document_id=span.document_id,
        documentName=passage.name,
        title=passage.title,
        uri=passage.uri,
        content_sha=passage.content_sha,
        category=passage.category,
        page=first["page"],
        line_start=first["line_start"],
        line_end=max(hit.node.metadata["line_end"] for hit in in_order),
        section_path=_common(first["section_path"], last["section_path"]),
        snippet=passage.text,
        start=span.start,
        end=span.end,
        node_ids=tuple(hit.node.node_id for hit in in_order),
    )


def _common(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    shared = []
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        shared.append(one)
    return tuple(shared)


def _shown(source: Source, delimiter: str) -> str:
    page = f", p.{source.page}" if source.page else ""
    path = " > ".join(source.section_path)
    head = f"[Source: {source.title}{page}] {path}".rstrip()
    return f"<<source {source.n} {delimiter}>>\n{head}\n{source.snippet}\n<</source {source.n} {delimiter}>>"
