"""The career of each person, drawn and in tables, with the documents that state it."""

import json
from collections.abc import Callable
from datetime import date
from typing import Any

from streamlit.testing.v1 import AppTest

from app.components.career import career_of, table_data, timeline
from app.session import Opened
from config.settings import PersonaSettings
from pipelines.facts import EducationFacts, PersonFacts, SkillsFacts
from pipelines.query.careers.people import Person, group_people
from tests.app.conftest import evidence, html, opened_source
from tests.app.fakes import FakeEngine
from tests.unit.query.careers import fact, job

Open = Callable[[], AppTest]
TODAY = date(2024, 3, 20)
ANN = PersonFacts(name="Ann Bell", headline="Organ builder", location="Leith", links=("https://bell.example",))
KIM = fact(PersonFacts(name="Kim Oduya"), "Kim Oduya", document="kim.pdf")
STATED = [
    fact(ANN, "Ann Bell, organ builder"),
    job("Bell", "2019-04", None, did="Voicing of reeds"),
    job("Forth", "2012-01", "2015-06"),
    fact(EducationFacts(institution="Leith College", degree="BSc", date_range="2008 - 2011", start_month="2008",
                        end_month="2011"), "BSc, Leith College, 2008 - 2011"),
    fact(SkillsFacts(skills=("Voicing", "Casting")), "Voicing, Casting"),
    fact(PersonFacts(name="Ann Bell"), "Ann Bell", document="profile.pdf", category="linkedin"),
    job("Forth", "2012-01", "2016-02", document="profile.pdf", category="linkedin"),
]  # fmt: skip


def ann() -> Person:
    return group_people(STATED, TODAY)[0]


def career_data(at: AppTest) -> dict[str, Any]:
    widgets = (element.proto for element in at.get("bidi_component"))
    return next(json.loads(each.json) for each in widgets if each.component_name == "footnote_career")


def test_every_kind_has_a_table_whose_rows_name_the_documents_that_state_them() -> None:
    data = table_data(career_of(ann(), TODAY), None)
    kinds = {kind: [(years, title, [chip[1] for chip in chips]) for years, title, _, chips in rows]
             for kind, rows in data["kinds"]}  # fmt: skip
    assert kinds["Jobs"] == [
        ("2019-04 - Present · 5 years", "Engineer", [1]),
        ("2012-01 - 2015-06 · 3 years 6 months", "Engineer", [1, 2]),
    ]
    assert kinds["Studies"] == [("2008 - 2011", "BSc", [1])]
    assert [title for _, title, _ in kinds["Skills"]] == ["Voicing", "Casting"]
    assert kinds["About"] == [("", "Organ builder", [1]), ("", "Leith", [1])]
    assert [number for number, _ in data["documents"]] == [1, 2]


def test_what_documents_disagree_about_is_said_once_with_the_words_of_both() -> None:
    (dispute,) = table_data(career_of(ann(), TODAY), None)["disputes"]
    assert dispute["heading"] == "The documents disagree about the dates of Forth"
    assert [(side["said"], side["chip"][1]) for side in dispute["sides"]] == [
        ("2012-01 - 2015-06", 1), ("2012-01 - 2016-02", 2)
    ]  # fmt: skip


def test_bars_reach_from_the_stated_start_to_the_end_and_skills_lie_where_a_job_names_them() -> None:
    career = career_of(ann(), TODAY)
    chart = timeline(career)
    assert chart is not None
    (values,) = chart.to_dict()["datasets"].values()
    bars = {value["label"]: (value["from"], value["to"]) for value in values}
    assert bars == {
        "Engineer, Bell": ("2019-04-01", "2024-03-20"),
        "Engineer, Forth": ("2012-01-01", "2015-07-01"),
        "BSc, Leith College": ("2008-01-01", "2012-01-01"),
        "Voicing": ("2019-04-01", "2024-03-20"),
    }
    at = next(value["n"] for value in values if value["label"] == "Voicing")
    assert "Voicing of reeds" in career.facts[at - 1].text  # the job that names it, not the list of skills
    assert timeline(career_of(group_people([KIM], TODAY)[0], TODAY)) is None


def test_a_fact_opens_in_the_reader_and_another_person_closes_it(engine: FakeEngine, chat: Open) -> None:
    engine.careers = group_people([*STATED, KIM], TODAY)
    engine.texts = {"resume.pdf": STATED[1].text}
    at = chat().switch_page("app_pages/career.py").run()
    assert "<h1>Ann Bell</h1><p>Organ builder</p>" in html(at)
    assert 'href="https://bell.example"' in html(at)
    assert not at.exception
    n = career_data(at)["kinds"][0][1][0][3][0][0]
    at.session_state["opened"] = Opened(-1, n)
    at.run()
    shown = opened_source(at)
    assert evidence(shown).startswith("Bell")
    assert career_data(at)["open"] == n
    at.selectbox(key="career_person").select(1).run()
    assert "<h1>Kim Oduya</h1>" in html(at)
    assert opened_source(at) is None
    assert not at.exception


def test_the_career_of_the_persona_is_shown_first_with_its_picture(engine: FakeEngine, chat: Open) -> None:
    engine.careers = group_people([*STATED, KIM], TODAY)
    engine.saved.append((PersonaSettings(name="Kim Oduya"), "data:image/jpeg;base64,AAAA"))
    at = chat().switch_page("app_pages/career.py").run()
    assert 'src="data:image/jpeg;base64,AAAA" alt=""><h1>Kim Oduya</h1>' in html(at)
    at.selectbox(key="career_person").select(0).run()
    assert "<h1>Ann Bell</h1>" in html(at)
    assert "fn-portrait" not in html(at)


def test_without_facts_the_page_says_what_to_add(engine: FakeEngine, chat: Open) -> None:
    at = chat().switch_page("app_pages/career.py").run()
    assert "No document states a career yet" in at.main.caption[0].value
