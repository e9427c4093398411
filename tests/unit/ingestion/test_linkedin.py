"""LinkedIn profiles: the export's two layouts, a copied page, six languages."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
    SummaryFacts,
    UnreadLine,
    records_of,
)
from pipelines.ingestion.parsers.linkedin import LinkedInParser
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.text import canonical, count_tokens
from pipelines.types import Block, Document

SIDEBAR = """\
Contact
www.linkedin.com/in/jane-
doe-1234 (LinkedIn)
jane.doe@example.com

Top Skills
Python
Machine Learning
SQL

Languages
English (Native or Bilingual)
Spanish (Limited Working)

Certifications
Certified Ladder Climber
Welding II

Jane Doe
Senior Engineer | Search
Oslo, Norway

Summary
I build things. In 2019 I moved.
"""
JOBS = """\
Experience
Acme Corp
5 years 2 months
Senior Engineer
January 2020 - Present (3 years 2 months)
Bergen, Norway
Led the team that built search.
- Cut latency
- Hired four
Engineer
January 2018 - December 2019 (2 years)
Wrote code in 2018.
Other Corp
Analyst
May 2015 - June 2017 (2 years 2 months)
Page 1 of 2
Counted things
Solo GmbH
Founder
2013 - 2015 (2 years)
"""
SCHOOLS = """\
Education
University of Elsewhere
Bachelor of Science - BS, Computer Science · (2010 - 2014)
Gymnasium Ost
Abitur · (2002 - 2010)
Night School
"""
OLD = """\
Jane Doe
Software Engineer at Acme
jane@example.com

Experience
Senior Engineer at Acme Corp
January 2012 - Present (3 years 2 months)
Did things with people.
VP at Large at Bank of Elsewhere
2008 - 2011 (3 years)

Skills & Expertise
Python
Leadership

Education
University of Elsewhere
BS, Computer Science, 2000 - 2004
Activities and Societies: Chess

Jane Doe
Software Engineer at Acme
2 people have recommended Jane
"""
COPIED = """\
Experience
Senior Engineer
Senior Engineer
Acme Corp · Full-time
Jan 2020 - Present · 3 yrs 2 mos
Oslo, Norway · Hybrid
Beta
5 yrs 2 mos
Lead
Full-time
Jan 2018 - Dec 2019 · 2 yrs
Did it.
Developer
Nov 2014 - Dec 2017 · 3 yrs 2 mos
Intern
Gamma Inc
Jan 2013 - Mar 2013 · 3 mos
"""


def document(text: str, **fields) -> Document:
    facts = {"mime": "text/plain", "category": "linkedin", "content_sha": "c"} | fields
    return Document(
        id="d", text=canonical(text), source_uri="u", source="s", source_kind="file", name="Profile.pdf", bytes=1,
        file_sha="f", **facts,
    )  # fmt: skip


def pieces(text: str, max_tokens: int = 800) -> list[Piece]:
    return LinkedInParser(max_tokens=max_tokens).split(document(text))


def facts(text: str, kind: type[CareerRecord]) -> list:
    return [record for piece in pieces(text) for record in records_of(piece.facts) if isinstance(record, kind)]


def jobs(text: str) -> list[tuple[str, str, str, str | None]]:
    return [(job.company, job.position, job.start_month, job.end_month) for job in facts(text, JobFacts)]


JANES_JOBS = [
    ("Acme Corp", "Senior Engineer", "2020-01", None),
    ("Acme Corp", "Engineer", "2018-01", "2019-12"),
    ("Other Corp", "Analyst", "2015-05", "2017-06"),
    ("Solo GmbH", "Founder", "2013", "2015"),
]


# The current layout


def test_each_section_is_a_node_of_its_kind() -> None:
    kinds = [(piece.kind, piece.section_path) for piece in pieces(SIDEBAR + JOBS + SCHOOLS)]
    assert kinds == [
        ("contact", ("Contact",)),
        ("skills", ("Top Skills",)),
        ("language", ("Languages",)),
        ("certification", ("Certifications",)),
        ("contact", ()),
        ("summary", ("Summary",)),
        ("job", ("Experience",)),
        ("education", ("Education",)),
    ]


def test_later_positions_have_the_company_of_the_first() -> None:
    assert jobs(SIDEBAR + JOBS + SCHOOLS) == JANES_JOBS


def test_a_job_has_location_bullets_and_dates_without_duration() -> None:
    first, second, *_ = facts(JOBS, JobFacts)
    assert (first.location, first.current, first.bullets) == ("Bergen, Norway", True, ("Cut latency", "Hired four"))
    assert (first.date_range, second.date_range) == ("January 2020 - Present", "January 2018 - December 2019")
    assert second.location == ""
    assert JOBS[slice(*second.span)].startswith("Engineer\nJanuary 2018")


def test_the_total_duration_decides_which_position_is_the_last_of_a_company() -> None:
    longer = JOBS.replace("5 years 2 months", "7 years 4 months")
    assert [company for company, *_ in jobs(longer)] == ["Acme Corp", "Acme Corp", "Acme Corp", "Solo GmbH"]


def test_a_total_duration_may_include_gaps_between_positions() -> None:
    text = (
        "Experience\nAcme\n3 years\nLead\nJanuary 2020 - December 2020 (1 year)\nBuilt it\n"
        "Cook\nJanuary 2018 - December 2018 (1 year)\nCooked it\nOther Works\nWaiter\n2017 - 2017 (6 months)\n"
    )
    assert [company for company, *_ in jobs(text)] == ["Acme", "Acme", "Other Works"]


def test_schools_have_degree_subject_and_years() -> None:
    found = [
        (school.institution, school.degree, school.area, school.start_month, school.end_month)
        for school in facts(SCHOOLS, EducationFacts)
    ]
    assert found == [
        ("University of Elsewhere", "Bachelor of Science - BS", "Computer Science", "2010", "2014"),
        ("Gymnasium Ost", "Abitur", "", "2002", "2010"),
        ("Night School", "", "", "", None),
    ]


def test_the_sidebar_has_skills_languages_certificates_and_addresses() -> None:
    assert [skills.skills for skills in facts(SIDEBAR, SkillsFacts)] == [("Python", "Machine Learning", "SQL")]
    assert [(spoken.language, spoken.level) for spoken in facts(SIDEBAR, LanguageFacts)] == [
        ("English", "Native or Bilingual"),
        ("Spanish", "Limited Working"),
    ]
    assert [one.name for one in facts(SIDEBAR, CertificationFacts)] == ["Certified Ladder Climber", "Welding II"]
    contact, person = facts(SIDEBAR, PersonFacts)
    assert (contact.email, contact.links) == ("jane.doe@example.com", ("www.linkedin.com/in/jane-doe-1234",))
    assert (person.name, person.headline, person.location) == ("Jane Doe", "Senior Engineer | Search", "Oslo, Norway")


def test_a_certificate_has_its_issuer() -> None:
    def read(lines: str) -> list[tuple[str, str, str]]:
        found = facts(f"Certifications\n{lines}\n\nExperience\nA\nB\n2019 - 2020\n", CertificationFacts)
        return [(one.name, one.issuer, one.start_month) for one in found]

    assert read("Scrum, Ladder Board\nFirst Aid, Red House") == [
        ("Scrum", "Ladder Board", ""),
        ("First Aid", "Red House", ""),
    ]
    assert read("Scrum\nArchitect, Associate") == [("Scrum", "", ""), ("Architect, Associate", "", "")]
    assert read("Scrum\nLadder Board   License 12   January 2015 to January 2018") == [
        ("Scrum", "Ladder Board", "2015-01")
    ]


def test_a_name_is_found_by_its_heading() -> None:
    text = canonical(SIDEBAR.replace("jane-\ndoe-1234", "x1"))
    titles = ["Contact", "Top Skills", "Languages", "Certifications", "Jane Doe", "Summary"]
    blocks = tuple(
        Block(text.index(title), text.index(title) + len(title), "heading", 1 if title == "Jane Doe" else 3)
        for title in titles
    )
    found = LinkedInParser().split(document(text, blocks=blocks))
    assert [record.name for record in records_of(found[4].facts)] == ["Jane Doe"]


def test_languages_on_one_line_are_separated() -> None:
    text = "Languages\nEnglish (Native or Bilingual) Swedish (Limited Working)\nExperience\nA\nB\n2019 - 2020\n"
    assert [spoken.language for spoken in facts(text, LanguageFacts)] == ["English", "Swedish"]


def test_a_bracket_that_continues_on_the_next_line_is_joined() -> None:
    text = "Education\nUniversity of Elsewhere\nMaster of Arts, History · (2010 -\n2012)\n"
    (school,) = facts(text, EducationFacts)
    assert (school.area, school.start_month, school.end_month) == ("History", "2010", "2012")


# The old layout, a copied page


def test_the_old_layout_names_position_and_company_on_one_line() -> None:
    assert jobs(OLD) == [
        ("Acme Corp", "Senior Engineer", "2012-01", None),
        ("Bank of Elsewhere", "VP at Large", "2008", "2011"),
    ]
    assert [skills.skills for skills in facts(OLD, SkillsFacts)] == [("Python", "Leadership")]
    (school,) = facts(OLD, EducationFacts)
    assert (school.institution, school.degree, school.area) == ("University of Elsewhere", "BS", "Computer Science")
    (person,) = facts(OLD, PersonFacts)
    assert (person.name, person.email) == ("Jane Doe", "jane@example.com")


def test_a_copied_page_is_read() -> None:
    assert jobs(COPIED) == [
        ("Acme Corp", "Senior Engineer", "2020-01", None),
        ("Beta", "Lead", "2018-01", "2019-12"),
        ("Beta", "Developer", "2014-11", "2017-12"),
        ("Gamma Inc", "Intern", "2013-01", "2013-03"),
    ]


def test_each_position_has_its_own_place_where_none_has_a_description() -> None:
    copied = "".join(
        f"{position}\n{company} · Full-time\n{dates}\n{place}\n"
        for position, company, dates, place in (
            ("Senior Engineer", "Acme Corp", "Jan 2018 - Mar 2019 · 1 yr 3 mos", "Rome, Italy"),
            ("Intern", "Globex", "Jan 2017 - Dec 2017 · 1 yr", "Oslo, Norway"),
            ("Chef", "Initech", "Jan 2015 - Dec 2016 · 2 yrs", "Lima, Peru"),
        )
    )
    read = facts(f"Jane Doe\nExperience\n{copied}Education\nOslo University\nBSc · 2010 - 2013\n", JobFacts)
    assert [(job.company, job.location) for job in read] == [
        ("Acme Corp", "Rome, Italy"), ("Globex", "Oslo, Norway"), ("Initech", "Lima, Peru"),
    ]  # fmt: skip


def test_a_profile_that_is_written_as_a_resume_is_read_as_one() -> None:
    text = (
        "# Jane Doe\n\n## Experience\n\n**Senior Engineer, Acme Corp Inc.**\n"
        "Aug 2018 – Apr 2021 · 2 yrs 9 mos · Bergen\n"
        "Kept the pumps running.\n\n**Analyst, Other Corp Ltd.**\nMay 2015 – Jun 2017 · Oslo, Norway\n\n"
        "## Education\n\n**Bergen University**: Bachelor of Engineering, Civil (2004 – 2009)\n"
    )
    assert jobs(text) == [
        ("Acme Corp Inc.", "Senior Engineer", "2018-08", "2021-04"),
        ("Other Corp Ltd.", "Analyst", "2015-05", "2017-06"),
    ]
    (school,) = facts(text, EducationFacts)
    assert (school.institution, school.degree, school.area) == ("Bergen University", "Bachelor of Engineering", "Civil")


# Languages


@dataclass(frozen=True)
class Export:
    """The words that an export prints in one language."""

    experience: str
    education: str
    skills: str
    dates: str
    length: str


EXPORTS = [
    Export("Experience", "Education", "Top Skills", "January 2018 - March 2019", "(1 year 3 months)"),
    Export("Berufserfahrung", "Ausbildung", "Top-Kenntnisse", "Januar 2018 - März 2019", "(1 Jahr 3 Monate)"),
    Export("Expérience", "Formation", "Principales compétences", "janvier 2018 - mars 2019", "(1 an 3 mois)"),
    Export("Experiencia", "Educación", "Aptitudes principales", "enero de 2018 - marzo de 2019", "(1 año 3 meses)"),
    Export("Experiência", "Formação", "Principais competências", "janeiro de 2018 - março de 2019", "(1 ano 3 meses)"),
    Export("Esperienza", "Formazione", "Competenze principali", "gennaio 2018 - marzo 2019", "(1 anno 3 mesi)"),
]  # fmt: skip


@pytest.mark.parametrize("words", EXPORTS, ids=lambda words: words.experience)
def test_exports_of_six_languages_are_read(words: Export) -> None:
    text = (
        f"{words.skills}\nExcel\n\n{words.experience}\nAcme\nChef\n{words.dates} {words.length}\nParis\n\n"
        f"{words.education}\nElsewhere\nX, Y · (2010 - 2012)\n"
    )
    assert jobs(text) == [("Acme", "Chef", "2018-01", "2019-03")]
    assert [school.institution for school in facts(text, EducationFacts)] == ["Elsewhere"]
    assert [skills.skills for skills in facts(text, SkillsFacts)] == [("Excel",)]


# Packing


def test_jobs_are_packed_by_company() -> None:
    text = "Experience\n" + "".join(
        f"Company {name}\n2 years\nLead\n2019 - 2020 (1 year)\n{'word ' * 60}\n"
        f"Developer\n2018 - 2019 (1 year)\n{'word ' * 60}\n"
        for name in "ABC"
    )
    found = pieces(text, max_tokens=200)
    assert [piece.section_path for piece in found] == [("Experience", f"Company {name}") for name in "ABC"]
    assert [piece.section_path for piece in pieces(text, max_tokens=360)] == [
        ("Experience",),
        ("Experience", "Company C"),
    ]


def test_a_company_over_the_limit_is_named_in_the_lead_of_its_later_parts() -> None:
    lead = f"Lead\n2019 - 2021 (2 years)\n{'word ' * 90}\n"
    text = f"Experience\nAcme\n4 years\n{lead}Developer\n2017 - 2019 (2 years)\nMore.\n"
    first, second = pieces(text, max_tokens=115)
    assert (first.lead, second.lead) == ("", "Acme")
    assert [record.company for record in records_of(second.facts)] == ["Acme"]
    assert (first.year, second.year) == (2021, 2019)


def test_a_job_over_the_limit_repeats_its_line_in_the_lead() -> None:
    long = "This is a sentence. " * 60
    text = f"Experience\nAcme\nLead\n2019 - 2021 (2 years)\n{long}\nOther\nCook\n2015 - 2016 (1 year)\n"
    found = pieces(text, max_tokens=150)
    assert {piece.lead for piece in found[1:-1]} == {"Acme | Lead | 2019 - 2021"}
    assert [len(records_of(piece.facts)) for piece in found] == [1, *[0] * (len(found) - 2), 1]


def test_the_year_of_a_node_is_its_latest_end_year() -> None:
    text = "Experience\nB\nLead\n2013 - 2015 (2 years)\nA\nCook\n2009 - 2011 (2 years)\n"
    assert [piece.year for piece in pieces(text)] == [2015]


def test_projects_without_dates_are_text() -> None:
    found = pieces("Ada Love\n\nExperience\nAcme\nLead\n2019 - 2021 (2 years)\n\nProjects\nBoats\nA boat that sails\n")
    assert [(piece.section_path, piece.facts) for piece in found[-1:]] == [(("Projects",), None)]


def test_details_without_a_school_are_text() -> None:
    assert [piece.facts for piece in pieces("Education\nActivities and Societies: Chess")] == [None]


def test_a_project_with_two_lines_of_dates_is_one() -> None:
    found = pieces("Ada Love\n\nProjects\nBoats\n2019 - 2021\n2022\nNets\n2023\n")
    named = [record.name for piece in found for record in records_of(piece.facts) if isinstance(record, ProjectFacts)]
    assert named == ["Boats", "Nets"]


# All texts


LINES = [
    "Projects",
    *(SIDEBAR + JOBS + SCHOOLS + OLD + COPIED).split("\n"),
    "x" * 900,
    "2019",
    "Page 2 of 3",
    "(",
    ")",
    "日本語。" * 50,
]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=40), max_size=60).map("\n".join))
@settings(max_examples=120)
def test_pieces_cover_the_text_within_the_limit_and_contain_their_facts(raw: str) -> None:
    noted = document(raw)
    covered = bytearray(len(noted.text))
    last = 0
    for piece in LinkedInParser(max_tokens=60).split(noted):
        passage = noted.text[piece.start : piece.end]
        assert last <= piece.start < piece.end
        assert passage == passage.strip()
        assert count_tokens(passage) <= 60
        covered[piece.start : piece.end] = b"\1" * (piece.end - piece.start)
        stated = "".join(f"{passage} {piece.lead}".split())
        for record in records_of(piece.facts):
            assert piece.start <= record.span[0] < record.span[1] <= piece.end
            if isinstance(record, JobFacts):
                assert all("".join(fact.split()) in stated for fact in (record.company, record.position))
        last = piece.end
    assert all(seen or char.isspace() for seen, char in zip(covered, noted.text, strict=True))


ABOUT = """\
Jane Doe
(She/Her)
Map maker
Oslo, Norway
Summary
I draw maps for people who sail small boats. I sail too.
Experience
Acme Corp
Senior Engineer
January 2020 - Present (2 years)
Career Break
Parental leave
March 2019 - December 2019 (10 months)
Beta Inc
Engineer
January 2015 - February 2019 (4 years 2 months)
"""


def test_a_profile_states_pronouns_home_and_summary() -> None:
    (person,) = facts(ABOUT, PersonFacts)
    assert (person.name, person.headline, person.location, person.pronouns) == (
        "Jane Doe", "Map maker", "Oslo, Norway", "She/Her"
    )  # fmt: skip
    (summary,) = facts(ABOUT, SummaryFacts)
    assert summary.text == "I draw maps for people who sail small boats. I sail too."


def test_a_break_of_a_profile_is_no_job() -> None:
    assert [company for company, *_ in jobs(ABOUT)] == ["Acme Corp", "Beta Inc"]


def test_a_greeting_above_a_profile_is_no_name_but_a_sentence_may_state_it() -> None:
    greeted = ABOUT.replace("Jane Doe", "Hej / hi 👋")
    assert [person.name for person in facts(greeted, PersonFacts)] == []
    told = greeted.replace("Map maker", "I'm Jane Doe, a map maker.")
    assert [person.name for person in facts(told, PersonFacts)] == ["Jane Doe"]


TOWN = """\
Jane Doe
Map maker
Experience
Kelp Transport
5 yrs
Senior Planner
Full-time
Jan 2018 - Dec 2020 · 3 yrs
Planner
Full-time
Jan 2016 - Dec 2017 · 2 yrs
Mersea Group
Clerk, later Scheduler
Full-time
Oct 2012 - Dec 2015 · 3 yrs 3 mos
Salt & Zest
Sous-chef
Sep 2009 - Aug 2011 · 2 yrs
Languages
English · Native or bilingual
Polish  Full professional proficiency
isiZulu · Limited working
Licenses & certifications
Boat licence (category D) · Issued Jan 2017
Chartered Planner · Issued Jun 2022
"""


def test_a_copied_page_ends_a_company_whose_time_is_used_up() -> None:
    assert [job[:2] for job in jobs(TOWN)] == [
        ("Kelp Transport", "Senior Planner"), ("Kelp Transport", "Planner"),
        ("Mersea Group", "Clerk, later Scheduler"), ("Salt & Zest", "Sous-chef"),
    ]  # fmt: skip


def test_a_copied_page_names_types_of_employment_in_its_language() -> None:
    copied = (
        "Cocinera\nSalt & Zest · Jornada completa\nJan 2018 - Dec 2020 · 3 yrs\nWashington, D.C.\n"
        "Kelp Transport\nTempo integral · 2 yrs\nPlanner\nJan 2017 - Dec 2017 · 1 yr\n"
        "Clerk\nJan 2016 - Dec 2016 · 1 yr\n"
    )
    read = facts(f"Jane Doe\nExperience\n{copied}", JobFacts)
    assert [(job.company, job.position, job.location) for job in read] == [
        ("Salt & Zest", "Cocinera", "Washington, D.C."), ("Kelp Transport", "Planner", ""),
        ("Kelp Transport", "Clerk", ""),
    ]  # fmt: skip


def test_a_copied_page_has_levels_and_dates_beside_names() -> None:
    assert [(one.language, one.level) for one in facts(TOWN, LanguageFacts)] == [
        ("English", "Native or bilingual"), ("Polish", "Full professional proficiency"), ("isiZulu", "Limited working"),
    ]  # fmt: skip
    assert [(one.name, one.start_month) for one in facts(TOWN, CertificationFacts)] == [
        ("Boat licence (category D)", "2017-01"), ("Chartered Planner", "2022-06")
    ]  # fmt: skip


def test_below_the_menu_of_a_copied_page_the_name_is_what_later_rows_say_again() -> None:
    menu = "Skip to main content\nHome\nMy Network\nJobs\n"
    text = f"{menu}Ann Zorklund\nAnn Zorklund\nData engineer\nLeith, Scotland\n\nAbout\nI make maps.\n\nActivity\n"
    (person,) = facts(f"{text}Zorklund posted this\n\nExperience\nEngineer\nAcme\nJan 2019 - Present\n", PersonFacts)
    assert person.name == "Ann Zorklund"


def test_a_wrapped_study_is_one_and_a_duration_names_no_company() -> None:
    text = (
        "Jane Doe\nEngineer\nOslo, Norway\n\nExperience\nAcme\n3 years\nEngineer\n"
        "January 2020 - December 2022 (3 years)\n"
        "2 years\nIntern\nJanuary 2018 - December 2019 (2 years)\n\n"
        "Education\nUniversity of Elsewhere\nMaster of Science, Computer Science and\nEngineering · (2012 - 2016)\n"
    )
    assert {company for company, *_ in jobs(text)} == {"Acme"}
    (school,) = facts(text, EducationFacts)
    assert (school.degree, school.area) == ("Master of Science", "Computer Science and Engineering")


@pytest.mark.parametrize(
    ("jobs", "unread"),
    [
        (JOBS, []),
        (
            JOBS.replace("Acme Corp\n5 years 2 months\nSenior Engineer\n", ""),
            ["January 2020 - Present (3 years 2 months)"],
        ),
        (f"{JOBS}Solo Trip\nCareer break\n2010 - 2012 (2 years)\n", []),
    ],
)
def test_dates_of_jobs_that_were_not_read_are_stated(jobs: str, unread: list[str]) -> None:
    text = f"{SIDEBAR}{jobs}{SCHOOLS}"
    found = facts(text, UnreadLine)
    assert [text[slice(*line.span)] for line in found] == unread
    assert {line.about for line in found} <= {"job"}
