"""How counts, lengths of time and failures are said."""

import pytest

from pipelines.errors import FootnoteError
from pipelines.wording import format_count, format_duration, labelled_message, with_hint, without_label


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"), (0.2, "1 s"), (43, "43 s"), (119, "119 s"), (120, "2 min"), (600, "10 min"), (601, "11 min"),
        (3_600, "1 h"), (4_000, "1 h 7 min"), (5_400, "1 h 30 min"), (86_400, "24 h"), (3 * 86_400 + 1, "3 d 1 h"),
    ],
)  # fmt: skip
def test_a_length_of_time_is_said_in_units_that_a_person_reads_and_never_too_short(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said


@pytest.mark.parametrize(("count", "said"), [(0, "0 pages"), (1, "1 page"), (2_300, "2,300 pages")])
def test_one_thing_is_not_said_in_the_plural(count: int, said: str) -> None:
    assert format_count(count, "page") == said


@pytest.mark.parametrize(
    ("label", "message", "line", "below"),
    [
        ("a.example/x", "a.example/x is gone.", "a.example/x is gone.", "is gone."),
        ("github:ann", "Nobody is there.", "github:ann: Nobody is there.", "Nobody is there."),
        ("a.example/x", "a.example cannot be reached.", "a.example/x: a.example cannot be reached.", ""),
        ("github:", "github: names nothing.", "github: names nothing.", "names nothing."),
        ("notes.md", "notes.md: division by zero", "notes.md: division by zero", "division by zero"),
        ("notes.md", "notes.md", "notes.md: notes.md", ""),
        ("", "It failed.", ": It failed.", ""),
    ],
)
def test_a_label_is_not_said_twice(label: str, message: str, line: str, below: str) -> None:
    assert labelled_message(label, message) == line
    assert without_label(label, message) == (below or message)
    assert labelled_message(label, message, "Try again.") == with_hint(line, "Try again.")


@pytest.mark.parametrize(
    ("message", "whole"),
    [
        ("It is gone.", "It is gone. Try again."),
        ("division by zero", "division by zero. Try again."),
        ("No such file: 'notes.md'", "No such file: 'notes.md'. Try again."),
        ('It says "gone."', 'It says "gone." Try again.'),
        ("What now?", "What now? Try again."),
        ("", "Try again."),
    ],
)
def test_a_hint_begins_a_sentence_of_its_own(message: str, whole: str) -> None:
    assert with_hint(message, "Try again.") == whole
    assert with_hint(message) == message
    assert str(FootnoteError(message, hint="Try again.")) == whole
