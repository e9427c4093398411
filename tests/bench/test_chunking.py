"""The baselines cut as the splitters do whose figures are published, and every way to cut is measured alike."""

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from config.settings import ParsingSettings, Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.ingestion.parsers import PARSERS
from pipelines.models.embedding import HashedEmbedding
from pipelines.query.engine import build_query_engine
from pipelines.text import count_tokens
from tests.bench.chunking import (
    BASELINES,
    fixed,
    load_span_topics,
    locate,
    measure_chunking,
    precision_omega,
    recursive,
    reported,
    span_measures,
)


def test_the_measures_of_a_small_example_are_those_counted_by_hand() -> None:
    # gold: 10 characters at 0 and 10 at 100; found: 20 characters that hold 5 of the first, 30 that hold the second
    found, gold = [(5, 25), (90, 120)], [(0, 10), (100, 110)]
    assert span_measures(found, gold) == {
        "recall": (5 + 10) / (10 + 10),
        "precision": (5 + 10) / (20 + 30),
        "IoU": (5 + 10) / (20 + 30 + 5),
    }


def test_what_two_overlapping_nodes_share_is_found_once_and_read_twice() -> None:
    assert span_measures([(0, 10), (5, 15)], [(5, 10)]) == {"recall": 5 / 5, "precision": 5 / 20, "IoU": 5 / 20}


def test_nodes_of_another_corpus_are_read_for_nothing() -> None:
    assert span_measures([(0, 10)], [(0, 10)], elsewhere=30) == {"recall": 1.0, "precision": 10 / 40, "IoU": 10 / 40}


def test_nothing_found_scores_nothing() -> None:
    assert span_measures([], [(0, 10)]) == {"recall": 0.0, "precision": 0.0, "IoU": 0.0}


def test_an_exact_cut_scores_one() -> None:
    assert set(span_measures([(3, 9)], [(3, 9)]).values()) == {1.0}


def test_precision_omega_is_that_of_every_span_that_holds_some_gold() -> None:
    # gold: 10 characters in two touching spans of 20 and one of 30; 4 of the second gold span are in no span
    spans, gold = [(0, 20), (20, 40), (50, 80), (90, 120)], [(15, 25), (76, 84)]
    assert precision_omega(spans, gold) == (10 + 4) / (20 + 20 + 30 + 4)


def test_precision_omega_counts_what_spans_share_once() -> None:
    assert precision_omega([(0, 20), (10, 30)], [(10, 20)]) == 10 / 30


def test_precision_omega_of_gold_in_no_span_is_nothing() -> None:
    assert precision_omega([(0, 5)], [(10, 20)]) == 0.0


def test_a_span_stands_where_it_says_or_where_its_words_are_nearest() -> None:
    text = "one two one two"
    assert locate(text, (8, 11, "one")) == (8, 11)
    assert locate(text, (10, 13, "one")) == (8, 11)
    assert locate(text, (1, 4, "one")) == (0, 3)
    with pytest.raises(SourceError, match="three"):
        locate(text, (0, 5, "three"))


STORY = "\n\n".join(" ".join(f"Boat {row} number {place} sails." for place in range(6)) for row in range(12))


def texts(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


def test_what_is_short_is_one_span_without_its_outer_space() -> None:
    assert recursive("\n One two. \n", tokens=50, overlap=10) == [(2, 10)]
    assert recursive(" \n", tokens=50, overlap=10) == []


def test_paragraphs_that_fit_are_put_together_up_to_the_limit() -> None:
    paragraph = count_tokens("\n\n" + STORY.split("\n\n")[1])
    found = texts(STORY, recursive(STORY, tokens=3 * paragraph, overlap=0))
    assert [part.count("\n\n") + 1 for part in found] == [3, 3, 3, 3]


def test_an_overlap_repeats_whole_paragraphs_that_fit_in_it() -> None:
    paragraph = count_tokens("\n\n" + STORY.split("\n\n")[1])
    found = texts(STORY, recursive(STORY, tokens=3 * paragraph, overlap=paragraph + 1))
    for before, after in pairwise(found):
        assert before.split("\n\n")[-1] == after.split("\n\n")[0]


def test_a_paragraph_over_the_limit_is_cut_at_stops_which_begin_the_next_span() -> None:
    found = texts(
        "One two three. Four five six! Seven", recursive("One two three. Four five six! Seven", tokens=5, overlap=0)
    )
    assert found == ["One two three", ". Four five six", "! Seven"]


def test_what_has_no_separator_is_cut_between_letters() -> None:
    text = "x" * 400
    found = recursive(text, tokens=5, overlap=0)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(found))


def test_fixed_windows_have_the_tokens_and_the_overlap() -> None:
    found = fixed(STORY, tokens=40, overlap=20)
    assert all(30 <= count_tokens(part) <= 40 for part in texts(STORY, found[:-1]))
    assert all(10 <= count_tokens(STORY[after[0] : before[1]]) <= 20 for before, after in pairwise(found))


def test_the_published_baselines_are_there() -> None:
    assert list(BASELINES) == ["recursive 250/125", "recursive 200/0", "token 250/125"]
    assert all(cut(STORY)[0][0] == 0 for cut in BASELINES.values())


# Chunk sets

CRANE = "Marit built the harbour crane in 2014."
GARDEN = "Tomatoes need sun every day."
SPARSE = {"sparse": {"retrieval.mode": "sparse"}}


@pytest.fixture
def chunk_set(tmp_path: Path) -> Path:
    folder = tmp_path / "chunks"
    (folder / "corpora").mkdir(parents=True)
    body = f"{CRANE}\n\n{'The sea was calm. ' * 60}\n\n{GARDEN}\n"
    (folder / "corpora" / "notes.md").write_text(body)
    (folder / "corpora" / "other.md").write_text("Whales sing at night.\n")
    with (folder / "questions_df.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["question", "references", "corpus_id"])
        writer.writeheader()
        for question, words in (("Who built the harbour crane?", CRANE), ("What do tomatoes need?", GARDEN)):
            start = body.index(words)
            gold = [{"content": words, "start_index": start, "end_index": start + len(words)}]
            writer.writerow({"question": question, "references": json.dumps(gold), "corpus_id": "notes"})
    return folder


@pytest.mark.usefixtures("own_databases")
def test_a_chunk_set_is_cut_by_a_parser_and_the_baselines_and_its_spans_are_found(
    settings: Settings, chunk_set: Path
) -> None:
    found = measure_chunking(settings, chunk_set, SPARSE, parsers=["generic"], n=1)
    assert list(found) == ["generic", *BASELINES]
    for result in found.values():
        assert {scores["recall"] for scores in result.scores["sparse"].values()} == {1.0}
        assert all(0 < scores["precision"] == scores["IoU"] <= 1 for scores in result.scores["sparse"].values())
        assert 0 < result.omega <= 1
        assert result.nodes * result.characters > 1_000
        assert 0 < result.tokens < result.characters
    assert build_query_engine(settings).store.count() == 0
    report = dict(reported(found))["generic"]
    assert report["systems"]["sparse"].keys() == {"recall", "precision", "IoU"}


@pytest.mark.usefixtures("own_databases")
def test_every_parser_is_measured_unless_some_are_named(settings: Settings, chunk_set: Path) -> None:
    assert list(measure_chunking(settings, chunk_set, SPARSE, limit=1)) == [*sorted(PARSERS), *BASELINES]


@pytest.mark.usefixtures("own_databases")
def test_a_second_measurement_embeds_no_node_and_agrees(
    settings: Settings, chunk_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems: dict[str, dict[str, Any]] = {"dense": {"retrieval.mode": "dense"}}
    first = measure_chunking(settings, chunk_set, systems, parsers=["semantic"])

    def refuse(self: object, *_: object) -> None:
        raise AssertionError("no node is to be embedded")

    monkeypatch.setattr(HashedEmbedding, "_get_text_embeddings", refuse)
    assert measure_chunking(settings, chunk_set, systems, parsers=["semantic"]) == first


@pytest.mark.usefixtures("own_databases")
def test_nodes_that_are_cut_otherwise_are_made_again(settings: Settings, chunk_set: Path) -> None:
    roomy = settings.model_copy(update={"parsing": ParsingSettings(generic_characters=5_000)})
    long_nodes, short_nodes = (
        measure_chunking(given, chunk_set, SPARSE, parsers=["generic"], n=1)["generic"] for given in (roomy, settings)
    )
    assert short_nodes.nodes > long_nodes.nodes
    for topic, scores in short_nodes.scores["sparse"].items():
        assert scores["precision"] > long_nodes.scores["sparse"][topic]["precision"]


def test_an_unknown_parser_is_refused_before_anything_is_cut(settings: Settings, chunk_set: Path) -> None:
    with pytest.raises(ConfigError, match="poem"):
        measure_chunking(settings, chunk_set, SPARSE, parsers=["generic", "poem"])


def test_a_question_about_a_corpus_that_is_not_there_is_named(settings: Settings, chunk_set: Path) -> None:
    (chunk_set / "corpora" / "notes.md").unlink()
    with pytest.raises(SourceError, match="notes"):
        measure_chunking(settings, chunk_set, SPARSE)


def test_missing_questions_are_named_with_the_form_that_is_expected(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"questions_df\.csv cannot be read: No such file") as refused:
        load_span_topics(tmp_path / "questions_df.csv")
    assert "corpora/" in refused.value.hint
