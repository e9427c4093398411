"""PLAN: listing x database -> what is to be done with each document. Writes nothing."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.errors import FootnoteError
from pipelines.ingestion.sources import SOURCES, Listing
from pipelines.ingestion.sources.files import path_of
from pipelines.store.documents import Known
from pipelines.types import SourceItem

Action = Literal["add", "update", "unchanged", "remove", "fail"]


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done with one document, and why.

    `update` may turn out to touch metadata only: that shows once the document is parsed. `original` is the SHA-256 of
    the stored original that is read instead of the source, where a document is made again from it.
    """

    action: Action
    item: SourceItem
    reason: str
    document_id: str = ""
    file_sha: str = ""
    error: FootnoteError | None = None
    original: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a run: listed documents by source and name, then removals.

    `refused` holds removals that exceed the guard: each is (source, how many, of how many).
    """

    steps: tuple[Step, ...]
    skipped: tuple[str, ...]
    refused: tuple[tuple[str, int, int], ...]

    def count(self, action: Action) -> int:
        """How many steps do this."""
        return sum(step.action == action for step in self.steps)


REMOVAL_GUARD = 0.2


def make_plan(
    listings: Sequence[Listing],
    known: Sequence[Known],
    *,
    recipe_of: Callable[[str], str],
    limit: int,
    said: Mapping[str, str] | None = None,
    ruled: Callable[[SourceItem], Mapping[str, Any]] = lambda item: {},
    verify: bool = False,
    allow_removals: bool = False,
) -> Plan:
    """Decide for every listed document and every one that a complete listing no longer has.

    Args:
        listings: What the sources hold now.
        known: What the database holds of the collection.
        recipe_of: The current recipe of a parser's name; a document of another recipe is made again.
        limit: Bytes read of a file to tell whether it changed.
        said: What a person says of every document now; one of which something else was said is brought in again.
        ruled: What the rules of the settings say of a document now; likewise.
        verify: Read every file, even where size and time are as they were.
        allow_removals: Remove even more than a fifth of a source.
    """
    by_uri = {document.source_uri: document for document in known}
    listed = {item.uri for listing in listings for item in listing.items}
    gone = [_gone(listing, known, listed) for listing in listings]
    moved = {document.file_sha: document.id for document in known if _has_left(document, listed)}
    steps: list[Step] = []
    seen: set[str] = set()
    for listing in listings:
        for name, error in listing.problems:
            where = SourceItem(f"{listing.source}#{name}", name, listing.source, listing.kind)
            steps.append(Step("fail", where, "cannot be listed", error=error))
        for item in listing.items:
            if item.uri in seen:
                continue
            seen.add(item.uri)
            document = by_uri.get(item.uri)
            agrees = document is not None and _agrees(document, said or {}, ruled(item))
            current = document is not None and agrees and _current(document, recipe_of)
            if document and current and not verify and item.stamp and document.stamp == item.stamp:
                steps.append(Step("unchanged", item, "same size and time", document.id, document.file_sha))
                continue
            step = _decide(item, document, moved, current=current, agrees=agrees, limit=limit)
            if step.reason == "moved":
                moved.pop(step.file_sha)
            steps.append(step)
    refused: list[tuple[str, int, int]] = []
    for listing, absent in zip(listings, gone, strict=True):
        taken = {step.document_id for step in steps if step.document_id}
        removals = [step for step in absent if step.document_id not in taken]
        held = sum(_belongs(document, listing) for document in known)
        if len(removals) > REMOVAL_GUARD * held and not allow_removals:
            refused.append((listing.source, len(removals), held))
        else:
            steps += removals
    return Plan(tuple(steps), tuple(name for listing in listings for name in listing.skipped), tuple(refused))


def _decide(
    item: SourceItem, document: Known | None, moved: Mapping[str, str], *, current: bool, agrees: bool, limit: int
) -> Step:
    try:
        file_sha = hashlib.sha256(SOURCES[item.source_kind].read(item, limit)).hexdigest()
    except FootnoteError as error:
        return Step("fail", item, "cannot be read", document.id if document else "", error=error)
    if document is None:
        if file_sha in moved:
            return Step("update", item, "moved", moved[file_sha], file_sha)
        return Step("add", item, "new", "", file_sha)
    if document.file_sha == file_sha and current:
        return Step("unchanged", item, "same bytes", document.id, file_sha)
    if document.file_sha != file_sha:
        reason = "the file changed"
    elif document.indexed_sha != document.content_sha:
        reason = "not yet in this model's nodes"
    else:
        reason = "parsed by other rules" if agrees else "said to be something else"
    return Step("update", item, reason, document.id, file_sha)


def _current(document: Known, recipe_of: Callable[[str], str]) -> bool:
    return document.indexed_sha == document.content_sha and document.recipe == recipe_of(document.parser)


def _agrees(document: Known, said: Mapping[str, str], ruled: Mapping[str, Any]) -> bool:
    return document.ruled == ruled and all(document.said.get(name) == value for name, value in said.items())


def _gone(listing: Listing, known: Sequence[Known], listed: set[str]) -> list[Step]:
    if not listing.complete:
        return []
    return [
        Step(
            "remove",
            SourceItem(document.source_uri, document.name, listing.source, listing.kind),
            "no longer in its source",
            document.id,
            document.file_sha,
        )
        for document in known
        if document.source_uri not in listed and _belongs(document, listing)
    ]


def _has_left(document: Known, listed: set[str]) -> bool:
    """Whether a document's file is no longer where it was, so that the same bytes elsewhere are that document."""
    uri = document.source_uri
    return uri not in listed and uri.startswith("file://") and not path_of(uri).exists()


def _belongs(document: Known, listing: Listing) -> bool:
    """Whether a complete listing would name this document if it were still there."""
    if document.source == listing.source:
        return True
    below = listing.kind == "file" and document.source_uri.startswith(listing.source.rstrip("/") + "/")
    return below and not path_of(document.source_uri).exists()
