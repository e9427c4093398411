"""Facts: typed records of what a node's span states."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _WithSpan(_Record):
    """A record with its span: offsets in the document's text, inside its node's span."""

    span: tuple[int, int] = (0, 0)


class _WithDates(_WithSpan):
    """A record with dates.

    Months are ISO 8601 in the stated precision: `2023-04`, or `2023` without a month. `end_month` is None if no end is
    stated; `current` is True if the text says that it is open ("Present"). `date_range` is the text of the dates.
    """

    date_range: str = ""
    start_month: str = ""
    end_month: str | None = None
    current: bool = False


class JobFacts(_WithDates):
    """A job; `bullets` are its list items without their marks."""

    type: Literal["job"] = "job"
    company: str
    position: str = ""
    location: str = ""
    industry: str = ""
    bullets: tuple[str, ...] = ()


class EducationFacts(_WithDates):
    """A degree or a stay at an institution; `area` is its subject."""

    type: Literal["education"] = "education"
    institution: str
    degree: str = ""
    area: str = ""
    location: str = ""


class ProjectFacts(_WithDates):
    """A project of a README, a resume or a profile.

    Attributes:
        purpose: What it is, in its own words: one sentence, or a tagline without a full stop.
        languages: Programming languages and main technologies, by their usual names, the main one first.
        topics: Topics of the repository, and the terms of `pipelines.topics` that its introduction uses.
        link: Its repository or site.
        bullets: The list items of a resume's entry, without their marks.
    """

    type: Literal["project"] = "project"
    name: str
    purpose: str = ""
    languages: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    link: str = ""
    bullets: tuple[str, ...] = ()


class ProjectDetail(_WithSpan):
    """A statement of a README on its project beside the purpose: `value` are its own words, on one line."""

    type: Literal["project_detail"] = "project_detail"
    name: str
    about: Literal["licence", "version", "status", "requirement"]
    value: str


class TalkFacts(_WithDates):
    """A talk; `place` is the event, the city, or both as stated; `kind` is empty or a word such as `podcast`."""

    type: Literal["talk"] = "talk"
    title: str
    place: str = ""
    kind: str = ""


class CertificationFacts(_WithDates):
    """A certificate or licence; its date is the start."""

    type: Literal["certification"] = "certification"
    name: str
    issuer: str = ""


class LanguageFacts(_WithSpan):
    """A spoken language with its level."""

    type: Literal["language"] = "language"
    language: str
    level: str = ""


class SkillsFacts(_WithSpan):
    """A list of skills; `group` is the name of the list ("Databases")."""

    type: Literal["skills"] = "skills"
    skills: tuple[str, ...]
    group: str = ""


class PersonFacts(_WithSpan):
    """The person of a resume, profile or "about me" page; `location` is where the person lives."""

    type: Literal["person"] = "person"
    name: str = ""
    headline: str = ""
    location: str = ""
    email: str = ""
    phone: str = ""
    links: tuple[str, ...] = ()
    pronouns: str = ""


class SummaryFacts(_WithSpan):
    """A person's summary in their own words, whole sentences, at most about 600 characters; one a document."""

    type: Literal["summary"] = "summary"
    text: str


class UnreadLine(_WithDates):
    """A dated line of a resume, its span, that no entry was read from, and that may be `about` a job or a study."""

    type: Literal["unread_line"] = "unread_line"
    about: Literal["job", "study"] = "job"


CareerRecord = Annotated[
    JobFacts
    | EducationFacts
    | ProjectFacts
    | ProjectDetail
    | TalkFacts
    | CertificationFacts
    | LanguageFacts
    | SkillsFacts
    | PersonFacts
    | SummaryFacts
    | UnreadLine,
    Field(discriminator="type"),
]


class SeveralFacts(_Record):
    """The records of a node with several entries, in order."""

    type: Literal["several"] = "several"
    records: tuple[CareerRecord, ...]


class JourneyFacts(_Record):
    """The position of a journey node: part k of n, its paragraphs from 1, its fiscal year."""

    type: Literal["journey"] = "journey"
    fiscal_year: int | None = None
    part: int
    parts: int
    first_paragraph: int
    last_paragraph: int


class RepositoryFacts(_Record):
    """A repository as described by its host; `project` and `details` are what its README states, on their nodes."""

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
    project: ProjectFacts | None = None
    details: tuple[ProjectDetail, ...] = ()


Facts = Annotated[
    JobFacts
    | EducationFacts
    | ProjectFacts
    | ProjectDetail
    | TalkFacts
    | CertificationFacts
    | LanguageFacts
    | SkillsFacts
    | PersonFacts
    | SummaryFacts
    | UnreadLine
    | SeveralFacts
    | JourneyFacts
    | RepositoryFacts,
    Field(discriminator="type"),
]


def repository_of(metadata: Mapping[str, Any]) -> RepositoryFacts | None:
    """The repository in a document's metadata, as its loader wrote it; None for other documents."""
    return RepositoryFacts(**metadata["repository"]) if "repository" in metadata else None


def records_of(facts: Facts | None) -> tuple[CareerRecord, ...]:
    """The career records of a node's facts, in order; empty for other facts."""
    match facts:
        case None | JourneyFacts():
            return ()
        case RepositoryFacts():
            return (*((facts.project,) if facts.project else ()), *facts.details)
        case SeveralFacts():
            return facts.records
        case _:
            return (facts,)
