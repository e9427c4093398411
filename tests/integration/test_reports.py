"""The newest report of an evaluation is stored, with what was missed in each topic."""

from config.settings import Settings
from pipelines.evaluation.answers import AnswerReport
from pipelines.evaluation.reports import keep_report, newest_report
from pipelines.store.database import open_database


def report(facts: float) -> AnswerReport:
    rows = {"t1": {"id": "t1", "question": "Who?", "answered": False}, "t2": {"id": "t2", "question": "When?"}}
    misses = {"default": [{"id": "t1", "question": "Who?", "why": ["answered"]}]}
    return AnswerReport(2, {"default": {"facts": facts}}, {"default": {}}, {"default": rows}, misses, {}, "f")


def test_the_newest_report_is_the_last_one(settings: Settings) -> None:
    engine = open_database(settings).engine
    assert newest_report(engine) is None
    for facts in (0.5, 0.7):
        keep_report(engine, "mine", report(facts))
    found = newest_report(engine)
    assert found
    assert (found["dataset"], found["measures"]) == ("mine", {"facts": 0.7})
    assert [topic["missed"] for topic in found["topics"]] == [["answered"], []]
    engine.dispose()
