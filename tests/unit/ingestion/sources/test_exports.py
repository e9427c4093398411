"""Exports of Notion: ZIP files that are like folders."""

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.errors import LoadError, SourceError
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.sources import Access, Listing
from pipelines.ingestion.sources import exports as under_test
from pipelines.ingestion.sources.exports import readable_name
from pipelines.ingestion.sources.files import Files, list_files, read_file
from pipelines.store.originals import original_path, path_of

A, B, C = ("0123456789abcdef0123456789abcde" + last for last in "123")
EXPORT = {
    f"Handbook {A}.md": "# Handbook\n\nWelcome.",
    f"Handbook/On call {B}.md": "# On call\n\nWho is called at night.",
    f"Handbook/Tasks {C}.csv": "Name,State\nPump,open\n",
    f"Handbook/Tasks {C}_all.csv": "Name,State\nPump,open\nBelt,done\n",
    "Handbook/photo.png": "PNG",
}
Files_ = Mapping[str, str | bytes]


def packed(files: Files_) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write(files, name)`: the path of a ZIP of these files."""

    def written(files: Files_, name: str = "export.zip") -> Path:
        path = tmp_path / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(packed(files))
        return path

    return written


def names(listing: Listing) -> list[str]:
    return [item.name for item in listing.items]


def passed_over(listing: Listing) -> list[str]:
    return [each.name for each in listing.skipped]


def test_an_export_is_listed_like_a_folder_with_names_without_ids(write: Callable[..., Path]) -> None:
    path = write(EXPORT)
    alone = list_files(str(path))
    assert (alone.source, alone.complete) == (path.as_uri(), True)
    assert names(alone) == ["Handbook.md", "Handbook/On call.md", "Handbook/Tasks.csv"]
    assert alone.skipped == (("Handbook/photo.png", "only pages and tables of an export are read"),)
    (path.parent / "a.md").write_text("# A")
    within = list_files(str(path.parent))
    assert names(within) == ["a.md", *(f"export.zip/{name}" for name in names(alone))]
    assert (within.complete, {item.source for item in within.items}) == (True, {path.parent.as_uri()})
    assert {item.uri for item in alone.items} <= {item.uri for item in within.items}


def test_what_is_read_is_what_lies_inside_and_of_a_table_all_its_rows(write: Callable[..., Path]) -> None:
    items = list_files(str(write(EXPORT))).items
    assert [read_file(item, 1000).decode() for item in items] == [
        EXPORT[f"Handbook {A}.md"], EXPORT[f"Handbook/On call {B}.md"], EXPORT[f"Handbook/Tasks {C}_all.csv"],
    ]  # fmt: skip
    assert path_of(items[1].uri).name == "export.zip"


def test_the_documents_are_notions_and_have_titles_without_ids(write: Callable[..., Path]) -> None:
    for item in list_files(str(write(EXPORT))).items:
        document = classify(load(read_file(item, 1000), item))
        assert document.category == "notion"
        assert document.title in ("Handbook", "On call", "Tasks")


def test_what_was_read_is_kept_so_that_workers_need_no_archive(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(EXPORT)
    files = Files(Access(Settings(_env_file=None, home=tmp_path / "home"), 1000))
    item = files.list(str(path)).items[0]
    read = files.read(item)
    files.close()
    path.unlink()
    assert read.kept
    assert original_path(tmp_path / "home", read.sha).read_text() == EXPORT[f"Handbook {A}.md"]


def test_a_document_over_the_limit_is_not_kept(write: Callable[..., Path], tmp_path: Path) -> None:
    files = Files(Access(Settings(_env_file=None, home=tmp_path / "home"), 10))
    read = files.read(files.list(str(write(EXPORT))).items[0])
    assert not read.kept
    assert not original_path(tmp_path / "home", read.sha).exists()


def test_parts_within_an_export_are_opened_and_their_names_mean_nothing(write: Callable[..., Path]) -> None:
    part = packed({f"Export-11111111-2222-3333-4444-555555555555/Page {A}.md": "# Page"})
    first = list_files(str(write({"ExportBlock-1-Part-1.zip": part, "index.html": "<p>x</p>"})))
    again = list_files(str(write({"ExportBlock-2-Part-1.zip": part, "index.html": "<p>x</p>"})))
    assert names(first) == ["Page.md", "index.html"]
    assert [item.uri for item in first.items] == [item.uri for item in again.items]
    assert read_file(first.items[0], 100) == b"# Page"


@pytest.mark.parametrize(
    "name",
    ["Page/Export of the pump.zip", "Page/Part-1.zip", f"Page {A}/Part-1.zip", "Page/a/b/Part-1.zip", "x/backup.zip"],
)
def test_an_archive_attached_to_a_page_is_passed_over_however_it_is_named(
    name: str, write: Callable[..., Path]
) -> None:
    listing = list_files(str(write({f"Page {A}.md": "# Page", name: b"no archive at all"})))
    assert (names(listing), passed_over(listing), listing.problems) == (["Page.md"], [readable_name(name)], ())


def test_an_archive_attached_to_a_page_or_table_of_another_part_is_passed_over(write: Callable[..., Path]) -> None:
    attached = {"Page/Export-1.zip": b"no archive", "Tasks/Export-2.zip": b"no archive"}
    owners = {f"Page {A}.html": "<p>Page</p>", f"Tasks {B}.csv": "Name\nPump\n"}
    listing = list_files(str(write({"Export-Part-1.zip": packed(attached), "Export-Part-2.zip": packed(owners)})))
    assert (names(listing), passed_over(listing)) == (["Page.html", "Tasks.csv"], list(attached))


@pytest.mark.parametrize("folder", ["Export", "Private & Shared/Page"])
def test_a_part_that_lies_in_a_folder_makes_the_listing_incomplete(folder: str, write: Callable[..., Path]) -> None:
    part = packed({f"Other {B}.md": "# Other"})
    listing = list_files(str(write({f"Page {A}.md": "# Page", f"{folder}/Export-Part-1.zip": part})))
    assert (names(listing), listing.complete) == (["Page.md"], False)
    ((name, error),) = listing.problems
    assert (name, "may be a part" in error.message) == (f"{folder}/Export-Part-1.zip", True)


def test_an_archive_deep_in_folders_is_no_part(write: Callable[..., Path]) -> None:
    deep = f"{'a/' * 20_000}Export-1.zip"
    listing = list_files(str(write({f"Page {A}.md": "# Page", "a/b/c/d/Export-1.zip": b"x", deep: b"x"})))
    assert (names(listing), passed_over(listing)) == (["Page.md"], ["a/b/c/d/Export-1.zip", deep])


def test_names_that_are_utf8_without_saying_so_are_read_as_that(write: Callable[..., Path]) -> None:
    path = write({f"Päge 日 {A}.md": "# Page", f"Page {B}.md": "# Page"})
    data = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags + 1] &= 0xFF ^ 0x08
    path.write_bytes(data)
    items = list_files(str(path)).items
    assert [item.name for item in items] == ["Page.md", "Päge 日.md"]
    assert read_file(items[1], 100) == b"# Page"


def test_archives_within_archives_are_opened_to_a_depth_of_three(write: Callable[..., Path]) -> None:
    data = packed({f"Deep {B}.md": "# Deep"})
    for _ in range(4):
        data = packed({"Export-Part-1.zip": data, f"Page {A}.md": "# Page"})
    listing = list_files(str(write({"Export-Part-1.zip": data})))
    assert names(listing) == ["Page.md"]
    assert "Export-Part-1.zip" in passed_over(listing)


def test_another_archive_is_passed_over_in_a_folder_and_told_where_it_is_named(write: Callable[..., Path]) -> None:
    path = write({"notes.md": "# Notes", f"inner/x {A}.png": "x"}, "other.zip")
    folder = list_files(str(path.parent))
    assert (names(folder), folder.complete) == ([], True)
    assert folder.skipped == (("other.zip", "only a ZIP of Notion or LinkedIn is opened"),)
    (item,) = list_files(str(path)).items
    with pytest.raises(LoadError, match="not read"):
        load(read_file(item, 10_000), item)


def test_a_damaged_archive_keeps_what_is_held_of_it_and_nothing_else(write: Callable[..., Path]) -> None:
    path = write(EXPORT)
    path.write_bytes(path.read_bytes()[:200])
    listing = list_files(str(path.parent))
    assert (listing.complete, listing.unread) == (True, (path.as_uri(),))
    assert "damaged" in listing.problems[0][1].message
    assert "damaged" in list_files(str(path)).problems[0][1].message


@pytest.mark.parametrize(
    "name",
    [
        f"../../etc/Page {A}.md",
        f"/etc/Page {A}.md",
        f"..\\..\\Page {A}.md",
        f"C:\\x\\Page {A}.md",
        f"a/./../Page {A}.md",
    ],
)
def test_paths_that_lead_elsewhere_are_only_names(name: str, write: Callable[..., Path]) -> None:
    (item,) = list_files(str(write({name: "# Page"}))).items
    assert ".." not in item.uri.partition("#")[2].split("/")
    assert read_file(item, 100) == b"# Page"
    assert path_of(item.uri).name == "export.zip"


def test_a_member_without_a_name_is_passed_over(write: Callable[..., Path]) -> None:
    path = write({f"Page {A}.md": "# Page", "zz": "x"})
    path.write_bytes(path.read_bytes().replace(b"zz", b"\0\0"))
    assert names(list_files(str(path))) == ["Page.md"]


def test_hidden_files_and_what_a_mac_adds_are_passed_over(write: Callable[..., Path]) -> None:
    listing = list_files(str(write({f"__MACOSX/._Page {A}.md": "x", f".x/Page {B}.md": "x", f"Page {C}.md": "# Page"})))
    assert names(listing) == ["Page.md"]


def test_a_page_without_a_title_has_a_name(write: Callable[..., Path]) -> None:
    assert names(list_files(str(write({f"{A}.md": "x"})))) == ["Untitled.md"]


def test_a_member_that_unpacks_to_far_more_than_its_size_is_named_and_left(write: Callable[..., Path]) -> None:
    bomb = {f"Bomb {A}.md": b"\0" * 5_000_000, f"Page {B}.md": "# Page"}
    inner = {"Export-Part-1.zip": b"\0" * 5_000_000, f"Page {B}.md": "# Page"}
    for files, named in ((bomb, f"Bomb {A}.md"), (inner, "Export-Part-1.zip")):
        path = write(files)
        listing = list_files(str(path))
        assert names(listing) == ["Page.md"]
        assert not listing.complete  # what it held of that before stays
        assert list_files(str(path.parent)).unread == (path.as_uri(),)
        assert listing.problems[0][0] == named
        assert "200 times" in listing.problems[0][1].message


def test_a_page_whose_path_is_too_long_was_never_held_so_that_others_are_removed(write: Callable[..., Path]) -> None:
    path = write({f"{'x' * 2_000}/Page {A}.md": "# Page", f"Page {B}.md": "# Page"})
    listing = list_files(str(path))
    assert (names(listing), listing.complete) == (["Page.md"], True)
    assert "too long" in listing.problems[0][1].message
    assert list_files(str(path.parent)).unread == ()


@pytest.mark.parametrize(("limit", "value"), [("_MAX_BYTES", 100), ("_MAX_MEMBERS", 3), ("_MAX_PAGES", 1)])
def test_an_export_of_too_much_is_refused_before_anything_is_read(
    limit: str, value: int, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(EXPORT)
    monkeypatch.setattr(under_test, limit, value)
    listing = list_files(str(path))
    assert (listing.items, listing.complete) == ((), False)
    assert "more than" in listing.problems[0][1].message


def test_a_member_with_a_password_is_named(write: Callable[..., Path]) -> None:
    path = write({f"Secret {A}.md": "# Secret", f"Page {B}.md": "# Page"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag in the directory's first entry
    path.write_bytes(data)
    listing = list_files(str(path))
    assert names(listing) == ["Page.md"]
    assert "password" in listing.problems[0][1].message


def test_a_member_that_is_damaged_fails_alone(write: Callable[..., Path]) -> None:
    path = write({f"Page {A}.md": os.urandom(500).hex(), f"Other {B}.md": "# Other"})
    data = bytearray(path.read_bytes())
    data[100] ^= 0xFF
    path.write_bytes(data)
    other, page = list_files(str(path)).items
    assert read_file(other, 100) == b"# Other"
    with pytest.raises(SourceError, match="damaged"):
        read_file(page, 1000)


def test_a_folder_whose_name_holds_a_number_sign_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "a#b.md"
    path.write_text("# A")
    (item,) = list_files(str(path)).items
    assert read_file(item, 100) == b"# A"
    assert path_of(item.uri) == path
