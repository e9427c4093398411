from app.wording import how_it_ended, read_as


def test_a_follow_up_is_shown_as_it_was_read_with_who_made_it_whole() -> None:
    assert read_as("How many people does Ann lead?", "model") == (
        "Read as: How many people does Ann lead? (made whole by the language model)"
    )
    assert read_as("how long? Ann Leith", "rules").endswith("(made whole by rules, from the questions before it)")
    assert read_as("Is saltlick slow?", "rules", [("it", "saltlick"), ("", "Leith")]) == (
        "Read as: Is saltlick slow? (it = saltlick, + Leith; made whole by rules, from the questions before it)"
    )
    assert read_as("", "") == ""


def test_each_way_in_which_a_model_fails_has_its_own_sentence() -> None:
    assert list(how_it_ended("llm", "", truncated=False)) == []
    assert list(how_it_ended("extractive", "It is down. Start it.", truncated=False)) == [
        "The language model did not answer, so sentences are quoted instead. It is down. Start it."
    ]
    assert list(how_it_ended("extractive", "It is down. Start it.", truncated=False, answered=False)) == [
        "The language model did not answer, and no sentence that does was found. It is down. Start it."
    ]
    assert list(how_it_ended("llm", "It broke off. Try again.", truncated=True)) == [
        "The language model broke off, and the answer ends there. It broke off. Try again."
    ]
    assert list(how_it_ended("llm", "", truncated=True)) == [
        "The language model's answer was cut short, by its length limit or on the way; it may be incomplete."
    ]
