"""Small documents made of real text: as many as wanted, all different, the same every time."""

from itertools import islice
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.small_documents import LONGEST, SHORTEST, bodies, read_passages, write_small_documents

SAMPLE = Path(__file__).parents[3] / "data" / "sample"


def test_they_are_written_in_the_same_words_every_time(tmp_path: Path) -> None:
    once = write_small_documents([str(SAMPLE)], tmp_path / "once", 40)
    again = write_small_documents([str(SAMPLE)], tmp_path / "again", 40)
    assert len(once) == len(again) == 40
    assert [path.read_text() for path in once] == [path.read_text() for path in again]


def test_half_are_markdown_with_a_heading_and_they_stand_in_folders_in_ten_folders(tmp_path: Path) -> None:
    paths = write_small_documents([str(SAMPLE)], tmp_path, 40)
    headed = [path for path in paths if path.suffix == ".md"]
    assert len(headed) == 20
    assert all(path.read_text().startswith("# ") for path in headed)
    assert len(list(tmp_path.iterdir())) == 10
    assert all(path.parent.parent.parent == tmp_path for path in paths)


def test_a_little_text_makes_as_many_different_documents_as_are_wanted() -> None:
    passages = list(read_passages([str(SAMPLE)]))
    made = list(islice(bodies(passages), 500))
    assert sum(map(len, made)) > 10 * sum(map(len, passages))
    assert len(set(made)) == 500
    assert all(SHORTEST <= len(body) <= LONGEST + SHORTEST for body in made)


def test_every_passage_stands_in_one_document_before_its_sentences_are_shuffled() -> None:
    passages = list(read_passages([str(SAMPLE)]))
    first = "\n\n".join(islice(bodies(passages), 10))
    assert [passage for passage in passages if passage in first] == passages[: len([p for p in passages if p in first])]
    assert all(first.count(passage) == 1 for passage in passages if passage in first)


def test_too_little_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("This is hardly enough text to make anything of it.")
    with pytest.raises(SourceError, match="too little text"):
        write_small_documents([str(tmp_path)], tmp_path / "out", 5)
