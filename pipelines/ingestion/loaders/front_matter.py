"""The front matter of a Markdown file, as typed metadata."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from pipelines.text import canonical

_FENCED = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)(?:^|\n)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_CHARACTERS = 65_536
_MAX_VALUES = 5_000
_MAX_DEPTH = 20
_YEARS = range(2, 9999)  # of which every moment has one in every zone
_DATE_FORMATS = ("%Y-%m-%d %H:%M:%S %z", "%Y/%m/%d", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%d.%m.%Y")
_PUBLISHED = ("date", "published_at", "published", "publishdate", "pubdate", "created", "created_at")
_MODIFIED = ("updated", "updated_at", "modified", "modified_at", "last_modified_at", "lastmod")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Where the text begins, and what stands before it; `end` is 0 without front matter."""

    end: int = 0
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def read_front_matter(text: str) -> FrontMatter:
    """The YAML (`---`) or TOML (`+++`) mapping at the very start; broken front matter stays text and is named."""
    match = _FENCED.match(text[: _MAX_CHARACTERS + 8])
    if match is None:
        return FrontMatter()
    try:
        loaded = tomllib.loads(match[2]) if match[1] == "+++" else _yaml(match[2])
        if loaded is None:  # nothing between the marks, or comments
            return FrontMatter(match.end())
        if not isinstance(loaded, dict):
            return FrontMatter()
        values = _plain_values(loaded)
    except (ValueError, RecursionError, OverflowError) as error:
        return FrontMatter(error=" ".join(str(error).split())[:300] or type(error).__name__)
    return FrontMatter(match.end(), values)


def metadata_of(front: FrontMatter) -> dict[str, Any]:
    """What a document's metadata keeps: typed fields, and all values under `front_matter`."""
    if front.error:
        return {"front_matter_error": front.error}
    if not front.values:
        return {}
    lowered = {key.lower().replace("-", "_"): value for key, value in front.values.items()}
    fields: dict[str, Any] = {
        "description": _first_text(lowered, "description", "excerpt", "summary", "subtitle"),
        "category": _first_text(lowered, "category", "categories", "type"),
        "subcategory": _first_text(lowered, "subcategory", "subcategories"),
        "visibility": _first_text(lowered, "visibility"),
        "authors": _texts(lowered.get("authors") or lowered.get("author")),
        "tags": _texts(lowered.get("tags") or lowered.get("keywords")),
        "categories": _texts(lowered.get("categories")),
        "year": lowered["year"] if lowered.get("year") in _YEARS else None,
    }
    kept = {key: value for key, value in fields.items() if value}
    return {**kept, "front_matter": dict(front.values)}


def title_of_front_matter(front: FrontMatter) -> str:
    """The title on one line, or nothing."""
    title = {key.lower(): value for key, value in front.values.items()}.get("title")
    return " ".join(str(title).split()) if isinstance(title, str | int | float) else ""


def published_of(front: FrontMatter) -> datetime | None:
    """When it says it was published; UTC where it names no zone."""
    return _first_date(front, _PUBLISHED)


def modified_of(front: FrontMatter) -> datetime | None:
    """When it says it was last changed; UTC where it names no zone."""
    return _first_date(front, _MODIFIED)


def moment(value: object) -> datetime | None:
    """The moment that a date, a time or a text names; UTC where it names no zone."""
    if not isinstance(value, str) or not value.strip():
        return None
    found = _parsed(value.strip())
    if found is None or found.year not in _YEARS:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _parsed(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(value, form)
        except ValueError:
            continue
    return None


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _readable(value: str) -> str:
    """The text without what no database and no reader takes: NUL, control characters, halves of characters."""
    return canonical(value.encode("utf-8", "replace").decode())


def _plain_values(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """The mapping in JSON's types; ValueError when aliases blow it up or it contains itself."""
    left = _MAX_VALUES

    def convert(value: object, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > _MAX_DEPTH:
            raise ValueError("it holds too many values")
        if isinstance(value, Mapping):
            return {_readable(str(key)): convert(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set):
            return [convert(item, depth + 1) for item in value]
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, str):
            return _readable(value)
        if value is None or isinstance(value, bool | int):
            return value
        return value if isinstance(value, float) and abs(value) < 1e300 else str(value)

    converted: dict[str, Any] = convert(mapping, 0)
    return converted


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        parts = value.split(",") if "," in value else [value]
        return [part.strip() for part in parts if part.strip()]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item.get("name") if isinstance(item, dict) else item)]
    if isinstance(value, dict):
        return _texts(value.get("name"))
    return [str(value)] if isinstance(value, int) and not isinstance(value, bool) else []


def _first_text(values: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = values.get(key)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def _first_date(front: FrontMatter, keys: tuple[str, ...]) -> datetime | None:
    values = {key.lower().replace("-", "_"): value for key, value in front.values.items()}
    return next((found for key in keys if (found := moment(values.get(key)))), None)
