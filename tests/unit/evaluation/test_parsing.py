"""What documents state is compared with their truth field by field, and their reading order word by word."""

import json
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.parsing import (
    CORE,
    ParsingComparison,
    Tally,
    compare,
    duplicates,
    field_scores,
    match_entries,
    parse_folder,
    parsing_report,
    reading_order,
    same_month,
)
from pipelines.evaluation.truth import Truth, read_truth, truth_of
from pipelines.facts import (
    CareerRecord,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "parsing"
ALL = frozenset({"job", "education", "skills", "project", "certification", "language"})
BAKER = JobFacts(company="Halden Foods", position="Baker", start_month="2020-01", end_month="2021-05")
CHEF = JobFacts(company="Quillon", position="Chef", start_month="2021-06", current=True)


def compared(stated: list[CareerRecord], found: list[CareerRecord], kinds: frozenset[str] = ALL) -> ParsingComparison:
    return compare(Truth(tuple(stated), kinds), found)


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


# Fields


def test_f1_is_twice_the_right_values_over_all_stated_and_found_ones() -> None:
    found = [BAKER, CHEF.model_copy(update={"position": "Cook", "company": ""})]
    tallies = compared([BAKER, CHEF], found).tallies
    assert tallies["company"] == Tally(stated=2, found=1, right=1)
    assert tallies["company"].f1 == 2 * 1 / (2 + 1)
    assert tallies["position"].f1 == 2 * 1 / (2 + 2)
    assert tallies["dates"].f1 == 1.0
    assert tallies["institution"].f1 is None


def test_every_value_missed_or_wrong_is_named_with_its_field() -> None:
    made = compared([BAKER], [BAKER.model_copy(update={"position": "Cook"})])
    assert made.missed == [("position", "Baker")]
    assert made.wrong == [("position", "Cook")]


def test_case_spaces_accents_and_typographic_signs_do_not_count() -> None:
    stated = JobFacts(company="O'Darragh – Söhne", position="Co-Founder & CTO")
    found = JobFacts(company="O’DARRAGH  - Sohne,", position="co‑founder & cto")
    tallies = compared([stated], [found]).tallies
    assert tallies["company"].right == tallies["position"].right == 1


def test_a_job_that_is_found_twice_is_wrong_once_and_counted_as_a_duplicate() -> None:
    again = BAKER.model_copy(update={"span": (5, 9)})
    assert compared([BAKER], [BAKER, again]).tallies["company"] == Tally(stated=1, found=2, right=1)
    assert duplicates([BAKER, again, CHEF]) == 1


def test_jobs_beyond_the_stated_ones_are_counted_as_false_jobs() -> None:
    assert compared([BAKER], [CHEF, BAKER, CHEF]).false_jobs == 3 - 1
    assert compared([BAKER, CHEF], [BAKER]).false_jobs == 0


def test_the_name_of_the_first_person_found_is_compared_with_the_truth(tmp_path: Path) -> None:
    job = {"company": "Quillon", "position": "Chef"}
    for held in ({"name": "Ann Lee"}, {"person": {"name": "Ann Lee"}}, {"basics": {"name": "Ann Lee"}}):
        truth = read_truth(written(tmp_path, "cv.json", {**held, "jobs": [job]}))
        other = [PersonFacts(name=""), PersonFacts(name="Head Chef")]
        assert compare(truth, [*other, PersonFacts(name="Ann Lee")]).wrong == [("name", "Head Chef")]
        assert compare(truth, [PersonFacts(name="ANN LEE")]).tallies["name"].right == 1
    nameless = read_truth(written(tmp_path, "cv.json", {"jobs": [job]}))
    assert compare(nameless, [PersonFacts(name="Ann Lee")]).tallies["name"] == Tally()


def test_entries_are_paired_by_what_they_say_whatever_their_order() -> None:
    assert all(t.f1 in (1.0, None) for t in compared([BAKER, CHEF], [CHEF, BAKER]).tallies.values())


def test_an_entry_has_at_most_one_partner_and_the_likest_first() -> None:
    pairs = match_entries([10, 20], [12, 11, 18], lambda a, b: max(0.0, 5 - abs(a - b)))
    assert pairs == [(10, 11), (20, 18), (None, 12)]


def test_entries_that_are_not_alike_at_all_are_not_paired() -> None:
    assert match_entries(["a"], ["b"], lambda a, b: 0.0) == [("a", None), (None, "b")]


@pytest.mark.parametrize(
    ("stated", "found", "same"),
    [
        ("2020-01", "2020-01", True),
        ("2020", "2020-07", True),
        ("2020-07", "2020", True),
        ("2020-01", "2020-02", False),
        ("2020", "2021-01", False),
        ("", "2020", False),
        ("present", "2020", False),
    ],
)
def test_dates_agree_to_the_precision_that_both_state(stated: str, found: str, same: bool) -> None:
    assert same_month(stated, found) is same


def test_a_range_within_one_year_is_the_single_year_that_the_page_shows() -> None:
    ranged = JobFacts(company="Quillon", start_month="2020", end_month="2020")
    single = JobFacts(company="Quillon", start_month="2020")
    assert compared([ranged], [single]).tallies["dates"] == Tally(stated=1, found=1, right=1)
    assert compared([single], [ranged]).tallies["dates"] == Tally(stated=1, found=1, right=1)


def test_an_end_that_is_not_found_is_missed_and_an_open_one_is_a_value() -> None:
    without_end = BAKER.model_copy(update={"end_month": None})
    assert compared([BAKER], [without_end]).missed == [("dates", "2021-05")]
    ended = CHEF.model_copy(update={"current": False, "end_month": "2024-01"})
    assert compared([CHEF], [ended]).missed == [("dates", "present")]


def test_skills_are_compared_as_a_set_and_the_name_of_a_group_is_not_wrong() -> None:
    stated = SkillsFacts(skills=("Python", "SQL", "Go"), group="Programming")
    found = [SkillsFacts(skills=("sql", "Programming")), SkillsFacts(skills=("Python", "Rust"))]
    made = compared([stated], list(found))
    assert made.tallies["skills"] == Tally(stated=3, found=3, right=2)
    assert (made.missed, made.wrong) == ([("skills", "Go")], [("skills", "Rust")])


def test_a_kind_of_which_the_truth_does_not_speak_is_not_judged() -> None:
    made = compared([BAKER], [BAKER, SkillsFacts(skills=("Python",)), ProjectFacts(name="Kelp")], frozenset({"job"}))
    assert made.wrong == []


def test_a_field_that_no_entry_of_the_truth_has_is_not_judged() -> None:
    found = BAKER.model_copy(update={"location": "Leeds", "bullets": ("Baked",)})
    assert compared([BAKER], [found]).wrong == []
    located = CHEF.model_copy(update={"location": "Lyon"})
    assert compared([BAKER, located], [found, located]).wrong == [("location", "Leeds")]


def test_degree_and_subject_are_one_however_a_page_joins_them() -> None:
    stated = EducationFacts(institution="Marwick College", degree="M.Sc.", area="Physics")
    found = EducationFacts(institution="Marwick College", degree="M.Sc. in Physics")
    assert compared([stated], [found]).tallies["degree"].right == 1


# Truth


def test_our_own_truth_states_every_kind(tmp_path: Path) -> None:
    held = {
        "kind": "resume",
        "theme": "pipe",
        "language": "en",
        "jobs": [{"company": "Quillon", "position": "Chef", "start": "2021-06", "end": "", "current": True}],
        "education": [{"institution": "Marwick", "degree": "BA", "start": "2010", "end": "2013"}],
        "skills": ["Plating"],
        "languages": [{"language": "Swahili", "level": "Native"}],
    }
    truth = read_truth(written(tmp_path, "a.json", held))
    assert truth.records == (
        CHEF,
        EducationFacts(institution="Marwick", degree="BA", start_month="2010", end_month="2013"),
        SkillsFacts(skills=("Plating",)),
        LanguageFacts(language="Swahili", level="Native"),
    )
    assert (truth.category, truth.theme) == ("resume", "pipe")
    assert truth.kinds == {"job", "education", "skills", "language"}


def test_rendercv_sections_are_told_by_their_entries_and_names(tmp_path: Path) -> None:
    held = """
cv:
  name: Ann
  sections:
    where_i_cooked:
      - {company: Quillon, position: Chef, start_date: 2021-06, end_date: present, highlights: ["**Led** six - or 7"]}
      - {company: Halden Foods, position: Baker, date: Jan 2020 to May 2021}
    studies:
      - {institution: Marwick, area: Physics, degree: BA, start_date: 2010, end_date: 2013-05-20}
    technologies:
      - {label: Tools, details: "Python (3, mostly), SQL"}
    selected_honors:
      - bullet: Golden Ladle
    projects:
      - {name: "[Kelp](https://example.com)", date: 2020}
    publications:
      - {title: Bread, authors: [Ann], date: 2020}
design: {theme: classic}
locale: {language: english}
"""
    truth = read_truth(written(tmp_path, "a.yaml", held))
    assert truth.records == (
        PersonFacts(name="Ann"),
        CHEF.model_copy(update={"bullets": ("Led six", "or 7")}),
        BAKER,
        EducationFacts(institution="Marwick", degree="BA", area="Physics", start_month="2010", end_month="2013-05"),
        SkillsFacts(skills=("Python (3, mostly)", "SQL"), group="Tools"),
        ProjectFacts(name="Kelp"),
    )
    assert (truth.theme, truth.kinds) == ("classic", {"person", "job", "education", "skills", "project"})


def test_json_resume_is_read_and_a_job_without_an_end_goes_on(tmp_path: Path) -> None:
    held = {
        "basics": {"name": "Ann"},
        "work": [{"name": "Quillon", "position": "Chef", "startDate": "2021-06-01"}],
        "volunteer": [{"organization": "Oakhurst", "position": "Cook", "startDate": "2019"}],
        "education": [{"institution": "Marwick", "area": "Physics", "studyType": "BA", "endDate": "2013"}],
        "skills": [{"name": "Web", "level": "Master", "keywords": ["HTML", "CSS"]}],
    }
    truth = read_truth(written(tmp_path, "a.json", held))
    assert truth.records == (
        PersonFacts(name="Ann"),
        CHEF,
        EducationFacts(institution="Marwick", degree="BA", area="Physics", end_month="2013"),
        SkillsFacts(skills=("HTML", "CSS"), group="Web"),
    )


def test_reactive_resume_items_are_read(tmp_path: Path) -> None:
    held = {
        "sections": {
            "experience": {
                "items": [
                    {"company": "Quillon", "position": "Chef", "date": "June 2021 - Present", "summary": "<p>Led</p>"}
                ]
            },
            "skills": {"items": [{"name": "Web", "description": "Advanced", "keywords": ["HTML"]}]},
            "interests": {"items": [{"name": "Tides"}]},
        }
    }
    truth = read_truth(written(tmp_path, "a.json", held))
    assert truth.records == (
        CHEF.model_copy(update={"bullets": ("Led",)}),
        SkillsFacts(skills=("HTML",), group="Web"),
    )


def test_a_profile_with_positions_under_a_company_is_read_whatever_its_keys(tmp_path: Path) -> None:
    positions = [
        {"title": "Chef", "dates": "June 2021 - Present"},
        {"title": "Baker", "startDate": {"year": 2020, "month": 1}, "endDate": {"year": 2021, "month": 5}},
    ]
    held = {"profile": {"experience": [{"organization": "Quillon", "positions": positions}], "topSkills": ["Plating"]}}
    truth = read_truth(written(tmp_path, "a.json", held))
    assert truth.records == (
        CHEF,
        BAKER.model_copy(update={"company": "Quillon"}),
        SkillsFacts(skills=("Plating",)),
    )


@pytest.mark.parametrize("content", ["{", "[1, 2]", '{"name": "Ann"}', '{"language": "en"}'])
def test_a_truth_file_that_cannot_be_understood_is_named(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, "odd.json", content)
    with pytest.raises(SourceError, match=r"odd\.json"):
        read_truth(path)


@pytest.mark.parametrize("name", ["cv.json", "cv.yaml", "cv_expected.json", "cv.truth.yml", "expected/cv.json"])
def test_truth_is_found_beside_its_document_or_in_a_folder_of_its_own(tmp_path: Path, name: str) -> None:
    (tmp_path / "expected").mkdir()
    stated = written(tmp_path, name, "{}")
    assert truth_of(tmp_path / "cv.pdf") == stated
    assert truth_of(tmp_path / "other.pdf") is None


# Reading order


def test_reading_order_is_twice_the_common_subsequence_over_the_words_of_both() -> None:
    assert reading_order("one two three four", "one three two four") == 2 * 3 / (4 + 4)
    assert reading_order("One, two\n• three", "one two three") == 1.0
    assert reading_order("one two", "three") == 0.0


def test_a_heading_that_is_set_letter_by_letter_is_one_word() -> None:
    assert reading_order("S K I L L S\nPython", "Skills Python") == 1.0
    assert reading_order("R C", "R C") == 1.0


# Folders


def test_a_folder_without_documents_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no PDF or DOCX"):
        parse_folder(tmp_path)


def test_a_document_that_cannot_be_read_misses_its_whole_truth(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    written(tmp_path, "broken.json", {"jobs": [{"company": "Quillon", "position": "Chef", "start": "2021-06"}]})
    (only,) = parse_folder(tmp_path)
    assert only.error
    assert ("company", "Quillon") in only.comparison.missed
    assert field_scores([only])["all"] == 0.0
    assert parsing_report([only])["files"] == [only]


def test_a_document_without_truth_still_counts_its_jobs(tmp_path: Path) -> None:
    (tmp_path / "cv.pdf").write_bytes((FIXTURES / "grouped-0.pdf").read_bytes())
    (only,) = parse_folder(tmp_path)
    assert only.truth is None
    assert only.stated_jobs is None
    assert only.jobs == len(json.loads((FIXTURES / "grouped-0.json").read_text())["jobs"])
    assert only.f1 is None


def test_the_fixtures_are_parsed_to_their_truth_each_job_once_in_reading_order() -> None:
    done = parse_folder(FIXTURES)
    found = field_scores(done)
    assert {each.name: each.error for each in done if each.error} == {}
    assert {name: found[name] for name in ("all", *CORE) if (found[name] or 0) < 0.95} == {}
    assert sum(each.twice for each in done) == 0
    assert {each.name for each in done if each.order is not None and each.order < 0.97} == set()
    assert {each.name for each in done if each.category != each.expected} == set()
