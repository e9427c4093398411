"""The sources that a TOML file declares, each with how it is listed."""

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class DeclaredSource(BaseModel):
    """A source and how it is listed; what a kind does not know means nothing to it.

    Attributes:
        location: As on the command line: a path, `github:OWNER[/REPO]`, `notion:ID`, `https://...`.
        every: Minutes between two looks of `ingest --watch`; 0 = as `FOOTNOTE_INGESTION__POLL_MINUTES`.
        forks, archived: GitHub: whether such repositories of an owner are taken.
        docs: GitHub: whether `docs/**/*.md` is taken beside the README.
        depth: Notion: how many pages deep below the first one.
        follow: Web: what the address is; auto = told by what it answers.
        most_pages: Web: of a sitemap or a feed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    location: str = Field(min_length=1, description='a path, "github:OWNER", "notion:ID" or "https://..."')
    every: float = Field(0, ge=0, allow_inf_nan=False, description="a number of minutes, 0 or more")
    forks: bool = Field(False, description="true or false")
    archived: bool = Field(True, description="true or false")
    docs: bool = Field(False, description="true or false")
    depth: int = Field(20, ge=0, description="a whole number, 0 or more")
    follow: Literal["auto", "page", "sitemap", "feed"] = Field(
        "auto", description='"auto", "page", "sitemap" or "feed"'
    )
    most_pages: int = Field(1000, ge=1, description="a whole number, 1 or more")


def read_declared(path: Path) -> tuple[DeclaredSource, ...]:
    """The sources that a TOML file declares, each a `[[source]]`, in order.

    Raises:
        ValueError: If the file cannot be read, is no TOML, or declares what does not exist or one thing twice; it says
            where, and what is allowed.
    """
    try:
        told = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}; a text stands in quotation marks.") from error
    if unknown := next((key for key in told if key != "source"), None):
        raise ValueError(f"{path}: {_unknown(unknown, ['source'])} Each source is a [[source]].")
    tables = told.get("source", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{path}: each source begins with [[source]], in two brackets.")
    found = tuple(_declared(f"{path}: source {number}", table) for number, table in enumerate(tables, start=1))
    places = [source.location for source in found]
    if twice := next((place for place in places if places.count(place) > 1), None):
        raise ValueError(f"{path}: {twice} is declared twice.")
    return found


def _declared(where: str, table: Mapping[str, Any]) -> DeclaredSource:
    """The source of a table; what is wrong in it is said with where it stands."""
    fields = DeclaredSource.model_fields
    if location := table.get("location"):
        where = f"{where} ({location})"
    if unknown := next((key for key in table if key not in fields), None):
        raise ValueError(f"{where}: {_unknown(unknown, fields)}")
    try:
        return DeclaredSource.model_validate(table)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        wrong = f"is {table[key]!r}, but has to be" if key in table else "is missing:"
        raise ValueError(f"{where}: {key} {wrong} {fields[key].description}.") from error


def _unknown(key: str, known: Iterable[str]) -> str:
    near = get_close_matches(key, known, 1)
    return f"there is no key {key!r}" + (f"; did you mean {near[0]!r}?" if near else f", only {', '.join(known)}.")
