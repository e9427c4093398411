"""The settings as a person meets them: a wrong one is one sentence that names it; and where the sample is."""

from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError

from config.settings import Settings
from pipelines.errors import ConfigError

_ALIKE = 0.85  # of 1: many names begin alike
SAMPLE = Path(__file__).parent.parent / "data" / "sample"


def read_settings() -> Settings:
    """The settings as they stand now.

    Raises:
        ConfigError: If one of them is wrong.
    """
    try:
        return Settings()
    except SettingsError as error:
        hint = 'Write it as JSON, such as ["github:ann", "~/portfolio"]; see .env.example.'
        raise ConfigError(f"A setting that is a list cannot be read: {error}.", hint=hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        name = "FOOTNOTE_" + "__".join(str(part).upper() for part in first["loc"])
        if first["type"] == "extra_forbidden":
            meant = get_close_matches(name, _names(Settings, "FOOTNOTE_"), 1, _ALIKE)
            hint = f"Did you mean {meant[0]}?" if meant else "See .env.example."
            raise ConfigError(f"There is no setting {name}.", hint=hint) from error
        raise ConfigError(f"The setting {name} is wrong: {first['msg']}.", hint="See .env.example.") from error


def _names(stage: type[BaseModel], prefix: str) -> list[str]:
    """The names of the settings of a stage, as the environment has them."""
    found: list[str] = []
    for name, field in stage.model_fields.items():
        inner, full = field.annotation, f"{prefix}{name.upper()}"
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += _names(inner, f"{full}__")
        else:
            found.append(full)
    return found


def with_executor(settings: Settings, executor: str | None, workers: int | None) -> Settings:
    """The settings with another executor or number of workers, where one is given."""
    given = {"executor": executor, "workers": workers}
    update = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"ingestion": settings.ingestion.model_copy(update=update)})
