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
    PackedDocument,
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


_ALIKE = 0.5  # share of common terms from which two sentences are one that was changed
_CAUSES = {
    "changed": "has another text now",
    "touched": "is another file now, with the same text",
    "removed": "is gone, or hidden from this audience",
    "added": "was added since",
}


@dataclass(frozen=True, slots=True)
class Difference:
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
    outcome: tuple[Difference, ...]
    sentences: tuple[SentenceChange, ...]
    sources: tuple[SourceChange, ...]
    documents: tuple[DocumentChange, ...]
    settings: tuple[Difference, ...]
    versions: tuple[Difference, ...]
    causes: tuple[str, ...]


def compare_packs(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> Changes:
    """Compare two packs of one question.

    Args:
        before: The pack that was kept.
        after: That of today's answer.
        now: The versions that are stored of the documents of both.
    """
    outcome = _outcome(before, after)
    sentences = sentence_changes(before.answer.sentences, after.answer.sentences)
    sources = source_changes(before, after)
    documents = document_changes(before, after, now)
    settings = _differences(before.settings.values, after.settings.values)
    versions = _versions(before, after)
    same = not outcome and all(map(_is_same, sentences)) and all(one.change in ("same", "moved") for one in sources)
    causes = _causes(before, after, documents, settings, versions)
    if not same and not causes:
        causes = _unexplained(before, after)
    return Changes(same, outcome, sentences, sources, documents, settings, versions, causes)


def _is_same(sentence: SentenceChange) -> bool:
    return sentence.change == "same" and sentence.verdict_before == sentence.verdict_after and not sentence.cites


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
    return SentenceChange(
        "same" if _is_equal(before, after) else "changed",
        before.text,
        after.text,
        before.verdict,
        after.verdict,
        _quotes(before) != _quotes(after),
    )


def _quotes(sentence: PackedSentence) -> set[tuple[str, str]]:
    return {(citation.document_id, citation.quote) for citation in sentence.evidence}


def _is_equal(one: PackedSentence, other: PackedSentence) -> bool:
    return fold(one.text) == fold(other.text)


def _is_alike(one: PackedSentence, other: PackedSentence) -> bool:
    left, right = set(tokenise(one.text)), set(tokenise(other.text))
    return 2 * len(left & right) >= 2 * _ALIKE * max(len(left), len(right), 1) and bool(left & right)


def _outcome(before: Pack, after: Pack) -> tuple[Difference, ...]:
    names = ("answered", "confidence", "mode", "model", "conflicts", "truncated", "failed")
    return _differences(
        {name: getattr(before.answer, name) for name in names}, {name: getattr(after.answer, name) for name in names}
    )


def _versions(before: Pack, after: Pack) -> tuple[Difference, ...]:
    names = {
        "The embedding model": "embedding_model",
        "The language model": "language_model",
        "Footnote": "footnote",
        "corpus version": "corpus_version",
    }
    return _differences(
        {said: getattr(before, name) for said, name in names.items()},
        {said: getattr(after, name) for said, name in names.items()},
    )


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Difference, ...]:
    names = dict.fromkeys([*before, *after])
    pairs = ((name, before.get(name), after.get(name)) for name in names)
    return tuple(Difference(name, left, right) for name, left, right in pairs if left != right)


def _causes(
    before: Pack,
    after: Pack,
    documents: Sequence[DocumentChange],
    settings: Sequence[Difference],
    versions: Sequence[Difference],
) -> tuple[str, ...]:
    causes = [f"{change.document} {_CAUSES[change.change]}." for change in documents]
    for one in settings:
        causes.append(f"The setting {one.what} was {_shown_value(one.before)} and is {_shown_value(one.after)}.")
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


def _shown_value(value: Any) -> str:
    return "unset" if value in (None, "", [], ()) else str(value)


Stands = Literal["now", "older", "no", "unknown"]
Read = Callable[[str, str], str | None]


@dataclass(frozen=True, slots=True)
class QuotationCheck:
    """The place where a quotation stands: in the document as it is `now`, only in an `older` version that is kept;
    `no` if its version is kept and says something else there, `unknown` if that version is no longer kept.
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
    """Ask a pack's question again, with its history, filters and legs, for its audience; nothing is recorded.

    Raises:
        RetrievalError: If the question or a filter cannot be searched.
        ModelError, ServiceUnavailable: If no leg could search.
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
