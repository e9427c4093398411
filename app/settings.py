"""The settings as a person meets them: a wrong one is one sentence that names it; and where the sample is."""

from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import SettingsError

from config.settings import Settings
from pipelines.errors import ConfigError

SAMPLE = Path(__file__).parent.parent / "data" / "sample"


def read_settings() -> Settings:
    """The settings as they stand now.

    Raises:
        ConfigError: If one of them is wrong.
    """
    try:
        return Settings()
    except SettingsError as error:
        raise ConfigError(f"A setting cannot be read: {error}.", hint="Lists are JSON; see .env.example.") from error
    except ValidationError as error:
        first = error.errors()[0]
        name = "FOOTNOTE_" + "__".join(str(part).upper() for part in first["loc"])
        raise ConfigError(f"The setting {name} is wrong: {first['msg']}.", hint="See .env.example.") from error


def with_executor(settings: Settings, executor: str | None, workers: int | None) -> Settings:
    """The settings with another executor or number of workers, where one is given."""
    given = {"executor": executor, "workers": workers}
    update = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"ingestion": settings.ingestion.model_copy(update=update)})
