"""Resumes of random structure, of the half that nobody looks at while building, are read as well as they were."""

from pathlib import Path

import pytest
from corpus_maker.structures import write_structures

from pipelines.evaluation.parsing import ParsedFile, field_scores, parse_file

_COUNT = 16  # a fixed sample: the first seeds
_FLOORS = {"all": 0.96, "company": 0.88, "position": 0.95, "dates": 0.97, "institution": 0.95, "skills": 0.96}


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> list[ParsedFile]:
    folder = tmp_path_factory.mktemp("structures")
    write_structures(folder, _COUNT, heldout=True)
    return [parse_file(path, folder) for path in sorted(Path(folder).glob("*.pdf"))]


def test_most_fields_of_resumes_of_random_structure_are_read(parsed: list[ParsedFile]) -> None:
    scores = field_scores(parsed)
    found = {name: round(scores[name] or 0.0, 3) for name in _FLOORS}
    assert all(found[name] >= floor for name, floor in _FLOORS.items()), found


def test_each_person_of_resumes_of_random_structure_is_named_and_no_job_is_invented(parsed: list[ParsedFile]) -> None:
    assert field_scores(parsed)["name"] == 1.0
    assert not sum(each.comparison.false_jobs for each in parsed)
