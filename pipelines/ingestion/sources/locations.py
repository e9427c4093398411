"""Locations: how a source is written on the command line, in the settings and in the file of sources."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from config.settings import Settings
from config.sources import DeclaredSource, kind_of, read_declared
from pipelines.errors import ConfigError, SourceError
from pipelines.ingestion.sources.files import read_path
from pipelines.ingestion.sources.github.repositories import read_place
from pipelines.ingestion.sources.notion.client import id_of
from pipelines.ingestion.sources.web.address import read_address
from pipelines.store.fetch_cache import normalised_source
from pipelines.store.originals import named_path, named_uri

_EXAMPLE = "config/sources.example.toml shows how it looks."


def read_location(location: str, private_hosts: tuple[str, ...]) -> str:
    """Return a location in the spelling of its listing, as far as that needs no request; a path stays as it is.

    Raises:
        SourceError: If it is invalid.
        ConfigError: If `private_hosts` are not hosts.
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


def normalized_location(location: str, private_hosts: tuple[str, ...]) -> str:
    """Return `read_location`; an invalid location is returned unchanged."""
    try:
        return read_location(location, private_hosts)
    except SourceError:
        return location


def location_key(location: str, private_hosts: tuple[str, ...]) -> str:
    """Return the same key for all spellings of one location; an invalid location is its own key."""
    try:
        known = read_location(location, private_hosts)
    except SourceError:
        return location
    return named_uri(known) if kind_of(known) == "file" else normalised_source(known)


def unique_locations(locations: Iterable[str], private_hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return locations in order, those of one source once, in the first spelling.

    Raises:
        SourceError: If one of them is invalid, or is an address that is never fetched.
        ConfigError: If `private_hosts` are not hosts.
    """
    found = dict[str, str]()
    for location in locations:
        _assert_usable(location, private_hosts)
        found.setdefault(location_key(location, private_hosts), location)
    return tuple(found.values())


def _assert_usable(location: str, private_hosts: tuple[str, ...]) -> None:
    read_location(location, private_hosts)
    if kind_of(location) == "web":
        from pipelines.ingestion.sources.web.guard import assert_public  # which loads an HTTP client

        assert_public(read_address(location, private_hosts))


def sources_file(settings: Settings) -> Path:
    """Return the TOML file of sources that the settings name, else that of the home, which `footnote init` writes."""
    stated = settings.ingestion.sources_file
    return named_path(stated) if stated else settings.home.resolve() / "sources.toml"


def declared_sources(settings: Settings) -> Mapping[str, DeclaredSource]:
    """Return the sources that the file of sources declares, by location, in its order.

    Raises:
        ConfigError: If the file cannot be read, declares a source twice, or an invalid one.
    """
    path, hosts = sources_file(settings), settings.web.private_hosts
    if not (settings.ingestion.sources_file or path.is_file()):
        return {}
    try:
        found = read_declared(path)
    except ValueError as error:
        hint = f"Correct it, or change FOOTNOTE_INGESTION__SOURCES_FILE; {_EXAMPLE}"
        raise ConfigError(str(error), hint=hint) from error
    positions = dict[str, str]()  # by location key
    for position, source in found.items():
        try:
            _assert_usable(source.location, hosts)
        except SourceError as error:
            raise ConfigError(f"{path}: {position}: {error.message}", hint=error.hint) from error
        first = positions.setdefault(location_key(source.location, hosts), position)
        if first != position:
            same = f"{position} ({source.location}) is the same as {first} ({found[first].location})."
            raise ConfigError(f"{path}: {same}", hint="Keep one of them.")
    return {source.location: source for source in found.values()}


def configured_locations(settings: Settings) -> Sequence[str]:
    """Return the default sources: the list of the settings, then the declared sources.

    Raises:
        ConfigError: If the file cannot be used, declares nothing where nothing else is listed, or the list holds
            an invalid location.
    """
    ingestion, hosts = settings.ingestion, settings.web.private_hosts
    declared = declared_sources(settings)
    if ingestion.sources_file and not (ingestion.sources or declared):
        hint = f"Add a [[source]], or name sources on the command line; {_EXAMPLE}"
        raise ConfigError(f"{ingestion.sources_file} declares no source.", hint=hint)
    try:
        return unique_locations((*ingestion.sources, *declared), hosts)
    except SourceError as error:  # of the list: the declared sources are checked already
        raise ConfigError(f"FOOTNOTE_INGESTION__SOURCES: {error.message}", hint=error.hint) from error
