"""The questions of the interview follow from the truth of a resume, and answers are judged by its values."""

from pipelines.evaluation.truth import Truth
from pipelines.facts import EducationFacts, JobFacts, SkillsFacts
from tests.bench.interview import questions_of

CHEF = JobFacts(company="Quillon", position="Chef", start_month="2020-01", current=True)
BAKER = JobFacts(company="Halden Foods", position="Baker", start_month="2016-01", end_month="2019-12")
SKILLS = SkillsFacts(skills=("Plating", "Costing", "Baking"))


def test_each_thing_that_is_stated_is_asked_and_judged() -> None:
    records = (CHEF, BAKER, EducationFacts(institution="Marwick"), SKILLS)
    asked = dict(questions_of(Truth(records, frozenset({"job", "education", "skills"}))))
    assert list(asked) == ["current job", "jobs before", "education", "skills", "years"]
    assert asked["current job"].is_right("Chef at Quillon (Jan 2020 – present).")
    assert not asked["current job"].is_right("Chef at Halden Foods.")
    assert asked["skills"].is_right("plating, baking")
    assert not asked["skills"].is_right("Plating")


def test_years_are_right_within_one_year() -> None:
    ((_, before), (_, years)) = questions_of(Truth((BAKER,), frozenset({"job"})))
    assert before.values == ("Halden Foods",)
    assert years.is_right("4 years of work experience: Baker at Halden Foods")
    assert not years.is_right("2 years 1 month of work experience")
    assert not years.is_right("I cannot say.")
