"""What stands beside a job or a study stays beside it: a mail in a description, a job of the same years, places."""

from typing import Any

import pytest

from pipelines.blocks import markdown_blocks, text_blocks
from pipelines.facts import EducationFacts, JobFacts, PersonFacts, SkillsFacts, records_of
from pipelines.ingestion.parsers.careers.people import phone_in
from pipelines.ingestion.parsers.resume import ResumeParser
from tests.unit.ingestion.test_linkedin import pieces

OPENING = "Ann Lee\nann@lee.example\n\nEXPERIENCE\n"
PROFILE = "Jane Doe\nExperience\n"


def facts(text: str) -> list[Any]:
    blocks = markdown_blocks(text) if text.startswith("#") else text_blocks(text)
    return [record for piece in ResumeParser().pieces(text, blocks) for record in records_of(piece.facts)]


def jobs(found: list[Any]) -> list[tuple[str, str, str]]:
    return [(job.company, job.position, job.location) for job in found if isinstance(job, JobFacts)]


def skills(found: list[Any]) -> list[tuple[str, tuple[str, ...]]]:
    return [(record.group, record.skills) for record in found if isinstance(record, SkillsFacts)]


def profile(text: str) -> list[tuple[str, str, str]]:
    return jobs([record for piece in pieces(PROFILE + text) for record in records_of(piece.facts)])


def test_a_mail_in_a_line_of_a_job_is_not_the_persons_and_leaves_the_job_whole() -> None:
    found = facts(
        "# Ann Lee\n\nann@lee.example\n\n# Experience\n\nEngineer, Acme Ltd\t2019 – 2021\n\nLyon, France\n\n"
        "Supervisor: Jane Doe, jane@acme.example, +33 612 555 0131\n\n- Built it\n"
    )
    assert jobs(found) == [("Acme Ltd", "Engineer", "Lyon, France")]
    assert {person.email for person in found if isinstance(person, PersonFacts)} == {"ann@lee.example"}
    found = facts(f"{OPENING}Cook, Pell Ltd\t2015 – 2018\n- Cooked\n- Ran the list announce@acme.example\n- Built it\n")
    assert jobs(found) == [("Pell Ltd", "Cook", "")]
    assert "announce@acme.example" not in {person.email for person in found if isinstance(person, PersonFacts)}


@pytest.mark.parametrize(
    ("text", "companies"),
    [
        (
            "Acme Ltd\t2015 – 2021\nPell Ltd\t2018 – 2020\nUmbra Inc\t2016 – 2017\n",
            ["Acme Ltd", "Pell Ltd", "Umbra Inc"],
        ),
        ("Wrangler, Umbra\t2015 – 2021\nEngineer, Pell Ltd\t2018 – 2020\n", ["Umbra", "Pell Ltd"]),
        (
            "Dramaturg, Globe Theatre\tMar 2021 – Dec 2021\nLighting, Rose Theatre\tJan 2021 – Mar 2021\n"
            "Usher, Swan Theatre\t2019 – 2020\n",
            ["Globe Theatre", "Rose Theatre", "Swan Theatre"],
        ),
    ],
)
def test_a_job_within_the_years_of_another_is_a_job_of_its_own(text: str, companies: list[str]) -> None:
    assert [company for company, _, _ in jobs(facts(OPENING + text))] == companies


def test_a_place_above_a_company_is_of_that_company() -> None:
    text = "London, UK\nAcme Ltd\nEngineer\n2019 – 2021\nParis, France\nPell Ltd\nCook\n2016 – 2019\n"
    assert jobs(facts(OPENING + text)) == [
        ("Acme Ltd", "Engineer", "London, UK"),
        ("Pell Ltd", "Cook", "Paris, France"),
    ]


def test_adjacent_dated_lines_after_closing_dates_are_stored_once() -> None:
    text = "Engineer, Acme Ltd\n- Built it\n2019 – 2021\nCook, Pell Ltd 2014 – 2015\nPainter, Umbra Ltd 2012 – 2014\n"
    companies = [company for company, _, _ in jobs(facts(OPENING + text))]
    assert len(companies) == len(set(companies))


def test_dated_items_below_an_undated_line_are_jobs() -> None:
    text = "Some of my work:\n- Engineer, Acme Ltd, 2019 – 2021\n  - Built it in 2020\n- Cook, Pell Ltd, 2016 – 2019\n"
    assert [company for company, _, _ in jobs(facts(OPENING + text))] == ["Acme Ltd", "Pell Ltd"]


def test_a_study_with_a_sentence_behind_its_dates_keeps_its_school() -> None:
    text = (
        "# Ann Lee\n\n## Education\n\nBachelor of Science in Computer Science and Pure Mathematics, University of "
        "Marwick, 2010 – 2013. Graduated with a thesis on the kilns of the north of the country.\n"
    )
    assert [study.institution for study in facts(text) if isinstance(study, EducationFacts)] == [
        "University of Marwick"
    ]


def test_a_freelance_job_of_a_profile_is_not_of_the_employer_before() -> None:
    text = (
        "Acme Corp\nEngineer\nJanuary 2020 - Present (3 years)\nOslo, Norway\nOakline\nFreelance\n"
        "March 2016 - December 2019 (3 years 10 months)\nLyon, France\n"
    )
    assert profile(text) == [("Acme Corp", "Engineer", "Oslo, Norway"), ("Oakline", "Freelance", "Lyon, France")]


def test_the_area_of_a_town_is_a_place_of_a_profile_and_a_description_is_none() -> None:
    text = (
        "Acme Corp\nEngineer\nJanuary 2020 - Present (3 years)\nSan Francisco Bay Area\nOakline\nAnalyst\n"
        "March 2016 - December 2019 (3 years 10 months)\nBuilt REST APIs\n"
    )
    assert profile(text) == [("Acme Corp", "Engineer", "San Francisco Bay Area"), ("Oakline", "Analyst", "")]


@pytest.mark.parametrize(
    ("words", "location"),
    [
        ("New York City Metropolitan Area", "New York City Metropolitan Area"),
        ("Alrededores de Guadalajara y Zapopan", "Alrededores de Guadalajara y Zapopan"),
        ("Washington, D.C.", "Washington, D.C."),
        ("Grew sales in the region", ""),
        ("Worked in Paris, France.", ""),
        ("Freelance", ""),
        ("Remote", "Remote"),
    ],
)
def test_words_below_the_dates_of_a_profile_are_a_place_if_they_name_one(words: str, location: str) -> None:
    dates = "March 2016 - December 2019 (3 years 10 months)"
    assert profile(f"Oakline\nAnalyst\n{dates}\n{words}\n") == [("Oakline", "Analyst", location)]


@pytest.mark.parametrize("last", ["", "Rome, Italy\n"])
def test_places_below_dates_are_of_the_job_above_where_all_later_jobs_have_as_many_lines(last: str) -> None:
    jobs_below = "Engineer\nAcme Ltd\n2019 – 2021\nLyon, France\nCook\nPell Ltd\n2016 – 2019\nParis, France\n"
    text = f"{jobs_below}Painter\nUmbra Inc\n2014 – 2016\n{last}"
    assert jobs(facts(OPENING + text)) == [
        ("Acme Ltd", "Engineer", "Lyon, France"),
        ("Pell Ltd", "Cook", "Paris, France"),
        ("Umbra Inc", "Painter", last.strip()),
    ]


def test_headings_unlike_that_of_the_skills_are_labels_of_groups_whatever_they_say() -> None:
    groups = "### Programming\n\nGo, SQL\n\n### Data\n\nExcel\n\n### Platforms\n\nLinux\n\n### Business\n\nBudgets\n"
    text = f"# Ann Lee\n\n#### Expertise\n\n{groups}\n#### Experience\n\nCook, Pell Ltd\t2016 – 2019\n"
    found = facts(text)
    assert skills(found) == [
        ("Programming", ("Go", "SQL")),
        ("Data", ("Excel",)),
        ("Platforms", ("Linux",)),
        ("Business", ("Budgets",)),
    ]
    assert jobs(found) == [("Pell Ltd", "Cook", "")]


def test_titles_of_skills_are_no_skills() -> None:
    text = "Ann Lee\n\nSkills\nGo, SQL\n\nTechnical Skills\nLinux, Git\n\nSoft Skills\nListening, Writing\n"
    assert skills(facts(text)) == [("", ("Go", "SQL")), ("", ("Linux", "Git")), ("", ("Listening", "Writing"))]
    text = "# Ann Lee\n\n## Skills\n\n### Technical Skills\n\nLanguages: Go, SQL\n\n### Tools\n\nData: Excel\n"
    assert skills(facts(text)) == [("Languages", ("Go", "SQL")), ("Data", ("Excel",))]


ADDRESS = "Lyon, France\n+33 612 555 0131\nann@lee.example\n"
WORK = "\nEXPERIENCE\nCook, Pell Ltd\t2016 – 2019\n- Cooked\n"


def persons(found: list[Any]) -> list[tuple[str, str, str]]:
    return [(one.location, one.phone, one.email) for one in found if isinstance(one, PersonFacts) and one.email]


def test_addresses_between_the_lines_of_a_list_are_the_persons() -> None:
    found = facts(f"Ann Lee\n\nSKILLS\nGo, Rust\n{ADDRESS}SQL\n{WORK}")
    assert [skill for _, each in skills(found) for skill in each] == ["Go", "Rust", "SQL"]
    assert persons(found) == [("Lyon, France", "+33 612 555 0131", "ann@lee.example")]
    assert jobs(found) == [("Pell Ltd", "Cook", "")]


@pytest.mark.parametrize("header", ["Ann Lee\nann@lee.example\n\n", "Ann Lee\n\n"])
@pytest.mark.parametrize(
    "lines", ["info@acme.example\n", "info@acme.example\n+33 612 555 0131\n", "boss@acme.example\nwww.acme.example\n"]
)
def test_addresses_of_an_employer_leave_the_job_whole(header: str, lines: str) -> None:
    job = f"EXPERIENCE\nEngineer, Acme Ltd\n2019 – 2021\nOslo, Norway\n{lines}- Built it\n"
    (found,) = [record for record in facts(header + job) if isinstance(record, JobFacts)]
    assert (found.company, found.position, found.location) == ("Acme Ltd", "Engineer", "Oslo, Norway")
    assert found.bullets == ("Built it",)


def test_a_place_right_below_dates_is_not_the_persons() -> None:
    found = facts(f"Ann Lee\n\nEXPERIENCE\nEngineer, Acme Ltd\n2019 – 2021\n{ADDRESS}Cook, Pell Ltd\n2016 – 2019\n")
    assert jobs(found) == [("Acme Ltd", "Engineer", "Lyon, France"), ("Pell Ltd", "Cook", "")]
    assert persons(found) == [("", "+33 612 555 0131", "ann@lee.example")]


@pytest.mark.parametrize(
    ("words", "phone"),
    [
        ("12.2012 - 03.2015", ""),
        ("2012 - 2015", ""),
        ("+852 2012-2015", "+852 2012-2015"),
        ("(020) 1980-1999", "(020) 1980-1999"),
        ("Tel. 030 2001-2005", "030 2001-2005"),
    ],
)
def test_a_range_of_months_is_no_telephone_number_and_one_with_other_digits_is(words: str, phone: str) -> None:
    assert phone_in(words) == phone


@pytest.mark.parametrize("company", ["Centre for Applied Ethics", "Teach for America", "Women in Tech"])
def test_an_employer_with_a_preposition_in_its_name_is_not_parted(company: str) -> None:
    found = jobs(
        facts(f"{OPENING}{company}\t2015 – 2021\nEngineer\t2018 – 2021\n- Did\nAssistant\t2015 – 2018\n- Did\n")
    )
    assert [(each, position) for each, position, _ in found] == [(company, "Engineer"), (company, "Assistant")]


@pytest.mark.parametrize(
    "words",
    [
        "Career break – travelling through Asia",
        "Career break – full-time care of my two young children during the first years of their lives",
        "Elternzeit – Betreuung meiner beiden Kinder und nebenbei Weiterbildung in der Statistik",
        "Parental leave/full-time care",
        "Elternzeit bei der Familie",
    ],
)
def test_leave_with_more_words_is_no_job(words: str) -> None:
    assert jobs(facts(f"{OPENING}{words}\t2019 – 2021\nCook, Pell Ltd\t2016 – 2019\n")) == [("Pell Ltd", "Cook", "")]


def test_positions_below_the_dates_of_their_employer_are_its_own() -> None:
    group = "Acme Ltd\t2015 – 2021\nEngineer\t2018 – 2021\n- Built\nAnalyst\t2015 – 2018\n- Looked\n"
    text = f"{group}Pell Ltd\t2012 – 2015\nCook\t2012 – 2015\n- Cooked\n"
    assert jobs(facts(OPENING + text)) == [
        ("Acme Ltd", "Engineer", ""),
        ("Acme Ltd", "Analyst", ""),
        ("Pell Ltd", "Cook", ""),
    ]


def test_dates_right_below_others_name_no_employer_of_a_copied_page() -> None:
    text = (
        "Engineer\nAcme · Full-time\nJan 2018 - Dec 2020 · 3 yrs\nJan 2016 - Dec 2017 · 2 yrs\nLyon, France\n"
        "Cook\nPell · Contract\nJan 2014 - Dec 2015 · 2 yrs\n"
    )
    assert profile(text) == [("Acme", "Engineer", ""), ("Pell", "Cook", "")]


def test_an_exported_page_may_say_a_type_of_employment_with_the_duration_of_an_employer() -> None:
    text = (
        "Acme Corp\nFull-time · 5 years\nLead\nJanuary 2020 - December 2022 (3 years)\nOslo, Norway\n"
        "Engineer\nJanuary 2018 - December 2019 (2 years)\nBuilt the search.\n"
        "Pell\nCook\nJanuary 2015 - December 2017 (3 years)\n"
    )
    assert profile(text) == [("Acme Corp", "Lead", "Oslo, Norway"), ("Acme Corp", "Engineer", ""), ("Pell", "Cook", "")]


@pytest.mark.parametrize(
    "words", ["IBM - Gap Year Placement", "Deloitte – Career Break Returnship", "HR – Leave administration"]
)
def test_a_job_that_speaks_of_leave_is_a_job(words: str) -> None:
    assert len(jobs(facts(f"{OPENING}{words}\t2019 – 2021\nCook, Pell Ltd\t2016 – 2019\n"))) == 2


CONTACT = "info@acme.example\n+33 612 555 0131\n"


def test_addresses_of_an_employer_part_no_entry() -> None:
    two = f"Nurse\nElm Hospital\n{CONTACT}2018 – 2021\n- Nursed\nCook\nPell Ltd\n2012 – 2014\n- Cooked\n"
    found = jobs(facts(f"Ann Lee\n\nEXPERIENCE\n{two}"))
    assert {(company, position) for company, position, _ in found} == {("Elm Hospital", "Nurse"), ("Pell Ltd", "Cook")}
    group = (
        f"Acme Corp\n6 years\nLead\nJanuary 2020 - December 2022 (3 years)\nOslo, Norway\n{CONTACT}"
        "Built the search.\nEngineer\nJanuary 2017 - December 2019 (3 years)\n"
    )
    assert [(company, position) for company, position, _ in profile(group)] == [
        ("Acme Corp", "Lead"),
        ("Acme Corp", "Engineer"),
    ]
    studies = (
        f"Ann Lee\n\nEDUCATION\nMarwick University\n{CONTACT}BSc Physics\n2010 – 2013\n"
        "Oakley University\nMSc Physics\n2013 – 2015\n"
    )
    read = [(each.institution, each.degree) for each in facts(studies) if isinstance(each, EducationFacts)]
    assert ("Oakley University", "BSc") not in read
    assert "Marwick University" in {institution for institution, _ in read}


def test_a_skill_that_looks_like_a_host_is_no_address() -> None:
    found = facts("Ann Lee\n\nSKILLS\nReact\nNode.js\nann@lee.example\n+33 612 555 0131\nSQL\n")
    skills = {skill for each in found if isinstance(each, SkillsFacts) for skill in each.skills}
    assert {"React", "Node.js", "SQL"} <= skills


def test_specialities_inside_a_job_open_no_section() -> None:
    found = facts(
        f"{OPENING}Chef, Pell SA\t2016 – 2019\nEspecialidades:\n- Pescados\nCocinero, Umbra SA\t2014 – 2016\n"
    )
    assert [(company, position) for company, position, _ in jobs(found)] == [
        ("Pell SA", "Chef"),
        ("Umbra SA", "Cocinero"),
    ]


@pytest.mark.parametrize("level", ["●●●●○", "Expert", "80%"])
def test_a_skill_with_a_level_is_one_also_where_it_is_called_as_a_section_is(level: str) -> None:
    found = facts(f"Ann Lee\n\nSKILLS\nProgramming: {level}\nCommunication: {level}\n")
    skills = {word for each in found if isinstance(each, SkillsFacts) for word in (*each.skills, each.group)}
    assert {"Programming", "Communication"} <= skills


def test_places_below_dates_leave_a_first_job_its_own_place() -> None:
    text = (
        "Acme Ltd, London\nEngineer\n2019 – 2021\nParis, France\nPell Ltd\nCook\n2016 – 2019\n"
        "Rome, Italy\nUmbra Inc\nPainter\n2014 – 2016\n"
    )
    assert [place for _, _, place in jobs(facts(OPENING + text))] == ["London", "Paris, France", "Rome, Italy"]


@pytest.mark.parametrize("words", ["Python, React, Node.js.", "Sales for Canada, Mexico, U.S.", "B.S., M.S., Ph.D."])
def test_a_line_that_ends_in_a_stop_is_no_place_of_a_profile(words: str) -> None:
    first = f"Acme\nEngineer\nJanuary 2018 - December 2020 (3 years)\n{words}\n"
    text = f"{first}Pell\nCook\nJanuary 2015 - December 2017 (3 years)\n"
    assert profile(text)[0] == ("Acme", "Engineer", "")
