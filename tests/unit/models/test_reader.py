"""The model that reads a question and a text together."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import ConfigError
from pipelines.models import minilm
from pipelines.models import reader as reading
from pipelines.models.reader import Reader, load_reader

TEXTS = [
    "Team: Zofia keeps bees on the roof of the town hall.",
    "Team: The harbour cranes lift forty boxes an hour.",
    "Rates: A day of training costs 900 euros, travel not included.",
]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader()


@pytest.mark.parametrize(
    ("question", "best"),
    [("Who looks after the hives?", 0), ("How many containers per hour?", 1), ("What would a workshop cost us?", 2)],
)
def test_the_text_that_answers_in_other_words_has_the_best_odds(reader: Reader, question: str, best: int) -> None:
    odds = reader.answers(question, TEXTS)
    assert odds.argmax() == best
    assert odds.shape == (3,)


def test_the_odds_of_a_text_do_not_depend_on_the_others(reader: Reader) -> None:
    together = reader.answers("Who keeps bees?", TEXTS)
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda text: reader.answers("Who keeps bees?", [text])[0], TEXTS))
    np.testing.assert_array_equal(together, np.array(alone))


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "🙂", "a" * 5000, "word " * 5000])
def test_any_question_and_text_have_finite_odds(reader: Reader, text: str) -> None:
    assert np.isfinite(reader.answers(text, [text, TEXTS[0]])).all()


def test_no_texts_have_no_odds(reader: Reader) -> None:
    assert reader.answers("Who keeps bees?", []).shape == (0,)


def test_a_process_shares_one_reader_with_the_words_of_the_embedding_model(reader: Reader) -> None:
    assert load_reader() is reader
    assert minilm.READER_MODEL in minilm.FILES


def test_a_damaged_reader_is_named_and_leaves_the_embedding_model_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(minilm.FOLDER, folder)
    (folder / minilm.READER_MODEL).write_bytes(b"")
    monkeypatch.setattr(minilm, "FOLDER", folder)
    monkeypatch.setattr(minilm, "_LOADED", {})
    monkeypatch.setattr(reading, "_LOADED", [])
    with pytest.raises(ConfigError, match=r"reader-int8\.onnx is damaged"):
        load_reader()
    assert minilm.load_minilm(device="cpu").embed_texts(["a"]).shape == (1, 384)
    assert not minilm.examine_model()[0]
