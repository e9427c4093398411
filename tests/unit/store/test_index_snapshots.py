import os
import shutil
import threading
from collections.abc import Callable
from copy import copy
from pathlib import Path

import numpy as np
import pytest

from pipelines.store.index_snapshots import LexicalIndexes
from pipelines.store.lexical_index import BM25Parameters
from tests.fake_corpus import FakeCorpus


def indexes(folder: Path, corpus: FakeCorpus, **parameters: float) -> LexicalIndexes:
    return LexicalIndexes(folder, corpus, BM25Parameters(**parameters))


def found(held: LexicalIndexes, term: str) -> list[str]:
    return [node_id.split(".")[0] for node_id, _ in held.current("owner").search([term], 100)]


def saved(folder: Path) -> list[Path]:
    return sorted(folder.glob("owner-*"))


def wait_for_builds() -> None:
    for thread in threading.enumerate():
        if thread.name == "lexical snapshot":
            thread.join(10)


def large(corpus: FakeCorpus, count: int = 201, term: str = "crane") -> None:
    """Change so much that a new snapshot is due."""
    for number in range(count):
        corpus.put(f"more{number:04}", term)


def test_a_snapshot_is_built_once_and_loaded_by_the_next_process(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    assert found(indexes(tmp_path, corpus), "go") == found(indexes(tmp_path, corpus), "go") == ["a"]
    assert corpus.whole == 1


def test_at_the_same_version_nothing_is_read_twice(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    assert held.current("owner") is held.current("owner") is held.refresh("owner")
    assert (corpus.whole, corpus.asked) == (1, [])


def test_a_change_is_seen_at_once_and_only_what_changed_is_read(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go", b="go")
    held = indexes(tmp_path, corpus)
    held.current("owner")
    corpus.put("b", "rust")
    corpus.put("c", "rust")
    corpus.remove("a")
    assert (found(held, "rust"), found(held, "go")) == (["b", "c"], [])
    corpus.put("d", "go")
    assert found(held, "go") == ["d"]
    assert (corpus.whole, corpus.asked) == (1, [{"a", "b", "c"}, {"d"}])


def test_a_new_process_goes_on_from_the_snapshot_on_disk(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    indexes(tmp_path, corpus).refresh("owner")
    corpus.put("b", "go")
    assert found(indexes(tmp_path, corpus), "go") == ["a", "b"]
    assert (corpus.whole, corpus.asked) == (1, [{"b"}])


def test_a_snapshot_whose_changes_are_not_all_known_is_built_again(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    held.current("owner")
    corpus.put("a", "rust")
    corpus.put("b", "rust")
    del corpus.log[corpus.version - 1]
    assert found(held, "rust") == found(indexes(tmp_path, corpus), "rust") == ["a", "b"]
    assert found(held, "go") == []
    assert corpus.whole == 2


def test_a_snapshot_of_another_database_is_never_used(tmp_path: Path) -> None:
    indexes(tmp_path, FakeCorpus(a="go")).refresh("owner")
    other = FakeCorpus(b="rust")
    held = indexes(tmp_path, other)
    assert (found(held, "go"), found(held, "rust")) == ([], ["b"])
    other.put("c", "rust")
    assert (found(held, "go"), found(indexes(tmp_path, other), "rust")) == ([], ["b", "c"])


def test_a_database_that_was_reset_under_a_process_is_read_again(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go", b="go")
    held = indexes(tmp_path, corpus)
    held.current("owner")
    corpus.documents, corpus.version = {"c": ["go"]}, 50
    corpus.log = {}
    corpus.put("e", "crane")
    assert found(held, "go") == ["c"]
    for version in range(55):
        corpus.put("d", f"go v{version}")
    assert found(held, "go") == ["c", "d"]
    assert found(held, "v54") == ["d"]


def test_an_older_read_snapshot_gets_the_index_of_its_state(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held, before = indexes(tmp_path, corpus), copy(corpus)
    before.documents = dict(corpus.documents)
    corpus.put("b", "go")
    assert found(held, "go") == ["a", "b"]
    held._corpus = before  # a question that began before the change
    assert found(held, "go") == ["a"]
    held._corpus = corpus
    assert found(held, "go") == ["a", "b"]


def test_after_many_changes_a_new_snapshot_is_built_in_the_background(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    held.current("owner")
    large(corpus)
    assert len(found(held, "crane")) == 100
    wait_for_builds()
    assert (corpus.whole, len(saved(tmp_path)), held.current("owner").behind) == (2, 2, 0)
    corpus.put("b", "go")
    assert sorted(found(held, "go")) == ["a", "b"]
    assert held.current("owner").behind == 1


def test_changes_while_a_snapshot_is_made_are_on_top_of_it(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    held.current("owner")
    large(corpus)
    read = corpus.segments

    def slow(audience, documents=None):
        segments = read(audience, documents)
        if documents is None:
            corpus.put("late", "rust")
            assert found(held, "rust") == ["late"]
        return segments

    corpus.segments = slow
    held.refresh("owner")
    assert found(held, "rust") == ["late"]
    assert held.current("owner").behind == 1


def test_a_new_snapshot_of_another_process_is_taken_up(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    held.current("owner")
    large(corpus)
    indexes(tmp_path, corpus).refresh("owner")
    whole = corpus.whole
    assert held.refresh("owner").behind == 0
    assert corpus.whole == whole


def test_a_new_process_builds_a_new_snapshot_if_the_old_one_is_far_behind(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    indexes(tmp_path, corpus).refresh("owner")
    large(corpus)
    assert indexes(tmp_path, corpus).current("owner").behind == 0
    assert len(saved(tmp_path)) == 2


def test_few_changes_make_no_new_snapshot(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    held.refresh("owner")
    large(corpus, count=200)
    assert held.refresh("owner").behind == 200
    assert len(saved(tmp_path)) == 1


def shift(path: Path, by: int) -> None:
    """Add to the last number of a file of an array, which stays a valid one."""
    array = np.load(path)
    array[-1] += by
    np.save(path, array)


DAMAGE = {
    "a row that no node has": lambda folder: shift(folder / "terms" / "rows.npy", 1000),
    "a row of another node": lambda folder: shift(folder / "terms" / "rows.npy", -1),
    "another count": lambda folder: shift(folder / "terms" / "counts.npy", 5),
    "another length": lambda folder: shift(folder / "terms" / "lengths.npy", 90),
    "a cut file": lambda folder: os.truncate(folder / "terms" / "starts.npy", 130),
    "an empty file": lambda folder: os.truncate(folder / "terms" / "keys.npy", 0),
    "a missing file": lambda folder: (folder / "terms" / "keys.npy").unlink(),
    "missing pairs": lambda folder: shutil.rmtree(folder / "pairs"),
    "no JSON": lambda folder: folder.joinpath("ids.json").write_text("{"),
    "other ids": lambda folder: folder.joinpath("ids.json").write_text(
        folder.joinpath("ids.json").read_text().replace("a.0", "z.0")
    ),
    "no checksums": lambda folder: folder.joinpath("checksums.json").unlink(),
    "no list of checksums": lambda folder: folder.joinpath("checksums.json").write_text("{}"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_snapshot_is_reported_and_built_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    corpus = FakeCorpus(a="go rust", b="go go", c="rust")
    right = indexes(tmp_path, corpus, pair_weight=0.1).refresh("owner").search(["go", "rust"], 9)
    (path,) = saved(tmp_path)
    damage(path)
    assert indexes(tmp_path, corpus, pair_weight=0.1).examine() == ([path], [path])
    assert indexes(tmp_path, corpus, pair_weight=0.1).current("owner").search(["go", "rust"], 9) == right
    assert corpus.whole == 2
    assert indexes(tmp_path, corpus, pair_weight=0.1).examine() == ([path], [])


def test_a_snapshot_that_does_not_hold_what_the_database_holds_is_reported_and_deleted(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go rust", b="go")
    held = indexes(tmp_path, corpus)
    held.refresh("owner")
    assert held.examine() == (saved(tmp_path), [])
    corpus.documents["a"] = ["go go"]  # without a new version
    assert held.examine() == (saved(tmp_path), saved(tmp_path))
    held.repair()
    assert not saved(tmp_path)


def test_a_folder_of_another_name_is_skipped(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    (tmp_path / f"owner-{held.parameters.shape}-old-copy").mkdir()
    assert found(held, "go") == ["a"]


def test_a_folder_that_cannot_be_written_costs_only_the_next_process_a_build(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    (tmp_path / "file").write_text("")
    for _ in range(2):
        assert found(indexes(tmp_path / "file" / "inside", corpus), "go") == ["a"]
    assert corpus.whole == 2


@pytest.mark.parametrize("other", [{"header_weight": 2}, {"pair_weight": 0.1}])
def test_other_parameters_never_load_a_foreign_snapshot(tmp_path: Path, other: dict[str, float]) -> None:
    corpus = FakeCorpus(a="go")
    indexes(tmp_path, corpus).refresh("owner")
    indexes(tmp_path, corpus, **other).refresh("owner")
    assert corpus.whole == 2


def test_parameters_that_only_say_how_an_index_is_read_share_a_snapshot(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="data scienc", b="scienc data")
    gains = []
    for weight in (0.1, 0.2):
        held = indexes(tmp_path, corpus, pair_weight=weight)
        (_, paired), (_, apart) = held.refresh("owner").search(["data", "scienc"], 2)
        gains.append(paired - apart)
    assert gains[1] == pytest.approx(2 * gains[0], rel=1e-5)
    saturated = indexes(tmp_path, corpus, k1=0.1, pair_weight=0.1).current("owner").search(["data"], 1)
    assert saturated[0][1] > held.current("owner").search(["data"], 1)[0][1]
    assert corpus.whole == 1


def test_shapes_in_use_side_by_side_do_not_sweep_each_other(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    for _ in range(3):
        for weight in (1, 2, 3):
            indexes(tmp_path, corpus, header_weight=weight).refresh("owner")
        large(corpus, term=f"v{corpus.version}")
    kept = [(path.name.split("-")[1], int(path.name.split("-")[5])) for path in saved(tmp_path)]
    assert kept == [(f"h{weight}", version) for weight in (1, 2, 3) for version in (302, 503)]


def test_snapshots_do_not_pile_up(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    for step in range(1, 21):
        indexes(tmp_path, corpus, header_weight=step).refresh("owner")
    assert len(saved(tmp_path)) == 12


def test_what_a_killed_process_left_is_swept_and_what_is_being_written_stays(tmp_path: Path) -> None:
    left, written = (tmp_path / name / "index" for name in (".new-left", ".new-now"))
    for folder in (left, written):
        folder.mkdir(parents=True)
        (folder / "vectors.npy").write_bytes(b"half")
    os.utime(left.parent, (0, 0))
    indexes(tmp_path, FakeCorpus(a="go")).refresh("owner")
    assert (left.parent.exists(), written.exists()) == (False, True)


def test_each_audience_has_an_index_of_its_own(tmp_path: Path) -> None:
    corpus = FakeCorpus(a="go")
    held = indexes(tmp_path, corpus)
    assert held.current("owner") is not held.current("visitor")
    assert corpus.whole == 2
