from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pipelines.store.embedding_statistics import EmbeddingStatistics, measure_statistics, saved_statistics
from pipelines.store.read_snapshot import KeptByMark, Mark

RANDOM = np.random.default_rng(3)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def corpus(count: int = 3000, dimension: int = 8) -> np.ndarray:
    """Unit vectors that all lean towards the first axis, and vary most along the second."""
    spread = np.array([0.1, 3.0, *[0.5] * (dimension - 2)])
    return unit(RANDOM.normal(size=(count, dimension)) * spread + np.eye(dimension)[0] * 4)


def test_power_0_leaves_the_question_unchanged() -> None:
    question = unit(RANDOM.normal(size=8))
    assert np.array_equal(measure_statistics(corpus()).whiten(question, 0.0), question)


def test_whitening_is_centring_and_dividing_each_direction_by_a_power_of_its_variance() -> None:
    space = EmbeddingStatistics(
        np.array([0.5, 0.0], np.float32), np.eye(2, dtype=np.float32), np.array([1.9, 0.1], np.float32)
    )
    expected = np.array([(0.9 - 0.5) * 2.0**-0.5, 0.4 * 0.2**-0.5])
    assert space.whiten([0.9, 0.4], 0.5) == pytest.approx(expected / np.linalg.norm(expected), rel=1e-6)


def test_whitening_removes_what_all_vectors_share() -> None:
    rows = corpus()
    space = measure_statistics(rows)
    question = unit(np.array([1.0, 0.0, 0.3, 0, 0, 0, 0, 0]))
    common, own = (unit(np.array(v, float)) for v in ([1, 0, 0, 0, 0, 0, 0, 0], [0.2, 0, 1, 0, 0, 0, 0, 0]))
    assert common @ question > own @ question
    whitened = space.whiten(question, 0.25)
    assert own @ whitened > common @ whitened


def test_a_question_that_is_the_mean_itself_stays() -> None:
    space = EmbeddingStatistics(np.array([1.0, 0.0], np.float32), np.eye(2, dtype=np.float32), np.ones(2, np.float32))
    assert list(space.whiten([1.0, 0.0], 0.25)) == [1.0, 0.0]


def test_statistics_of_few_vectors_are_shrunk() -> None:
    few = measure_statistics(corpus(4))
    assert np.linalg.norm(few.mean) < 0.05
    assert few.variances.max() < 1.2


class Corpus:
    def __init__(self) -> None:
        self.mark, self.measured, self.rows = Mark(1, 10), 0, corpus(100)

    def sample(self, audience: str, limit: int) -> np.ndarray:
        self.measured += 1
        return self.rows[:limit]

    def spaces(self, folder: Path) -> Callable[[], EmbeddingStatistics | None]:
        """The statistics of the owner as they are now, kept by one process."""
        kept = KeptByMark(partial(saved_statistics, folder, self.sample, lambda: self.mark))
        return lambda: kept.current("owner", self.mark)


def test_statistics_are_measured_once_a_version_and_saved_on_disk(tmp_path) -> None:
    held = Corpus()
    first = held.spaces(tmp_path)
    one = first()
    assert first() is one
    assert np.array_equal(held.spaces(tmp_path)().mean, one.mean)
    assert held.measured == 1


def test_statistics_stay_while_the_sample_does_and_are_saved_for_the_present_state(tmp_path: Path) -> None:
    held = Corpus()
    before = held.spaces(tmp_path)()
    with np.load(tmp_path / "space-owner.npz") as file:
        other = {**file, "mean": file["mean"] + 1}
    np.savez(tmp_path / "space-owner.npz", **other)  # tells what was read from what would be measured
    held.mark = Mark(2, 20)
    after = held.spaces(tmp_path)()
    assert np.array_equal(after.mean, before.mean + 1)
    with np.load(tmp_path / "space-owner.npz") as file:
        assert Mark(*file["mark"].tolist()) == held.mark


@pytest.mark.parametrize("later", [Mark(2, 20), Mark(1, 20)], ids=["a change", "a backup of before was restored"])
def test_a_corpus_that_was_swapped_for_another_of_the_same_size_is_measured_again(tmp_path, later: Mark) -> None:
    held = Corpus()
    spaces = held.spaces(tmp_path)
    before = spaces().mean
    held.rows, held.mark = -held.rows, later
    assert np.allclose(spaces().mean, -before)
    assert np.allclose(held.spaces(tmp_path)().mean, -before)


def test_an_empty_corpus_has_no_statistics(tmp_path) -> None:
    held = Corpus()
    held.rows = np.empty((0, 8), np.float32)
    assert held.spaces(tmp_path)() is None


def test_a_broken_file_is_measured_again(tmp_path) -> None:
    (tmp_path / "space-owner.npz").write_bytes(b"PK\x03\x04 torn")
    held = Corpus()
    assert held.spaces(tmp_path)() is not None
    assert held.measured == 1
