import json
from pathlib import Path

import pytest

from config.settings import AnswerSettings, Settings
from pipelines.evaluation.answerability import load_collection
from tests.bench.escalation import ScriptedLLM
from tests.bench.follow_ups import CONDENSED, LAST, measure_follow_ups

PASSAGES = {
    "kiln": "Ruth Aldous built the anagama kiln at Dunsyre in 1998.",
    "wheel": "The potter's wheel at Dunsyre was built of oak in 1951 and still turns.",
    "boat": "The ferry to Oban was built in 1951, and leaves the northern harbour at seven.",
    "bees": "Nine hives of black bees stand behind the orchard wall.",
}
TALKS = [
    (["Who built the anagama kiln at Dunsyre?", "And when was it built?"], "ANSWERABLE", ["kiln"]),
    (["When does the ferry to Oban leave?", "Where does it leave from?"], "PARTIAL", ["boat"]),
    (["How many hives stand in the orchard?", "What is the capital of Mongolia?"], "UNANSWERABLE", []),
    (["Who built the anagama kiln at Dunsyre?"], "ANSWERABLE", ["kiln"]),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [
        {
            "task_id": f"{number}<::>{len(said)}",
            "answerability": label,
            "turns": [{"speaker": "user", "text": text} for text in said],
            "contexts": [{"document_id": one, "title": "", "text": PASSAGES[one]} for one in answers or PASSAGES],
        }
        for number, (said, label, answers) in enumerate(TALKS)
    ]
    (tmp_path / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "dev.jsonl"


@pytest.mark.usefixtures("own_databases")
def test_later_questions_find_more_when_they_are_condensed(settings: Settings, path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    report = measure_follow_ups(settings, load_collection(path), lambda *step: told.append(step))
    assert (report["questions"], report["by"]) == (2, {"rules": 2})
    every = report["groups"]["all"]
    assert every[CONDENSED]["nDCG@10"] == 1.0 >= every[LAST]["nDCG@10"]
    assert every["difference"]["difference"] == pytest.approx(every[CONDENSED]["nDCG@10"] - every[LAST]["nDCG@10"])
    assert report["groups"].keys() == {"all", "changed", "even", "odd"}
    assert told[-1][1:] == (2, 2)


@pytest.mark.usefixtures("own_databases")
def test_a_language_model_condenses_where_there_is_one(settings: Settings, path: Path) -> None:
    llm = ScriptedLLM(reply="When was the anagama kiln at Dunsyre built?")
    patient = settings.model_copy(update={"answer": AnswerSettings(condense_seconds=60)})
    report = measure_follow_ups(patient, load_collection(path), lambda *step: None, llm)
    assert report["by"] == {"model": 1, "rules": 1}
