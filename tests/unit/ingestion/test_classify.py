"""Category, year and the rest, each by the first rule that knows."""

from datetime import UTC, datetime

import pytest

from pipelines.errors import ConfigError
from pipelines.ingestion.classify import RULES, classify, fiscal_year
from pipelines.types import CATEGORIES, Block, Document


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
    assert [reason for reason, _ in RULES][:3] == ["front matter", "source", "dated name"]


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


def test_headings_of_a_resume_are_recognised() -> None:
    text = "Ann Lee\n\nWORK EXPERIENCE\n\nEducation\n\nSkills:\n"
    spans = [(9, 24), (26, 35), (37, 44)]
    blocks = tuple(Block(start, end, "heading", 1) for start, end in spans)
    assert classify(document("ann.pdf", text, blocks=blocks, mime="application/pdf")).category == "resume"
    assert classify(document("ann.pdf", text, blocks=blocks[:2], mime="application/pdf")).category == "generic"


def test_a_linkedin_export_and_a_web_page_are_recognised() -> None:
    export = "Contact\nwww.linkedin.com/in/ann-lee (LinkedIn)\nTop Skills\n"
    assert classify(document("Profile.pdf", export, mime="application/pdf")).category == "linkedin"
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


def test_a_date_in_the_name_is_the_published_date_where_none_is_stated() -> None:
    assert classify(document("2024-03-02-x.md")).published_at == datetime(2024, 3, 2, tzinfo=UTC)
    assert classify(document("2024-13-45-x.md")).published_at is None


def test_classify_changes_nothing_it_was_given() -> None:
    before = document("resume.md", metadata={"tags": ["a"]})
    after = classify(before)
    assert before.metadata == {"tags": ["a"]}
    assert before.category == "generic"
    assert after.text is before.text
    assert after.category in CATEGORIES
    assert classify(after).with_(metadata={}) == after.with_(metadata={})
