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
from pipelines.ingestion.envelope import Envelope, kept_envelope
from pipelines.ingestion.sources.github.asked import Asked
from pipelines.ingestion.sources.github.client import Client
from pipelines.ingestion.sources.github.refusals import garbled
from pipelines.ingestion.sources.github.told import Told, content_of, line
from pipelines.store.fetched import Fetched

_EMPTY = 409  # what the API answers of a repository without a commit
_LINK = "120000"  # the mode of a symbolic link
_GITHUB = ".github"
_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a repository; `path` is empty for a README that is none or blank.

    `more` is what spares asking again.
    """

    path: str
    data: bytes
    more: Mapping[str, Any] = field(default_factory=dict)


class Contents:
    """Reads files of repositories, of at most `most_bytes`."""

    def __init__(self, client: Client, asked: Asked, home: Path, most_bytes: int) -> None:
        self._client, self._asked, self._home, self._most_bytes = client, asked, home, most_bytes

    def readme(self, told: Told, note: Fetched | None) -> File:
        """The README, asked for only if something was pushed since `note`, and sent only if it changed.

        Raises:
            SourceError: If it cannot be fetched, or is too large.
        """
        state, held = content_of(told), self._held(note) if note else None
        if note and held and note.more.get("state") == state:
            return held
        etag = str(note.more.get("etag", "")) if note and held else ""
        reply = self._client.get(f"/repos/{told['full_name']}/readme", etag=etag, allowed=(404,))
        if reply.status == 304 and held:
            return File(held.path, held.data, {"state": state, "etag": etag})
        if reply.status == 404:
            return File("", b"", {"state": state, "etag": ""})
        if not isinstance(reply.body, dict):
            raise garbled()
        path, more = str(reply.body.get("path") or "README"), {"state": state, "etag": reply.etag}
        data = self._data(told, path, reply.body)
        return File(path, data, more) if data.removeprefix(codecs.BOM_UTF8).strip() else File("", b"", more)

    def document(self, told: Told, path: str, blob: str, note: Fetched | None) -> File:
        """A file by the name that Git gives its content; not asked for where `note` has that.

        Raises:
            SourceError: If it cannot be fetched, or is too large.
        """
        held = self._held(note) if note and note.more.get("blob") == blob else None
        data = held.data if held else self._blob(told, path, blob)
        return File(path, data, {"blob": blob})

    def documents(self, told: Told) -> tuple[list[tuple[str, str]], bool]:
        """((path, blob) of each Markdown file below docs/ but the README, in order, whether these are all)."""
        head, state = f"/repos/{told['full_name']}/git/trees/HEAD", content_of(told)
        found = self._asked.get(head, _tree, {"recursive": "1"}, state=state, allowed=(_EMPTY,))
        parts = self._folders(told, state) if found["truncated"] else [found]
        docs = sorted((name, blob) for part in parts for name, blob in part["docs"])
        return docs, not any(part["truncated"] for part in parts)

    def _folders(self, told: Told, state: str) -> list[Mapping[str, Any]]:
        """What `_tree` keeps of each docs/ alone, which is smaller than the tree of a repository."""
        trees = f"/repos/{told['full_name']}/git/trees"
        root = self._asked.get(f"{trees}/HEAD", _root, state=state)
        higher = root["readme"] or any(
            self._asked.get(f"{trees}/{sha}", _root, state=sha)["readme"] for _, sha in root.get("github", ())
        )
        return [
            self._asked.get(
                f"{trees}/{sha}",
                partial(_tree, below=f"{name}/", higher=higher),
                {"recursive": "1"},
                state=f"{sha} {higher}",
            )
            for name, sha in root["docs"]
        ]

    def _data(self, told: Told, path: str, answer: Mapping[str, Any]) -> bytes:
        if answer.get("type", "file") != "file":  # a link that leads nowhere, whose content is where it leads
            return b""
        self._assert_small(told, path, answer.get("size"))
        if answer.get("encoding") == "base64" and (answer.get("content") or answer.get("size") == 0):
            return _decoded(answer.get("content"))
        return self._blob(told, path, str(answer.get("sha")))  # which the API answers of a file over 1 MB

    def _blob(self, told: Told, path: str, blob: str) -> bytes:
        answer = self._client.get(f"/repos/{told['full_name']}/git/blobs/{_sha(blob)}").body
        if not isinstance(answer, dict):
            raise garbled()
        self._assert_small(told, path, answer.get("size"))
        return _decoded(answer.get("content"))

    def _assert_small(self, told: Told, path: str, size: object) -> None:
        if isinstance(size, int) and size > self._most_bytes:
            said = f"{told['full_name']}/{line(path)} has {size:,} bytes, over the limit of {self._most_bytes:,}."
            raise SourceError(said, hint="Raise FOOTNOTE_INGESTION__MAX_TEXT_BYTES.")

    def _held(self, note: Fetched) -> File | None:
        """The file that was fetched before; None where its bytes are damaged or gone."""
        if not note.sha:
            return File("", b"", note.more)
        envelope = kept_envelope(self._home, note.sha, note.uri)
        return File(str(envelope.told["path"]), envelope.body, note.more) if envelope else None


def enveloped(told: Told, file: File) -> Envelope:
    """A file with all that is told of its repository."""
    return Envelope({**told, "path": line(file.path)}, file.data)


def is_nothing(told: Told, file: File) -> bool:
    """Whether a repository has neither a README with words nor a description: there is nothing to read of it."""
    return not (file.path or told["description"])


def _tree(answer: Any, *, below: str = "", higher: bool = False) -> dict[str, Any]:
    """What is kept of a tree: the files below docs/ without the one that is shown as the README; None has none.

    `below` is the folder that the tree is of, `higher` whether a README stands above docs/.
    """
    if answer is None:
        return {"docs": [], "truncated": False}
    files = {f"{below}{row.get('path')}": row for row in _rows(answer) if row.get("type") == "blob"}
    higher = higher or any(_is_readme(path) and path.rpartition("/")[0] in ("", _GITHUB) for path in files)
    docs = sorted(
        [path, str(row.get("sha"))]
        for path, row in files.items()
        if row.get("mode") != _LINK
        and path.lower().startswith("docs/")
        and path.lower().endswith(_MARKDOWN)
        and (higher or path.count("/") > 1 or not _is_readme(path))
    )
    return {"docs": docs, "truncated": bool(answer.get("truncated"))}


def _root(answer: Any) -> dict[str, Any]:
    """What is kept of a folder alone: the docs/ and .github/ in it, and whether it has a README."""
    rows = [(str(row.get("path")), row) for row in _rows(answer)]
    trees = [(name, str(row.get("sha"))) for name, row in rows if row.get("type") == "tree"]
    return {
        "docs": [[name, _sha(sha)] for name, sha in trees if name.lower() == "docs"],
        "github": [[name, _sha(sha)] for name, sha in trees if name == _GITHUB],
        "readme": any(row.get("type") == "blob" and _is_readme(name) for name, row in rows),
    }


def _rows(answer: Any) -> list[Mapping[str, Any]]:
    """The rows of a tree."""
    if not isinstance(answer, dict) or not isinstance(answer.get("tree"), list):
        raise garbled()
    return [row for row in answer["tree"] if isinstance(row, dict)]


def _sha(said: str) -> str:
    """A name that Git gives, which goes into a path."""
    if not (said.isascii() and said.isalnum()):
        raise garbled()
    return said


def _is_readme(path: str) -> bool:
    return PurePosixPath(path).stem.lower() == "readme"


def _decoded(content: object) -> bytes:
    try:
        return base64.b64decode(str(content or ""))
    except (binascii.Error, ValueError) as error:
        raise garbled() from error
