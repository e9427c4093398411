"""What a complete listing no longer has: documents to be removed or that moved, and failures that are over."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pipelines.ingestion.sources import Listing, kind_of
from pipelines.store.documents import Known
from pipelines.store.failures import Standing
from pipelines.store.fetched import folded
from pipelines.store.originals import path_of
from pipelines.types import SourceItem

REMOVAL_GUARD = 0.2


@dataclass(frozen=True, slots=True)
class Absence:
    """The documents that a source no longer has, out of how many that it had."""

    listing: Listing
    documents: tuple[Known, ...]
    held: int

    @property
    def guarded(self) -> bool:
        """Whether they are so many that a person has to allow their removal."""
        return len(self.documents) > REMOVAL_GUARD * self.held


def absences(
    listings: Sequence[Listing],
    known: Sequence[Known],
    listed: set[str],
    moved: set[str],
    held: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[Absence]:
    """What each completely listed source no longer has, without documents (by id) that moved; each source once.

    `held` is what each remote source listed when it was last looked at. What another one than those that are complete
    now still holds is no absence.
    """
    found: dict[str, Absence] = {}
    complete = {listing.source for listing in listings if listing.complete}
    others = {uri for source, uris in held.items() if source not in complete for uri in uris}
    for listing in listings:
        if listing.complete and listing.source not in found:
            own = held.get(listing.source, ())
            below = [
                document
                for document in known
                if document.source_uri in own or _below(document.source, document.source_uri, listing)
            ]
            gone = [
                document
                for document in below
                if document.source_uri not in listed
                and document.source_uri not in others
                and document.id not in moved
                and (document.source_uri in own or _names(listing, document.source, document.source_uri))
            ]
            found[listing.source] = Absence(listing, tuple(gone), len(below))
    return list(found.values())


def has_left(document: Known, listed: set[str]) -> bool:
    """Whether a document's file is no longer where it was, so that the same bytes elsewhere are that document."""
    uri = document.source_uri
    return uri not in listed and uri.startswith("file://") and not path_of(uri).exists()


def unlisted(listing: Listing, name: str) -> SourceItem:
    """What stands for a source, or a part of it, that could not be listed: a source is one however it was named."""
    part = name if listing.items or len(listing.problems) > 1 else ""
    return SourceItem(f"{listing.source}#{part}", name, listing.source, listing.kind)


def sources_of(failed: Sequence[Standing]) -> list[str]:
    """Where what failed came from, each place once; a place that is gone only where it could not be listed itself."""
    asked = {failure.source for failure in failed if failure.is_listing}
    places = dict.fromkeys(failure.source for failure in failed)
    paths = {place: path_of(place) for place in places if place.startswith("file://")}
    return [
        str(paths.get(place, place)).removeprefix("file:")
        for place in places
        if place not in paths or place in asked or paths[place].exists()
    ]


def settled(
    failed: Sequence[Standing],
    listings: Sequence[Listing],
    listed: set[str],
    *,
    moved: set[str],
    unchanged: set[str],
) -> Mapping[SourceItem, str]:
    """The past failures that hold no longer, each with the reason: nothing of them is stored and their file is gone.

    What could not be listed is over once its source was looked at and does not say the same again.

    Args:
        failed: What failed the last time.
        listings: What the sources hold now.
        listed: The URIs of all of that.
        moved: The URIs that documents had before they moved.
        unchanged: The URIs whose files are again as they are stored.
    """
    found: dict[SourceItem, str] = {}
    again = {unlisted(listing, name).uri for listing in listings for name, _ in listing.problems}
    for failure in failed:
        uri, source = failure.source_uri, failure.source
        item = SourceItem(uri, failure.document, source, kind_of(source))
        if failure.is_listing:
            if why := _over_as_listing(failure, listings, again):
                found[item] = why
        elif uri in unchanged:
            found[item] = "it is again as it is stored"
        elif uri in moved:
            found[item] = "it moved"
        elif not failure.stored and uri not in listed and _over(source, uri, listings):
            found[item] = "its file is gone"
    return found


def _over_as_listing(failure: Standing, listings: Sequence[Listing], again: Collection[str]) -> str:
    """Why what could not be listed does not stand any longer; empty where it does."""
    source = failure.source
    if failure.source_uri in again:
        return ""
    if any(folded(source) in listing.places for listing in listings):
        return "its source was looked at again"
    gone = source.startswith("file://") and not path_of(source).exists()
    within = any(listing.complete and _below(source, source, listing) for listing in listings)
    return "its place is gone" if gone and within else ""


def _over(source: str, uri: str, listings: Sequence[Listing]) -> bool:
    own_file = uri == source and uri.startswith("file://") and not path_of(uri).exists()
    return own_file or any(listing.complete and _names(listing, source, uri) for listing in listings)


def _names(listing: Listing, source: str, uri: str) -> bool:
    """Whether a complete listing would name this if it were still there."""
    if uri.partition("#")[0] in listing.unread:
        return False
    return source == listing.source or (_below(source, uri, listing) and not path_of(uri).exists())


def _below(source: str, uri: str, listing: Listing) -> bool:
    """Whether a place is of a source, or of another one but below its folder."""
    return source == listing.source or (listing.kind == "file" and uri.startswith(listing.source.rstrip("/") + "/"))
