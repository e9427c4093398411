"""Which folders changed, notified by the operating system or found by looking."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.ingestion.sources.folders import Folders, is_remote

Acts = Callable[[Path], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "notes"
    (inside / "below").mkdir(parents=True)
    (inside / "a.md").write_text("# A")
    return inside


@pytest.fixture(params=[True, False], ids=["notified", "looking"])
def notified(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def seen(folders: Folders, seconds: float = 3.0) -> set[str]:
    """What changed, waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if changed := folders.changed():
            return changed
        time.sleep(0.01)
    return set()


def watching(*places: Path, notified: bool, apart_from: Path = Path("/nowhere"), settle: float = 0.05) -> Folders:
    return Folders([str(place) for place in places], settle=settle, apart_from=apart_from, look=0.02, notified=notified)


def grow(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new" / "b.md").write_text("# B")


def test_the_home_of_nobody_is_a_place_that_is_not_there(folder: Path, notified: bool) -> None:
    with closing(watching(Path("~nobody-here/docs"), folder, notified=notified)) as folders:
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
def test_what_changes_the_listing_is_seen(folder: Path, notified: bool, act: Acts) -> None:
    with closing(watching(folder, notified=notified)) as folders:
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
        lambda folder: (folder / "var" / "log.md").write_text("own"),
    ],
    ids=["read", "of another kind", "hidden", "passed over", "our own"],
)
def test_what_changes_no_listing_is_not(folder: Path, act: Acts) -> None:
    (folder / "var").mkdir()
    with closing(watching(folder, notified=True, apart_from=folder / "var")) as folders:
        act(folder)
        assert seen(folders, 0.15) == set()


def test_a_named_file_is_seen_even_when_an_editor_puts_another_in_its_place(folder: Path, notified: bool) -> None:
    file = folder / "a.md"
    with closing(watching(file, folder / "below", notified=notified)) as folders:
        (folder / "a.new").write_text("# A, again")
        os.replace(folder / "a.new", file)
        assert seen(folders) == {str(file)}


def test_a_folder_that_goes_and_comes_back_is_watched_on(folder: Path, notified: bool) -> None:
    away = folder.with_name("away")
    with closing(watching(folder, notified=notified)) as folders:
        folder.rename(away)
        assert seen(folders) == {str(folder)}
        away.rename(folder)
        assert seen(folders) == {str(folder)}
        while seen(folders, 0.1):
            pass
        (folder / "a.md").write_text("# A, after all")
        assert seen(folders) == {str(folder)}


def test_an_export_is_seen(folder: Path) -> None:
    with closing(watching(folder, notified=True)) as folders:
        (folder / "export.zip").write_bytes(b"PK")
        assert seen(folders) == {str(folder)}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_folder_is_notified_of_once_it_is_quiet_or_after_ten_times_that(folder: Path) -> None:
    clock = Clock()
    with closing(
        Folders([str(folder)], settle=1, apart_from=Path("/nowhere"), look=0.1, notified=False, now=clock)
    ) as folders:
        found = []
        for step in range(120):  # twelve seconds, the first eleven and a half with a change in each tenth
            clock.now = step / 10
            if step < 115:
                (folder / "a.md").write_text("x" * step)
            found += [clock.now] * len(folders.changed())
    assert found == pytest.approx([10.1], abs=0.11)


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /mnt/home nfs4 rw 0 0
C:\\134 /mnt/c\\040d 9p rw 0 0
/dev/sdb1 /mnt/home/local ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "remote"),
    [("/tmp", False), ("/mnt/home/ann", True), ("/mnt/c d/x", True), ("/mnt/home/local/x", False)],
)
def test_a_folder_that_others_can_change_unheard_is_looked_at(tmp_path: Path, path: str, remote: bool) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert is_remote(Path(path), tmp_path / "mounts") is remote
    assert not is_remote(Path(path), tmp_path / "none")
