"""What stands in a node's header, and on which line."""

from typing import Any

from llama_index.core.schema import TextNode

from pipelines.facts import EducationFacts, JobFacts, SeveralFacts
from pipelines.ingestion.context_header import ContextHeader, jobs_of
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.types import Document

RESUME = Document(
    id="d", text="Built boats.", source_uri="u", source="s", source_kind="file", name="a.pdf", mime="application/pdf",
    bytes=5, file_sha="f", title="Ann Lee", content_sha="c",
)  # fmt: skip
ACME = JobFacts(company="Acme", position="Engineer", date_range="2019 - 2021", start_month="2019", end_month="2021")
BETA = JobFacts(company="Beta")


def header(**piece: Any) -> str:
    given = {"section_path": ("Experience",), "year": 2021, **piece}
    nodes = make_nodes(RESUME, [Piece(0, len(RESUME.text), **given)], "resume", 1)
    (node,) = ContextHeader()(nodes)
    assert nodes[0].metadata["header"] == piece.get("lead", "")
    return str(node.metadata["header"])


def test_what_a_parser_repeats_stands_below_the_document_s_line() -> None:
    assert header(lead="Acme | Engineer") == "Ann Lee (2021) > Experience\nAcme | Engineer"


def test_the_job_of_a_node_stands_below_what_the_parser_repeats() -> None:
    assert header(facts=ACME) == "Ann Lee (2021) > Experience\nEngineer at Acme (2019 - 2021)"
    assert header(facts=ACME, lead="Acme | Leeds") == (
        "Ann Lee (2021) > Experience\nAcme | Leeds\nEngineer at Acme (2019 - 2021)"
    )


def test_several_jobs_stand_on_one_line_and_other_facts_on_none() -> None:
    several = SeveralFacts(records=(ACME, EducationFacts(institution="NTNU"), BETA))
    assert jobs_of(several.model_dump()) == "Engineer at Acme (2019 - 2021); Beta"
    assert header(facts=EducationFacts(institution="NTNU")) == "Ann Lee (2021) > Experience"


def test_of_many_jobs_as_many_are_named_as_a_line_holds() -> None:
    many = SeveralFacts(records=(JobFacts(company="a" * 140), JobFacts(company="b" * 140), JobFacts(company="c" * 140)))
    assert jobs_of(many.model_dump()) == f"{'a' * 140}; {'b' * 140}"
    assert jobs_of(JobFacts(company="a" * 400).model_dump()) == "a" * 300


def test_a_node_of_another_parser_gets_what_its_metadata_state() -> None:
    nodes = [TextNode(text="Built boats."), TextNode(text="Sold them.", metadata={"title": "Ann Lee", "team": "A"})]
    made = ContextHeader()(nodes)
    assert [node.metadata for node in made] == [{"header": ""}, {"title": "Ann Lee", "team": "A", "header": "Ann Lee"}]
