"""The newest report of an evaluation is kept, with what was missed in each topic."""

from pathlib import Path

from pipelines.evaluation.answers import AnswerReport
from pipelines.evaluation.reports import keep_report, newest_report


def report(facts: float) -> AnswerReport:
    rows = {"t1": {"id": "t1", "question": "Who?", "answered": False}, "t2": {"id": "t2", "question": "When?"}}
    misses = {"default": [{"id": "t1", "question": "Who?", "why": ["answered"]}]}
    return AnswerReport(2, {"default": {"facts": facts}}, {"default": {}}, {"default": rows}, misses, {}, "f")


def test_the_newest_report_that_can_be_read_is_the_last_one(tmp_path: Path) -> None:
    assert newest_report(tmp_path) is None
    keep_report(tmp_path, "mine", report(0.5))
    last = keep_report(tmp_path, "mine", report(0.7))
    last.with_name("99999999T0.json").write_text("{half")
    found = newest_report(tmp_path)
    assert found
    assert (found["dataset"], found["measures"]) == ("mine", {"facts": 0.7})
    assert [topic["missed"] for topic in found["topics"]] == [["answered"], []]
