"""FACTS: what a node's span states, as typed records, and the arithmetic of months."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Stated(_Record):
    """A record with the span that states it: offsets in its document's text, inside its node's span."""

    span: tuple[int, int] = (0, 0)


class _Dated(_Stated):
    """A record with a time.

    Months are ISO 8601 to the precision that is stated: `2023-04`, or `2023` where no month is. `end_month` is None
    where no end is stated; `current` says that the text itself leaves it open ("Present"). `date_range` is the words.
    """

    date_range: str = ""
    start_month: str = ""
    end_month: str | None = None
    current: bool = False


class JobFacts(_Dated):
    """A job; `bullets` are its items as they stand, without their marks."""

    type: Literal["job"] = "job"
    company: str
    position: str = ""
    location: str = ""
    industry: str = ""
    bullets: tuple[str, ...] = ()


class EducationFacts(_Dated):
    """A degree or a stay at an institution; `area` is its subject."""

    type: Literal["education"] = "education"
    institution: str
    degree: str = ""
    area: str = ""
    location: str = ""


class ProjectFacts(_Dated):
    """A project of a resume."""

    type: Literal["project"] = "project"
    name: str


class CertificationFacts(_Dated):
    """A certificate or licence; its date is the start."""

    type: Literal["certification"] = "certification"
    name: str
    issuer: str = ""


class LanguageFacts(_Stated):
    """A language that somebody speaks, and how well."""

    type: Literal["language"] = "language"
    language: str
    level: str = ""


class SkillsFacts(_Stated):
    """A list of skills; `group` is what the list is called ("Databases")."""

    type: Literal["skills"] = "skills"
    skills: tuple[str, ...]
    group: str = ""


class PersonFacts(_Stated):
    """Who a resume or profile is about."""

    type: Literal["person"] = "person"
    name: str = ""
    headline: str = ""
    location: str = ""
    email: str = ""
    phone: str = ""
    links: tuple[str, ...] = ()


CareerRecord = Annotated[
    JobFacts | EducationFacts | ProjectFacts | CertificationFacts | LanguageFacts | SkillsFacts | PersonFacts,
    Field(discriminator="type"),
]


class SeveralFacts(_Record):
    """What a node states that holds several entries, in their order."""

    type: Literal["several"] = "several"
    records: tuple[CareerRecord, ...]


class JourneyFacts(_Record):
    """Where a journey node stands: part k of n, its paragraphs from 1, its fiscal year."""

    type: Literal["journey"] = "journey"
    fiscal_year: int | None = None
    part: int
    parts: int
    first_paragraph: int
    last_paragraph: int


class RepositoryFacts(_Record):
    """A repository, as its host describes it."""

    type: Literal["repository"] = "repository"
    name: str
    description: str = ""
    language: str = ""
    stars: int | None = None
    topics: tuple[str, ...] = ()
    homepage: str = ""
    licence: str = ""
    pushed_at: str = ""
    updated_at: str = ""


Facts = Annotated[
    JobFacts
    | EducationFacts
    | ProjectFacts
    | CertificationFacts
    | LanguageFacts
    | SkillsFacts
    | PersonFacts
    | SeveralFacts
    | JourneyFacts
    | RepositoryFacts,
    Field(discriminator="type"),
]


def repository_of(metadata: Mapping[str, Any]) -> RepositoryFacts | None:
    """The repository that a document is of, as its loader put it into its metadata."""
    return RepositoryFacts(**metadata["repository"]) if "repository" in metadata else None


def records_of(facts: Facts | None) -> tuple[CareerRecord, ...]:
    """The career records that a node states, in order; none for a node that states nothing of a career."""
    match facts:
        case None | JourneyFacts() | RepositoryFacts():
            return ()
        case SeveralFacts():
            return facts.records
        case _:
            return (facts,)
