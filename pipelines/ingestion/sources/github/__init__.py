"""GitHub as a source: the repositories of a user or organisation, or one, each by its README and what is told of it."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.sources import DeclaredSource
from pipelines.errors import FootnoteError, SourceError, as_source_error
from pipelines.ingestion.envelope import pack
from pipelines.ingestion.sources.base import Access, Listing, Read, Remark
from pipelines.ingestion.sources.github.asked import Asked
from pipelines.ingestion.sources.github.client import Client
from pipelines.ingestion.sources.github.contents import Contents, File, enveloped, is_nothing
from pipelines.ingestion.sources.github.owners import Owners
from pipelines.ingestion.sources.github.places import Place, file_uri, place_of, read_place, readme_uri, site_of
from pipelines.ingestion.sources.github.told import Told, content_of, line, repositories_in, stamp_of
from pipelines.store.fetched import Fetched, recall, remember
from pipelines.store.originals import keep_original
from pipelines.types import SourceItem

Problem = tuple[str, SourceError]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What an item stands for: a repository by its README, or a file of it that has a path."""

    told: Told
    path: str = ""
    blob: str = ""


class GitHub:
    """Repositories on GitHub, or on an Enterprise server; see `SourceKind`.

    A repository is one document: its README, else what is told of it. What did not change is not downloaded.
    """

    def __init__(self, access: Access, now: Callable[[], float] = time.time) -> None:
        settings = access.settings
        self._access, self._home = access, settings.home.absolute()
        self._site = site_of(settings.github.api_base)
        self._client = Client(access, now)
        self._asked = Asked(self._client, self._home, settings.github.api_base, verify=access.verify)
        self._owners = Owners(self._client, self._asked, self._home, access.far)
        self._contents = Contents(self._client, self._asked, self._home, settings.ingestion.max_text_bytes)
        self._entries: dict[str, _Entry] = {}
        self._read: dict[str, Read | FootnoteError] = {}
        self._fetches = 0

    def list(self, location: str) -> Listing:
        """The repositories of `github:OWNER` by name, or that of `github:OWNER/REPO`, with their docs/ where asked for.

        Forks and archived repositories of an owner are passed over as the location's options say; one that is named
        itself is always taken.
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
        """The README or file of an item, fetched if it changed, and kept with what is told of its repository.

        Raises:
            SourceError: If it is refused or too large, or GitHub cannot be reached or asks to wait too long.
            StoreError: If it cannot be kept.
        """
        if item.uri not in self._read:
            note = None if self._access.verify else recall(self._home, item.uri)
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
        """Let go of the connection."""
        self._client.close()

    def _owner(self, place: Place, asked: DeclaredSource) -> Listing:
        found = self._owners.repositories(place.owner)
        source = f"github:{found.login}"
        taken, skipped = [], []
        for told in found.repositories:
            if why := _left_out(told, asked):
                skipped.append(Remark(told["full_name"], why))
            else:
                taken.append(told)
        listing = self._listing(source, taken, asked, skipped, [(source, error) for error in found.problems])
        private: dict[str, list[str]] = {}
        for item in listing.items:
            if (told := self._entries[item.uri].told)["private"]:
                private.setdefault(told["full_name"], []).append(item.uri)
        self._owners.note_private(found, private, complete=listing.complete)
        return listing

    def _repository(self, place: Place, asked: DeclaredSource) -> Listing:
        found = self._asked.get(f"/repos/{place.full_name}", lambda answer: repositories_in([answer]))
        source = f"github:{found[0]['full_name']}"
        if not place.is_same(place_of(source)):
            self._access.say(f"{place.location} is called {source} now.")
        return self._listing(source, found, asked, [], [])

    def _listing(
        self,
        source: str,
        found: Sequence[Told],
        asked: DeclaredSource,
        skipped: Sequence[Remark],
        ended: Sequence[Problem],
    ) -> Listing:
        items, problems, nothing = [], [*ended], [*skipped]
        for number, told in enumerate(found, start=1):
            self._access.far(f"{source}: repository {number:,} of {len(found):,}")
            item = self._item(source, _Entry(told))
            if self._is_nothing(item, told):
                nothing.append(Remark(item.name, "no README, no description"))
            else:
                items.append(item)
            if asked.docs and not (self._client.ended and problems):
                below, problem = self._documents(source, told)
                items += below
                problems += problem
        in_order = tuple(sorted(items, key=lambda item: item.name))
        return Listing(source, "github", in_order, not problems, tuple(nothing), tuple(problems))

    def _documents(self, source: str, told: Told) -> tuple[Sequence[SourceItem], Sequence[Problem]]:
        """(the files below a repository's docs/, why these may not be all)."""
        name = f"{told['full_name']}/docs"
        try:
            files, whole = self._contents.documents(told)
        except SourceError as error:
            return [], [(name, error)]
        hint = "What it lists is taken, and nothing is removed. Name a folder of a clone instead."
        cut = SourceError(f"GitHub does not list all files of {told['full_name']}: there are too many.", hint=hint)
        return [self._item(source, _Entry(told, *file)) for file in files], [] if whole else [(name, cut)]

    def _item(self, source: str, entry: _Entry) -> SourceItem:
        full_name = entry.told["full_name"]
        uri = file_uri(self._site, full_name, entry.path) if entry.path else readme_uri(self._site, full_name)
        name = f"{full_name}/{line(entry.path)}" if entry.path else full_name
        self._entries[uri] = entry
        return SourceItem(uri, name, source, "github", stamp_of(entry.told, entry.blob or content_of(entry.told)))

    def _is_nothing(self, item: SourceItem, told: Told) -> bool:
        """Whether there is nothing to read of a repository; one that cannot be asked for that now is listed."""
        if told["description"]:
            return False
        try:
            return not self.read(item).sha
        except FootnoteError:
            return False

    def _fetched(self, item: SourceItem, note: Fetched | None) -> Read:
        """What an item holds now, kept and noted; without a hash where there is nothing."""
        self._fetches += 1
        self._access.far(f"GitHub: document {self._fetches:,}, {item.name}")
        entry = self._entries[item.uri]
        file = self._file(entry, note)
        data = b"" if is_nothing(entry.told, file) else pack(enveloped(entry.told, file))
        sha = hashlib.sha256(data).hexdigest() if data else ""
        if data:
            keep_original(self._home, sha, data, name=item.name)
        remember(self._home, Fetched(item.uri, item.stamp, sha, len(data), file.more))
        return Read(sha, kept=True)

    def _file(self, entry: _Entry, note: Fetched | None) -> File:
        if entry.path:
            return self._contents.document(entry.told, entry.path, entry.blob, note)
        return self._contents.readme(entry.told, note)


def _left_out(told: Told, asked: DeclaredSource) -> str:
    """Why a repository of an owner is not taken; empty where it is."""
    if told["fork"] and not asked.forks:
        return "a fork"
    return "archived" if told["archived"] and not asked.archived else ""
