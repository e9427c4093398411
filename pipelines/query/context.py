"""ASSEMBLE: ranked nodes -> numbered Context: overlaps merged, budget kept, document order."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import takewhile

from llama_index.core.schema import BaseNode, NodeWithScore
from sqlalchemy import Connection, Engine

from pipelines.answers import Source
from pipelines.models.usage import token_margin
from pipelines.query.delimit import (
    SEPARATOR,
    Context,
    about,
    draw_delimiter,
    escape_delimiters,
    format_source,
)
from pipelines.query.escalate import find
from pipelines.query.postprocess.sections import SectionExpansion
from pipelines.query.search import Search, SearchOutcome
from pipelines.query.trace import Ledger, SpanKey
from pipelines.store.database import reading
from pipelines.store.documents import DocumentLinks, document_links, lines_uri, passages, structures
from pipelines.store.lexical_index import LexicalIndex
from pipelines.structure import Structure, sentences
from pipelines.text import count_tokens, fold
from pipelines.types import Audience

_SAYS_MUCH = 40  # characters from which a text that stands in another document is a repetition
_WIDEST = 9_999  # the number and the page that a source is measured with
_SEAMS = 2  # tokens that come of putting a text into its frame
_tokens = lru_cache(maxsize=2_048)(count_tokens)
_USEFUL = 200  # characters that are worth showing of a node that does not fit whole
_NEAR = 16  # characters of space that may stand between two neighbours
_NARROW, _WIDE = (8_000, 2_400), (16_000, 4_000)  # characters and tokens of all sources together
_WIDE_WINDOW = 8_192  # tokens
_RULES, _LEAST = 340, 100  # tokens of a prompt beside its sources; of the sources, however small the window


@dataclass(frozen=True, slots=True)
class Span:
    """A contiguous piece of a document, and the nodes that it was merged from, best first."""

    document_id: str
    start: int
    end: int
    nodes: tuple[NodeWithScore, ...]

    @property
    def key(self) -> SpanKey:
        """The key by which its text is read."""
        return self.document_id, self.start, self.end


Read = Callable[[Sequence[SpanKey]], Mapping[SpanKey, Source]]
Names = Callable[[Collection[str]], Mapping[str, str]]
StoredSpan = tuple[Span, Source]  # the source without its number, its lines and what its nodes say of it


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The material of an answer: the outcome of the search, the context for the writer, and the BM25 index searched."""

    found: SearchOutcome
    context: Context
    index: LexicalIndex


def retrieve_context(search: Search) -> Retrieved:
    """The outcome of a search, and the context for the writer."""
    outcome = find(search)
    with search.ledger.stage("assemble"):
        return Retrieved(outcome, build_context(outcome, search), search.lexical)


def build_context(outcome: SearchOutcome, search: Search) -> Context:
    """The sources that a writer is shown of what was found, within the budget of the settings."""
    database, audience = search.store.engine, search.request.audience
    ranking = outcome.ranking
    if most := search.settings.context.section_tokens:
        filters = search.request.filters
        widen = SectionExpansion(store=search.store, audience=audience, filters=filters, max_tokens=most)
        ranking = widen.postprocess_nodes(ranking)
    return assemble(
        ranking,
        partial(_passages, database, audience=audience),
        search.ledger,
        _budget(search),
        names=lambda ids: {key: links.name for key, links in search.store.links(ids, audience).items()},
        named=outcome.intent.documents,
    )


@dataclass(frozen=True, slots=True)
class Budget:
    """The size of a Context: characters, and cl100k tokens, each of which counts `margin` times."""

    characters: int
    tokens: int
    margin: float = 1.0


def _budget(search: Search) -> Budget:
    """The limits of the settings, else more for a wide window; never more than a small one leaves beside rules and
    reply.
    """
    limits, margin = search.settings.context, token_margin(search.llm_name)
    (characters, tokens), most = _NARROW, math.inf
    if search.llm is not None:
        from pipelines.models.llm import window_of  # its libraries take a second to import

        window = window_of(search.llm, search.settings.llm)
        (characters, tokens) = _WIDE if window >= _WIDE_WINDOW else _NARROW
        most = max(window - search.settings.llm.reply_tokens(window) - margin * _RULES, _LEAST)
    return Budget(limits.max_characters or characters, int(min(limits.max_tokens or tokens, most)), margin)


def assemble(
    ranking: Sequence[NodeWithScore],
    read: Read,
    ledger: Ledger,
    budget: Budget,
    *,
    names: Names = lambda _: {},
    named: Collection[str] = (),
) -> Context:
    """The sources that a writer is shown, numbered in document order; all of its text is within the budget.

    Spans of a document that overlap or touch are one source, a passage that another document repeats stands once and
    names that document, and a source that does not fit is cut at a sentence's end, or dropped. Of several documents
    that the question `named`, each has its share before any has more.
    """
    spans = [span_of(hit) for hit in ranking]
    merged = merge_spans(spans, blank_gaps(spans, read))
    passages = read([span.key for span in merged])
    found = [(span, passages[span.key]) for span in merged if span.key in passages]
    stored = [(span, passage) for span, passage in found if is_unchanged(span, passage.snippet)]
    single = _collapsed(stored, ledger)
    ready = _with_names(single, ledger, names)
    framed = [source_of(_WIDEST, span, replace(passage, structure=None)) for span, passage in ready]
    delimiter = draw_delimiter(framed)
    frames = [_frame(*pair, delimiter) for pair in zip(framed, ready, strict=True)]
    kept = _filled(ready, budget, named, frames)
    reasons = (("document changed", stored), ("duplicate", single), ("budget", kept))
    dropped: dict[str, str] = {}
    for why, left in reasons:
        left_ids = {hit.node.node_id for span, _ in left for hit in span.nodes}
        ids = [hit.node.node_id for hit in ranking if hit.node.node_id not in left_ids]
        dropped |= {node_id: why for node_id in ids if node_id not in dropped}
    for node_id, why in dropped.items():
        ledger.cut(node_id, why)
    return Context(_numbered(kept, ledger), delimiter, tuple(dropped.items()))


def _collapsed(found: Sequence[StoredSpan], ledger: Ledger) -> list[StoredSpan]:
    """The passages without those whose words a better one of another document holds, which stands for both."""
    kept: list[tuple[StoredSpan, str]] = []
    for span, passage in found:
        words = fold(passage.snippet)
        others = (pair for pair in kept if pair[0][0].document_id != span.document_id)
        repeated = (better for (better, _), text in others if len(words) >= _SAYS_MUCH and words in text)
        if better := next(repeated, None):
            for hit in span.nodes:
                ledger.copied(hit.node.node_id, better.nodes[0].node.node_id)
        else:
            kept.append(((span, passage), words))
    return [pair for pair, _ in kept]


def _with_names(found: Sequence[StoredSpan], ledger: Ledger, names: Names) -> list[StoredSpan]:
    """The passages with the names of the documents that each also stands for."""
    others = [ledger.also_in([hit.node.node_id for hit in span.nodes], span.document_id) for span, _ in found]
    wanted = set().union(*others)
    known = names(wanted) if wanted else {}
    return [
        (span, replace(passage, near_copies=tuple(known[other] for other in ids if other in known)))
        for (span, passage), ids in zip(found, others, strict=True)
    ]


def _filled(
    found: Sequence[StoredSpan], budget: Budget, named: Collection[str], frames: Sequence[str]
) -> list[StoredSpan]:
    """The passages that fit within their frames, best first; each may be the part of its span that fits."""
    kept: dict[int, StoredSpan] = {}
    characters, tokens = budget.characters, budget.tokens / budget.margin
    for place, share in _turns(found, named):
        (span, passage), frame = found[place], frames[place]
        around, own = len(frame), _tokens(frame) + _SEAMS

        def fits(text: str, most: float = share * characters - around, room: float = share * tokens - own) -> bool:
            return len(escape_delimiters(text)) <= most and _tokens(escape_delimiters(text)) <= room

        if part := fitted(span, passage.snippet, fits):
            text = passage.snippet[part.start - span.start : part.end - span.start]
            kept[place] = part, replace(passage, snippet=text)
            characters -= around + len(escape_delimiters(text))
            tokens -= own + _tokens(escape_delimiters(text))
    return [kept[place] for place in sorted(kept)]


def _turns(found: Sequence[StoredSpan], named: Collection[str]) -> Iterator[tuple[int, float]]:
    """(place, the share of what is left that it may take) of each passage, in the order in which they are served.

    First the best one of each document that the question names, if it names several: the shortest first, each with
    an equal share; then all others, best first.
    """
    firsts: dict[str, int] = {}
    for place, (span, _) in enumerate(found):
        if span.document_id in named:
            firsts.setdefault(span.document_id, place)
    early = sorted(firsts.values(), key=lambda place: len(found[place][1].snippet)) if len(firsts) > 1 else []
    yield from ((place, 1 / (len(early) - served)) for served, place in enumerate(early))
    yield from ((place, 1.0) for place in range(len(found)) if place not in early)


def _frame(source: Source, stored: StoredSpan, delimiter: str) -> str:
    """All that is shown with a span's text, at its longest."""
    paths = (tuple(hit.node.metadata["section_path"]) for hit in stored[0].nodes)
    longest = max(paths, key=lambda path: sum(map(len, path)) + len(path))
    page = None if source.page is None else _WIDEST
    return format_source(replace(source, page=page, section_path=longest, snippet=""), delimiter, None) + SEPARATOR


def _numbered(kept: Sequence[StoredSpan], ledger: Ledger) -> tuple[Source, ...]:
    """The sources from 1: a document after the other, the one with the best passage first, and each in its order."""
    best = list(dict.fromkeys(span.document_id for span, _ in kept))
    ordered = sorted(kept, key=lambda pair: (best.index(pair[0].document_id), pair[0].start))
    for n, (span, _) in enumerate(ordered, start=1):
        for hit in span.nodes:
            ledger.kept(hit.node.node_id, n, merged=len(span.nodes) > 1)
    return tuple(source_of(n, span, passage) for n, (span, passage) in enumerate(ordered, start=1))


def source_of(n: int, span: Span, passage: Source) -> Source:
    """A span as source n, with its own page and lines; the passage has the pages and structure of its whole
    document.
    """
    in_order = sorted(span.nodes, key=lambda hit: hit.node.metadata["start"])
    metas = [hit.node.metadata for hit in in_order]
    first = max((hit for hit in in_order if hit.node.metadata["start"] <= span.start), key=_start)
    ahead = first.node.get_content()[: span.start - _start(first)].count("\n")
    line_start = first.node.metadata["line_start"] + ahead
    levels = zip(*(meta["section_path"] for meta in metas), strict=False)  # of headings
    return replace(
        passage,
        n=n,
        page=bisect_right(passage.page_breaks, span.start) if passage.page_breaks else first.node.metadata["page"],
        line_start=line_start,
        line_end=line_start + passage.snippet[:-1].count("\n"),
        section_path=tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)),
        start=span.start,
        end=span.end,
        node_ids=tuple(hit.node.node_id for hit in in_order),
        about=about(metas[0].get("facts")),
        page_breaks=tuple(page for page in passage.page_breaks if span.start < page < span.end),
        structure=passage.structure and passage.structure.between(span.start, span.end, passage.snippet),
    )


def _start(hit: NodeWithScore) -> int:
    return int(hit.node.metadata["start"])


# Spans


def span_of(hit: NodeWithScore) -> Span:
    """The span of one node."""
    meta = hit.node.metadata
    return Span(meta["document_id"], meta["start"], meta["end"], (hit,))


def merge_spans(spans: Sequence[Span], gaps: Collection[SpanKey]) -> list[Span]:
    """Join spans of a document that overlap, touch or leave one of these blank gaps; best span first, as they are
    given.
    """
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.key):
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.document_id == span.document_id
            and (span.start <= last.end or (span.document_id, last.end, span.start) in gaps)
        ):
            merged[-1] = replace(last, end=max(last.end, span.end), nodes=last.nodes + span.nodes)
        else:
            merged.append(span)
    order = {hit.node.node_id: place for place, hit in enumerate(hit for span in spans for hit in span.nodes)}

    def rank(hit: NodeWithScore) -> int:
        return order[hit.node.node_id]

    ranked = [replace(span, nodes=tuple(sorted(span.nodes, key=rank))) for span in merged]
    return sorted(ranked, key=lambda span: rank(span.nodes[0]))


def blank_gaps(spans: Sequence[Span], read: Read) -> set[SpanKey]:
    """The gaps between neighbouring spans of a document that hold only space."""
    reached: dict[str, int] = {}
    gaps: list[SpanKey] = []
    for document_id, start, end in sorted(span.key for span in spans):
        before = reached.get(document_id, start)
        if 0 < start - before <= _NEAR:
            gaps.append((document_id, before, start))
        reached[document_id] = max(before, end)
    return {gap for gap, passage in read(gaps).items() if not passage.snippet.strip()} if gaps else set()


def is_unchanged(span: Span, text: str) -> bool:
    """True if the stored text still holds the nodes: their document may have been replaced since they were found."""
    return all(
        text[hit.node.metadata["start"] - span.start : hit.node.metadata["end"] - span.start] == hit.node.get_content()
        for hit in span.nodes
    )


def fitted(span: Span, text: str, fits: Callable[[str], bool]) -> Span | None:
    """The part of a span that fits: it begins where a node begins and ends where a sentence does.

    The best node goes first, from its beginning, then what follows it, then what stands before it. None when less of
    that node fits than is worth showing. What `fits` does so in each shorter beginning, too.
    """
    if fits(text):
        return span
    best = span.nodes[0].node.metadata
    start, whole = best["start"] - span.start, best["end"] - best["start"]
    ends = [*dict.fromkeys([*(end for _, end in sentences(text) if end > start), len(text)])]
    place = bisect_left(ends, True, key=lambda end: not fits(text[start:end]))
    if not place or ends[place - 1] - start < min(_USEFUL, whole):
        return None
    end = ends[place - 1]
    starts = sorted({_start(hit) - span.start for hit in span.nodes})
    start = next(earlier for earlier in starts if earlier == start or fits(text[earlier:end]))
    first, last = span.start + start, span.start + end
    nodes = (hit for hit in span.nodes if _start(hit) < last and hit.node.metadata["end"] > first)
    return Span(span.document_id, first, last, tuple(nodes))


# What is stored


def documents_shown(database: Engine, document_ids: Collection[str], audience: Audience) -> dict[str, DocumentLinks]:
    """The names and links of documents by id; one that this audience must not see is missing."""
    if not document_ids:
        return {}
    with reading(database, "reading where documents are") as connection:
        return document_links(connection, document_ids, audience)


def sources_of_nodes(nodes: Sequence[BaseNode], database: Engine, audience: Audience) -> tuple[Source, ...]:
    """These nodes as sources, numbered from 1; one whose document this audience must not see is missing."""
    spans = [span_of(NodeWithScore(node=node, score=0.0)) for node in nodes]
    read = _passages(database, [span.key for span in spans], audience)
    seen = [span for span in spans if span.key in read]
    return tuple(source_of(n, span, read[span.key]) for n, span in enumerate(seen, start=1))


def _passages(database: Engine, spans: Sequence[SpanKey], audience: Audience) -> Mapping[SpanKey, Source]:
    with reading(database, "reading passages") as connection:
        rows = passages(connection, spans, audience)
        versions = {(row.id, row.content_sha) for row in rows.values()}
        known = _structures(connection, versions, audience)
    return {
        key: Source(
            n=0, document_id=row.id, documentName=row.name, title=row.title, uri=row.source_uri,
            content_sha=row.content_sha, category=row.category, page=None, line_start=0, line_end=0, section_path=(),
            snippet=row.text, start=key[1], end=key[2], node_ids=(), page_breaks=tuple(row.pages),
            lines_uri=lines_uri(row.source_kind, row.source_uri, row.mime, row.path),
            structure=known.get((row.id, row.content_sha)),
        )
        for key, row in rows.items()
    }  # fmt: skip


_MOST_STRUCTURES = 256  # of documents that are kept
_read_structures: dict[tuple[str, str], Structure] = {}


def _structures(
    connection: Connection, versions: Collection[tuple[str, str]], audience: Audience
) -> Mapping[tuple[str, str], Structure]:
    """The structures of these versions (document id, content_sha); those read lately are not read again."""
    missing = [document_id for document_id, sha in versions if (document_id, sha) not in _read_structures]
    if missing:
        _read_structures.update(structures(connection, missing, audience))
    found = {version: _read_structures[version] for version in versions if version in _read_structures}
    while len(_read_structures) > _MOST_STRUCTURES:
        _read_structures.pop(next(iter(_read_structures)), None)
    return found
