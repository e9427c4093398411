"""The settings, read with errors in one sentence that names the wrong one; the path of the sample."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, SettingsError

from config.env_file import ENV_FILE
from config.settings import MisdirectedKey, Settings, SourceRule
from pipelines.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_ALIKE = 0.75  # of 1, for the stage and for the name within it: a letter or two differ
_PREFIX = "FOOTNOTE_"
_OF_OTHERS = re.compile(  # what `make trials` sets, and containers' links to a service that is called footnote
    r"FOOTNOTE_(FAULT_\w+=|(\w+_)?SERVICE_(HOST|PORT(_\w+)?)=|PORT_\d+_(TCP|UDP)(_\w+)?=|PORT=\w+://)"
)
_HAS_TO_BE = {
    **dict.fromkeys(("float_parsing", "float_type"), "a number"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    "finite_number": "a finite number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "string_type": "a text",
}
_RULE = '[{"match": "*/cv/*", "category": "resume"}]'
_APP = Path(__file__).parent
_INSTALLED = _APP / "sample"  # where the wheel puts it
SAMPLE = _INSTALLED if _INSTALLED.is_dir() else _APP.parent / "data" / "sample"


def read_settings() -> Settings:
    """The settings as they stand now; read again once the environment or `.env` has changed.

    Raises:
        ConfigError: If one of them is wrong, or a variable with our prefix is no setting, or `.env` would send a key
            elsewhere that is not its own.
    """
    file = ENV_FILE.absolute()
    state = file.stat() if file.is_file() else None
    return _settings_of(frozenset(os.environ.items()), file, state and (state.st_mtime_ns, state.st_ino, state.st_size))


@lru_cache(maxsize=1)
def _settings_of(_environment: frozenset[tuple[str, str]], _file: Path, _state: tuple[int, ...] | None) -> Settings:
    known = _names()
    for given in _given():
        for name, value in given.items():
            if name.startswith(_PREFIX) and name not in known and not _OF_OTHERS.match(f"{name}={value}"):
                raise _unknown(name)
    try:
        return Settings()
    except MisdirectedKey as error:
        raise ConfigError(
            str(error), hint="Set the key and its address in the same place, if you trust both."
        ) from error
    except SettingsError as error:
        raise _no_json(error) from error
    except ValidationError as error:
        first = error.errors()[0]
        name = _PREFIX + "__".join(str(part).upper() for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise _unknown(name) from error
        raise ConfigError(f"The setting {name} is wrong: {_in_words(first)}.", hint="See .env.example.") from error


def _in_words(wrong: "ErrorDetails") -> str:
    """The form that a wrong setting needs, without its value, which may be a key."""
    kind, limits = wrong["type"], wrong.get("ctx", {})
    if kind in _HAS_TO_BE:
        return f"it has to be {_HAS_TO_BE[kind].format(**limits)}"
    return wrong["msg"].removeprefix("Value error, ").rstrip(".")


def _given() -> Iterator[Mapping[str, str]]:
    """The variables of the environment and those of `.env`, by their names in capitals; any other program's, too."""
    for source in (EnvSettingsSource(Settings), DotEnvSettingsSource(Settings)):
        yield {name.upper(): value or "" for name, value in source.env_vars.items()}


def _names(stage: type[BaseModel] = Settings, prefix: str = _PREFIX) -> dict[str, FieldInfo]:
    """The settings of a stage and its inner stages, by their names in the environment."""
    found: dict[str, FieldInfo] = {}
    for name, field in stage.model_fields.items():
        full = f"{prefix}{name.upper()}"
        found[full] = field
        if inner := _stage_of(field):
            found |= _names(inner, f"{full}__")
    return found


def _stage_of(field: FieldInfo) -> type[BaseModel] | None:
    inner = field.annotation
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def _unknown(name: str) -> ConfigError:
    names = [known for known, field in _names().items() if not _stage_of(field)]
    ends_so = [known for known in names if known.endswith(f"__{name.removeprefix(_PREFIX)}")]
    nearest = max(names, key=lambda known: _likeness(name, known))
    meant = [nearest] if _likeness(name, nearest) >= _ALIKE else ends_so
    hint = f"Did you mean {' or '.join(meant)}?" if meant else "See .env.example."
    return ConfigError(f"There is no setting {name}.", hint=hint)


def _likeness(name: str, known: str) -> float:
    """How alike two settings are: the lesser likeness of their stages and of their names within the stage."""
    if name.replace("__", "_") == known.replace("__", "_"):
        return 1.0
    parts = zip(*(each.removeprefix(_PREFIX).rpartition("__") for each in (name, known)), strict=True)
    return min(SequenceMatcher(None, given, right).ratio() for given, right in parts)


def _no_json(error: SettingsError) -> ConfigError:
    """The error for the first list or stage that is no JSON, with a correct example."""
    for given in _given():
        for name, field in _names().items():
            inner, value = _stage_of(field), given.get(name, "")
            if value and (inner or get_origin(field.annotation) is tuple) and not _is_json(value):
                message = f"The setting {name} is not JSON."
                return ConfigError(message, hint=f"Write it like this: {name}={_right(field, value)}")
    return ConfigError(f"A setting cannot be read: {error}.", hint="See .env.example.")


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _right(field: FieldInfo, value: str) -> str:
    """A right value: for a list the words that were given."""
    if inner := _stage_of(field):
        name, first = next(iter(inner.model_fields.items()))
        return json.dumps({name: first.default})
    if field.annotation == tuple[SourceRule, ...]:
        return _RULE
    return json.dumps([word for part in value.split(",") if (word := part.strip(" []'\""))], ensure_ascii=False)
