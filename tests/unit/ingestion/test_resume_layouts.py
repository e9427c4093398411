"""Jobs and studies as real resumes lay them out, with companies, places and positions that no list of words knows."""

import pytest

from pipelines.facts import EducationFacts, JobFacts, records_of
from pipelines.ingestion.parsers.resume import split_resume
from pipelines.ingestion.parsers.resume.job_labels import label_role, labelled
from pipelines.ingestion.parsers.resume.job_places import likeness

Stated = tuple[str, str, str, str]

LAYOUTS: dict[str, tuple[str, list[Stated]]] = {
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
        [
            ("Zephyrine", "Compiler Engineer", "Oberwinden", "2018–2022"),
            ("Rukia", "Tutor", "Kestrel Bay", "2015–2018"),
        ],
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
    "what the company does between it and the position": (
        "Tallow Street\tLondon, UK\nCandle maker with 40 shops across the country\nArea Manager\t2018 – 2022\n• a\n"
        "Cask\tLittle Wend, UK\nRegional brewery, 120 employees\nBrewer\t2014 – 2018\n• b",
        [
            ("Tallow Street", "Area Manager", "London, UK", "2018 – 2022"),
            ("Cask", "Brewer", "Little Wend, UK", "2014 – 2018"),
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
        [
            ("Ilex", "Paralegal", "", "2020 – Present"),
            ("Cask", "Legal Secretary", "", "2014 – 2018"),
        ],
    ),
}


def stated_in(text: str) -> list[Stated]:
    records = [record for piece in split_resume(text) for record in records_of(piece.facts)]
    jobs = [record for record in records if isinstance(record, JobFacts)]
    return [(job.company, job.position, job.location, job.date_range) for job in jobs]


@pytest.mark.parametrize("name", LAYOUTS)
def test_jobs_of_unknown_names_are_read_from_the_layout_that_they_share(name: str) -> None:
    text, jobs = LAYOUTS[name]
    assert stated_in(f"Ana Brook\n\nEXPERIENCE\n{text}\n\nSKILLS\nGo, SQL") == jobs


def test_a_known_place_in_one_job_tells_where_the_others_have_theirs() -> None:
    text = "EXPERIENCE\n2019 – 2023 / Studio Varga / {} / Baker\n• a\n2015 – 2019 / Cinderpath / {} / Cook\n• b"
    alike = stated_in(text.format("Berlin", "Saint-Aubry"))
    assert [location for _, _, location, _ in alike] == ["Berlin", "Saint-Aubry"]


@pytest.mark.parametrize("title", ["Legal Experience", "Leadership and Management Experience", "Clinical Experience"])
def test_an_experience_of_any_field_holds_jobs(title: str) -> None:
    text = f"Ana\n\n{title}\nHale, Mirren, and Stroud\tAlbany, NY\nSummer Associate\tMay 2017 – Aug 2017\n• a"
    assert stated_in(text) == [("Hale, Mirren, and Stroud", "Summer Associate", "Albany, NY", "May 2017 – Aug 2017")]


def test_a_label_inside_a_job_opens_no_section() -> None:
    job = "Head of Delight\nZanderly\nJanuary 2018 — Present\nI make sure.\nHighlights\n• Smiles\n"
    text = f"Ana\n\nWork\n{job}{job.replace('2018 — Present', '2014 — March 2017').replace('Zanderly', 'Ilex')}"
    assert [company for company, *_ in stated_in(text)] == ["Zanderly", "Ilex"]


@pytest.mark.parametrize(
    ("study", "institution"),
    [
        ("MSc | Geology | Ostermere | 2019", "Ostermere"),
        ("BEng Civil Engineering, Ostermere\t2012 – 2015\nFirst class", "Ostermere"),
        ("2014 – 2017\tBA Geography, University of Ostermere (2:1)", "University of Ostermere"),
    ],
)
def test_a_school_is_what_is_neither_degree_nor_subject_nor_grade(study: str, institution: str) -> None:
    records = [record for piece in split_resume(f"EDUCATION\n{study}") for record in records_of(piece.facts)]
    assert [record.institution for record in records if isinstance(record, EducationFacts)] == [institution]


def test_a_label_tells_the_role_of_what_follows_it() -> None:
    assert labelled("Entreprise : Maison Aubrac") == ("company", "Maison Aubrac")
    assert labelled("Marrowstone: Farrier") is None
    assert label_role("Nome e indirizzo del datore di lavoro") == "company"
    assert label_role("Hours per week") == ""
    assert label_role("Head of Company Operations") is None


def test_a_name_may_be_a_place_unless_its_words_tell_otherwise() -> None:
    assert likeness("Berlin, Germany") > likeness("Tindale, Germany") > likeness("Tindale") > 0
    assert all(
        likeness(words) < 0 for words in ("Marine lighting", "Retail Operations", "Baker Group", "Unit 7", "Buyer")
    )
