"""LinkedIn-style exports: the current layout with a dark contact column, and the old one in one column."""

from dataclasses import dataclass, replace

from corpus_maker.dates import Dates, named
from corpus_maker.page import Block, Page, bullets, heading, line, paragraph
from corpus_maker.pdf import Look
from corpus_maker.people import Job, Month, Person, School

TODAY: Month = (2025, 6)


@dataclass(frozen=True)
class Words:
    """The words of an export in one language; `footer` takes {n} and {total}, `at` stands before a company."""

    contact: str
    skills: str
    languages: str
    certifications: str
    summary: str
    experience: str
    education: str
    present: str
    year: tuple[str, str]
    month: tuple[str, str]
    footer: str
    at: str
    of: str = " "
    old_skills: str = ""
    honors: str = ""
    links: str = "(LinkedIn)"


WORDS = {
    "en": Words(
        "Contact",
        "Top Skills",
        "Languages",
        "Certifications",
        "Summary",
        "Experience",
        "Education",
        "Present",
        ("year", "years"),
        ("month", "months"),
        "Page {n} of {total}",
        "at",
        old_skills="Skills & Expertise",
    ),
    "de": Words(
        "Kontakt",
        "Top-Kenntnisse",
        "Sprachen",
        "Zertifizierungen",
        "Zusammenfassung",
        "Berufserfahrung",
        "Ausbildung",
        "Heute",
        ("Jahr", "Jahre"),
        ("Monat", "Monate"),
        "Seite {n} von {total}",
        "bei",
        old_skills="Kenntnisse und Fähigkeiten",
    ),
    "fr": Words(
        "Coordonnées",
        "Principales compétences",
        "Langues",
        "Certifications",
        "Résumé",
        "Expérience",
        "Formation",
        "Présent",
        ("an", "ans"),
        ("mois", "mois"),
        "Page {n} sur {total}",
        "chez",
        old_skills="Compétences et expertise",
    ),
    "es": Words(
        "Contactar",
        "Aptitudes principales",
        "Idiomas",
        "Certificaciones",
        "Extracto",
        "Experiencia",
        "Educación",
        "Actualidad",
        ("año", "años"),
        ("mes", "meses"),
        "Página {n} de {total}",
        "en",
        " de ",
        old_skills="Aptitudes y conocimientos",
    ),
    "pt": Words(
        "Contato",
        "Principais competências",
        "Idiomas",
        "Certificações",
        "Resumo",
        "Experiência",
        "Formação acadêmica",
        "Presente",
        ("ano", "anos"),
        ("mês", "meses"),
        "Página {n} de {total}",
        "na",
        " de ",
        old_skills="Competências e especialidades",
    ),
    "it": Words(
        "Contatti",
        "Competenze principali",
        "Lingue",
        "Certificazioni",
        "Riepilogo",
        "Esperienza",
        "Formazione",
        "Presente",
        ("anno", "anni"),
        ("mese", "mesi"),
        "Pagina {n} di {total}",
        "presso",
        old_skills="Competenze ed esperienza",
    ),
}
LOOK = Look(size=10, paper="letter", rule=False, dark=True, margin=14, heading_size=13, accent="#000000")
OLD_LOOK = Look("times", 10.5, "letter", rule=False, margin=22, heading_size=13, accent="#333333")


def dates_of(language: str, words: Words) -> Dates:
    """How an export in that language writes a range, without its duration."""
    return Dates(named(language, words.of), " - ", words.present)


def duration(start: Month, end: Month | None, words: Words) -> str:
    """Both months counted, as LinkedIn counts: "2 years 3 months"."""
    last = end or TODAY
    months = (last[0] - start[0]) * 12 + last[1] - start[1] + 1
    years, rest = divmod(months, 12)
    parts = [f"{years} {words.year[years > 1]}"] if years else []
    return " ".join([*parts, f"{rest} {words.month[rest > 1]}"] if rest else parts)


HELDOUT_WORDS = {
    "en": replace(WORDS["en"], honors="Honors-Awards", old_skills="Skills"),
    "de": replace(WORDS["de"], languages="Languages", certifications="Certifications", present="Present"),
    "fr": replace(
        WORDS["fr"], contact="Contact", languages="Languages", present="aujourd\u2019hui", footer="Page {n} of {total}"
    ),
    "es": replace(
        WORDS["es"],
        contact="Contacto",
        skills="Principales aptitudes",
        certifications="Certifications",
        present="Presente",
        footer="Página {n} de {total}",
    ),
    "pt": replace(
        WORDS["pt"],
        contact="Contactar",
        education="Formação académica",
        present="o momento",
        languages="Languages",
        at="em",
    ),
    "it": replace(WORDS["it"], summary="Sommario", present="Present", certifications="Certifications"),
}


def current_page(person: Person, language: str, words: Words, *, group: int | None, marked: bool) -> Page:
    """The two-column layout: contact, skills, languages and certificates at the left; `marked` = jobs with list items.

    The job number `group` and the two after it stand under one company.
    """
    side = [
        heading(words.contact),
        line(person.email),
        line(person.link),
        line(words.links),
        heading(words.skills),
        *(line(skill) for skill in person.flat_skills[:3]),
        heading(words.languages),
        *(line(f"{spoken} ({level})") for spoken, level in person.languages),
        heading(words.certifications),
        *(line(each.name) for each in person.certificates),
    ]
    if words.honors:
        side += [heading(words.honors), *(line(text) for text in person.awards)]
    main = [
        Block("name", person.name),
        line(person.headline),
        line(person.city),
        heading(words.summary),
        paragraph(person.summary),
        heading(words.experience),
        *_jobs(person, language, words, group=group, marked=marked),
        heading(words.education),
        *(block for school in person.schools for block in _school(school, words, language)),
    ]
    return Page((), (tuple(side), tuple(main)), (0.32, 0.68))


def _jobs(person: Person, language: str, words: Words, *, group: int | None, marked: bool) -> list[Block]:
    dates, blocks = dates_of(language, words), list[Block]()
    for n, job in enumerate(person.jobs):
        dated = f"{dates.range(job.start, job.end)} ({duration(job.start, job.end, words)})"
        if group is None or not group < n < group + 3:
            blocks.append(line(job.company, size=12))
        if n == group:
            blocks.append(line(duration(person.jobs[n + 2].start, job.end, words)))
        blocks += [line(job.position, size=11.5), line(dated), *([line(job.location)] if job.location else [])]
        blocks += [*_description(job, marked), Block("gap")]
    return blocks


def _description(job: Job, marked: bool) -> list[Block]:
    if marked:
        return [*([paragraph(job.note)] if job.note else []), *bullets(job.bullets)]
    return [paragraph(text + ".") for text in job.bullets]


def _school(school: School, words: Words, language: str) -> list[Block]:
    if not school.start or not school.end:
        return [line(school.institution, size=12), Block("gap")]
    dated = f"{school.start[0]} - {school.end[0]}"
    if school.end[0] % 2:
        dated = dates_of(language, words).range(school.start, school.end)
    return [line(school.institution, size=12), line(f"{school.degree}, {school.area} · ({dated})"), Block("gap")]


def long_profile(person: Person) -> Person:
    """The person with what long profiles have: a headline over two lines, a job without a place, one without a text,
    a school without a degree."""
    jobs = list(person.jobs)
    jobs[2], jobs[4] = replace(jobs[2], location=""), replace(jobs[4], bullets=(), note="")
    school = replace(person.schools[1], degree="", area="", start=None, end=None)
    headline = " | ".join([person.headline, *person.flat_skills[:4], "Open to a good conversation"])
    return replace(person, jobs=tuple(jobs), schools=(person.schools[0], school), headline=headline)


def old_page(person: Person, language: str, words: Words, *, marked: bool) -> Page:
    """The old layout in one column: "Position at Company", dates below, no contact column."""
    dates, blocks = dates_of(language, words), list[Block]()
    blocks += [Block("name", person.name), line(person.headline), line(person.email)]
    blocks += [heading(words.summary), paragraph(person.summary), heading(words.experience)]
    for job in person.jobs:
        dated = f"{dates.range(job.start, job.end)} ({duration(job.start, job.end, words)})"
        blocks += [line(f"{job.position} {words.at} {job.company}", bold=True), line(dated)]
        blocks += [*_description(job, marked), Block("gap")]
    blocks += [heading(words.certifications)]
    blocks += [line(f"{each.name}, {each.issuer}") for each in person.certificates]
    blocks += [heading(words.old_skills), *(line(skill) for skill in person.flat_skills)]
    blocks += [heading(words.languages), *(line(f"{spoken} ({level})") for spoken, level in person.languages)]
    blocks += [heading(words.education)]
    for school in person.schools:
        years = f"{school.start[0]} - {school.end[0]}"
        blocks += [line(school.institution, bold=True), line(f"{school.degree}, {school.area}, {years}"), Block("gap")]
    return Page((), (tuple(blocks),))
