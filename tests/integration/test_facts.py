"""Career facts from the nodes to the answer; the nodes are made by hand, so that no parser is tested here."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from app.careers import describe_person, describe_project
from config.settings import AnswerSettings, LLMSettings, Settings
from pipelines.facts import (
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    RepositoryFacts,
    SeveralFacts,
    SkillsFacts,
)
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.models.embedding import build_embed_model, window_vectors
from pipelines.query.careers.people import corpus_projects, group_people
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.audit import audit
from pipelines.store.facts import read_facts
from pipelines.store.node_writer import Replacement, remove_documents, replace_documents, update_metadata
from pipelines.types import Document, Filters
from tests.fake_openai import FakeOpenAI
from tests.stored import make_document

TODAY = date.today()
RESUME = """Ann Lee

Acme Ltd | Data Engineer | Jan 2018 - Apr 2023
- Built pipelines in Python

Beta | Consultant | May 2023 - May 2024
- Advised on Kafka

Languages: Norwegian, English"""
RECORDS = [
    (PersonFacts(name="Ann Lee"), "Ann Lee"),
    (
        JobFacts(company="Acme Ltd", position="Data Engineer", date_range="Jan 2018 - Apr 2023", start_month="2018-01",
                 end_month="2023-04"),
        "Acme Ltd | Data Engineer | Jan 2018 - Apr 2023\n- Built pipelines in Python",
    ),
    (
        JobFacts(company="Beta", position="Consultant", date_range="May 2023 - May 2024", start_month="2023-05",
                 end_month="2024-05"),
        "Beta | Consultant | May 2023 - May 2024\n- Advised on Kafka",
    ),
    (LanguageFacts(language="Norwegian"), "Norwegian"),
    (LanguageFacts(language="English"), "English"),
    (SkillsFacts(skills=("Python",)), "Python"),
    (ProjectFacts(name="Kafkaesque"), "Kafka"),
]  # fmt: skip


def placed(text: str, records: list[tuple[Any, str]]) -> SeveralFacts:
    spans = [(text.index(words), text.index(words) + len(words)) for _, words in records]
    return SeveralFacts(
        records=tuple(
            record.model_copy(update={"span": span}) for (record, _), span in zip(records, spans, strict=True)
        )
    )


def put(engine: QueryEngine, name: str, text: str, records: list[tuple[Any, str]], **facts: Any) -> Document:
    """A stored document of one node, which states the records."""
    made = make_document(name, text, "generic", mime="text/plain", **facts)
    pieces = [Piece(0, len(text), ("Career",), facts=placed(text, records))]
    nodes = make_nodes(made, pieces, "generic", 1)
    vectors = window_vectors(build_embed_model(engine.settings), [text])
    replace_documents(engine.store, [Replacement(made, nodes, vectors, "generic", "r")])
    engine.indexes.refresh("owner")
    engine.indexes.refresh("visitor")
    return made


@pytest.fixture
def engine(settings: Settings) -> QueryEngine:
    made = build_query_engine(settings)
    put(made, "resume.txt", RESUME, RECORDS, category="resume", year=2024)
    return made


# Reading


def test_a_fact_is_read_with_the_place_that_states_it(engine: QueryEngine) -> None:
    put(engine, "paged.txt", RESUME, RECORDS, pages=(0, RESUME.index("Beta")), first_line=3)
    facts = read_facts(engine.store, Filters(document=("paged.txt",)), "owner")
    acme, beta = facts[1:3]
    assert (acme.record, acme.text) == (placed(RESUME, RECORDS).records[1], RECORDS[1][1])
    assert (acme.page, acme.line_start, acme.line_end, acme.section_path) == (1, 5, 6, ("Career",))
    assert (beta.page, beta.line_start, beta.line_end) == (2, 8, 9)


def test_a_company_that_stands_once_above_several_jobs_is_part_of_the_passage(engine: QueryEngine) -> None:
    text = "Ann Lee\n\nKeel AS\n\nCaptain, 2020 - 2022, Python\n\nMate, 2018 - 2020"
    put(engine, "linkedin.txt", text, [
        (JobFacts(company="Keel AS", position="Captain", date_range="2020 - 2022", start_month="2020",
                  end_month="2022"), "Captain, 2020 - 2022, Python"),
        (JobFacts(company="Keel AS", position="Mate", date_range="2018 - 2020", start_month="2018", end_month="2020"),
         "Mate, 2018 - 2020"),
    ])  # fmt: skip
    captain, mate = read_facts(engine.store, Filters(document=("linkedin.txt",)), "owner")
    assert (captain.text, captain.line_start) == ("Keel AS\n\nCaptain, 2020 - 2022, Python", 3)
    assert (text[mate.start : mate.end], mate.line_end) == (mate.text, 7)
    answer = engine.ask("How long at Keel?", filters=Filters(document=("linkedin.txt",)))
    assert (answer.sentences[0].verdict, answer.sentences[0].text[:13]) == ("supported", "About 4 years")
    assert "Mate" not in engine.ask("How many years of Python?", filters=Filters(document=("linkedin.txt",))).answer
    assert audit(engine.database.engine)["violations"] == []


def test_facts_are_read_for_filters_and_an_audience(engine: QueryEngine) -> None:
    put(engine, "secret.txt", RESUME, RECORDS, visibility="private", category="linkedin", year=2020, collection="own")

    def documents(audience: Any = "owner", **filters: Any) -> set[str]:
        return {fact.document_name for fact in read_facts(engine.store, Filters(**filters), audience)}

    assert documents() == {"resume.txt", "secret.txt"}
    assert documents("visitor") == documents(category=("resume",)) == documents(year=(2024,)) == {"resume.txt"}
    assert documents(collection=("own",)) == {"secret.txt"}
    assert documents("visitor", collection=("own",)) == documents(phrase=("no such words",)) == set()


def test_a_document_that_is_replaced_states_only_its_new_facts(engine: QueryEngine) -> None:
    put(engine, "resume.txt", "Ann Lee, sailor", [(PersonFacts(name="Ann Lee"), "Ann Lee")])
    assert [fact.record.type for fact in read_facts(engine.store, Filters(), "owner")] == ["person"]
    remove_documents(engine.store, ["id-resume.txt"])
    assert read_facts(engine.store, Filters(), "owner") == []


def test_companies_and_projects_that_are_stated_are_known_by_name(engine: QueryEngine) -> None:
    assert engine.search("What happened at Kafkaesque?").intent.names == ("Kafkaesque",)
    assert engine.search("Did Acme Ltd build it?").intent.documents == ("id-resume.txt",)
    put(engine, "secret.txt", RESUME.replace("Beta", "Zebrafrog"),
        [(JobFacts(company="Zebrafrog"), "Zebrafrog")], visibility="private")  # fmt: skip
    assert engine.search("Is it Zebrafrog?").intent.names == ("Zebrafrog",)
    assert engine.search("Is it Zebrafrog?", audience="visitor").intent.names == ()


# Answers


def test_a_duration_is_computed_and_cites_the_spans_that_were_summed(engine: QueryEngine) -> None:
    answer = engine.ask("How long did she work at Acme?")
    assert answer.sentences[0].text == (
        "5 years 4 months at Acme Ltd: Data Engineer at Acme Ltd (Jan 2018 - Apr 2023)."
    )
    assert (answer.answered, answer.confidence, answer.sentences[0].verdict) == (True, "high", "supported")
    (source,) = answer.sources
    assert (source.n, source.snippet, source.node_ids[0] != "") == (1, RECORDS[1][1], True)
    assert answer.notes == ()
    assert audit(engine.database.engine)["violations"] == []


def test_a_count_is_computed(engine: QueryEngine) -> None:
    answer = engine.ask("How many companies has Ann worked for?")
    assert answer.sentences[0].text == "2 companies: Beta; Acme Ltd."
    assert answer.sentences[0].citations == (1, 2)
    assert engine.ask("How many languages does Ann speak?").sentences[0].text == "2 languages: Norwegian; English."


def test_the_job_of_a_year_is_looked_up(engine: QueryEngine) -> None:
    assert engine.ask("What was her job in 2019?").sentences[0].text == (
        "In 2019: Data Engineer at Acme Ltd (Jan 2018 - Apr 2023)."
    )


def test_facts_that_an_audience_or_a_filter_may_not_see_are_not_counted(engine: QueryEngine) -> None:
    question = "How many companies has Ann worked for?"
    put(engine, "resume.txt", RESUME, RECORDS, visibility="private", category="resume")
    put(engine, "cv.txt", "Ann Lee worked at Gamma.", [
        (PersonFacts(name="Ann Lee"), "Ann Lee"), (JobFacts(company="Gamma"), "Gamma"),
    ])  # fmt: skip
    assert engine.ask(question).sentences[0].text.startswith("3 companies")
    assert engine.ask(question, audience="visitor").sentences[0].text == "1 company: Gamma."
    assert engine.ask(question, filters=Filters(document=("cv.txt",))).sentences[0].text == "1 company: Gamma."


def test_documents_that_disagree_are_both_shown(engine: QueryEngine) -> None:
    twin = "Ann Lee\nAcme Ltd, Data Engineer, Feb 2018 - Apr 2023"
    put(engine, "linkedin.txt", twin, [
        (PersonFacts(name="Ann Lee"), "Ann Lee"),
        (JobFacts(company="Acme Ltd", position="Data Engineer", date_range="Feb 2018 - Apr 2023",
                  start_month="2018-02", end_month="2023-04"), twin[8:]),
    ], category="linkedin")  # fmt: skip
    answer = engine.ask("How long did she work at Acme?")
    assert answer.sentences[0].text.startswith("5 years 4 months")
    (conflict,) = answer.conflicts
    assert conflict.said == "Acme Ltd: Jan 2018 - Apr 2023 [1], Feb 2018 - Apr 2023 [2]"
    assert [source.documentName for source in answer.sources] == ["resume.txt", "linkedin.txt"]
    assert [(side.n, side.quote) for side in conflict.sides] == [
        (1, "Acme Ltd | Data Engineer | Jan 2018 - Apr 2023"), (2, twin[8:]),
    ]  # fmt: skip
    assert answer.confidence == "medium"
    report = audit(engine.database.engine)
    assert (report["violations"], report["citations"]) == ([], 1 + len(conflict.sides))


def test_an_old_present_of_the_same_position_is_one_job_and_a_disagreement(engine: QueryEngine) -> None:
    other = "Ann Lee\nData Engineer, Acme Ltd, Jan 2018 - Present"
    put(engine, "old.txt", other, [
        (PersonFacts(name="Ann Lee"), "Ann Lee"),
        (JobFacts(company="Acme Ltd", position="Data Engineer", date_range="Jan 2018 - Present",
                  start_month="2018-01", current=True), other[8:]),
    ], category="resume")  # fmt: skip
    (conflict,) = engine.ask("How long did she work at Acme?").conflicts
    assert {side.quote for side in conflict.sides} == {other[8:], "Acme Ltd | Data Engineer | Jan 2018 - Apr 2023"}
    assert "Jan 2018 - Present" in conflict.said
    assert "Jan 2018 - Apr 2023" in conflict.said


def test_a_source_names_the_documents_that_state_the_same(engine: QueryEngine) -> None:
    put(engine, "resume.docx", RESUME, RECORDS, category="resume")
    (source,) = engine.ask("How long did she work at Acme?").sources
    assert (source.documentName, source.also_in) == ("resume.docx", ("resume.txt",))


def test_a_document_that_states_a_job_and_not_the_skill_is_not_named_as_saying_it(engine: QueryEngine) -> None:
    short = "Ann Lee\n\nAcme Ltd, Data Engineer, January 2018 to April 2023"
    put(engine, "profile.txt", short, [
        (PersonFacts(name="Ann Lee"), "Ann Lee"),
        (JobFacts(company="Acme Ltd", position="Data Engineer", date_range="January 2018 to April 2023",
                  start_month="2018-01", end_month="2023-04"), short[9:]),
    ], category="linkedin")  # fmt: skip
    (source,) = engine.ask("How long did she work at Acme?").sources
    assert {source.documentName, *source.also_in} == {"resume.txt", "profile.txt"}
    (source,) = engine.ask("How many years of Python does she have?").sources
    assert (source.documentName, source.also_in) == ("resume.txt", ())


def test_a_language_model_is_not_asked_what_is_computed(make_settings: Callable[..., Settings]) -> None:
    with FakeOpenAI() as fake:
        llm = LLMSettings(provider="openai", model="fake", api_base=fake.url, retries=0)
        engine = build_query_engine(make_settings(llm=llm))
        put(engine, "resume.txt", RESUME, RECORDS)
        assert engine.ask("How long did she work at Acme?").mode == "extractive"
        assert fake.requests == []


def test_other_questions_and_a_switched_off_setting_change_nothing(engine: QueryEngine, make_settings: Any) -> None:
    assert not any("career fact" in note for note in engine.ask("How long did the Python pipelines run?").notes)
    off = build_query_engine(make_settings(answer=AnswerSettings(facts=False)))
    put(off, "resume.txt", RESUME, RECORDS)
    assert "5 years 4 months" not in off.ask("How long did she work at Acme?").answer


# The command


def test_a_career_as_data_has_durations_and_where_each_entry_stands(engine: QueryEngine) -> None:
    (person,) = group_people(read_facts(engine.store, Filters(), "owner"), TODAY)
    career = describe_person(person)
    assert (career["name"], career["experience"]["duration"]) == ("Ann Lee", "6 years 5 months")
    assert [(row["company"], row["duration"]) for row in career["companies"]] == [
        ("Beta", "1 year 1 month"), ("Acme Ltd", "5 years 4 months"),
    ]  # fmt: skip
    assert {row["title"]: row["duration"] for row in career["titles"]}["engineer"] == "5 years 4 months"
    (skill,) = career["skills"]
    assert (skill["skill"], skill["duration"], len(skill["used"])) == ("Python", "5 years 4 months", 1)
    stated = career["jobs"][0]["stated"][0]
    assert RESUME[stated["start"] : stated["end"]] == RECORDS[2][1]


# Projects of READMEs


def test_readmes_belong_to_the_only_person_and_make_no_person_of_their_own(engine: QueryEngine) -> None:
    kelp = ProjectFacts(name="kelp", purpose="A map server", languages=("Rust",), topics=("map",))
    put(engine, "kelp/README.md", "# kelp\n\nA map server", [(kelp, "# kelp\n\nA map server")], category="github")
    facts = read_facts(engine.store, Filters(), "owner")
    (ann,) = group_people(facts, TODAY)
    assert (ann.name, ann.documents) == ("Ann Lee", ("resume.txt",))
    assert [(each.name, each.languages, each.person) for each in corpus_projects(facts, TODAY)] == [
        ("Kafkaesque", (), "Ann Lee"), ("kelp", ("Rust",), "Ann Lee")
    ]  # fmt: skip
    put(engine, "bo.txt", "Bo Ek", [(PersonFacts(name="Bo Ek"), "Bo Ek")], category="resume")
    facts = read_facts(engine.store, Filters(), "owner")
    assert [person.name for person in group_people(facts, TODAY)] == ["Ann Lee", "Bo Ek"]
    assert [each.person for each in corpus_projects(facts, TODAY)] == ["Ann Lee", ""]


def test_a_project_of_a_resume_and_of_a_readme_is_one(engine: QueryEngine) -> None:
    kelp = ProjectFacts(name="Kafkaesque", purpose="A queue", languages=("Go",))
    put(engine, "q/README.md", "# Kafkaesque\n\nA queue", [(kelp, "# Kafkaesque\n\nA queue")], category="github")
    (project,) = corpus_projects(read_facts(engine.store, Filters(), "owner"), TODAY)
    assert [fact.document_name for fact in project.stated] == ["q/README.md", "resume.txt"]
    assert (describe_project(project)["purpose"], project.languages) == ("A queue", ("Go",))


def test_new_metadata_of_a_repository_leaves_its_project(engine: QueryEngine) -> None:
    host, text = RepositoryFacts(name="kelp", stars=1), "# kelp\n\nA map server"
    project = ProjectFacts(name="kelp", purpose="A map server", span=(0, len(text)))
    made = make_document(
        "kelp/README.md", text, "markdown", category="github", metadata={"repository": host.model_dump()}
    )
    nodes = make_nodes(made, [Piece(0, len(text), facts=project)], "markdown", 1)
    vectors = window_vectors(build_embed_model(engine.settings), [text])
    replace_documents(engine.store, [Replacement(made, nodes, vectors, "markdown", "r")])
    starred = {"repository": host.model_copy(update={"stars": 2}).model_dump()}
    update_metadata(engine.store, made.with_(metadata=starred, meta_sha="new"))
    (node,) = engine.store.get_nodes([nodes[0].node_id])
    assert RepositoryFacts.model_validate(node.metadata["facts"]) == host.model_copy(
        update={"stars": 2, "project": project}
    )
    assert audit(engine.database.engine)["violations"] == []
