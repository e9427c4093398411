"""The repositories of a user or organisation, all pages of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import SourceError
from pipelines.ingestion.sources.github.asked import Asked
from pipelines.ingestion.sources.github.client import Client
from pipelines.ingestion.sources.github.places import place_of
from pipelines.ingestion.sources.github.refusals import garbled
from pipelines.ingestion.sources.github.told import Told, repositories_in
from pipelines.store.fetched import Fetched, recall, remember

_PER_PAGE = 100
_MOST_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class Owned:
    """The repositories of an owner whose name is spelt so, as `viewer` sees them; with `problems` there may be more."""

    login: str
    viewer: str
    repositories: tuple[Told, ...]
    problems: tuple[SourceError, ...] = ()


class Owners:
    """Lists what owners have: what is public, and what is private as far as the token reaches."""

    def __init__(self, client: Client, asked: Asked, home: Path, say: Callable[[str], None]) -> None:
        self._client, self._asked, self._home, self._say = client, asked, home, say

    def repositories(self, owner: str) -> Owned:
        """All repositories of an owner, each once, in GitHub's order.

        A listing that ends early has a problem, and so has one that changed while it was read, or that holds less than
        before because another token asks.

        Raises:
            SourceError: If there is no such owner, or GitHub cannot be asked.
            StoreError: If an answer cannot be kept.
        """
        login, kind = self._asked.get(f"/users/{owner}", _who)
        if not place_of(f"github:{login}"):
            raise garbled()
        viewer = self._viewer()
        if kind == "Organization":
            path, parameters = f"/orgs/{login}/repos", {"type": "all"}
        elif viewer and viewer.casefold() == login.casefold():
            path, parameters = "/user/repos", {"affiliation": "owner"}
        else:
            path, parameters = f"/users/{login}/repos", {"type": "owner"}
        found, problems = self._pages(login, path, parameters)
        if not problems:
            problems = self._as_before(login, viewer, found)
        return Owned(login, viewer, tuple({told["full_name"]: told for told in found}.values()), tuple(problems))

    def note_private(self, owned: Owned, uris: Collection[str], *, complete: bool) -> None:
        """Keep which documents are there only for the one who asked; of an incomplete listing, with those before.

        Raises:
            StoreError: If it cannot be kept.
        """
        key = f"github:{owned.login}"
        note = recall(self._home, key)
        before = note.more.get("private_uris", []) if note and not complete else []
        if uris or complete:
            more = {"private_uris": sorted({*uris, *before}), "viewer": owned.viewer}
            remember(self._home, Fetched(key, "", "", 0, more))

    def _pages(self, login: str, path: str, parameters: dict[str, Any]) -> tuple[list[Told], list[SourceError]]:
        found: list[Told] = []
        names: list[set[str]] = []
        try:
            for number in range(1, _MOST_PAGES + 1):
                page, more = self._page(path, parameters, number)
                found += page
                names.append({told["full_name"] for told in page})
                if not more and len(page) < _PER_PAGE:
                    break
                self._say(f"github:{login}: {len(found):,} repositories listed ...")
            # A repository that was deleted from an early page meanwhile moved another one out of sight.
            for number, before in enumerate(names[:-1], start=1):
                if {told["full_name"] for told in self._page(path, parameters, number)[0]} != before:
                    raise SourceError(f"The repositories of {login} changed while they were listed.", hint="Try again.")
        except SourceError as error:
            return found, [error]
        return found, []

    def _page(self, path: str, parameters: dict[str, Any], number: int) -> tuple[list[Told], bool]:
        asked = {**parameters, "sort": "full_name", "per_page": _PER_PAGE, "page": number}
        return self._asked.page(path, repositories_in, asked)

    def _viewer(self) -> str:
        """The name of the token's owner; empty without one, and for one that is of an app."""
        return str(self._asked.get("/user", _who, allowed=(403,))[0]) if self._client.has_token else ""

    def _as_before(self, login: str, viewer: str, found: list[Told]) -> list[SourceError]:
        """A problem where private repositories were listed for somebody, and somebody else asks now.

        What a person removed meanwhile is no longer among what was fetched, and nobody misses it.
        """
        note = recall(self._home, f"github:{login}")
        if note is None or note.more.get("viewer") == viewer or any(told["private"] for told in found):
            return []
        if any(recall(self._home, uri) for uri in note.more.get("private_uris", [])):
            said = f"The private repositories of {login} cannot be seen: another GITHUB_TOKEN listed them before."
            return [SourceError(said, hint="Set that token again, or remove them with `footnote remove`.")]
        return []


def _who(answer: Any) -> list[str]:
    """(name, kind) of a user or organisation."""
    told = answer if isinstance(answer, dict) else {}
    return [str(told.get("login") or ""), str(told.get("type") or "")]
