"""The parts of a watch: the failure notifier and the backoff."""

from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.errors import UNTIL_MENDED, ServiceUnavailable, SourceError, as_source_error
from pipelines.ingestion.plan import Plan, Step
from pipelines.ingestion.sources.base import Access
from pipelines.ingestion.sources.github.client import GitHubApi
from pipelines.ingestion.sources.http import Reply
from pipelines.ingestion.sources.web.responses import busy_error, status_error
from pipelines.ingestion.watch import Backoff, FailureNotifier
from pipelines.types import IngestItem, IngestReport, SourceItem


def failing(said: str, source: str = "github:ann") -> Step:
    item = SourceItem(f"{source}#{source}", source, source, "github")
    return Step("fail", item, "cannot be listed", error=SourceError(said))


def reported(plan: Plan) -> IngestReport:
    steps = [step for step in plan.steps if step.error]
    items = [IngestItem(step.item.name, "failed", "list", message=str(step.error)) for step in steps]
    return IngestReport(1, tuple(items), 0, 0, 0.1)


def plan(*steps: Step, refused: tuple[tuple[str, int, int], ...] = ()) -> Plan:
    return Plan(steps, (), refused)


def said(notifier: FailureNotifier, told: Plan, *locations: str) -> list[str]:
    failed, _ = notifier.news(told, reported(told), locations or ("github:ann",))
    return [item.document for item in failed]


def test_a_failure_is_said_once_whatever_number_it_names_and_again_after_it_was_over() -> None:
    notifier = FailureNotifier()
    assert said(notifier, plan(failing("30 s are left"))) == ["github:ann"]
    assert said(notifier, plan(failing("1,020 s are left"))) == []
    assert said(notifier, plan(failing("the key is refused"))) == ["github:ann"]
    assert said(notifier, plan()) == []
    assert said(notifier, plan(failing("the key is refused"))) == ["github:ann"]


def test_what_one_source_says_ends_nothing_that_another_said() -> None:
    notifier = FailureNotifier()
    said(notifier, plan(failing("refused")))
    assert said(notifier, plan(failing("refused", "github:bob")), "github:bob") == ["github:bob"]
    assert said(notifier, plan(failing("refused"))) == []


def test_a_failure_that_no_run_wrote_again_was_said_all_the_same() -> None:
    notifier, step = FailureNotifier(), failing("refused")
    assert not notifier.are_reported([step])
    said(notifier, plan(step))
    assert notifier.are_reported([step])
    assert notifier.news(plan(step), None, ["github:ann"]) == ((), ())
    assert notifier.are_reported([step])
    assert said(notifier, plan(step)) == []
    assert not notifier.are_reported([step, failing("another thing")])


def test_a_refused_removal_is_said_once() -> None:
    notifier = FailureNotifier()
    told = plan(refused=(("github:ann", 3, 4),))
    assert notifier.news(told, None, ["github:ann"]) == ((), (("github:ann", 3, 4),))
    assert notifier.news(told, None, ["github:ann"]) == ((), ())


def test_what_ends_a_whole_round_is_said_once() -> None:
    notifier, error = FailureNotifier(), ServiceUnavailable("The database is gone.")
    assert [notifier.is_news(error), notifier.is_news(error)] == [True, False]
    assert said(notifier, plan()) == []
    assert notifier.is_news(error)


HOUR = 3600.0


def error(wait: float = 0.0) -> SourceError:
    return SourceError("It failed.", wait=wait)


def test_a_failure_that_may_pass_is_tried_again_soon_and_then_less_and_less_often() -> None:
    backoff = Backoff(5)
    assert [backoff.after([error()], ["a"], HOUR) for _ in range(3)] == [5, 10, 20]
    assert backoff.after([error()], ["b"], HOUR) == 5
    assert backoff.after([], ["a"], HOUR) == 0
    assert backoff.after([error()], ["a"], HOUR) == 5
    for _ in range(20):
        backoff.pause(["a"])
    assert backoff.pause(["a"]) == 600


def test_what_a_source_asks_for_is_given_within_a_day() -> None:
    assert Backoff(5).after([error(), error(7200)], ["a"], HOUR) == 7200
    assert Backoff(5).after([error(10**9)], ["a"], HOUR) == 86_400


def test_what_is_refused_until_a_person_mends_it_waits_for_the_usual_look() -> None:
    backoff = Backoff(5)
    assert [backoff.after([error(UNTIL_MENDED)], ["a"], HOUR) for _ in range(3)] == [HOUR] * 3
    assert backoff.after([error(UNTIL_MENDED), error()], ["a"], HOUR) == 5


def github_error(status: int, home: Path) -> SourceError:
    return GitHubApi(Access(Settings(home=home), 1_000)).failure(Reply(status, body={"message": "No."}), "/users/ann")


@pytest.mark.parametrize("status", [401, 403, 404, 451])
def test_a_key_a_right_or_an_address_that_is_refused_is_so_until_somebody_mends_it(status: int, tmp_path: Path) -> None:
    assert github_error(status, tmp_path).wait == UNTIL_MENDED
    assert as_source_error(status_error("example.org/a", status)).wait == UNTIL_MENDED


def test_an_outage_is_over_when_it_is_over(tmp_path: Path) -> None:
    outages = [
        github_error(502, tmp_path),
        status_error("example.org/a", 500),
        busy_error("a", 503, None),
    ]
    assert [outage.wait for outage in outages] == [0, 0, 0]
    assert as_source_error(ServiceUnavailable("Gone.")).wait == 0
