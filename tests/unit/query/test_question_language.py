import pytest

from config.languages import LANGUAGES, language_words
from config.prompts import no_answer
from pipelines.models.identity import LOCAL_MODEL, MULTILINGUAL
from pipelines.query.answer import NEUTRAL
from pipelines.query.question.language import in_english, in_language, other_language, question_language
from pipelines.query.question.reading import looked_for
from pipelines.query.question.understand import analyse


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wo wohnt Ann?", "de"),
        ("Was hat sie in Bergen gebaut?", "de"),
        ("In welcher Stadt wohnt Ann?", "de"),
        ("Quels ponts sont construits en bois ?", "fr"),
        ("Où habite Ann ?", "fr"),
        ("¿Dónde vive Ann?", "es"),
        ("¿Qué puentes están hechos de madera?", "es"),
        ("Dove abita Ann?", "it"),
        ("Quali ponti sono fatti di legno?", "it"),
        ("Onde mora a Ann?", "pt"),
        ("Que línguas fala a Ann?", "pt"),
        ("Waar woont Ann?", "nl"),
        ("Welke bruggen zijn van hout?", "nl"),
        ("Where does Ann live?", ""),
        ("Die Hard ratings", ""),
        ("Which men want a door?", ""),
        ("What did Ann do in Las Palmas?", ""),
        ("gantry-crane purpose", ""),
        ("Is Van der Berg a manager?", ""),
        ("Who is Hans van der Berg?", ""),
        ("Waar woont Hans van der Berg?", "nl"),
        ("Wo hat der Manager gearbeitet?", "de"),
        ("", ""),
    ],
)
def test_the_function_words_of_a_question_tell_its_language(question: str, language: str) -> None:
    assert question_language(question)[0] == language


def test_a_question_in_another_language_than_the_documents_is_told_what_would_help() -> None:
    said = other_language("Wo wohnt Ann?", LOCAL_MODEL, lambda _: 0)
    assert said.startswith("Die Dokumente sind nicht auf Deutsch")
    assert "footnote models add multilingual" in said


def test_a_question_in_the_language_of_some_documents_is_answered() -> None:
    assert other_language("Wo wohnt Ann?", LOCAL_MODEL, {"wo": 3}.get) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["text-embedding-3-small", MULTILINGUAL])
def test_a_model_of_many_languages_is_not_doubted(model: str) -> None:
    assert other_language("Wo wohnt Ann?", model, lambda _: 0) == ""


@pytest.mark.parametrize(
    ("question", "language", "english"),
    [
        ("Wie lange hat Ann bei Orrin gearbeitet?", "de", "how long has Ann at Orrin worked"),
        ("Combien de temps Ann a-t-elle travaillé chez Orrin ?", "fr", "how long Ann has she worked at Orrin"),
        ("Où a-t-elle étudié, à l'université ?", "fr", "where has she studied at university"),
        ("¿Cuántos años trabajó Ann en Orrin?", "es", "how many years worked Ann at Orrin she"),
        ("Quali lingue parla Ann?", "it", "which languages speaks Ann she"),
        ("Onde estudou a Ann?", "pt", "where studied Ann she"),
        ("Waar werkt Ann nu?", "nl", "where does work Ann now"),
        ("Wie heißt ihr Hund?", "de", "heißt her Hund"),  # which no reader of careers understands
    ],
)
def test_words_about_careers_are_put_into_english(question: str, language: str, english: str) -> None:
    assert in_english(question, language) == english


def test_what_a_computed_sentence_quotes_stays_as_it_is() -> None:
    said = "3 years 2 months at Now: Head of Jobs at Now (May 2019 - Jul 2022)."
    quoted = ["Now", "Head of Jobs", "May 2019 - Jul 2022"]
    assert in_language(said, "de", quoted) == "3 Jahre 2 Monate bei Now: Head of Jobs bei Now (May 2019 - Jul 2022)."
    assert in_language("Now: Head of Jobs at Orrin.", "fr", ["Head of Jobs", "Orrin"]) == (
        "Maintenant: Head of Jobs chez Orrin."
    )


def test_an_abstention_names_what_was_looked_for_in_the_language_of_the_question() -> None:
    assert (
        looked_for(analyse("Wie heißt der Hund von Ann Orrin?"))
        == "Gesucht wurde nach “heißt”, “Hund” und “Ann Orrin”."
    )
    assert looked_for(analyse("Wie ist das?")) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_all_texts_and_words(language: str) -> None:
    for part in ("texts", "questions", "answers"):
        assert list(language_words(language, part)) == list(language_words("de", part))  # type: ignore[arg-type]
        assert all(language_words(language, part).values())  # type: ignore[arg-type]
    persona = NEUTRAL.model_copy(update={"name": "Ann Orrin"})
    assert "Ann Orrin" in no_answer(persona, language)
    assert "Orrin" in language_words(language, "texts")["looked_for"].format(words="Orrin")
