"""PLAN: listing x database -> what is to be done with each document. Keeps what it fetches, writes nothing else."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal

from pipelines.errors import FootnoteError
from pipelines.ingestion.absent import Absence, absences, has_left, settled, unlisted
from pipelines.ingestion.fingerprint import recipe_changes
from pipelines.ingestion.sources import Listing, Read
from pipelines.ingestion.sources.base import Remark
from pipelines.store.documents import Known
from pipelines.store.failures import Standing
from pipelines.store.fetched import folded
from pipelines.types import SourceItem

Action = Literal["add", "update", "unchanged", "remove", "fail"]


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done with one document, and why.

    `update` may turn out to touch metadata only: that shows once the document is parsed. `original` is the SHA-256 of
    the stored original that is read instead of the source, where a document is made again from it. `stage` is where a
    step that fails already failed. `collection` is where the document belongs; empty = where those of the run do.
    `held_since` is when the version that the plan knows was written, None where it knows none: a document that another
    run changes between plan and step stays as that left it. `restamps` is whether an unchanged one has a new time.
    """

    action: Action
    item: SourceItem
    reason: str
    document_id: str = ""
    file_sha: str = ""
    error: FootnoteError | None = None
    original: str = ""
    stage: Literal["list", "read"] = "list"
    collection: str = ""
    held_since: datetime | None = None
    restamps: bool = False


def stored_step(action: Action, document: Known, reason: str, original: str = "") -> Step:
    """What is to be done with a stored document, wherever its source is."""
    item = SourceItem(document.source_uri, document.name, document.source, document.source_kind, document.stamp)
    return Step(
        action, item, reason, document.id, document.file_sha, original=original, collection=document.collection,
        held_since=document.ingested_at,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a run: listed documents by source and name, then removals.

    `refused` holds removals that exceed the guard: each is (source, how many, of how many). `settled` holds what failed
    before and needs nothing now, with the reason. `held` is what each remote source holds that was listed without a
    problem, with what it refuses to have removed. `seconds` is how long the look at the sources took, fetching and
    waiting included. `skipped` is what is passed over, with the reason; `partial` what is stored without something;
    `empty` the sources in which there is nothing that is read.
    """

    steps: tuple[Step, ...]
    skipped: tuple[Remark, ...]
    refused: tuple[tuple[str, int, int], ...]
    settled: Mapping[SourceItem, str] = field(default_factory=dict)
    held: Mapping[str, Collection[str]] = field(default_factory=dict)
    seconds: float = 0.0
    partial: tuple[Remark, ...] = ()
    empty: tuple[str, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Whether a run would do nothing, not even note the new time of a file that holds what it held."""
        return not self.settled and all(step.action == "unchanged" and not step.restamps for step in self.steps)

    def count(self, action: Action) -> int:
        """How many steps do this."""
        return sum(step.action == action for step in self.steps)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a plan is made by.

    Attributes:
        recipe_of: The current recipe of a parser's name; a document of another recipe is made again.
        read: What an item holds now, asked where nothing cheaper tells whether it changed.
        said: What a person says of every document now; one of which something else was said is brought in again.
        ruled: What the rules of the settings say of a document now; likewise.
        verify: Read everything, even where its source tells cheaply that it is as it was.
        allow_removals: Remove even more than a fifth of a source.
        failed: What failed the last time it was tried, by URI; it is read, whatever tells cheaply that it is as it was.
        only_failed: Try these again, and leave everything else alone; a source that could not be listed is one of them.
        held: What each remote source held when it was looked at last.
    """

    recipe_of: Callable[[str], str]
    read: Callable[[SourceItem], Read]
    said: Mapping[str, str] = field(default_factory=dict)
    ruled: Callable[[SourceItem], Mapping[str, Any]] = lambda item: {}
    verify: bool = False
    allow_removals: bool = False
    failed: Mapping[str, Standing] = field(default_factory=dict)
    only_failed: bool = False
    held: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def unlisted(self) -> frozenset[str]:
        """The sources of which all or a part could not be listed, as `alike` spells them."""
        return frozenset(folded(failure.source) for failure in self.failed.values() if failure.is_listing)

    def changes(self, document: Known, item: SourceItem) -> list[str]:
        """Why a document whose file is as it was is brought in again all the same; nothing = it is not."""
        if document.indexed_sha != document.content_sha:
            return ["not yet in this model's nodes"]
        said = any(document.said.get(name) != value for name, value in self.said.items())
        found = ["said to be something else"] if said else []
        if item.source_kind != "file" and item.name != document.name:
            found.append("it has another name")
        if document.ruled != self.ruled(item):
            found.append("a rule says something else")
        made = recipe_changes(document.recipe, self.recipe_of(document.parser))
        return [*found, made] if made else found

    def believes(self, document: Known, item: SourceItem) -> bool:
        """Whether it is enough that the source tells the state that the document was stored in."""
        return bool(item.stamp) and document.stamp == item.stamp and not self.verify and item.uri not in self.failed


def make_plan(listings: Sequence[Listing], known: Sequence[Known], terms: Terms) -> Plan:
    """Decide for every listed document and every one that a complete listing no longer has.

    Args:
        listings: What the sources hold now.
        known: What the database holds of the collection.
        terms: What these are compared by.
    """
    terms = replace(terms, recipe_of=cache(terms.recipe_of))
    listed = {item.uri for listing in listings for item in listing.items}
    steps, moved = _steps(listings, known, listed, terms)
    unchanged = {step.item.uri for step in steps if step.action == "unchanged"}
    over = settled([*terms.failed.values()], listings, listed, moved={*moved.values()}, unchanged=unchanged)
    if terms.only_failed:
        return Plan(tuple(step for step in steps if step.action != "unchanged"), (), (), over)
    absent = absences(listings, known, listed, {*moved}, terms.held)
    gone, refused = _removals(absent, allow=terms.allow_removals)
    guarded = tuple((each.listing.source, len(each.documents), each.held) for each in refused)
    skipped = _passed_over(listings, removed={step.item.name for step in gone})
    partial = tuple(dict.fromkeys(each for listing in listings for each in listing.partial))
    empty = tuple(dict.fromkeys(each.source for each in listings if not (each.items or each.skipped or each.problems)))
    return Plan((*steps, *gone), skipped, guarded, over, _held(listings, refused), partial=partial, empty=empty)


def _passed_over(listings: Sequence[Listing], *, removed: Collection[str]) -> tuple[Remark, ...]:
    """What is not taken, each once, without the names of what is removed, which says it."""
    remarks = (each for listing in listings for each in listing.skipped if each.name not in removed)
    return tuple(dict.fromkeys(remarks))


def _held(listings: Sequence[Listing], refused: Sequence[Absence]) -> dict[str, list[str]]:
    """What each remote source that was listed without a problem holds, with what may not be removed of it yet."""
    stays = {absence.listing.source: [document.source_uri for document in absence.documents] for absence in refused}
    return {
        listing.source: [*(item.uri for item in listing.items), *stays.get(listing.source, ())]
        for listing in listings
        if listing.kind != "file" and not listing.problems
    }


def _steps(
    listings: Sequence[Listing], known: Sequence[Known], listed: set[str], terms: Terms
) -> tuple[list[Step], dict[str, str]]:
    """(what is to be done with what is listed, each once; the URIs that documents had that moved, by their ids)."""
    by_uri = {document.source_uri: document for document in known}
    by_sha: dict[str, list[Known]] = defaultdict(list)
    for document in reversed(known):
        if document.source_uri not in listed:
            by_sha[document.file_sha].append(document)
    steps, moved, seen = [], dict[str, str](), set[str]()
    for listing in listings:
        steps += [_unlisted(listing, name, error) for name, error in listing.problems]
        whole = not terms.only_failed or not terms.unlisted.isdisjoint(listing.places)
        for item in listing.items:
            if item.uri in seen or not (whole or item.uri in terms.failed):
                continue
            seen.add(item.uri)
            step = _step(item, by_uri.get(item.uri), terms)
            if step.action == "add" and (came := _came_from(by_sha[step.file_sha], listed)):
                moved[came.id] = came.source_uri
                step = Step("update", item, "moved", came.id, step.file_sha, held_since=came.ingested_at)
            steps.append(step)
    return steps, moved


def _unlisted(listing: Listing, name: str, error: FootnoteError) -> Step:
    return Step("fail", unlisted(listing, name), "cannot be listed", error=error)


def _step(item: SourceItem, document: Known | None, terms: Terms) -> Step:
    """What is to be done with a listed document, as if none had moved."""
    changes = terms.changes(document, item) if document else []
    if document and not changes and terms.believes(document, item):
        why = "same size and time" if item.source_kind == "file" else "not changed at its source"
        return Step("unchanged", item, why, document.id, document.file_sha)
    try:
        held = terms.read(item)
    except FootnoteError as error:
        return Step("fail", item, "cannot be read", document.id if document else "", error=error, stage="read")
    original = held.sha if held.kept else ""
    if document is None:
        why = "failed the last time" if item.uri in terms.failed else "new"
        return Step("add", item, why, "", held.sha, original=original)
    if document.file_sha != held.sha:
        changes = ["the file changed" if item.source_kind == "file" else "it changed at its source", *changes]
    if changes:
        return Step(
            "update", item, ", ".join(changes), document.id, held.sha, original=original,
            held_since=document.ingested_at,
        )  # fmt: skip
    return Step("unchanged", item, "same bytes", document.id, held.sha, restamps=document.stamp != item.stamp)


def _came_from(alike: list[Known], listed: set[str]) -> Known | None:
    """The document of the same bytes whose file is no longer where it was; it is taken from the list."""
    while alike:
        document = alike.pop()
        if has_left(document, listed):
            return document
    return None


def _removals(found: Sequence[Absence], *, allow: bool) -> tuple[list[Step], list[Absence]]:
    """(the removals, what was refused); what one source refuses is removed for no other."""
    guarded = [absence for absence in found if absence.guarded and not allow]
    stays = {document.id for absence in guarded for document in absence.documents}
    steps = {
        document.id: Step(
            "remove",
            SourceItem(document.source_uri, document.name, absence.listing.source, absence.listing.kind),
            "no longer in its source",
            document.id,
            document.file_sha,
            held_since=document.ingested_at,
        )
        for absence in found
        for document in absence.documents
        if document.id not in stays
    }
    return list(steps.values()), guarded
