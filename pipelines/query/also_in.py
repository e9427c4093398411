"""ALSO IN: which other documents hold the very words that an answer cites."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Engine

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.trace import Ledger, Place
from pipelines.query.verification.agree import folded, holds
from pipelines.store.database import reading
from pipelines.store.passages import passages
from pipelines.types import Answer, Audience, Source


def with_others(answer: Answer, ledger: Ledger, database: Engine, audience: Audience) -> Answer:
    """The answer, each cited source with the names of other documents that hold all that it is cited for.

    Looked at are the near-copies that were cut for a source: what is cited may be just where they differ. Nothing is
    read where there are none; where it cannot be read, none is named.
    """
    quotes = _quotes(answer)
    near = {source.n: _near(source, ledger) for source in answer.sources if source.n in quotes}
    places = {place: None for own in near.values() for place in own}
    if not places:
        return answer
    try:
        with reading(database, "reading what else holds the cited words") as connection:
            rows = passages(connection, list(places), audience)
    except FootnoteError as error:
        log_failure("not known which other documents hold the cited words", error)
        return answer
    held = {place: (row.name, row.text) for place, row in rows.items()}
    sources = (
        replace(source, also_in=_holding(near[source.n], held, quotes[source.n])) if near.get(source.n) else source
        for source in answer.sources
    )
    return replace(answer, sources=tuple(sources))


def _quotes(answer: Answer) -> dict[int, list[str]]:
    """The folded words that each source is cited for, also as a side of a conflict."""
    quotes: dict[int, list[str]] = {}
    sides = (conflict.sides for conflict in answer.conflicts)
    for citation in (one for own in (*(said.evidence for said in answer.sentences), *sides) for one in own):
        quotes.setdefault(citation.n, []).append(folded(citation.quote))
    return quotes


def _near(source: Source, ledger: Ledger) -> list[Place]:
    """Where near-copies of a source stand, with as much around them as the source is long: they are cut elsewhere."""
    width = len(source.snippet)
    copies = ledger.copies(source.node_ids, source.document_id)
    return [(document, max(0, start - width), end + width) for document, start, end in copies]


def _holding(near: Sequence[Place], held: Mapping[Place, tuple[str, str]], quotes: Sequence[str]) -> tuple[str, ...]:
    """The names of the documents that hold each quotation at one of these places."""
    texts: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for place in near:
        if place in held:
            names[place[0]], text = held[place]
            texts.setdefault(place[0], []).append(text)
    return tuple(
        dict.fromkeys(
            names[document]
            for document, own in texts.items()
            if all(any(holds(text, quote) for text in own) for quote in quotes)
        )
    )
