"""Career facts that are made by hand, each the whole text of its place."""

from datetime import date
from typing import Any

from pipelines.facts import JobFacts
from pipelines.store.facts import Fact

TODAY = date(2024, 3, 20)


def fact(record: Any, text: str, document: str = "resume.pdf", category: str = "resume") -> Fact:
    """A record that its text states."""
    placed = record.model_copy(update={"span": (0, len(text))})
    return Fact(
        placed, document, document, document, "", "", category, 1, 1, 1, (), f"node-{document}", 0, len(text), text
    )


def job(
    company: str,
    start: str,
    end: str | None,
    *,
    position: str = "Engineer",
    location: str = "",
    did: str = "",
    **more: Any,
) -> Fact:
    """A job; without an end it goes on."""
    said = f"{start} - {end or 'Present'}"
    record = JobFacts(
        company=company,
        position=position,
        location=location,
        date_range=said,
        start_month=start,
        end_month=end,
        current=end is None,
        bullets=(did,) if did else (),
    )
    return fact(record, f"{company} | {position} | {said}\n{did}", **more)
