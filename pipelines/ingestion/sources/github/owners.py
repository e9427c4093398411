"""The repositories of a user or organisation, all pages of them."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.github.asked import Answer, Asked
from pipelines.ingestion.sources.github.client import Client
from pipelines.ingestion.sources.github.places import name_of, place_of
from pipelines.ingestion.sources.github.refusals import garbled, partial
from pipelines.ingestion.sources.github.told import Told, repositories_in
from pipelines.store.fetched import Fetched, recall, remember

_PER_PAGE = 100
_MOST_PAGES = 1_000
_MOST_NAMED = 3  # repositories
_MOST_REMOVED = 10  # documents


@dataclass(frozen=True, slots=True)
class Owned:
    """The repositories of an owner whose name is spelt so; with `problems` there may be more."""

    login: str
    repositories: tuple[Told, ...]
    problems: tuple[SourceError, ...] = ()


class Owners:
    """Lists what owners have: what is public, and what is private as far as the token reaches."""

    def __init__(self, client: Client, asked: Asked, home: Path, far: Callable[[str], None]) -> None:
        self._client, self._asked, self._home, self._far = client, asked, home, far

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
        if viewer and path.startswith("/users/") and not problems:  # which lists what is public only
            shared, problems = self._pages(
                login, "/user/repos", {"affiliation": "collaborator", "visibility": "private"}
            )
            found += [told for told in shared if told["full_name"].startswith(f"{login}/")]
        if not problems:
            problems = self._as_before(login, found)
        return Owned(login, tuple({told["full_name"]: told for told in found}.values()), tuple(problems))

    def note_private(self, owned: Owned, uris: Mapping[str, Collection[str]], *, complete: bool) -> None:
        """Keep which documents, by repository, this token alone shows; of an incomplete listing, beside those before.

        Each repository with the token that listed it last: what that one does not list any more is gone.

        Raises:
            StoreError: If it cannot be kept.
        """
        key = f"github:{owned.login}"
        note = None if complete else recall(self._home, key)
        before = note.more.get("shown", {}) if note else {}
        if uris or complete:
            now = {name: {"asker": self._client.asker, "uris": sorted(below)} for name, below in uris.items()}
            remember(self._home, Fetched(key, "", "", 0, {"shown": {**before, **now}}))

    def _pages(self, login: str, path: str, parameters: dict[str, Any]) -> tuple[list[Told], list[SourceError]]:
        found: list[Told] = []
        names: list[set[str]] = []
        problems: list[SourceError] = []
        try:
            for number in range(1, _MOST_PAGES + 1):
                page = self._page(path, parameters, number)
                found += page.held
                names.append({told["full_name"] for told in page.held})
                problems = problems or ([partial(path)] if page.is_cut else [])
                if not page.more and len(page.held) < _PER_PAGE:
                    break
                self._far(f"github:{login}: {len(found):,} repositories listed")
            else:
                raise SourceError(f"{login} has more repositories than are listed.", hint="Name single ones.")
            # A repository that was deleted from an early page meanwhile moved another one out of sight.
            for number, before in enumerate(names[:-1], start=1):
                if {told["full_name"] for told in self._page(path, parameters, number).held} != before:
                    raise SourceError(f"The repositories of {login} changed while they were listed.", hint="Try again.")
        except SourceError as error:
            problems.append(error)
        return found, problems

    def _page(self, path: str, parameters: dict[str, Any], number: int) -> Answer:
        asked = {**parameters, "sort": "full_name", "per_page": _PER_PAGE, "page": number}
        return self._asked.page(path, repositories_in, asked)

    def _viewer(self) -> str:
        """The name of the token's owner; empty without one, and for one that is of an app."""
        return str(self._asked.get("/user", _who, allowed=(403,))[0]) if self._client.has_token else ""

    def _as_before(self, login: str, found: list[Told]) -> list[SourceError]:
        """A problem where another token listed private repositories that are not there now.

        What a person removed meanwhile is no longer among what was fetched, and nobody misses it.
        """
        note, seen = recall(self._home, f"github:{login}"), {told["full_name"] for told in found}
        lost = {
            name: held
            for name, shown in (note.more.get("shown", {}) if note else {}).items()
            if name not in seen
            and shown["asker"] != self._client.asker
            and (held := [uri for uri in shown["uris"] if recall(self._home, uri)])
        }
        return [_unseen(login, lost)] if lost else []


def _unseen(login: str, lost: Mapping[str, Sequence[str]]) -> SourceError:
    """The problem of private repositories, each with the addresses of its documents that were listed before."""
    repositories, documents = list(lost), [name_of(uri) for held in lost.values() for uri in held]
    named = ", ".join(repositories[:_MOST_NAMED]) + (", ..." if len(repositories) > _MOST_NAMED else "")
    said = f"Private repositories of {login} cannot be seen ({named}): another GITHUB_TOKEN listed them before."
    command = f"`footnote remove {shlex.join(documents[:_MOST_REMOVED])}{' ...' * (len(documents) > _MOST_REMOVED)}`"
    return SourceError(
        f"{said} Until that is mended, nothing of github:{login} is removed.",
        hint=f"Set that token again, or remove what is held of them: {command}.",
        wait=UNTIL_MENDED,
    )


def _who(answer: Any) -> list[str]:
    """(name, kind) of a user or organisation."""
    told = answer if isinstance(answer, dict) else {}
    return [str(told.get("login") or ""), str(told.get("type") or "")]
