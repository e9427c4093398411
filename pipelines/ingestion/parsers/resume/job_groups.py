"""Several positions under one company: which entries only name that and the time there, and which stand under one."""

from collections.abc import Sequence

from pipelines.ingestion.parsers.career.dates import DateRange
from pipelines.ingestion.parsers.career.job_words import title_score
from pipelines.ingestion.parsers.resume.entries import Entry
from pipelines.ingestion.parsers.resume.job_slots import Slots

HEAD, UNDER, OWN = "head", "under", ""


def groups_of(entries: Sequence[Entry], slots: Sequence[Slots]) -> list[str]:
    """What each entry is: HEAD = a company and the time there, UNDER = a position in that time, OWN = neither."""
    found: list[str] = []
    head: DateRange | None = None
    for number, entry in enumerate(entries):
        bare = sum(not slot.joint for slot in slots[number].slots) == 1
        titled = any(title_score(slot.words) >= 1 for slot in slots[number].slots)
        if bare and (titled or HEAD in found[-1:]) and _within(entry.dated, head):
            found.append(UNDER)
            continue
        following = entries[number + 1].dated if number + 1 < len(entries) else None
        heads = not titled and not entry.body and _within(following, entry.dated)
        head = entry.dated if heads else None
        found.append(HEAD if heads else OWN)
    return found


def _within(inner: DateRange | None, outer: DateRange | None) -> bool:
    """Whether one time lies in the other, to the year."""
    if inner is None or outer is None:
        return False
    ends = outer.current or (not inner.current and (inner.end_month or "")[:4] <= (outer.end_month or "")[:4])
    return inner.start_month[:4] >= outer.start_month[:4] and ends
