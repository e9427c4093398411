"""The layouts of resumes: how a job reads, what the sections are called, where they stand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from corpus_maker.dates import Dates
from corpus_maker.page import Block, Page, bullets, heading, line, paragraph
from corpus_maker.pdf import Look
from corpus_maker.people import Job, Person, School

JobLines = Callable[[Job, str], list[Block]]

HEADINGS = {
    "summary": "Summary",
    "experience": "Experience",
    "education": "Education",
    "skills": "Skills",
    "projects": "Projects",
    "certifications": "Certifications",
    "languages": "Languages",
    "contact": "Contact",
    "awards": "Awards",
    "publications": "Publications",
    "interests": "Interests",
}
_JOINS = {"flat": ", ", "dots": " · ", "pipes": " | ", "marks": " • ", "semi": "; "}
_SERVED = (
    Job("Larkfield Rowing Club", "Treasurer", "Porto, Portugal", (2016, 4), (2019, 10), ()),
    Job("Friends of the Old Mill", "Committee Member", "Leeds, UK", (2014, 1), (2016, 3), ()),
)
ALL = ("summary", "experience", "education", "skills", "projects", "certifications", "languages")


@dataclass(frozen=True)
class Theme:
    """A layout: how it looks, how it writes dates and jobs, and which sections stand where.

    Attributes:
        side: Sections of a narrow column; empty = one column.
        left: Whether that column is the left one.
        located: Whether jobs state their location.
        school, skills, spoken: How degrees, skills and languages read.
        name_in: Where the name stands on a page with a narrow column: header, main or side.
        headed: Whether a headline stands under the name.
        commas: Whether companies and titles may hold a comma; not where commas part them.
        notes, details: Whether a sentence stands under a job, under a degree.
        tools: What stands before the tools of a job; empty = they are not listed.
        grouped: Whether positions at one company stand under it.
        served: What unpaid work is called that is laid out like the jobs; empty = there is none.
    """

    name: str
    look: Look
    dates: Dates
    job: JobLines
    language: str = "en"
    headings: Mapping[str, str] = field(default_factory=lambda: HEADINGS)
    main: tuple[str, ...] = ALL
    side: tuple[str, ...] = ()
    left: bool = True
    share: float = 0.32
    located: bool = True
    grouped: bool = False
    jobs: int = 4
    school: str = "institution first"
    skills: str = "groups"
    spoken: str = "{} ({})"
    notes: bool = False
    tools: str = ""
    details: bool = False
    headed: bool = True
    name_in: str = "header"
    commas: bool = True
    contact: str = " | "
    served: str = ""


def page_of(person: Person, theme: Theme) -> Page:
    """The person's page in this theme."""
    main = tuple(block for name in theme.main for block in _section(name, person, theme, narrow=False))
    header = [Block("name", person.name), line(person.headline)] if theme.headed else [Block("name", person.name)]
    if not theme.side:
        contact = theme.contact.join((person.city, person.phone, person.email, person.link))
        return Page((), ((*header, line(contact), *main),))
    side = tuple(block for name in theme.side for block in _section(name, person, theme, narrow=True))
    if theme.name_in == "side":
        side, header = (*header, *side), []
    elif theme.name_in == "main":
        main, header = (*header, *main), []
    columns = (side, main) if theme.left else (main, side)
    shares = (theme.share, 1 - theme.share) if theme.left else (1 - theme.share, theme.share)
    return Page(tuple(header), columns, shares)


def _section(name: str, person: Person, theme: Theme, *, narrow: bool) -> list[Block]:
    made: dict[str, Callable[[], list[Block]]] = {
        "summary": lambda: [paragraph(person.summary)],
        "experience": lambda: _experience(person, theme),
        "education": lambda: [block for each in person.schools for block in _school(each, theme, narrow=narrow)],
        "skills": lambda: _skills(person, theme, narrow=narrow),
        "projects": lambda: _projects(person, theme),
        "certifications": lambda: _certificates(person, narrow=narrow),
        "languages": lambda: [line(theme.spoken.format(*each)) for each in person.languages],
        "served": lambda: [block for job in _SERVED for block in theme.job(job, theme.dates.range(job.start, job.end))],
        "contact": lambda: [line(text) for text in (person.city, person.phone, person.email, person.link)],
        "awards": lambda: bullets(person.awards),
        "publications": lambda: [paragraph(text) for text in person.publications],
        "interests": lambda: [paragraph(text) for text in person.interests],
    }
    return [heading(theme.served if name == "served" else theme.headings[name]), *made[name]()]


def _experience(person: Person, theme: Theme) -> list[Block]:
    blocks: list[Block] = []
    for n, job in enumerate(person.jobs):
        dated = theme.dates.range(job.start, job.end)
        blocks += [Block("gap")] if n else []
        if theme.grouped and n < 3:
            blocks += [line(job.company, job.location, bold=True)] if n == 0 else []
            blocks.append(line(job.position, dated, italic=True))
        else:
            blocks += theme.job(job, dated)
        blocks += [paragraph(job.note)] if theme.notes and job.note else []
        blocks += bullets(job.bullets)
        blocks += [paragraph(theme.tools + ", ".join(job.tools))] if theme.tools else []
    return blocks


def _school(school: School, theme: Theme, *, narrow: bool) -> list[Block]:
    dated = theme.dates.range(school.start, school.end)
    detail = bullets([school.detail]) if theme.details and school.detail else []
    return [*_degree(school, "stacked" if narrow else theme.school, dated, theme), *detail]


def _degree(school: School, manner: str, dated: str, theme: Theme) -> list[Block]:
    studied = f"{school.degree}, {school.area}"
    match manner:
        case "stacked":
            return [line(studied, bold=True), line(school.institution), line(dated), Block("gap")]
        case "hint":
            return [line(f"{school.degree} in {school.area}, {school.institution}", hint=dated)]
        case "graded":
            return [
                line(school.institution, dated, bold=True),
                line(f"{school.degree} in {school.area}; GPA: 3.71/4.00"),
            ]
        case "minor":
            major = line(f"{school.degree} in {school.area}", dated, italic=True)
            return [line(school.institution, school.location, bold=True), major]
        case "bullet":
            return [Block("bullet", school.institution, school.location), line(studied, dated, italic=True)]
        case "pipe":
            return [line(f"{school.degree} {school.area} | {school.institution} | {dated}")]
        case "degree first":
            return [line(studied, dated, bold=True), line(school.institution)]
        case "one line":
            return [line(f"{school.institution} – {school.degree} in {school.area} ({dated})")]
        case "end only":
            end = theme.dates.month(school.end)
            return [line(f"{school.degree} in {school.area}", end, bold=True), line(school.institution)]
        case "hint stacked":
            return [line(studied, hint=dated, bold=True), line(school.institution, hint=" ")]
        case _:
            return [line(school.institution, dated, bold=True), line(studied, italic=True)]


def _skills(person: Person, theme: Theme, *, narrow: bool) -> list[Block]:
    flat = person.flat_skills
    match "bullets" if narrow and theme.share < 0.4 else theme.skills:
        case "bullets":
            return bullets(flat)
        case "lines":
            return [line(skill) for skill in flat]
        case "grouped bullets":
            return bullets([f"{group}: {', '.join(skills)}" for group, skills in person.skills])
        case "hint":
            return [line(", ".join(skills), hint=group) for group, skills in person.skills]
        case "cells":
            return [Block("cells", cells=flat[at : at + 4]) for at in range(0, len(flat), 4)]
        case "headed cells":
            return [
                block
                for group, skills in person.skills
                for block in (line(group, bold=True), Block("cells", cells=tuple(skills)), Block("gap"))
            ]
        case "headed":
            return [
                b for group, skills in person.skills for b in (line(group, bold=True), paragraph(", ".join(skills)))
            ]
        case "groups":
            return [line(f"{group}: {', '.join(skills)}") for group, skills in person.skills]
        case join:
            return [paragraph(_JOINS[join].join(flat))]


def _projects(person: Person, theme: Theme) -> list[Block]:
    blocks: list[Block] = []
    for project in person.projects:
        year = str(project.start[0])
        titled = line(project.name, hint=year, bold=True) if theme.look.indent else line(project.name, year, bold=True)
        blocks += [titled, *bullets([project.summary])]
    return blocks


def _certificates(person: Person, *, narrow: bool) -> list[Block]:
    if narrow:
        return [line(f"{each.name}, {each.issuer}") for each in person.certificates]
    return [line(f"{each.name}, {each.issuer}", str(each.date[0])) for each in person.certificates]
