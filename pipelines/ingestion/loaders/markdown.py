"""Load Markdown: the file's own text after its front matter."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

from pipelines.blocks import markdown_blocks, title_of
from pipelines.ingestion.loaders.base import YEARS, Content, Limits, parse_datetime, title_from_name
from pipelines.ingestion.loaders.text import decode
from pipelines.text import canonical, fold
from pipelines.types import Block, SourceItem

_FENCED = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)(?:^|\n)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# Sections of the standard-readme specification, of manual pages, and of contents: they title no document.
_SECTIONS = frozenset({
    "readme", "table of contents", "contents", "security", "background", "install", "installation", "usage", "api",
    "maintainers", "thanks", "contributing", "license", "licence", "name", "synopsis", "description", "options",
    "overview", "introduction", "getting started", "requirements", "features", "about",
})  # fmt: skip
_MAX_CHARACTERS = 65_536
_MAX_VALUES = 5_000
_MAX_DEPTH = 20
_PUBLISHED = ("date", "published_at", "published", "publishdate", "pubdate", "created", "created_at")
_MODIFIED = ("updated", "updated_at", "modified", "modified_at", "last_modified_at", "lastmod")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The parsed values, and where the text begins; `end` is 0 without front matter."""

    end: int = 0
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def load_markdown(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Markdown text with its CommonMark blocks; front matter gives title, author, dates and metadata."""
    raw, encoding = decode(data, item.name)
    whole = canonical(raw)
    front = read_front_matter(whole)
    text = whole[front.end :]
    metadata = _metadata(front)
    stated = {key.lower(): value for key, value in front.values.items()}.get("title")
    blocks = markdown_blocks(text)
    if encoding != "utf-8":
        metadata["encoding"] = encoding
    return Content(
        text=text,
        blocks=blocks,
        title=(" ".join(str(stated).split()) if isinstance(stated, str | int | float) else "")
        or _headed(text, blocks)
        or title_from_name(item.name),
        author=", ".join(metadata.get("authors", ())),
        published_at=_first_date(front, _PUBLISHED),
        modified_at=_first_date(front, _MODIFIED),
        first_line=whole.count("\n", 0, front.end) + 1,
        metadata=metadata,
    )


def _headed(text: str, blocks: Sequence[Block]) -> str:
    """The words of the first heading, without its images; empty if it names a section, as in a file without a title.

    A heading of images alone, as a row of badges, is passed over.
    """
    titles = (title_of(text, block.start, block.end) for block in blocks if block.kind == "heading")
    title = next(filter(None, titles), "")
    return "" if fold(title) in _SECTIONS else title


def read_front_matter(text: str) -> FrontMatter:
    """Parse a YAML (`---`) or TOML (`+++`) mapping at the start; if broken it stays text, with `error` set."""
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


def _metadata(front: FrontMatter) -> dict[str, Any]:
    """Document metadata: typed fields, and all values under `front_matter`."""
    if front.error:
        return {"front_matter_error": front.error}
    if not front.values:
        return {}
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
    return {**kept, "front_matter": dict(front.values)}


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _readable(value: str) -> str:
    """The text without NUL, control characters and lone surrogates, which no database accepts."""
    return canonical(value.encode("utf-8", "replace").decode())


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
