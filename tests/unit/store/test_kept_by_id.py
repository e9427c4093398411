"""What is read by id is kept for a state of the corpus, and for that state alone."""

from pipelines.store.read_snapshot import KeptById, Mark, ReadSnapshot


def reader(calls: list[list[str]], **values: int):
    def read(ids: list[str]) -> dict[str, int]:
        calls.append(ids)
        return {own: values[own] for own in ids if own in values}

    return read


def test_only_ids_that_are_not_kept_are_read_and_missing_ones_stay_missing() -> None:
    kept, calls, now = KeptById[int](10), list[list[str]](), ReadSnapshot(Mark(1, 1))
    read = reader(calls, a=1, b=2)
    assert kept.current(now, ["a"], read) == {"a": 1}
    assert kept.current(now, ["b", "a", "gone"], read) == {"a": 1, "b": 2}
    assert calls == [["a"], ["b", "gone"]]


def test_another_state_of_the_corpus_is_read_anew_also_at_the_same_version() -> None:
    kept, calls = KeptById[int](10), list[list[str]]()
    assert kept.current(ReadSnapshot(Mark(1, 1)), ["a"], reader(calls, a=1)) == {"a": 1}
    assert kept.current(ReadSnapshot(Mark(1, 2)), ["a"], reader(calls, a=5)) == {"a": 5}
    assert len(calls) == 2


def test_the_oldest_go_and_a_failed_snapshot_leaves_nothing() -> None:
    kept, calls, now = KeptById[int](2), list[list[str]](), ReadSnapshot(Mark(1, 1))
    read = reader(calls, a=1, b=2, c=3)
    assert kept.current(now, ["a", "b", "c"], read) == {"a": 1, "b": 2, "c": 3}
    kept.current(now, ["b", "c"], read)
    assert len(calls) == 1
    failed = ReadSnapshot(Mark(1, 1))
    failed.failed = True
    kept.current(failed, ["a"], read)
    kept.current(now, ["a"], read)
    assert calls[1:] == [["a"], ["a"]]
