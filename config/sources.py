"""The sources that a TOML file declares, each with how it is listed."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_KINDS: dict[str, str] = {"github": "github", "notion": "notion", "http": "web", "https": "web"}  # by the scheme
_KEYS: dict[str, tuple[str, ...]] = {  # of each kind, beside those of every kind
    "file": (),
    "github": ("forks", "archived", "docs"),
    "notion": ("depth",),
    "web": ("follow", "most_pages"),
}
_KEYS_OF_ALL = ("location", "every")
_HEADER = re.compile(r"\s*\[\[[ \t]*source[ \t]*\]\]")


class DeclaredSource(BaseModel):
    """A source and how it is listed. What is of another kind than its own cannot be declared, and means nothing to it.

    Attributes:
        location: As on the command line: a path, `github:OWNER[/REPO]`, `notion:ID`, `https://...`.
        every: Minutes between two looks of `ingest --watch`; None = as `FOOTNOTE_INGESTION__POLL_MINUTES`.
        forks, archived: GitHub: whether such repositories of an owner are taken.
        docs: GitHub: whether `docs/**/*.md` is taken beside the README.
        depth: Notion: how many pages deep below the first one.
        follow: Web: what the address is; auto = told by what it answers.
        most_pages: Web: of a sitemap or a feed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, str_strip_whitespace=True)

    location: str = Field(min_length=1, description='a path, "github:OWNER", "notion:ID" or "https://..."')
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
    """The kind of source that a location on the command line or in the settings names: file, github, notion or web."""
    scheme, colon, _ = location.lstrip().partition(":")
    return _KINDS.get(scheme.lower(), "file") if colon else "file"


def read_declared(path: Path) -> dict[str, DeclaredSource]:
    """The sources that a TOML file declares, each a `[[source]]`, in order, by where they stand: `source 2, line 7`.

    Raises:
        ValueError: If the file cannot be read, is no TOML, or declares what does not exist; it says where, and what is
            allowed.
    """
    try:
        text = path.read_text("utf-8-sig")
        told = tomllib.loads(text)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}; a text stands in quotation marks.") from error
    if unknown := next((key for key in told if key != "source"), None):
        raise ValueError(f"{path}: {_unknown(unknown, ['source'])} Each source is a [[source]].")
    tables = told.get("source", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{path}: each source begins with [[source]], in two brackets.")
    places = _places(text, len(tables))
    return {where: _declared(f"{path}: {where}", table) for where, table in zip(places, tables, strict=True)}


def _places(text: str, count: int) -> list[str]:
    """Where each of so many sources stands; without lines where they are not written as usual."""
    lines = [number for number, line in enumerate(text.split("\n"), start=1) if _HEADER.match(line)]
    is_usual = len(lines) == count
    return [f"source {place + 1}" + (f", line {lines[place]}" if is_usual else "") for place in range(count)]


def _declared(where: str, table: Mapping[str, Any]) -> DeclaredSource:
    """The source of a table; what is wrong in it is said with where it stands."""
    fields = DeclaredSource.model_fields
    if location := table.get("location"):
        where = f"{where} ({location})"
    if isinstance(location, str) and location.strip():
        own = (*_KEYS_OF_ALL, *_KEYS[kind_of(location)])
        if wrong := next((key for key in table if key not in own), None):
            raise ValueError(f"{where}: {_of_others(wrong) or _unknown(wrong, own)}")
    try:
        return DeclaredSource.model_validate(table)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        if key not in fields:
            raise ValueError(f"{where}: {_unknown(key, fields)}") from error
        said = f"is {table[key]!r}, but has to be" if key in table else "is missing:"
        raise ValueError(f"{where}: {key} {said} {fields[key].description}.") from error


def _of_others(key: str) -> str:
    """Which sources a key is for; nothing where there is no such key."""
    kind = next((kind for kind, keys in _KEYS.items() if key in keys), None)
    schemes = " and ".join(f"{scheme}:" for scheme in _KINDS if _KINDS[scheme] == kind)
    return f"{key} is for {schemes} sources." if schemes else ""


def _unknown(key: str, known: Iterable[str]) -> str:
    near = get_close_matches(key, known, 1)
    return f"there is no key {key!r}" + (f"; did you mean {near[0]!r}?" if near else f", only {', '.join(known)}.")
