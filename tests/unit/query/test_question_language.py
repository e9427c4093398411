import pytest

from pipelines.models.identity import LOCAL_MODEL
from pipelines.query.question.language import other_language, question_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wo wohnt Ann?", "de"),
        ("Was hat sie in Bergen gebaut?", "de"),
        ("Quels ponts sont construits en bois ?", "fr"),
        ("Où habite Ann ?", "fr"),
        ("¿Dónde vive Ann?", "es"),
        ("¿Qué puentes están hechos de madera?", "es"),
        ("Where does Ann live?", ""),
        ("Die Hard ratings", ""),
        ("What did Ann do in Las Palmas?", ""),
        ("gantry-crane purpose", ""),
        ("", ""),
    ],
)
def test_the_function_words_of_a_question_tell_its_language(question: str, language: str) -> None:
    assert question_language(question)[0] == language


def test_a_question_in_another_language_than_the_documents_is_told_which_setting_would_help() -> None:
    said = other_language("Wo wohnt Ann?", LOCAL_MODEL, lambda _: 0)
    assert said.startswith("Die Dokumente sind nicht auf Deutsch")
    assert "FOOTNOTE_EMBEDDING__PROVIDER" in said


def test_a_question_in_the_language_of_some_documents_is_answered() -> None:
    assert other_language("Wo wohnt Ann?", LOCAL_MODEL, {"wo": 3}.get) == ""  # type: ignore[arg-type]


def test_a_model_of_many_languages_is_not_doubted() -> None:
    assert other_language("Wo wohnt Ann?", "text-embedding-3-small", lambda _: 0) == ""
