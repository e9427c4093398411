"""REPLAY: an answer pack asked again, what changed, and why."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple

from pipelines.answers import Citation
from pipelines.query.engine import QueryEngine
from pipelines.query.pack import Pack, pack_answer
from pipelines.query.search import Request
from pipelines.store.database import reading
from pipelines.store.versions import Hashes, hashes_of, version_text
from pipelines.text import fold

Stands = Literal["now", "older", "no", "unknown"]
Of = Literal["outcome", "sentence", "source", "setting", "version"]
_CORPUS = "corpus version"
_VERSIONS = {
    "The embedding model": "embedding_model",
    "The language model": "language_model",
    "Footnote": "footnote",
    _CORPUS: "corpus_version",
}


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """A part of an answer, or what it depends on, that is another than before; None where it is missing.

    The values of a sentence are its verdict with the words that it cites, of a source the hash of its document; `why`
    names what cut a source from the ranking of the other answer, if that is known.
    """

    of: Of
    what: str
    before: Any = None
    after: Any = None
    why: str = ""


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
    changes: tuple[AnswerChange, ...]
    causes: tuple[str, ...]
    quotations: tuple[QuotationCheck, ...] = ()


def replay_pack(engine: QueryEngine, pack: Pack) -> Replay:
    """Ask a pack's question again, with its history, filters and retrievers, for its audience; nothing is recorded."""
    asked = pack.asked
    request = Request(asked.question, asked.filters, asked.audience, asked.mode, engine.passages, asked.history)
    after = pack_answer(engine, request, *engine.finished(request))
    names = {source.n: source.documentName for source in pack.answer.sources}
    with reading(engine.database.engine, "checking the quotations of an answer pack") as connection:
        now = hashes_of(connection, {*pack.documents, *after.documents}, request.audience)

        @cache
        def read(document_id: str, content_sha: str) -> str | None:
            return version_text(connection, document_id, content_sha)

        quotations = tuple(
            QuotationCheck(cited.n, names[cited.n], cited.quote, check_quotation(cited, now, read))
            for cited in dict.fromkeys(pack.answer.evidence)
        )
    return replace(compare_packs(pack, after, now), quotations=quotations)


def check_quotation(citation: Citation, now: Mapping[str, Hashes], read: Callable[[str, str], str | None]) -> Stands:
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
    changes, old, new = [], _parts(before), _parts(after)
    for of, name in dict.fromkeys([*old, *new]):
        was, is_now = old.get((of, name)), new.get((of, name))
        values = was and was.value, is_now and is_now.value
        part = is_now or was
        if part and values[0] != values[1]:
            trace = None if was and is_now else (before if is_now else after).trace
            fates = (each.fate for each in (trace.candidates if trace else ()) if each.node_id in part.nodes)
            fate = next(fates, "")
            changes.append(AnswerChange(of, part.what, *values, fate))
    same = not any(change.of in ("outcome", "sentence", "source") for change in changes)
    documents = [*_document_causes(before, after, now)]
    causes = [*documents]
    for change in changes:
        past, present = ("none" if value in (None, "", [], ()) else value for value in (change.before, change.after))
        if change.of in ("setting", "version") and change.what != _CORPUS:
            causes.append(f"{'The setting ' * (change.of == 'setting')}{change.what} was {past} and is {present}.")
        elif change.what == _CORPUS and not documents:
            causes.append(f"Other documents changed: the corpus was at version {past} and is at {present}.")
    if after.answer.fallback_reason and not before.answer.fallback_reason:
        causes.append("The language model failed this time, and sentences were quoted instead.")
    if not same and not causes:
        if before.made_at[:10] != after.made_at[:10]:
            causes.append("It is another day: jobs that go on are longer, and what is recent is counted from today.")
        if "llm" in (before.answer.mode, after.answer.mode):
            causes.append("A language model does not word every answer alike.")
        causes = causes or ["Nothing that the pack tells of is another than before."]
    return Replay(before, after, same, tuple(changes), tuple(causes))


class _Part(NamedTuple):
    what: str
    value: Any
    nodes: tuple[str, ...] = ()


def _parts(pack: Pack) -> dict[tuple[Of, str], _Part]:
    """What an answer consists of and depends on, in the order of a report; sentences are known by their words."""
    answer = pack.answer
    parts: dict[tuple[Of, str], _Part] = {}
    for name in ("answered", "confidence", "mode", "model", "truncated"):
        parts["outcome", name] = _Part(name, getattr(answer, name))
    parts["outcome", "failed"] = _Part("failed", bool(answer.fallback_reason))
    parts["outcome", "conflicts"] = _Part("conflicts", tuple(conflict.said for conflict in answer.conflicts))
    for sentence in answer.sentences:
        quotes = sorted({f"“{cited.quote}” ({cited.document_id})" for cited in sentence.evidence})
        parts["sentence", fold(sentence.text)] = _Part(sentence.text, " ".join([f"{sentence.verdict}:", *quotes]))
    for source in answer.sources or answer.nearest:
        place = f"p. {source.page}" if source.page else f"lines {source.line_start}-{source.line_end}"
        shown = f"{source.documentName}, {place}"
        words = source.document_id + source.snippet
        words += str(source.start) if ("source", words) in parts else ""  # the same words at another place
        parts["source", words] = _Part(shown, source.content_sha, source.node_ids)
    parts |= {("setting", name): _Part(name, value) for name, value in pack.settings.items()}
    return parts | {("version", what): _Part(what, getattr(pack, name)) for what, name in _VERSIONS.items()}


def _document_causes(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> Iterator[str]:
    """The documents of before that are others now, then those that were added since and are drawn on."""
    for key, source in before.documents.items():
        if key not in now:
            yield f"{source.documentName} is gone, or hidden from this audience."
        elif now[key].content_sha != source.content_sha:
            yield f"{source.documentName} has another text now."
    with suppress(ValueError, TypeError):  # a time of the pack that is none, or has no zone
        made = datetime.fromisoformat(before.made_at)
        for key, source in after.documents.items():
            added = now[key].added_at if key in now and key not in before.documents else None
            if added and added > made:
                yield f"{source.documentName} was added since."
