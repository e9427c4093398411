"""An index with what changed since its snapshot, against one that is built anew."""

import random
from collections.abc import Sequence
from pathlib import Path

import bm25s
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.changes import Mark
from pipelines.store.lexical import LexicalIndex, Parameters
from pipelines.store.lexical_part import Segment

WORDS = ["go", "rust", "data", "scienc", "kubernet", "harbour", "crane"]
PARAMETERS = Parameters(k1=1.1, b=0.6, header_weight=2, pair_weight=0.15)
QUESTIONS = (["go"], ["data", "scienc"], ["rust", "go", "rust"], ["harbour", "crane", "kubernet"], ["unheard"], WORDS)

terms = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
node = st.one_of(terms, st.tuples(terms, terms).map("\t".join))
edit = st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.lists(node, max_size=3)))


def nodes_of(document: str, held: Sequence[str]) -> list[Segment]:
    """A node keeps its id where its text stays, as it does when only metadata change."""
    return [Segment(f"{document}.{place}.{text}", document, text) for place, text in enumerate(held)]


def assert_same(index: LexicalIndex, segments: Sequence[Segment], parameters: Parameters = PARAMETERS) -> None:
    """Whether an index tells just what one of these nodes alone would, to the last bit."""
    anew = LexicalIndex.build(segments, parameters)
    ids = [*{segment.node_id for segment in segments}, "unknown"]
    assert len(index) == len(anew)
    for question in QUESTIONS:
        assert index.search(question, 100) == anew.search(question, 100)
        assert index.search(question, 2, {*ids[::2]}) == anew.search(question, 2, {*ids[::2]})
        assert index.score_of(question, ids) == anew.score_of(question, ids)
    for word in [*WORDS, "unheard"]:
        assert index.document_frequency(word) == anew.document_frequency(word)
        assert index.idf(word) == anew.idf(word)
    assert index.nearest("kuberntes") == anew.nearest("kuberntes")


@given(
    st.dictionaries(st.sampled_from("abcde"), st.lists(node, max_size=3)),
    st.lists(st.lists(edit, max_size=3), max_size=5),
)
def test_after_any_edits_an_index_tells_what_one_built_anew_tells(
    documents: dict[str, list[str]], steps: list[list[tuple[str, list[str] | None]]]
) -> None:
    held = {name: nodes_of(name, nodes) for name, nodes in documents.items()}
    index = LexicalIndex.build([segment for nodes in held.values() for segment in nodes], PARAMETERS)
    for version, edits in enumerate(steps):
        for name, nodes in edits:
            held.pop(name, None)
            if nodes is not None:
                held[name] = nodes_of(name, nodes)
        changed = {name for name, _ in edits}
        index = index.stepped(
            Mark(version, version), changed, [segment for name in changed for segment in held.get(name, [])]
        )
        assert_same(index, [segment for nodes in held.values() for segment in nodes])


def test_many_small_steps_leave_few_deltas_and_the_scores_of_one_build() -> None:
    chance = random.Random(5)
    held = {f"d{n}": nodes_of(f"d{n}", [" ".join(chance.choices(WORDS, k=20))]) for n in range(300)}
    index = LexicalIndex.build([segment for nodes in held.values() for segment in nodes], PARAMETERS)
    for step in range(150):
        name = f"d{chance.randrange(400)}"
        held[name] = nodes_of(name, [" ".join(chance.choices(WORDS, k=20))])
        index = index.stepped(Mark(step, step), {name}, held[name])
    assert len(index._pieces) <= 5
    assert_same(index, [segment for nodes in held.values() for segment in nodes])


def test_an_index_is_never_changed_by_what_is_made_of_it() -> None:
    rows = nodes_of("a", ["go rust"]) + nodes_of("b", ["go"])
    index = LexicalIndex.build(rows, PARAMETERS)
    index.stepped(Mark(1, 1), {"a"}, [])
    assert_same(index, rows)


def test_words_that_only_a_gone_node_held_are_no_spelling() -> None:
    index = LexicalIndex.build(nodes_of("a", ["kubernet internationalis"]) + nodes_of("b", ["go"]), PARAMETERS)
    assert index.nearest("kuberntes")
    assert index.nearest("intrenatoinalisation")
    gone = index.stepped(Mark(1, 1), {"a"}, [])
    assert gone.nearest("kuberntes") == gone.nearest("intrenatoinalisation") == []


def test_a_saved_index_is_its_snapshot_without_what_changed_since(tmp_path: Path) -> None:
    rows = nodes_of("a", ["go rust"]) + nodes_of("b", ["go"])
    index = LexicalIndex.build(rows, PARAMETERS, Mark(3, 30))
    index.stepped(Mark(4, 40), {"a"}, []).save(tmp_path / "index")
    loaded = LexicalIndex.load(tmp_path / "index", PARAMETERS)
    assert loaded.mark == Mark(3, 30)
    assert_same(loaded, rows)
    assert_same(loaded.stepped(Mark(5, 50), {"b", "c"}, nodes_of("c", ["crane"])), rows[:1] + nodes_of("c", ["crane"]))


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.3)])
def test_scores_are_those_of_the_bm25s_library(k1: float, b: float) -> None:
    chance = random.Random(11)
    held = [chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=chance.randint(1, 40)) for _ in range(200)]
    model = bm25s.BM25(method="lucene", k1=k1, b=b)
    model.index(held, show_progress=False)
    rows = [Segment(f"n{number}", f"d{number}", " ".join(words)) for number, words in enumerate(held)]
    index = LexicalIndex.build(rows, Parameters(k1=k1, b=b))
    for question in QUESTIONS[:4]:
        expected = model.get_scores(question)
        scores = index.score_of(question, [row.node_id for row in rows])
        assert list(scores.values()) == pytest.approx(expected.tolist(), rel=1e-5)
