"""The sources that the settings name, in a list or in a TOML file."""

from collections.abc import Mapping, Sequence

from config.settings import IngestionSettings, Settings
from config.sources import DeclaredSource, read_declared
from pipelines.errors import ConfigError, SourceError
from pipelines.ingestion.sources.locations import alike, each_once, read_location
from pipelines.store.originals import named_path

_EXAMPLE = "config/sources.example.toml shows how it looks."


def declared_sources(settings: Settings) -> Mapping[str, DeclaredSource]:
    """What the TOML file of the settings declares, by location, in its order; nothing where none is named.

    Raises:
        ConfigError: If the file cannot be read, declares one source twice, or what can never be a source.
    """
    if not settings.ingestion.sources_file:
        return {}
    path, hosts = named_path(settings.ingestion.sources_file), settings.web.private_hosts
    try:
        found = read_declared(path)
    except ValueError as error:
        hint = f"Mend it, or change FOOTNOTE_INGESTION__SOURCES_FILE; {_EXAMPLE}"
        raise ConfigError(str(error), hint=hint) from error
    places = dict[str, str]()
    for place, source in found.items():
        try:
            read_location(source.location, hosts)
        except SourceError as error:
            raise ConfigError(f"{path}: {place}: {error.message}", hint=error.hint) from error
        first = places.setdefault(alike(source.location, hosts), place)
        if first != place:
            said = f"{place} ({source.location}) is the same as {first} ({found[first].location})."
            raise ConfigError(f"{path}: {said}", hint="Keep one of them.")
    return {source.location: source for source in found.values()}


def own_locations(settings: Settings) -> Sequence[str]:
    """What is ingested where nothing is named: the list of the settings, then what their file declares, each once.

    The sample that the settings list by default gives way to declared sources.

    Raises:
        ConfigError: If the file cannot be used, declares nothing where nothing else is listed, or the list names what
            can never be a source.
    """
    own, hosts = settings.ingestion, settings.web.private_hosts
    declared = declared_sources(settings)
    is_sample = own.sources == IngestionSettings().sources
    if own.sources_file and is_sample and not declared:
        hint = f"Add a [[source]], or name sources on the command line; {_EXAMPLE}"
        raise ConfigError(f"{own.sources_file} declares no source.", hint=hint)
    listed = () if declared and is_sample else own.sources
    try:
        return each_once((*listed, *declared), hosts)
    except SourceError as error:  # of the list: what is declared was looked at
        raise ConfigError(f"FOOTNOTE_INGESTION__SOURCES: {error.message}", hint=error.hint) from error
