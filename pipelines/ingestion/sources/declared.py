"""The sources that the settings name, in a list or in a TOML file."""

from collections.abc import Mapping, Sequence

from config.settings import IngestionSettings
from config.sources import DeclaredSource, read_declared
from pipelines.errors import ConfigError
from pipelines.store.originals import named_path


def declared_sources(settings: IngestionSettings) -> Mapping[str, DeclaredSource]:
    """What the TOML file of the settings declares, by location, in its order; nothing where none is named.

    Raises:
        ConfigError: If the file cannot be read or declares what does not exist.
    """
    if not settings.sources_file:
        return {}
    try:
        found = read_declared(named_path(settings.sources_file))
    except ValueError as error:
        hint = "Mend it, or change FOOTNOTE_INGESTION__SOURCES_FILE; config/sources.example.toml shows how it looks."
        raise ConfigError(str(error), hint=hint) from error
    return {source.location: source for source in found}


def own_locations(settings: IngestionSettings) -> Sequence[str]:
    """What is ingested where nothing is named: the list of the settings, then what their file declares.

    The sample that the settings list by default gives way to declared sources.

    Raises:
        ConfigError: If the file cannot be used, or declares nothing where nothing else is listed.
    """
    declared = declared_sources(settings)
    is_sample = settings.sources == IngestionSettings().sources
    if settings.sources_file and is_sample and not declared:
        hint = "Add a [[source]], or name sources on the command line; config/sources.example.toml shows how it looks."
        raise ConfigError(f"{settings.sources_file} declares no source.", hint=hint)
    listed = () if declared and is_sample else settings.sources
    return tuple(dict.fromkeys((*listed, *declared)))
