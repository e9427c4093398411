"""What rules of the settings say of documents."""

import pytest
from pydantic import ValidationError

from config.settings import SourceRule
from pipelines.ingestion.rules import ruled
from pipelines.types import SourceItem

ITEM = SourceItem("file:///home/ann/papers/2024/cv.pdf", "2024/cv.pdf", "file:///home/ann/papers", "file")


@pytest.mark.parametrize("glob", ["2024/cv.pdf", "*.pdf", "2024/*", "file:///home/ann/*", "*/papers", "*"])
def test_a_glob_matches_the_name_the_address_or_the_source(glob: str) -> None:
    assert ruled(ITEM, [SourceRule(match=glob, category="resume")]) == {"category": "resume"}


@pytest.mark.parametrize("glob", ["cv.pdf", "*.PDF", "2024", "papers"])
def test_a_glob_that_matches_a_part_says_nothing(glob: str) -> None:
    assert ruled(ITEM, [SourceRule(match=glob, category="resume")]) == {}


def test_the_later_rule_wins_field_by_field() -> None:
    rules = [
        SourceRule(match="*", category="journey", visibility="private", year=2020),
        SourceRule(match="*.pdf", category="resume", parser="generic"),
        SourceRule(match="*.md", category="blog"),
    ]
    expected = {"category": "resume", "visibility": "private", "year": 2020, "parser": "generic"}
    assert ruled(ITEM, rules) == expected


@pytest.mark.parametrize("wrong", [{"match": ""}, {"match": "*", "visibility": "secret"}, {"match": "*", "kind": "x"}])
def test_a_rule_that_cannot_be_meant_is_refused(wrong: dict) -> None:
    with pytest.raises(ValidationError):
        SourceRule(**wrong)
