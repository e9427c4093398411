"""Notes on the cited documents: which others hold the same words, and which are stored in part."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Engine

from pipelines.answers import Answer
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.trace import Ledger, SpanKey
from pipelines.query.verification.normalise import contains_phrase, folded_words
from pipelines.store.database import reading
from pipelines.store.documents import partial_documents, partial_notice, passages
from pipelines.types import Audience


def with_identical_documents(answer: Answer, ledger: Ledger, database: Engine, audience: Audience) -> Answer:
    """The answer, each cited source with the names of other documents that hold every quotation of it.

    Only near-copies that were cut in favour of a source are compared, since they may differ just in what is cited.
    Without near-copies nothing is read; where they cannot be read, none is named.
    """
    quotes: dict[int, list[str]] = {}
    for cited in answer.evidence:
        quotes.setdefault(cited.n, []).append(folded_words(cited.quote))
    near: dict[int, list[SpanKey]] = {}
    for source in (each for each in answer.sources if each.n in quotes):
        copies, width = ledger.copies(source.node_ids, source.document_id), len(source.snippet)
        # wider, since near-copies are split at other places
        near[source.n] = [(document, max(0, start - width), end + width) for document, start, end in copies]
    places = {place: None for own in near.values() for place in own}
    if not places:
        return answer
    try:
        with reading(database, "reading what else holds the cited words") as connection:
            rows = passages(connection, list(places), audience)
    except FootnoteError as error:
        log_failure("not known which other documents hold the cited words", error)
        return answer
    texts = {place: (row.name, row.text) for place, row in rows.items()}
    sources = (
        replace(source, also_in=_holding(near[source.n], texts, quotes[source.n])) if near.get(source.n) else source
        for source in answer.sources
    )
    return replace(answer, sources=tuple(sources))


def _holding(
    near: Sequence[SpanKey], stored: Mapping[SpanKey, tuple[str, str]], quotes: Sequence[str]
) -> tuple[str, ...]:
    """The names of the documents that hold every quotation within these spans."""
    texts: dict[tuple[str, str], list[str]] = {}
    for place in near:
        if place in stored:
            name, text = stored[place]
            texts.setdefault((place[0], name), []).append(text)
    whole = {
        name: None
        for (_, name), own in texts.items()
        if all(any(contains_phrase(text, quote) for text in own) for quote in quotes)
    }
    return tuple(whole)


def note_partial_documents(answer: Answer, database: Engine, audience: Audience, ledger: Ledger) -> None:
    """Note each cited document (of an abstention, each nearest one) that is stored only in part.

    A failure to read that is noted too.
    """
    sources = answer.cited if answer.answered else answer.nearest
    titles = {each.document_id: each.title for each in sources}
    if not titles:
        return
    try:
        with reading(database, "reading which documents are stored in part") as connection:
            found = partial_documents(connection, titles, audience)
    except FootnoteError as error:
        log_failure("not known which documents are stored in part", error)
        ledger.lacking(f"Whether the documents are stored as a whole is not known: {error.message}")
        return
    for document_id, title in titles.items():
        if document_id in found:
            ledger.note(partial_notice(title, found[document_id]))
