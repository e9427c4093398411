"""The headings of a resume: lines with a section's name, and lines set as those are."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pipelines.ingestion.parsers.career.dates import date_ranges
from pipelines.ingestion.parsers.career.job_words import company_score, degree_score, has_title, institution_score
from pipelines.ingestion.parsers.career.languages import spoken_in
from pipelines.ingestion.parsers.career.section_names import MAX_HEADING, MODIFIER_WORDS, section_of
from pipelines.ingestion.parsers.resume.lines import Line, unspaced
from pipelines.ingestion.structure import title_of
from pipelines.text import fold

ENTRY_SECTIONS = frozenset({"experience", "education", "projects", "volunteering", "certifications", "publications"})

# Names that also stand inside a job or over a group of skills: they open a section only when set like the others.
WEAK = frozenset(
    """
    achievements accomplishments technologies tools technology tech stack software highlights objectives training
    projects project leadership service work details links courses coursework languages frameworks databases libraries
    platforms programming results keyachievements techstack relevantcoursework programminglanguages info thesis
    activities recognition strengths responsibilities toolbox softskills hardskills itskills technologien werkzeuge
    programmiersprachen outils langages logiciels herramientas tecnologias ferramentas strumenti erfolge projekte
    projekt kurse schwerpunkte realisations projets logros proyectos cursos premi corsi progetti publications awards
    honors roles positions career community stages stage distinctions
    """.split()
)

_BREAK = 3
_NOT_WORD = re.compile(r"[\W_]+")


class Opened(NamedTuple):
    """A section: its canonical name, "" for one that is not known, and its title."""

    section: str
    title: str


PERSON = Opened("contact", "")


class _Style(NamedTuple):
    heading: bool
    level: int
    capitals: bool
    colon: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Headings:
    """The lines of a resume, asked for the section that each one opens."""

    text: str
    lines: Sequence[Line]

    def opened(self, number: int, now: Opened) -> Opened | None:
        """The section that the line opens while `now` is read; None for all other lines."""
        line, name = self.lines[number], self._names[number]
        if name:
            return Opened(name, self._title(line)) if self._opens(number, name, now) else None
        if line.kind != "heading" or self._style is None or not self._style.heading:
            return None
        if self._is_entry(number, now):
            return None
        if line.level < self._style.level:
            return PERSON if now != PERSON else None
        if _style(self.text, line) != self._style or (now == PERSON and number <= self._first_heading):
            return None
        return Opened("", self._title(line))

    def _title(self, line: Line) -> str:
        words = unspaced(self.text[line.body : line.end])
        title = words if words != self.text[line.body : line.end] else title_of(self.text, line.start, line.end)
        return title.rstrip(":：").rstrip()

    def _opens(self, number: int, name: str, now: Opened) -> bool:
        """Whether a line with a section's name opens that section, and does not name a part of another one."""
        line, style = self.lines[number], self._style
        if style is None or _style(self.text, line) == style:
            return True
        if line.kind == "heading" and (not style.heading or line.level <= style.level):
            return True
        if _is_weak(self.text, line) and not (name == "languages" and self._speaks(number)):
            return False
        return now == PERSON or name != now.section

    @cached_property
    def _names(self) -> list[str]:
        return [_name(self.text, line) for line in self.lines]

    @cached_property
    def _style(self) -> _Style | None:
        """How most headings of known sections are set."""
        named = [line for line, name in zip(self.lines, self._names, strict=True) if name]
        strong = [line for line in named if not _is_weak(self.text, line)] or named[:1]
        found = Counter(_style(self.text, line) for line in strong)
        return max(found, key=lambda style: (found[style], style.heading), default=None)

    @cached_property
    def _first_heading(self) -> int:
        return next((number for number, line in enumerate(self.lines) if line.kind == "heading"), len(self.lines))

    def _speaks(self, number: int) -> bool:
        """Whether the lines below name languages that people speak."""
        return any(spoken_in(self.text[line.start : line.end]) for line in self.lines[number + 1 : number + 3])

    def _is_entry(self, number: int, now: Opened) -> bool:
        """Whether a heading inside a section names an entry of it: a job, a school, a project with dates below."""
        words = self.text[self.lines[number].body : self.lines[number].end]
        if now.section not in ENTRY_SECTIONS:
            return False
        if has_title(words) or company_score(words) > 1 or degree_score(words) or institution_score(words):
            return True
        if date_ranges(words):
            return True
        for below in range(number + 1, min(number + 4, len(self.lines))):
            if self.lines[below].kind == "bullet" or self._names[below]:
                break
            if date_ranges(self.text[self.lines[below].start : self.lines[below].end]):
                return True
        return now.section in ("projects", "publications")


def _name(text: str, line: Line) -> str:
    """The known section that the line names, if it does nothing else."""
    if line.kind in ("bullet", "more") or line.end - line.start > MAX_HEADING:
        return ""
    return section_of(text[line.body : line.end])


def _style(text: str, line: Line) -> _Style:
    words = text[line.body : line.end]
    if line.kind == "heading":
        return _Style(True, line.level, words.isupper())
    before = text[max(0, line.start - _BREAK) : line.start]
    apart = line.start < _BREAK or "\n\n" in before
    return _Style(False, line.level, words.isupper(), words.endswith((":", "：")), apart)


def _is_weak(text: str, line: Line) -> bool:
    found = [word for word in _NOT_WORD.split(fold(text[line.body : line.end])) if word]
    return "".join(found) in WEAK or "".join(word for word in found if word not in MODIFIER_WORDS) in WEAK
