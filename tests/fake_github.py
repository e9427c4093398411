"""A server on the loopback that speaks GitHub's REST API: pages, ETags, trees, blobs, rate limits and refusals."""

import base64
import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.loopback import Loopback

_SSO = "partial-results; organizations=21955855"
_BIG = 1_000_000  # bytes; the API sends no content of larger files


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: an answer of its own instead of what was asked for; status 0 = none at all.

    With `page` that is what is sent, whatever it is.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    page: bytes = b""

    @classmethod
    def primary(cls, reset: float = 0.0) -> "Fault":
        """The primary rate limit, over at that time; past = now."""
        headers = {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(reset))}
        return cls(403, headers, "API rate limit exceeded for 203.0.113.7.")

    @classmethod
    def secondary(cls, seconds: int = 0) -> "Fault":
        """A secondary rate limit, over after this many seconds."""
        return cls(429, {"retry-after": str(seconds)}, "You have exceeded a secondary rate limit.")


@dataclass
class Repository:
    """A repository; `files` are what its default branch holds, by path, `links` which of them are symbolic links.

    `collaborators` see a private one of a user beside its owner.
    """

    name: str
    description: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    language: str | None = None
    topics: tuple[str, ...] = ()
    homepage: str | None = None
    licence: str = ""
    stars: int = 0
    private: bool = False
    fork: bool = False
    archived: bool = False
    links: tuple[str, ...] = ()
    collaborators: tuple[str, ...] = ()
    pushed_at: str = "2026-01-02T03:04:05Z"
    updated_at: str = "2026-01-03T03:04:05Z"

    def push(self, path: str, data: bytes | None, at: str) -> None:
        """Commit a file, or its removal, at that time."""
        if data is None:
            del self.files[path]
        else:
            self.files[path] = data
        self.pushed_at = at

    @property
    def readme(self) -> str:
        """The path of what is shown as the README, empty without one: of .github/, else the root, else docs/."""
        for folder in (".github", "", "docs"):
            for path in sorted(self.files):
                parent, _, name = path.rpartition("/")
                if parent == folder and re.fullmatch(r"readme(\.\w+)?", name.lower()):
                    return path
        return ""


@dataclass(frozen=True)
class Request:
    """A request as it arrived, and the status that it was answered with."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    status: int


@dataclass
class FakeGitHub(Loopback):
    """GitHub's API below `prefix`; `with FakeGitHub() as server:` listens at `server.url`.

    Attributes:
        owners: The repositories of each user or organisation, by its name as it spells itself.
        organisations: Which of them are organisations.
        tokens: The user that each token is of; with any, another token is refused.
        faults: One is taken from the left for each request; without any left, and for None, requests succeed.
        limit: After so many answers that count (not 304), one request meets `limited`.
        limited: The primary rate limit, over now.
        signed_on: Organisations that show what is private by single sign-on only, and say so beside what they show.
        renamed: The full names that repositories have now, by those that they had.
        withheld: Names of repositories that have a place in a page of a listing, and are not shown there.
        truncated: Names of repositories whose trees are cut in half, and of their folders (`notes/docs`).
        requests: Every request so far.
    """

    prefix: str = ""
    owners: dict[str, list[Repository]] = field(default_factory=dict)
    organisations: set[str] = field(default_factory=set)
    tokens: dict[str, str] = field(default_factory=dict)
    faults: deque[Fault | None] = field(default_factory=deque)
    limit: int = 0
    limited: Fault = Fault(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}, "API rate limit exceeded.")
    signed_on: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)
    truncated: set[str] = field(default_factory=set)
    requests: list[Request] = field(default_factory=list)

    def handled_by(self) -> type[BaseHTTPRequestHandler]:
        return _Handler

    @property
    def url(self) -> str:
        """The base of the API."""
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def asked(self) -> list[str]:
        """The paths of the requests since the last call, below the prefix."""
        paths = [request.path for request in self.requests]
        self.requests.clear()
        return paths

    def statuses(self) -> dict[int, int]:
        """How often each status was answered since the last call."""
        counts: dict[int, int] = {}
        for request in self.requests:
            counts[request.status] = counts.get(request.status, 0) + 1
        self.requests.clear()
        return counts

    def find(self, full_name: str) -> tuple[str, Repository] | None:
        """(owner, repository) of that name in any case."""
        for owner, repositories in self.owners.items():
            for repository in repositories:
                if f"{owner}/{repository.name}".casefold() == full_name.casefold():
                    return owner, repository
        return None

    def user(self, name: str) -> str:
        """How the user or organisation spells itself; empty for nobody."""
        return next((owner for owner in self.owners if owner.casefold() == name.casefold()), "")


class _Handler(BaseHTTPRequestHandler):
    fake: FakeGitHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        fake, parts = self.fake, urlsplit(self.path)
        path = unquote(parts.path).removeprefix(fake.prefix)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        fault = fake.faults.popleft() if fake.faults else None
        counted = sum(request.status != 304 for request in fake.requests)
        if fake.limit and counted >= fake.limit:
            fake.limit, fault = 0, fake.limited
        headers: dict[str, str] = {}
        if fault:
            status, body, headers = fault.status, {"message": fault.message}, dict(fault.headers)
        elif not parts.path.startswith(fake.prefix):
            status, body = 404, {"message": "Not Found"}
        elif self._user() is None:
            status, body = 401, {"message": "Bad credentials"}
        else:
            status, body = self._answer(path, query, headers)
        data = fault.page if fault and fault.page else json.dumps(body).encode()
        if status == 200:
            headers["etag"] = f'W/"{hashlib.sha256(data).hexdigest()}"'
            if self.headers.get("If-None-Match") == headers["etag"]:
                status, data = 304, b""
        sent = {name.lower(): value for name, value in self.headers.items()}
        fake.requests.append(Request(path, query, sent, status))
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json; charset=utf-8")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _user(self) -> str | None:
        """Who asks; None for a token that is not known, empty for nobody."""
        token = self.headers.get("Authorization", "").partition(" ")[2]
        return self.fake.tokens.get(token) if token else ""

    def _answer(self, path: str, query: Mapping[str, str], headers: dict[str, str]) -> tuple[int, Any]:
        for pattern, make in _ROUTES:
            match = re.fullmatch(pattern, path)
            if match:
                found = make(self, *match.groups(), query, headers)
                return found if isinstance(found, tuple) else (200, found)
        return 404, {"message": "Not Found"}

    def _whoever(self, name: str, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        login = self.fake.user(name)
        kind = "Organization" if login in self.fake.organisations else "User"
        return {"login": login, "type": kind, "id": 7} if login else (404, {"message": "Not Found"})

    def _self(self, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        user = self._user()
        return {"login": user, "type": "User"} if user else (401, {"message": "Requires authentication"})

    def _owned(self, login: str, query: Mapping[str, str], headers: dict[str, str], *, private: bool = False) -> Any:
        owner = self.fake.user(login)
        if not owner:
            return 404, {"message": "Not Found"}
        is_cut = owner in self.fake.signed_on
        if is_cut:
            headers["x-github-sso"] = _SSO
        seen = private or (owner in self.fake.organisations and self._user() and not is_cut)
        rows = [self._row(owner, each) for each in self.fake.owners[owner] if seen or not each.private]
        rows.sort(key=lambda row: row["full_name"].lower())
        size, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
        if page * size < len(rows):
            headers["link"] = f'<{self.fake.url}{urlsplit(self.path).path}?page={page + 1}>; rel="next"'
        return [row for row in rows[(page - 1) * size : page * size] if row["name"] not in self.fake.withheld]

    def _own(self, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        user = self._user() or ""
        if query["affiliation"] == "owner":
            return self._owned(user, query, headers, private=True)
        if self.fake.signed_on:
            headers["x-github-sso"] = _SSO
        held = [(owner, each) for owner, owned in self.fake.owners.items() for each in owned]
        return [self._row(owner, each) for owner, each in held if user in each.collaborators]

    def _sees(self, owner: str, repository: Repository) -> bool:
        user = self._user()
        is_member = owner in self.fake.organisations or user in (owner, *repository.collaborators)
        return not repository.private or bool(user and is_member)

    def _named(self, make: Callable[..., Any], full_name: str, *rest: Any) -> Any:
        found = self.fake.find(full_name)
        if not found or not self._sees(*found):
            return 404, {"message": "Not Found"}
        return make(*found, *rest)

    def _one(self, full_name: str, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        if full_name in self.fake.renamed:
            headers["location"] = f"{self.fake.url}/repos/{self.fake.renamed[full_name]}"
            return 301, {"message": "Moved Permanently"}
        return self._named(self._row, full_name)

    def _readme(self, full_name: str, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        def answer(owner: str, repository: Repository) -> Any:
            path = repository.readme
            if not path:
                return 404, {"message": "Not Found"}
            data = repository.files[path]
            if path in repository.links:  # one whose target is no file of the repository; others are followed
                return {"type": "symlink", "path": path, "sha": _blob(data), "size": len(data), "target": data.decode()}
            big = len(data) > _BIG
            return {
                "type": "file", "name": path.rpartition("/")[2], "path": path, "sha": _blob(data), "size": len(data),
                "encoding": "none" if big else "base64",
                "content": "" if big else base64.encodebytes(data).decode(),
            }  # fmt: skip

        return self._named(answer, full_name)

    def _tree(self, full_name: str, sha: str, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        def answer(owner: str, repository: Repository) -> Any:
            if not repository.files:
                return 409, {"message": "Git Repository is empty."}
            modes = dict.fromkeys(repository.links, "120000")
            rows: list[dict[str, Any]] = [
                {"path": path, "mode": modes.get(path, "100644"), "type": "blob", "sha": _blob(data), "size": len(data)}
                for path, data in repository.files.items()
            ]
            folders = {above.as_posix() for path in repository.files for above in PurePosixPath(path).parents} - {"."}
            rows += [{"path": path, "mode": "040000", "type": "tree", "sha": _blob(path.encode())} for path in folders]
            below = next((f"{path}/" for path in folders if _blob(path.encode()) == sha), "")
            held = [{**row, "path": row["path"][len(below) :]} for row in rows if row["path"].startswith(below)]
            shown = sorted((row for row in held if query or "/" not in row["path"]), key=lambda row: row["path"])
            cut = bool(query) and f"{repository.name}/{below}".rstrip("/") in self.fake.truncated
            return {"sha": "1" * 40, "tree": shown[: len(shown) // 2] if cut else shown, "truncated": cut}

        return self._named(answer, full_name)

    def _blobs(self, full_name: str, sha: str, query: Mapping[str, str], headers: dict[str, str]) -> Any:
        def answer(owner: str, repository: Repository) -> Any:
            data = next((data for data in repository.files.values() if _blob(data) == sha), None)
            if data is None:
                return 404, {"message": "Not Found"}
            return {"sha": sha, "size": len(data), "encoding": "base64", "content": base64.encodebytes(data).decode()}

        return self._named(answer, full_name)

    def _row(self, owner: str, repository: Repository) -> dict[str, Any]:
        full_name = f"{owner}/{repository.name}"
        licence = {"key": repository.licence.lower(), "name": repository.licence, "spdx_id": repository.licence}
        return {
            "id": int(hashlib.sha256(full_name.encode()).hexdigest()[:8], 16),
            "name": repository.name, "full_name": full_name, "private": repository.private,
            "owner": {"login": owner}, "html_url": f"https://github.com/{full_name}",
            "description": repository.description, "fork": repository.fork, "url": f"{self.fake.url}/repos/{full_name}",
            "created_at": "2020-01-01T00:00:00Z", "updated_at": repository.updated_at,
            "pushed_at": repository.pushed_at, "homepage": repository.homepage,
            "stargazers_count": repository.stars, "language": repository.language,
            "archived": repository.archived, "license": licence if repository.licence else None,
            "topics": list(repository.topics), "default_branch": "main", "visibility": "public",
        }  # fmt: skip

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


_NAME = r"([^/]+/[^/]+)"
_ROUTES: tuple[tuple[str, Callable[..., Any]], ...] = (
    (r"/user", _Handler._self),
    (r"/user/repos", _Handler._own),
    (r"/users/([^/]+)", _Handler._whoever),
    (r"/users/([^/]+)/repos", _Handler._owned),
    (r"/orgs/([^/]+)/repos", _Handler._owned),
    (rf"/repos/{_NAME}", _Handler._one),
    (rf"/repos/{_NAME}/readme", _Handler._readme),
    (rf"/repos/{_NAME}/git/trees/(HEAD|[0-9a-f]+)", _Handler._tree),
    (rf"/repos/{_NAME}/git/blobs/([0-9a-f]+)", _Handler._blobs),
)


def _blob(data: bytes) -> str:
    """The name that Git gives to content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
