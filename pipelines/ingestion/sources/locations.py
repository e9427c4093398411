"""Locations: what a person writes to name a source, on the command line and in the settings."""

from collections.abc import Iterable

from config.sources import kind_of
from pipelines.errors import SourceError
from pipelines.ingestion.sources.github.places import read_place
from pipelines.ingestion.sources.notion.address import id_of
from pipelines.ingestion.sources.paths import read_path
from pipelines.ingestion.sources.web.address import read_address
from pipelines.store.fetched import folded
from pipelines.store.originals import named_uri


def read_location(location: str, private_hosts: tuple[str, ...]) -> str:
    """A location as its listing would spell it, as far as that can be told without asking; a path as it is.

    `private_hosts` are those of the settings: their ports are addresses, too.

    Raises:
        SourceError: If it can never be a source, whatever is there.
        ConfigError: If `private_hosts` are no hosts.
    """
    match kind_of(location):
        case "github":
            return read_place(location).location
        case "notion":
            return f"notion:{id_of(location)}"
        case "web":
            return read_address(location, private_hosts).url
        case _:
            read_path(location)
            return location


def spelled(location: str, private_hosts: tuple[str, ...]) -> str:
    """As `read_location`; one that can never be a source stays as it is."""
    try:
        return read_location(location, private_hosts)
    except SourceError:
        return location


def alike(location: str, private_hosts: tuple[str, ...]) -> str:
    """The same for what the file of sources and the command line write in their own ways.

    What can never be a source is like itself alone.
    """
    try:
        own = read_location(location, private_hosts)
    except SourceError:
        return location
    return named_uri(own) if kind_of(own) == "file" else folded(own)


def each_once(locations: Iterable[str], private_hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The sources that locations name, in order, each as it is written first.

    Raises:
        SourceError: If one of them can never be a source.
        ConfigError: If `private_hosts` are no hosts.
    """
    found = dict[str, str]()
    for location in locations:
        read_location(location, private_hosts)
        found.setdefault(alike(location, private_hosts), location)
    return tuple(found.values())
