"""REPLAY: an answer pack asked again, what changed, and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal

from pipelines.answers import Citation, Sentence, Source
from pipelines.query.engine import QueryEngine
from pipelines.query.pack import Pack, pack_answer
from pipelines.query.search import Request
from pipelines.store.database import reading
from pipelines.store.versions import Hashes, hashes_of, version_text
from pipelines.text import fold

Stands = Literal["now", "older", "no", "unknown"]
Read = Callable[[str, str], str | None]
_CAUSES = {
    "changed": "has another text now",
    "touched": "is another file now, with the same text",
    "removed": "is gone, or hidden from this audience",
    "added": "was added since",
}
_CORPUS = "corpus version"
_VERSIONS = {
    "The embedding model": "embedding_model",
    "The language model": "language_model",
    "Footnote": "footnote",
    _CORPUS: "corpus_version",
}


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A value that is another than it was."""

    what: str
    before: Any
    after: Any


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


@dataclass(frozen=True, slots=True)
class SentenceChange:
    """A sentence of either answer; `cites` is True if it quotes other words than before."""

    change: Literal["same", "gone", "new"]
    before: str = ""
    after: str = ""
    verdict_before: str = ""
    verdict_after: str = ""
    cites: bool = False


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
    """A pack, that of today's answer to the same question, what changed, and whether the quotations still stand.

    The answer is the `same` when its sentences, verdicts, quotations and confidence are, and its sources show the same
    words of the same versions, whatever their ranks. `causes` are sentences on what may have changed it.
    """

    before: Pack
    after: Pack
    same: bool
    outcome: tuple[ReplayDifference, ...]
    sentences: tuple[SentenceChange, ...]
    sources: tuple[SourceChange, ...]
    documents: tuple[DocumentChange, ...]
    settings: tuple[ReplayDifference, ...]
    versions: tuple[ReplayDifference, ...]
    causes: tuple[str, ...]
    quotations: tuple[QuotationCheck, ...] = ()


def replay_pack(engine: QueryEngine, pack: Pack) -> Replay:
    """Ask a pack's question again, with its history, filters and retrievers, for its audience; nothing is recorded."""
    asked = pack.asked
    request = Request(asked.question, asked.filters, asked.audience, asked.mode, engine.passages, asked.history)
    answer, trace = engine.finished(request)
    after = pack_answer(engine, request, answer, trace)
    evidence = [citation for sentence in pack.answer.sentences for citation in sentence.evidence]
    evidence += [side for conflict in pack.answer.conflicts for side in conflict.sides]
    names = {source.n: source.documentName for source in pack.answer.sources}
    with reading(engine.database.engine, "checking the quotations of an answer pack") as connection:
        now = hashes_of(connection, {*pack.documents, *after.documents}, request.audience)

        @cache
        def read(document_id: str, content_sha: str) -> str | None:
            return version_text(connection, document_id, content_sha)

        quotations = tuple(
            QuotationCheck(cited.n, names[cited.n], cited.quote, check_quotation(cited, now, read))
            for cited in dict.fromkeys(evidence)
        )
    return replace(compare_packs(pack, after, now), quotations=quotations)


def check_quotation(citation: Citation, now: Mapping[str, Hashes], read: Read) -> Stands:
    """The place where a quotation stands, by the versions that are stored now.

    `read` gives the text of a version by (document id, hash of its text), None where it is no longer stored.
    """
    stored = now.get(citation.document_id)
    quoted = read(citation.document_id, citation.content_sha)
    if quoted is not None and quoted[citation.start : citation.end] != citation.quote:
        return "no"
    today = read(citation.document_id, stored.content_sha) if stored else None
    if today is not None and citation.quote in today:
        return "now"
    return "unknown" if quoted is None else "older"


def compare_packs(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> Replay:
    """Compare the pack that was kept with that of today's answer, and with the stored versions of their documents."""
    outcome = _differences(_outcome(before), _outcome(after))
    sentences = tuple(_sentence_changes(before.answer.sentences, after.answer.sentences))
    sources = tuple(_source_changes(before, after))
    documents = tuple(_document_changes(before, after, now))
    settings = _differences(before.settings, after.settings)
    left, right = ({label: getattr(pack, name) for label, name in _VERSIONS.items()} for pack in (before, after))
    versions = _differences(left, right)
    kept = (one.change == "same" and one.verdict_before == one.verdict_after and not one.cites for one in sentences)
    same = not outcome and all(kept) and all(one.change in ("same", "moved") for one in sources)
    causes = [f"{change.document} {_CAUSES[change.change]}." for change in documents]
    for one in (*settings, *versions):
        was, is_now = ("none" if value in (None, "", [], ()) else value for value in (one.before, one.after))
        if one.what != _CORPUS:
            causes.append(f"{'The setting ' * (one in settings)}{one.what} was {was} and is {is_now}.")
        elif not documents:
            causes.append(f"Other documents changed: the corpus was at version {was} and is at {is_now}.")
    if after.answer.fallback_reason and not before.answer.fallback_reason:
        causes.append("The language model failed this time, and sentences were quoted instead.")
    if not same and not causes:
        if before.made_at[:10] != after.made_at[:10]:
            causes.append("It is another day: jobs that go on are longer, and what is recent is counted from today.")
        if "llm" in (before.answer.mode, after.answer.mode):
            causes.append("A language model does not word every answer alike.")
        causes = causes or ["Nothing that the pack tells of is another than before."]
    return Replay(before, after, same, outcome, sentences, sources, documents, settings, versions, tuple(causes))


def _outcome(pack: Pack) -> dict[str, Any]:
    names = ("answered", "confidence", "mode", "model", "truncated")
    values = {name: getattr(pack.answer, name) for name in names}
    conflicts = tuple(conflict.said for conflict in pack.answer.conflicts)
    return values | {"conflicts": conflicts, "failed": bool(pack.answer.fallback_reason)}


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ReplayDifference, ...]:
    pairs = ((name, before.get(name), after.get(name)) for name in dict.fromkeys([*before, *after]))
    return tuple(ReplayDifference(name, left, right) for name, left, right in pairs if left != right)


def _sentence_changes(before: Sequence[Sentence], after: Sequence[Sentence]) -> Iterator[SentenceChange]:
    """Each sentence of both answers once: those of before in their order, then the new ones."""
    left = list(after)
    for one in before:
        other = next((each for each in left if fold(each.text) == fold(one.text)), None)
        if other is None:
            yield SentenceChange("gone", before=one.text, verdict_before=one.verdict)
            continue
        left.remove(other)
        quoted, quotes = ({(cited.document_id, cited.quote) for cited in each.evidence} for each in (one, other))
        yield SentenceChange("same", one.text, other.text, one.verdict, other.verdict, quoted != quotes)
    yield from (SentenceChange("new", after=each.text, verdict_after=each.verdict) for each in left)


def _source_changes(before: Pack, after: Pack) -> Iterator[SourceChange]:
    """Each source of both answers once: those of before in their order, then those that came."""
    left = list(after.answer.sources or after.answer.nearest)
    for source in before.answer.sources or before.answer.nearest:
        name, place = source.documentName, _place(source)
        of_document = [other for other in left if other.document_id == source.document_id]
        words = [other for other in of_document if other.snippet == source.snippet]
        overlapping = [other for other in of_document if other.start < source.end and source.start < other.end]
        match = next(iter(words or overlapping), None)
        rank, (rank_after, fate) = before.fate_of(source)[0], after.fate_of(match or source)
        if match is None:
            yield SourceChange(name, place, "went", rank, rank_after, fate)
            continue
        left.remove(match)
        is_same = match.snippet == source.snippet and match.content_sha == source.content_sha
        change: Literal["same", "moved", "changed"] = "moved" if is_same else "changed"
        yield SourceChange(name, place, "same" if is_same and rank == rank_after else change, rank, rank_after)
    for source in left:
        rank, fate = before.fate_of(source)
        why = f"before: {fate}" if rank else ""
        yield SourceChange(source.documentName, _place(source), "came", rank, after.fate_of(source)[0], why)


def _place(source: Source) -> str:
    return f"p. {source.page}" if source.page else f"lines {source.line_start}-{source.line_end}"


def _document_changes(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> Iterator[DocumentChange]:
    """The documents of before that are others now, then those that were added since and are drawn on."""
    for key, source in before.documents.items():
        name, sha, file_sha, stored = source.documentName, source.content_sha, before.file_hashes.get(key), now.get(key)
        if stored is None:
            yield DocumentChange(name, "removed", before=sha)
        elif stored.content_sha != sha:
            yield DocumentChange(name, "changed", sha, stored.content_sha)
        elif file_sha and stored.file_sha != file_sha:
            yield DocumentChange(name, "touched", file_sha, stored.file_sha)
    try:
        made = datetime.fromisoformat(before.made_at)
    except ValueError:
        return
    for key, source in after.documents.items():
        added = now[key].added_at if key in now else None
        if key not in before.documents and added and made.tzinfo and added > made:
            yield DocumentChange(source.documentName, "added", after=source.content_sha)
