"""The files of a repository: its README in any form, wherever it stands, and the Markdown below docs/."""

import base64
import binascii
import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines.errors import SourceError
from pipelines.ingestion.envelope import stored_envelope
from pipelines.ingestion.sources.github.client import GitHubApi, garbled_error
from pipelines.ingestion.sources.github.repositories import Facts, content_state, one_line
from pipelines.store.fetch_cache import Fetched

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
