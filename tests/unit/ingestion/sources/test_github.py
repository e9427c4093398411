"""GitHub as a source, over real HTTP: what is listed, what is asked for, and what is said when GitHub refuses."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from config.settings import GitHubSettings, Settings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.ingestion.loaders import load
from pipelines.ingestion.sources import Access, Listing, Sources, kind_of
from pipelines.ingestion.sources.github import GitHub, repositories
from pipelines.ingestion.sources.github.repositories import place_of, site_of
from pipelines.store.originals import original_path
from pipelines.types import Document
from tests.fake_github import FakeGitHub, Fault, Repository

NOW = 1_000_000.0
TOKEN = "ghp_secret"


class Waits(threading.Event):
    """Remembers for how long it was waited, and is over at once; `set_by` waits it is set, as by a person."""

    def __init__(self, set_by: int = 0) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self._set_by = set_by

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        if len(self.seconds) == self._set_by:
            self.set()
        return self.is_set()


@pytest.fixture
def server() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake


Open = Callable[..., GitHub]


@pytest.fixture
def connect(server: FakeGitHub, tmp_path: Path) -> Iterator[Open]:
    opened: list[GitHub] = []

    def make(*, token: str = "", wait_seconds: float = 900, base: str = "", **access: Any) -> GitHub:
        settings = Settings(
            _env_file=None,
            home=tmp_path,
            github=GitHubSettings(api_base=base or server.url, wait_seconds=wait_seconds),
            github_token=SecretStr(token) if token else None,
        )
        given = {"stop": Waits(), **access}
        opened.append(GitHub(Access(settings, 10_000_000, **given), now=lambda: NOW))
        return opened[-1]

    yield make
    for github in opened:
        github.close()


def names(listing: Listing) -> list[str]:
    return [item.name for item in listing.items]


def read(github: GitHub, listing: Listing, home: Path) -> list[Document]:
    found = [(item, github.read(item)) for item in listing.items]
    return [load(original_path(home, held.sha).read_bytes(), item) for item, held in found]


def said_of(listing: Listing) -> str:
    assert not listing.complete
    return " | ".join(str(error) for _, error in listing.problems)


# Names


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("github:ann", "ann"),
        ("GitHub:ann/", "ann"),
        ("github:ann/foot.notes", "ann/foot.notes"),
        ("github:ann/notes.git", "ann/notes"),
        ("github:", None),
        ("github:ann/a/b", None),
        ("github:ann/..", None),
        ("github:../users", None),
        ("github:ann?x=1", None),
        ("github:-ann", None),
    ],
)
def test_a_location_names_an_owner_or_a_repository(location: str, name: str | None) -> None:
    place = place_of(location)
    assert (place.full_name if place else None) == name


@pytest.mark.parametrize(
    ("base", "site"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://git.example.com/api/v3", "https://git.example.com"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com"),
    ],
)
def test_links_lead_to_where_people_read(base: str, site: str) -> None:
    assert site_of(base) == site


def test_the_source_is_spelt_as_github_spells_it_and_lists_the_same(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"Ann": [Repository("Notes", "x"), Repository("alpha", "y")]}
    listing = connect().list("github:ANN")
    assert kind_of("github:ANN") == "github"
    assert (listing.source, listing.complete, listing.problems) == ("github:Ann", True, ())
    assert names(listing) == ["Ann/Notes", "Ann/alpha"]
    assert listing.items[0].uri == f"{server.url}/Ann/Notes#readme"
    assert connect().list(listing.source) == listing
    one = connect().list("github:ann/notes")
    assert (one.source, one.items[0].uri) == ("github:Ann/Notes", listing.items[0].uri)


def test_a_repository_that_was_renamed_is_listed_by_its_name_of_today(
    server: FakeGitHub, connect: Open, caplog: pytest.LogCaptureFixture
) -> None:
    server.owners, server.renamed = {"ann": [Repository("new", "x")]}, {"ann/old": "ann/new"}
    said: list[str] = []
    listing = connect(say=said.append).list("github:ann/old")
    assert not caplog.records
    assert (listing.source, names(listing), listing.complete) == ("github:ann/new", ["ann/new"], True)
    assert said == ["github:ann/old is called github:ann/new now."]


def test_an_enterprise_server_is_asked_below_its_prefix(server: FakeGitHub, connect: Open) -> None:
    server.prefix, server.owners = "/api/v3", {"ann": [Repository("notes", "x", {"docs/a.md": b"# A"})]}
    github = connect(declared={"github:ann": DeclaredSource(location="github:ann", docs=True)})
    listing = github.list("github:ann")
    site = server.url.removesuffix("/api/v3")
    assert [item.uri for item in listing.items] == [f"{site}/ann/notes#readme", f"{site}/ann/notes/blob/HEAD/docs/a.md"]


# What is taken


@pytest.mark.parametrize(
    "path",
    ["README.md", "README.rst", "readme.txt", "README", "README.markdown", "docs/README.md", ".github/README.md"],
)
def test_a_readme_is_read_in_every_form_and_place(server: FakeGitHub, connect: Open, tmp_path: Path, path: str) -> None:
    words = "Title\n=====\n\nWörds of the README.\n"
    server.owners = {"ann": [Repository("notes", None, {path: words.encode()})]}
    github = connect()
    (document,) = read(github, github.list("github:ann"), tmp_path)
    assert document.text == words
    assert (document.title, document.metadata["path"]) == ("notes", path)
    assert [block.kind for block in document.blocks] == ["heading", "paragraph"]


def test_a_readme_over_what_the_api_shows_is_fetched_as_a_blob(
    server: FakeGitHub, connect: Open, tmp_path: Path
) -> None:
    words = b"# Long\n\n" + b"word " * 250_000
    server.owners = {"ann": [Repository("notes", None, {"README.md": words})]}
    github = connect()
    (document,) = read(github, github.list("github:ann/notes"), tmp_path)
    assert len(document.text) == len(words)


def test_a_readme_over_the_limit_is_refused_before_it_is_fetched(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository("notes", "x", {"README.md": b"x" * 10_000_001})]}
    github = connect()
    (item,) = github.list("github:ann").items
    with pytest.raises(SourceError, match=r"ann/notes/README.md has 10,000,001 bytes, over the limit"):
        github.read(item)
    assert not any("blobs" in path for path in server.asked())


def test_without_a_readme_a_description_is_the_document_and_without_both_it_is_named(
    server: FakeGitHub, connect: Open, tmp_path: Path
) -> None:
    server.owners = {
        "ann": [
            Repository("bare"),
            Repository("told", "Tells of  itself.", language="Go", topics=("a", "b"), licence="MIT", stars=7),
        ]
    }
    github = connect()
    listing = github.list("github:ann")
    assert (names(listing), listing.skipped, listing.complete) == (
        ["ann/told"],
        (("ann/bare", "no README, no description"),),
        True,
    )
    (document,) = read(github, listing, tmp_path)
    assert document.text == "# told\n\nTells of itself.\n\n- Language: Go\n- Topics: a, b\n- Licence: MIT\n"
    server.asked()
    assert connect().list("github:ann").skipped == listing.skipped
    assert server.asked() == ["/users/ann", "/users/ann/repos"]


@pytest.mark.parametrize("blank", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_a_blank_readme_is_none(server: FakeGitHub, connect: Open, tmp_path: Path, blank: bytes) -> None:
    told = Repository("told", "Tells of itself.", {"README.md": blank})
    server.owners = {"ann": [Repository("bare", None, {"README.md": blank}), told]}
    github = connect()
    listing = github.list("github:ann")
    assert (names(listing), listing.complete) == (["ann/told"], True)
    assert listing.skipped == (("ann/bare", "no README, no description"),)
    (document,) = read(github, listing, tmp_path)
    assert document.text == "# told\n\nTells of itself.\n\n"
    assert not any("blobs" in path for path in server.asked())
    told.push("README.md", b"# Words", "2026-05-01T00:00:00Z")
    github = connect()
    (document,) = read(github, github.list("github:ann"), tmp_path)
    assert document.text == "# Words"


def test_a_readme_that_is_a_link_to_nowhere_is_none(server: FakeGitHub, connect: Open, tmp_path: Path) -> None:
    files = {"README.md": b"../elsewhere/README.md"}
    server.owners = {"ann": [Repository("notes", "Linked.", files, links=("README.md",))]}
    github = connect()
    (document,) = read(github, github.list("github:ann"), tmp_path)
    assert document.text == "# notes\n\nLinked.\n\n"


@pytest.mark.parametrize("odd", ["docs/\x1b[31mred\n.md", "docs/\ud800red.md"])
def test_a_file_s_name_is_shown_without_what_steers_a_terminal(
    server: FakeGitHub, connect: Open, tmp_path: Path, odd: str
) -> None:
    server.owners = {"ann": [Repository("notes", "x", {odd: b"# Red"})]}
    github = connect(declared={"github:ann": DeclaredSource(location="github:ann", docs=True)})
    listing = github.list("github:ann")
    assert listing.complete
    _, document = read(github, listing, tmp_path)
    assert listing.items[1].name.isprintable()
    assert document.metadata["path"].isprintable()
    assert listing.items[1].uri.isascii()


def test_forks_and_archived_repositories_are_taken_by_choice_and_always_by_name(
    server: FakeGitHub, connect: Open
) -> None:
    server.owners = {
        "ann": [Repository("fork", "x", fork=True), Repository("old", "x", archived=True), Repository("own", "x")]
    }
    listing = connect().list("github:ann")
    assert (names(listing), listing.skipped) == (["ann/old", "ann/own"], (("ann/fork", "a fork"),))
    declared = {"github:ann": DeclaredSource(location="github:ann", forks=True, archived=False)}
    listing = connect(declared=declared).list("github:ann")
    assert (names(listing), listing.skipped) == (["ann/fork", "ann/own"], (("ann/old", "archived"),))
    assert names(connect().list("github:ann/fork")) == ["ann/fork"]


def test_a_declared_source_is_listed_as_it_is_declared_however_its_location_is_written(
    server: FakeGitHub, tmp_path: Path
) -> None:
    server.owners = {"ann": [Repository("fork", "x", fork=True)]}
    settings = Settings(_env_file=None, home=tmp_path, github=GitHubSettings(api_base=server.url))
    declared = {"github:ann": DeclaredSource(location="github:ann", forks=True)}
    with closing(Sources(Access(settings, 10_000_000, declared))) as sources:
        (listing,) = sources.list(["GitHub:Ann/"])
    assert names(listing) == ["ann/fork"]


def test_docs_are_taken_by_choice_without_the_readme_that_is_shown(
    server: FakeGitHub, connect: Open, tmp_path: Path
) -> None:
    files = {"docs/README.md": b"# Shown", "docs/deep/guide.md": b"# Guide", "docs/a.txt": b"x", "src/b.md": b"# B"}
    files["docs/link.md"] = b"../src/b.md"
    notes = Repository("notes", "x", files, links=("docs/link.md",))
    server.owners = {"ann": [notes, Repository("empty", "no commit")]}
    declared = {"github:ann": DeclaredSource(location="github:ann", docs=True)}
    github = connect(declared=declared)
    listing = github.list("github:ann")
    assert (names(listing), listing.complete) == (["ann/empty", "ann/notes", "ann/notes/docs/deep/guide.md"], True)
    documents = read(github, listing, tmp_path)
    assert [document.title for document in documents] == ["empty", "notes", "Guide"]
    assert all(document.metadata["repository"]["name"] in ("empty", "notes") for document in documents)
    server.asked()
    again = connect(declared=declared)
    read(again, again.list("github:ann"), tmp_path)
    assert server.asked() == ["/users/ann", "/users/ann/repos"]


LARGE = {
    "a.c": b"x", "b.c": b"x", "c.c": b"x", "d.c": b"x", "README.md": b"# N", "src/z/README.md": b"# Z",
    "docs/README.md": b"# D", "docs/deep/a.md": b"# A", "docs/deep/b.txt": b"B",
}  # fmt: skip


def test_of_a_repository_too_large_to_be_listed_docs_are_listed_alone(
    server: FakeGitHub, connect: Open, tmp_path: Path
) -> None:
    server.owners, server.truncated = {"ann": [Repository("notes", "x", LARGE)]}, {"notes"}
    declared = {"github:ann": DeclaredSource(location="github:ann", docs=True)}
    github = connect(declared=declared)
    listing = github.list("github:ann")
    assert (names(listing), listing.complete) == (
        ["ann/notes", "ann/notes/docs/README.md", "ann/notes/docs/deep/a.md"],
        True,
    )
    assert [document.text for document in read(github, listing, tmp_path)] == ["# N", "# D", "# A"]
    server.asked()
    assert connect(declared=declared).list("github:ann") == listing
    assert server.asked() == ["/users/ann", "/users/ann/repos"]


@pytest.mark.parametrize("readme", ["README.md", ".github/README.md", ".github/profile/README.md", "src/README.md"])
@pytest.mark.parametrize("link", [False, True])
def test_of_a_repository_too_large_to_be_listed_the_same_files_are_taken(
    server: FakeGitHub, connect: Open, readme: str, link: bool
) -> None:
    files = {readme: b"# Shown?", "docs/README.md": b"# D", "docs/a.md": b"# A", "x.c": b"x", "y.c": b"y"}
    server.owners = {"ann": [Repository("notes", "x", files, links=(readme,) if link else ())]}
    declared = {"github:ann": DeclaredSource(location="github:ann", docs=True)}
    whole = connect(declared=declared).list("github:ann")
    shown = [] if readme in ("README.md", ".github/README.md") else ["ann/notes/docs/README.md"]
    assert {"ann/notes/docs/README.md"} - set(names(whole)) == set(shown)
    server.truncated = {"notes"}
    assert connect(declared=declared, verify=True).list("github:ann") == whole


@pytest.mark.parametrize("folder", ["docs", ".github"])
def test_what_is_no_name_of_git_s_goes_into_no_path(server: FakeGitHub, connect: Open, folder: str) -> None:
    server.owners, server.truncated = {"ann": [Repository("notes", "x", LARGE)]}, {"notes"}
    rows = [{"path": folder, "type": "tree", "mode": "040000", "sha": "../../../../../user"}]
    root = Fault(200, page=json.dumps({"tree": rows, "truncated": False}).encode())
    server.faults.extend([None, None, None, root])
    listing = connect(declared={"github:ann": DeclaredSource(location="github:ann", docs=True)}).list("github:ann")
    assert (names(listing), said_of(listing)) == (
        ["ann/notes"],
        "GitHub sent a response that cannot be read. Try again later.",
    )
    assert server.asked() == ["/users/ann", "/users/ann/repos", *["/repos/ann/notes/git/trees/HEAD"] * 2]


def test_a_tree_that_is_cut_is_named_and_what_it_lists_is_taken(server: FakeGitHub, connect: Open) -> None:
    server.owners, server.truncated = {"ann": [Repository("notes", "x", LARGE)]}, {"notes", "notes/docs"}
    listing = connect(declared={"github:ann": DeclaredSource(location="github:ann", docs=True)}).list("github:ann")
    assert names(listing) == ["ann/notes", "ann/notes/docs/README.md"]
    assert "does not list all files of ann/notes" in said_of(listing)


# What did not change


def test_only_the_file_that_changed_is_fetched(server: FakeGitHub, connect: Open, tmp_path: Path) -> None:
    repository = Repository("notes", "x", {"README.md": b"# N", "docs/a.md": b"# A", "docs/b.md": b"# B"})
    server.owners = {"ann": [repository]}
    declared = {"github:ann": DeclaredSource(location="github:ann", docs=True)}
    github = connect(declared=declared)
    read(github, github.list("github:ann"), tmp_path)
    server.asked()
    repository.push("docs/b.md", b"# B, again", "2026-02-01T00:00:00Z")
    github = connect(declared=declared)
    titles = [document.title for document in read(github, github.list("github:ann"), tmp_path)]
    assert titles == ["notes", "A", "B, again"]
    assert [path.rpartition("/")[0] for path in server.asked()] == [
        "/users", "/users/ann", "/repos/ann/notes/git/trees", "/repos/ann/notes", "/repos/ann/notes/git/blobs",
    ]  # fmt: skip


def test_verifying_sends_no_etag_and_fetches_everything_anew(server: FakeGitHub, connect: Open, tmp_path: Path) -> None:
    server.owners = {"ann": [Repository("notes", None, {"README.md": b"# N"})]}
    for _ in range(2):
        github = connect(verify=True)
        read(github, github.list("github:ann"), tmp_path)
        assert server.statuses() == {200: 3}


def test_a_damaged_original_is_fetched_again(server: FakeGitHub, connect: Open, tmp_path: Path) -> None:
    repository = Repository("notes", "x", {"README.md": b"# N"})
    server.owners = {"ann": [repository]}
    github = connect()
    (item,) = github.list("github:ann").items
    path = original_path(tmp_path, github.read(item).sha)
    path.write_bytes(b"?" * path.stat().st_size)
    repository.stars = 5
    github = connect()
    (document,) = read(github, github.list("github:ann"), tmp_path)
    assert (document.text, document.metadata["repository"]["stars"]) == ("# N", 5)


# Waits and refusals


def test_a_rate_limit_is_waited_for_and_said(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository("notes", "x")]}
    server.faults.extend([Fault.primary(reset=NOW + 42), Fault.secondary(7)])
    server.faults.append(Fault(403, {}, "You have exceeded a secondary rate limit. Please wait."))
    said: list[str] = []
    stop = Waits()
    assert connect(say=said.append, stop=stop).list("github:ann").complete
    assert stop.seconds == [42 + 1, 7, 60 * 4]
    assert said[0] == "GitHub asks to wait 43 s (its rate limit) ..."


def test_a_limit_that_is_over_by_a_clock_that_is_fast_is_waited_for_and_not_hammered_at(
    server: FakeGitHub, connect: Open
) -> None:
    server.owners = {"ann": [Repository("notes", "x"), Repository("words", "x")]}
    stop = Waits()
    github = connect(stop=stop)
    listing = github.list("github:ann")
    server.asked()
    server.faults.extend([Fault.primary(reset=NOW - 600)] * 50)
    for item in listing.items:
        with pytest.raises(SourceError, match="asks to wait 16 min"):
            github.read(item)
    assert stop.seconds == [0, 60, 120, 240, 480]
    assert len(server.asked()) == 6


def test_older_servers_call_a_secondary_limit_abuse(server: FakeGitHub, connect: Open) -> None:
    server.owners, stop = {"ann": []}, Waits()
    server.faults.append(Fault(403, {}, "You have triggered an abuse detection mechanism."))
    assert connect(stop=stop).list("github:ann").complete
    assert stop.seconds == [60]


def test_a_rate_limit_where_the_token_s_owner_is_asked_for_hides_nothing(server: FakeGitHub, connect: Open) -> None:
    server.tokens, server.owners = {TOKEN: "ann"}, {"ann": [Repository("shut", "x", private=True)]}
    server.faults.extend([None, Fault.primary(reset=NOW + 42)])
    stop = Waits()
    assert names(connect(token=TOKEN, stop=stop).list("github:ann")) == ["ann/shut"]
    assert stop.seconds == [43]
    server.faults.extend([None, Fault(403, {}, "Resource not accessible by integration")])
    listing = connect(token=TOKEN, verify=True).list("github:ann")
    assert (listing.items, listing.complete) == ((), True)


def test_too_long_a_wait_is_left_for_the_next_run_and_nothing_more_is_asked(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(f"r{number:03}", "x") for number in range(130)]}
    server.limit, server.limited = 2, Fault.primary(reset=NOW + 3600)
    stop = Waits()
    github = connect(stop=stop)
    listing = github.list("github:ann")
    assert (len(listing.items), stop.seconds, len(server.asked())) == (100, [], 3)
    assert "GitHub asks to wait 1 h 1 min (its rate limit); that is left for the next run." in said_of(listing)
    assert "5,000 questions an hour instead of 60" in said_of(listing)
    with pytest.raises(SourceError, match="left for the next run"):
        github.read(listing.items[0])
    assert server.asked() == []


def test_a_server_that_limits_without_end_is_given_up(server: FakeGitHub, connect: Open) -> None:
    server.owners, stop = {"ann": []}, Waits()
    server.faults.extend([Fault.secondary(0)] * 50)
    assert "left for the next run" in said_of(connect(stop=stop).list("github:ann"))
    assert len(stop.seconds) == 5


def test_a_person_who_stops_ends_the_wait_and_the_listing(server: FakeGitHub, connect: Open) -> None:
    server.owners, stop = {"ann": [Repository("notes", "x")]}, Waits(set_by=1)
    server.faults.append(Fault.secondary(600))
    assert "again to continue" in said_of(connect(stop=stop).list("github:ann"))
    assert len(server.asked()) == 1


@pytest.mark.parametrize("fault", [Fault(502), Fault(0)])
def test_a_failing_server_is_asked_again_a_little(server: FakeGitHub, connect: Open, fault: Fault) -> None:
    server.owners, stop = {"ann": [Repository("notes", "x")]}, Waits()
    server.faults.extend([fault] * 2)
    assert connect(stop=stop).list("github:ann").complete
    assert stop.seconds == [1, 4]
    server.faults.extend([fault] * 3)
    listing = connect().list("github:ann/notes")
    assert not listing.complete
    assert listing.items == ()


def test_a_server_that_fails_at_three_files_is_asked_for_no_other(server: FakeGitHub, connect: Open) -> None:
    server.owners, stop = {"ann": [Repository(f"r{number}", "x") for number in range(9)]}, Waits()
    github = connect(stop=stop)
    listing = github.list("github:ann")
    server.asked()
    server.faults.extend([Fault(502)] * 50)
    said = []
    for item in listing.items:
        with pytest.raises(SourceError) as refusal:
            github.read(item)
        said.append(refusal.value.message)
    assert len(server.asked()) == 3 + 1 + 1
    assert stop.seconds == [1, 4]
    ended = "GitHub failed repeatedly, so requests to it were stopped."
    answered = [f"GitHub answered /repos/ann/r{number}/readme with 502." for number in range(3)]
    assert said == [*answered[:2], f"{answered[2]} {ended}", *[ended] * 6]
    server.faults.clear()
    assert connect().list("github:ann").complete


def test_a_file_that_failed_is_not_asked_for_again_in_the_same_run(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(name, "", {"README.md": b"# R"}) for name in ("r0", "r1", "r2")]}
    server.faults.extend([None, None, *[Fault(502)] * 4])
    github = connect()
    items = github.list("github:ann").items
    for item in items[:2]:
        with pytest.raises(SourceError, match="with 502"):
            github.read(item)
    assert github.read(items[2]).kept
    assert not server.faults


def test_a_server_that_fails_at_three_trees_leaves_the_listing_incomplete(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(f"r{number}", "x", {"docs/a.md": b"# A"}) for number in range(9)]}
    server.faults.extend([None, None, *[Fault(0)] * 50])
    listing = connect(declared={"github:ann": DeclaredSource(location="github:ann", docs=True)}).list("github:ann")
    assert (len(listing.items), listing.complete) == (9, False)
    assert [name for name, _ in listing.problems] == ["ann/r0/docs", "ann/r1/docs", "ann/r2/docs"]
    assert len(server.asked()) == 2 + 3 + 1 + 1


def test_what_fails_between_answers_does_not_end_the_asking(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(f"r{number}", "x", {"README.md": b"# R"}) for number in range(8)]}
    github = connect()
    listing = github.list("github:ann")
    server.faults.extend([*[Fault(502)] * 3, None] * 4)
    for failing, well in zip(listing.items[::2], listing.items[1::2], strict=True):
        with pytest.raises(SourceError, match="502"):
            github.read(failing)
        assert github.read(well).kept


def test_a_second_page_that_fails_leaves_the_listing_incomplete(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(f"r{number:03}", "x") for number in range(130)]}
    server.limit, server.limited = 2, Fault(422, {}, "No.")
    listing = connect().list("github:ann")
    assert said_of(listing) == "GitHub answered /users/ann/repos with 422 (No). Try again later."
    assert len(listing.items) == 100


def test_more_pages_than_are_read_are_said(server: FakeGitHub, connect: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    server.owners = {"ann": [Repository(f"r{number:03}", "x") for number in range(130)]}
    monkeypatch.setattr(repositories, "_MAX_PAGES", 1)
    listing = connect().list("github:ann")
    assert said_of(listing) == "ann has more repositories than are listed. Name single ones."
    assert len(listing.items) == 100


def test_a_page_that_is_not_full_is_not_taken_for_the_last(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(f"r{number:03}", "x") for number in range(130)]}
    server.withheld = {"r007"}
    listing = connect().list("github:ann")
    assert (len(listing.items), listing.complete) == (129, True)


def test_a_page_that_did_not_change_does_not_hide_a_new_one_behind_it(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository(f"r{number:03}", "x") for number in range(100)]}
    assert len(connect().list("github:ann").items) == 100
    server.owners["ann"].append(Repository("z", "x"))
    assert names(connect().list("github:ann"))[-1] == "ann/z"


def test_a_repository_that_went_while_pages_were_read_makes_the_listing_incomplete(
    server: FakeGitHub, connect: Open
) -> None:
    server.owners = {"ann": [Repository(f"r{number:03}", "x") for number in range(230)]}

    def far(said: str) -> None:
        if said.startswith("github:ann: 200"):
            del server.owners["ann"][0]

    listing = connect(progress=far).list("github:ann")
    assert "changed while they were listed" in said_of(listing)


@pytest.mark.parametrize(
    ("location", "fault", "sentence"),
    [
        ("github:nobody", None, "GitHub has nothing at /users/nobody: it does not exist, or is private."),
        ("github:ann/gone", None, "GitHub has nothing at /repos/ann/gone: it does not exist, or is private."),
        (
            "github:ann/a/b",
            None,
            "github:ann/a/b is not a GitHub owner or repository. Write github:OWNER or github:OWNER/REPO.",
        ),
        ("github:ann", Fault(401, {}, "Bad credentials"), "GitHub rejects the GITHUB_TOKEN (Bad credentials)."),
        ("github:ann", Fault(403, {}, "SSO needed."), "GitHub does not let anybody read /users/ann (SSO needed)."),
        ("github:ann", Fault(200), "GitHub sent a response that cannot be read."),
        ("github:ann", Fault(302), "127.0.0.1 does not answer as GitHub's API does."),
        ("github:ann", Fault(451, {}, "Blocked"), "GitHub may not show /users/ann for legal reasons (Blocked)."),
    ],
)
def test_a_refusal_says_what_and_what_to_do(
    server: FakeGitHub, connect: Open, location: str, fault: Fault | None, sentence: str
) -> None:
    server.owners = {"ann": []}
    server.faults.extend([fault] if fault else [])
    listing = connect().list(location)
    assert said_of(listing).startswith(sentence)
    assert listing.items == ()


def test_what_github_says_in_a_refusal_cannot_steer_a_terminal(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": []}
    server.faults.append(Fault(422, {}, "\x1b]0;Owned\x07No\u202e \x9b31mway.\r\n"))
    said = said_of(connect().list("github:ann"))
    assert said == "GitHub answered /users/ann with 422 (]0;OwnedNo 31mway). Try again later."


def test_a_page_that_is_no_page_is_not_an_empty_one(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"ann": [Repository("../../user", "x")]}
    assert "cannot be read" in said_of(connect().list("github:ann"))
    server.owners = {"ann": [Repository("notes", "x")]}
    server.requests.clear()
    server.limit, server.limited = 1, Fault(200)
    assert "cannot be read" in said_of(connect(verify=True).list("github:ann"))


@pytest.mark.parametrize(
    "fault", [Fault(200, page=b"<html>Sign in</html>"), Fault(404, page=b"<html>"), Fault(200, page=b"[" * 100_000)]
)
def test_a_server_that_is_not_github_s_api_is_said(server: FakeGitHub, connect: Open, fault: Fault) -> None:
    server.owners = {"ann": []}
    server.faults.append(fault)
    said = said_of(connect().list("github:ann"))
    assert said.startswith("127.0.0.1 does not answer as GitHub's API does. Check FOOTNOTE_GITHUB__API_BASE")


@pytest.mark.parametrize("base", ["http://127.0.0.1:9", "ftp://example.com", "nothing"])
def test_an_address_that_is_none_is_said(connect: Open, base: str) -> None:
    assert "FOOTNOTE_GITHUB__API_BASE" in said_of(connect(base=base).list("github:ann"))


# Tokens


def test_a_token_shows_private_repositories_which_stay_private(
    server: FakeGitHub, connect: Open, tmp_path: Path
) -> None:
    server.tokens = {TOKEN: "ann", "ghp_other": "bob"}
    files = {"README.md": b"---\nvisibility: public\n---\n# S"}
    server.owners = {"ann": [Repository("open", "x"), Repository("shut", "x", files, private=True)]}
    github = connect(token=TOKEN)
    listing = github.list("github:ann")
    assert [(each.name, each.metadata.get("visibility")) for each in read(github, listing, tmp_path)] == [
        ("ann/open", None),
        ("ann/shut", "private"),
    ]
    assert "cannot be seen" in said_of(connect().list("github:ann"))
    assert names(connect(token="ghp_other").list("github:ann")) == ["ann/open"]
    assert connect(token=TOKEN).list("github:ann").complete


@pytest.mark.parametrize("other", [(), ("kept",)])
def test_a_token_that_shows_less_than_the_one_before_leaves_the_listing_incomplete(
    server: FakeGitHub, connect: Open, tmp_path: Path, other: tuple[str, ...]
) -> None:
    kept = [Repository(name, "x", private=True) for name in other]
    server.tokens, shut = {TOKEN: "ann", "ghp_narrow": "ann"}, Repository("shut", "x", private=True)
    server.owners = {"ann": [Repository("open", "x"), *kept, shut]}
    github = connect(token=TOKEN)
    read(github, github.list("github:ann"), tmp_path)
    server.owners["ann"].remove(shut)
    for _ in range(2):
        listing = connect(token="ghp_narrow").list("github:ann")
        assert "of ann cannot be seen (ann/shut): another GITHUB_TOKEN listed them before" in said_of(listing)
        assert "Until then nothing of github:ann is removed." in said_of(listing)
        assert "`footnote remove ann/shut`" in said_of(listing)
        assert len(listing.items) == 1 + len(kept)
    assert connect(token=f"{TOKEN}\n").list("github:ann").complete
    assert connect(token="ghp_narrow").list("github:ann").complete


def test_what_another_user_shares_is_listed_with_what_is_public(server: FakeGitHub, connect: Open) -> None:
    server.tokens = {TOKEN: "bob"}
    shared = Repository("shared", "x", private=True, collaborators=("bob",))
    server.owners = {
        "ann": [Repository("open", "x"), shared, Repository("shut", "x", private=True)],
        "cem": [Repository("other", "x", private=True, collaborators=("bob",))],
        "bob": [],
    }
    server.signed_on = {"acme"}  # of which nothing was asked for
    listing = connect(token=TOKEN).list("github:ann")
    assert (names(listing), listing.complete) == (["ann/open", "ann/shared"], True)
    assert names(connect(token=TOKEN).list("github:ann/shared")) == ["ann/shared"]


@pytest.mark.parametrize("token", ["ghp_one\nghp_two", "ghp_ö", "ghp\x1b[0m"])
def test_a_token_that_cannot_be_sent_is_said_and_nothing_is_asked(
    server: FakeGitHub, connect: Open, token: str
) -> None:
    stop = Waits()
    said = said_of(connect(token=token, stop=stop).list("github:ann"))
    assert said == "GITHUB_TOKEN contains characters that tokens never have. Copy it again, or unset it."
    assert (server.asked(), stop.seconds) == ([], [])


def test_a_token_may_end_with_its_line(server: FakeGitHub, connect: Open) -> None:
    server.tokens, server.owners = {TOKEN: "ann"}, {"ann": []}
    assert connect(token=f"{TOKEN}\n").list("github:ann").complete


def test_a_token_is_in_no_message(server: FakeGitHub, connect: Open) -> None:
    said: list[str] = []
    server.faults.append(Fault.secondary(0))
    listing = connect(token=TOKEN, say=said.append).list("github:ann")
    assert "rejects the GITHUB_TOKEN" in said_of(listing)
    assert TOKEN not in " ".join([*said, said_of(listing)])
    assert server.requests[-1].headers["authorization"] == f"token {TOKEN}"


def test_an_organisation_that_hides_behind_single_sign_on_is_not_complete(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"acme": [Repository("a", "x"), Repository("b", "x", private=True)]}
    server.organisations, server.signed_on, server.tokens = {"acme"}, {"acme"}, {TOKEN: "ann"}
    for _ in range(2):
        listing = connect(token=TOKEN).list("github:acme")
        assert "shows only part of /orgs/acme/repos: this GITHUB_TOKEN is not authorised there" in said_of(listing)
        assert (names(listing), len(listing.problems)) == (["acme/a"], 1)
        assert server.requests[-1].status == 200  # 304 need not tell that it is a part
    server.signed_on.clear()
    listing = connect(token=TOKEN).list("github:acme")
    assert (names(listing), listing.complete) == (["acme/a", "acme/b"], True)


def test_an_organisation_that_comes_to_hide_behind_single_sign_on_is_not_complete(
    server: FakeGitHub, connect: Open
) -> None:
    server.owners, server.organisations = {"acme": [Repository("a", "x")]}, {"acme"}
    assert connect().list("github:acme").complete
    server.signed_on = {"acme"}
    listing = connect().list("github:acme")
    assert (names(listing), listing.complete, server.requests[-1].status) == (["acme/a"], False, 304)


def test_every_page_of_an_organisation_behind_single_sign_on_is_listed(server: FakeGitHub, connect: Open) -> None:
    server.owners = {"acme": [Repository(f"r{number:03}", "x") for number in range(130)]}
    server.organisations = server.signed_on = {"acme"}
    listing = connect().list("github:acme")
    assert (len(listing.items), len(listing.problems), listing.complete) == (130, 1, False)


def test_an_organisation_is_listed_with_what_the_token_may_see(server: FakeGitHub, connect: Open) -> None:
    server.owners, server.organisations = {"acme": [Repository("a", "x"), Repository("b", "x", private=True)]}, {"acme"}
    server.tokens = {TOKEN: "ann"}
    assert names(connect(token=TOKEN).list("github:acme")) == ["acme/a", "acme/b"]
