"""What lines are measured with: the model's likenesses, or none where it cannot be reached."""

from collections.abc import Callable, Sequence

import numpy as np
from llama_index.core.embeddings import BaseEmbedding

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.extraction.marks import Array, Ruler
from pipelines.query.searching.calibration import calibration


def ruler_with(embed_model: BaseEmbedding, model: str, weight: Callable[[str], float]) -> Ruler:
    """A ruler by words and likenesses; by words alone when the model cannot be reached.

    Args:
        embed_model: Makes the vectors.
        model: Its name, whose scale is used.
        weight: The idf of a term.
    """

    def vectors(questions: Sequence[str], texts: Sequence[str]) -> tuple[Array, Array]:
        try:
            asked = [embed_model.get_query_embedding(question) for question in questions]
            told = embed_model.get_text_embedding_batch(list(texts))
        except FootnoteError as error:
            log_failure("sentences ranked without similarity", error)
            return _no_vectors(questions, texts)
        return np.asarray(asked, dtype=np.float32), np.asarray(told, dtype=np.float32)

    scale = calibration(model)
    return Ruler(weight, vectors, scale.far, scale.near)


def ruler_by_words(weight: Callable[[str], float]) -> Ruler:
    """A ruler that asks no model."""
    return Ruler(weight, _no_vectors, 0.0, 1.0)


def _no_vectors(questions: Sequence[str], texts: Sequence[str]) -> tuple[Array, Array]:
    return np.zeros((len(questions), 0), dtype=np.float32), np.zeros((len(texts), 0), dtype=np.float32)
