import pytest

from pipelines.store.versions import dated, effect_of


@pytest.mark.parametrize(
    ("changes", "run", "expected"),
    [
        ([(1, None)], 1, ("stands", 0)),
        ([(1, None), (2, None)], 2, ("stands", 0)),
        ([(1, None), (2, None)], 1, ("covered", 2)),
        ([(1, None), (2, None), (3, None)], 1, ("covered", 3)),
        ([(1, None), (1, None)], 1, ("stands", 0)),  # one run, two rows
        ([(1, None), (2, 1)], 1, ("undone", 0)),
        ([(1, None), (2, 1)], 2, ("stands", 0)),  # an undoing can itself be undone
        ([(1, None), (2, 1), (3, 2)], 1, ("stands", 0)),
        ([(1, None), (2, 1), (3, 2)], 2, ("undone", 0)),
        ([(1, None), (2, 1), (3, 2)], 3, ("stands", 0)),
        ([(1, None), (2, 1), (3, 2), (4, 3)], 1, ("undone", 0)),
        ([(1, None), (2, None), (3, 2)], 1, ("stands", 0)),  # what came on top is undone
        ([(1, None), (2, None), (3, None), (4, 3)], 1, ("covered", 2)),
        ([(1, None), (2, 1), (3, None)], 1, ("undone", 0)),
        ([(1, None), (2, 1), (3, None)], 2, ("covered", 3)),
        ([(1, None), (2, None), (3, 1)], 1, ("undone", 0)),  # by force
        ([(1, None), (2, None), (3, 1)], 2, ("undone", 0)),
        ([(1, None), (2, None), (3, 1), (4, 3)], 2, ("stands", 0)),
        ([(1, None), (2, None), (3, 1), (4, 3)], 1, ("covered", 2)),
    ],
)
def test_an_undoing_goes_back_to_the_state_before_the_run_that_it_undoes(changes, run, expected) -> None:
    assert effect_of(run, changes) == expected


def test_dates_of_a_version_are_parsed_and_missing_ones_stay_missing() -> None:
    row = dated({"name": "a", "published_at": "2024-05-01T00:00:00.5+00:00", "modified_at": None})
    assert (row["published_at"].isoformat(), row["modified_at"]) == ("2024-05-01T00:00:00.500000+00:00", None)
