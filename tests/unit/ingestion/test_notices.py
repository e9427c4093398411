"""What a watch says once, and again only after it was over."""

from pipelines.errors import ServiceUnavailable, SourceError
from pipelines.ingestion.notices import Notices
from pipelines.ingestion.plan import Plan, Step
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


def said(notices: Notices, told: Plan, *locations: str) -> list[str]:
    failed, _ = notices.news(told, reported(told), locations or ("github:ann",))
    return [item.document for item in failed]


def test_a_failure_is_said_once_whatever_number_it_names_and_again_after_it_was_over() -> None:
    notices = Notices()
    assert said(notices, plan(failing("30 s are left"))) == ["github:ann"]
    assert said(notices, plan(failing("1,020 s are left"))) == []
    assert said(notices, plan(failing("the key is refused"))) == ["github:ann"]
    assert said(notices, plan()) == []
    assert said(notices, plan(failing("the key is refused"))) == ["github:ann"]


def test_what_one_source_says_ends_nothing_that_another_said() -> None:
    notices = Notices()
    said(notices, plan(failing("refused")))
    assert said(notices, plan(failing("refused", "github:bob")), "github:bob") == ["github:bob"]
    assert said(notices, plan(failing("refused"))) == []


def test_a_failure_that_no_run_wrote_again_was_said_all_the_same() -> None:
    notices, step = Notices(), failing("refused")
    assert not notices.hold([step])
    said(notices, plan(step))
    assert notices.hold([step])
    assert notices.news(plan(step), None, ["github:ann"]) == ((), ())
    assert notices.hold([step])
    assert said(notices, plan(step)) == []
    assert not notices.hold([step, failing("another thing")])


def test_a_refused_removal_is_said_once() -> None:
    notices = Notices()
    told = plan(refused=(("github:ann", 3, 4),))
    assert notices.news(told, None, ["github:ann"]) == ((), (("github:ann", 3, 4),))
    assert notices.news(told, None, ["github:ann"]) == ((), ())


def test_what_ends_a_whole_round_is_said_once() -> None:
    notices, error = Notices(), ServiceUnavailable("The database is gone.")
    assert [notices.is_news(error), notices.is_news(error)] == [True, False]
    assert said(notices, plan()) == []
    assert notices.is_news(error)
