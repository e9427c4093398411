import numpy as np
import pytest

from pipelines.store.space import Space, Spaces, measure

RANDOM = np.random.default_rng(3)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def corpus(count: int = 3000, dimension: int = 8) -> np.ndarray:
    """Unit vectors that all lean towards the first axis, and vary most along the second."""
    spread = np.array([0.1, 3.0, *[0.5] * (dimension - 2)])
    return unit(RANDOM.normal(size=(count, dimension)) * spread + np.eye(dimension)[0] * 4)


def test_power_0_leaves_the_question_as_it_is() -> None:
    question = unit(RANDOM.normal(size=8))
    assert np.array_equal(measure(corpus(), 3000).whiten(question, 0.0), question)


def test_whitening_is_centring_and_dividing_each_direction_by_a_power_of_its_variance() -> None:
    space = Space(9, np.array([0.5, 0.0], np.float32), np.eye(2, dtype=np.float32), np.array([1.9, 0.1], np.float32))
    expected = np.array([(0.9 - 0.5) * 2.0**-0.5, 0.4 * 0.2**-0.5])
    assert space.whiten([0.9, 0.4], 0.5) == pytest.approx(expected / np.linalg.norm(expected), rel=1e-6)


def test_what_all_vectors_share_no_longer_decides() -> None:
    rows = corpus()
    space = measure(rows, len(rows))
    question = unit(np.array([1.0, 0.0, 0.3, 0, 0, 0, 0, 0]))
    common, own = (unit(np.array(v, float)) for v in ([1, 0, 0, 0, 0, 0, 0, 0], [0.2, 0, 1, 0, 0, 0, 0, 0]))
    assert common @ question > own @ question
    whitened = space.whiten(question, 0.25)
    assert own @ whitened > common @ whitened


def test_a_question_that_is_the_mean_itself_stays() -> None:
    space = Space(9, np.array([1.0, 0.0], np.float32), np.eye(2, dtype=np.float32), np.ones(2, np.float32))
    assert list(space.whiten([1.0, 0.0], 0.25)) == [1.0, 0.0]


def test_few_vectors_are_hardly_trusted() -> None:
    few = measure(corpus(4), 4)
    assert np.linalg.norm(few.mean) < 0.05
    assert few.variances.max() < 1.2


class Corpus:
    def __init__(self) -> None:
        self.size, self.version, self.measured = 100, 1, 0

    def sample(self, audience: str, limit: int) -> np.ndarray:
        self.measured += 1
        return corpus(min(self.size, limit))


def test_a_space_is_measured_once_kept_on_disk_and_again_after_the_corpus_grew_by_a_fifth(tmp_path) -> None:
    held = Corpus()

    def spaces() -> Spaces:
        return Spaces(tmp_path, lambda audience: held.size, held.sample, lambda: held.version)

    first = spaces()
    one = first.current("owner")
    assert first.current("owner") is one
    assert held.measured == 1
    assert np.array_equal(spaces().current("owner").mean, one.mean)
    assert held.measured == 1
    held.size, held.version = 110, 2
    assert first.current("owner") is one
    held.size, held.version = 150, 3
    assert first.current("owner").count == 150
    assert held.measured == 2


def test_an_empty_corpus_has_no_space(tmp_path) -> None:
    assert Spaces(tmp_path, lambda audience: 0, Corpus().sample, lambda: 1).current("visitor") is None


def test_a_broken_file_is_measured_again(tmp_path) -> None:
    (tmp_path / "space-owner.npz").write_bytes(b"PK\x03\x04 torn")
    held = Corpus()
    assert Spaces(tmp_path, lambda audience: 100, held.sample, lambda: 1).current("owner").count == 100
    assert held.measured == 1


def test_the_background_is_the_mean_and_the_deviation_of_the_similarity_to_many_vectors() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(20_000, 6)) * [3, 2, 1, 1, 1, 1] + [2, 0, 1, 0, 0, 0]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    space = measure(vectors, len(vectors))
    for question in (np.eye(6)[0], np.eye(6)[4], 5 * vectors[0]):
        near = vectors @ (question / np.linalg.norm(question))
        assert space.background(question) == pytest.approx((near.mean(), near.std()), abs=0.01)


def test_of_a_few_vectors_the_background_is_nearly_that_of_vectors_which_point_everywhere() -> None:
    same = np.tile(np.eye(100, dtype=np.float32)[0], (2, 1))
    mean, deviation = measure(same, 2).background(np.eye(100)[0])
    assert mean == pytest.approx(2 / 202)
    assert deviation == pytest.approx(100**-0.5, rel=0.02)
