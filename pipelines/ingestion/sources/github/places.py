"""The names and addresses of what is on GitHub."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from pipelines.errors import SourceError
from pipelines.store.file_lines import in_repository

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class Place:
    """An owner, or a repository of one."""

    owner: str
    repository: str = ""

    @property
    def location(self) -> str:
        """As on the command line."""
        return f"github:{self.full_name}"

    @property
    def full_name(self) -> str:
        """`OWNER` or `OWNER/REPO`."""
        return f"{self.owner}/{self.repository}" if self.repository else self.owner

    def is_same(self, other: "Place | None") -> bool:
        """Whether both are one place: GitHub's names have no case."""
        return other is not None and other.full_name.casefold() == self.full_name.casefold()


def place_of(location: str) -> Place | None:
    """The place that `github:OWNER` or `github:OWNER/REPO` names; None where it names none."""
    kind, _, rest = location.strip().partition(":")
    owner, _, repository = rest.strip("/").removesuffix(".git").partition("/")
    named = _REPOSITORY.fullmatch(repository) and repository not in (".", "..")
    if kind.lower() != "github" or not _OWNER.fullmatch(owner) or (repository and not named):
        return None
    return Place(owner, repository)


def read_place(location: str) -> Place:
    """As `place_of`.

    Raises:
        SourceError: If the location names no place.
    """
    place = place_of(location)
    if place is None:
        raise SourceError(f"{location} names nothing on GitHub.", hint="Say github:OWNER or github:OWNER/REPO.")
    return place


def site_of(api_base: str) -> str:
    """Where people read what the API serves: `https://github.com`, or an Enterprise server's own address."""
    parts = urlsplit(api_base)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].removeprefix('api.')}"


def readme_uri(site: str, full_name: str) -> str:
    """Where a person reads a repository's README."""
    return f"{site}/{quote(full_name)}#readme"


def file_uri(site: str, full_name: str, path: str) -> str:
    """Where a person reads a file of a repository, as its default branch has it now."""
    return in_repository(f"{site}/{quote(full_name)}", path)


def name_of(uri: str) -> str:
    """What the document at a `readme_uri` or a `file_uri` is called: `OWNER/REPO`, or its path below that."""
    path = urlsplit(uri).path.removeprefix("/").replace("/blob/HEAD/", "/", 1)
    return " ".join(unquote(path, errors="replace").split())
