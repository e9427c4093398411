"""GitHub as a source: a repository, or those of a user or organisation, each by its README and its facts."""

import base64
import binascii
import codecs
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from config.sources import DeclaredSource
from pipelines.errors import FootnoteError, SourceError, as_source_error
from pipelines.ingestion.envelope import Envelope, keep_envelope, stored_envelope
from pipelines.ingestion.sources.base import Access, Listing, Read, Remark
from pipelines.ingestion.sources.github.client import GitHubApi, garbled_error
from pipelines.ingestion.sources.github.repositories import (
    Facts,
    Owners,
    Place,
    content_state,
    file_uri,
    place_of,
    read_place,
    readme_uri,
    repositories_in,
    site_of,
    stamp_of,
)
from pipelines.store.fetch_cache import Fetched, recall_fetched, remember_fetched
from pipelines.text import one_line
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


_EMPTY_STATUS = 409  # what the API answers of a repository without a commit
_LINK_MODE = "120000"  # the mode of a symbolic link
_GITHUB = ".github"
_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file of a repository; `path` is empty for a missing or blank README, `more` is what the next run compares."""

    path: str
    data: bytes
    more: Mapping[str, Any] = field(default_factory=dict)


class Contents:
    """Reads files of repositories, of at most `most_bytes`."""

    def __init__(self, api: GitHubApi, home: Path, most_bytes: int) -> None:
        self._api, self._home, self._most_bytes = api, home, most_bytes

    def readme(self, facts: Facts, note: Fetched | None) -> RepositoryFile:
        """Return the README; it is requested only if something was pushed since `note`, and sent only if it changed.

        Raises:
            SourceError: If it cannot be fetched, or is too large.
        """
        state, kept = content_state(facts), self._kept_file(note) if note else None
        if note and kept and note.more.get("state") == state:
            return kept
        etag = str(note.more.get("etag", "")) if note and kept else ""
        reply = self._api.get(f"/repos/{facts['full_name']}/readme", etag=etag, allowed=(404,))
        if reply.status == 304 and kept:
            return RepositoryFile(kept.path, kept.data, {"state": state, "etag": etag})
        if reply.status == 404:
            return RepositoryFile("", b"", {"state": state, "etag": ""})
        if not isinstance(reply.body, dict):
            raise garbled_error()
        path, more = str(reply.body.get("path") or "README"), {"state": state, "etag": reply.headers.get("etag", "")}
        data = self._data(facts, path, reply.body)
        return (
            RepositoryFile(path, data, more)
            if data.removeprefix(codecs.BOM_UTF8).strip()
            else RepositoryFile("", b"", more)
        )

    def document(self, facts: Facts, path: str, blob: str, note: Fetched | None) -> RepositoryFile:
        """Return a file; it is requested only if Git's name of its content is not that of `note`.

        Raises:
            SourceError: If it cannot be fetched, or is too large.
        """
        kept = self._kept_file(note) if note and note.more.get("blob") == blob else None
        data = kept.data if kept else self._blob(facts, path, blob)
        return RepositoryFile(path, data, {"blob": blob})

    def documents(self, facts: Facts) -> tuple[list[tuple[str, str]], bool]:
        """Return (path, blob) of each Markdown file below docs/ but the README, in order; and whether these are all."""
        head, state = f"/repos/{facts['full_name']}/git/trees/HEAD", content_state(facts)
        found = self._api.cached(head, _tree, {"recursive": "1"}, state=state, allowed=(_EMPTY_STATUS,)).body
        parts = self._folders(facts, state) if found["truncated"] else [found]
        docs = sorted((name, blob) for part in parts for name, blob in part["docs"])
        return docs, not any(part["truncated"] for part in parts)

    def _folders(self, facts: Facts, state: str) -> list[Mapping[str, Any]]:
        """Return the `_tree` of each docs/ alone, which is smaller than that of the repository."""
        trees = f"/repos/{facts['full_name']}/git/trees"
        root = self._api.cached(f"{trees}/HEAD", _root, state=state).body
        higher = root["readme"] or any(
            self._api.cached(f"{trees}/{sha}", _root, state=sha).body["readme"] for _, sha in root.get("github", ())
        )
        return [
            self._api.cached(
                f"{trees}/{sha}",
                partial(_tree, below=f"{name}/", higher=higher),
                {"recursive": "1"},
                state=f"{sha} {higher}",
            ).body
            for name, sha in root["docs"]
        ]

    def _data(self, facts: Facts, path: str, answer: Mapping[str, Any]) -> bytes:
        if answer.get("type", "file") != "file":  # a link that leads nowhere, whose content is where it leads
            return b""
        self._assert_small(facts, path, answer.get("size"))
        if answer.get("encoding") == "base64" and (answer.get("content") or answer.get("size") == 0):
            return _decoded(answer.get("content"))
        return self._blob(facts, path, str(answer.get("sha")))  # which the API answers of a file over 1 MB

    def _blob(self, facts: Facts, path: str, blob: str) -> bytes:
        answer = self._api.get(f"/repos/{facts['full_name']}/git/blobs/{_sha(blob)}").body
        if not isinstance(answer, dict):
            raise garbled_error()
        self._assert_small(facts, path, answer.get("size"))
        return _decoded(answer.get("content"))

    def _assert_small(self, facts: Facts, path: str, size: object) -> None:
        if isinstance(size, int) and size > self._most_bytes:
            problem = (
                f"{facts['full_name']}/{one_line(path)} has {size:,} bytes, over the limit of {self._most_bytes:,}."
            )
            raise SourceError(problem, hint="Raise FOOTNOTE_INGESTION__MAX_TEXT_BYTES.")

    def _kept_file(self, note: Fetched) -> RepositoryFile | None:
        """Return the file that was fetched before; None if its bytes are damaged or gone."""
        if not note.sha:
            return RepositoryFile("", b"", note.more)
        envelope = stored_envelope(self._home, note.sha, note.uri)
        return RepositoryFile(str(envelope.facts["path"]), envelope.body, note.more) if envelope else None


def _tree(answer: Any, *, below: str = "", higher: bool = False) -> dict[str, Any]:
    """Return the files below docs/ of a tree, without the one that is shown as the README; None has none.

    `below` is the folder of the tree; `higher` is True if a README stands above docs/.
    """
    if answer is None:
        return {"docs": [], "truncated": False}
    files = {f"{below}{row.get('path')}": row for row in _rows(answer) if row.get("type") == "blob"}
    higher = higher or any(_is_readme(path) and path.rpartition("/")[0] in ("", _GITHUB) for path in files)
    docs = sorted(
        [path, str(row.get("sha"))]
        for path, row in files.items()
        if row.get("mode") != _LINK_MODE
        and path.lower().startswith("docs/")
        and path.lower().endswith(_MARKDOWN)
        and (higher or path.count("/") > 1 or not _is_readme(path))
    )
    return {"docs": docs, "truncated": bool(answer.get("truncated"))}


def _root(answer: Any) -> dict[str, Any]:
    """Return the docs/ and .github/ in a folder, and whether it has a README."""
    rows = [(str(row.get("path")), row) for row in _rows(answer)]
    trees = [(name, str(row.get("sha"))) for name, row in rows if row.get("type") == "tree"]
    return {
        "docs": [[name, _sha(sha)] for name, sha in trees if name.lower() == "docs"],
        "github": [[name, _sha(sha)] for name, sha in trees if name == _GITHUB],
        "readme": any(row.get("type") == "blob" and _is_readme(name) for name, row in rows),
    }


def _rows(answer: Any) -> list[Mapping[str, Any]]:
    if not isinstance(answer, dict) or not isinstance(answer.get("tree"), list):
        raise garbled_error()
    return [row for row in answer["tree"] if isinstance(row, dict)]


def _sha(value: str) -> str:
    """Return a name that Git gives; it goes into a path."""
    if not (value.isascii() and value.isalnum()):
        raise garbled_error()
    return value


def _is_readme(path: str) -> bool:
    return PurePosixPath(path).stem.lower() == "readme"


def _decoded(content: object) -> bytes:
    try:
        return base64.b64decode(str(content or ""))
    except (binascii.Error, ValueError) as error:
        raise garbled_error() from error
