"""The vectors of a small corpus in memory: compared wholly, and in step with what changes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store import vector_index
from pipelines.store.read_snapshot import Mark
from pipelines.store.vector_index import VectorIndex, Window

DIMENSION = 5
MARK = Mark(1, 10)
vectors = st.lists(st.integers(-4, 4), min_size=DIMENSION, max_size=DIMENSION).filter(any)
# by document, the windows of each of its nodes
corpora = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.lists(vectors, min_size=1, max_size=3), min_size=1, max_size=3), max_size=5
)


def windows(documents: dict[str, list[list[list[int]]]]) -> list[Window]:
    return [
        Window(f"{document}{place}", document, b"\0\5\0\0" + np.array(vector, dtype=">f4").tobytes())
        for document, nodes in sorted(documents.items())
        for place, node in enumerate(nodes)
        for vector in node
    ]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


@given(corpora, vectors, st.integers(1, 6))
def test_the_nearest_nodes_are_those_of_a_comparison_with_every_window(
    documents: dict[str, list[list[list[int]]]], asked: list[int], k: int
) -> None:
    similar = {
        f"{document}{place}": max(cosine(asked, vector) for vector in node)
        for document, nodes in documents.items()
        for place, node in enumerate(nodes)
    }
    found = VectorIndex.build(windows(documents), MARK).nearest(asked, k)
    assert [score for _, score in found] == pytest.approx(sorted(similar.values(), reverse=True)[:k], abs=1e-6)
    assert dict(found) == pytest.approx({node_id: similar[node_id] for node_id, _ in found}, abs=1e-6)
    assert found == sorted(found, key=lambda hit: (-hit[1], hit[0]))


def test_of_many_vectors_those_with_near_signs_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(3)
    middles = chance.standard_normal((40, 96))
    rows = (middles[chance.integers(0, 40, 4_000)] + 0.7 * chance.standard_normal((4_000, 96))).astype(">f4")
    held = [Window(f"{row // 2:04}", f"{row // 8:03}", b"\0\0\0\0" + each.tobytes()) for row, each in enumerate(rows)]
    index, questions = VectorIndex.build(held, MARK), chance.standard_normal((30, 96)) + middles[:30]
    some = {f"{node:04}" for node in range(0, 2_000, 3)}
    exact = [(index.nearest(each, 10), index.nearest(each, 10, some)) for each in questions]
    monkeypatch.setattr(vector_index, "_ALL_COMPARED", 1)
    monkeypatch.setattr(vector_index, "_NEAREST_SIGNS", 400)
    found = [(index.nearest(each, 10), index.nearest(each, 10, some)) for each in questions]
    for which in (0, 1):
        right = sum(len({*one[which]} & {*other[which]}) for one, other in zip(found, exact, strict=True))
        assert right >= 0.97 * 10 * len(questions)  # with their similarities
    assert all({node_id for node_id, _ in hits} <= some for _, hits in found)
    again = index.stepped(Mark(2, 20), {"007", "120"}, [window for window in held if window.document_id == "120"])
    left = VectorIndex.build([window for window in held if window.document_id != "007"], Mark(2, 20))
    assert [again.nearest(each, 10) for each in questions] == [left.nearest(each, 10) for each in questions]
    assert len(index.nearest(questions[0], 1_500)) == 1_500  # more are compared where more are asked for
    monkeypatch.setattr(vector_index, "_FOR_EACH", 0)
    assert len(index.nearest(questions[0], 3_000)) < 1_000  # so few were compared


@given(corpora, corpora, vectors)
def test_an_index_that_followed_changes_is_a_new_one_bit_for_bit(
    before: dict[str, list[list[list[int]]]], after: dict[str, list[list[list[int]]]], asked: list[int]
) -> None:
    changed = before.keys() | after.keys()
    stepped = VectorIndex.build(windows(before), MARK).stepped(Mark(2, 20), changed, windows(after))
    anew = VectorIndex.build(windows(after), Mark(2, 20))
    ids = [window.node_id for window in windows(after)]
    assert (stepped.mark, stepped.base_mark, sorted(stepped.ids)) == (Mark(2, 20), MARK, sorted(anew.ids))
    assert stepped.nearest(asked, 20) == anew.nearest(asked, 20)
    assert stepped.nearest(asked, 2, ids[::2]) == anew.nearest(asked, 2, ids[::2])
    assert stepped.some(3).tolist() == anew.some(3).tolist()
    assert stepped.similarities([asked], [*ids, "gone"]) == anew.similarities([asked], ids)


def test_a_similarity_does_not_depend_on_the_other_nodes() -> None:
    rows = np.random.default_rng(1).standard_normal((300, 384)).astype(">f4")
    held = [Window(f"{row:03}", f"{row:03}", b"\0\0\0\0" + vector.tobytes()) for row, vector in enumerate(rows)]
    asked = np.random.default_rng(2).standard_normal(384).astype(np.float32)
    whole = dict(VectorIndex.build(held, MARK).nearest(asked, 300))
    for first in (1, 7, 130, 299):
        index = VectorIndex.build(held[first:], MARK)
        assert dict(index.nearest(asked, 300)).items() <= whole.items()
        assert index.similarities([asked], ["299"]) == [{"299": whole["299"]}]


def test_only_what_changed_counts_towards_a_new_snapshot() -> None:
    index = VectorIndex.build(windows({f"d{number:04}": [[[1, 0, 0, 0, 0]]] for number in range(400)}), MARK)
    some = {f"d{number:04}" for number in range(150)}
    assert not index.stepped(Mark(2, 20), some, ()).is_far
    assert index.stepped(Mark(2, 20), some, windows({name: [[[0, 1, 0, 0, 0]]] for name in some})).is_far
    for edit in range(400):  # of one document, which differs from the saved one by two nodes
        index = index.stepped(Mark(2 + edit, 20), {"d0007"}, windows({"d0007": [[[0, 1, 0, 0, 0]]]}))
    assert not index.is_far


def test_a_saved_index_is_mapped_and_equal(tmp_path: Path) -> None:
    index = VectorIndex.build(windows({"a": [[[1, 2, 3, 4, 4]], [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]]}), MARK)
    index.save(tmp_path / "index")
    loaded = VectorIndex.load(tmp_path / "index")
    assert loaded.nearest([0, 0, 1, 0, 0], 5) == index.nearest([0, 0, 1, 0, 0], 5)
    assert (loaded.mark, loaded.ids, loaded.saved.documents) == (MARK, index.ids, index.saved.documents)
    data = (tmp_path / "index" / "vectors.npy").read_bytes()
    (tmp_path / "index" / "vectors.npy").write_bytes(data[:-1] + b"?")
    with pytest.raises(ValueError, match="differ"):
        VectorIndex.load(tmp_path / "index")
