"""GitHub as a source: a repository, or those of a user or organisation, each by its README and its facts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.sources import DeclaredSource
from pipelines.errors import FootnoteError, SourceError, as_source_error
from pipelines.ingestion.envelope import Envelope, keep_envelope
from pipelines.ingestion.sources.base import Access, Listing, Read, Remark
from pipelines.ingestion.sources.github.client import GitHubApi
from pipelines.ingestion.sources.github.contents import Contents
from pipelines.ingestion.sources.github.repositories import (
    Facts,
    Owners,
    Place,
    content_state,
    file_uri,
    one_line,
    place_of,
    read_place,
    readme_uri,
    repositories_in,
    site_of,
    stamp_of,
)
from pipelines.store.fetch_cache import Fetched, recall_fetched, remember_fetched
from pipelines.types import SourceItem

Problem = tuple[str, SourceError]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item: the README of a repository, or a file of it that has a path."""

    facts: Facts
    path: str = ""
    blob: str = ""


class GitHub:
    """Repositories on GitHub, or on an Enterprise server; see `Source`.

    A repository is one document: its README, else its facts. What did not change is not downloaded.
    """

    def __init__(self, access: Access, now: Callable[[], float] = time.time) -> None:
        settings = access.settings
        self._access, self._home = access, settings.home.absolute()
        self._site = site_of(settings.github.api_base)
        self._api = GitHubApi(access, now)
        self._owners = Owners(self._api, self._home, access.progress)
        self._contents = Contents(self._api, self._home, settings.ingestion.max_text_bytes)
        self._entries: dict[str, _Entry] = {}
        self._read: dict[str, Read | FootnoteError] = {}
        self._fetches = 0

    def list(self, location: str) -> Listing:
        """List the repositories of `github:OWNER`, or that of `github:OWNER/REPO`, with docs/ if the options say so.

        Forks and archived repositories of an owner are skipped as the options say; one that is named itself is always
        listed.
        """
        try:
            place = read_place(location)
        except SourceError as error:
            return Listing(location, "github", (), False, problems=((location, error),))
        try:
            list_all = self._repository if place.repository else self._owner
            return list_all(place, self._access.options(location))
        except FootnoteError as error:
            return Listing(place.location, "github", (), False, problems=((place.location, as_source_error(error)),))

    def read(self, item: SourceItem) -> Read:
        """Return the README or file of an item, fetched if it changed, and kept with the facts of its repository.

        Raises:
            SourceError: If it is refused or too large, or GitHub cannot be reached or asks to wait too long.
            StoreError: If it cannot be kept.
        """
        if item.uri not in self._read:
            note = None if self._access.verify else recall_fetched(self._home, item.uri)
            same = note is not None and note.sha and note.stamp == item.stamp
            try:
                self._read[item.uri] = Read(note.sha, kept=True) if note and same else self._fetched(item, note)
            except FootnoteError as error:
                self._read[item.uri] = error
        found = self._read[item.uri]
        if isinstance(found, FootnoteError):
            raise found
        return found

    def close(self) -> None:
        """Close the connection."""
        self._api.close()

    def _owner(self, place: Place, options: DeclaredSource) -> Listing:
        found = self._owners.repositories(place.owner)
        source = f"github:{found.login}"
        taken, skipped = [], []
        for facts in found.repositories:
            if facts["fork"] and not options.forks:
                skipped.append(Remark(facts["full_name"], "a fork"))
            elif facts["archived"] and not options.archived:
                skipped.append(Remark(facts["full_name"], "archived"))
            else:
                taken.append(facts)
        listing = self._listing(source, taken, options, skipped, [(source, error) for error in found.problems])
        private: dict[str, list[str]] = {}
        for item in listing.items:
            if (facts := self._entries[item.uri].facts)["private"]:
                private.setdefault(facts["full_name"], []).append(item.uri)
        self._owners.note_private(found, private, complete=listing.complete)
        return listing

    def _repository(self, place: Place, options: DeclaredSource) -> Listing:
        found = self._api.cached(f"/repos/{place.full_name}", lambda answer: repositories_in([answer])).body
        source = f"github:{found[0]['full_name']}"
        if not place.is_same(place_of(source)):
            self._access.say(f"{place.location} is called {source} now.")
        return self._listing(source, found, options, [], [])

    def _listing(
        self,
        source: str,
        found: Sequence[Facts],
        options: DeclaredSource,
        skipped: Sequence[Remark],
        ended: Sequence[Problem],
    ) -> Listing:
        items, problems, nothing = [], [*ended], [*skipped]
        for number, facts in enumerate(found, start=1):
            self._access.progress(f"{source}: repository {number:,} of {len(found):,}")
            item = self._item(source, _Entry(facts))
            if self._is_nothing(item, facts):
                nothing.append(Remark(item.name, "no README, no description"))
            else:
                items.append(item)
            if options.docs and not (self._api.ended and problems):
                below, problem = self._documents(source, facts)
                items += below
                problems += problem
        in_order = tuple(sorted(items, key=lambda item: item.name))
        return Listing(source, "github", in_order, not problems, tuple(nothing), tuple(problems))

    def _documents(self, source: str, facts: Facts) -> tuple[Sequence[SourceItem], Sequence[Problem]]:
        """Return (the files below docs/, why these may not be all)."""
        name = f"{facts['full_name']}/docs"
        try:
            files, whole = self._contents.documents(facts)
        except SourceError as error:
            return [], [(name, error)]
        hint = "What it lists is taken, and nothing is removed. Name a folder of a clone instead."
        cut = SourceError(f"GitHub does not list all files of {facts['full_name']}: there are too many.", hint=hint)
        return [self._item(source, _Entry(facts, *file)) for file in files], [] if whole else [(name, cut)]

    def _item(self, source: str, entry: _Entry) -> SourceItem:
        full_name = entry.facts["full_name"]
        uri = file_uri(self._site, full_name, entry.path) if entry.path else readme_uri(self._site, full_name)
        name = f"{full_name}/{one_line(entry.path)}" if entry.path else full_name
        self._entries[uri] = entry
        return SourceItem(uri, name, source, "github", stamp_of(entry.facts, entry.blob or content_state(entry.facts)))

    def _is_nothing(self, item: SourceItem, facts: Facts) -> bool:
        """Return True if there is nothing to read of a repository; one that cannot be read now is listed."""
        if facts["description"]:
            return False
        try:
            return not self.read(item).sha
        except FootnoteError:
            return False

    def _fetched(self, item: SourceItem, note: Fetched | None) -> Read:
        """Fetch, keep and note an item; the hash is empty if there is nothing."""
        self._fetches += 1
        self._access.progress(f"GitHub: document {self._fetches:,}, {item.name}")
        entry = self._entries[item.uri]
        if entry.path:
            file = self._contents.document(entry.facts, entry.path, entry.blob, note)
        else:
            file = self._contents.readme(entry.facts, note)
        is_empty = not (file.path or entry.facts["description"])
        envelope = Envelope({**entry.facts, "path": one_line(file.path)}, file.data)
        sha, size = ("", 0) if is_empty else keep_envelope(self._home, envelope, name=item.name)
        remember_fetched(self._home, Fetched(item.uri, item.stamp, sha, size, file.more))
        return Read(sha, kept=True)
