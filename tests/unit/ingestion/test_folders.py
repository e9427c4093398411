"""The folders of a watch that changed, by their listings."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.ingestion.watch import Folders

Acts = Callable[[Path], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "notes"
    (inside / "below").mkdir(parents=True)
    (inside / "a.md").write_text("# A")
    return inside


def seen(folders: Folders, seconds: float = 3.0) -> set[str]:
    """What changed, waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if changed := folders.changed():
            return changed
        time.sleep(0.01)
    return set()


def watching(*places: Path) -> Folders:
    return Folders([str(place) for place in places], settle=0.05, look=0.02)


def grow(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new" / "b.md").write_text("# B")


def test_the_home_of_nobody_is_a_place_that_is_not_there(folder: Path) -> None:
    folders = watching(Path("~nobody-here/docs"), folder)
    assert folders.changed() == set()
    (folder / "a.md").write_text("# A, changed")
    assert seen(folders) == {str(folder)}


@pytest.mark.parametrize(
    "act",
    [
        lambda folder: (folder / "a.md").write_text("# A, changed"),
        lambda folder: (folder / "a.md").unlink(),
        lambda folder: (folder / "a.md").rename(folder / "below" / "a.md"),
        lambda folder: (folder / "below" / "c.txt").write_text("C"),
        grow,
    ],
    ids=["changed", "deleted", "moved", "added below", "added in a new folder"],
)
def test_what_changes_the_listing_is_seen(folder: Path, act: Acts) -> None:
    folders = watching(folder)
    assert folders.changed() == set()
    act(folder)
    assert seen(folders) == {str(folder)}


@pytest.mark.parametrize(
    "act",
    [
        lambda folder: (folder / "a.md").read_text(),
        lambda folder: (folder / "code.py").write_text("pass"),
        lambda folder: (folder / ".hidden.md.swp").write_text("x"),
        lambda folder: (folder / "node_modules").mkdir(),
    ],
    ids=["read", "of another kind", "hidden", "passed over"],
)
def test_what_changes_no_listing_is_not(folder: Path, act: Acts) -> None:
    folders = watching(folder)
    act(folder)
    assert seen(folders, 0.15) == set()


def test_a_named_file_is_seen_even_when_an_editor_puts_another_in_its_place(folder: Path) -> None:
    file = folder / "a.md"
    folders = watching(file, folder / "below")
    (folder / "a.new").write_text("# A, again")
    os.replace(folder / "a.new", file)
    assert seen(folders) == {str(file)}


def test_a_folder_that_goes_and_comes_back_is_watched_on(folder: Path) -> None:
    away = folder.with_name("away")
    folders = watching(folder)
    folder.rename(away)
    assert seen(folders) == {str(folder)}
    away.rename(folder)
    assert seen(folders) == {str(folder)}
    while seen(folders, 0.1):
        pass
    (folder / "a.md").write_text("# A, after all")
    assert seen(folders) == {str(folder)}


def test_an_export_is_seen(folder: Path) -> None:
    folders = watching(folder)
    (folder / "export.zip").write_bytes(b"PK")
    assert seen(folders) == {str(folder)}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_folder_counts_as_changed_once_it_is_quiet_or_after_ten_times_that(folder: Path) -> None:
    clock = Clock()
    folders = Folders([str(folder)], settle=1, look=0.1, now=clock)
    found = []
    for step in range(120):  # twelve seconds, the first eleven and a half with a change in each tenth
        clock.now = step / 10
        if step < 115:
            (folder / "a.md").write_text("x" * step)
        found += [clock.now] * len(folders.changed())
    assert found == pytest.approx([10.1], abs=0.11)
