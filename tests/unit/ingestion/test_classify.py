"""Category, year and the rest, each by the first rule that knows."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import ConfigError
from pipelines.ingestion.classify import RULES, classify
from pipelines.months import fiscal_year
from pipelines.text import canonical
from pipelines.types import CATEGORIES, Block, Document, Furniture

PROSE = "The harbour was dredged in spring, and the ships that wait for the tide moved to the outer pier. " * 12
RESUME = """\
Ann Lee
ann@example.com

{summary}
Baker with two ovens.

{experience}
Baker, Oven Ltd
{first}
Bread for 200 people a day.
Cook, Pan Ltd
{second}

{education}
School of Bread
2010 - 2012

{skills}
Rye, wheat, spelt
"""
EXPORT = """\
{contact}
www.linkedin.com/in/ann-lee (LinkedIn)

{top}
Bread

Ann Lee
Baker

{experience}
Oven Ltd
Baker
{dates}
Oslo

{education}
School of Bread
Diploma, Bread · (2010 - 2012)
"""
REFLECTION = (
    "I learned this spring that I decide too fast. My goal was to listen, and I felt how hard my habit is to change."
    " I remember the mistake I made, and I am grateful that my team told me. I hope that I improve. "
)


def document(name: str = "a.md", text: str = "Text.", **fields) -> Document:
    facts = {"source_kind": "file", "mime": "text/markdown", "source": "s", "bytes": 1, "file_sha": ""} | fields
    return Document(id="d", text=text, source_uri=f"file:///home/{name}", name=name, **facts)


@pytest.mark.parametrize(
    ("name", "category", "reason"),
    [
        ("Ann_Lee_Resume_2024.pdf", "resume", "file name"),
        ("cv-ann.docx", "resume", "file name"),
        ("Lebenslauf.pdf", "resume", "file name"),
        ("Curriculum Vitae.pdf", "resume", "file name"),
        ("resumes/ann.pdf", "resume", "folder"),
        ("LinkedIn_Ann.pdf", "linkedin", "file name"),
        ("linkedin/Profile.pdf", "linkedin", "folder"),
        ("journey_fy-2025-2026.pdf", "journey", "file name"),
        ("reflections/q1.txt", "journey", "folder"),
        ("github/oven/README.md", "github", "README"),
        ("oven/readme.txt", "github", "README"),
        ("github/oven/docs/use.md", "github", "folder"),
        ("2024-03-02-our-journey.md", "blog", "dated name"),
        ("posts/hello.md", "blog", "folder"),
        ("Plan 0123456789abcdef0123456789abcdef.md", "notion", "Notion export name"),
        ("recvoid.md", "generic", "no rule"),
    ],
)
def test_names_tell_the_category(name: str, category: str, reason: str) -> None:
    found = classify(document(name))
    assert (found.category, found.metadata["category_reason"]) == (category, reason)


def test_the_rules_give_known_categories_in_order() -> None:
    assert [reason for reason, _ in RULES][:3] == ["front matter", "source", "career data"]


def test_what_is_given_comes_before_all_rules() -> None:
    found = classify(document("resume.pdf", metadata={"category": "blog"}), category="web", visibility="private")
    assert (found.category, found.visibility, found.metadata["category_reason"]) == ("web", "private", "given")
    with pytest.raises(ConfigError, match="no category called"):
        classify(document(), category="poem")


def test_front_matter_comes_before_the_name() -> None:
    found = classify(document("resume.md", metadata={"category": "Journey", "visibility": "private"}))
    assert (found.category, found.visibility, found.subcategory) == ("journey", "private", "")


def test_a_category_of_its_own_becomes_the_subcategory() -> None:
    found = classify(document("posts/a.md", metadata={"category": "Cooking"}))
    assert (found.category, found.subcategory) == ("blog", "Cooking")


@pytest.mark.parametrize("kind", ["github", "notion", "web"])
def test_a_source_of_one_kind_tells_the_category(kind: str) -> None:
    assert classify(document("a.md", source_kind=kind)).category == kind


def found_in(text: str, **fields) -> str:
    return classify(document("document.pdf", text, **{"mime": "application/pdf", **fields})).category


@pytest.mark.parametrize(
    "words",
    [
        ("Summary", "Work Experience", "Education", "Skills", "March 2019 – Present", "May 2014 – Feb 2019"),
        ("Profil", "Berufserfahrung", "Ausbildung", "Kenntnisse", "03/2019 – heute", "05/2014 – 02/2019"),
        ("Profil", "Expérience", "Formation", "Compétences", "mars 2019 – aujourd'hui", "mai 2014 – février 2019"),
        ("Perfil", "Experiencia", "Educación", "Aptitudes", "marzo de 2019 – actualidad", "2014 – 2019"),
        ("Resumo", "Experiência", "Formação", "Competências", "março de 2019 – o momento", "2014 – 2019"),
        ("Profilo", "Esperienza", "Formazione", "Competenze", "marzo 2019 – presente", "2014 – 2019"),
    ],
    ids=lambda words: words[1],
)
def test_a_resume_is_recognised_in_six_languages(words: tuple[str, ...]) -> None:
    names = dict(zip(("summary", "experience", "education", "skills", "first", "second"), words, strict=True))
    found = classify(document("document.pdf", RESUME.format(**names), mime="application/pdf"))
    assert (found.category, found.metadata["category_reason"]) == ("resume", "resume sections")
    assert found.metadata["category_confidence"] >= 0.8
    assert found.year == 2019


@pytest.mark.parametrize(
    "words",
    [
        ("Contact", "Top Skills", "Experience", "Education", "March 2018 - May 2019 (1 year 3 months)"),
        ("Kontakt", "Top-Kenntnisse", "Berufserfahrung", "Ausbildung", "März 2018 - Mai 2019 (1 Jahr 3 Monate)"),
        ("Coordonnées", "Principales compétences", "Expérience", "Formation", "mars 2018 - mai 2019 (1 an 3 mois)"),
        ("Contactar", "Aptitudes principales", "Experiencia", "Educación", "marzo de 2018 - mayo de 2019 (1 año)"),
        ("Contato", "Principais competências", "Experiência", "Formação acadêmica", "2018 - 2019 (1 ano 3 meses)"),
        ("Contatti", "Competenze principali", "Esperienza", "Formazione", "marzo 2018 - maggio 2019 (1 anno 3 mesi)"),
    ],
    ids=lambda words: words[1],
)
def test_a_linkedin_export_is_recognised_in_six_languages_whatever_its_name(words: tuple[str, ...]) -> None:
    names = dict(zip(("contact", "top", "experience", "education", "dates"), words, strict=True))
    found = classify(document("cv_final.pdf", EXPORT.format(**names), mime="application/pdf"))
    assert (found.category, found.metadata["category_reason"]) == ("linkedin", "LinkedIn export")


def test_the_old_export_is_recognised_without_a_link() -> None:
    text = (
        "Ann Lee\nBaker\n\nExperience\nBaker at Oven Ltd\nMarch 2018 - May 2019 (1 year 3 months)\nBread.\n\n"
        "Skills & Expertise\nBread\n\nEducation\nSchool of Bread\nDiploma, Bread, 2010 - 2012\n"
    )
    assert found_in(text, furniture=(Furniture(1, "Page1"),)) == "linkedin"


def test_a_resume_with_a_profile_link_and_page_numbers_is_no_export() -> None:
    text = RESUME.format(
        summary="Summary", experience="Experience", education="Education", skills="Skills",
        first="March 2019 – Present", second="May 2014 – Feb 2019",
    ).replace("ann@example.com", "ann@example.com | linkedin.com/in/ann-lee")  # fmt: skip
    assert found_in(text, furniture=(Furniture(1, "Page 1 of 2"), Furniture(2, "Page 2 of 2"))) == "resume"


JOB = "Baker\nOven {n} Ltd\n201{n} – 201{n}\nBread."


def test_a_resume_whose_entries_have_headings_of_their_own_is_recognised() -> None:
    lines = [line for n in range(8) for line in JOB.format(n=n).split("\n")]
    text = "\n".join(
        ["Experience", *lines, "Education", "School of Bread", "2008 – 2010", "Skills", "Rye", "+1 555 010 2030"]
    )
    starts = [text.index(line) for line in ("Experience", "Education", "Skills")]
    named = [match.start() for match in re.finditer(r"Baker|Oven \d Ltd", text)]
    blocks = tuple(Block(start, text.find("\n", start), "heading", 2) for start in sorted([*starts, *named]))
    assert found_in(text, blocks=blocks) == "resume"


def test_a_resume_of_two_sections_with_dates_and_an_address_is_recognised() -> None:
    text = "Ann Lee\nann@example.com\n\nExperience\nBaker\n2014 – 2016\n\nEducation\nSchool of Bread\n2010 – 2012\n"
    assert found_in(text) == "resume"
    assert found_in(text.replace("ann@example.com\n", "")) == "generic"


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        f"# Oven\n\n{PROSE}\n\n## Skills\n\nNone.\n\n## Contact\n\nann@example.com\n",
        f"# How to write a resume\n\n## Summary\n\n{PROSE}\n\n## Experience\n\n{PROSE}\n\n## Skills\n\n{PROSE}",
        "# History\n\n2014 – 2016: the first oven.\n\n2016 – 2019: the second.\n\nann@example.com\n",
        "# Oven API\n\nlinkedin.com/in/ann-lee wrote it.\n\n## Skills\n\nThe bot has skills.\n",
    ],
)
def test_other_texts_are_neither_resumes_nor_profiles(text: str) -> None:
    assert found_in(text) == "generic"


@pytest.mark.parametrize("name", ["how-to-write-a-resume.md", "linkedin-api.md", "customer-journey.md"])
def test_a_long_text_that_has_nothing_of_its_name_gainsays_it(name: str) -> None:
    assert classify(document(name, PROSE)).category == "generic"


def test_a_journey_is_recognised_by_who_speaks_of_what() -> None:
    found = classify(document("spring.txt", REFLECTION * 5, mime="text/plain"))
    assert (found.category, found.metadata["category_reason"]) == ("journey", "first person")
    assert found_in(PROSE + "I think that I was there once.") == "generic"
    assert classify(document("page.html", REFLECTION * 5, mime="text/html")).category == "web"


def test_a_fiscal_year_and_a_first_person_make_a_journey() -> None:
    found = classify(document("notes.pdf", f"Notes of FY2026\n\n{REFLECTION}{PROSE}", mime="application/pdf"))
    assert (found.category, found.metadata["category_reason"], found.year) == ("journey", "fiscal year", 2026)
    assert found_in(f"Budget of FY2026\n\n{PROSE}") == "generic"


def test_every_answer_has_a_reason_and_a_confidence() -> None:
    for name, confidence in (("resume.pdf", 0.9), ("recvoid.md", 0.5), ("README.md", 0.95)):
        found = classify(document(name))
        assert found.metadata["category_reason"]
        assert found.metadata["category_confidence"] == confidence
    assert classify(document("a.md"), category="web").metadata["category_confidence"] == 1.0


def test_a_web_page_is_recognised() -> None:
    assert classify(document("page.html", mime="text/html")).category == "web"


@pytest.mark.parametrize(
    ("name", "year"),
    [
        ("FY25-26", 2025),
        ("journey_fy-2025-2026", 2025),
        ("FY2026", 2026),
        ("review-FY24", 2024),
        ("fy 2023/24 plan", 2023),
        ("notify25", None),
        ("fiscal year 2025", 2025),
        ("Fiscal Year 2025-26", 2025),
        ("2025", None),
    ],
)
def test_a_fiscal_year_is_the_year_it_begins_in_or_the_one_it_names(name: str, year: int | None) -> None:
    assert fiscal_year(name) == year


@pytest.mark.parametrize(
    ("name", "fields", "year"),
    [
        ("journey_fy-2025-2026.pdf", {}, 2025),
        ("2024-03-02-x.md", {"published_at": datetime(2019, 1, 1, tzinfo=UTC)}, 2024),
        ("x.md", {"published_at": datetime(2019, 1, 1, tzinfo=UTC)}, 2019),
        ("x-2018.md", {}, 2018),
        ("x-2018.md", {"metadata": {"year": 2017}}, 2017),
        ("room-1024-b12345.md", {}, None),
    ],
)
def test_the_year_comes_from_the_strongest_sign(name: str, fields: dict, year: int | None) -> None:
    assert classify(document(name, **fields)).year == year


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("A title\n\nMarch 3, 2021\n\nText.", 2021),
        ("# A title\n\n*By Ann Lee | 3 March 2021*\n\nText.", 2021),
        ("A title\nPublished on 2021-03-03\nText of 1999.", 2021),
        ("Ein Titel\n3. März 2021\nText.", 2021),
        ("A title\n\nIn March 2021 the oven broke.", None),
        ("A title\n\n2021\n\nText.", None),
        ("A title\n\n2019 - 2021\n\nText.", None),
        ("A title\n" + "line\n" * 9 + "March 3, 2021", None),
    ],
)
def test_a_date_that_stands_alone_in_the_first_lines_gives_the_year(text: str, year: int | None) -> None:
    assert classify(document("x.md", text)).year == year


def test_a_resumes_year_is_its_latest_and_not_to_come() -> None:
    text = "Experience\nCook\n2014 - 2019\nBaker\nMay 2021 - Present\nEducation\nSchool\n2009 - 2098\n"
    assert classify(document("resume.pdf", text)).year == 2021
    assert classify(document("x.txt", text, mime="text/plain"), category="generic").year is None


def test_a_date_in_the_name_is_the_published_date_where_none_is_stated() -> None:
    assert classify(document("2024-03-02-x.md")).published_at == datetime(2024, 3, 2, tzinfo=UTC)
    assert classify(document("2024-13-45-x.md")).published_at is None


@given(
    st.lists(st.sampled_from([*RESUME.split("\n"), *EXPORT.split("\n"), REFLECTION, "2019 - 2021"]) | st.text()).map(
        "\n".join
    )
)
@settings(max_examples=100)
def test_any_text_gets_a_category_a_confidence_and_no_impossible_year(text: str) -> None:
    found = classify(document("a.txt", canonical(text), mime="text/plain"))
    assert found.category in CATEGORIES
    assert 0 < found.metadata["category_confidence"] <= 1
    assert found.year is None or 1950 <= found.year <= 2099


def test_classify_changes_nothing_it_was_given() -> None:
    before = document("resume.md", metadata={"tags": ["a"]})
    after = classify(before)
    assert before.metadata == {"tags": ["a"]}
    assert before.category == "generic"
    assert after.text is before.text
    assert after.category in CATEGORIES
    assert classify(after).with_(metadata={}) == after.with_(metadata={})


def test_a_resume_is_not_named_after_its_first_section() -> None:
    text = "Zoe Tan\n\nEXPERIENCE\n\nEngineer, Acme, Jan 2018 - Present\n"
    titled = document("resume.txt", text, title="EXPERIENCE")
    assert classify(titled).title == "Zoe Tan"
    assert classify(titled.with_(title="Zoe, engineer")).title == "Zoe, engineer"
    assert classify(titled.with_(name="notes.txt", text="EXPERIENCE\n\nIt rained.")).title == "EXPERIENCE"
