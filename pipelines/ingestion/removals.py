"""REMOVALS: what a complete listing no longer holds: documents to remove or that moved, and failures that are over."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pipelines.ingestion.sources import Listing, kind_of
from pipelines.store.documents import StoredDocument
from pipelines.store.fetch_cache import normalised_source
from pipelines.store.originals import path_of
from pipelines.store.runs import Failure
from pipelines.types import SourceItem

REMOVAL_GUARD = 0.2


@dataclass(frozen=True, slots=True)
class MissingDocuments:
    """The documents that a source no longer holds, out of the `held` that it did."""

    listing: Listing
    documents: tuple[StoredDocument, ...]
    held: int

    @property
    def guarded(self) -> bool:
        """Whether they are so many that a person has to allow their removal."""
        return len(self.documents) > REMOVAL_GUARD * self.held


def find_missing(
    listings: Sequence[Listing],
    known: Sequence[StoredDocument],
    listed: set[str],
    moved: set[str],
    held: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[MissingDocuments]:
    """Find what each completely listed source no longer holds; each source once.

    Args:
        listings: What the sources hold now.
        known: The stored documents.
        listed: The URIs of all that is listed.
        moved: The ids of documents that moved, which are not missing.
        held: The URIs that each remote source listed the last time. What is still held by a source that is not listed
            completely now is not missing.
    """
    found: dict[str, MissingDocuments] = {}
    complete = {listing.source for listing in listings if listing.complete}
    others = {uri for source, uris in held.items() if source not in complete for uri in uris}
    for listing in listings:
        if listing.complete and listing.source not in found:
            own = held.get(listing.source, ())
            below = [
                document
                for document in known
                if document.source_uri in own or _is_within(document.source, document.source_uri, listing)
            ]
            gone = [
                document
                for document in below
                if document.source_uri not in listed
                and document.source_uri not in others
                and document.id not in moved
                and (document.source_uri in own or _would_list(listing, document.source, document.source_uri))
            ]
            found[listing.source] = MissingDocuments(listing, tuple(gone), len(below))
    return list(found.values())


def has_left(document: StoredDocument, listed: set[str]) -> bool:
    """Whether a document's file is gone from its place, so that the same bytes elsewhere are that document."""
    uri = document.source_uri
    return uri not in listed and uri.startswith("file://") and not path_of(uri).exists()


def listing_failure_item(listing: Listing, name: str) -> SourceItem:
    """Make the item that represents a source, or a part of it, that could not be listed."""
    part = name if listing.items or len(listing.problems) > 1 else ""
    return SourceItem(f"{listing.source}#{part}", name, listing.source, listing.kind)


def locations_to_retry(failed: Sequence[Failure]) -> list[str]:
    """Return the locations of what failed, each once; one that is gone only if it could not be listed itself."""
    unlisted = {failure.source for failure in failed if failure.is_listing}
    places = dict.fromkeys(failure.source for failure in failed)
    paths = {place: path_of(place) for place in places if place.startswith("file://")}
    return [
        str(paths.get(place, place)).removeprefix("file:")
        for place in places
        if place not in paths or place in unlisted or paths[place].exists()
    ]


def resolved_failures(
    failed: Sequence[Failure],
    listings: Sequence[Listing],
    listed: set[str],
    *,
    moved: set[str],
    unchanged: set[str],
) -> Mapping[SourceItem, str]:
    """Return the past failures that are over, each with the reason.

    A document's failure is over if nothing of it is stored and its file is gone, if it moved, or if it is unchanged. A
    listing failure is over once its source was listed without the same failure.

    Args:
        failed: What failed the last time.
        listings: What the sources hold now.
        listed: The URIs of all of that.
        moved: The URIs that documents had before they moved.
        unchanged: The URIs whose files are unchanged since they were stored.
    """
    found: dict[SourceItem, str] = {}
    again = {listing_failure_item(listing, name).uri for listing in listings for name, _ in listing.problems}
    for failure in failed:
        uri, source = failure.source_uri, failure.source
        item = SourceItem(uri, failure.document, source, kind_of(source))
        if failure.is_listing:
            if why := _why_listing_resolved(failure, listings, again):
                found[item] = why
        elif uri in unchanged:
            found[item] = "it is again as it is stored"
        elif uri in moved:
            found[item] = "it moved"
        elif not failure.stored and uri not in listed and _is_gone(source, uri, listings):
            found[item] = "its file is gone"
    return found


def _why_listing_resolved(failure: Failure, listings: Sequence[Listing], again: Collection[str]) -> str:
    """Why a listing failure is over; empty if it is not."""
    source = failure.source
    if failure.source_uri in again:
        return ""
    if any(normalised_source(source) in listing.places for listing in listings):
        return "its source was looked at again"
    gone = source.startswith("file://") and not path_of(source).exists()
    within = any(listing.complete and _is_within(source, source, listing) for listing in listings)
    return "its place is gone" if gone and within else ""


def _is_gone(source: str, uri: str, listings: Sequence[Listing]) -> bool:
    own_file = uri == source and uri.startswith("file://") and not path_of(uri).exists()
    return own_file or any(listing.complete and _would_list(listing, source, uri) for listing in listings)


def _would_list(listing: Listing, source: str, uri: str) -> bool:
    """Whether a complete listing would contain this URI if it still existed."""
    if uri.partition("#")[0] in listing.unread:
        return False
    return source == listing.source or (_is_within(source, uri, listing) and not path_of(uri).exists())


def _is_within(source: str, uri: str, listing: Listing) -> bool:
    """Whether a URI belongs to a listed source, or to another source but below its folder."""
    return source == listing.source or (listing.kind == "file" and uri.startswith(listing.source.rstrip("/") + "/"))
