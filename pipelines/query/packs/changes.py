"""What changed between an answer pack and the same question asked again, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.query.packs.pack import Pack, PackedSentence
from pipelines.query.packs.source_changes import DocumentChange, SourceChange, document_changes, source_changes
from pipelines.store.citations import Hashes
from pipelines.store.tokens import tokenise
from pipelines.text import fold

_ALIKE = 0.5  # share of common terms from which two sentences are one that was changed
_SAID = {
    "changed": "has another text now",
    "touched": "is another file now, with the same text",
    "removed": "is gone, or not for these eyes",
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
    """What became of a sentence; `cites` tells whether it stands on other words than before."""

    change: Literal["same", "changed", "gone", "new"]
    before: str = ""
    after: str = ""
    verdict_before: str = ""
    verdict_after: str = ""
    cites: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """All of it; `causes` says in sentences what may have changed the answer.

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


def changes(before: Pack, after: Pack, now: Mapping[str, Hashes]) -> Changes:
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
    told = [_sentence_change(sentence, after[pairs[p]] if p in pairs else None) for p, sentence in enumerate(before)]
    told += [SentenceChange("new", after=after[p].text, verdict_after=after[p].verdict) for p in left]
    return tuple(told)


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
    causes = [f"{change.document} {_SAID[change.change]}." for change in documents]
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
    """What may change an answer although nothing that a pack tells of is another."""
    causes = []
    if before.made_at[:10] != after.made_at[:10]:
        causes.append("It is another day: jobs that go on are longer, and what is recent is counted from today.")
    if "llm" in (before.answer.mode, after.answer.mode):
        causes.append("A language model does not word every answer alike.")
    return tuple(causes) or ("Nothing that the pack tells of is another than before.",)


def _shown_value(value: Any) -> str:
    return "unset" if value in (None, "", [], ()) else str(value)
