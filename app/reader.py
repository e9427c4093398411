"""The open source as the plain data that its reader shows: the text around the cited words, the page, the details."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from app.answer import run_before
from app.conversation import Exchange
from app.typeset import is_markdown, merged, page_blocks
from app.wording import FINDING, cited_place, link, readable
from pipelines.answers import Citation, Source

Read = Callable[[str, int, int, int], tuple[str, str, str] | None]
_AROUND = 6000  # characters on each side of the cited words
_WIDEST = 40_000  # characters between the first and the last citation of a document that are shown together


def reader_data(exchange: Exchange, n: int, sentence: int | None, read: Read) -> dict[str, Any]:
    """The document, place and verdict of a source, its text in blocks with the cited spans, and its details.

    Args:
        exchange: The exchange that has the source.
        n: The source's number.
        sentence: Only the words cited for this sentence are marked as its evidence; None = all that were cited.
        read: (document id, start, end, around) -> the stored text before, inside and after.
    """
    source = exchange.sources[n]
    evidence = exchange.evidence(n, None if sentence is None else run_before(exchange, sentence))
    is_cited = not exchange.abstains
    verdict = exchange.sentences[sentence].verdict if sentence is not None else ""
    return {
        "number": exchange.numbers()[n] if is_cited else None,
        "title": readable(source.title, source.documentName),
        "name": source.documentName,
        "link": link(source, evidence),
        "place": cited_place(source, evidence),
        "verdict": verdict,
        "finding": f"The sentence is {FINDING[verdict]}." if verdict else "",
        "details": [list(pair) for pair in _details(source)],
        "cited": [[each.start, each.end] for each in evidence] or [[source.start, source.end]],
        "page": page_of(source, evidence),
        **_text(exchange, source, evidence, read),
    }


def page_of(source: Source, evidence: Sequence[Citation]) -> int | None:
    """The page of the cited words; None for a document without pages."""
    return next((citation.page for citation in evidence if citation.page), source.page)


def _text(exchange: Exchange, source: Source, evidence: Sequence[Citation], read: Read) -> dict[str, Any]:
    """The blocks around the cited words, the numbers of the spans that are the evidence, and a note on a change."""
    spans = merged((citation.start, citation.end) for citation in evidence) or [(source.start, source.end)]
    others = [
        (citation.start, citation.end)
        for other in exchange.sources.values()
        if other.document_id == source.document_id and other.content_sha == source.content_sha
        for citation in exchange.evidence(other.n, None)
    ]
    every = merged([*spans, *others])
    shown = every if every[-1][1] - every[0][0] <= _WIDEST else spans
    start, end = shown[0][0], shown[-1][1]
    found = read(source.document_id, start, end, _AROUND)
    quoted = [(each.start, each.end, each.quote) for each in evidence] or [(source.start, source.end, source.snippet)]
    if found is None or any(found[1][a - start : b - start] != quote for a, b, quote in quoted):
        gone = "removed" if found is None else "changed"
        kept = [{"kind": "paragraph", "depth": 0, "runs": [["", quote, at]]} for at, (_, _, quote) in enumerate(quoted)]
        note = f"The document was {gone} since; these are the cited words as they stood."
        return {"note": note, "blocks": kept, "evidence": list(range(len(kept))), "spans": len(kept)}
    before, inside, after = found
    begin = before.find("\n") + 1 if start > _AROUND else 0
    stop = after.rfind("\n") if len(after) == _AROUND and "\n" in after else len(after)
    text, offset = before[begin:] + inside + after[:stop], start - len(before) + begin
    places = [(a - offset, b - offset) for a, b in shown]
    chosen = [at for at, (a, b) in enumerate(shown) if any(a <= first and last <= b for first, last in spans)]
    blocks = page_blocks(text, places, is_markdown=is_markdown(source.documentName))
    return {"note": "", "blocks": blocks, "evidence": chosen, "spans": len(shown)}


def _details(source: Source) -> Iterator[tuple[str, str]]:
    """(what, its value) of what is known of a source."""
    yield "File", source.documentName
    if source.category:
        yield "Category", source.category
    if source.section_path:
        yield "Section", " › ".join(source.section_path)
    if source.also_in:
        yield "Also in", ", ".join(source.also_in)
    if source.near_copies:
        yield "Nearly the same", ", ".join(source.near_copies)
    if source.about:
        yield "Repository", source.about
    yield "Version", source.content_sha[:12] or "unknown"
