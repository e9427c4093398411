"""A run that is killed anywhere leaves every document wholly old or wholly new, and the next run finishes."""

import pytest

from tests.faults.checks import finishes, whole_after
from tests.faults.conftest import Rehearsal
from tests.faults.injectors import kill
from tests.faults.matrix import MATRIX
from tests.faults.plays import PLAYS
from tests.faults.seeds import SEEDS, play_of, point_of


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_kill_every_document_is_whole_and_the_next_run_finishes(
    seed: int, rehearsal: Rehearsal, database: str
) -> None:
    play = rehearsal(PLAYS[play_of(seed, len(PLAYS))])
    point = point_of(seed, play.events)
    settings = play.copy(database)
    MATRIX.failed.append(seed)
    ended = play.hurt(settings, point, kill)
    assert not ended.error, f"{point}: {ended.error}"
    whole_after(play, settings, f"{play.play.act} is killed", point, ended.how)
    finishes(play, settings)
    MATRIX.failed.remove(seed)
