"""What a folder lists, and the hashes of its files."""

import hashlib
import os
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.ingestion.sources.base import Access
from pipelines.ingestion.sources.files import Files, list_files, read_file
from pipelines.types import SourceItem


def test_the_address_of_a_listed_file_is_that_of_its_path(tmp_path: Path) -> None:
    names = ["a b/50%.md", os.fsdecode(b"a b/\xff.txt"), "a b/x#y.txt", "a b/ü/?.md", "z.PDF"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Some words.")
    items = list_files(str(tmp_path)).items
    assert [item.uri for item in items] == [(tmp_path / name).as_uri() for name in names]
    assert [item.name for item in items] == [name.replace("\udcff", "?") for name in names]
    sizes = [(tmp_path / name).stat() for name in names]
    assert [item.stamp for item in items] == [f"{info.st_size}:{info.st_mtime_ns}" for info in sizes]


def test_links_hidden_files_licences_and_front_matter_alone_are_not_listed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place in (folder / "b", folder / ".git", folder / "node_modules", outside):
        place.mkdir(parents=True)
        (place / "note.md").write_text("Some words.")
    (folder / "inside.md").symlink_to(folder / "b" / "note.md")
    (folder / "out.md").symlink_to(outside / "note.md")
    (folder / "broken.md").symlink_to(folder / "nowhere.md")
    (folder / "away").symlink_to(outside)
    (folder / "_index.md").write_text("---\ntitle: Posts\n---\n")
    for name in ("LICENSE.md", "photo.xyz", ".hidden.md", "md"):
        (folder / name).write_text("Some words.")
    listing = list_files(str(folder))
    assert [item.name for item in listing.items] == ["b/note.md", "inside.md"]
    assert listing.complete
    assert {each.name: each.reason for each in listing.skipped} == {
        "LICENSE.md": "it is a licence text",
        "_index.md": "it holds front matter alone",
        "away": "it is a link to a folder",
        "broken.md": "it is no file, or a link out of the folder",
        "md": "files of its kind are not read",
        "out.md": "it is no file, or a link out of the folder",
        "photo.xyz": "files of its kind are not read",
    }


@pytest.mark.parametrize("name", ["note.md", "note.txt"])
def test_a_file_that_was_read_to_be_listed_is_not_read_again(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"Some words.")
    files = Files(Access(Settings(_env_file=None, home=tmp_path / "home"), 1000))
    (item,) = files.list(str(tmp_path)).items
    if name == "note.md":
        (tmp_path / name).unlink()
    assert files.read(item).sha == hashlib.sha256(b"Some words.").hexdigest()


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 200_000])
def test_a_file_is_read_up_to_one_byte_over_the_limit(tmp_path: Path, size: int) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(os.urandom(size))
    item = SourceItem(path.as_uri(), "note.txt", path.as_uri(), "file")
    assert read_file(item, 300_000) == path.read_bytes()
    assert read_file(item, 100_000) == path.read_bytes()[:100_001]
    assert read_file(item, 10) == path.read_bytes()[:11]
