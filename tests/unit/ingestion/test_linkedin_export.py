"""LinkedIn's typeset export: told by its sizes of type, read column by column, in any language."""

from bisect import bisect_right
from dataclasses import replace
from pathlib import Path

import pytest
from corpus_maker.saved import Saved, columns_of, person_of, saved_exports
from corpus_maker.saved_pdf import Column, Print, Row, write_saved_pdf

from pipelines.evaluation.parsing import facts_of, read_document
from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    SkillsFacts,
)
from pipelines.ingestion.classify import classify
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.parsers.careers.dates import months_named
from pipelines.types import Document

EXPORTS = {saved.name: saved for saved in saved_exports(heldout=False)}
OVERFLOWING = sorted(name for name, saved in EXPORTS.items() if saved.overflows)
SHORT = sorted(name for name in EXPORTS if name.endswith("-0"))

PRINT = Print(footer="{n}/{total}")
CONTACT = (Row("Yhteys", 13), Row("www.linkedin.com/in/aino-koski-1a2b (LinkedIn)", 10.5, 3))
SKILLS = (Row("Taidot", 13, 18), Row("Leipominen", 10.5, 3), Row("Purjehdus", 10.5), Row("Kirjanpito", 10.5))
LANGUAGES = (Row("Kielet", 13, 18), Row("suomi (äidinkieli)", 10.5, 3), Row("ruotsi (hyvä)", 10.5))
PERSON = (Row("Aino Koski", 26), Row("Leipuri", 12, 4), Row("Turku, Suomi", 12, 2))
JOBS = (
    Row("Mitä olen tehnyt", 15.75, 20),
    Row("Meri Oy", 12, 10),
    Row("6 vuotta", 10.5, 1),
    Row("Johtaja", 11.5, 6),
    Row("tammikuuta 2019 - nyt (3 vuotta)", 10.5, 1),
    Row("Leipuri", 11.5, 6),
    Row("helmikuuta 2016 - joulukuuta 2018 (3 vuotta)", 10.5, 1),
    Row("Turku, Suomi", 10.5, 1),
    Row("Leivoin ruisleipää.", 10.5, 4),
    Row("2011 - 2014", 10.5),
    Row("Satama Oy", 12, 10),
    Row("Harjoittelija", 11.5, 6),
    Row("kesäkuuta 2015 - elokuuta 2015 (3 kuukautta)", 10.5, 1),
)
SCHOOLS = (
    Row("Missä olen opiskellut", 15.75, 20),
    Row("Turun yliopisto", 12, 8),
    Row("maisteri, historia · (2010 - 2015)", 10.5, 2),
    Row("Yökoulu", 12, 8),
)


def drawn(folder: Path, left: tuple[Row, ...], right: tuple[Row, ...], on: Print = PRINT) -> Document:
    path = folder / "a.pdf"
    write_saved_pdf(path, Column(left), Column(right), on)
    return classify(read_document(path))


def saved_document(folder: Path, saved: Saved) -> Document:
    left, right = columns_of(person_of(saved), saved)
    return drawn(folder, left.rows, right.rows, saved.print)


def jobs(document: Document) -> list[tuple[str, str, str, str | None, bool]]:
    return [
        (job.company, job.position, job.start_month, job.end_month, job.current)
        for job in facts_of(document)
        if isinstance(job, JobFacts)
    ]


def stated_jobs(saved: Saved) -> list[tuple[str, str, str, str | None, bool]]:
    dates = saved.dates
    return [
        (job.company, job.position, dates.stated(job.start), dates.stated(job.end) or None, job.end is None)
        for job in person_of(saved).jobs
    ]


def of(document: Document, kind: type[CareerRecord]) -> list:
    return [record for record in facts_of(document) if isinstance(record, kind)]


FINNISH_JOBS = [
    ("Meri Oy", "Johtaja", "2019-01", None, True),
    ("Meri Oy", "Leipuri", "2016-02", "2018-12", False),
    ("Satama Oy", "Harjoittelija", "2015-06", "2015-08", False),
]


@pytest.mark.parametrize("name", SHORT)
def test_every_job_is_read_in_each_language(tmp_path: Path, name: str) -> None:
    document = saved_document(tmp_path, EXPORTS[name])
    assert document.category == "linkedin"
    assert jobs(document) == stated_jobs(EXPORTS[name])


@pytest.mark.parametrize("name", OVERFLOWING)
def test_a_left_column_beside_the_jobs_of_later_pages_loses_no_job(tmp_path: Path, name: str) -> None:
    document = saved_document(tmp_path, EXPORTS[name])
    assert jobs(document) == stated_jobs(EXPORTS[name])
    assert len(of(document, LanguageFacts)) == len(person_of(EXPORTS[name]).languages)


def test_sections_are_told_without_their_titles(tmp_path: Path) -> None:
    document = drawn(tmp_path, CONTACT + SKILLS + LANGUAGES, PERSON + JOBS + SCHOOLS)
    assert jobs(document) == FINNISH_JOBS
    assert [job.location for job in of(document, JobFacts)] == ["", "Turku, Suomi", ""]
    assert [(each.institution, each.degree, each.area, each.start_month) for each in of(document, EducationFacts)] == [
        ("Turun yliopisto", "maisteri", "historia", "2010"),
        ("Yökoulu", "", "", ""),
    ]
    assert [each.skills for each in of(document, SkillsFacts)] == [("Leipominen", "Purjehdus", "Kirjanpito")]
    assert [(each.language, each.level) for each in of(document, LanguageFacts)] == [
        ("suomi", "äidinkieli"),
        ("ruotsi", "hyvä"),
    ]
    contact, person = of(document, PersonFacts)
    assert contact.links == ("www.linkedin.com/in/aino-koski-1a2b",)
    assert (person.name, person.headline, person.location) == ("Aino Koski", "Leipuri", "Turku, Suomi")


@pytest.mark.parametrize("scale", [0.6, 0.85, 0.97, 1.3])
def test_a_scaled_print_is_read_alike(tmp_path: Path, scale: float) -> None:
    assert jobs(drawn(tmp_path, CONTACT, PERSON + JOBS, Print(scale=scale, footer="{n} ({total})"))) == FINNISH_JOBS


@pytest.mark.parametrize("size", [14.0, 15.0, 17.0])
def test_two_columns_in_other_sizes_are_no_export(tmp_path: Path, size: float) -> None:
    right = tuple(replace(row, size=size) if row.size == 15.75 else row for row in PERSON + JOBS)
    assert "typeset" not in drawn(tmp_path, CONTACT, right).metadata


def test_a_title_above_the_name_is_no_export(tmp_path: Path) -> None:
    right = (Row("Ansioluettelo", 15.75), *PERSON, *JOBS)
    assert "typeset" not in drawn(tmp_path, CONTACT, right).metadata


def test_the_right_column_keeps_its_pages_beside_a_left_one_that_goes_on(tmp_path: Path) -> None:
    items = tuple(Row(f"Todistus {n}", 10.5) for n in range(60))
    document = drawn(tmp_path, (*CONTACT, Row("Muut", 13, 18), *items), PERSON + JOBS * 3 + SCHOOLS)

    def page_of(words: str) -> int:
        return bisect_right(document.pages, document.text.index(words))

    assert (page_of("Aino Koski"), page_of("Meri Oy"), page_of("Turun yliopisto")) == (1, 1, 2)
    assert document.text.index("Todistus 59") < document.text.index("Aino Koski")
    assert [notice.text for notice in document.furniture] == ["1/2", "2/2"]


def test_a_summary_in_the_size_of_organisations_names_no_school(tmp_path: Path) -> None:
    summary = (Row("Minusta", 15.75, 20), Row("Leivon leipää ja purjehdan. Siinä kaikki.", 12, 4))
    document = drawn(tmp_path, CONTACT, PERSON + summary + JOBS)
    assert of(document, EducationFacts) == []
    assert [node.metadata["section_path"] for node in parse(document)][2] == ["Minusta"]


@pytest.mark.parametrize(
    ("dates", "months"),
    [
        (["tammikuuta 2019", "nyt", "joulukuuta 2018"], [1, 0, 12]),
        (["2019년 1월", "2019년 11월", "현재"], [1, 11, 0]),
        (["2019年10月", "至今"], [10, 0]),
        (["Ekim 2019", "Mart 2020", "Ağustos 2021"], [10, 3, 8]),
        (["janeiro de 2019", "o momento"], [1, 0]),
        (["maj 2019", "styczeń 2020"], [5, 1]),
        (["2019", "2020"], [0, 0]),
    ],
)
def test_the_language_that_explains_most_dates_names_the_months(dates: list[str], months: list[int]) -> None:
    assert months_named(dates) == months


def test_a_study_that_takes_several_lines_keeps_its_subject_and_years(tmp_path: Path) -> None:
    study = (
        Row("Kauppa ja muotoilu · (2010 -", 10.5),
        Row("2014)", 10.5),
    )  # as lines of their own, wherever they break
    school = (Row("Koulutus", 15.75, 20), Row("Turun yliopisto", 12, 8), Row("Filosofian maisteri, Kieli,", 10.5, 2))
    (found,) = of(drawn(tmp_path, CONTACT, PERSON + JOBS + school + study), EducationFacts)
    assert (found.institution, found.start_month, found.end_month) == ("Turun yliopisto", "2010", "2014")
    assert f"{found.degree}, {found.area}".endswith("Kieli, Kauppa ja muotoilu")


@pytest.mark.parametrize("name", SHORT)
def test_wrapped_studies_and_items_are_read_whole(tmp_path: Path, name: str) -> None:
    document, person = saved_document(tmp_path, EXPORTS[name]), person_of(EXPORTS[name])
    studies = [f"{school.degree} {school.area}".strip() for school in of(document, EducationFacts)]
    assert studies == [f"{school.degree} {school.area}" for school in person.schools]
    assert [one.name for one in of(document, CertificationFacts)] == [one.name for one in person.certificates]
