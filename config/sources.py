"""The sources that a TOML file declares, each with how it is listed."""

import tomllib
from pathlib import Path
from typing import Literal

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

    model_config = ConfigDict(frozen=True, extra="forbid")

    location: str = Field(min_length=1)
    every: float = Field(0, ge=0)
    forks: bool = False
    archived: bool = True
    docs: bool = False
    depth: int = Field(20, ge=0)
    follow: Literal["auto", "page", "sitemap", "feed"] = "auto"
    most_pages: int = Field(1000, ge=1)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: tuple[DeclaredSource, ...] = ()


def read_declared(path: Path) -> tuple[DeclaredSource, ...]:
    """The sources that a TOML file declares, each a `[[source]]`, in order.

    Raises:
        ValueError: If the file cannot be read, is no TOML, or declares what does not exist; it says where.
    """
    try:
        return _File.model_validate(tomllib.loads(path.read_text("utf-8"))).source
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{path}: {where}: {first['msg']}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}.") from error
