"""REPORT: a search as its passages, best first, each with its scores and where it stands, and its ledger."""

from collections.abc import Mapping

from llama_index.core.schema import NodeWithScore

from pipelines.query.context.stored import documents_shown
from pipelines.query.record import closed
from pipelines.query.searching.cache import CachedSearch
from pipelines.query.searching.find import Finder, Found, Request
from pipelines.query.trace import Ledger
from pipelines.store.passages import Shown
from pipelines.types import Audience, Candidate, SearchReport, SearchResult


def reported(request: Request, search: CachedSearch) -> SearchReport:
    """What is found for a request, with every score and what became of every candidate.

    Raises:
        RetrievalError: If the question or a filter cannot be searched.
        ModelError, ServiceUnavailable: If no leg could search, or the database cannot be read.
    """
    ledger, finder = Ledger(), search.finder
    with finder.store.moment() as moment:
        found = search.find(request, finder.understand(request, ledger), ledger)
        results = _results(found, finder, request.audience, ledger)
    trace = closed(ledger, found.intent, request, settings=search.settings, corpus_version=moment.mark.version)
    return SearchReport(found.intent.question, found.intent, results, found.evidence, trace.timings_ms, trace)


def _results(found: Found, finder: Finder, audience: Audience, ledger: Ledger) -> tuple[SearchResult, ...]:
    for hit in found.ranking:
        ledger.kept(hit.node.node_id, 0, merged=False)
    rows = [ledger.candidate(hit.node.node_id) for hit in found.ranking]
    shown = {hit.node.metadata["document_id"] for hit in found.ranking}
    known = documents_shown(finder.store.engine, shown.union(*(row.also_in for row in rows)), audience)
    ranked = enumerate(zip(found.ranking, rows, strict=True), start=1)
    return tuple(_result(rank, hit, row, known) for rank, (hit, row) in ranked)


def _result(rank: int, hit: NodeWithScore, row: Candidate, known: Mapping[str, Shown]) -> SearchResult:
    meta = hit.node.metadata
    own = known.get(meta["document_id"], Shown())
    return SearchResult(
        rank=rank,
        node_id=hit.node.node_id,
        document_id=meta["document_id"],
        document_name=own.name,
        title=meta["title"],
        category=meta["category"],
        section_path=tuple(meta["section_path"]),
        kind=meta["kind"],
        page=meta["page"],
        line_start=meta["line_start"],
        line_end=meta["line_end"],
        start=meta["start"],
        end=meta["end"],
        text=hit.node.get_content(),
        score=float(hit.score or 0.0),
        dense=row.dense,
        sparse=row.sparse,
        fused=row.fused,
        factors=row.factors,
        near_copies=tuple(known[other].name for other in row.also_in if other in known),
        uri=own.uri,
        lines_uri=own.lines_uri,
    )
