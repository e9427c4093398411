"""PLAN: compare what the sources list with the database and decide what to do with each document."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal

from config.settings import SourceRule
from pipelines.errors import FootnoteError
from pipelines.ingestion.change_detection import recipe_changes
from pipelines.ingestion.loaders import loader_version
from pipelines.ingestion.sources import Listing, Read
from pipelines.ingestion.sources.base import Remark
from pipelines.store.documents import StoredDocument
from pipelines.store.fetch_cache import normalised_source
from pipelines.store.originals import path_of
from pipelines.store.read_snapshot import Mark
from pipelines.store.runs import FailedDocument
from pipelines.types import SourceItem

Action = Literal["add", "update", "unchanged", "remove", "fail"]
REMOVAL_GUARD = 0.2  # the share of a source's documents above which a person has to allow their removal


@dataclass(frozen=True, slots=True)
class Overrides:
    """The values that the caller states for every document of a run, instead of detected ones."""

    collection: str = ""
    category: str = ""
    visibility: str = ""
    parser: str = ""

    @property
    def stated(self) -> dict[str, str]:
        """The overrides that are stored with each document."""
        given = {"category": self.category, "visibility": self.visibility, "parser": self.parser}
        return {name: value for name, value in given.items() if value}


NOTHING_STATED = Overrides()


@dataclass(frozen=True, slots=True)
class Step:
    """The action on one document, and the reason.

    Attributes:
        action: `update` may turn out to touch metadata only, which shows once the document is parsed.
        item: The document at its source.
        reason: For a person.
        document_id: Of a stored document; empty for a new one.
        file_sha: SHA-256 of the bytes that were read.
        error: The error of a `fail` step.
        original: SHA-256 of the stored original that is read instead of the source; empty = the source.
        stage: The stage in which a `fail` step failed.
        collection: Where the document belongs; of a listing that failed, that of the run.
        held_since: When the version that the plan knows was written; None if it knows none. A document that another
            run changes between plan and step stays as that run left it.
        restamps: True if an unchanged document has a new modification time.
        version: The kept version that a rollback restores.
    """

    action: Action
    item: SourceItem
    reason: str
    document_id: str = ""
    file_sha: str = ""
    error: FootnoteError | None = None
    original: str = ""
    stage: Literal["list", "read", "undo"] = "list"
    collection: str = ""
    held_since: datetime | None = None
    restamps: bool = False
    version: int | None = None


def stored_step(action: Action, document: StoredDocument, reason: str, original: str = "") -> Step:
    """Make a step for a stored document, whether or not its source is listed."""
    item = SourceItem(document.source_uri, document.name, document.source, document.source_kind, document.stamp)
    return Step(
        action, item, reason, document.id, document.file_sha, original=original, collection=document.collection,
        held_since=document.ingested_at,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a run: listed documents by source and name, then removals.

    Attributes:
        steps: In this order.
        skipped: What is not ingested, with the reason.
        refused: Removals that exceed the guard: (source, how many, of how many).
        settled: Past failures that need nothing now, with the reason.
        listed: The URIs of each remote source that was listed without a problem, and of its refused removals.
        seconds: How long listing the sources took, with fetching and waiting.
        partial: What is stored without some of its content, with the reason.
        empty: The sources that hold nothing that can be ingested.
        undoes: The run that the steps undo.
        overrides: What the caller states of every document.
        known: What was stored when it was made, and, if that is every document, the state of the corpus then.
    """

    steps: tuple[Step, ...]
    skipped: tuple[Remark, ...] = ()
    refused: tuple[tuple[str, int, int], ...] = ()
    settled: Mapping[FailedDocument, str] = field(default_factory=dict)
    listed: Mapping[str, Collection[str]] = field(default_factory=dict)
    seconds: float = 0.0
    partial: tuple[Remark, ...] = ()
    empty: tuple[str, ...] = ()
    undoes: int | None = None
    overrides: Overrides = NOTHING_STATED
    known: tuple[Sequence[StoredDocument], Mark | None] = field(default=((), None), compare=False, repr=False)

    @property
    def is_idle(self) -> bool:
        """True if a run would write nothing, not even the new modification time of an unchanged file."""
        return not self.settled and all(step.action == "unchanged" and not step.restamps for step in self.steps)

    def count(self, action: Action) -> int:
        """The number of steps with this action."""
        return sum(step.action == action for step in self.steps)


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The functions and options by which listings and stored documents are compared.

    Attributes:
        recipe_of: The current recipe of a parser's name and a version of loaders; a document of another is made again.
        read: Reads an item; called where nothing cheaper shows whether it changed.
        overrides: What the caller states of every document; one that is stored with other overrides is updated.
        rules: What the rules of the settings state of an item; likewise.
        verify: Read everything, even where the source's stamp says that it is unchanged.
        allow_removals: Remove even more than a fifth of a source.
        failed: What failed the last time it was tried, by URI; it is read, whatever its stamp says.
        collection: That of the run.
        collections_of: The collections that an item belongs to.
        only_failed: Try only these again; a source that could not be listed is one of them.
        last_listed: The URIs of each remote source when it was listed last.
    """

    recipe_of: Callable[[str, int], str]
    read: Callable[[SourceItem], Read]
    overrides: Mapping[str, str] = field(default_factory=dict)
    rules: Callable[[SourceItem], Mapping[str, Any]] = lambda item: {}
    collection: str = ""
    collections_of: Callable[[SourceItem], Sequence[str]] = lambda item: ("",)
    verify: bool = False
    allow_removals: bool = False
    failed: Mapping[str, FailedDocument] = field(default_factory=dict)
    only_failed: bool = False
    last_listed: Mapping[str, Collection[str]] = field(default_factory=dict)

    def changes(self, document: StoredDocument, item: SourceItem) -> list[str]:
        """The reasons to update a document although its file is unchanged; empty = there is none."""
        if document.indexed_sha != document.content_sha:
            return ["not yet in this model's nodes"]
        overridden = any(document.said.get(name) != value for name, value in self.overrides.items())
        found = ["its overrides changed"] if overridden else []
        if item.source_kind != "file" and item.name != document.name:
            found.append("it has another name")
        if document.ruled != self.rules(item):
            found.append("a rule for it changed")
        made = recipe_changes(document.recipe, self.recipe_of(document.parser, loader_version(document)))
        return [*found, made] if made else found


def make_plan(listings: Sequence[Listing], known: Sequence[StoredDocument], context: PlanContext) -> Plan:
    """Plan a step for every listed document and every one that a complete listing no longer has.

    `known` is what the database holds of the collections that the items may belong to.
    """
    context = replace(context, recipe_of=cache(context.recipe_of))
    listed = {item.uri for listing in listings for item in listing.items}
    steps, moved = _steps(listings, known, listed, context)
    unchanged = {step.item.uri for step in steps if step.action == "unchanged"}
    settled = _settled(context, listings, listed, moved={*moved.values()}, unchanged=unchanged)
    if context.only_failed:
        return Plan(tuple(step for step in steps if step.action != "unchanged"), settled=settled)
    removals, refused = _removals(listings, known, listed, moved, context)
    kept = {source: missing for source, (missing, _) in refused.items()}
    removed = {step.item.name for step in removals}
    skipped = dict.fromkeys(each for listing in listings for each in listing.skipped if each.name not in removed)
    empty = (each.source for each in listings if not (each.items or each.skipped or each.problems))
    return Plan(
        steps=(*steps, *removals),
        skipped=tuple(skipped),
        refused=tuple((source, len(missing), total) for source, (missing, total) in refused.items()),
        settled=settled,
        listed={
            each.source: [item.uri for item in each.items] + [one.source_uri for one in kept.get(each.source, ())]
            for each in listings
            if each.kind != "file" and not each.problems
        },
        partial=tuple(dict.fromkeys(each for listing in listings for each in listing.partial)),
        empty=tuple(dict.fromkeys(empty)),
    )  # fmt: skip


def _steps(
    listings: Sequence[Listing], known: Sequence[StoredDocument], listed: set[str], context: PlanContext
) -> tuple[list[Step], dict[str, str]]:
    """Return a step for each listed document, each once, and by id the former URIs of documents that moved."""
    by_uri: dict[str, list[StoredDocument]] = defaultdict(list)
    for document in known:
        by_uri[document.source_uri].append(document)
    by_sha: dict[str, list[StoredDocument]] = defaultdict(list)
    for document in reversed(known):
        if document.source_uri not in listed:
            by_sha[document.file_sha].append(document)
    unlisted = {normalised_source(failure.source) for failure in context.failed.values() if failure.is_listing}
    steps, moved, seen = [], dict[str, str](), set[str]()
    for listing in listings:
        for name, error in listing.problems:
            failure = _listing_failure(listing, name)
            steps.append(Step("fail", failure, "cannot be listed", error=error, collection=context.collection))
        whole = not context.only_failed or not unlisted.isdisjoint(listing.places)
        for item in listing.items:
            if item.uri in seen or not (whole or item.uri in context.failed):
                continue
            seen.add(item.uri)
            for collection in context.collections_of(item):
                stored = by_uri[item.uri]
                held = next((each for each in stored if collection in ("", each.collection)), None)
                step = replace(_step(item, held or next(iter(stored), None), context), collection=collection)
                if stored and not held and step.action != "fail":  # it is stored in another collection, and moves
                    step = replace(step, action="update", reason="its collection changed")
                alike = by_sha[step.file_sha] if step.action == "add" else []
                while alike:  # the first document of the same bytes whose file is gone from its place is this one
                    former = alike.pop()
                    if former.source_uri.startswith("file://") and not path_of(former.source_uri).exists():
                        moved[former.id] = former.source_uri
                        step = Step("update", item, "moved", former.id, step.file_sha, held_since=former.ingested_at)
                        step = replace(step, collection=former.collection)
                        break
                steps.append(step)
    return steps, moved


def collection_chooser(
    stated: str, usual: str, rules: Sequence[SourceRule], declared: Mapping[str, str], known: Sequence[StoredDocument]
) -> Callable[[SourceItem], Sequence[str]]:
    """A function that gives the collections of an item.

    That which the caller states; else that of the last rule that matches it and names one; else that which `declared`
    has for its source; else those in which it is stored; else the only one of its source's documents; else the usual.
    """
    by_uri, by_source = defaultdict[str, list[str]](list), defaultdict[str, set[str]](set)
    for document in known:
        by_uri[document.source_uri].append(document.collection)
        by_source[document.source].add(document.collection)

    def chosen(item: SourceItem) -> Sequence[str]:
        ruled = [rule.collection for rule in _matching(item, rules) if rule.collection]
        if named := stated or (ruled[-1] if ruled else declared.get(item.source, "")):
            return (named,)
        of_source = by_source[item.source]
        return by_uri[item.uri] or (next(iter(of_source)) if len(of_source) == 1 else usual,)

    return chosen


def _step(item: SourceItem, document: StoredDocument | None, context: PlanContext) -> Step:
    """The step of a listed document, as if none had moved."""
    changes = context.changes(document, item) if document else []
    has_stamp = bool(item.stamp) and not context.verify and item.uri not in context.failed
    if document and not changes and has_stamp and document.stamp == item.stamp:
        why = "same size and time" if item.source_kind == "file" else "not changed at its source"
        return Step("unchanged", item, why, document.id, document.file_sha, held_since=document.ingested_at)
    try:
        read = context.read(item)
    except FootnoteError as error:
        return Step("fail", item, "cannot be read", document.id if document else "", error=error, stage="read")
    original = read.sha if read.kept else ""
    if document is None:
        why = "failed the last time" if item.uri in context.failed else "new"
        return Step("add", item, why, "", read.sha, original=original)
    if document.file_sha != read.sha:
        changes = ["the file changed" if item.source_kind == "file" else "it changed at its source", *changes]
    step = Step("unchanged", item, "same bytes", document.id, read.sha, held_since=document.ingested_at)
    if changes:
        return replace(step, action="update", reason=", ".join(changes), original=original)
    return replace(step, restamps=document.stamp != item.stamp)


def rule_overrides(item: SourceItem, rules: Sequence[SourceRule]) -> dict[str, Any]:
    """Return the category, parser, visibility and year that rules give an item; of two that match, the later one wins.

    A rule's glob must match the whole name, address or source; its `*` reaches over `/`.
    """
    given: dict[str, Any] = {}
    for rule in _matching(item, rules):
        given |= {name: value for name, value in rule.model_dump(exclude={"match", "collection"}).items() if value}
    return given


def _matching(item: SourceItem, rules: Sequence[SourceRule]) -> list[SourceRule]:
    places = (item.name, item.uri, item.source)
    return [rule for rule in rules if any(fnmatchcase(place, rule.match) for place in places)]


# What a complete listing no longer holds: documents to remove or that moved, and failures that are over


def _removals(
    listings: Sequence[Listing],
    known: Sequence[StoredDocument],
    listed: set[str],
    moved: Collection[str],
    context: PlanContext,
) -> tuple[list[Step], dict[str, tuple[list[StoredDocument], int]]]:
    """Return the removals; and by source (what is missing, of how many) where that is too much to remove unasked.

    What a source that is not listed completely now held when it was listed last is not missing, and what one source may
    not remove no other removes.
    """
    complete = {listing.source: listing for listing in reversed(listings) if listing.complete}
    others = {uri for source, uris in context.last_listed.items() if source not in complete for uri in uris}
    stays = listed | others
    found: dict[str, Step] = {}
    refused: dict[str, tuple[list[StoredDocument], int]] = {}
    for source, listing in reversed(complete.items()):
        before = context.last_listed.get(source, ())
        below = [
            one for one in known if one.source_uri in before or _is_within(one.source, one.source_uri, listing)
        ]  # fmt: skip
        missing = [
            one
            for one in below
            if one.source_uri not in stays
            and one.id not in moved
            and (one.source_uri in before or _would_list(listing, one.source, one.source_uri))
        ]
        if len(missing) > REMOVAL_GUARD * len(below) and not context.allow_removals:
            refused[source] = missing, len(below)
        for one in missing:
            step = stored_step("remove", one, "no longer in its source")
            found[one.id] = replace(step, item=SourceItem(one.source_uri, one.name, source, listing.kind))
    for missing, _ in refused.values():
        for one in missing:
            found.pop(one.id, None)
    return list(found.values()), refused


def _listing_failure(listing: Listing, name: str) -> SourceItem:
    """Make the item that represents a source, or a part of it, that could not be listed."""
    part = name if listing.items or len(listing.problems) > 1 else ""
    return SourceItem(f"{listing.source}#{part}", name, listing.source, listing.kind)


def locations_to_retry(failed: Sequence[FailedDocument]) -> list[str]:
    """Return the locations of what failed, each once; one that is gone only if it could not be listed itself."""
    unlisted = {failure.source for failure in failed if failure.is_listing}
    places = dict.fromkeys(failure.source for failure in failed)
    paths = {place: path_of(place) for place in places if place.startswith("file://")}
    return [
        str(paths.get(place, place)).removeprefix("file:")
        for place in places
        if place not in paths or place in unlisted or paths[place].exists()
    ]


def _settled(
    context: PlanContext, listings: Sequence[Listing], listed: set[str], *, moved: set[str], unchanged: set[str]
) -> Mapping[FailedDocument, str]:
    """Return the past failures that are over, each with the reason.

    A document's failure is over if nothing of it is stored and its file is gone, if it moved, or if it is unchanged. A
    listing failure is over once its source was listed without the same failure. `moved` and `unchanged` are URIs.
    """
    again = {_listing_failure(listing, name).uri for listing in listings for name, _ in listing.problems}
    places = {place for listing in listings for place in listing.places}
    complete = [listing for listing in listings if listing.complete]

    def reason(failure: FailedDocument) -> str:
        uri, source = failure.source_uri, failure.source
        gone = source.startswith("file://") and not path_of(source).exists()
        if failure.is_listing:
            if uri in again:
                return ""
            if normalised_source(source) in places:
                return "its source was looked at again"
            return "its place is gone" if gone and any(_is_within(source, source, each) for each in complete) else ""
        if uri in unchanged:
            return "it is again as it is stored"
        if uri in moved:
            return "it moved"
        gone = (gone and uri == source) or any(_would_list(each, source, uri) for each in complete)
        return "its file is gone" if gone and not failure.stored and uri not in listed else ""

    return {failure: why for failure in context.failed.values() if (why := reason(failure))}


def _would_list(listing: Listing, source: str, uri: str) -> bool:
    """True if a complete listing would contain this URI if it still existed."""
    if uri.partition("#")[0] in listing.unread:
        return False
    return source == listing.source or (_is_within(source, uri, listing) and not path_of(uri).exists())


def _is_within(source: str, uri: str, listing: Listing) -> bool:
    """True if a URI belongs to a listed source, or to another source but below its folder."""
    return source == listing.source or (listing.kind == "file" and uri.startswith(listing.source.rstrip("/") + "/"))
