"""The sources that a TOML file declares, each with how it is listed."""

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_SCHEMES: dict[str, str] = {"github": "github", "notion": "notion", "http": "web", "https": "web"}  # by the scheme
_KEYS: dict[str, tuple[str, ...]] = {  # of each kind, beside those of every kind
    "file": (),
    "github": ("forks", "archived", "docs"),
    "notion": ("depth",),
    "web": ("follow", "most_pages"),
}
_KEYS_OF_ALL = ("location", "every", "collection")
_HEADER = "[[source]]"


class DeclaredSource(BaseModel):
    """A source and the options of its listing; options of another kind of source cannot be declared.

    Attributes:
        location: As on the command line: a path, `github:OWNER[/REPO]`, `notion:ID`, `https://...`.
        collection: Of its documents; empty = as they are stored, else that of the settings.
        every: Minutes between two listings of `ingest --watch`; None = as `FOOTNOTE_INGESTION__POLL_MINUTES`.
        forks, archived: GitHub: list such repositories of an owner.
        docs: GitHub: list `docs/**/*.md` beside the README.
        depth: Notion: how many levels of pages below the first one.
        follow: Web: what the address is; auto = decided by its response.
        most_pages: Web: limit of a sitemap or a feed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, str_strip_whitespace=True)

    location: str = Field(min_length=1, description='a path, "github:OWNER", "notion:ID" or "https://..."')
    collection: str = Field("", max_length=200, description="a text of at most 200 characters")
    every: float | None = Field(None, gt=0, allow_inf_nan=False, description="a number of minutes, more than 0")
    forks: bool = Field(False, description="true or false")
    archived: bool = Field(True, description="true or false")
    docs: bool = Field(False, description="true or false")
    depth: int = Field(20, ge=0, description="a whole number, 0 or more")
    follow: Literal["auto", "page", "sitemap", "feed"] = Field(
        "auto", description='"auto", "page", "sitemap" or "feed"'
    )
    most_pages: int = Field(1000, ge=1, description="a whole number, 1 or more")


def kind_of(location: str) -> str:
    """Return the kind of source of a location: file, github, notion or web."""
    scheme, colon, _ = location.lstrip().partition(":")
    return _SCHEMES.get(scheme.lower(), "file") if colon else "file"


def read_declared(path: Path) -> dict[str, DeclaredSource]:
    """Return the sources that a TOML file declares, in order, by their position: `source 2, line 7`.

    Raises:
        ValueError: If the file cannot be read, is not TOML, or declares what does not exist; it says where, and what is
            allowed.
    """
    try:
        text = path.read_text("utf-8-sig")
        tables_by_key = tomllib.loads(text)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}; strings need quotation marks.") from error
    if unknown := next((key for key in tables_by_key if key != "source"), None):
        raise ValueError(f"{path}: {_unknown_key(unknown, ['source'])} Each source is a [[source]].")
    tables = tables_by_key.get("source", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{path}: each source begins with [[source]], in two brackets.")
    places = _positions(text, len(tables))
    return {where: _validated(f"{path}: {where}", table) for where, table in zip(places, tables, strict=True)}


def _positions(text: str, count: int) -> list[str]:
    """Return the position of each of `count` sources; without line numbers if they are not written as usual."""
    lines = [
        number for number, line in enumerate(text.split("\n"), start=1) if "".join(line.split()).startswith(_HEADER)
    ]
    is_usual = len(lines) == count
    return [f"source {place + 1}" + (f", line {lines[place]}" if is_usual else "") for place in range(count)]


def _validated(where: str, table: Mapping[str, Any]) -> DeclaredSource:
    """Return the source of a table; an error names the position."""
    fields = DeclaredSource.model_fields
    if location := table.get("location"):
        where = f"{where} ({location})"
    if isinstance(location, str) and location.strip():
        known = (*_KEYS_OF_ALL, *_KEYS[kind_of(location)])
        if wrong := next((key for key in table if key not in known), None):
            raise ValueError(f"{where}: {_other_kind(wrong) or _unknown_key(wrong, known)}")
    try:
        return DeclaredSource.model_validate(table)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        if key not in fields:
            raise ValueError(f"{where}: {_unknown_key(key, fields)}") from error
        problem = f"is {table[key]!r}, but has to be" if key in table else "is missing:"
        raise ValueError(f"{where}: {key} {problem} {fields[key].description}.") from error


def _other_kind(key: str) -> str:
    """Return which sources a key is for; empty if there is no such key."""
    kind = next((kind for kind, keys in _KEYS.items() if key in keys), None)
    schemes = " and ".join(f"{scheme}:" for scheme in _SCHEMES if _SCHEMES[scheme] == kind)
    return f"{key} is for {schemes} sources." if schemes else ""


def _unknown_key(key: str, known: Iterable[str]) -> str:
    near = get_close_matches(key, known, 1)
    return f"there is no key {key!r}" + (f"; did you mean {near[0]!r}?" if near else f", only {', '.join(known)}.")
