from typing import Any

import pytest

from pipelines.store.in_part import how_much, only_part


def counts(rendered: int, fetched: int, *refused: str) -> dict[str, Any]:
    return {"rendered": rendered, "fetched": fetched, "refused": [{"id": each} for each in refused]}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (counts(8, 12), "8 of its 12 blocks"),
        (counts(0, 1), "0 of its 1 block"),
        (counts(3, 3, "a", "b"), "3 of its 3 blocks, nothing of what lies below 2 of them"),
        ({"rendered": 8, "fetched": 12}, "8 of its 12 blocks"),
    ],
)
def test_how_much_is_stored_is_counted_in_blocks(told: dict[str, Any], said: str) -> None:
    assert how_much(told) == said


def test_the_line_under_an_answer_names_the_document_and_says_what_follows_from_it() -> None:
    assert only_part("Roadmap", counts(8, 12)) == (
        "Only part of 'Roadmap' was given by its source (8 of its 12 blocks): "
        "what it does not say may stand in the rest."
    )


def test_a_title_of_several_lines_stays_on_one() -> None:
    assert only_part("Road\n\n map ", counts(8, 12)).startswith("Only part of 'Road map' was given")
