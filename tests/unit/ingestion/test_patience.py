"""After how many seconds a watch tries again what failed."""

import pytest

from pipelines.errors import UNTIL_MENDED, ServiceUnavailable, SourceError, as_source_error
from pipelines.ingestion.patience import Patience
from pipelines.ingestion.sources.github.refusals import refused
from pipelines.ingestion.sources.web.status import busy, unanswered

HOUR = 3600.0


def error(wait: float = 0.0) -> SourceError:
    return SourceError("It failed.", wait=wait)


def test_a_failure_that_may_pass_is_tried_again_soon_and_then_less_and_less_often() -> None:
    patience = Patience(5)
    assert [patience.rest([error()], ["a"], HOUR) for _ in range(3)] == [5, 10, 20]
    assert patience.rest([error()], ["b"], HOUR) == 5
    assert patience.rest([], ["a"], HOUR) == 0
    assert patience.rest([error()], ["a"], HOUR) == 5
    for _ in range(20):
        patience.pause(["a"])
    assert patience.pause(["a"]) == 600


def test_what_a_source_asks_for_is_given_within_a_day() -> None:
    assert Patience(5).rest([error(), error(7200)], ["a"], HOUR) == 7200
    assert Patience(5).rest([error(10**9)], ["a"], HOUR) == 86_400


def test_what_is_refused_until_a_person_mends_it_waits_for_the_usual_look() -> None:
    patience = Patience(5)
    assert [patience.rest([error(UNTIL_MENDED)], ["a"], HOUR) for _ in range(3)] == [HOUR] * 3
    assert patience.rest([error(UNTIL_MENDED), error()], ["a"], HOUR) == 5


@pytest.mark.parametrize("status", [401, 403, 404, 451])
def test_a_key_a_right_or_an_address_that_is_refused_is_so_until_somebody_mends_it(status: int) -> None:
    assert refused(status, "/users/ann", "No.", has_token=True).wait == UNTIL_MENDED
    assert as_source_error(unanswered("example.org/a", status)).wait == UNTIL_MENDED


def test_an_outage_is_over_when_it_is_over() -> None:
    outages = [refused(502, "/users/ann", "", has_token=True), unanswered("example.org/a", 500), busy("a", 503, None)]
    assert [outage.wait for outage in outages] == [0, 0, 0]
    assert as_source_error(ServiceUnavailable("Gone.")).wait == 0
