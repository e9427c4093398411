"""NOTICES: what a watch has said of its sources, so that it says each thing once, and again only after it was over."""

import re
from collections.abc import Iterable, Sequence

from pipelines.errors import FootnoteError
from pipelines.ingestion.plan import Plan, Step
from pipelines.store.originals import named_uri
from pipelines.types import IngestItem, IngestReport

Refusal = tuple[str, int, int]  # source, how many removals, of how many documents
_Notice = tuple[str, str, str]  # source, document, what is said of it


class Notices:
    """What was said of rounds so far; they are told of one after the other."""

    def __init__(self) -> None:
        self._said: set[_Notice] = set()

    def news(
        self, plan: Plan, report: IngestReport | None, locations: Sequence[str]
    ) -> tuple[tuple[IngestItem, ...], tuple[Refusal, ...]]:
        """(what failed, what was refused) that was not said before; what is over may be said again."""
        of_name = {step.item.name: step.item.source for step in plan.steps}
        items = [item for item in report.items if item.outcome == "failed"] if report else []
        failed = {item: (of_name.get(item.document, ""), item.document, _numberless(item.message)) for item in items}
        refused = {each: (each[0], "", f"{each[1]} of {each[2]}") for each in plan.refused}
        unread = {_notice(step) for step in plan.steps if step.error}
        unlisted = (name for location in locations for name in (location, named_uri(location)))
        seen = {"", *unlisted, *of_name.values(), *(source for source, _, _ in plan.refused)}
        before = self._said
        self._said = {notice for notice in before if notice[0] not in seen}
        self._said |= {*failed.values(), *refused.values(), *unread}
        return (
            tuple(item for item, notice in failed.items() if notice not in before),
            tuple(each for each, notice in refused.items() if notice not in before),
        )

    def hold(self, failing: Iterable[Step]) -> bool:
        """Whether it was said already of each of these steps how it fails."""
        return all(_notice(step) in self._said for step in failing)

    def is_news(self, error: FootnoteError) -> bool:
        """Whether it was not said yet that a round failed as a whole for this; now it is."""
        notice = ("", "", _numberless(error.message))
        said, self._said = notice in self._said, self._said | {notice}
        return not said


def _notice(step: Step) -> _Notice:
    return step.item.source, step.item.name, _numberless(step.error.message if step.error else "")


def _numberless(said: str) -> str:
    """What is said without its numbers: the same wait is shorter each time."""
    return re.sub(r"\d[\d,]*", "#", said)
