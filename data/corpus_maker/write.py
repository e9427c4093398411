"""The files of one half of the corpus: pages, twins and truth."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from corpus_maker import docx_pages
from corpus_maker.dates import DATES
from corpus_maker.linkedin import LOOK, OLD_LOOK, Words, current_page, dates_of, long_profile, old_page
from corpus_maker.page import Page, write_docx, write_txt
from corpus_maker.pdf import Look, as_shown, write_pdf
from corpus_maker.people import Person, invent
from corpus_maker.rendercv_pages import typeset, yaml_of
from corpus_maker.resumes import HEADINGS, Theme, page_of
from corpus_maker.saved import columns_of, person_of, saved_exports, truth_of_saved
from corpus_maker.saved_pdf import write_saved_pdf, write_saved_txt
from corpus_maker.truth import Truth, truth_of, write_truth

_SHORT = {
    "Bachelor of Engineering": "B.Eng.",
    "Master of Arts": "M.A.",
    "Associate Degree": "A.A.",
    "Doctor of Medicine": "M.D.",
    "Higher National Certificate": "HNC",
    "B.A. (Hons)": "B.A.",
    "Diploma": "Dipl.",
}
SECTIONS = ("education", "skills", "projects", "certifications", "languages")


def _resume_truth(person: Person, theme: Theme) -> Truth:
    shown = {*theme.main, *theme.side}
    return truth_of(
        person, theme.dates, "resume", theme.name, theme.language, shown,
        located=theme.located, ended=theme.school == "end only",
    )  # fmt: skip


def _person(theme: Theme, seed: str, heldout: bool) -> Person:
    return invent(
        seed, theme.language, heldout=heldout, jobs=theme.jobs, group=0 if theme.grouped else None, commas=theme.commas
    )


def write_pages(stem: Path, page: Page, look: Look, name: str, truth: Truth, twin: str) -> None:
    """The PDF, its twin and its truth."""
    write_pdf(stem.with_suffix(".pdf"), page, look, name)
    shown = as_shown(page, look)
    if twin == "docx":
        write_docx(stem.with_suffix(".docx"), shown)
    else:
        write_txt(stem.with_suffix(".txt"), shown)
    write_truth(stem.with_suffix(".json"), truth)


def write_resumes(folder: Path, themes: Sequence[Theme], each: int, *, heldout: bool) -> None:
    """So many people for each theme; the first with a TXT, the second with a DOCX twin."""
    for theme in themes:
        for n in range(each):
            person = _person(theme, f"{folder.name} {theme.name} {n}", heldout)
            page, truth = page_of(person, theme), _resume_truth(person, theme)
            stem = folder / f"{theme.name}-{n}"
            write_pages(stem, page, theme.look, person.name, truth, "docx" if n % 2 else "txt")


def write_word(folder: Path, themes: Sequence[Theme], *, heldout: bool) -> None:
    """The resumes that are Word documents themselves."""
    for theme in themes:
        person = _person(theme, f"{folder.name} {theme.name}", heldout)
        page, target = page_of(person, theme), folder / f"{theme.name}.docx"
        if theme.name.startswith("word-plain"):
            docx_pages.write_plain(target, page)
        elif theme.name == "word-hints":
            docx_pages.write_hint_table(target, page)
        elif theme.side:
            docx_pages.write_side_table(target, page)
        elif theme.name == "word-grid":
            rows = [
                (theme.dates.range(job.start, job.end), job.company, job.position, job.location) for job in person.jobs
            ]
            heads = ("Period", "Employer", "Role", "Place")
            docx_pages.write_grid(target, page, heads, rows, theme.headings["experience"])
            person = replace(person, jobs=tuple(replace(job, bullets=()) for job in person.jobs))
        else:
            docx_pages.write_styled(target, page)
        write_truth(target.with_suffix(".json"), _resume_truth(person, theme))


def write_linkedin(folder: Path, words_by_language: dict[str, Words], *, heldout: bool) -> None:
    """A short and a long current export and an old one in each language."""
    for n, (language, words) in enumerate(words_by_language.items()):
        for manner in ("", "long-", "old-"):
            marked, stem = (n + len(manner)) % 3 == 1, folder / f"export-{manner}{language}"
            group = (3 + heldout if manner else 0) if (n + len(manner)) % 2 == heldout and manner != "old-" else None
            jobs = 9 if manner == "long-" else 5
            person = invent(f"{folder.name} {stem.name}", language, heldout=heldout, jobs=jobs, group=group)
            if manner == "old-":
                page = old_page(person, language, words, marked=marked)
                look = replace(OLD_LOOK, footer="Page{n}")
            else:
                person = long_profile(person) if manner else person
                page = current_page(person, language, words, group=group, marked=marked)
                look = replace(LOOK, footer=words.footer)
            truth = _profile_truth(person, language, words, manner, marked)
            write_pages(stem, page, look, person.name, truth, "txt" if n % 2 else "docx")


def write_saved(folder: Path, *, heldout: bool) -> None:
    """The profiles that LinkedIn's "Save to PDF" sets in one hierarchy of type."""
    for saved in saved_exports(heldout=heldout):
        person, stem = person_of(saved), folder / saved.name
        left, right = columns_of(person, saved)
        write_saved_pdf(stem.with_suffix(".pdf"), left, right, saved.print)
        write_saved_txt(stem.with_suffix(".txt"), left, right)
        write_truth(stem.with_suffix(".json"), truth_of_saved(person, saved))


def _profile_truth(person: Person, language: str, words: Words, manner: str, marked: bool) -> Truth:
    old, shown = manner == "old-", {*SECTIONS} - {"projects"}
    truth = truth_of(
        person, dates_of(language, words), "linkedin", f"linkedin-{manner}{language}", language, shown,
        located=not old, described=marked,
    )  # fmt: skip
    for school in truth["education"]:
        school["start"], school["end"] = school["start"][:4], school["end"][:4]
    if not old:
        truth["skills"] = truth["skills"][:3]
    return truth


def write_rendercv(folder: Path, themes: Sequence[str], python: str, *, heldout: bool) -> str:
    """A resume in each of rendercv's themes; why there is none, empty when there are."""
    pages, truths = [], []
    for theme in themes:
        person = invent(f"{folder.name} rendercv {theme}", heldout=heldout)
        person = replace(person, schools=tuple(replace(each, degree=_short(each.degree)) for each in person.schools))
        stem = folder / f"rendercv-{theme}"
        pages.append((yaml_of(person, theme, HEADINGS), stem.with_suffix(".pdf")))
        shown = {*SECTIONS} - {"certifications"}
        truths.append((stem, truth_of(person, DATES["short"], "resume", f"rendercv-{theme}", "en", shown)))
    failed = typeset(python, pages)
    for stem, truth in [] if failed else truths:
        write_truth(stem.with_suffix(".json"), truth)
    return failed


def _short(degree: str) -> str:
    """A degree that fits the narrow column that rendercv gives it."""
    return _SHORT.get(degree, degree)
