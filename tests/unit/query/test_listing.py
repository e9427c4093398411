"""Lists of career facts: two people, who were at one company; Ann's languages stand in a list of skills too."""

import pytest

from pipelines.facts import CertificationFacts, EducationFacts, LanguageFacts, PersonFacts, SkillsFacts
from pipelines.query.careers.career import may_reckon, reckon
from pipelines.query.careers.reckoning import Reckoning
from pipelines.query.careers.timeline import Person, people
from pipelines.query.understanding.analyse import analyse
from pipelines.store.facts import Fact
from tests.unit.query.careers import TODAY, fact, job

ANN = [
    fact(PersonFacts(name="Ann Lee"), "Ann Lee"),
    job("Acme Ltd", "2018-01", "2020-01", position="Data Engineer", did="Built pipelines in Python."),
    job("Beta", "2020-02", None, position="Consultant", did="Advises on Kafka."),
    fact(EducationFacts(institution="NTNU", degree="MSc", area="Physics"), "MSc Physics, NTNU"),
    fact(EducationFacts(institution="Oslo Music School"), "Oslo Music School"),
    fact(LanguageFacts(language="Norwegian", level="native"), "Norwegian (native)"),
    fact(SkillsFacts(skills=("Python", "C#"), group="Languages"), "Languages: Python, C#"),
    fact(SkillsFacts(skills=("Kafka",), group="Tools and queues"), "Tools and queues: Kafka"),
    fact(SkillsFacts(skills=("Django",), group="Frameworks"), "Frameworks: Django"),
    fact(CertificationFacts(name="CKA"), "CKA"),
]
DATED = EducationFacts(institution="NTNU", degree="MSc", date_range="2010 - 2012")
IN_BO = {"document": "bo.pdf"}
BO = [
    fact(PersonFacts(name="Bo Ek"), "Bo Ek", **IN_BO),
    job("Acme", "2019-01", "2021-01", position="Welder", **IN_BO),
    fact(EducationFacts(institution="Lund University", degree="BSc", area="Law"), "BSc Law, Lund University", **IN_BO),
    fact(SkillsFacts(skills=("MIG", "TIG")), "MIG, TIG", **IN_BO),
]


def known(*careers: list[Fact]) -> list[Person]:
    return people([each for career in careers for each in career], TODAY)


def found(question: str, among: list[Person]) -> Reckoning | None:
    intent = analyse(question, today=TODAY)
    return reckon(intent, among) if may_reckon(intent) else None


def listed(question: str, *careers: list[Fact]) -> list[str]:
    reckoned = found(question, known(*careers or (ANN, BO)))
    return [text for text, _ in reckoned.said] if reckoned and reckoned.listed else []


JOBS = ["Consultant at Beta (2020-02 - Present)", "Data Engineer at Acme Ltd (2018-01 - 2020-01)"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What degrees does Ann have?", ["MSc, Physics, NTNU"]),
        ("List the degrees of Ann Lee", ["MSc, Physics, NTNU"]),
        ("Can you list Ann's degrees?", ["MSc, Physics, NTNU"]),
        ("Where did Ann study?", ["MSc, Physics, NTNU", "Oslo Music School"]),
        ("Which schools did ann attend?", ["MSc, Physics, NTNU", "Oslo Music School"]),
        ("What did Ann study at NTNU?", ["MSc, Physics, NTNU"]),
        ("Which companies did Ann work for?", ["Beta", "Acme Ltd"]),
        ("Where has Ann worked?", ["Beta", "Acme Ltd"]),
        ("What positions has Ann held?", JOBS),
        ("Tell me about Ann's work experience.", JOBS),
        ("What was Ann's title at Acme?", JOBS[1:]),
        ("What did Ann do at Acme?", ["Built pipelines in Python."]),
        ("Which skills does Ann have?", ["Languages: Python, C#", "Tools and queues: Kafka", "Frameworks: Django"]),
        ("Which tools does Ann use?", ["Tools and queues: Kafka"]),
        ("What frameworks does Ann use?", ["Frameworks: Django"]),
        ("Which programming languages does Ann know?", ["Languages: Python, C#"]),
        ("Which languages does Ann speak?", ["Norwegian, native"]),
        ("What languages does Ann know?", ["Languages: Python, C#", "Norwegian, native"]),
        ("What certifications does Ann hold?", ["CKA"]),
        ("Which skills does Bo have?", ["MIG, TIG"]),
    ],
)
def test_what_somebody_has_is_listed_from_their_facts_alone(question: str, said: list[str]) -> None:
    assert listed(question) == said


@pytest.mark.parametrize("question", ["When did Ann study?", "When did Ann graduate?"])
def test_when_somebody_studied_is_what_is_dated_of_their_studies(question: str) -> None:
    dated = [
        ANN[0],
        fact(DATED, "MSc, NTNU, 2010 - 2012"),
        fact(EducationFacts(institution="Oslo Music School"), "Oslo"),
    ]
    assert listed(question, dated) == ["MSc, NTNU, 2010 - 2012"]


@pytest.mark.parametrize(
    "question",
    [
        "Which skills does Petra have?",
        "What degrees does Ann Berg have?",
        "Which degrees does Ann not have?",
        "What was Ann's title at Gamma?",
        "What was Bo's title at Beta?",
        "What did Ann do at university?",
        "Which certificates does Bo have?",
        "Which tools are there?",
        "What is the title of the talk?",
        "Which tools did Ann build?",
        "Which companies use what Ann built?",
        "What degrees did Ann have in 2019?",
        "Does Ann have a degree?",
        "Why did Ann study physics?",
        "When did Ann study the manuals?",
        "When did Bo study?",
        "Which databases does Ann know?",
        "Who knows C?",
        "Who worked at Gamma?",
        "Who worked with Ann at Acme?",
    ],
)
def test_a_question_after_something_else_is_left_to_the_search(question: str) -> None:
    assert listed(question) == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who worked at Acme?", ["Ann Lee: Data Engineer at Acme Ltd (2018-01 - 2020-01)",
                                 "Bo Ek: Welder at Acme (2019-01 - 2021-01)"]),
        ("Who works at Beta now?", ["Ann Lee: Consultant at Beta (2020-02 - Present)"]),
        ("Who studied at Lund University?", ["Bo Ek: BSc, Law, Lund University"]),
        ("Who speaks Norwegian?", ["Ann Lee: Norwegian, native"]),
        ("Who knows C#?", ["Ann Lee: Languages: Python, C#"]),
    ],
)  # fmt: skip
def test_who_that_is_is_said_with_the_name_and_the_fact_that_states_it(question: str, said: list[str]) -> None:
    reckoned = found(question, known(ANN, BO))
    assert reckoned is not None
    assert [text for text, _ in reckoned.said] == said
    assert all(item.whose and item.whose.text in item.text for item in reckoned.items)


def test_who_works_somewhere_is_not_sure_where_only_people_who_did_are_known() -> None:
    now, then = found("Who works at Beta?", known(ANN, BO)), found("Who works at Acme?", known(ANN, BO))
    assert now is not None
    assert then is not None
    assert (now.exact, then.exact, len(then.items)) == (True, False, 2)


def test_several_people_are_told_apart_and_a_list_of_people_that_nobody_named_is_not_sure() -> None:
    said = ["Ann Lee: MSc, Physics, NTNU", "Bo Ek: BSc, Law, Lund University"]
    assert listed("Which degrees do Ann and Bo have?") == listed("Which degrees does she have?") == said
    unnamed, named = (found(question, known(ANN, BO)) for question in ("Her degrees?", "Degrees of Ann and Bo?"))
    assert unnamed is not None
    assert named is not None
    assert (unnamed.exact, named.exact) == (False, True)
    assert listed("Which certificates does he hold?") == ["Ann Lee: CKA"]
    assert listed("Which degrees does she have?", ANN) == ["MSc, Physics, NTNU"]


def test_of_two_people_with_one_first_name_the_whole_name_tells() -> None:
    other = [
        fact(PersonFacts(name="Ann Berg"), "Ann Berg", "berg.pdf"),
        fact(EducationFacts(institution="MIT", degree="PhD"), "PhD, MIT", "berg.pdf"),
    ]
    assert listed("What degrees does Ann Berg have?", ANN, other) == ["PhD, MIT"]
    assert listed("What degrees does Ann have?", ANN, other) == ["Ann Berg: PhD, MIT", "Ann Lee: MSc, Physics, NTNU"]


def test_a_list_of_many_people_is_not_made() -> None:
    many = [
        [fact(PersonFacts(name=f"P{n} Q{n}"), f"P{n} Q{n}", f"{n}.pdf"), job("Acme", "2020", None, document=f"{n}.pdf")]
        for n in range(4)
    ]
    assert listed("Which companies do they work for?", *many[:3]) != []
    assert listed("Which jobs have they had?", *many) == []


def test_lists_that_two_documents_state_alike_stand_once_and_name_both() -> None:
    twin = [fact(SkillsFacts(skills=("kafka",), group="tools and queues"), "tools and queues: kafka", "old.pdf")]
    reckoned = found("Which tools does Ann use?", known([*ANN, *twin]))
    assert reckoned is not None
    (item,) = reckoned.items
    assert {item.fact.document_id, *item.also_in} == {"resume.pdf", "old.pdf"}
