"""Answers computed from career facts."""

import pytest

from config.settings import PersonaSettings
from pipelines.facts import (
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    SkillsFacts,
    UnreadLine,
)
from pipelines.query.careers.answers import answer_from_people
from pipelines.query.careers.computed_answer import (
    NEUTRAL,
    ComputedAnswer,
    cited_facts,
    employer_items,
    left_out_note,
    list_answer,
    skill_forms,
    skill_mention,
    with_person,
)
from pipelines.query.careers.people import (
    Person,
    describe_date_conflict,
    group_people,
    is_same_organisation,
    is_similar_organisation,
    jobs_by_company,
)
from pipelines.query.question.understand import analyse
from pipelines.query.verify import verify_computed
from pipelines.store.facts import Fact
from tests.unit.query.careers import TODAY, fact, job

ON_LINKEDIN = {"document": "linkedin.pdf", "category": "linkedin"}
ANN = fact(PersonFacts(name="Ann Lee"), "Ann Lee")
RESUME = [
    ANN,
    job("Acme Ltd", "2018-01", "2020-01", position="Data Engineer", did="Built Python pipelines in Go."),
    job("Beta", "2019-01", "2021-01", position="Consultant", did="Advised on Kafka."),
    job("Acme, Ltd.", "2022-01", None, position="Staff Engineer", did="Moved to C++ and Python."),
    fact(EducationFacts(institution="NTNU", degree="MSc"), "MSc, NTNU"),
    fact(EducationFacts(institution="NTNU", degree="BSc"), "BSc, NTNU"),
    fact(LanguageFacts(language="Norwegian", level="native"), "Norwegian (native)"),
    fact(LanguageFacts(language="English"), "English"),
    fact(SkillsFacts(skills=("Python", "Go", "C++")), "Python, Go, C++"),
    fact(CertificationFacts(name="CKA"), "CKA"),
]


def only(facts: list[Fact]) -> Person:
    (person,) = group_people(facts, TODAY)
    return person


def answered(question: str, *people_: Person) -> str:
    intent = analyse(question, today=TODAY)
    found = answer_from_people(intent, people_ or [only(RESUME)])
    return f"{found.value}{found.of}" if found else ""


# Questions


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How long did you work at Beta?", "I worked 2 years 1 month at Beta: "),
        ("How many years of experience do you have?", "I have 5 years 4 months of work experience"),
        ("Where do you work now?", "Now I am: Staff Engineer at Acme, Ltd."),
        ("How many degrees do you have?", "I count 2 degrees: "),
    ],
)
def test_computed_answers_are_in_the_voice_of_the_persona(question: str, said: str) -> None:
    found = answer_from_people(analyse(question, today=TODAY), [only(RESUME)])
    assert found is not None
    assert found.sentence(PersonaSettings(voice="first")).startswith(said)


def test_a_persona_does_not_name_itself_before_its_own_facts() -> None:
    listed = list_answer([with_person(only(RESUME), item) for item in employer_items(only(RESUME))[:1]])
    assert listed is not None
    said = [[text for text, _ in listed.said(PersonaSettings(voice=v, name="Ann Lee"))] for v in ("neutral", "first")]
    assert said == [["Ann Lee: Acme, Ltd."], ["Acme, Ltd."]]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many years of experience does Ann have?", "5 years 4 months of work experience"),
        ("How long has she been working?", "5 years 4 months of work experience"),
        ("How long did she work at Acme?", "4 years 4 months at Acme"),
        ("For how many years was Ann Lee at Beta?", "2 years 1 month at Beta"),
        ("How many years of Python experience does she have?", "4 years 4 months in jobs that name Python"),
        ("How many years of experience with C++ does she have?", "2 years 3 months in jobs that name C++"),
        ("How long has she used Kafka?", "2 years 1 month in jobs that name kafka"),
        ("How many years of Go?", "2 years 1 month in jobs that name Go"),
        ("How long was she a data engineer?", "2 years 1 month as data engineer"),
        ("How many years of engineering experience?", "4 years 4 months as engineering"),
        ("How long has she been in her current job?", "2 years 3 months in the current job"),
        ("How many companies has she worked for?", "2 companies"),
        ("How many jobs has she held?", "3 jobs"),
        ("How many languages does Ann speak?", "2 languages"),
        ("How many degrees does she have?", "2 degrees"),
        ("How many universities did she attend?", "1 institution"),
        ("How many certificates does she hold?", "1 certificate"),
        ("What was her job in 2019?", "in 2019"),
        ("Where did Ann work in 2022?", "in 2022"),
        ("Since when does Ann work there now?", "now"),
        ("How long has Ann been there?", "2 years 3 months in the current job"),
    ],
)
def test_a_question_that_facts_answer_is_computed(question: str, said: str) -> None:
    assert (
        answered(question)
        .removesuffix(", overlapping jobs counted once")
        .replace("Acme Ltd", "Acme")
        .replace("Acme, Ltd.", "Acme")
        == said
    )


@pytest.mark.parametrize(
    "question",
    [
        "How long was she off work after the rowing accident?",
        "How many hospitals used the software she worked on?",
        "How many employees does Acme have?",
        "How many programming languages does she know?",
        "How many people applied for the open positions?",
        "How many companies were in the pilot?",
        "How long did she work on the migration?",
        "How long was the outage?",
        "How many years of experience does Jonas have?",
        "How many years of Haskell experience does she have?",
        "How many years had she worked by 2020?",
        "What did she work on in 2019?",
        "What was her job in 2017?",
        "What work did she publish in 2019?",
        "How long is the boat?",
        "How long did she work before Beta?",
        "Where did Ann work before the outage?",
        "Where did Ann work before the launch of Beta?",
    ],
)
def test_any_other_question_is_left_to_the_search(question: str) -> None:
    assert answered(question) == ""


def test_the_jobs_of_a_year_are_those_that_reach_into_it() -> None:
    found = answer_from_people(analyse("What was her job in 2019?", today=TODAY), [only(RESUME)])
    assert found is not None
    assert found.sentence(NEUTRAL) == (
        "In 2019: Consultant at Beta (2019-01 - 2021-01); Data Engineer at Acme Ltd (2018-01 - 2020-01)."
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where did Ann work before Beta?", "Before Beta: Data Engineer at Acme (2018-01 - 2020-01)."),
        (
            "Which companies did Ann work for before Gamma?",
            "Before Gamma Works: Consultant at Beta (2020-02 - 2021-01); Data Engineer at Acme (2018-01 - 2020-01).",
        ),
        ("Where did Ann work right before Gamma?", "Before Gamma Works: Consultant at Beta (2020-02 - 2021-01)."),
        ("Where did she work directly after Acme?", "After Acme: Consultant at Beta (2020-02 - 2021-01)."),
        ("What did Ann do before Beta?", "Before Beta: Data Engineer at Acme (2018-01 - 2020-01)."),
        ("What did Ann do before the harbour fair?", ""),
        (
            "What were her previous jobs?",
            "Earlier: Consultant at Beta (2020-02 - 2021-01); Data Engineer at Acme (2018-01 - 2020-01).",
        ),
        (
            "Where did you work before?",
            "Earlier: Consultant at Beta (2020-02 - 2021-01); Data Engineer at Acme (2018-01 - 2020-01).",
        ),
        (
            "What did you do before?",
            "Earlier: Consultant at Beta (2020-02 - 2021-01); Data Engineer at Acme (2018-01 - 2020-01).",
        ),
        ("What did you do before the meeting?", ""),
        (
            "Which companies has she worked for previously?",
            "Earlier: Consultant at Beta (2020-02 - 2021-01); Data Engineer at Acme (2018-01 - 2020-01).",
        ),
        ("Where did you work before the harbour fair?", ""),
        ("What was Ann's former role?", "Earlier: Consultant at Beta (2020-02 - 2021-01)."),
        ("What did her previous employer build?", ""),
        ("Where did she work after Gamma?", ""),
        ("Where did she work before Acme?", ""),
    ],
)
def test_the_jobs_before_or_after_one_are_those_that_began_so_the_nearest_first(question: str, said: str) -> None:
    person = only(
        [
            ANN,
            job("Acme", "2018-01", "2020-01", position="Data Engineer"),
            job("Beta", "2020-02", "2021-01", position="Consultant"),
            job("Gamma Works", "2021-02", None, position="Head"),
        ]
    )
    intent = analyse(question, today=TODAY)
    found = answer_from_people(intent, [person])
    assert (found.sentence(NEUTRAL) if found else "") == said


def test_a_question_that_could_be_about_several_people_is_not_computed() -> None:
    bo = [fact(PersonFacts(name="Bo Ek"), "Bo Ek", "bo.pdf"), job("Keel", "2020-01", "2021-01", document="bo.pdf")]
    both = group_people([*RESUME, *bo], TODAY)
    assert answered("How many years of experience does she have?", *both) == ""
    assert answered("How many years of experience does Bo have?", *both) == "1 year 1 month of work experience"
    assert answered("How long at Keel?", *both) == "1 year 1 month at Keel"


# Several documents


def test_the_same_job_in_two_documents_counts_once() -> None:
    twin = [
        fact(PersonFacts(name="ANN LEE, MSc"), "ANN LEE, MSc", **ON_LINKEDIN),
        job("Acme", "2018", "2020", **ON_LINKEDIN),
        job("Beta Consulting GmbH", "2019-02", "2021-01", **ON_LINKEDIN),
        job("Gamma", "2021-02", "2021-12", **ON_LINKEDIN),
        fact(LanguageFacts(language="english", level="fluent"), "english (fluent)", **ON_LINKEDIN),
    ]
    person = only([*twin, *RESUME])
    assert [(each.record.company, len(each.stated)) for each in person.jobs] == [
        ("Acme, Ltd.", 1), ("Gamma", 1), ("Beta", 2), ("Acme Ltd", 2),
    ]  # fmt: skip
    assert len(jobs_by_company(person.jobs)) == 3
    assert len(person.languages) == 2


def test_documents_that_state_other_dates_are_kept_as_a_disagreement() -> None:
    person = only(
        [*RESUME, job("Beta", "2019-02", "2021-01", **ON_LINKEDIN), job("Acme", "2018", "2020", **ON_LINKEDIN)]
    )
    by_company = {each.record.company: describe_date_conflict(each) for each in person.jobs}
    assert by_company["Beta"] == "Beta: 2019-01 - 2021-01 (resume.pdf), 2019-02 - 2021-01 (linkedin.pdf)"
    assert by_company["Acme Ltd"] == ""


def test_two_stays_at_one_company_are_two_jobs() -> None:
    person = only([job("Acme", "2015-01", "2016-01"), job("Acme", "2018-01", "2019-01", **ON_LINKEDIN)])
    assert len(person.jobs) == 2


def test_companies_are_compared_without_their_legal_forms() -> None:
    assert is_same_organisation("Acme, Inc.", "ACME")
    assert not is_same_organisation("Acme Robotics", "Acme Foods")
    assert is_similar_organisation("Acme", "Acme Robotics GmbH")
    assert not is_similar_organisation("Bank of Oslo", "Oslo Bank")


def test_documents_without_a_name_go_to_the_only_person_there_is() -> None:
    person = only([*RESUME, job("Keel", "2021-01", "2021-02", document="cv.docx")])
    assert (set(person.documents), person.name) == ({"resume.pdf", "cv.docx"}, "Ann Lee")


def test_a_short_skill_must_stand_in_its_own_spelling() -> None:
    (found,) = only([job("Acme", "2018-01", "2019-01", did="We go to sea with R.")]).jobs
    assert skill_mention(found, "Go") is None
    assert skill_mention(found, "R") is not None


def test_a_skill_is_found_by_each_of_its_forms() -> None:
    (found,) = only([job("Acme", "2018-01", "2019-01", did="Ran k8s in C++.")]).jobs
    assert skill_forms("Kubernetes (k8s)") == ["Kubernetes (k8s)", "Kubernetes", "k8s"]
    assert [(skill_mention(found, skill) or ("", ""))[1] for skill in ("Kubernetes (k8s)", "C++ (C++17)", "SQL")] == [
        "k8s", "C++", "",
    ]  # fmt: skip


# Verdicts


def computed(question: str) -> ComputedAnswer:
    found = answer_from_people(analyse(question, today=TODAY), [only(RESUME)])
    assert found is not None
    return found


def test_a_computed_sentence_cites_every_fact_that_was_summed_and_is_supported() -> None:
    found = computed("How long did she work at Acme?")
    sources, ((_, quoted),) = cited_facts(found)
    sentence = verify_computed(found.sentence(NEUTRAL), quoted, (found.value,), sources)
    assert (sentence.verdict, sentence.citations) == ("supported", (1, 2))
    assert all(cited.quote in sources[cited.n - 1].snippet for cited in sentence.evidence)


def test_a_date_that_does_not_stand_in_its_span_is_only_partly_borne_out() -> None:
    wrong = job("Acme", "2018-01", "2020-01").record.model_copy(update={"date_range": "2018-01 - 2022-01"})
    person = only([fact(wrong, "Acme | Engineer | 2018-01 - 2020-01")])
    found = answer_from_people(analyse("How long did she work at Acme?"), [person])
    assert found is not None
    sources, ((_, quoted),) = cited_facts(found)
    assert verify_computed(found.sentence(NEUTRAL), quoted, (found.value,), sources).verdict == "partial"


def test_a_number_that_is_neither_quoted_nor_derived_is_not_borne_out() -> None:
    found = computed("How long did she work at Beta?")
    sources, ((_, quoted),) = cited_facts(found)
    assert verify_computed(f"{found.sentence(NEUTRAL)} 17 ships.", quoted, (found.value,), sources).verdict == "partial"


# Where somebody works now, and when they began or left somewhere


def quoted_in(question: str) -> list[str]:
    intent = analyse(question, today=TODAY)
    other = job("Beta", "2019-04", "2021-01", position="Consultant", **ON_LINKEDIN)
    found = answer_from_people(intent, [only([*RESUME, other])])
    return [item.text for item in found.items] if found else []


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ann work now?",
        "Where does Ann work now, and what is her job title?",
        "What is her current job?",
        "Who is Ann's current employer?",
        "What is her job title?",
    ],
)
def test_the_job_that_somebody_has_now_is_stated(question: str) -> None:
    assert quoted_in(question) == ["Staff Engineer at Acme, Ltd. (2022-01 - Present)"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When did Ann start at Beta?", "At Beta from 2019-01 (Consultant); from 2019-04 (Consultant)."),
        ("When did she leave Beta?", "At Beta until 2021-01 (Consultant)."),
        ("Until when was she at Beta?", "At Beta until 2021-01 (Consultant)."),
    ],
)
def test_a_beginning_or_end_is_stated_in_each_way_that_documents_have_it(question: str, said: str) -> None:
    assert bound_of(question, job("Beta", "2019-04", "2021-01", position="Consultant", **ON_LINKEDIN)) == said


def test_only_the_first_or_last_of_jobs_that_follow_each_other_bounds_the_time_at_a_company() -> None:
    later = job("Beta", "2021-02", None, position="Partner")
    assert bound_of("Since when has Ann been at Beta?", later) == "At Beta from 2019-01 (Consultant)."
    assert bound_of("When did she leave Beta?", later) == "Still at Beta since 2021-02 (Partner)."


def test_an_end_of_a_range_written_as_one_word_is_derived_from_the_whole_range() -> None:
    record = JobFacts(company="Gamma", position="Cook", date_range="2007-2011", start_month="2007", end_month="2011")
    assert bound_of("When did she leave Gamma?", fact(record, "Cook, Gamma, 2007-2011")) == (
        "At Gamma until 2011 (Cook)."
    )


def bound_of(question: str, *others: Fact) -> str:
    found = answer_from_people(analyse(question, today=TODAY), [only([*RESUME, *others])])
    assert found
    sources, ((sentence, quoted),) = cited_facts(found)
    assert verify_computed(sentence, quoted, found.derived, sources).verdict == "supported"
    return sentence


@pytest.mark.parametrize(
    "question",
    [
        "When did the pilot start?",
        "Why did she leave Beta?",
        "When did she start the migration at Beta?",
        "When did she join Gamma?",
        "What is the current work on the boat?",
        "Where does the buoy work now?",
        "When will version 2.0 start?",
        "What does her current job pay?",
    ],
)
def test_a_question_about_something_else_than_the_dates_of_a_job_is_left_to_the_search(question: str) -> None:
    assert quoted_in(question) == []


ANNS = [
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
    return group_people([each for career in careers for each in career], TODAY)


def found(question: str, among: list[Person]) -> ComputedAnswer | None:
    intent = analyse(question, today=TODAY)
    return answer_from_people(intent, among)


def listed(question: str, *careers: list[Fact]) -> list[str]:
    reckoned = found(question, known(*careers or (ANNS, BO)))
    return [text for text, _ in reckoned.said(NEUTRAL)] if reckoned and reckoned.listed else []


JOBS = ["Consultant at Beta (2020-02 - Present)", "Data Engineer at Acme Ltd (2018-01 - 2020-01)"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What degrees does Ann have?", ["MSc in Physics, NTNU"]),
        ("List the degrees of Ann Lee", ["MSc in Physics, NTNU"]),
        ("Can you list Ann's degrees?", ["MSc in Physics, NTNU"]),
        ("Where did Ann study?", ["MSc in Physics, NTNU", "Oslo Music School"]),
        ("Which schools did ann attend?", ["MSc in Physics, NTNU", "Oslo Music School"]),
        ("What did Ann study at NTNU?", ["MSc in Physics, NTNU"]),
        ("Which companies did Ann work for?", ["Beta", "Acme Ltd"]),
        ("Where has Ann worked?", ["Beta", "Acme Ltd"]),
        ("What companies has Ms. Lee worked for?", ["Beta", "Acme Ltd"]),
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


@pytest.mark.parametrize("question", ["When did Ann study?", "When did Ann graduate?", "How long did Ann study?"])
def test_when_somebody_studied_is_what_is_dated_of_their_studies(question: str) -> None:
    dated = [
        ANNS[0],
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
        ("Who studied at Lund University?", ["Bo Ek: BSc in Law, Lund University"]),
        ("Who speaks Norwegian?", ["Ann Lee: Norwegian, native"]),
        ("Who knows C#?", ["Ann Lee: Languages: Python, C#"]),
    ],
)  # fmt: skip
def test_who_that_is_is_said_with_the_name_and_the_fact_that_states_it(question: str, said: list[str]) -> None:
    reckoned = found(question, known(ANNS, BO))
    assert reckoned is not None
    assert [text for text, _ in reckoned.said(NEUTRAL)] == said
    assert all(item.whose and item.whose.text in item.text for item in reckoned.items)


def test_who_works_somewhere_is_not_sure_where_only_people_who_did_are_known() -> None:
    now, then = found("Who works at Beta?", known(ANNS, BO)), found("Who works at Acme?", known(ANNS, BO))
    assert now is not None
    assert then is not None
    assert (now.exact, then.exact, len(then.items)) == (True, False, 2)


def test_several_people_are_told_apart_and_a_list_of_people_that_nobody_named_is_not_sure() -> None:
    said = ["Ann Lee: MSc in Physics, NTNU", "Bo Ek: BSc in Law, Lund University"]
    assert listed("Which degrees do Ann and Bo have?") == listed("Which degrees does she have?") == said
    unnamed, named = (found(question, known(ANNS, BO)) for question in ("Her degrees?", "Degrees of Ann and Bo?"))
    assert unnamed is not None
    assert named is not None
    assert (unnamed.exact, named.exact) == (False, True)
    assert listed("Which certificates does he hold?") == ["Ann Lee: CKA"]
    assert listed("Which degrees does she have?", ANNS) == ["MSc in Physics, NTNU"]


def test_of_two_people_with_one_first_name_the_whole_name_tells() -> None:
    other = [
        fact(PersonFacts(name="Ann Berg"), "Ann Berg", "berg.pdf"),
        fact(EducationFacts(institution="MIT", degree="PhD"), "PhD, MIT", "berg.pdf"),
    ]
    assert listed("What degrees does Ann Berg have?", ANNS, other) == ["PhD, MIT"]
    assert listed("What degrees does Ann have?", ANNS, other) == ["Ann Berg: PhD, MIT", "Ann Lee: MSc in Physics, NTNU"]


def test_a_list_of_many_people_is_not_made() -> None:
    many = [
        [fact(PersonFacts(name=f"P{n} Q{n}"), f"P{n} Q{n}", f"{n}.pdf"), job("Acme", "2020", None, document=f"{n}.pdf")]
        for n in range(4)
    ]
    assert listed("Which companies do they work for?", *many[:3]) != []
    assert listed("Which jobs have they had?", *many) == []


def test_lists_that_two_documents_state_alike_stand_once_and_name_both() -> None:
    twin = [fact(SkillsFacts(skills=("kafka",), group="tools and queues"), "tools and queues: kafka", "old.pdf")]
    reckoned = found("Which tools does Ann use?", known([*ANNS, *twin]))
    assert reckoned is not None
    (item,) = reckoned.items
    assert {item.fact.document_id, *item.also_in} == {"resume.pdf", "old.pdf"}


def test_the_legal_form_of_a_company_s_name_may_be_said() -> None:
    person = only(
        [
            ANN,
            job("Acme", "2018-01", "2020-01", position="Engineer"),
            job("Beta GmbH", "2020-02", None, position="Head"),
        ]
    )
    found = answer_from_people(analyse("Where did Ann work before Beta GmbH?", today=TODAY), [person])
    assert found is not None
    assert "Engineer at Acme" in found.sentence(NEUTRAL)


@pytest.mark.parametrize("question", ["What volunteering does Ann do?", "Where did she volunteer?"])
def test_the_jobs_that_call_themselves_voluntary_are_what_somebody_volunteered(question: str) -> None:
    unpaid = job("Night Clinic", "2016-02", None, position="Volunteer Nurse")
    found = answer_from_people(analyse(question, today=TODAY), [only([*RESUME, unpaid])])
    assert found is not None
    assert [item.text for item in found.items] == ["Volunteer Nurse at Night Clinic (2016-02 - Present)"]


def test_a_list_of_programs_is_none_of_programming_languages() -> None:
    programs = fact(SkillsFacts(skills=("QGIS", "Abaqus"), group="Programs"), "Programs: QGIS, Abaqus")
    assert listed("Which programming languages does Ann know?", [ANN, programs]) == []


def test_a_heading_of_another_page_is_nobody_where_a_resume_names_its_person() -> None:
    page = {"document": "talks.txt", "category": "generic"}
    heading = [fact(PersonFacts(name="FOR ORGANISERS"), "FOR ORGANISERS", **page), job("Maribor", "", "", **page)]
    assert [person.name for person in known([*RESUME, *heading])] == ["Ann Lee"]
    assert "Maribor" not in [job.record.company for job in only([*RESUME, *heading]).jobs]
    assert [person.name for person in known(heading)] == ["FOR ORGANISERS"]


def test_a_profile_without_a_name_is_of_whoever_worked_there() -> None:
    bo = [fact(PersonFacts(name="Bo Ek"), "Bo Ek", "bo.pdf"), job("Keel", "2020-01", "2021-01", document="bo.pdf")]
    profile = job("Keel", "2020-01", "2021-02", **ON_LINKEDIN)
    people = {person.name: person.documents for person in known([*RESUME, *bo, profile])}
    assert people["Bo Ek"] == ("bo.pdf", ON_LINKEDIN["document"])
    assert "" not in people


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Did she work at Beta?", "Yes: Consultant at Beta"),
        ("Has Ann ever worked for Beta?", "Yes: Consultant at Beta"),
        ("Did you work in Bergen?", "Yes: Consultant at Beta (2019-01 - 2021-01), Bergen."),
        ("Was she a consultant?", "Yes: Consultant at Beta"),
        ("Is Ann an engineer?", "Yes: Staff Engineer at Acme"),
        ("Does she work at Beta?", ""),
        ("Is she a consultant?", ""),
        ("Did she work at Gamma?", ""),
        ("Did Dorothea work at Beta?", ""),
        ("Was she an intern?", ""),
        ("Was she an intern at Beta?", ""),
    ],
)
def test_a_job_that_is_asked_for_is_affirmed_and_none_is_denied(question: str, said: str) -> None:
    there = job("Beta", "2019-01", "2021-01", position="Consultant", location="Bergen")
    facts = [ANN, there, job("Acme", "2022-01", None, position="Staff Engineer")]
    found = answer_from_people(analyse(question, today=TODAY), [only(facts)])
    assert said in found.sentence(NEUTRAL) if said and found else bool(found) == bool(said)


def test_what_is_computed_from_a_resume_that_was_not_read_whole_says_so() -> None:
    line = UnreadLine(date_range="2015 - 2018", start_month="2015", end_month="2018")
    whole, partly = only(RESUME), only([*RESUME, fact(line, "2015 - 2018", "resume.pdf")])
    for question, said in (
        (
            "How many years of experience do you have?",
            "5 years 4 months of work experience, overlapping jobs counted once, as far as was read: Staff",
        ),
        ("How many jobs has she held?", "3 jobs, as far as was read: Staff"),
        ("Where has she worked?", "Acme"),
    ):
        intent = analyse(question, today=TODAY)
        read, found = (answer_from_people(intent, [person]) for person in (whole, partly))
        assert read
        assert found
        assert (read.exact, found.exact) == (True, False)
        assert not left_out_note(read)
        assert found.sentence(NEUTRAL).startswith(said)
        assert "“2015 - 2018” (resume.pdf)" in left_out_note(found)


def test_a_total_without_the_jobs_that_have_no_dates_is_not_exact() -> None:
    undated = fact(JobFacts(company="Gamma", position="Editor"), "Editor, Gamma")
    found = answer_from_people(
        analyse("How many years of experience does she have?", today=TODAY), [only([*RESUME, undated])]
    )
    assert found
    assert not found.exact
    assert left_out_note(found) == "1 more without dates was left out."


def test_jobs_are_not_listed_as_sure_where_some_lack_their_employer() -> None:
    listed = [job("Gamma", "2015-01", "2016-01"), job("", "2016-02", "2017-01")]
    found = answer_from_people(analyse("What were her previous jobs?", today=TODAY), [only([ANN, *listed])])
    assert found
    assert not found.exact
