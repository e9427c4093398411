"""Every parser's contract: exact spans that cover the text, within their limits, with complete metadata."""

import pickle
import uuid
from collections.abc import Sequence
from datetime import date
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import MetadataMode, NodeRelationship, TextNode
from numpy.typing import NDArray

from config.settings import ParsingSettings
from pipelines.blocks import markdown_blocks, text_blocks
from pipelines.errors import ConfigError, ParseError
from pipelines.facts import records_of
from pipelines.ingestion.context_header import ContextHeader
from pipelines.ingestion.loaders.sniff import MARKDOWN, PDF, PLAIN
from pipelines.ingestion.parsers import PARSER_OF_CATEGORY, PARSERS, build_parser, parse, parser_for
from pipelines.ingestion.parsers.generic import GenericParser
from pipelines.ingestion.parsers.markdown import MarkdownParser
from pipelines.ingestion.parsers.nodes import CarriedDocument, make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.text import canonical
from pipelines.types import CATEGORIES, Block, Document, NodeMetadata
from tests.linear import assert_linear

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
LINES = ["# A", "## B", "### C", "Text here. And more.", "word " * 30, "word " * 300, "- item", "1. one", "", ""]
ODD_LINES = ["```", "| a | b |", "|-|-|", "    code", "> quote", "===", "---", "<div>", "CAPS LINE", "x" * 900, "\t"]
CAREER_LINES = [
    "EXPERIENCE", "Skills", "Education:", "Contact", "Page 1 of 2", "Acme Corp | Engineer | Oslo | 2019 - Present",
    "Acme Corp\tJan 2019 – Mar 2021", "Engineer", "(2 years 3 months)", "• Built things", "Python, SQL, Go", "2020",
    "ada@example.com", "Languages", "Norwegian (Native or Bilingual)", "Projects", "Certifications", "Summary",
]  # fmt: skip
TABLE = "| a | b |\n|---|---|\n" + "| one | two |\n" * 90
LONG_LINES = ["日本語。" * 200, "\n" * 400, "a" * 3_000, "👩‍👩‍👧 " * 90, "(((" * 300, TABLE]
NASTY = st.lists(st.sampled_from([*LINES, *ODD_LINES, *CAREER_LINES, *LONG_LINES]), max_size=25).map("\n".join)
READERS = st.sampled_from([lambda text: (), text_blocks, markdown_blocks])

SMALL = SimpleNamespace(  # sizes that make short texts long
    resume_max_tokens=60, linkedin_max_tokens=60, generic_characters=200, sections_characters=100, sections_overlap=20,
    journey_target_tokens=45, journey_soft_tokens=50, journey_hard_tokens=60, journey_overlap_words=5,
    journey_overlap_tokens=10, markdown_target_words=60, markdown_max_words=80, markdown_overlap_words=5,
    window_tokens=60, window_overlap=10, semantic_min_characters=50, semantic_max_characters=250,
)  # fmt: skip


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """A model that knows how often each letter stands in a text."""
    counts = [[1, *(text.lower().count(letter) for letter in "etaoinsr")] for text in texts]
    vectors = np.array(counts, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def document(text: str, **fields) -> Document:
    facts = {"mime": MARKDOWN, "title": "Notes", "category": "blog", "content_sha": "c0ffee"} | fields
    return Document(
        id="doc-1", text=canonical(text), source_uri="u", source="s", source_kind="file", name="notes.md",
        bytes=1, file_sha="f", **facts,
    )  # fmt: skip


def parsed(noted: Document, name: str) -> list[TextNode]:
    return parse(noted, name, SMALL, letters)


def coverage(text: str, spans: Sequence[tuple[int, int]]) -> float:
    """The share of the characters other than white space that stand in a span; 1.0 for a text without any."""
    inside = bytearray(len(text))
    for start, end in spans:
        inside[start:end] = b"\1" * (end - start)
    solid = [bool(seen) for seen, char in zip(inside, text, strict=True) if not char.isspace()]
    return sum(solid) / len(solid) if solid else 1.0


@pytest.mark.parametrize("name", PARSERS)
@given(text=NASTY | st.text(), blocks=READERS)
@settings(max_examples=50)
def test_nodes_are_exact_spans_within_their_limit_that_cover_the_text(name: str, text: str, blocks) -> None:
    noted = document(text)
    noted = noted.with_(blocks=blocks(noted.text))
    parser, nodes = build_parser(name, SMALL, letters), parsed(noted, name)
    spans = [(node.metadata["start"], node.metadata["end"]) for node in nodes]
    for node, (start, end) in zip(nodes, spans, strict=True):
        assert node.text == noted.text[start:end] == noted.text[start:end].strip() != ""
        assert (node.start_char_idx, node.end_char_idx) == (start, end)
        assert parser.fits(node.text)
    starts = [start for start, _ in spans]
    assert starts == sorted(set(starts))
    assert coverage(noted.text, spans) >= 0.99


@pytest.mark.parametrize("name", PARSERS)
@given(text=NASTY)
@settings(max_examples=20)
def test_record_spans_are_inside_their_node(name: str, text: str) -> None:
    noted = document(text)
    for node in parsed(noted.with_(blocks=text_blocks(noted.text)), name):
        known = NodeMetadata(**node.metadata)
        for record in records_of(known.facts):
            assert known.start <= record.span[0] < record.span[1] <= known.end


@pytest.mark.parametrize(
    ("name", "head", "line", "lines"),
    [
        ("linkedin", "", "a\tb\n", 8_000),
        ("linkedin", "Contact\n", "www.a{}.com\n", 8_000),
        ("linkedin", "", "Skills\nLanguages\n", 8_000),
        ("linkedin", "Education\nNight School\n", "- Sang in {}\n", 2_500),
        ("resume", "CERTIFICATIONS\n\n", "Amazon, 2019\n", 2_000),
        ("resume", "EXPERIENCE\n\n", "* did\n", 8_000),
        ("resume", "SKILLS\n\n", "skill x{}\n", 8_000),
        ("resume", "EDUCATION\n\n2019 - 2021 ", "(a", 2_500),
    ],
)
def test_a_parser_takes_time_linear_in_the_text(name: str, head: str, line: str, lines: int) -> None:
    def read(count: int) -> None:
        parse(document(head + "".join(map(line.format, range(count))), mime=PLAIN), name)

    assert_linear(read, lines)


@pytest.mark.parametrize("name", PARSERS)
def test_nodes_keep_the_contract(name: str) -> None:
    noted = document(f"# Top\n\n{WORDS}.\n\n## Sub\n\n{WORDS}.\n" + f"\n{WORDS}." * 40, year=2024)
    nodes, again = parsed(noted, name), parsed(noted, name)
    assert [node.node_id for node in nodes] == [node.node_id for node in again]
    assert len({node.node_id for node in nodes}) == len(nodes) > 2
    for ordinal, node in enumerate(nodes):
        facts = NodeMetadata(**node.metadata)
        assert node.metadata.keys() == NodeMetadata.model_fields.keys() - {"extra"}
        assert (facts.ordinal, facts.total) == (ordinal, len(nodes))
        assert (facts.document_id, facts.parser, facts.parser_version) == ("doc-1", name, build_parser(name).version)
        assert facts.section == (facts.section_path[-1] if facts.section_path else "")
        assert "Notes" in facts.header
        assert facts.token_count > 0
        assert node.text.split("\n")[0] in noted.text.split("\n")[facts.line_start - 1]
        assert node.text.split("\n")[-1] in noted.text.split("\n")[facts.line_end - 1]
        assert node.ref_doc_id == "doc-1"
        assert node.relationships[NodeRelationship.SOURCE].metadata == {}
        assert node.get_content(MetadataMode.EMBED) == node.get_content(MetadataMode.LLM) == node.text
        assert set(node.relationships) == {NodeRelationship.SOURCE}


@pytest.mark.parametrize("name", PARSERS)
def test_ids_follow_document_content_and_parser(name: str) -> None:
    noted = document("Text of a note.")
    version = build_parser(name).version
    assert version > 0
    expected = uuid.uuid5(uuid.NAMESPACE_URL, f"doc-1|c0ffee|{name}@{version}|0")
    assert [node.node_id for node in parsed(noted, name)] == [str(expected)]
    assert parsed(noted.with_(content_sha="other"), name)[0].node_id != str(expected)


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_runs_in_a_pipeline_and_survives_pickling(name: str) -> None:
    noted = document("# Top\n\nText.")
    parser = pickle.loads(pickle.dumps(build_parser(name, SMALL, letters)))
    pipeline = IngestionPipeline(transformations=[parser], disable_cache=True)
    made = pipeline.run(documents=[CarriedDocument.of(noted)])
    assert [node.node_id for node in made] == [node.node_id for node in parsed(noted, name)]
    plain = pipeline.run(documents=[LlamaDocument(text="Plain text.", id_="p")])
    assert [(node.text, node.metadata["document_id"]) for node in plain] == [("Plain text.", "p")]


@pytest.mark.parametrize("name", PARSERS)
def test_a_plain_llama_index_document_keeps_its_metadata(name: str) -> None:
    text = f"# Top\n\n{WORDS}.\n\n" + f"\n{WORDS}." * 40
    stated = {"team": "A", "file_name": "notes.md", "title": "Notes", "day": date(2024, 5, 1), "kind": "memo"}
    given = LlamaDocument(text=text, id_="p", metadata=stated)
    parser = build_parser(name, SMALL, letters)
    nodes = IngestionPipeline(transformations=[parser, ContextHeader()]).run(documents=[given])
    assert [node.node_id for node in nodes] == [node.node_id for node in parser.get_nodes_from_documents([given])]
    assert len(nodes) > 2
    for node in nodes:
        own = NodeMetadata(**{key: node.metadata[key] for key in NodeMetadata.model_fields})
        assert node.text == text[own.start : own.end]
        assert own.extra == {**stated, "day": "2024-05-01"}
        assert own.kind != "memo"
        assert own.header.startswith("Notes")
        assert {key: node.metadata[key] for key in ("team", "file_name", "day")} == {
            "team": "A", "file_name": "notes.md", "day": date(2024, 5, 1)
        }  # fmt: skip
        assert node.get_content(MetadataMode.EMBED) == node.get_content(MetadataMode.LLM) == node.text
        assert node.relationships == {NodeRelationship.SOURCE: given.as_related_node_info()}
    assert given.metadata == stated


@pytest.mark.parametrize("name", PARSERS)
def test_what_a_caller_wants_embedded_is_embedded_unless_the_document_excludes_it(name: str) -> None:
    given = LlamaDocument(
        text="Text of a note.", metadata={"team": "A", "room": "2"}, excluded_embed_metadata_keys=["room"],
        metadata_template="{key} = {value}", metadata_separator=" | ", text_template="{metadata_str}: {content}",
    )  # fmt: skip
    wanted = ("team", "room", "header")
    parser = build_parser(name, SMALL, letters).model_copy(
        update={"embed_metadata_keys": wanted, "llm_metadata_keys": wanted[:2]}
    )
    (node,) = ContextHeader()(parser.get_nodes_from_documents([given]))
    node.metadata["header"] = "A note"
    assert node.get_content(MetadataMode.EMBED) == "team = A | header = A note: Text of a note."
    assert node.get_content(MetadataMode.LLM) == "team = A | room = 2: Text of a note."


def test_a_parser_relates_neighbours_and_leaves_metadata_out_where_it_is_told_to() -> None:
    first, second = (LlamaDocument(text=f"# Top\n\n{WORDS}.\n\n# Sub\n\n{WORDS}.", metadata={"n": n}) for n in (1, 2))
    parser = MarkdownParser(include_prev_next_rel=True, include_metadata=False)
    a, b, c, d = parser.get_nodes_from_documents([first, second])
    assert (a.prev_node, a.next_node and a.next_node.node_id) == (None, b.node_id)
    assert (b.prev_node and b.prev_node.node_id, b.next_node, c.prev_node) == (a.node_id, None, None)
    assert c.next_node == d.as_related_node_info()
    assert [node.ref_doc_id for node in (a, b, c, d)] == [first.id_] * 2 + [second.id_] * 2
    assert "n" not in a.metadata
    assert "extra" not in a.metadata


def test_a_part_of_another_parser_s_node_belongs_to_the_same_document() -> None:
    given = LlamaDocument(text=f"{WORDS}.\n\n{WORDS}.", id_="p", metadata={"team": "A"})
    halves = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents([given])
    nodes = GenericParser(characters=50).get_nodes_from_documents(halves)
    assert len(nodes) > len(halves) > 0
    assert {(node.ref_doc_id, node.metadata["team"]) for node in nodes} == {("p", "A")}
    assert len({node.node_id for node in nodes}) == len(nodes)


@pytest.mark.parametrize("name", PARSERS)
def test_a_size_of_the_settings_is_a_parsers_field_with_the_same_default(name: str) -> None:
    parser, small = build_parser(name), build_parser(name, SMALL)
    assert parser.name == name
    fields = {f"{name}_{field}": field for field in parser.own_fields()}
    usual = {size: value for size, value in ParsingSettings() if size.startswith(f"{name}_")}
    assert usual == {size: getattr(parser, fields[size]) for size in usual}
    assert all(getattr(small, field) == getattr(SMALL, size) for size, field in fields.items() if hasattr(SMALL, size))


@pytest.mark.parametrize("name", [name for name in PARSERS if name not in ("resume", "linkedin")])
def test_the_nearest_heading_above_names_the_section(name: str) -> None:
    text = f"TOOLS\n\n{f'{WORDS}. ' * 20}\n\nSeeds And Bulbs:\n\n{f'{WORDS}. ' * 20}"
    nodes = parsed(document(text, mime=PLAIN, blocks=text_blocks(canonical(text))), name)
    named = [node.metadata["section"] for node in nodes]
    assert set(named) == {"TOOLS", "Seeds And Bulbs"}
    assert named == sorted(named, key=["TOOLS", "Seeds And Bulbs"].index)


def test_equal_passages_keep_their_own_offsets() -> None:
    noted = document("## Part\n\n" + "\n\n## Part\n\n".join([f"{WORDS} end."] * 3))
    assert [node.start_char_idx for node in parse(noted)] == [node.metadata["start"] for node in parse(noted)]
    assert len({node.start_char_idx for node in parse(noted)}) == 3


def test_every_category_has_a_parser() -> None:
    assert set(PARSER_OF_CATEGORY) == set(CATEGORIES)
    assert set(PARSER_OF_CATEGORY.values()) <= set(PARSERS)
    assert parser_for(document("x", category="generic")) == "markdown"
    assert parser_for(document("x", category="generic", mime=PLAIN)) == "generic"
    assert parser_for(document("x", category="journey")) == "journey"


def test_an_unknown_parser_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="no parser called 'poem'"):
        parse(document("x"), "poem")


def test_blocks_of_the_loader_have_precedence() -> None:
    noted = document("Title\n\nText.", mime=PDF, category="generic")
    assert parse(noted)[0].metadata["section_path"] == []
    headed = noted.with_(blocks=(Block(0, 5, "heading", 1), Block(7, 12, "paragraph")))
    assert parse(headed)[0].metadata["section_path"] == ["Title"]


@given(NASTY | st.text())
@settings(max_examples=100)
def test_blocks_are_trimmed_and_ascending_without_overlap(raw: str) -> None:
    text = canonical(raw)
    for blocks in (markdown_blocks(text), text_blocks(text)):
        last = 0
        for block in blocks:
            assert last <= block.start < block.end <= len(text)
            assert text[block.start : block.end] == text[block.start : block.end].strip()
            assert bool(block.level) == (block.kind == "heading")
            last = block.end


# make_nodes


@pytest.mark.parametrize("span", [(0, 0), (0, 99), (3, 6), (-4, 2)])
def test_make_nodes_rejects_spans_that_are_not_exact(span: tuple[int, int]) -> None:
    with pytest.raises(ParseError, match="not an exact span"):
        make_nodes(document("one two"), [Piece(*span)], "p", 1)


def test_make_nodes_sets_page_and_lines() -> None:
    noted = document("a\nb\n\nc", pages=(0, 2, 5, 5), first_line=10)
    nodes = make_nodes(noted, [Piece(0, 1), Piece(2, 6), Piece(5, 6)], "p", 1)
    assert [node.metadata["page"] for node in nodes] == [1, 2, 4]
    assert [(node.metadata["line_start"], node.metadata["line_end"]) for node in nodes] == [
        (10, 10),
        (11, 13),
        (13, 13),
    ]
    (unpaged,) = make_nodes(document("a"), [Piece(0, 1)], "p", 1)
    assert unpaged.metadata["page"] is None
