import numpy as np
import pytest

from pipelines.models.minilm import MiniLM, load_minilm
from pipelines.query.late_interaction import normalised, piece_weights, softmax, weighted_nearest


@pytest.fixture(scope="module")
def int8() -> MiniLM:
    return load_minilm()


EVEN = np.full(2, 0.5, np.float32)  # pieces that weigh the same


def test_each_piece_of_a_question_meets_its_nearest_in_the_text() -> None:
    question = np.array([[2, 0], [0, 3]], np.float32)
    both, one, none = np.eye(2, dtype=np.float32) * 5, np.array([[1, 0]], np.float32), np.array([[-1, 0]], np.float32)
    likeness = [weighted_nearest(EVEN, normalised(question) @ normalised(text).T) for text in (both, one, none)]
    assert likeness == [1.0, 0.5, -0.5]


def test_a_text_without_pieces_is_like_nothing() -> None:
    assert weighted_nearest(EVEN, np.zeros((2, 0), np.float32)) == 0.0


def test_the_weights_of_a_question_sum_to_one_and_those_of_what_is_asked_are_greatest(int8: MiniLM) -> None:
    pieces = int8.embed_pieces(["Which PHP version does Lumen need?"])[0]
    weights = softmax(pieces.vectors @ piece_weights())
    asked = dict(zip(("which", "php", "version", "does"), weights.tolist(), strict=False))
    assert weights.sum() == pytest.approx(1)
    assert max(asked, key=lambda word: asked[word]) == "version"


def test_the_sentence_that_answers_is_likelier_than_one_that_shares_a_word(int8: MiniLM) -> None:
    asked, *texts = (
        pieces.vectors
        for pieces in int8.embed_pieces([
            "How long may a session last?", "A sitting ends after 90 minutes.", "The session was opened by the mayor.",
        ])
    )  # fmt: skip
    weights = softmax(asked @ piece_weights())
    answers, shares = (weighted_nearest(weights, normalised(asked) @ normalised(text).T) for text in texts)
    assert answers > shares
