"""The embedded server fails under a run: the run says so, and the next one finishes."""

import os
import signal
from typing import Any

import pytest

from tests.faults.checks import finishes, whole_after
from tests.faults.conftest import Rehearsal
from tests.faults.plays import PLAYS
from tests.faults.seeds import FEW, point_of
from tests.faults.servers import OwnServer


def stop_now(own: OwnServer, _raw: Any) -> None:
    """Stop the server without any farewell."""
    own.server._stop("immediate")


def kill_a_backend(_own: OwnServer, raw: Any) -> None:
    """End the process that serves this connection, upon which Postgres ends all the others and recovers."""
    os.kill(raw.info.backend_pid, signal.SIGKILL)


@pytest.mark.parametrize("seed", FEW)
def test_after_a_server_that_failed_every_document_is_whole_and_the_next_run_finishes(
    seed: int, own_server: OwnServer, own_rehearsal: Rehearsal, own_database: str
) -> None:
    fails = (stop_now, kill_a_backend)[seed % 2]
    play = own_rehearsal(PLAYS[0])
    events = [event for event in play.events if event.stage in ("in the transaction", "before COMMIT", "after COMMIT")]
    point = point_of(seed, events, moments=False)
    settings = play.copy(own_database)
    ended = play.hurt(settings, point, lambda _, raw: fails(own_server, raw))
    own_server.start_again()
    fault = "the server is stopped" if fails is stop_now else "the server crashes"
    whole_after(play, settings, fault, point, ended.how)
    if ended.error:
        assert ended.exit_code == 5
        assert ended.error.startswith("ServiceUnavailable: "), ended.error
    finishes(play, settings)
