"""An answer pack asked again: as it was asked, of the documents and with the settings of today."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pipelines.query.engine import Engine
from pipelines.query.packs.changes import Changes, changes
from pipelines.query.packs.pack import Pack, PackedCitation
from pipelines.query.packs.packing import pack_answer, request_of
from pipelines.store.citations import Hashes, hashes_of, version_text
from pipelines.store.database import reading

Stands = Literal["now", "older", "no", "unknown"]
Read = Callable[[str, str], str | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a quotation still stands: in the document as it is `now`, only in an `older` version that is kept, `no`
    where its version is kept and says something else there, `unknown` where that version is no longer kept.
    """

    n: int
    document: str
    quote: str
    stands: Stands


@dataclass(frozen=True, slots=True)
class Again:
    """A pack, that of today's answer to the same question, what changed, and whether the quotations still stand."""

    before: Pack
    after: Pack
    changes: Changes
    quotations: tuple[Standing, ...]


def ask_again(engine: Engine, pack: Pack) -> Again:
    """Ask a pack's question again, with its history, filters and legs, for its audience; nothing is recorded.

    Raises:
        RetrievalError: If the question or a filter cannot be searched.
        ModelError, ServiceUnavailable: If no leg could search.
    """
    request = request_of(pack, engine.passages)
    answer, trace = engine.reask(request)
    after = pack_answer(engine, request, answer, trace)
    ids = {document.id for document in (*pack.documents, *after.documents)}
    with reading(engine.database.engine, "checking the quotations of an answer pack") as connection:
        now = hashes_of(connection, ids, request.audience)

        @cache
        def read(document_id: str, content_sha: str) -> str | None:
            return version_text(connection, document_id, content_sha)

        cited = [citation for sentence in pack.answer.sentences for citation in sentence.evidence]
        quotations = tuple(
            Standing(citation.n, pack.name_of(citation.document_id), citation.quote, standing(citation, now, read))
            for citation in dict.fromkeys([*cited, *pack.answer.disputed])
        )
    return Again(pack, after, changes(pack, after, now), quotations)


def standing(citation: PackedCitation, now: dict[str, Hashes], read: Read) -> Stands:
    """Whether a quotation stands, and where.

    Args:
        citation: The quotation, with its place in the version that it quotes.
        now: Which versions are stored now.
        read: (document id, hash of its text) -> the text of that version, None where it is no longer kept.
    """
    stored = now.get(citation.document_id)
    quoted = read(citation.document_id, citation.content_sha)
    if quoted is not None and quoted[citation.start : citation.end] != citation.quote:
        return "no"
    if stored is not None:
        today = read(citation.document_id, stored.content_sha)
        if today is not None and citation.quote in today:
            return "now"
    return "unknown" if quoted is None else "older"
