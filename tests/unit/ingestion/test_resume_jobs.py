"""The jobs of a resume, in the layouts that people use."""

from datetime import UTC, datetime

import pytest

from pipelines.facts import JobFacts, records_of
from pipelines.ingestion.parsers.resume import split_resume

ENGINEER = JobFacts(
    company="Fathom",
    position="Senior Engineer",
    location="Berlin, Germany",
    date_range="Jan 2020 – Present",
    start_month="2020-01",
    current=True,
)
ANALYST = JobFacts(
    company="Oakline",
    position="Data Analyst",
    location="Austin, TX",
    date_range="Mar 2016 – Dec 2019",
    start_month="2016-03",
    end_month="2019-12",
)
DESIGNER = JobFacts(
    company="Kestrel & Sons",
    position="Head of Design",
    location="Lyon, France",
    date_range="Sept 2012 – Feb 2016",
    start_month="2012-09",
    end_month="2016-02",
)
JOBS = (ENGINEER, ANALYST, DESIGNER)

# {0} company, {1} position, {2} location, {3} dates, {4} two list items
LAYOUTS = {
    "pipes": "{0} | {1} | {2} | {3}\n{4}\n",
    "pipes, position first": "{1} | {0} | {2} | {3}\n{4}\n",
    "comma": "{1}, {0}, {2} ({3})\n{4}\n",
    "comma, company first, dates right": "{0}, {1}, {2}\t{3}\n{4}\n",
    "two lines, dates right": "{0}\t{2}\n{1}\t{3}\n{4}\n",
    "two lines, position first": "{1}\t{3}\n{0}\t{2}\n{4}\n",
    "two spaces for a tab": "{1}  {3}\n{0}, {2}\n{4}\n",
    "three lines": "{1}\n{0}, {2}\n{3}\n{4}\n",
    "company, position, place and dates": "{0}\n{1}\n{2} | {3}\n{4}\n",
    "dates above": "{3}\n{1}, {0}\n{2}\n{4}\n",
    "dates in a column": "{3}\t{0} – {1}\n{2}\n{4}\n",
    "dates first": "{3}: {1}, {0}, {2}\n{4}\n",
    "at": "{1} at {0}\n{3} · {2}\n{4}\n",
    "at, one line": "{1} @ {0}, {2}, {3}\n{4}\n",
    "em dash": "{0} — {1} — {2} — {3}\n{4}\n",
    "labels": "Employer: {0}\nPosition: {1}\nLocation: {2}\nPeriod: {3}\n{4}\n",
    "paragraphs": "{1}\n{0}, {2}\n{3}\nI did what had to be done there. It was good.\n",
    "dates beside the list": "{0}, {1}\t{2}\n• Shipped it\t{3}\n• Ran it\t2 years 3 months\n",
    "dates below the list": "{0}, {1}\n• Shipped it\n• Ran it\n{2} {3}\n2 years 3 months\n",
    "Markdown": "### {1} — {0}\n\n*{3} | {2}*\n\n{4}\n",
    "Markdown, bold": "**{0}**, {2}\n*{1}* ({3})\n\n{4}\n",
    "list": "- **{0}** — {1} ({3}), {2}\n  - Shipped it\n  - Ran it",
    "table": "| {3} | {0} | {1} | {2} |",
}


def jobs_of(text: str) -> list[JobFacts]:
    pieces = split_resume(text)
    return [record for piece in pieces for record in records_of(piece.facts) if isinstance(record, JobFacts)]


def bare(job: JobFacts) -> JobFacts:
    return job.model_copy(update={"span": (0, 0), "bullets": ()})


def laid_out(layout: str) -> str:
    items = "- Shipped it in 2018\n- Ran it"
    return "\n".join(layout.format(job.company, job.position, job.location, job.date_range, items) for job in JOBS)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("heading", ["EXPERIENCE\n", "## Work Experience\n\n", "W O R K\n"])
def test_every_layout_yields_each_job_once(name: str, heading: str) -> None:
    text = f"Ana Brook\nana@example.com\n\n{heading}{laid_out(LAYOUTS[name])}\n\nEDUCATION\nBSc, Harlow College, 2012"
    assert tuple(map(bare, jobs_of(text))) == JOBS


def test_a_job_has_its_own_span_items_and_year() -> None:
    text = f"EXPERIENCE\n{laid_out(LAYOUTS['three lines'])}"
    pieces = [piece for piece in split_resume(text) if piece.kind == "job"]
    assert [piece.year for piece in pieces[1:]] == [2019, 2016]
    assert pieces[0].year == datetime.now(UTC).year
    for piece in pieces:
        assert isinstance(piece.facts, JobFacts)
        assert piece.section_path == ("EXPERIENCE",)
        assert piece.facts.bullets == ("Shipped it in 2018", "Ran it")
        assert text[slice(*piece.facts.span)].startswith(piece.facts.position)
        assert text[piece.start : piece.end].endswith("Ran it")
    assert text[pieces[0].start : pieces[0].end].startswith("EXPERIENCE\nSenior Engineer")


def test_what_stands_in_brackets_after_the_company_is_its_industry() -> None:
    (job,) = jobs_of("EXPERIENCE\nFathom (Logistics software) | Engineer | Remote | 2019 – 2021\n- Built it")
    assert (job.company, job.industry, job.position, job.location) == (
        "Fathom",
        "Logistics software",
        "Engineer",
        "Remote",
    )


@pytest.mark.parametrize("inside", ["formerly Oakline", "full-time", "since 1987"])
def test_other_asides_are_no_industry(inside: str) -> None:
    (job,) = jobs_of(f"EXPERIENCE\nFathom ({inside}) | Engineer | Remote | 2019 – 2021\n- Built it")
    assert (job.company, job.industry) == ("Fathom", "")


def test_several_positions_in_one_company_are_jobs_of_their_own() -> None:
    text = (
        "EXPERIENCE\nFathom, Berlin\nStaff Engineer\t2021 – 2023\n- a\nEngineer\t2019 – 2021\n- b\n"
        "Oakline, Porto\nDeveloper\t2015 – 2019\n- c"
    )
    assert [(job.company, job.position, job.location, job.date_range) for job in jobs_of(text)] == [
        ("Fathom", "Staff Engineer", "Berlin", "2021 – 2023"),
        ("Fathom", "Engineer", "Berlin", "2019 – 2021"),
        ("Oakline", "Developer", "Porto", "2015 – 2019"),
    ]
    assert [piece.lead for piece in split_resume(text)] == ["", "Fathom | Berlin", ""]


def test_a_company_with_its_own_dates_is_no_job_beside_its_positions() -> None:
    text = (
        "EXPERIENCE\nFathom — Berlin\t2018 – 2022\nEngineer (2020 – 2022)\n- a\nWorking Student (2018 – 2020)\n- b\n"
        "Oakline — Porto\t2015 – 2018\nDeveloper\n- c"
    )
    assert [(job.company, job.position, job.date_range) for job in jobs_of(text)] == [
        ("Fathom", "Engineer", "2020 – 2022"),
        ("Fathom", "Working Student", "2018 – 2020"),
        ("Oakline", "Developer", "2015 – 2018"),
    ]


@pytest.mark.parametrize(
    ("heading", "line", "company", "position"),
    [
        (
            "Berufserfahrung",
            "03/2019 – heute\tProjektleiterin, Stadtwerke Lindau",
            "Stadtwerke Lindau",
            "Projektleiterin",
        ),
        ("Expérience", "Depuis mai 2020 : Cheffe de projet, Agence Lumière", "Agence Lumière", "Cheffe de projet"),
        ("Experiencia", "Analista — Grupo Tierra | mayo de 2019 – actualidad", "Grupo Tierra", "Analista"),
        ("Experiência", "Engenheira na Oakline (2019 – atual)", "Oakline", "Engenheira"),
        ("Esperienza", "Tirocinante presso Officine Verdi, 2019 – oggi", "Officine Verdi", "Tirocinante"),
    ],
)
def test_jobs_are_read_in_other_languages(heading: str, line: str, company: str, position: str) -> None:
    (job,) = jobs_of(f"{heading}\n\n{line}\n- Das und dies")
    assert (job.company, job.position, job.start_month[:4]) == (company, position, line[line.index("20") :][:4])
    assert job.current


def test_most_jobs_tell_which_part_is_the_company() -> None:
    lines = ["Zephyr\nPainter\n2019 – 2021", "Umbra\nEngineer\n2016 – 2019", "Quill\nManager\n2014 – 2016"]
    text = "EXPERIENCE\n" + "\n".join(f"{line}\n- Did it" for line in lines)
    assert [job.company for job in jobs_of(text)] == ["Zephyr", "Umbra", "Quill"]


def test_dates_in_what_was_done_begin_no_job() -> None:
    text = (
        "EXPERIENCE\nFathom | Engineer | 2015 – 2021\n- Moved the archive (1996 – 2012) into one store\n"
        "In 2019 I led the move to the cloud, and stayed until 2020.\n- Won a prize, 2018"
    )
    assert [job.date_range for job in jobs_of(text)] == ["2015 – 2021"]


def test_projects_and_voluntary_work_are_no_jobs() -> None:
    text = (
        "EXPERIENCE\nFathom | Engineer | 2019 – 2021\n- a\n\nPROJECTS\nCompass\t2020 – 2021\n- b\n\n"
        "VOLUNTEERING\nMentor, Code Club\t2018 – 2020\n- c"
    )
    assert [piece.kind for piece in split_resume(text)] == ["job", "project", "volunteering"]
    assert len(jobs_of(text)) == 1


def test_a_long_job_is_cut_and_each_later_part_leads_with_the_job_line() -> None:
    items = "\n".join(f"- Item number {number} of a long list of things that were done there" for number in range(60))
    text = f"EXPERIENCE\nFathom | Engineer | Berlin | 2019 – 2021\n{items}"
    first, *later = split_resume(text, max_tokens=200)
    assert first.lead == ""
    assert isinstance(first.facts, JobFacts)
    assert first.facts.span[1] == first.end
    assert len(later) > 2
    assert {(part.kind, part.lead, part.facts, part.year) for part in later} == {
        ("job", "Fathom | Engineer | Berlin | 2019 – 2021", None, 2021)
    }


def test_a_job_without_dates_among_headings_is_a_job() -> None:
    text = "## Experience\n\n### Engineer, Fathom\n2019 – 2021\n\n- a\n\n### Consultant, Oakline\n\n- b"
    assert [(job.company, job.date_range) for job in jobs_of(text)] == [("Fathom", "2019 – 2021"), ("Oakline", "")]


def test_jobs_without_any_dates_are_found_by_their_positions() -> None:
    text = "EXPERIENCE\nEngineer, Fathom\n- a\nData Analyst, Oakline\n- b"
    assert [(job.company, job.position) for job in jobs_of(text)] == [
        ("Fathom", "Engineer"),
        ("Oakline", "Data Analyst"),
    ]


def test_a_section_of_any_name_that_lists_positions_with_dates_holds_the_jobs() -> None:
    text = "# Ana\n\n## Where I have been\n\nFathom | Engineer | 2019 – 2021\n\n- a\n\n## Skills\n\nGo"
    assert [job.company for job in jobs_of(text)] == ["Fathom"]
    assert jobs_of(text.replace("Engineer", "Thoughts")) == []
