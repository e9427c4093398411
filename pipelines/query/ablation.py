"""The parts of retrieval by name, and query settings changed by dotted name."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from config.parts import PARTS
from config.settings import Settings
from pipelines.errors import ConfigError

# Stages whose settings a query reads; the others belong to the store and the models, which are built already.
TUNABLE = ("analysis", "retrieval", "factors", "evidence", "escalation", "context", "answer")


def settings_without(names: tuple[str, ...]) -> dict[str, Any]:
    """The settings, by dotted name, that switch these parts off; a ConfigError if a part does not exist."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise ConfigError(f"There is no part {unknown[0]!r}.", hint=f"Parts: {', '.join(PARTS)}.")
    return {name: value for part in names for name, value in PARTS[part].items()}


def change_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """These settings with other values by dotted name, checked as if they had been read; strings are converted.

    A ConfigError if a name is not a setting of a query, or a value does not fit it.
    """
    stages: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        stage, _, field = name.partition(".")
        if stage not in TUNABLE or field not in type(getattr(settings, stage)).model_fields:
            raise ConfigError(f"There is no setting {name!r} of a query.", hint=f"Stages: {', '.join(TUNABLE)}.")
        stages.setdefault(stage, {})[field] = value
    updated = {}
    try:
        for stage, given in stages.items():
            held: BaseModel = getattr(settings, stage)
            updated[stage] = type(held).model_validate({**held.model_dump(), **given})
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(
            f"{first['loc'][0]}: {first['msg']}.", hint="See .env.example for what a setting takes."
        ) from error
    return settings.model_copy(update=updated)
