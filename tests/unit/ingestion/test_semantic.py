"""Where the subject changes, judged by a model that knows two subjects."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from config.settings import ParsingSettings
from pipelines.blocks import markdown_blocks
from pipelines.errors import ConfigError
from pipelines.ingestion.change_detection import recipe
from pipelines.ingestion.parsers import build_parser, parse
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.semantic import SemanticParser
from pipelines.text import canonical
from pipelines.types import Block, Document

SEA = "The ship sailed far across the wide grey sea. "
LAND = "A farm of wheat and oats lay beyond the hill. "
LINES = ["# A", "## B", SEA * 4, LAND * 3, "x" * 700, "- item", "", "日本語。" * 60]


class Subjects:
    """Texts as the share of sea and of land in them; keeps the batches that it was given."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        vectors = np.array([[text.count("ship"), text.count("farm"), 0.01] for text in texts], dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def note(text: str, blocks: Sequence[Block] = ()) -> Document:
    return Document(
        id="d", text=text, source_uri="u", source="s", source_kind="file", name="n.txt", mime="text/plain", bytes=1,
        file_sha="f", content_sha="c", blocks=tuple(blocks),
    )  # fmt: skip


def test_a_text_is_cut_where_its_topic_changes() -> None:
    text = (SEA * 9 + LAND * 9 + SEA * 9).strip()
    found = [text[piece.start : piece.end] for piece in SemanticParser(embed=Subjects()).split(note(text))]
    assert found == [(SEA * 9).strip(), (LAND * 9).strip(), (SEA * 9).strip()]


def test_a_text_on_one_topic_stays_whole() -> None:
    text = (SEA * 30).strip()
    assert SemanticParser(embed=Subjects()).split(note(text)) == [Piece(0, len(text))]


def test_all_groups_of_sentences_are_embedded_in_one_batch_and_a_plan_can_count_them() -> None:
    text = (SEA * 7 + LAND * 3).strip()
    model = Subjects()
    parse(note(text), "semantic", embed=model)
    groups = SemanticParser().finest(note(text))
    assert model.asked == [[text[piece.start : piece.end] for piece in groups]]
    assert list(map(len, model.asked)) == [-(-10 // 3)]
    assert [part.count(".") for part in model.asked[0]] == [3, 3, 3, 1]


def test_no_piece_crosses_a_heading_even_between_similar_texts() -> None:
    text = f"# One\n\n{SEA * 3}\n\n# Two\n\n{SEA * 3}".strip()
    found = SemanticParser(embed=Subjects()).split(note(text, markdown_blocks(text)))
    assert [(piece.section_path, text[piece.start]) for piece in found] == [(("One",), "#"), (("Two",), "#")]


def test_a_short_part_is_joined_to_its_neighbour() -> None:
    text = (SEA * 6 + LAND * 3).strip()
    assert SemanticParser(embed=Subjects(), min_characters=len(LAND) * 4).split(note(text)) == [Piece(0, len(text))]


def test_a_topic_over_the_limit_is_cut_at_sentences() -> None:
    text = (SEA * 60).strip()
    found = [
        text[piece.start : piece.end]
        for piece in SemanticParser(embed=Subjects(), max_characters=500).split(note(text))
    ]
    assert all(len(part) <= 500 and part.startswith("The ship") and part.endswith("sea.") for part in found)
    assert len(found) >= len(text) // 500


def test_fewer_than_five_sentences_are_cut_by_length_and_nothing_is_embedded() -> None:
    text = "word " * 500 + "end. " + SEA.strip()
    model = Subjects()
    found = SemanticParser(embed=model).split(note(text))
    assert model.asked == []
    assert len(found) == 3
    assert all(piece.end - piece.start <= 1024 for piece in found)
    assert all(0 < before.end - after.start <= 128 for before, after in pairwise(found))
    assert SemanticParser().finest(note(text)) == []


@given(st.lists(st.sampled_from(LINES), max_size=15).map("\n".join) | st.text(), st.integers(1, 4))
@settings(max_examples=100)
def test_pieces_never_exceed_the_limit_and_do_not_overlap_if_embedded(raw: str, group: int) -> None:
    text = canonical(raw)
    model = Subjects()
    found = SemanticParser(embed=model, group=group, min_characters=50, max_characters=300).split(note(text))
    assert all(piece.end - piece.start <= 300 for piece in found)
    if model.asked:
        assert all(before.end <= after.start for before, after in pairwise(found))


def test_without_a_model_the_parser_raises_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"n\.txt: the semantic parser needs an embedding model"):
        parse(note(SEA * 9), "semantic")


def test_only_the_recipe_of_the_semantic_parser_depends_on_the_model() -> None:
    sizes = ParsingSettings()
    assert recipe("semantic", 6, sizes, "one") != recipe("semantic", 6, sizes, "two")
    assert recipe("generic", 6, sizes, "one") == recipe("generic", 6, sizes, "two")
    assert build_parser("semantic", sizes, Subjects()).own_fields() == [
        "group", "max_characters", "min_characters", "percentile",
    ]  # fmt: skip
