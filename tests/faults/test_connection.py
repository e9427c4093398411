"""A run that loses the database says so, leaves every document whole, and the next run finishes."""

import pytest

from tests.faults.checks import finishes, whole_after
from tests.faults.conftest import Rehearsal
from tests.faults.injectors import disconnect
from tests.faults.plays import PLAYS
from tests.faults.seeds import FEW, point_of


@pytest.mark.parametrize("seed", FEW)
def test_after_a_lost_connection_every_document_is_whole_and_the_next_run_finishes(
    seed: int, rehearsal: Rehearsal, database: str
) -> None:
    play = rehearsal(PLAYS[0])
    point = point_of(seed, play.events, moments=False)
    settings = play.copy(database)
    ended = play.hurt(settings, point, disconnect)
    whole_after(play, settings, "an ingest loses its connections", point, ended.how)
    if point.stage in ("before COMMIT", "COMMIT under way") and ended.hit:
        assert ended.exit_code == 5
    if ended.error:
        assert ended.exit_code == 5
        assert ended.error.startswith("ServiceUnavailable: The database could not be reached while "), ended.error
        assert "footnote doctor" in ended.error
    finishes(play, settings)
