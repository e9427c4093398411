"""Resumes: sections, what they state beside jobs, columns, and all of the text kept."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.blocks import markdown_blocks, text_blocks
from pipelines.facts import (
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    SkillsFacts,
    records_of,
)
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume import ResumeParser
from pipelines.ingestion.parsers.resume.entries import supported_facts
from pipelines.text import canonical, count_tokens, plain
from pipelines.types import Block, LineBox

RESUME = """\
ANA BROOK
Backend developer
Lisbon, Portugal | ana@brook.dev | +351 210 555 014 | github.com/anabrook

PROFILE
Builds things that last.

EXPERIENCE
Fathom | Engineer | Lisbon | 2019 – 2021
- Split the monolith

EDUCATION
MSc in Physics\t2014 – 2016
University of Porto

SKILLS
Languages: Python, Go and SQL
Tools: Docker, AWS (EC2, S3)

CERTIFICATIONS
Scrum Master, Code Alliance\t2019

LANGUAGES
Portuguese (native), English – C1

HOBBIES
Rowing.
"""


def pieces_of(text: str, blocks: Sequence[Block] | None = None, boxes: Sequence[LineBox] = (), **sizes) -> list[Piece]:
    return ResumeParser(**sizes).pieces(text, text_blocks(text) if blocks is None else blocks, boxes)


def records(text: str, kind: type) -> list[Any]:
    return [record for piece in pieces_of(text) for record in records_of(piece.facts) if isinstance(record, kind)]


def words(text: str, pieces: list[Piece]) -> list[str]:
    return [text[piece.start : piece.end] for piece in pieces]


# Sections


def test_each_section_is_a_piece_that_begins_with_its_heading() -> None:
    pieces = pieces_of(RESUME)
    assert [(piece.kind, piece.section_path) for piece in pieces] == [
        ("contact", ()),
        ("summary", ("PROFILE",)),
        ("job", ("EXPERIENCE",)),
        ("education", ("EDUCATION",)),
        ("skills", ("SKILLS",)),
        ("certification", ("CERTIFICATIONS",)),
        ("language", ("LANGUAGES",)),
        ("text", ("HOBBIES",)),
    ]
    assert [text.split("\n")[0] for text in words(RESUME, pieces)[1:]] == [
        piece.section_path[0] for piece in pieces[1:]
    ]


def test_a_text_without_known_sections_is_split_like_a_generic_document() -> None:
    text = "Ana Brook wrote this.\n\nThere is nothing more to it."
    assert pieces_of(text) == [Piece(0, len(text))]


def test_an_unknown_heading_in_the_style_of_the_others_is_a_section() -> None:
    text = "# Ana\n\n## Experience\n\nFathom | Engineer | 2019 – 2021\n\n## Invited talks\n\n- On things (2020)"
    assert [piece.section_path for piece in pieces_of(text)][1:] == [("Experience",), ("Invited talks",)]


def test_headings_of_a_side_column_open_sections_in_their_own_style() -> None:
    side = "### CONTACT\n\nana@brook.example\n\n### EDUCATION\n\nBA Physics\nHarlow College, 2007 – 2010\n\n"
    side += "### AWARDS\n\nSilver Gull, 2017\n\n### ELSEWHERE\n\nUnion of Printers, member since 2011\n\n"
    main = "## Profile\n\nI print.\n\n## Experience\n\nFathom | Printer | 2019 – 2021\n\n## Open source\n\ninkwell\n"
    text = f"# Ana Brook\n\n{side}{main}"
    pieces = pieces_of(text, markdown_blocks(text))
    assert [piece.section_path for piece in pieces if piece.kind == "education"] == [("EDUCATION",)]
    assert ("ELSEWHERE",) in [piece.section_path for piece in pieces]


def test_a_heading_of_an_entry_opens_no_section() -> None:
    jobs = "FATHOM LABS\nEngineer, 2019 – 2021\n- a\n\nOAKLINE\nDeveloper, 2016 – 2019\n- b"
    text = f"EXPERIENCE\n\n{jobs}\n\nSKILLS\nGo, SQL"
    assert [(piece.kind, piece.section_path) for piece in pieces_of(text)] == [
        ("job", ("EXPERIENCE",)),
        ("job", ("EXPERIENCE",)),
        ("skills", ("SKILLS",)),
    ]


@pytest.mark.parametrize(
    "job", ["Fathom\tBerlin\n{}\t{}", "{1}\t{2}\nFathom", "Fathom, {}\t{}", "#### {} at Fathom\n\n{}"]
)
@pytest.mark.parametrize("name", ["Rowing club life", "Governance"])
def test_an_unknown_heading_above_entries_like_those_of_a_known_section_opens_a_section(job: str, name: str) -> None:
    job = job.replace("{1}", "{}").replace("{2}", "{}")
    jobs = "\n\n".join(job.format("Engineer", dates) for dates in ("2019 – 2021", "2016 – 2019"))
    text = f"## Experience\n\n{jobs}\n\n## {name}\n\n{job.format('Member', '2012 – 2014')}\n\n## Skills\n\nGo, SQL"
    assert [(record.company, record.position) for record in records(text, JobFacts)] == [("Fathom", "Engineer")] * 2
    assert (name,) in [piece.section_path for piece in pieces_of(text, markdown_blocks(text))]


def test_a_name_of_a_section_inside_a_job_opens_none() -> None:
    job = "Fathom | Engineer | 2019 – 2021\nTechnologies\n- Go\nAchievements\n- A prize"
    text = f"EXPERIENCE\n{job}\n\nEDUCATION\nHarlow College"
    assert [piece.kind for piece in pieces_of(text)] == ["job", "education"]


def test_headings_in_a_column_of_their_own_open_sections() -> None:
    text = "Ana Brook\n\nExperience\tFathom | Engineer | 2019 – 2021\n\nSkills\tGo, SQL"
    assert [piece.kind for piece in pieces_of(text)] == ["contact", "job", "skills"]


@pytest.mark.parametrize("is_headed", [False, True])
def test_a_column_continues_its_section_on_the_next_page(is_headed: bool) -> None:
    """Also below a line that goes across both columns."""
    parts = ["SKILLS", "Go, SQL", "EXPERIENCE", "Fathom | Engineer | 2019 – 2021", "LANGUAGES", "English (native)"]
    parts += ["Oakline | Developer | 2016 – 2019", "- Built it"]
    places = [
        (1, 50, 700),
        (1, 50, 680),
        (1, 250, 700),
        (1, 250, 680),
        (2, 50, 700),
        (2, 50, 680),
        (2, 250, 700),
        (2, 250, 680),
    ]
    if is_headed:
        parts, places = ["Ana Brook, Developer", *parts], [(1, 50, 740), *places]
    text = "\n\n".join(parts)
    starts = [text.index(part) for part in parts]
    blocks = [
        Block(start, start + len(part), "heading" if part.isupper() else "paragraph", int(part.isupper()))
        for start, part in zip(starts, parts, strict=True)
    ]
    boxes = [
        LineBox(start, start + len(part), page, x, y, x + (350 if part.startswith("Ana") else 150), y + 10)
        for start, part, (page, x, y) in zip(starts, parts, places, strict=True)
    ]
    pieces = pieces_of(text, blocks, boxes)
    assert [(piece.kind, piece.section_path[-1]) for piece in pieces[is_headed:]] == [
        ("skills", "SKILLS"),
        ("job", "EXPERIENCE"),
        ("language", "LANGUAGES"),
        ("job", "EXPERIENCE"),
    ]


# What they state


def test_the_person_is_read_from_the_lines_before_the_first_section() -> None:
    (person,) = records(RESUME, PersonFacts)
    assert person == PersonFacts(
        span=(0, RESUME.index("\n\nPROFILE")),
        name="ANA BROOK",
        headline="Backend developer",
        location="Lisbon, Portugal",
        email="ana@brook.dev",
        phone="+351 210 555 014",
        links=("github.com/anabrook",),
    )


def test_skills_are_lists_with_the_names_of_their_groups() -> None:
    found = [(record.group, record.skills) for record in records(RESUME, SkillsFacts)]
    assert found == [("Languages", ("Python", "Go", "SQL")), ("Tools", ("Docker", "AWS (EC2, S3)"))]


@pytest.mark.parametrize(
    "listed",
    [
        "Python, Go, Power BI",
        "- Python\n- Go\n- Power BI",
        "Python | Go | Power BI",
        "Python · Go · Power BI",
        "Python; Go; Power BI",
        "Python\nGo\nPower BI",
        "Python\tGo\tPower BI",
        "Python ●●●●○\nGo ●●○○○\nPower BI 80 %",
        "Python (expert), Go (3 years), Power BI (basic)",
        "Python – Advanced\nGo – Beginner\nPower BI – Intermediate",
    ],
)
def test_skills_are_read_from_every_kind_of_list(listed: str) -> None:
    (record,) = records(f"SKILLS\n{listed}\n\nEDUCATION\nHarlow College, 2012", SkillsFacts)
    assert record.skills == ("Python", "Go", "Power BI")


def test_a_table_of_skills_has_a_group_a_row() -> None:
    text = (
        "## Skills\n\n| Languages | Python, Go |\n| --- | --- |\n| Tools | Docker |\n\n## Education\n\nHarlow College"
    )
    assert [(record.group, record.skills) for record in records(text, SkillsFacts)] == [
        ("Languages", ("Python", "Go")),
        ("Tools", ("Docker",)),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "MSc in Physics, University of Porto, 2014 – 2016",
        "University of Porto\t2014 – 2016\nMSc, Physics",
        "2014 – 2016\tUniversity of Porto\nMSc Physics",
        "MSc Physics | University of Porto | 2014 – 2016",
        "MSc in Physics\nUniversity of Porto, Porto, Portugal\n2014 – 2016",
        "MSc\tUniversity of Porto, Physics\n• Grade: 1.3\t2014 – 2016",
    ],
)
def test_studies_are_read_in_every_order(lines: str) -> None:
    (study,) = records(f"EDUCATION\n{lines}\n\nSKILLS\nGo", EducationFacts)
    assert (study.institution, study.degree, study.area) == ("University of Porto", "MSc", "Physics")
    assert (study.start_month, study.end_month) == ("2014", "2016")


@pytest.mark.parametrize(
    ("school", "institution", "location"),
    [
        ("University of California, Berkeley", "University of California, Berkeley", ""),
        ("University of Texas, Austin", "University of Texas, Austin", ""),
        ("University of Bremen, Germany", "University of Bremen", "Germany"),
        ("University of Porto, Lisbon", "University of Porto", "Lisbon"),
        ("Harbour College, Berkeley", "Harbour College", "Berkeley"),
    ],
)
def test_the_city_after_a_school_named_by_its_region_is_its_campus(
    school: str, institution: str, location: str
) -> None:
    (study,) = records(f"EDUCATION\n{school}\tJune 2014\nMSc in Physics\n\nSKILLS\nGo", EducationFacts)
    assert (study.institution, study.location) == (institution, location)


@pytest.mark.parametrize(
    "degree",
    ["MSc in Physics; GPA: 3.6/4.0", "MSc in Physics - 3.8 GPA", "MSc in Physics, grade 1.3"],
)
def test_a_grade_is_no_part_of_the_subject(degree: str) -> None:
    (study,) = records(f"EDUCATION\nUniversity of Porto\n{degree}\t2014 – 2016\n\nSKILLS\nGo", EducationFacts)
    assert (study.degree, study.area) == ("MSc", "Physics")


@pytest.mark.parametrize("way", ["MSc Physics (part-time), 2015 – 2017", "MSc Physics (part-time, 2015 – 2017)"])
def test_how_somebody_studied_is_no_part_of_the_subject(way: str) -> None:
    (study,) = records(f"Education\n\n{way}\nHarlow College\n\nSkills\nGo, SQL", EducationFacts)
    assert (study.degree, study.area) == ("MSc", "Physics")


def test_a_sentence_among_the_skills_lists_none() -> None:
    text = "SKILLS\nGo, SQL\nAlso at home with the tools of the harbour office, and grew up between two languages."
    assert [record.skills for record in records(text, SkillsFacts)] == [("Go", "SQL")]


def test_single_lines_and_lists_in_turn_are_groups_and_their_skills() -> None:
    text = "SKILLS\nProgramming\nGo\tSQL\tRust\nPlatforms\nLinux\tDocker"
    assert [(record.group, record.skills) for record in records(text, SkillsFacts)] == [
        ("Programming", ("Go", "SQL", "Rust")), ("Platforms", ("Linux", "Docker")),
    ]  # fmt: skip
    (record,) = records("SKILLS\nGo\tSQL\nRust\nLinux\tDocker\nHarbour law", SkillsFacts)
    assert record.skills == ("Go", "SQL", "Rust", "Linux", "Docker", "Harbour law")


@pytest.mark.parametrize("name", ["Technical", "TECHNICAL"])
def test_technical_alone_names_the_skills(name: str) -> None:
    text = f"## Experience\n\nFathom | Engineer | 2019 – 2021\n\n## {name}\n\n1. Go\n2. SQL"
    assert [record.skills for record in records(text, SkillsFacts)] == [("Go", "SQL")]


def test_studies_without_dates_are_told_apart_though_one_only_has_a_heading() -> None:
    text = (
        "## Education\n\n### Master of Arts\n\nMajor in Physics, University of Porto, Porto, Portugal.\n\n"
        "Bachelor of Science\n\nMajor in Music, Harlow College, Austin, USA.\n\n## Skills\n\nGo, SQL"
    )
    found = [(study.institution, study.degree, study.area) for study in records(text, EducationFacts)]
    assert found == [
        ("University of Porto", "Master of Arts", "Physics"), ("Harlow College", "Bachelor of Science", "Music"),
    ]  # fmt: skip


def test_a_second_degree_is_at_the_school_above_it() -> None:
    text = "EDUCATION\nUniversity of Porto\tPorto\nBSc in Physics\t2012 – 2014\nMinor degree in Music\t2013 – 2014\n"
    first, second = records(f"{text}\nSKILLS\nGo", EducationFacts)
    assert (first.institution, second.institution) == ("University of Porto",) * 2
    assert (second.area, second.start_month) == ("Music", "2013")


def test_certificates_and_languages_have_their_details() -> None:
    (certificate,) = records(RESUME, CertificationFacts)
    assert (certificate.name, certificate.issuer, certificate.start_month) == ("Scrum Master", "Code Alliance", "2019")
    assert [(record.language, record.level) for record in records(RESUME, LanguageFacts)] == [
        ("Portuguese", "native"),
        ("English", "C1"),
    ]


# All of the text

LINES = [
    "EXPERIENCE",
    "Skills",
    "Education",
    "## Projects",
    "LANGUAGES",
    "Acme, Engineer\t2019 – 2021",
    "- item",
    "2020",
]
ODD = [
    "| a | 2019 – 2020 |",
    "|---|---|",
    "Jan 2020 – Present",
    "(",
    "word " * 60,
    "\t",
    "",
    "A (B) at C, D – E | F",
    "日本語。" * 40,
]
NASTY = st.lists(st.sampled_from([*LINES, *ODD]) | st.text(max_size=30), max_size=30).map("\n".join)


@given(NASTY, st.booleans())
@settings(max_examples=150)
def test_pieces_cover_the_text_in_order_within_their_limit(raw: str, marked_up: bool) -> None:
    text = canonical(raw)
    pieces = pieces_of(text, markdown_blocks(text) if marked_up else None, max_tokens=60)
    assert all(before.end <= after.start for before, after in itertools.pairwise(pieces))
    assert all(part == part.strip() != "" for part in words(text, pieces))
    assert all(count_tokens(part) <= 60 for part in words(text, pieces))
    covered = "".join(char for part in words(text, pieces) for char in part if not char.isspace())
    assert covered == "".join(char for char in text if not char.isspace())


@given(NASTY)
@settings(max_examples=100)
def test_every_fact_occurs_in_its_piece_or_its_lead(raw: str) -> None:
    text = canonical(raw)
    for piece in pieces_of(text):
        passage = text[piece.start : piece.end]
        source = "".join(f"{passage}{plain(passage)}{piece.lead}".split())
        for record in records_of(piece.facts):
            assert piece.start <= record.span[0] <= record.span[1] <= piece.end
            values = record.model_dump(
                exclude={"type", "span", "start_month", "end_month", "current", "about", "languages", "topics"}
            ).values()  # languages and topics have names of ours
            stated = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
            marks = str.maketrans("", "", "*_`~\\|#[]<>")
            assert all("".join(value.split()).translate(marks) in source.translate(marks) for value in stated)


def test_each_list_item_is_a_certificate_with_its_dates() -> None:
    text = (
        "ANA BROOK\n\nCERTIFICATIONS\n- Oracle Certified Professional (2018)\n"
        "- AWS Solutions Architect, Amazon, 2020\n- Scrum Master\n"
    )
    assert [(one.name, one.issuer, one.start_month) for one in records(text, CertificationFacts)] == [
        ("Oracle Certified Professional", "", "2018"), ("AWS Solutions Architect", "Amazon", "2020"),
        ("Scrum Master", "", ""),
    ]  # fmt: skip


def test_each_line_without_dates_is_a_certificate_and_may_be_wrapped() -> None:
    text = "CERTIFICATIONS\nLife Support, Oakhurst\nCouncil\nCloud Practitioner\n\nSKILLS\nGo, SQL"
    assert [(record.name, record.issuer) for record in records(text, CertificationFacts)] == [
        ("Life Support", "Oakhurst Council"),
        ("Cloud Practitioner", ""),
    ]


def test_a_record_keeps_only_values_of_its_own_span() -> None:
    text = "Sailing\nRowing"
    records = [SkillsFacts(skills=("Sailing",), span=(0, 7)), SkillsFacts(skills=("Sailing",), span=(8, 14))]
    assert supported_facts(text, records, 0, len(text)) == records[0]
    assert supported_facts(text, records, 8, len(text)) is None


def test_self_employment_does_not_inherit_the_company_of_an_earlier_job() -> None:
    text = "EXPERIENCE\nEngineer, Fathom, Lisbon\nJan 2018 - Present\n- a\n\nFreelance developer (2015-2017)\n- b"
    jobs = records(text, JobFacts)
    assert [(job.company, job.position) for job in jobs] == [("Fathom", "Engineer"), ("", "Freelance developer")]
    assert jobs[1].location == ""


@pytest.mark.parametrize(
    ("studies", "found"),
    [
        (
            "MSc, Maps, Leith University, 2010–2012. Thesis: Islands that drift. Advisor: Dr. Ola Nes\n\n"
            "B.A.Sc., Civil Engineering (co-op), Porto College, 2004–2009\n",
            [("Leith University", "MSc", "Maps"), ("Porto College", "B.A.Sc.", "Civil Engineering (co-op)")],
        ),
        (
            "MSc Maps (part-time, with merit)\t2011 – 2012\n\nLeith University; distinction. Dissertation: Of boats"
            "\n\nBA Geography\t2008 – 2011\n\nPorto University, Porto. Final paper on the trams of Porto\n",
            [("Leith University", "MSc", "Maps"), ("Porto University", "BA", "Geography")],
        ),
        (
            "- Diploma in Maps, Leith College, 2008–2010. Thesis: Why boats sink\n"
            "- Certificate in Boats, Porto University (online), 2017\n",
            [("Leith College", "Diploma", "Maps"), ("Porto University (online)", "Certificate", "Boats")],
        ),
    ],
)
def test_remarks_behind_a_study_are_no_part_of_it(studies: str, found: list[tuple[str, str, str]]) -> None:
    read = records(f"Ann Lee\n\nann@lee.example\n\nEDUCATION\n\n{studies}", EducationFacts)
    assert [(one.institution, one.degree, one.area) for one in read] == found


@pytest.mark.parametrize(
    "skills",
    [
        "Code: Rust, Go\n\nSpoken: English, German (B2), Basque\n",
        "| | |\n|---|---|\n| Code | Rust, Go |\n| Tongues | English 🇬🇧, German (B2) and a little Basque |\n",
    ],
)
def test_a_list_of_skills_that_names_languages_states_spoken_languages(skills: str) -> None:
    text = f"# Ann Lee\n\nann@lee.example\n\n## Work\n\nEngineer, Acme\t2019 – 2021\n\n## Skills\n\n{skills}"
    spoken = [(one.language, one.level) for one in records(text, LanguageFacts)]
    assert [language for language, _ in spoken] == ["English", "German", "Basque"]
    assert ("German", "B2") in spoken
    assert [list(one.skills) for one in records(text, SkillsFacts)] == [["Rust", "Go"]]


def test_the_level_of_the_last_language_ends_with_its_sentence() -> None:
    text = "Ann Lee\n\nann@lee.example\n\nLANGUAGES\n\nPolish, English and isiZulu (B1). Boat licence since 2022.\n"
    spoken = [(one.language, one.level) for one in records(text, LanguageFacts)]
    few = text.replace("Polish, English and isiZulu (B1).", "English, a bit of French, Polish: fluent.")
    assert [one.level for one in records(few, LanguageFacts)] == ["", "", "fluent"]
    assert spoken == [("Polish", ""), ("English", ""), ("isiZulu", "B1")]


def test_a_table_of_skills_with_levels_has_a_group_a_row() -> None:
    text = "# Ann Lee\n\n## Skills\n\n| Area | Tools | Level |\n|---|---|---|\n| Code | Rust, Go | good |\n"
    assert [(one.group, one.skills) for one in records(text, SkillsFacts)] == [("Code", ("Rust", "Go"))]
