"""Resumes of random structure: titles, columns, blocks, dates and entries stand where a seed puts them.

Themes list what somebody thought of; here every choice of a page is drawn by itself, so that their combinations are
those that nobody thought of. The seeds of the judged half are others than those of the half that is looked at.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape as _escape
from pathlib import Path
from random import Random
from typing import Any

from reportlab.lib.colors import HexColor, black
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    HRFlowable,
    Indenter,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

from corpus_maker.dates import DATES, HELDOUT_DATES, Dates
from corpus_maker.pdf import FONTS, SIZES, register, shown_heading
from corpus_maker.people import Job, Person, School, invent
from corpus_maker.truth import Truth, truth_of, write_truth

_ENGLISH = ("short", "long", "to current", "numbers", "years", "years hyphen")
_ENGLISH_HELDOUT = ("iso", "apostrophe", "dots", "comma", "from to", "caps", "years slash")
_TITLES = {
    "summary": ("Summary", "Profile", "About", "About me"),
    "experience": ("Experience", "Work Experience", "Employment History", "Work", "Professional Experience"),
    "education": ("Education", "Education and Training", "Academic Background"),
    "skills": ("Skills", "Technical Skills", "Core Competencies", "Expertise"),
    "languages": ("Languages", "Language Skills"),
    "certifications": ("Certifications", "Certificates"),
    "projects": ("Projects", "Selected Projects"),
    "interests": ("Interests", "Hobbies"),
}
_OWN_TITLES = ("Where I have worked", "What I did so far", "The road to here")
_LABELS = ("Highlights", "Key achievements:", "Responsibilities:")
_BANNERS = ("Curriculum Vitae", "RESUME", "CV")
_BREAKS = ("Parental Leave", "Sabbatical", "Career Break")
_GUTTER, _WIDE = 8 * mm, 90 * mm
_BESIDE = 3  # paragraphs in the row of a title at the left
_INTERESTS = "Rowing, old maps, choir, baking bread"
escape = partial(_escape, quote=False)
_UNPADDED = [(f"{side}PADDING", (0, 0), (-1, -1), 0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")]
_TOP = [("VALIGN", (0, 0), (-1, -1), "TOP"), *_UNPADDED]


@dataclass(frozen=True)
class Structure:
    """What a page of a seed looks like; each attribute is one choice, by the names that `drawn` gives."""

    font: str
    size: float
    paper: str
    dates: Dates
    titled: str
    arranged: str
    heading: tuple[float, bool, bool, bool, bool]  # times the size, bold, capitals, spaced, with a rule
    dated: str
    entry: str
    marks: str
    skills: str
    spoken: str
    header: str
    school: str
    order: tuple[str, ...]
    located: bool
    label: str
    own_title: str
    grouped: bool
    rest: str
    footer: bool
    titles: dict[str, str]


def drawn(random: Random, *, heldout: bool) -> Structure:
    """The structure of a seed."""
    pick = random.choice
    known, names = (HELDOUT_DATES, _ENGLISH_HELDOUT) if heldout else (DATES, _ENGLISH)
    main = ["experience", "education", "skills"]
    random.shuffle(main)
    more = random.sample(("languages", "certifications", "projects", "interests"), random.randrange(1, 4))
    return Structure(
        font=pick(("helvetica", "times", "vera")),
        size=pick((9, 9.5, 10, 10.5)),
        paper=pick(("a4", "letter")),
        dates=known[pick(names)],
        titled=pick(("above", "above", "centred", "gutter", "gutter right")),
        arranged=pick(("single", "single", "pairs", "pairs in rows", "side left", "side right", "halves")),
        heading=(pick((1.0, 1.15, 1.3, 1.6)), pick((True, True, False)), pick((True, False)), random.random() < 0.1,
                 pick((True, False))),
        dated=pick(("right", "right", "left", "below", "above", "inline", "years", "narrow")),
        entry=pick(("position|company", "company|position", "position, company", "company, position",
                    "position at company", "position|company, place", "company, place|position",
                    "company/place|position", "dash", "bulleted")),
        marks=pick(("•", "•", "-", "–", "drawn", "none")),
        skills=pick(("groups", "groups", "column", "headed", "headed large", "flat", "bullets", "grid", "bold")),
        spoken=pick(("brackets", "dash", "column", "row of skills", "below")),
        header=pick(("left", "centred", "right", "contact right", "stacked", "banner", "headline large", "capitals",
                     "spaced")),
        school=pick(("school|degree", "degree|school", "degree, school", "school, degree", "lines")),
        order=("summary", *main, *more) if random.random() < 0.7 else (*main, *more),
        located=pick((True, True, False)),
        label=pick(("", "", "", *_LABELS)),
        own_title=pick(_OWN_TITLES) if random.random() < 0.15 else "",
        grouped=random.random() < 0.15,
        rest=pick(_BREAKS) if random.random() < 0.15 else "",
        footer=random.random() < 0.25,
        titles={key: pick(titles) for key, titles in _TITLES.items()},
    )  # fmt: skip


def write_structures(folder: Path, count: int, *, heldout: bool) -> None:
    """So many resumes of random structure with their truth."""
    folder.mkdir(parents=True, exist_ok=True)
    half = "heldout" if heldout else "dev"
    for number in range(count):
        random = Random(f"{half} structure {number}")
        structure = drawn(random, heldout=heldout)
        if structure.arranged.startswith("side") or structure.arranged == "halves":
            structure = replace(
                structure, titled="above", dated="below" if structure.dated == "left" else structure.dated
            )
        seed, group = f"{half} structure {number}", 0 if structure.grouped else None
        person = invent(seed, heldout=heldout, jobs=random.randrange(2, 6) + 2 * structure.grouped, group=group,
                        commas=False)  # fmt: skip
        person = replace(
            person, schools=tuple(replace(each, degree=each.degree.replace(",", "")) for each in person.schools)
        )
        stem = folder / f"structure-{number:03}"
        _write(stem.with_suffix(".pdf"), person, structure)
        write_truth(stem.with_suffix(".json"), _truth(person, structure))


def _truth(person: Person, of: Structure) -> Truth:
    dates = replace(of.dates, yearly=True) if of.dated == "years" else of.dates
    located = of.located or "place" in of.entry
    return truth_of(
        person, dates, "resume", f"structure {of.arranged}", "en",
        {*of.order, *(("languages",) if of.spoken == "row of skills" else ())}, located=located, described=False,
    )  # fmt: skip


def _write(path: Path, person: Person, of: Structure) -> None:
    register(of.font)
    width, height = SIZES[of.paper]
    margin = 16 * mm
    usable = width - 2 * margin
    page = _Drawing(of, person)

    def decorate(canvas: Any, document: Any) -> None:
        if of.footer:
            canvas.setFont(FONTS[of.font][0], 8)
            canvas.drawCentredString(width / 2, 9 * mm, f"{person.name} · {person.email} · {canvas.getPageNumber()}")

    document = BaseDocTemplate(str(path), pagesize=(width, height), title="resume", invariant=1)
    head = page.header(usable)
    tall = sum(each.wrap(usable, 1000)[1] + each.getSpaceBefore() + each.getSpaceAfter() for each in head) + 5 * mm

    def frame(x: float, share: float, top: float) -> Frame:
        return Frame(x, margin, share, top - margin, 0, 0, 0, 0)

    top = height - margin
    frames = [Frame(margin, top - tall, usable, tall, 0, 0, 0, 0)]
    parts = _columns(of)
    if len(parts) == 1:
        frames.append(frame(margin, usable, top - tall))
        columns = [(parts[0], usable)]
        later = [frame(margin, usable, top)]
    else:
        narrow = usable * (0.5 if of.arranged == "halves" else 0.34) - _GUTTER / 2
        wide = usable - narrow - _GUTTER
        left, right = (
            (margin + wide + _GUTTER, margin) if of.arranged == "side right" else (margin, margin + narrow + _GUTTER)
        )
        frames += [frame(left, narrow, top - tall), frame(right, wide, top - tall)]
        columns = list(zip(parts, (narrow, wide), strict=True))
        later = [frame(right, wide, top)]
    document.addPageTemplates(
        [PageTemplate("first", frames, onPage=decorate), PageTemplate("later", later, onPage=decorate)]
    )
    story: list[Flowable] = [NextPageTemplate("later"), *head, FrameBreak()]
    for number, (sections, share) in enumerate(columns):
        story += [FrameBreak()] * (number > 0) + list(page.sections(sections, share))
    document.build(story)


def _columns(of: Structure) -> list[tuple[str, ...]]:
    """The sections of each column, the narrow one first: only the other goes on to a second page."""
    if not of.arranged.startswith(("side", "halves")):
        return [of.order]
    narrow = tuple(name for name in of.order if name not in ("summary", "experience", "projects", "education"))
    wide = tuple(name for name in of.order if name not in narrow)
    return [narrow, wide]


class _Drawing:
    """The flowables of a person's page."""

    def __init__(self, of: Structure, person: Person) -> None:
        self.of, self.person = of, person

    def words(self, text: str, *, size: float = 0, align: int = 0, ink: Any = black, above: float = 0) -> Paragraph:
        """A paragraph of reportlab's markup."""
        size = size or self.of.size
        style = ParagraphStyle(
            "p", fontName=FONTS[self.of.font][0], fontSize=size, leading=size * 1.28, alignment=align, textColor=ink,
            spaceBefore=above,
        )  # fmt: skip
        return Paragraph(text, style)

    @property
    def aside(self) -> float:
        """The width of the column of dates at the left."""
        return {"left": 38 * mm, "years": 14 * mm}.get(self.of.dated, 0.0)

    def header(self, width: float) -> list[Flowable]:
        """The name, the headline and the addresses."""
        of, person = self.of, self.person
        align = {"centred": 1, "right": 2}.get(of.header, 0)
        name, headline = escape(person.name), escape(person.headline)
        if of.header == "capitals":
            name = escape(person.name.upper())
        if of.header == "spaced":
            name = "&nbsp; ".join(" ".join(word) for word in person.name.upper().split())
        big = self.words(f"<b>{name}</b>", size=of.size * 2, align=align)
        below = self.words(headline, size=of.size * (2 if of.header == "headline large" else 1.2), align=align)
        contact = [person.city, person.phone, person.email, person.link]
        line = self.words(" | ".join(contact), align=align)
        if of.header == "contact right":
            right = [self.words(each, align=2) for each in contact]
            return [Table([[[big, below], right]], colWidths=[width * 0.6, width * 0.4], style=_TOP)]
        if of.header == "stacked":
            return [big, below, *(self.words(each) for each in contact)]
        banner = [self.words(f"<b>{_BANNERS[len(person.name) % 3]}</b>", size=of.size * 1.6, align=align)]
        return [*banner * (of.header == "banner"), big, below, line]

    def sections(self, names: Sequence[str], width: float) -> Iterator[Flowable]:
        """The sections in order; the last two short ones may stand side by side."""
        of = self.of
        short = [name for name in names if name in ("skills", "languages", "interests", "certifications", "education")]
        pair = short[-2:] if of.arranged.startswith("pairs") and len(short) > 1 else []
        for name in names:
            if name not in pair:
                yield from self.titled(name, width)
        if pair:
            half = width / 2 - 8 * mm
            sides = [[*self.titled(name, half, above=True)] for name in pair]
            style = [*_TOP, ("RIGHTPADDING", (0, 0), (0, -1), 8 * mm)]
            space = {"colWidths": [width / 2, width / 2], "style": style}
            yield Spacer(1, of.size)
            if of.arranged == "pairs":
                yield Table([sides], **space)
            else:
                rows = max(map(len, sides))
                filled = [[*side, *[""] * (rows - len(side))] for side in sides]
                yield Table([list(row) for row in zip(*filled, strict=True)], **space)

    def titled(self, name: str, width: float, *, above: bool = False) -> Iterator[Flowable]:
        """A section with its title above it or at its left."""
        of = self.of
        scale, bold, capitals, spaced, rule = of.heading
        title = of.own_title if name == "experience" and of.own_title else of.titles[name]
        title = title.upper() if capitals else title
        spaced = spaced and not of.titled.startswith("gutter")
        text = escape(shown_heading(title, spaced=spaced)).replace("  ", "&nbsp; ")
        text = f"<b>{text}</b>" if bold or (scale < 1.1 and not capitals) else text
        align = {"centred": 1, "gutter right": 2}.get(of.titled, 0)
        gutter = 0.0 if above or not of.titled.startswith("gutter") else 36 * mm
        size = of.size * scale
        if gutter:
            widest = max(
                pdfmetrics.stringWidth(word, FONTS[of.font][1], 1)
                for each in of.titles.values()
                for word in each.upper().split()
            )
            size = min(size, (gutter - 14) / widest)
        heading = self.words(text, size=size, align=0 if above else align, ink=HexColor("#1f5673"), above=of.size)
        made = list(self.content(name, width - gutter))
        if gutter:
            yield Spacer(1, of.size)
            rows = [made[:_BESIDE], *([each] for each in made[_BESIDE:])]
            for number, row in enumerate(rows):
                cells = [heading if number == 0 else "", row]
                style = [*_TOP, ("RIGHTPADDING", (0, 0), (0, 0), 12)]
                yield Table([cells], colWidths=[gutter, width - gutter], style=style)
            return
        heading.keepWithNext = 1
        yield heading
        if rule:
            yield HRFlowable(width="100%", thickness=0.6, color=HexColor("#1f5673"), spaceBefore=1, spaceAfter=3)
        yield from made

    def content(self, name: str, width: float) -> Iterator[Flowable]:
        """What stands below a section's title."""
        person = self.person
        made: dict[str, Callable[[float], Iterator[Flowable]]] = {
            "experience": self.jobs,
            "education": self.schools,
            "skills": self.skills,
            "languages": self.languages,
        }
        if name in made:
            yield from made[name](width)
        elif name == "summary":
            yield self.words(escape(person.summary))
        elif name == "interests":
            yield self.words(_INTERESTS)
        elif name == "certifications":
            yield from (self.words(f"{escape(each.name)}, {escape(each.issuer)}") for each in person.certificates)
        else:
            for project in person.projects:
                yield from self.row(width, [f"<b>{escape(project.name)}</b>"], str(project.start[0]))
                yield from self.items([project.summary])

    def row(self, width: float, lines: Sequence[str], dated: str) -> Iterator[Flowable]:
        """The lines that name an entry, with its dates where they stand."""
        of = self.of
        first, *others = lines
        if of.dated in ("right", "narrow"):
            taken = 24 * mm if of.dated == "narrow" else pdfmetrics.stringWidth(dated, FONTS[of.font][1], of.size) + 4
            yield Table([[self.words(first), self.words(dated, align=2)]], colWidths=[width - taken, taken], style=_TOP)
            yield from map(self.words, others)
        elif of.dated in ("left", "years"):
            taken = self.aside
            cell = [self.words(each) for each in lines]
            yield Table([[self.words(dated), cell]], colWidths=[taken, width - taken], style=_TOP)
        elif of.dated == "inline":
            yield self.words(f"{first} ({dated})")
            yield from map(self.words, others)
        elif of.dated == "above":
            yield from map(self.words, (dated, *lines))
        else:
            yield from map(self.words, (*lines, f"<i>{dated}</i>"))

    def range(self, start: Any, end: Any) -> str:
        """The dates of an entry; of years above each other a break stands between."""
        of = self.of
        if of.dated != "years":
            return of.dates.range(start, end)
        last = of.dates.present.capitalize() if end is None else str(end[0])
        return str(start[0]) if last == str(start[0]) else f"{start[0]}<br/>{last}"

    def jobs(self, width: float) -> Iterator[Flowable]:
        """The jobs in order; a time of leave is no job."""
        of, jobs = self.of, self.person.jobs
        for number, job in enumerate(jobs):
            yield Spacer(1, of.size * 0.6 * bool(number))
            if of.rest and number == 1:
                yield from self.row(
                    width, [f"<b>{of.rest}</b>"], self.range((job.end or job.start), (job.end or job.start))
                )
                yield Spacer(1, of.size * 0.6)
            dated = self.range(job.start, job.end)
            if of.grouped and number < 3:
                place = f", {escape(job.location)}" if of.located else ""
                yield from [self.words(f"<b>{escape(job.company)}</b>{place}")] * (number == 0)
                yield from self.row(width, [f"<i>{escape(job.position)}</i>"], dated)
            else:
                yield from self.job(width, job, dated)
            if of.label and of.entry != "bulleted":
                yield Indenter(self.aside)
                yield self.words(of.label)
                yield Indenter(-self.aside)
            if of.entry != "bulleted":
                yield from self.items(job.bullets)

    def job(self, width: float, job: Job, dated: str) -> Iterator[Flowable]:
        """The lines of a job."""
        of = self.of
        company, position, place = (escape(each) for each in (job.company, job.position, job.location))
        tail = f", {place}" if of.located else ""
        lines = {
            "position|company": [f"<b>{position}</b>", f"{company}{tail}"],
            "company|position": [f"<b>{company}</b>{tail}", f"<i>{position}</i>"],
            "position, company": [f"<b>{position}</b>, {company}{tail}"],
            "company, position": [f"<b>{company}</b>, <i>{position}</i>{tail}"],
            "position at company": [f"<b>{position}</b> at {company}{tail}"],
            "position|company, place": [f"<b>{position}</b>", f"<i>{company}</i>, {place}"],
            "company, place|position": [f"<b>{company}</b>, {place}", position],
            "company/place|position": [f"<b>{company}</b>", f"<b>{place}</b>", position],
            "dash": [f"<b>{position}</b> – <i>{company}</i>{tail}"],
            "bulleted": [f"• <b>{position}</b>, {company}{tail}. " + " ".join(f"{escape(b)}." for b in job.bullets)],
        }[of.entry]
        yield from self.row(width, lines, dated)

    def items(self, texts: Sequence[str]) -> Iterator[Flowable]:
        """A list below an entry."""
        of = self.of
        aside = self.aside
        for text in texts:
            style = ParagraphStyle("b", fontName=FONTS[of.font][0], fontSize=of.size, leading=of.size * 1.28,
                                   leftIndent=aside + 11, bulletIndent=aside + 2)  # fmt: skip
            mark = of.marks if of.marks not in ("drawn", "none") else None
            item = Paragraph(escape(text), style, bulletText=mark)
            yield _Dotted(item, aside + 4, of.size) if of.marks == "drawn" else item

    def schools(self, width: float) -> Iterator[Flowable]:
        """The degrees in order."""
        for number, school in enumerate(self.person.schools):
            yield Spacer(1, self.of.size * 0.4 * bool(number))
            yield from self.row(width, self.degree(school), self.range(school.start, school.end))

    def degree(self, school: School) -> list[str]:
        """The lines of a degree."""
        name, studied = escape(school.institution), f"{escape(school.degree)} in {escape(school.area)}"
        return {
            "school|degree": [f"<b>{name}</b>", studied],
            "degree|school": [f"<b>{studied}</b>", name],
            "degree, school": [f"<b>{studied}</b>, {name}"],
            "school, degree": [f"<b>{name}</b>, {studied}"],
            "lines": [f"<b>{name}</b>", escape(school.degree), escape(school.area)],
        }[self.of.school]

    def skills(self, width: float) -> Iterator[Flowable]:
        """The skills, and perhaps a row of spoken languages."""
        of, groups = self.of, [(escape(group), [*map(escape, skills)]) for group, skills in self.person.skills]
        spoken = [name for name, _ in self.person.languages]
        extra = [("Spoken Languages", spoken)] if of.spoken == "row of skills" else []
        if of.skills in ("flat", "bullets", "grid"):
            flat = [skill for _, skills in groups for skill in skills]
            if of.skills == "flat":
                yield self.words(", ".join(flat))
            elif of.skills == "bullets":
                yield from self.items(flat)
            else:
                count = 3 if width > _WIDE else 2
                rows = [flat[at : at + count] for at in range(0, len(flat), count)]
                cells = [[*map(self.words, row), *[""] * (count - len(row))] for row in rows]
                yield Table(cells, colWidths=[width / count] * count, style=_TOP)
            yield from (self.words(f"{group}: {', '.join(skills)}") for group, skills in extra)
            return
        for group, skills in [*groups, *extra]:
            if of.skills == "column":
                cells = [self.words(group), self.words(", ".join(skills))]
                yield Table([cells], colWidths=[width * 0.35, width * 0.65], style=_TOP)
            elif of.skills.startswith("headed"):
                yield self.words(f"<b>{group}</b>", size=of.size * (1.15 if of.skills == "headed large" else 1))
                yield self.words(", ".join(skills))
            elif of.skills == "bold":
                yield self.words(f"<b>{group}</b> {', '.join(skills)}")
            else:
                yield self.words(f"{group}: {', '.join(skills)}")

    def languages(self, width: float) -> Iterator[Flowable]:
        """The languages with their levels."""
        for name, level in self.person.languages:
            if self.of.spoken == "column":
                cells = [self.words(name), self.words(level)]
                yield Table([cells], colWidths=[width * 0.35, width * 0.65], style=_TOP)
            elif self.of.spoken == "below":
                yield from (self.words(f"<b>{name}</b>"), self.words(level))
            else:
                yield self.words(f"{name} – {level}" if self.of.spoken == "dash" else f"{name} ({level})")


class _Dotted(Flowable):  # type: ignore[misc]
    """A list item whose mark is a drawing, not a letter."""

    def __init__(self, item: Paragraph, x: float, size: float) -> None:
        super().__init__()
        self.item, self.x, self.dot = item, x, size

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width, self.height = self.item.wrap(width, height)
        return self.width, self.height

    def split(self, width: float, height: float) -> list[Flowable]:
        return []

    def draw(self) -> None:
        self.canv.circle(self.x, self.height - 0.75 * self.dot, 1.5, stroke=0, fill=1)
        self.item.drawOn(self.canv, 0, 0)
