"""Repositories on GitHub: their names and addresses, the facts that are kept of them, and those of an owner."""

import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, digits
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.github.client import CachedResponse, GitHubApi, garbled_error, partial_error
from pipelines.store.documents import in_repository
from pipelines.store.fetch_cache import Fetched, recall_fetched, remember_fetched
from pipelines.text import one_line

Facts = Mapping[str, Any]

_IN_OWNER = frozenset(f"{ascii_letters}{digits}_-")
_IN_REPOSITORY = _IN_OWNER | {"."}
_MAX_NAME = 100
_MAX_DESCRIPTION = 2_000  # characters of a description
_MAX_TOPICS = 50
_UNKNOWN_LICENCE = "NOASSERTION"
_PER_PAGE = 100
_MAX_PAGES = 1_000
_MAX_NAMED = 3  # repositories
_MAX_REMOVED = 10  # documents


@dataclass(frozen=True, slots=True)
class Place:
    """An owner, or a repository of one."""

    owner: str
    repository: str = ""

    @property
    def location(self) -> str:
        """The location, as on the command line."""
        return f"github:{self.full_name}"

    @property
    def full_name(self) -> str:
        """`OWNER` or `OWNER/REPO`."""
        return f"{self.owner}/{self.repository}" if self.repository else self.owner

    def is_same(self, other: "Place | None") -> bool:
        """Return True if both are one place: GitHub's names have no case."""
        return other is not None and other.full_name.casefold() == self.full_name.casefold()


def place_of(location: str) -> Place | None:
    """Return the place of `github:OWNER` or `github:OWNER/REPO`; None if it names none."""
    kind, _, rest = location.strip().partition(":")
    owner, _, repository = rest.strip("/").removesuffix(".git").partition("/")
    is_named = _IN_REPOSITORY.issuperset(repository) and len(repository) <= _MAX_NAME and repository not in (".", "..")
    is_owned = _IN_OWNER.issuperset(owner) and 0 < len(owner) <= _MAX_NAME and owner[0].isalnum()
    if kind.lower() != "github" or not is_owned or not is_named:
        return None
    return Place(owner, repository)


def read_place(location: str) -> Place:
    """Return `place_of`.

    Raises:
        SourceError: If the location names no place.
    """
    place = place_of(location)
    if place is None:
        raise SourceError(
            f"{location} is not a GitHub owner or repository.", hint="Write github:OWNER or github:OWNER/REPO."
        )
    return place


def site_of(api_base: str) -> str:
    """Return the website of an API: `https://github.com`, or that of an Enterprise server."""
    parts = urlsplit(api_base)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].removeprefix('api.')}"


def readme_uri(site: str, full_name: str) -> str:
    """Return the address of a repository's README."""
    return f"{site}/{quote(full_name)}#readme"


def file_uri(site: str, full_name: str, path: str) -> str:
    """Return the address of a file of a repository in its default branch."""
    return in_repository(f"{site}/{quote(full_name)}", path)


def name_of(uri: str) -> str:
    """Return the name of the document at a `readme_uri` or `file_uri`: `OWNER/REPO`, or a path below that."""
    path = urlsplit(uri).path.removeprefix("/").replace("/blob/HEAD/", "/", 1)
    return " ".join(unquote(path, errors="replace").split())


def facts_of(repository: Mapping[str, Any]) -> Facts:
    """Return the facts of a repository in an answer; what is missing or of another type is empty."""
    licence = repository.get("license")
    spdx = one_line(licence.get("spdx_id")) if isinstance(licence, dict) else ""
    named = one_line(licence.get("name")) if isinstance(licence, dict) else ""
    topics, stars = repository.get("topics"), repository.get("stargazers_count")
    return {
        "full_name": one_line(repository.get("full_name")),
        "name": one_line(repository.get("name")),
        "description": one_line(repository.get("description"))[:_MAX_DESCRIPTION],
        "language": one_line(repository.get("language")),
        "topics": [one_line(topic) for topic in topics[:_MAX_TOPICS]] if isinstance(topics, list) else [],
        "homepage": one_line(repository.get("homepage")),
        "licence": spdx if spdx and spdx != _UNKNOWN_LICENCE else named,
        "stars": stars if isinstance(stars, int) else None,
        "private": repository.get("private") is True,
        "fork": repository.get("fork") is True,
        "archived": repository.get("archived") is True,
        "branch": one_line(repository.get("default_branch")),
        "created_at": one_line(repository.get("created_at")),
        "pushed_at": one_line(repository.get("pushed_at")),
        "updated_at": one_line(repository.get("updated_at")),
    }


def content_state(facts: Facts) -> str:
    """Return the state of a repository's files without reading them: the last push and the default branch."""
    return f"{facts['full_name']} {facts['branch']} {facts['pushed_at']}"


def stamp_of(facts: Facts, content: str) -> str:
    """Return the stamp of a document: the state of its content, and all facts of its repository."""
    state = json.dumps([content, facts], sort_keys=True)
    return f"{facts['pushed_at']} {hashlib.sha256(state.encode()).hexdigest()[:24]}"


def repositories_in(body: Any) -> Sequence[Facts]:
    """Return the facts of the repositories on a page of a listing.

    Raises:
        SourceError: If it is no such page: taken as an empty one, it would have everything removed.
    """
    if not isinstance(body, list):
        raise garbled_error()
    found = [facts_of(row) if isinstance(row, dict) else {} for row in body]
    if not all(map(_is_named, found)):
        raise garbled_error()
    return found


def _is_named(facts: Facts) -> bool:
    place = place_of(f"github:{facts.get('full_name')}")
    return place is not None and place.full_name == facts["full_name"] and bool(place.repository)


@dataclass(frozen=True, slots=True)
class OwnerRepositories:
    """The repositories of an owner, whose login is spelt so; with `problems` there may be more."""

    login: str
    repositories: tuple[Facts, ...]
    problems: tuple[SourceError, ...] = ()


class Owners:
    """Lists the repositories of owners: the public ones, and the private ones that the token may read."""

    def __init__(self, api: GitHubApi, home: Path, progress: Callable[[str], None]) -> None:
        self._api, self._home, self._progress = api, home, progress

    def repositories(self, owner: str) -> OwnerRepositories:
        """Return all repositories of an owner, each once, in GitHub's order.

        A listing that ends early, changed while it was read, or holds less than before because another token is used,
        has a problem.

        Raises:
            SourceError: If there is no such owner, or GitHub cannot be asked.
            StoreError: If an answer cannot be kept.
        """
        login, kind = self._api.cached(f"/users/{owner}", _login_and_kind).body
        if not place_of(f"github:{login}"):
            raise garbled_error()
        viewer = str(self._api.cached("/user", _login_and_kind, allowed=(403,)).body[0]) if self._api.has_token else ""
        if kind == "Organization":
            path, parameters = f"/orgs/{login}/repos", {"type": "all"}
        elif viewer and viewer.casefold() == login.casefold():
            path, parameters = "/user/repos", {"affiliation": "owner"}
        else:
            path, parameters = f"/users/{login}/repos", {"type": "owner"}
        found, problems = self._pages(login, path, parameters)
        if viewer and path.startswith("/users/") and not problems:  # which lists what is public only
            shared, problems = self._pages(
                login, "/user/repos", {"affiliation": "collaborator", "visibility": "private"}
            )
            found += [facts for facts in shared if facts["full_name"].startswith(f"{login}/")]
        if not problems:
            problems = self._as_before(login, found)
        return OwnerRepositories(login, tuple({facts["full_name"]: facts for facts in found}.values()), tuple(problems))

    def note_private(self, owned: OwnerRepositories, uris: Mapping[str, Collection[str]], *, complete: bool) -> None:
        """Note the documents of private repositories, by repository, with the token that listed them last.

        Those of an incomplete listing join the earlier ones. What the same token does not list any more is gone.

        Raises:
            StoreError: If it cannot be kept.
        """
        key = f"github:{owned.login}"
        note = None if complete else recall_fetched(self._home, key)
        before = note.more.get("shown", {}) if note else {}
        if uris or complete:
            now = {name: {"asker": self._api.asker, "uris": sorted(below)} for name, below in uris.items()}
            remember_fetched(self._home, Fetched(key, "", "", 0, {"shown": {**before, **now}}))

    def _pages(self, login: str, path: str, parameters: dict[str, Any]) -> tuple[list[Facts], list[SourceError]]:
        found: list[Facts] = []
        names: list[set[str]] = []
        problems: list[SourceError] = []
        try:
            for number in range(1, _MAX_PAGES + 1):
                page = self._page(path, parameters, number)
                found += page.body
                names.append({facts["full_name"] for facts in page.body})
                problems = problems or ([partial_error(path)] if page.is_cut else [])
                if not page.more and len(page.body) < _PER_PAGE:
                    break
                self._progress(f"github:{login}: {len(found):,} repositories listed")
            else:
                raise SourceError(f"{login} has more repositories than are listed.", hint="Name single ones.")
            # A repository that was deleted from an early page meanwhile moved another one out of sight.
            for number, before in enumerate(names[:-1], start=1):
                if {facts["full_name"] for facts in self._page(path, parameters, number).body} != before:
                    raise SourceError(f"The repositories of {login} changed while they were listed.", hint="Try again.")
        except SourceError as error:
            problems.append(error)
        return found, problems

    def _page(self, path: str, parameters: dict[str, Any], number: int) -> CachedResponse:
        query = {**parameters, "sort": "full_name", "per_page": _PER_PAGE, "page": number}
        return self._api.cached(path, repositories_in, query)

    def _as_before(self, login: str, found: list[Facts]) -> list[SourceError]:
        """Return a problem if another token listed private repositories that are missing now.

        Documents that a person removed meanwhile are no longer among the fetched ones, and do not count.
        """
        note, seen = recall_fetched(self._home, f"github:{login}"), {facts["full_name"] for facts in found}
        lost = {
            name: uris
            for name, shown in (note.more.get("shown", {}) if note else {}).items()
            if name not in seen
            and shown["asker"] != self._api.asker
            and (uris := [uri for uri in shown["uris"] if recall_fetched(self._home, uri)])
        }
        return [_lost_private_error(login, lost)] if lost else []


def _lost_private_error(login: str, lost: Mapping[str, Sequence[str]]) -> SourceError:
    """Return the problem of private repositories, given with the addresses of their documents."""
    repositories, documents = list(lost), [name_of(uri) for uris in lost.values() for uri in uris]
    named = ", ".join(repositories[:_MAX_NAMED]) + (", ..." if len(repositories) > _MAX_NAMED else "")
    lost_ones = f"Private repositories of {login} cannot be seen ({named}): another GITHUB_TOKEN listed them before."
    command = f"`footnote remove {shlex.join(documents[:_MAX_REMOVED])}{' ...' * (len(documents) > _MAX_REMOVED)}`"
    return SourceError(
        f"{lost_ones} Until then nothing of github:{login} is removed.",
        hint=f"Set that token again, or remove their documents: {command}.",
        wait=UNTIL_MENDED,
    )


def _login_and_kind(answer: Any) -> list[str]:
    """Return (login, type) of a user or organisation."""
    facts = answer if isinstance(answer, dict) else {}
    return [str(facts.get("login") or ""), str(facts.get("type") or "")]
