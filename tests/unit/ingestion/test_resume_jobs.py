"""The jobs of a resume, in the layouts that people use, with known and unknown names."""

from datetime import UTC, datetime

import pytest

from pipelines.blocks import text_blocks
from pipelines.facts import EducationFacts, JobFacts, records_of
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume import ResumeParser
from pipelines.ingestion.parsers.resume.job_candidates import place_likeness
from pipelines.ingestion.parsers.resume.lines import label_role, split_label

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
    "spaces for tabs": "{0}   {1}   {2}   {3}\n{4}\n",
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
    "company as a list item": "● {0}\t{2}\n{1}\t{3}\n{4}\n",
    "company and dates as a list item": "● {0}, {2}\t{3}\n{1}\n{4}\n",
    "dotted leader": "{0}, {2} ............ {3}\n{1}\n{4}\n",
    "dotted leader, spaced": "{0} . . . . . . . {2}\n{1} . . . . . {3}\n{4}\n",
    "dates beside the list": "{0}, {1}\t{2}\n• Shipped it\t{3}\n• Ran it\t2 years 3 months\n",
    "dates below the list": "{0}, {1}\n• Shipped it\n• Ran it\n{2} {3}\n2 years 3 months\n",
    "Markdown": "### {1} — {0}\n\n*{3} | {2}*\n\n{4}\n",
    "Markdown, bold": "**{0}**, {2}\n*{1}* ({3})\n\n{4}\n",
    "list": "- **{0}** — {1} ({3}), {2}\n  - Shipped it\n  - Ran it",
    "dates as headings": "### {3}\n\n- {1}, {0}, {2}\n{4}\n",
    "items with their dates at the end": "- {1}, {0}, {2}. Shipped it and ran it. ({3})\n",
    "items above their dates": "- {1}, {0}, {2}. Shipped it and ran it.\n\n({3})\n",
    "table": "| {3} | {0} | {1} | {2} |",
}


def pieces_of(text: str, **sizes) -> list[Piece]:
    return ResumeParser(**sizes).pieces(text, text_blocks(text))


def jobs_of(text: str) -> list[JobFacts]:
    pieces = pieces_of(text)
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


def test_list_items_that_name_jobs_may_have_the_mark_of_their_own_items() -> None:
    first, second = (f"• {name}\n{role}\t{dates}\n• Shipped it in 2018\n• Ran it" for name, role, dates in (
        ("Fathom", "Engineer", "2019 – 2021"), ("Oakline", "Analyst", "2016"),
    ))  # fmt: skip
    found = [(job.company, job.position, job.bullets) for job in jobs_of(f"EXPERIENCE\n{first}\n{second}")]
    items = ("Shipped it in 2018", "Ran it")
    assert found == [("Fathom", "Engineer", items), ("Oakline", "Analyst", items)]


def test_a_description_that_goes_on_behind_the_dates_is_none_of_the_job_line() -> None:
    prose = "Shipped everything that there was, and ran the office for two years and more."
    text = f"EXPERIENCE\n\nFathom\nEngineer 2019–2021 {prose}\n\nOakline\nAnalyst 2016–2019 {prose}"
    found = [(job.company, job.position, job.start_month, job.end_month) for job in jobs_of(text)]
    assert found == [("Fathom", "Engineer", "2019", "2021"), ("Oakline", "Analyst", "2016", "2019")]
    (piece, _) = [piece for piece in pieces_of(text) if piece.kind == "job"]
    assert text[piece.start : piece.end].endswith(prose)


def test_a_mark_at_the_end_of_a_lone_word_is_of_the_name() -> None:
    text = "EXPERIENCE\nEngineer\nYoho!\n2019 – 2021\n- Built it\n\nAnalyst\nOakline\n2016 – 2019\n- Ran it"
    assert [(job.company, job.position) for job in jobs_of(text)] == [("Yoho!", "Engineer"), ("Oakline", "Analyst")]


def test_a_job_has_its_own_span_items_and_year() -> None:
    text = f"EXPERIENCE\n{laid_out(LAYOUTS['three lines'])}"
    pieces = [piece for piece in pieces_of(text) if piece.kind == "job"]
    assert [piece.year for piece in pieces[1:]] == [2019, 2016]
    assert pieces[0].year == datetime.now(UTC).year
    for piece in pieces:
        assert isinstance(piece.facts, JobFacts)
        assert piece.section_path == ("EXPERIENCE",)
        assert piece.facts.bullets == ("Shipped it in 2018", "Ran it")
        assert text[slice(*piece.facts.span)].startswith(piece.facts.position)
        assert text[piece.start : piece.end].endswith("Ran it")
    assert text[pieces[0].start : pieces[0].end].startswith("EXPERIENCE\nSenior Engineer")


def test_words_in_brackets_after_the_company_are_its_industry() -> None:
    (job,) = jobs_of("EXPERIENCE\nFathom (Logistics software) | Engineer | Remote | 2019 – 2021\n- Built it")
    assert (job.company, job.industry, job.position, job.location) == (
        "Fathom",
        "Logistics software",
        "Engineer",
        "Remote",
    )


@pytest.mark.parametrize("name", ["Fathom (OakPay)", "Harbour Institute (HIM)", "Fathom Lab (Prof. Ann Lee)"])
@pytest.mark.parametrize("layout", ["{} | Engineer | Remote | 2019 – 2021", "{}\tRemote\nEngineer\t2019 – 2021"])
def test_a_name_in_brackets_is_of_the_company(name: str, layout: str) -> None:
    (job,) = jobs_of(f"EXPERIENCE\n{layout.format(name)}\n- Built it")
    assert (job.company, job.industry, job.position, job.location) == (name, "", "Engineer", "Remote")


def test_words_in_brackets_after_most_companies_are_their_industries_known_or_not() -> None:
    jobs = [
        ("Fathom (Cold-Chain Monitoring)", "2019 – 2021"),
        ("Oakline (Wave Buoys)", "2016 – 2019"),
        ("Kestrel", "2014"),
    ]
    text = "\n".join(f"{company} | Engineer | Lyon | {dates}\n- Built it" for company, dates in jobs)
    found = [(job.company, job.industry) for job in jobs_of(f"EXPERIENCE\n{text}")]
    assert found == [("Fathom", "Cold-Chain Monitoring"), ("Oakline", "Wave Buoys"), ("Kestrel", "")]


@pytest.mark.parametrize("inside", ["formerly Oakline", "full-time", "since 1987"])
def test_other_words_in_brackets_are_not_an_industry(inside: str) -> None:
    (job,) = jobs_of(f"EXPERIENCE\nFathom ({inside}) | Engineer | Remote | 2019 – 2021\n- Built it")
    assert (job.company, job.industry) == ("Fathom", "")


def test_each_position_at_one_company_is_a_job() -> None:
    text = (
        "EXPERIENCE\nFathom, Berlin\nStaff Engineer\t2021 – 2023\n- a\nEngineer\t2019 – 2021\n- b\n"
        "Oakline, Porto\nDeveloper\t2015 – 2019\n- c"
    )
    assert [(job.company, job.position, job.location, job.date_range) for job in jobs_of(text)] == [
        ("Fathom", "Staff Engineer", "Berlin", "2021 – 2023"),
        ("Fathom", "Engineer", "Berlin", "2019 – 2021"),
        ("Oakline", "Developer", "Porto", "2015 – 2019"),
    ]
    assert [piece.lead for piece in pieces_of(text)] == ["", "Fathom | Berlin", ""]


def test_a_company_line_with_dates_is_not_a_job_of_its_own() -> None:
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


def test_a_place_below_dates_is_that_of_the_job_above() -> None:
    found = "".join(f"{job.position}\n{job.company}\n{job.date_range}\n{job.location}\n" for job in JOBS)
    assert [(job.company, job.location) for job in jobs_of(f"EXPERIENCE\n{found}")] == [
        (job.company, job.location) for job in JOBS
    ]


def test_the_layout_of_most_jobs_decides_which_part_is_the_company() -> None:
    lines = ["Zephyr\nPainter\n2019 – 2021", "Umbra\nEngineer\n2016 – 2019", "Quill\nManager\n2014 – 2016"]
    text = "EXPERIENCE\n" + "\n".join(f"{line}\n- Did it" for line in lines)
    assert [job.company for job in jobs_of(text)] == ["Zephyr", "Umbra", "Quill"]


def test_dates_in_a_description_begin_no_job() -> None:
    text = (
        "EXPERIENCE\nFathom | Engineer | 2015 – 2021\n- Moved the archive (1996 – 2012) into one store\n"
        "In 2019 I led the move to the cloud, and stayed until 2020.\n- Won a prize, 2018"
    )
    assert [job.date_range for job in jobs_of(text)] == ["2015 – 2021"]


def test_projects_and_volunteering_are_not_jobs() -> None:
    text = (
        "EXPERIENCE\nFathom | Engineer | 2019 – 2021\n- a\n\nPROJECTS\nCompass\t2020 – 2021\n- b\n\n"
        "VOLUNTEERING\nMentor, Code Club\t2018 – 2020\n- c"
    )
    assert [piece.kind for piece in pieces_of(text)] == ["job", "project", "volunteering"]
    assert len(jobs_of(text)) == 1


def test_a_long_job_is_cut_and_each_later_part_leads_with_the_job_line() -> None:
    items = "\n".join(f"- Item number {number} of a long list of things that were done there" for number in range(60))
    text = f"EXPERIENCE\nFathom | Engineer | Berlin | 2019 – 2021\n{items}"
    first, *later = pieces_of(text, max_tokens=200)
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


JobFields = tuple[str, str, str, str]

UNKNOWN_NAMES: dict[str, tuple[str, list[JobFields]]] = {
    "place right of the company, position and dates below": (
        "quietly\tKestrel Bay, OR\nBee Wrangler\tJune 2021 – Present\n• a\n"
        "9fin Harbour\tTindale\nSummer Analyst\tMay 2020 – Aug 2020\n• b",
        [
            ("quietly", "Bee Wrangler", "Kestrel Bay, OR", "June 2021 – Present"),
            ("9fin Harbour", "Summer Analyst", "Tindale", "May 2020 – Aug 2020"),
        ],
    ),
    "company, place and position in one line, dates below": (
        "Loomwright, Upper Sallow — Weaver\nJANUARY 2020 - PRESENT\nWeaves rugs to order.\n"
        "Corvane, Lower Brackenby — Draughtsman\nMARCH 2016 - JUNE 2019\nDrew plans by hand.",
        [
            ("Loomwright", "Weaver", "Upper Sallow", "JANUARY 2020 - PRESENT"),
            ("Corvane", "Draughtsman", "Lower Brackenby", "MARCH 2016 - JUNE 2019"),
        ],
    ),
    "a sentence of position, company and place, ended by a full stop": (
        "2018–2022\tCompiler Engineer, Zephyrine, Oberwinden.\nWrote a compiler.\n"
        "2015–2018\tTutor, Rukia, Kestrel Bay.\nTaught algebra.",
        [("Zephyrine", "Compiler Engineer", "Oberwinden", "2018–2022"), ("Rukia", "Tutor", "Kestrel Bay", "2015–2018")],
    ),
    "dates, company and place in columns": (
        "09/2017 – 04/2021\tArdent Moss\tKestrel Bay\nArborist\nClimbed six hundred trees in the care of the town.\n"
        "02/2015 – 08/2017\tRukia\tOberwinden\nGardener\nLaid out lawns.",
        [
            ("Ardent Moss", "Arborist", "Kestrel Bay", "09/2017 – 04/2021"),
            ("Rukia", "Gardener", "Oberwinden", "02/2015 – 08/2017"),
        ],
    ),
    "dates in the middle": (
        "Larkspur Vale, 2019 – 2023, Sales Executive\n• a\nArdent Moss, 2016 – 2019, Account Manager\n• b",
        [
            ("Larkspur Vale", "Sales Executive", "", "2019 – 2023"),
            ("Ardent Moss", "Account Manager", "", "2016 – 2019"),
        ],
    ),
    "places in brackets": (
        "Corvane (Tindale), Payroll Clerk [2018–2023]\n• a\nHollin Ridge (Kestrel Bay), Bookkeeper [2014–2018]\n• b",
        [
            ("Corvane", "Payroll Clerk", "Tindale", "2018–2023"),
            ("Hollin Ridge", "Bookkeeper", "Kestrel Bay", "2014–2018"),
        ],
    ),
    "positions of several parts": (
        "Manager, Retail Operations, Hollin Ridge, Tindale, OH\t2019 – 2023\n• a\n"
        "Clerk, Returns, Zanderly, Tindale, OH\t2014 – 2016\n• b",
        [
            ("Hollin Ridge", "Manager, Retail Operations", "Tindale, OH", "2019 – 2023"),
            ("Zanderly", "Clerk, Returns", "Tindale, OH", "2014 – 2016"),
        ],
    ),
    "a department between company and position": (
        "Vexillo\tHarrow Mill, OH\nCompliance Department\nCompliance Analyst\t2019 – Present\n• a\n"
        "Ilex\tBrackwater, OR\nTreasury Department\nBookkeeper\t2015 – 2019\n• b",
        [
            ("Vexillo", "Compliance Analyst", "Harrow Mill, OH", "2019 – Present"),
            ("Ilex", "Bookkeeper", "Brackwater, OR", "2015 – 2019"),
        ],
    ),
    "positions and their whole time under a company": (
        "TRASK & VALE\tJan 2015 – Present\nVice President, Credit\tJan 2020 – Present\n• a\n"
        "Analyst, Credit\tJan 2015 – Dec 2019\n• b\n"
        "HOLLIN RIDGE\tJun 2013 – Dec 2014\n"
        "Teller\tJun 2013 – Dec 2014\n• c",
        [
            ("TRASK & VALE", "Vice President, Credit", "", "Jan 2020 – Present"),
            ("TRASK & VALE", "Analyst, Credit", "", "Jan 2015 – Dec 2019"),
            ("HOLLIN RIDGE", "Teller", "", "Jun 2013 – Dec 2014"),
        ],
    ),
    "labels in a column": (
        "Dates\tMarch 2017 – present\nOccupation or position held\tLaboratory Technician\n"
        "Main activities and responsibilities\tAnalyses of water and soil\n"
        "Name and address of employer\tVexillo Ltd, Little Wend\n"
        "Dates\tJune 2013 – February 2017\nOccupation or position held\tSampler\n"
        "Main activities and responsibilities\tCollecting samples\nName and address of employer\tIlex Ltd, Ostermere",
        [
            ("Vexillo Ltd", "Laboratory Technician", "Little Wend", "March 2017 – present"),
            ("Ilex Ltd", "Sampler", "Ostermere", "June 2013 – February 2017"),
        ],
    ),
    "a table with a head": (
        "| Company | Role | From – To |\n|---|---|---|\n"
        "| Ninefold | Buyer | 2019 – 2023 |\n| Lumbra | Luthier | 2015 – 2019 |",
        [("Ninefold", "Buyer", "", "2019 – 2023"), ("Lumbra", "Luthier", "", "2015 – 2019")],
    ),
    "a list in a column beside its dates": (
        "Intern\tHarrow Mill\nVexillo\tMay 2022 – Aug 2022\n• a\n"
        "Intern\tOstermere\nIlex\t◦ Developed things\t◦ Published them\tMay 2021 – Aug 2021",
        [
            ("Vexillo", "Intern", "Harrow Mill", "May 2022 – Aug 2022"),
            ("Ilex", "Intern", "Ostermere", "May 2021 – Aug 2021"),
        ],
    ),
    "a time without work, which is no job": (
        "Ilex | Paralegal | 2020 – Present\n• a\nMaternity leave | 2018 – 2020\n"
        "Cask | Legal Secretary | 2014 – 2018\n• b",
        [("Ilex", "Paralegal", "", "2020 – Present"), ("Cask", "Legal Secretary", "", "2014 – 2018")],
    ),
}


def job_fields(text: str) -> list[JobFields]:
    records = [record for piece in pieces_of(text) for record in records_of(piece.facts)]
    jobs = [record for record in records if isinstance(record, JobFacts)]
    return [(job.company, job.position, job.location, job.date_range) for job in jobs]


@pytest.mark.parametrize("name", UNKNOWN_NAMES)
def test_jobs_of_unknown_names_are_read_from_the_layout_that_they_share(name: str) -> None:
    text, jobs = UNKNOWN_NAMES[name]
    assert job_fields(f"Ana Brook\n\nEXPERIENCE\n{text}\n\nSKILLS\nGo, SQL") == jobs


def test_a_known_place_in_one_job_locates_the_places_of_the_others() -> None:
    text = "EXPERIENCE\n2019 – 2023 / Studio Varga / {} / Baker\n• a\n2015 – 2019 / Cinderpath / {} / Cook\n• b"
    alike = job_fields(text.format("Berlin", "Saint-Aubry"))
    assert [location for _, _, location, _ in alike] == ["Berlin", "Saint-Aubry"]


@pytest.mark.parametrize("title", ["Legal Experience", "Leadership and Management Experience", "Clinical Experience"])
def test_an_experience_section_of_any_field_has_jobs(title: str) -> None:
    text = f"Ana\n\n{title}\nHale, Mirren, and Stroud\tAlbany, NY\nSummer Associate\tMay 2017 – Aug 2017\n• a"
    assert job_fields(text) == [("Hale, Mirren, and Stroud", "Summer Associate", "Albany, NY", "May 2017 – Aug 2017")]


def test_a_label_inside_a_job_opens_no_section() -> None:
    job = "Head of Delight\nZanderly\nJanuary 2018 — Present\nI make sure.\nHighlights\n• Smiles\n"
    text = f"Ana\n\nWork\n{job}{job.replace('2018 — Present', '2014 — March 2017').replace('Zanderly', 'Ilex')}"
    assert [company for company, *_ in job_fields(text)] == ["Zanderly", "Ilex"]


@pytest.mark.parametrize(
    ("study", "institution"),
    [
        ("MSc | Geology | Ostermere | 2019", "Ostermere"),
        ("BEng Civil Engineering, Ostermere\t2012 – 2015\nFirst class", "Ostermere"),
        ("2014 – 2017\tBA Geography, University of Ostermere (2:1)", "University of Ostermere"),
    ],
)
def test_the_school_is_the_part_that_is_not_degree_subject_or_grade(study: str, institution: str) -> None:
    records = [record for piece in pieces_of(f"EDUCATION\n{study}") for record in records_of(piece.facts)]
    assert [record.institution for record in records if isinstance(record, EducationFacts)] == [institution]


def test_a_label_gives_the_role_of_the_words_after_it() -> None:
    assert split_label("Entreprise : Maison Aubrac") == ("company", "Maison Aubrac")
    assert split_label("Marrowstone: Farrier") is None
    assert label_role("Nome e indirizzo del datore di lavoro") == "company"
    assert label_role("Hours per week") == ""
    assert label_role("Head of Company Operations") is None


def test_an_unknown_name_may_be_a_place_unless_its_words_exclude_it() -> None:
    assert place_likeness("Berlin, Germany") > place_likeness("Tindale, Germany") > place_likeness("Tindale") > 0
    assert all(
        place_likeness(words) < 0
        for words in ("Marine lighting", "Retail Operations", "Baker Group", "Unit 7", "Buyer")
    )
