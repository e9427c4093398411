"""Resumes whose jobs and names stand in other places than most: each layout as its kind, in several forms."""

from dataclasses import replace

import pytest

from pipelines.blocks import markdown_blocks, text_blocks
from pipelines.facts import (
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    SkillsFacts,
    UnreadLine,
    records_of,
)
from pipelines.ingestion.parsers.resume import ResumeParser
from pipelines.types import Document, LineBox

TWO = [("Harrow NV", "Staff Engineer"), ("Pell Ltd", "Senior Engineer")]
TEAMS = [("Quillon Corp", "Manager, Payments"), ("Quillon Corp", "Senior Engineer, Ledger")]


def records(text: str, kind: type) -> list:
    blocks = markdown_blocks(text) if text.startswith("#") else text_blocks(text)
    pieces = ResumeParser().pieces(text, blocks)
    return [record for piece in pieces for record in records_of(piece.facts) if isinstance(record, kind)]


def jobs(text: str) -> list[tuple[str, str]]:
    return [(job.company, job.position) for job in records(text, JobFacts)]


@pytest.mark.parametrize(
    "text",
    [
        "# Ann Lee\n\n# Experience\n\n**Quillon Corp, Lisbon**\n\nManager, Payments\tJan 2022 – Present\n\n- Hired\n\n"
        "Senior Engineer, Ledger\tApr 2019 – Dec 2021\n\n- Moved\n",
        "# Ann Lee\n\n# Experience\n\n### Quillon Corp\n\n#### Manager, Payments\n\nJan 2022 – Present\n\n- Hired\n\n"
        "#### Senior Engineer, Ledger\n\nApr 2019 – Dec 2021\n",
        "# Ann Lee\n\n# Experience\n\n**Quillon Corp, Lisbon** (2019 – present)\n\n"
        "Manager, Payments | Jan 2022 – Present\n\n- Hired\n\nSenior Engineer, Ledger | Apr 2019 – Dec 2021\n",
    ],
)
def test_teams_below_an_employers_line_are_no_companies(text: str) -> None:
    assert jobs(text) == TEAMS


def test_an_unknown_place_beside_the_only_position_at_an_employer_stays_a_place() -> None:
    text = "# Ann Lee\n\n# Work\n\n**Quillon Corp**\n\nManager, Smallvik\t2022 – Present\n\n- Hired\n\n**Pell Ltd**\n\n"
    found = records(f"{text}Engineer, Grandvik\t2019 – 2021\n\n- Built\n", JobFacts)
    assert [(job.company, job.location) for job in found] == [("Quillon Corp", "Smallvik"), ("Pell Ltd", "Grandvik")]


def test_companies_beside_positions_stay_without_an_employers_line() -> None:
    text = "# Ann Lee\n\n# Work\n\nManager, Globex\tJan 2022 – Present\n\n- Hired\n\nEngineer, Initech\t2019 – 2021\n"
    assert jobs(text) == [("Globex", "Manager"), ("Initech", "Engineer")]


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee\nann@lee.example\n\nStaff Engineer, Harrow NV, 2020 – present\n- Led\n\n"
        "Senior Engineer, Pell Ltd, 2015 – 2020\n",
        "# Ann Lee\n\nann@lee.example | Turin\n\nEngineer with a taste for small databases.\n\n"
        "**Staff Engineer — Harrow NV**\n2020 – present\n\n- Led\n\n**Senior Engineer — Pell Ltd**\n2015 – 2020\n",
        "# Ann Lee\n\n## Harrow NV\n\nStaff Engineer, 2020 – present\n\n- Led\n\n## Pell Ltd\n\n"
        "Senior Engineer, 2015 – 2020\n\n## Education\n\nBSc, University of Turin, 2015\n",
        "# Ann Lee\n\n**Staff Engineer**, Harrow NV (2020 – present)\n\n- Led\n\n"
        "**Senior Engineer**, Pell Ltd (2015 – 2020)\n\n## Education\n\nBSc, University of Turin, 2015\n",
    ],
)  # fmt: skip
def test_jobs_are_read_without_a_heading_above_them(text: str) -> None:
    assert jobs(text) == TWO
    (person,) = records(text, PersonFacts)
    assert person.name == "Ann Lee"


@pytest.mark.parametrize(
    "away", ["Career break – parental leave", "Sabbatical, travelling in Chile", "Maternity leave", "Gap year in Asia"]
)
def test_a_break_is_no_job(away: str) -> None:
    text = (
        "# Ann Lee\n\n# Experience\n\n**Staff Engineer, Harrow NV**\n\nOct 2023 – Present\n\n- Led\n\n"
        f"**{away}**\n\nMar 2022 – Sep 2023\n\n**Senior Engineer, Pell Ltd**\n\nFeb 2018 – Feb 2022\n"
    )
    assert jobs(text) == TWO


def test_words_of_a_break_in_a_company_or_position_leave_it_a_job() -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\n### Sales Manager, Gap Inc.\n\n2019 – 2020\n\n"
        "### Leave Coordinator, Oslo Ltd\n\n2017 – 2019\n"
    )
    assert jobs(text) == [("Gap Inc.", "Sales Manager"), ("Oslo Ltd", "Leave Coordinator")]


@pytest.mark.parametrize(
    "text",
    [
        "## Contact\n\nann@lee.example\n\n## Skills\n\n- Nomad\n\n# Ann Marchbank\n\nSite Engineer\n\n## Work\n\n",
        "# Skills\n\n- Nomad\n\n# Contact\n\nann@lee.example\n\n# Ann Marchbank\n\nSite Engineer\n\n# Experience\n\n",
    ],
)
def test_the_name_below_a_sidebar_is_the_heading_above_the_position(text: str) -> None:
    found = records(f"{text}### Staff Engineer, Harrow NV\n\nAug 2019 – Present\n", PersonFacts)
    assert [(person.name, person.headline) for person in found if person.name] == [("Ann Marchbank", "Site Engineer")]


def test_letter_spaced_headings_and_names_are_read() -> None:
    text = "A N N   L E E\nBaker\n\nW O R K   H I S T O R Y\n\nStaff Engineer, Harrow NV\n2023 – Present\n- Led\n"
    assert jobs(text) == TWO[:1]
    assert records(text, PersonFacts)[0].name == "ANN LEE"


def test_a_year_inside_a_position_and_words_of_work_in_an_employers_name_leave_both_whole() -> None:
    text = (
        "Ann Lee\n\nann@lee.example\n\nEMPLOYMENT\n\nPlanner (Junior Planner until 2020)\t04/2018 – 08/2023\n\n"
        "Kelp Executive (worker-owned), Sheffield\n\n- Led\n\nClerk, from 2012 head clerk (night)\t10/2010 – 03/2018\n"
        "\nMersea Group, Liverpool\n\n- Filed\n\nScheduler\t2008 – 2010\n\nPell Ltd, Leeds\n\n- Planned\n"
    )
    assert jobs(text) == [
        ("Kelp Executive (worker-owned)", "Planner (Junior Planner until 2020)"),
        ("Mersea Group", "Clerk, from 2012 head clerk (night)"),
        ("Pell Ltd", "Scheduler"),
    ]


def test_a_position_in_a_heading_below_the_dates_of_a_company_is_one_job() -> None:
    text = "".join(
        f"### {company}\n\n### {place}\n\n{dates}\n\n### {position}\n\nHighlights\n\n- Led a team\n\n"
        for company, place, dates, position in (
            ("Harrow Hospital", "Smallvik, OH", "2019 – Present", "Charge Nurse"),
            ("Pell Clinic", "Grandvik, OH", "2015 – 2019", "Staff Nurse, Step-Down Unit"),
        )
    )
    found = records(f"# Ann Lee\n\n## Experience\n\n{text}", JobFacts)
    assert [(job.company, job.position, job.location) for job in found] == [
        ("Harrow Hospital", "Charge Nurse", "Smallvik, OH"),
        ("Pell Clinic", "Staff Nurse, Step-Down Unit", "Grandvik, OH"),
    ]


def test_a_range_of_dates_inside_a_sentence_dates_no_job() -> None:
    sentence = "Moved the archive (1996–2012) into one searchable store, working with the Marwick Institute"
    text = f"# Ann Lee\n\n## Work\n\nEngineer, Pell Ltd\n2019 – 2021\n\n{sentence}\n"
    assert jobs(text) == [("Pell Ltd", "Engineer")]


def test_a_known_place_that_follows_a_company_without_a_comma_is_its_place() -> None:
    text = "# Ann Lee\n\n## Work\n\n### Harrow Foods Cleveland, OH\n\n2019 – 2021\n\nEngineer\n"
    (job,) = records(text, JobFacts)
    assert (job.company, job.location) == ("Harrow Foods", "Cleveland, OH")


def in_fonts(lines: list[list[str]]) -> tuple[str, list[LineBox]]:
    """The text of lines whose pieces are each in a font of their own, and their boxes."""
    text, boxes = "", []
    for number, pieces in enumerate(lines):
        start, breaks = len(text), []
        for piece in pieces:
            breaks.append(len(text))
            text += piece
        boxes.append(
            LineBox(start, len(text), 1, 60.0, 700.0 - 13 * number, 400.0, 710.0 - 13 * number, tuple(breaks[1:]))
        )
        text += "\n"
    return text, boxes


def test_a_change_of_font_ends_a_position_that_has_a_comma_itself() -> None:
    lines = [["Ann Lee"], ["EXPERIENCE"]]
    jobs_of = (("Nurse, Day Unit", "Harrow, Leeds, UK", "2019 – 2021"), ("Cook", "Pell, Lyon", "2015"))
    for position, company, dates in jobs_of:
        lines += [[f"{position}, ", company], [dates]]
    text, boxes = in_fonts(lines)
    pieces = ResumeParser().pieces(text, text_blocks(text), boxes)
    found = [record for piece in pieces for record in records_of(piece.facts) if isinstance(record, JobFacts)]
    assert (found[0].company, found[0].position, found[0].location) == ("Harrow", "Nurse, Day Unit", "Leeds, UK")


def test_a_group_of_skills_in_a_font_of_its_own_needs_no_colon() -> None:
    text, boxes = in_fonts([["Ann Lee"], ["SKILLS"], ["Platforms ", "Linux, AWS"], ["Business ", "Scrum, Sales"]])
    pieces = ResumeParser().pieces(text, text_blocks(text), boxes)
    found = [record for piece in pieces for record in records_of(piece.facts) if isinstance(record, SkillsFacts)]
    assert [(one.group, one.skills) for one in found] == [
        ("Platforms", ("Linux", "AWS")),
        ("Business", ("Scrum", "Sales")),
    ]


@pytest.mark.parametrize("form", ["{dates}\t• {item}", "• {item}\t{dates}"])
def test_a_list_item_beside_dates_names_its_job_in_its_first_sentence(form: str) -> None:
    entries = (
        ("2019 – 2021", "Staff Engineer, Harrow Foods. Led a team of nine. Cut the cost."),
        ("2017 – 2019", "Senior Engineer, Pell Brothers. Built a pipeline."),
    )
    lines = "\n\n".join(form.format(dates=dates, item=item) for dates, item in entries)
    named = [("Harrow Foods", "Staff Engineer"), ("Pell Brothers", "Senior Engineer")]
    assert jobs(f"Ann Lee\n\nEXPERIENCE\n\n{lines}\n") == named


def test_a_heading_like_other_sections_opens_one_though_dates_are_near() -> None:
    text = (
        "# Ann Lee\n\n## SKILLS\n\nGo, Rust\n\n## SUMMARY\n\nBuilds.\n\n## EDUCATION\n\n### BA in History\n\n"
        "Marwick College\n\n2010 – 2013\n\n## THE ROAD TO HERE\n\nStaff Engineer, Harrow NV\n\n2019 – 2021\n\n"
        "Senior Engineer, Pell Ltd\n\n2017 – 2019\n"
    )
    assert jobs(text) == TWO


def test_a_weak_name_in_the_style_of_another_section_opens_one() -> None:
    text = (
        "# Ann Lee\n\n### ACADEMIC BACKGROUND\n\nBA in History, Marwick College\n\n2010 – 2013\n\n### WORK\n\n"
        "Staff Engineer, Harrow NV\n\n2019 – 2021\n\nSenior Engineer, Pell Ltd\n\n2017 – 2019\n\n"
        "## EXPERTISE\n\nGo, Rust\n\n## LANGUAGE SKILLS\n\nGerman (native)\n"
    )
    assert jobs(text) == TWO


def test_dates_beside_the_first_name_and_below_the_others_are_of_their_own_jobs() -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\nStaff Engineer, Harrow NV, 2019 – 2021\n\n- Led it\n\n"
        "Senior Engineer, Pell Ltd\n\n2017 – 2019\n\n- Built it\n"
    )
    assert jobs(text) == TWO


def test_a_heading_above_more_lines_than_the_first_job_has_names_its_job() -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\nHarrow NV, Porto\n\nStaff Engineer\n\n2019 – 2021\n\n- Led it\n\n"
        "### Pell Ltd\n\nLyon, France\n\nSenior Engineer\n\n2017 – 2019\n\n- Built it\n"
    )
    assert jobs(text) == TWO


def skills(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.group, one.skills) for one in records(text, SkillsFacts)]


def test_labels_typed_like_headings_stay_inside_skills() -> None:
    text = (
        "# Ann Lee\n\n## Summary\n\nBuilds.\n\n## Skills\n\n### Marketing\n\nSEO, Sales\n\n### Tools\n\nFigma, SQL\n\n"
    )
    assert skills(f"{text}### Education\n\nBA, Marwick College\n\n2010 – 2013\n") == [
        ("Marketing", ("SEO", "Sales")),
        ("Tools", ("Figma", "SQL")),
    ]


def test_rows_of_skills_with_names_of_sections_are_rows() -> None:
    text = "# Ann Lee\n\n## Summary\n\nBuilds.\n\n## Skills\n\nTools\tGo, Rust\n\nSpoken Languages\tEnglish, Greek\n\n"
    found = f"{text}Programs\tExcel, Word\n\n## Interests\n\nRowing\n"
    assert skills(found) == [("Tools", ("Go", "Rust")), ("Programs", ("Excel", "Word"))]
    assert [one.language for one in records(found, LanguageFacts)] == ["English", "Greek"]


def test_addresses_at_the_foot_of_a_page_are_no_skills() -> None:
    text = "# Ann Lee\n\n## Summary\n\nBuilds.\n\n## Skills\n\nGo, Rust\n\nBergen, Norway\n\n+47 555 01 223\ta@b.org\n"
    assert skills(text) == [("", ("Go", "Rust"))]


def test_a_short_line_far_below_the_last_section_is_a_footer() -> None:
    text, boxes = in_fonts([["Ann Lee"], ["SKILLS"], ["Go, Rust"], ["Ann Lee, Curriculum vitae"]])
    boxes[-1] = replace(boxes[-1], y0=30.0, y1=40.0)
    pieces = ResumeParser().pieces(text, text_blocks(text), boxes)
    found = [record for piece in pieces for record in records_of(piece.facts) if isinstance(record, SkillsFacts)]
    assert [one.skills for one in found] == [("Go", "Rust")]


def test_dates_in_brackets_below_a_line_belong_to_it() -> None:
    text = "Harrow NV, Oslo\n\n(2019 – 2021)\n\nStaff Engineer\n\nPell Ltd, Lyon\n\n(2017 – 2019)\n\nSenior Engineer\n"
    assert jobs(f"# Ann Lee\n\n## Experience\n\n{text}") == TWO


def test_leave_between_positions_at_an_employer_is_no_employer() -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\n**Quillon Corp**\n\nStaff Engineer\t2021 – 2023\n\n- Led\n\n"
        "Parental Leave\t2020 – 2021\n\nSenior Engineer\t2018 – 2020\n\n- Built\n"
    )
    assert jobs(text) == [("Quillon Corp", "Staff Engineer"), ("Quillon Corp", "Senior Engineer")]


def test_an_entry_begins_with_the_first_of_its_headings_whatever_the_first_entry_has() -> None:
    entries = (
        ("### Harrow NV, Oslo\n\n", "Staff Engineer"),
        ("### Pell Ltd\n\n### Lyon, France\n\n", "Senior Engineer"),
    )
    text = "".join(
        f"{head}{2019 - n} – {2020 - n}\n\n### {role}\n\n- Led\n\n" for n, (head, role) in enumerate(entries)
    )
    assert jobs(f"# Ann Lee\n\n## Experience\n\n{text}") == TWO


def test_a_clause_of_a_sentence_is_no_company() -> None:
    sentence = "Joined as employee number 6; by June 2021 the group had grown to 66 people"
    text = f"# Ann Lee\n\n## Work\n\nStaff Engineer, Harrow NV 2019 – 2021\n\n{sentence}\n"
    assert all("group had grown" not in company for company, _ in jobs(text))
    below = f"Harrow NV\n\nStaff Engineer\t2019 – 2021\n\n{sentence}\n\nSenior Engineer\t2017 – 2019\n"
    assert {company for company, _ in jobs(f"# Ann Lee\n\n## Work\n\n{below}")} == {"Harrow NV"}


def test_all_other_entries_say_how_many_lines_stand_above_their_dates() -> None:
    entries = ["Harrow NV, Oslo Staff Engineer\n\n2021 – 2023\n\n- Led\n\n"]
    named = [("Pell Ltd", "Senior Engineer"), ("Quillon Corp", "Engineer"), ("Marwick Foods", "Intern")]
    entries += [f"{company}, Lyon\n\n{role}\n\n{2018 - n}\n\n- Built\n\n" for n, (company, role) in enumerate(named)]
    assert jobs(f"# Ann Lee\n\n## Experience\n\n{''.join(entries)}")[1:] == named


def test_a_subject_before_its_degree_is_the_subject() -> None:
    text = "# Ann Lee\n\n## Education\n\nEnglish Literature, BA (Hons), Marwick College\n\n2011 – 2014\n"
    (school,) = records(text, EducationFacts)
    assert (school.degree, school.area, school.institution) == ("BA (Hons)", "English Literature", "Marwick College")


def test_a_line_below_a_certificates_heading_is_its_issuer() -> None:
    text = "# Ann Lee\n\n## Certifications\n\n### CCRN\n\nAACN\n\n### Life Support\n\nHeart Association\n"
    found = records(text, CertificationFacts)
    assert [(one.name, one.issuer) for one in found] == [("CCRN", "AACN"), ("Life Support", "Heart Association")]


def test_the_documents_title_is_no_part_of_the_name() -> None:
    (person,) = records("# JAN KÜSTER RESUME\n\njan@example.com\n\n## Skills\n\nGo, Rust\n", PersonFacts)
    assert person.name == "JAN KÜSTER"


def test_a_list_of_groups_in_one_line_has_no_labels_among_its_skills() -> None:
    text = "# Ann Lee\n\n## Summary\n\nBuilds.\n\n## Skills\n\nCode: Python, SQL; Tools: Airflow, dbt\n"
    assert [skill for _, names in skills(text) for skill in names] == ["Python", "SQL", "Airflow", "dbt"]


@pytest.mark.parametrize("end", ["2021 –\n\nPresent", "May 2019 -\n\nJune 2021", "2019 to\n2021"])
def test_a_range_that_goes_on_in_the_line_below_is_one(end: str) -> None:
    text = f"# Ann Lee\n\n## Experience\n\nCook, Halden Foods ({end})\n\n- Baked\n\nBaker, Pell Ltd (2015 – 2018)\n"
    assert [(job.company, job.date_range) for job in records(text, JobFacts)] == [
        ("Halden Foods", end),
        ("Pell Ltd", "2015 – 2018"),
    ]


def test_a_job_whose_place_follows_a_name_in_brackets_keeps_its_company() -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\nCook, City of Pell, Kyoto, Japan\t2019 – 2021\n\n- Baked\n\n"
        "Baker, Halden (Veridane Group), Lille\t2015 – 2018\n"
    )
    assert [job.company for job in records(text, JobFacts)] == ["City of Pell", "Halden (Veridane Group)"]


def test_a_row_of_languages_without_spoken_ones_is_a_row_of_skills() -> None:
    text = "# Ann Lee\n\n## Summary\n\nBuilds.\n\n## Skills\n\nLanguages\tPython, SQL\n\nTools\tAirflow, dbt\n"
    assert skills(text) == [("Languages", ("Python", "SQL")), ("Tools", ("Airflow", "dbt"))]


def test_a_company_with_a_short_name_and_its_place_without_a_comma_are_two() -> None:
    text = "# Ann Lee\n\n## Work\n\nEngineer\t2019 – 2021\n\nNorthfold Analytics Leeds, UK\n\n- Built\n"
    (job,) = records(text, JobFacts)
    assert (job.company, job.location) == ("Northfold Analytics", "Leeds, UK")


PROSE = "Baked bread for the whole town for years, and sold all of it there."


@pytest.mark.parametrize(
    ("below", "unread"),
    [
        ("Photographer, Pell Ltd\t2015 – 2018\n", ["Photographer, Pell Ltd\t2015 – 2018"]),
        ("Go, Rust, Python (2015 – 2018)\n", []),
        (f"Cook, Pell Ltd. {PROSE}\t2015 – 2018\n", [f"Cook, Pell Ltd. {PROSE}\t2015 – 2018"]),
        ("BSc, Leith College (2015 – 2018)\n", ["BSc, Leith College (2015 – 2018)"]),
        ("Go, Rust\n\n## Volunteering\n\nTutor, Red Cross\t2015 – 2018\n", []),
        ("Go, Rust\n\n## Education\n\nBSc, Leith College\t2015 – 2018\n", []),
    ],
)
def test_a_dated_line_that_nothing_was_read_from_is_stated(below: str, unread: list[str]) -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\nStaff Engineer, Harrow NV\t2021 – Present\n\n- Moved a store from 2019 to 2020"
        f"\n\nParental leave\t2020 – 2021\n\n## Skills\n\n{below}"
    )
    assert [text[slice(*line.span)] for line in records(text, UnreadLine)] == unread


def test_headings_that_are_dates_begin_entries_of_a_section_without_a_known_name() -> None:
    text = (
        "# Ann Lee\n\n## Skills\n\nGo\n\n## The road to here\n\n## Jan 2021 – Present\n\nStaff Engineer – Harrow NV\n\n"
        "## Jun 2017 – Dec 2020\n\nSenior Engineer – Pell Ltd\n"
    )
    assert jobs(text) == TWO


@pytest.mark.parametrize(
    "head",
    [
        "# REGISTERED NURSE\n\nDakar, Senegal\n\nAnn Lee\n\nann.lee@mail.example",
        "# Expertise\n\n# Ann Lee\n\n# Sommelier\n\nKyoto, Japan | a.lee@mail.example",
    ],
)
def test_the_name_is_the_one_that_an_address_has(head: str) -> None:
    text = f"{head}\n\n# Experience\n\nStaff Engineer, Harrow NV\t2021 – Present\n\n# Skills\n\nGo, Rust\n"
    assert [person.name for person in records(text, PersonFacts) if person.name] == ["Ann Lee"]


def test_short_items_below_unknown_titles_are_skills_where_no_section_of_them_is() -> None:
    groups = "## DATA\n\nSQL\n\nR\n\n## BUSINESS\n\nTerraform, Linux\n\n"
    text = f"# Ann Lee\n\n## PROFILE\n\nI like boats.\n\n{groups}## LANGUAGES\n\nEnglish (native)\n"
    assert [record.skills for record in records(text, SkillsFacts)] == [("SQL", "R"), ("Terraform", "Linux")]
    assert ("SQL", "R") not in [each.skills for each in records(f"{text}\n## SKILLS\n\nGo, Rust\n", SkillsFacts)]


def test_a_heading_that_could_be_no_name_is_passed_over() -> None:
    text = "## profile-pic\n\n# ANN KESTREL\n\n## MARKETING LEAD\n\n### WORK\n\nHarrow NV\t2019 - 2021\n\n#### COOK\n"
    assert [person.name for person in records(text, PersonFacts)] == ["ANN KESTREL"]


@pytest.mark.parametrize(
    ("file", "below", "name"),
    [
        ("people/CV Ann Kestrel (2025).pdf", "", "Ann Kestrel"),
        ("AnnKestrel_resume.docx", "# References\n\nOf Ann KESTREL: good.", "Ann KESTREL"),
        ("John Smith.pdf", "", ""),
        ("John Smith.pdf", "John Smith, signed", "John Smith"),
        ("Resume Final Version.pdf", "", ""),
        ("resume-2025.pdf", "", ""),
    ],
)
def test_the_name_of_the_file_names_whom_the_text_does_not(file: str, below: str, name: str) -> None:
    text = f"+49 341 5550199\n\n# Experience\n\nHarrow NV | Cook | 2019 - 2021\n\n{below}".rstrip()
    document = Document("1", text, f"file:///{file}", "file:///", "file", file, "text/markdown", len(text), "sha")
    pieces = ResumeParser().split(document)
    people = [each for piece in pieces for each in records_of(piece.facts) if isinstance(each, PersonFacts)]
    assert {person.name for person in people if person.name} == ({name} if name else set())
    assert all(person.name in text or person.name in pieces[0].lead for person in people)


def test_a_place_or_a_position_in_the_style_of_sections_opens_none() -> None:
    text = (
        "# Ann Lee\n\n## Skills\n\nGo, Rust\n\n## The road to here\n\nQuillon\t2021 – Present\n\n"
        "## Busan, South Korea\n\nEngineer\n\n- Hired\n\nPell\t2017 – 2020\n\n"
        "## Sevilla, Spain\n\nAnalyst\n\n- Counted\n"
    )
    assert jobs(text) == [("Quillon", "Engineer"), ("Pell", "Analyst")]
    text = "# Ann Lee\n\n## Skills\n\nGo, Rust\n\n## My road\n\n## Engineer\n\nQuillon\n\n2021 – Present\n\n- Hired\n\n"
    assert jobs(f"{text}## Analyst\n\nPell\n\n2017 – 2020\n\n- Counted\n") == [
        ("Quillon", "Engineer"),
        ("Pell", "Analyst"),
    ]


def test_the_first_group_of_skills_is_no_section_though_its_label_is_the_name_of_one() -> None:
    text = (
        "# Ann Lee\n\n## Skills\n\n## Programming\n\nGo, Rust\n\n## Data\n\nExcel, dbt\n\n## Education\n\nMSc, Leith\n"
    )
    skills = [skill for record in records(text, SkillsFacts) for skill in record.skills]
    assert skills == ["Go", "Rust", "Excel", "dbt"]


def test_items_that_name_jobs_keep_their_dates_beside_a_break_and_behind_a_legal_form() -> None:
    text = (
        "# Ann Lee\n\n## Experience\n\n- Cook, Leith Inn GmbH. Ran a kitchen of nine people\n\nJuly 2023 – Present\n\n"
        "Sabbatical\n\nJune 2023\n\n- Waiter, Quay Inn. Served at every table\n\nMay 2020 – May 2023\n"
    )
    assert jobs(text) == [("Leith Inn GmbH", "Cook"), ("Quay Inn", "Waiter")]


def test_a_degree_in_letters_on_a_line_of_its_own_names_its_subject() -> None:
    text = "# Ann Lee\n\n## Education\n\n### Leith University\n\n{}\n\nNursing\n\n2012 – 2015\n"
    for degree in ("M.Sc.", "B.A. (Hons)"):
        found = records(text.format(degree), EducationFacts)
        assert [(one.institution, one.degree, one.area) for one in found] == [("Leith University", degree, "Nursing")]
