"""Load Markdown: the file's own text after its front matter."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

from config.settings import Limits
from pipelines.blocks import markdown_blocks
from pipelines.ingestion.loaders.base import YEARS, Content, parse_datetime, title_from_name
from pipelines.ingestion.loaders.text import decode
from pipelines.ingestion.loaders.titles import markdown_title
from pipelines.markup import without_comments
from pipelines.observe import log
from pipelines.text import canonical, printable
from pipelines.types import SourceItem

_FENCED = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)(?:^|\n)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_CHARACTERS = 65_536
_MAX_VALUES = 5_000
_MAX_DEPTH = 20
_PUBLISHED = ("date", "published_at", "published", "publishdate", "pubdate", "created", "created_at")
_MODIFIED = ("updated", "updated_at", "modified", "modified_at", "last_modified_at", "lastmod")


class InvalidSyntax(ValueError):
    """Raised when front matter is no YAML."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The parsed values, and where the text begins; `end` is 0 without front matter, `error` is what was invalid."""

    end: int = 0
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def load_markdown(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Markdown text with its CommonMark blocks; front matter gives title, author, dates and metadata."""
    raw, encoding = decode(data, item.name)
    whole = canonical(raw)
    front = read_front_matter(whole)
    text = whole[front.end :]
    if front.error:
        log("warning", "invalid front matter", document=item.name, reason=front.error)
    metadata = _metadata(front)
    stated = {key.lower(): value for key, value in front.values.items()}.get("title")
    blocks = markdown_blocks(text)
    if encoding != "utf-8":
        metadata["encoding"] = encoding
    return Content(
        text=text,
        blocks=blocks,
        title=(" ".join(str(stated).split()) if isinstance(stated, str | int | float) else "")
        or markdown_title(text, blocks)
        or title_from_name(item.name),
        author=", ".join(metadata.get("authors", ())),
        published_at=_first_date(front, _PUBLISHED),
        modified_at=_first_date(front, _MODIFIED),
        first_line=whole.count("\n", 0, front.end) + 1,
        metadata=metadata,
    )


def read_front_matter(text: str) -> FrontMatter:
    """Parse a YAML (`---`) or TOML (`+++`) mapping at the start.

    Of one with an invalid entry, the others are kept, with `error` set; one that is no list of entries stays text.
    """
    match = _FENCED.match(text[: _MAX_CHARACTERS + 8])
    if match is None:
        return FrontMatter()
    read = tomllib.loads if match[1] == "+++" else _yaml
    try:
        loaded = read(match[2])
        if loaded is None:  # nothing between the marks, or comments
            return FrontMatter(match.end())
        if not isinstance(loaded, dict):
            return FrontMatter()
        return FrontMatter(match.end(), _plain_values(loaded))
    except (ValueError, RecursionError, OverflowError) as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
    values = _valid_entries(match[2], read, ":" if read is _yaml else "=")
    return FrontMatter(error=reason) if values is None else FrontMatter(match.end(), values, reason)


def is_front_matter_alone(text: str) -> bool:
    """True if nothing but comments stands below the front matter."""
    match = _FENCED.match(text)
    return match is not None and not without_comments(text[match.end() :]).strip()


def _valid_entries(source: str, read: Callable[[str], object], sign: str) -> dict[str, Any] | None:
    """The values of the top-level entries that can be read, each by itself; None if any line belongs to none.

    A line whose value is no valid YAML or TOML, as one with a colon in a title, gives its words.
    """
    entries: list[str] = []
    for line in source.split("\n"):
        key = line.partition(sign)[0].strip()
        is_opening = sign in line and line[0] not in " \t#-" and key.replace("-", "_").isidentifier()
        if sign == "=" and line.startswith("["):  # what follows are the keys of a table
            break
        if is_opening:
            entries.append(line)
        elif entries and (not line.strip() or line[0] in " \t#-]})"):
            entries[-1] += f"\n{line}"
        elif line.strip() and not line.startswith("#"):
            return None
    values: dict[str, Any] = {}
    for entry in entries:
        try:
            loaded = read(entry)
            values |= _plain_values(loaded) if isinstance(loaded, dict) else {}
        except (InvalidSyntax, tomllib.TOMLDecodeError):
            key, _, words = (part.strip() for part in entry.partition(sign))
            if words and "\n" not in words and words[0] not in "[{&*|>":
                values[key] = _readable(words.strip("\"'"))
        except (ValueError, RecursionError, OverflowError):  # such as a day that does not exist
            continue
    return values


def _metadata(front: FrontMatter) -> dict[str, Any]:
    """Document metadata: typed fields, and all values under `front_matter`."""
    stated = {"front_matter_error": front.error} if front.error else {}
    if not front.values:
        return stated
    lowered = _lowered(front)
    fields: dict[str, Any] = {
        "description": _first_text(lowered, "description", "excerpt", "summary", "subtitle"),
        "category": _first_text(lowered, "category", "categories", "type"),
        "subcategory": _first_text(lowered, "subcategory", "subcategories"),
        "visibility": _first_text(lowered, "visibility"),
        "authors": _texts(lowered.get("authors") or lowered.get("author")),
        "tags": _texts(lowered.get("tags") or lowered.get("keywords")),
        "categories": _texts(lowered.get("categories")),
        "year": lowered["year"] if lowered.get("year") in YEARS else None,
    }
    kept = {key: value for key, value in fields.items() if value}
    return {**stated, **kept, "front_matter": dict(front.values)}


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidSyntax(str(error)) from error


def _readable(value: str) -> str:
    """The text without NUL, control characters and lone surrogates, which no database accepts."""
    return canonical(printable(value))


def _plain_values(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """The mapping in JSON types; ValueError if aliases make it too large or it contains itself."""
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
    values = _lowered(front)
    return next((found for key in keys if (found := parse_datetime(values.get(key)))), None)


def _lowered(front: FrontMatter) -> dict[str, Any]:
    return {key.lower().replace("-", "_"): value for key, value in front.values.items()}
