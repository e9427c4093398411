"""Facts checked against the text: what does not stand there is not emitted."""

from functools import lru_cache

from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
)
from pipelines.text import plain


def standing(record: CareerRecord, stretch: str) -> CareerRecord | None:
    """The record without what does not stand in the stretch; None where its first fact does not."""
    squeezed = _squeezed(stretch)
    lost: dict[str, object] = {}
    for name, value in record:
        if isinstance(value, str) and name not in ("type", "start_month", "end_month"):
            if value and "".join(value.split()) not in squeezed:
                lost[name] = ""
        elif isinstance(value, tuple) and name != "span":
            kept = tuple(item for item in value if "".join(item.split()) in squeezed)
            lost |= {name: kept} if kept != value else {}
    if lost.get("date_range") == "":
        lost |= {"start_month": "", "end_month": None, "current": False}
    checked = record.model_copy(update=lost) if lost else record
    return checked if _first_fact(checked) else None


@lru_cache(maxsize=1)
def _squeezed(stretch: str) -> str:
    """The stretch with and without its markup, white space taken out; asked for by one record of it after the other."""
    return "".join(f"{stretch}\n{plain(stretch)}".split())


def _first_fact(record: CareerRecord) -> object:
    match record:
        case PersonFacts():
            return record.name or record.email or record.links or record.phone
        case SkillsFacts():
            return record.skills
        case LanguageFacts():
            return record.language
        case EducationFacts():
            return record.institution
        case ProjectFacts() | CertificationFacts():
            return record.name
        case _:
            return record.company or record.position
