"""LIST: where documents come from. A lister names everything a source holds, and says whether the list is complete."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.errors import SourceError
from pipelines.ingestion.sources.files import is_as_listed, list_files, read_file
from pipelines.types import SourceItem


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source holds now.

    Attributes:
        source: The source's own URI.
        items: Everything there is, ordered by name.
        complete: Whether nothing can be missing: only then may absent documents be removed.
        skipped: Names that are there but of no kind we load.
        problems: (name, error) of what should have been listed but could not be.
    """

    source: str
    kind: str
    items: tuple[SourceItem, ...]
    complete: bool
    skipped: tuple[str, ...] = ()
    problems: tuple[tuple[str, SourceError], ...] = ()


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source: how it is listed, how one of its items is read, and whether that is still as it was listed."""

    list: Callable[[str], Listing]
    read: Callable[[SourceItem, int], bytes]
    is_as_listed: Callable[[SourceItem], bool]


def _list_files(location: str) -> Listing:
    source, items, complete, skipped, problems = list_files(location)
    return Listing(source, "file", tuple(items), complete, tuple(skipped), tuple(problems))


SOURCES: dict[str, SourceKind] = {
    "file": SourceKind(_list_files, read_file, is_as_listed),
}


def kind_of(location: str) -> str:
    """The kind of source that a location on the command line or in the settings names."""
    return "file"


def list_sources(locations: Sequence[str]) -> list[Listing]:
    """The listings of several locations, in order; a location that cannot be listed becomes a problem of its own."""
    return [SOURCES[kind_of(location)].list(location) for location in locations]
