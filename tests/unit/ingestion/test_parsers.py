"""Every parser's contract, and what the two parsers promise on their own."""

import itertools
import pickle
import uuid
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import MetadataMode, NodeRelationship

from pipelines.errors import ConfigError, ParseError
from pipelines.ingestion.loaders.sniff import MARKDOWN, PDF, PLAIN
from pipelines.ingestion.parsers import PARSER_OF_CATEGORY, PARSERS, build_parser, make_node, parse, parser_for
from pipelines.ingestion.parsers.cuts import Piece, words_in
from pipelines.ingestion.parsers.generic import split_generic
from pipelines.ingestion.parsers.markdown import split_markdown
from pipelines.ingestion.parsers.nodes import CarriedDocument
from pipelines.ingestion.structure import markdown_blocks, text_blocks
from pipelines.text import canonical
from pipelines.types import CATEGORIES, Document, NodeMetadata

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
LINES = ["# A", "## B", "### C", "Text here. And more.", "word " * 30, "word " * 300, "- item", "1. one", "", ""]
ODD_LINES = ["```", "| a | b |", "|-|-|", "    code", "> quote", "===", "---", "<div>", "CAPS LINE", "x" * 900, "\t"]
NASTY = st.lists(st.sampled_from([*LINES, *ODD_LINES, "日本語。" * 200]), max_size=25).map("\n".join)


@dataclass(frozen=True)
class Small:
    """Sizes that make short texts long."""

    generic_characters: int = 200
    markdown_target_words: int = 60
    markdown_max_words: int = 80
    markdown_overlap_words: int = 5


def document(text: str, **fields) -> Document:
    facts = {"mime": MARKDOWN, "title": "Notes", "category": "blog", "content_sha": "c0ffee"} | fields
    return Document(
        id="doc-1", text=canonical(text), source_uri="u", source="s", source_kind="file", name="notes.md",
        bytes=1, file_sha="f", **facts,
    )  # fmt: skip


def check_cover(text: str, spans: list[tuple[int, int]]) -> None:
    covered, last = bytearray(len(text)), -1
    for start, end in spans:
        assert last < start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        covered[start:end] = b"\1" * (end - start)
        last = start
    assert all(seen or char.isspace() for seen, char in zip(covered, text, strict=True))
    assert bool(spans) == bool(text.strip())


# The contract


@pytest.mark.parametrize("name", PARSERS)
@given(text=NASTY | st.text())
@settings(deadline=None, max_examples=60)
def test_nodes_are_exact_spans_that_cover_the_text(name: str, text: str) -> None:
    noted = document(text)
    nodes = parse(noted, name, Small())
    spans = [(node.metadata["start"], node.metadata["end"]) for node in nodes]
    check_cover(noted.text, spans)
    for node, (start, end) in zip(nodes, spans, strict=True):
        assert node.text == noted.text[start:end]


@pytest.mark.parametrize("name", PARSERS)
def test_nodes_keep_the_contract(name: str) -> None:
    noted = document(f"# Top\n\n{WORDS}.\n\n## Sub\n\n{WORDS}.\n" + f"\n{WORDS}." * 40, year=2024)
    nodes, again = parse(noted, name, Small()), parse(noted, name, Small())
    assert [node.node_id for node in nodes] == [node.node_id for node in again]
    assert len({node.node_id for node in nodes}) == len(nodes) > 2
    for ordinal, node in enumerate(nodes):
        facts = NodeMetadata(**node.metadata)
        assert (facts.ordinal, facts.total) == (ordinal, len(nodes))
        assert (facts.document_id, facts.parser, facts.parser_version) == ("doc-1", name, build_parser(name).version)
        assert facts.header.startswith("Notes (2024)")
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
    expected = uuid.uuid5(uuid.NAMESPACE_URL, f"doc-1|c0ffee|{name}@{version}|0")
    assert [node.node_id for node in parse(noted, name)] == [str(expected)]
    assert parse(noted.with_(content_sha="other"), name)[0].node_id != str(expected)


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_runs_in_a_pipeline_and_survives_pickling(name: str) -> None:
    noted = document("# Top\n\nText.")
    parser = pickle.loads(pickle.dumps(build_parser(name, Small())))
    pipeline = IngestionPipeline(transformations=[parser], disable_cache=True)
    made = pipeline.run(documents=[CarriedDocument.of(noted)])
    assert [node.node_id for node in made] == [node.node_id for node in parse(noted, name, Small())]
    plain = pipeline.run(documents=[LlamaDocument(text="Plain text.", id_="p")])
    assert [(node.text, node.metadata["document_id"]) for node in plain] == [("Plain text.", "p")]


def test_equal_passages_keep_their_own_places() -> None:
    noted = document("## Part\n\n" + "\n\n## Part\n\n".join([f"{WORDS} end."] * 3))
    assert [node.start_char_idx for node in parse(noted)] == [node.metadata["start"] for node in parse(noted)]
    assert len({node.start_char_idx for node in parse(noted)}) == 3


def test_every_category_has_a_parser() -> None:
    assert set(PARSER_OF_CATEGORY) == set(CATEGORIES)
    assert set(PARSER_OF_CATEGORY.values()) <= set(PARSERS)
    assert parser_for(document("x", category="generic")) == "markdown"
    assert parser_for(document("x", category="generic", mime=PLAIN)) == "generic"
    assert parser_for(document("x", category="resume")) == "generic"


def test_an_unknown_parser_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="no parser called 'poem'"):
        parse(document("x"), "poem")


# make_node


@pytest.mark.parametrize("span", [(0, 0), (0, 99), (3, 6), (-4, 2)])
def test_make_node_refuses_what_is_no_exact_span(span: tuple[int, int]) -> None:
    with pytest.raises(ParseError, match="no exact span"):
        make_node(document("one two"), span, ordinal=0, total=1, parser="p", parser_version=1)


def test_make_node_tells_page_and_lines() -> None:
    noted = document("a\nb\n\nc", pages=(0, 2, 5, 5), first_line=10)
    nodes = [
        make_node(noted, span, ordinal=0, total=1, parser="p", parser_version=1) for span in ((0, 1), (2, 6), (5, 6))
    ]
    assert [node.metadata["page"] for node in nodes] == [1, 2, 4]
    assert [(node.metadata["line_start"], node.metadata["line_end"]) for node in nodes] == [
        (10, 10),
        (11, 13),
        (13, 13),
    ]
    unpaged = make_node(document("a"), (0, 1), ordinal=0, total=1, parser="p", parser_version=1)
    assert unpaged.metadata["page"] is None


# Markdown


def sections(text: str, **sizes) -> list[tuple[tuple[str, ...], str]]:
    return [(piece.section_path, text[piece.start : piece.end]) for piece in split_markdown(text, **sizes)]


def test_each_section_is_a_node_under_its_own_path() -> None:
    text = f"# Top\n\n{WORDS}\n\n## One\n\n{WORDS}\n\nTwo\n---\n\n{WORDS}\n\n# Next\n\n{WORDS}"
    assert sections(text) == [
        (("Top",), f"# Top\n\n{WORDS}"),
        (("Top", "One"), f"## One\n\n{WORDS}"),
        (("Top", "Two"), f"Two\n---\n\n{WORDS}"),
        (("Next",), f"# Next\n\n{WORDS}"),
    ]


def test_text_before_the_first_heading_has_no_path() -> None:
    assert [path for path, _ in sections(f"{WORDS}\n\n# Top\n\n{WORDS}")] == [(), ("Top",)]


@pytest.mark.parametrize("inside", ["```\n# no\n```", "~~~\n# no\n~~~", "<div>\n# no\n</div>", "    # no"])
def test_marks_inside_code_and_html_are_no_headings(inside: str) -> None:
    assert len(sections(f"# Top\n\n{WORDS}\n\n{inside}\n\n{WORDS}")) == 1


def test_a_tiny_section_goes_with_the_next() -> None:
    text = f"# Top\n\nShort.\n\n## One\n\n{WORDS}"
    assert sections(text) == [(("Top", "One"), text)]


def test_two_short_siblings_share_their_parent() -> None:
    text = f"# Top\n\n{WORDS}\n\n## One\n\nShort.\n\n## Two\n\n{WORDS}"
    assert [path for path, _ in sections(text)] == [("Top",), ("Top",)]


def test_badges_do_not_make_a_section() -> None:
    badges = "[![Build](https://ci.example.com/one/two/three.svg)](https://ci.example.com) " * 6
    text = f"# Top\n\n{badges.strip()}\n\n## One\n\n{WORDS}"
    assert [path for path, _ in sections(text)] == [("Top", "One")]


def test_a_heading_at_the_end_stays_with_what_precedes_it() -> None:
    assert len(sections(f"# Top\n\n{WORDS}\n\n## Empty")) == 1


def test_only_headings_are_still_a_node() -> None:
    assert sections("# Top\n\n## One") == [(("Top", "One"), "# Top\n\n## One")]


def test_a_long_section_is_cut_with_an_overlap() -> None:
    paragraphs = [" ".join(f"w{number}x{word}" for word in range(20)) + "." for number in range(12)]
    text = "# Top\n\n" + "\n\n".join(paragraphs)
    pieces = split_markdown(text, target_words=60, max_words=80, overlap_words=5)
    texts = [text[piece.start : piece.end] for piece in pieces]
    assert all(piece.section_path == ("Top",) for piece in pieces)
    assert all(words_in(part) <= 80 for part in texts)
    for before, after in itertools.pairwise(texts):
        assert before.split()[-5:] == after.split()[:5]


def test_no_overlap_reaches_over_a_heading() -> None:
    text = f"# A\n\n{WORDS}\n\n# B\n\n{WORDS}"
    first, second = split_markdown(text, target_words=20, max_words=30)
    assert second.start > first.end


def test_tables_and_code_stay_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 8
    code = "```\n" + "x = 1 + 2\n" * 8 + "```"
    text = f"# Top\n\n{WORDS} {WORDS}.\n\n{table}\n{WORDS} {WORDS}.\n\n{code}\n\n{WORDS} {WORDS}."
    texts = [part for _, part in sections(text, target_words=50, max_words=70, overlap_words=5)]
    assert len(texts) > 1
    assert sum(table.strip() in part for part in texts) == 1
    assert sum(code in part for part in texts) == 1
    assert all(part.count("```") in (0, 2) for part in texts)


def test_a_table_over_the_limit_is_cut_between_rows() -> None:
    text = "| a | b |\n|---|---|\n" + "| one | two |\n" * 60
    pieces = split_markdown(text, target_words=60, max_words=80)
    assert len(pieces) > 3
    assert all(text[piece.start : piece.end].startswith("|") and piece.kind == "table" for piece in pieces)


@given(NASTY)
@settings(deadline=None, max_examples=100)
def test_no_markdown_piece_is_over_its_limit(raw: str) -> None:
    text = canonical(raw)
    for piece in split_markdown(text, target_words=60, max_words=80, overlap_words=5):
        assert words_in(text[piece.start : piece.end]) <= 80


# Generic


def test_paragraphs_are_packed_without_overlap() -> None:
    paragraphs = [f"Paragraph {number} " + "word " * 50 + "end." for number in range(9)]
    text = "\n\n".join(paragraphs)
    pieces = split_generic(text, characters=600)
    assert all(before.end < after.start for before, after in itertools.pairwise(pieces))
    assert [text[piece.start : piece.end].count("Paragraph") for piece in pieces] == [2, 2, 2, 2, 1]


def test_a_heading_begins_a_piece_and_names_its_section() -> None:
    text = "Intro.\n\nTOOLS\n\nA spade.\n\nSEEDS\n\nBeans."
    assert split_generic(text) == [
        Piece(0, 6),
        Piece(text.index("TOOLS"), text.index("\n\nSEEDS"), ("TOOLS",)),
        Piece(text.index("SEEDS"), len(text), ("SEEDS",)),
    ]


def test_headings_alone_join_what_follows_or_precedes() -> None:
    text = "# One\n\n## Two\n\nText.\n\n# Three"
    assert split_generic(text) == [Piece(0, len(text), ("One", "Two"))]
    assert split_generic("# One") == [Piece(0, 5, ("One",))]


def test_a_long_paragraph_is_cut_at_sentence_ends_then_at_spaces() -> None:
    text = "# Top\n\n" + "This is a sentence of it. " * 20 + "word " * 100
    pieces = split_generic(text, characters=200)
    texts = [text[piece.start : piece.end] for piece in pieces]
    assert texts[0].startswith("# Top\n\nThis is")
    assert all(len(part) <= 200 for part in texts)
    assert all(part.endswith("it.") for part in texts[:2])
    assert all(part.split()[0] in ("#", "This", "word") for part in texts)


@given(NASTY | st.text())
@settings(deadline=None, max_examples=100)
def test_no_generic_piece_is_over_its_limit(raw: str) -> None:
    text = canonical(raw)
    assert all(piece.end - piece.start <= 200 for piece in split_generic(text, characters=200))


def test_blocks_of_the_loader_come_before_our_own_reading() -> None:
    noted = document("Title\n\nText.", mime=PDF, category="generic")
    assert parse(noted)[0].metadata["section_path"] == []
    blocks = markdown_blocks("# T\n\nText.")
    headed = noted.with_(blocks=(blocks[0].__class__(0, 5, "heading", 1), blocks[1].__class__(7, 12, "paragraph")))
    assert parse(headed)[0].metadata["section_path"] == ["Title"]


@given(NASTY | st.text())
@settings(deadline=None, max_examples=100)
def test_blocks_are_trimmed_ascending_and_apart(raw: str) -> None:
    text = canonical(raw)
    for blocks in (markdown_blocks(text), text_blocks(text)):
        last = 0
        for block in blocks:
            assert last <= block.start < block.end <= len(text)
            assert text[block.start : block.end] == text[block.start : block.end].strip()
            assert bool(block.level) == (block.kind == "heading")
            last = block.end
