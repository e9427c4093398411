"""What became of the sources and the documents of an answer pack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pipelines.query.packs.pack import Pack, PackedDocument, PackedSource
from pipelines.store.citations import Hashes


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What became of a document that one of the answers draws on.

    `changed` has another text, `touched` another file with the same text; `removed` is gone, or hidden from this
    audience; `added` is drawn on now and was not there before.
    """

    document: str
    change: Literal["changed", "touched", "removed", "added"]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What became of a source. Ranks are from 1, 0 where it is no candidate; `why` is what cut it, if it is known.

    `moved` has another rank, `changed` other words or another version of its document; `came` is shown only now,
    `went` no longer.
    """

    document: str
    place: str
    change: Literal["same", "moved", "changed", "came", "went"]
    rank_before: int = 0
    rank_after: int = 0
    why: str = ""


def source_changes(before: Pack, after: Pack) -> tuple[SourceChange, ...]:
    """Each source of both answers once: those of before in their order, then those that came."""
    left = list(_shown(after))
    told: list[SourceChange] = []
    for source in _shown(before):
        found = _counterpart(source, left)
        if found is not None:
            left.remove(found)
        told.append(_source_change(before, after, source, found))
    told += [_came(before, after, source) for source in left]
    return tuple(told)


def _shown(pack: Pack) -> tuple[PackedSource, ...]:
    return pack.answer.sources or pack.answer.nearest


def _counterpart(source: PackedSource, others: Sequence[PackedSource]) -> PackedSource | None:
    """The same words of the same document, else the source of it that has a node of this one, or overlaps it."""
    own = [other for other in others if other.document_id == source.document_id]
    words = (other for other in own if other.snippet == source.snippet)
    nodes = (other for other in own if not set(other.node_ids).isdisjoint(source.node_ids))
    place = (other for other in own if other.start < source.end and source.start < other.end)
    return next(words, None) or next(nodes, None) or next(place, None)


def _source_change(before: Pack, after: Pack, source: PackedSource, found: PackedSource | None) -> SourceChange:
    name, place = before.name_of(source.document_id), _place(source)
    if found is None:
        rank, why = _fate(after, source)
        return SourceChange(name, place, "went", source.rank, rank, why)
    same_words = found.snippet == source.snippet and _version(before, source) == _version(after, found)
    change: Literal["same", "moved", "changed"] = "changed"
    if same_words:
        change = "same" if found.rank == source.rank else "moved"
    return SourceChange(name, place, change, source.rank, found.rank)


def _came(before: Pack, after: Pack, source: PackedSource) -> SourceChange:
    rank, why = _fate(before, source)
    said = f"before: {why}" if rank else ""
    return SourceChange(after.name_of(source.document_id), _place(source), "came", rank, source.rank, said)


def _fate(pack: Pack, source: PackedSource) -> tuple[int, str]:
    """(best rank, what became of it) of a source's nodes among the candidates of a pack; (0, "") without any."""
    own = [row for row in pack.ranking if row.node_id in source.node_ids]
    return (own[0].rank, own[0].fate) if own else (0, "")


def _version(pack: Pack, source: PackedSource) -> str:
    return next((document.content_sha for document in pack.documents if document.id == source.document_id), "")


def _place(source: PackedSource) -> str:
    return f"p. {source.page}" if source.page else f"lines {source.line_start}-{source.line_end}"


def document_changes(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> tuple[DocumentChange, ...]:
    """The documents of before that are others now, then those that were added since and are drawn on."""
    told = [change for document in before.documents if (change := _document_change(document, now.get(document.id)))]
    held = {document.id for document in before.documents}
    made = _moment(before.made_at)
    for document in after.documents:
        added = now[document.id].added_at if document.id in now else None
        if document.id not in held and added and made and added > made:
            told.append(DocumentChange(document.name, "added", after=document.content_sha))
    return tuple(told)


def _document_change(document: PackedDocument, now: Hashes | None) -> DocumentChange | None:
    if now is None:
        return DocumentChange(document.name, "removed", before=document.content_sha)
    if now.content_sha != document.content_sha:
        return DocumentChange(document.name, "changed", document.content_sha, now.content_sha)
    if document.file_sha and now.file_sha != document.file_sha:
        return DocumentChange(document.name, "touched", document.file_sha, now.file_sha)
    return None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
