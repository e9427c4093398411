"""A disk that is full ends a run or a document with a sentence that says so; given room, the next run finishes."""

import shutil
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from pipelines.errors import ServiceUnavailable
from pipelines.store.embedded import EmbeddedServer
from tests.conftest import open_folder
from tests.faults.checks import finishes, whole_after
from tests.faults.children import in_child
from tests.faults.conftest import Rehearsal
from tests.faults.disks import OwnLimit, ServerLimit, Tmpfs, has_server_limits, mounted
from tests.faults.plays import PLAYS
from tests.faults.seeds import FEW, point_of
from tests.faults.servers import OwnServer

ROOM = (0, 8 << 10, 64 << 10, 256 << 10)


def fill(own: OwnServer, room: int, *, new_segment: bool) -> None:
    """Fill the server's disk; with a new segment, also make it need one more file of its log at once."""
    own.disk.fill(room)
    if new_segment:
        with closing(psycopg2.connect(own.address)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT pg_switch_wal()")


@pytest.mark.parametrize("seed", FEW)
def test_after_a_full_disk_of_the_database_every_document_is_whole_and_the_next_run_finishes(
    seed: int, own_server: OwnServer, own_rehearsal: Rehearsal, own_database: str
) -> None:
    if isinstance(own_server.disk, ServerLimit) and not has_server_limits():
        pytest.skip("this user may neither mount a disk nor limit another process")
    play = own_rehearsal(PLAYS[0])
    early = play.events[: len(play.events) // 2]  # so that something is left to be written
    point, room = point_of(seed, early, moments=False), ROOM[seed % len(ROOM)]
    settings = play.copy(own_database)
    ended = play.hurt(settings, point, lambda *_: fill(own_server, room, new_segment=seed % 2 == 0))
    own_server.disk.free()
    own_server.start_again()
    whole_after(play, settings, "the database's disk is full", point, ended.how)
    if ended.error:
        assert ended.exit_code == 5
        fell = isinstance(own_server.disk, ServerLimit) and "could not be reached" in ended.error
        assert fell or ended.error.startswith("ServiceUnavailable: The disk of the database is full"), ended.error
    finishes(play, settings)


@pytest.mark.parametrize("seed", FEW)
def test_after_a_full_disk_of_the_home_every_document_is_whole_and_the_next_run_finishes(
    seed: int, rehearsal: Rehearsal, database: str, tmp_path: Path
) -> None:
    play = rehearsal(PLAYS[0])
    events = [event for event in play.events if event.stage in ("before parsing", "parsing", "lexical snapshot")]
    point = point_of(seed, events, moments=False)
    with mounted(tmp_path / "disk", megabytes=8) as tmpfs:
        disk = Tmpfs(tmp_path / "disk") if tmpfs else OwnLimit()
        settings = play.copy(database, home=tmp_path / "disk" / "home")
        ended = play.hurt(settings, point, lambda *_: disk.fill(0))
        disk.free()
        assert not ended.error, ended.error
        whole_after(play, settings, "the home's disk is full", point, ended.how)
        broken = {name for name, outcome in play.told["outcomes"].items() if outcome == "failed"}
        for item in ended.value["failed"]:
            if item["document"] not in broken:
                assert (item["error"], "is full" in item["message"]) == ("StoreError", True), item
                assert item["hint"].startswith("Free some space"), item
        finishes(play, settings)


def test_a_server_that_cannot_begin_or_start_on_a_full_disk_says_so_and_starts_when_there_is_room() -> None:
    folder = open_folder("footnote-full-")
    with mounted(folder / "disk", megabytes=120) as tmpfs:
        if not tmpfs:
            pytest.skip("this user may not mount a disk")
        disk, server = Tmpfs(folder / "disk"), EmbeddedServer(folder / "disk" / "home")
        for room in (1 << 20, 20 << 20):
            disk.fill(room)
            with pytest.raises(ServiceUnavailable, match=r"disk of .* is full"):
                server.acquire()
            disk.free()
        server.acquire()
        server.release()
        for room in (0, 16 << 10):
            disk.fill(room)
            said = in_child(server.acquire).error  # nothing, as one that was stopped in order needs hardly any room
            assert not said or "is full" in said, said
            disk.free()
        server.acquire()
        assert server.is_running()
        server.release()
    shutil.rmtree(folder, ignore_errors=True)
