"""REPLAY: an answer pack asked again, what changed, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from pipelines.query.engine import QueryEngine
from pipelines.query.pack import (
    Pack,
    PackedCitation,
    PackedSentence,
    PackedSource,
    pack_answer,
)
from pipelines.query.search import Request
from pipelines.store.database import reading
from pipelines.store.tokens import tokenise
from pipelines.store.versions import Hashes, hashes_of, version_text
from pipelines.text import fold


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document of one of the answers that is not as it was.

    `changed` has another text, `touched` another file with the same text; `removed` is gone, or hidden from this
    audience; `added` is drawn on now and was not there before.
    """

    document: str
    change: Literal["changed", "touched", "removed", "added"]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A source of either answer. Ranks are from 1, 0 where it is no candidate; `why` names what cut it, if known.

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
    left = list(after.answer.sources or after.answer.nearest)
    changes: list[SourceChange] = []
    for source in before.answer.sources or before.answer.nearest:
        name, place, found = before.name_of(source.document_id), _place(source), _counterpart(source, left)
        if found is None:
            changes.append(SourceChange(name, place, "went", source.rank, *_fate(after, source)))
            continue
        left.remove(found)
        same_words = found.snippet == source.snippet and _version(before, source) == _version(after, found)
        moved: Literal["same", "moved"] = "same" if found.rank == source.rank else "moved"
        changes.append(SourceChange(name, place, moved if same_words else "changed", source.rank, found.rank))
    for source in left:
        rank, why = _fate(before, source)
        name, why = after.name_of(source.document_id), f"before: {why}" if rank else ""
        changes.append(SourceChange(name, _place(source), "came", rank, source.rank, why))
    return tuple(changes)


def _counterpart(source: PackedSource, others: Sequence[PackedSource]) -> PackedSource | None:
    """The same words of the same document, else the source of it that has a node of this one, or overlaps it."""
    of_document = [other for other in others if other.document_id == source.document_id]
    words = (other for other in of_document if other.snippet == source.snippet)
    nodes = (other for other in of_document if not set(other.node_ids).isdisjoint(source.node_ids))
    place = (other for other in of_document if other.start < source.end and source.start < other.end)
    return next(words, None) or next(nodes, None) or next(place, None)


def _fate(pack: Pack, source: PackedSource) -> tuple[int, str]:
    """(best rank, fate) of a source's nodes among the candidates of a pack; (0, "") without any."""
    return next(((row.rank, row.fate) for row in pack.ranking if row.node_id in source.node_ids), (0, ""))


def _version(pack: Pack, source: PackedSource) -> str:
    return next((document.content_sha for document in pack.documents if document.id == source.document_id), "")


def _place(source: PackedSource) -> str:
    return f"p. {source.page}" if source.page else f"lines {source.line_start}-{source.line_end}"


def document_changes(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> tuple[DocumentChange, ...]:
    """The documents of before that are others now, then those that were added since and are drawn on."""
    changes = []
    for document in before.documents:
        stored = now.get(document.id)
        if stored is None:
            changes.append(DocumentChange(document.name, "removed", before=document.content_sha))
        elif stored.content_sha != document.content_sha:
            changes.append(DocumentChange(document.name, "changed", document.content_sha, stored.content_sha))
        elif document.file_sha and stored.file_sha != document.file_sha:
            changes.append(DocumentChange(document.name, "touched", document.file_sha, stored.file_sha))
    known = {document.id for document in before.documents}
    try:
        made = datetime.fromisoformat(before.made_at)
    except ValueError:
        return tuple(changes)
    for document in after.documents:
        added = now[document.id].added_at if document.id in now else None
        if document.id not in known and added and made.tzinfo and added > made:
            changes.append(DocumentChange(document.name, "added", after=document.content_sha))
    return tuple(changes)


_ALIKE = 0.5  # share of common terms from which two sentences are one that was changed
_CAUSES = {
    "changed": "has another text now",
    "touched": "is another file now, with the same text",
    "removed": "is gone, or hidden from this audience",
    "added": "was added since",
}
_VERSIONS = {
    "The embedding model": "embedding_model",
    "The language model": "language_model",
    "Footnote": "footnote",
    "corpus version": "corpus_version",
}


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A value that is another than it was."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class SentenceChange:
    """A sentence of either answer; `cites` is True if it quotes other words than before."""

    change: Literal["same", "changed", "gone", "new"]
    before: str = ""
    after: str = ""
    verdict_before: str = ""
    verdict_after: str = ""
    cites: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """The comparison of two packs; `causes` are sentences on what may have changed the answer.

    It is the `same` when its sentences, verdicts, quotations and confidence are, and its sources show the same words of
    the same versions, whatever their ranks.
    """

    same: bool
    outcome: tuple[ReplayDifference, ...]
    sentences: tuple[SentenceChange, ...]
    sources: tuple[SourceChange, ...]
    documents: tuple[DocumentChange, ...]
    settings: tuple[ReplayDifference, ...]
    versions: tuple[ReplayDifference, ...]
    causes: tuple[str, ...]


def compare_packs(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> Changes:
    """Compare two packs of one question.

    Args:
        before: The pack that was kept.
        after: That of today's answer.
        now: The versions that are stored of the documents of both.
    """
    names = ("answered", "confidence", "mode", "model", "conflicts", "truncated", "failed")
    left, right = ({name: getattr(pack.answer, name) for name in names} for pack in (before, after))
    outcome = _differences(left, right)
    sentences = sentence_changes(before.answer.sentences, after.answer.sentences)
    sources = source_changes(before, after)
    documents = document_changes(before, after, now)
    settings = _differences(before.settings.values, after.settings.values)
    left, right = ({label: getattr(pack, name) for label, name in _VERSIONS.items()} for pack in (before, after))
    versions = _differences(left, right)
    kept = (one.change == "same" and one.verdict_before == one.verdict_after and not one.cites for one in sentences)
    same = not outcome and all(kept) and all(one.change in ("same", "moved") for one in sources)
    causes = _causes(before, after, documents, settings, versions)
    if not same and not causes:
        causes = _unexplained(before, after)
    return Changes(same, outcome, sentences, sources, documents, settings, versions, causes)


def sentence_changes(before: Sequence[PackedSentence], after: Sequence[PackedSentence]) -> tuple[SentenceChange, ...]:
    """Each sentence of both answers once: those of before in their order, then the new ones.

    A sentence that is gone and one that is new are one that was changed when they share half of their terms.
    """
    left = list(range(len(after)))
    pairs: dict[int, int] = {}
    for alike in (_is_equal, _is_alike):
        for place, sentence in enumerate(before):
            found = next((other for other in left if place not in pairs and alike(sentence, after[other])), None)
            if found is not None:
                pairs[place] = found
                left.remove(found)
    changed = [_sentence_change(sentence, after[pairs[p]] if p in pairs else None) for p, sentence in enumerate(before)]
    changed += [SentenceChange("new", after=after[p].text, verdict_after=after[p].verdict) for p in left]
    return tuple(changed)


def _sentence_change(before: PackedSentence, after: PackedSentence | None) -> SentenceChange:
    if after is None:
        return SentenceChange("gone", before=before.text, verdict_before=before.verdict)
    quoted, quotes = ({(one.document_id, one.quote) for one in each.evidence} for each in (before, after))
    change: Literal["same", "changed"] = "same" if _is_equal(before, after) else "changed"
    return SentenceChange(change, before.text, after.text, before.verdict, after.verdict, quoted != quotes)


def _is_equal(one: PackedSentence, other: PackedSentence) -> bool:
    return fold(one.text) == fold(other.text)


def _is_alike(one: PackedSentence, other: PackedSentence) -> bool:
    left, right = set(tokenise(one.text)), set(tokenise(other.text))
    return 2 * len(left & right) >= 2 * _ALIKE * max(len(left), len(right), 1) and bool(left & right)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ReplayDifference, ...]:
    names = dict.fromkeys([*before, *after])
    pairs = ((name, before.get(name), after.get(name)) for name in names)
    return tuple(ReplayDifference(name, left, right) for name, left, right in pairs if left != right)


def _causes(
    before: Pack,
    after: Pack,
    documents: Sequence[DocumentChange],
    settings: Sequence[ReplayDifference],
    versions: Sequence[ReplayDifference],
) -> tuple[str, ...]:
    causes = [f"{change.document} {_CAUSES[change.change]}." for change in documents]
    for one in settings:
        was, now = ("unset" if value in (None, "", [], ()) else str(value) for value in (one.before, one.after))
        causes.append(f"The setting {one.what} was {was} and is {now}.")
    for one in versions:
        if one.what != "corpus version":
            causes.append(f"{one.what} was {one.before or 'none'} and is {one.after or 'none'}.")
        elif not documents:
            causes.append(f"Other documents changed: the corpus was at version {one.before} and is at {one.after}.")
    if after.answer.failed and not before.answer.failed:
        causes.append("The language model failed this time, and sentences were quoted instead.")
    return tuple(causes)


def _unexplained(before: Pack, after: Pack) -> tuple[str, ...]:
    """Causes of a change that a pack does not record."""
    causes = []
    if before.made_at[:10] != after.made_at[:10]:
        causes.append("It is another day: jobs that go on are longer, and what is recent is counted from today.")
    if "llm" in (before.answer.mode, after.answer.mode):
        causes.append("A language model does not word every answer alike.")
    return tuple(causes) or ("Nothing that the pack tells of is another than before.",)


Stands = Literal["now", "older", "no", "unknown"]
Read = Callable[[str, str], str | None]


@dataclass(frozen=True, slots=True)
class QuotationCheck:
    """The place where a quotation stands: in the document as it is `now`, only in an `older` version that is kept;
    `no` if its version is kept and says something else there, `unknown` if that version is no longer stored.
    """

    n: int
    document: str
    quote: str
    stands: Stands


@dataclass(frozen=True, slots=True)
class Replay:
    """A pack, that of today's answer to the same question, what changed, and whether the quotations still stand."""

    before: Pack
    after: Pack
    changes: Changes
    quotations: tuple[QuotationCheck, ...]


def replay_pack(engine: QueryEngine, pack: Pack) -> Replay:
    """Ask a pack's question again, with its history, filters and retrievers, for its audience; nothing is recorded.

    Raises:
        RetrievalError: If the question or a filter cannot be searched.
        ModelError, ServiceUnavailable: If no retriever worked.
    """
    asked = pack.asked
    request = Request(asked.question, asked.filters, asked.audience, asked.mode, engine.passages, asked.history)
    answer, trace = engine.finished(request)
    after = pack_answer(engine, request, answer, trace)
    ids = {document.id for document in (*pack.documents, *after.documents)}
    with reading(engine.database.engine, "checking the quotations of an answer pack") as connection:
        now = hashes_of(connection, ids, request.audience)

        @cache
        def read(document_id: str, content_sha: str) -> str | None:
            return version_text(connection, document_id, content_sha)

        cited = [citation for sentence in pack.answer.sentences for citation in sentence.evidence]
        quotations = tuple(
            QuotationCheck(
                citation.n, pack.name_of(citation.document_id), citation.quote, check_quotation(citation, now, read)
            )
            for citation in dict.fromkeys([*cited, *pack.answer.disputed])
        )
    return Replay(pack, after, compare_packs(pack, after, now), quotations)


def check_quotation(citation: PackedCitation, now: dict[str, Hashes], read: Read) -> Stands:
    """The place where a quotation stands.

    Args:
        citation: The quotation, with its place in the version that it quotes.
        now: Which versions are stored now.
        read: (document id, hash of its text) -> the text of that version, None where it is no longer stored.
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
