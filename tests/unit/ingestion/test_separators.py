"""Where a line of a resume may be cut."""

import pytest

from pipelines.ingestion.parsers.careers.separators import cuts, split_aside, split_at, without_asides


@pytest.mark.parametrize(
    ("words", "signs", "between", "parts"),
    [
        ("Acme, Berlin", ",", (), ["Acme", "Berlin"]),
        ("Acme – Berlin -- Mitte", "-", (), ["Acme", "Berlin", "Mitte"]),
        ("Well-known / e-commerce", "-/", (), ["Well-known", "e-commerce"]),
        ("Engineer at Acme", "", ("at",), ["Engineer", "Acme"]),
        ("Cheffe auprès de Acme", "", ("auprès de",), ["Cheffe", "Acme"]),
        ("Acme (Berlin)", "(", (), ["Acme", "Berlin)"]),
        ("Rue 3,5, Paris", ",", (), ["Rue 3,5", "Paris"]),
        ("Acme,", ",", (), ["Acme,"]),
    ],
)  # fmt: skip
def test_words_are_cut_at_signs_and_words(words: str, signs: str, between: tuple[str, ...], parts: list[str]) -> None:
    assert split_at(words, signs, between) == parts


def test_cuts_say_where_they_are_and_every_dash_is_one_sign() -> None:
    words = "A — B: C"
    assert [(words[cut.start : cut.end], cut.sign) for cut in cuts(words, "-:")] == [(" — ", "-"), (": ", ":")]


def test_brackets_at_the_end_are_an_aside() -> None:
    assert split_aside("Acme (Lindau)") == ("Acme", "Lindau")
    assert split_aside("Acme (part-time") == ("Acme", "part-time")
    assert split_aside("(Lindau) Acme") == ("(Lindau) Acme", "")
    assert without_asides("Developer (m/f) of (all (nested)) things").split() == ["Developer", "of", "things"]
