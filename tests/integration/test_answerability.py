import json
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.evaluation.answerability import (
    ANSWERABLE,
    UNANSWERABLE,
    WITHHELD,
    judge_strengths,
    load_collection,
    measure_evidence,
)
from pipelines.evaluation.corpus import index_dataset
from pipelines.query.evidence import calibration

PASSAGES = {
    "kiln": "Ruth Aldous built the anagama kiln at Dunsyre in 1998.",
    "boat": "The ferry to Oban leaves the northern harbour at seven.",
    "bees": "Nine hives of black bees stand behind the orchard wall.",
}
ASKED = [
    ("Who built the anagama kiln at Dunsyre?", ANSWERABLE, ["kiln"]),
    ("When does the ferry to Oban leave?", ANSWERABLE, ["boat"]),
    ("How many hives of bees stand in the orchard?", ANSWERABLE, ["bees"]),
    ("What is the capital of Mongolia?", UNANSWERABLE, []),
]


@pytest.mark.usefixtures("own_databases")
@pytest.mark.parametrize("mode", ["hybrid", "sparse"])
def test_a_question_is_strong_with_its_passage_and_weak_without_it(settings: Settings, tmp_path: Path, mode) -> None:
    path = tmp_path / "dev.jsonl"
    rows = [
        {
            "task_id": f"{number}<::>1",
            "answerability": label,
            "turns": [{"speaker": "user", "text": question}],
            "contexts": [{"document_id": one, "title": "", "text": PASSAGES[one]} for one in answers],
        }
        for number, (question, label, answers) in enumerate(ASKED)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    tuned = settings.model_copy(update={"retrieval": settings.retrieval.model_copy(update={"mode": mode})})
    told: list[tuple[str, int, int]] = []
    measured = measure_evidence(tuned, load_collection(path), lambda *step: told.append(step))
    assert [row.label for row in measured] == [*[ANSWERABLE, WITHHELD] * 3, UNANSWERABLE]
    twins = zip(measured[:6:2], measured[1:6:2], strict=True)
    assert all(with_it.strength > without.strength for with_it, without in twins)
    assert {"similarity", "support"} <= measured[0].signals.keys() or mode == "sparse"
    assert told[-1][1:] == (4, 4)
    judged = judge_strengths(measured, calibration("hashed", dense=mode != "sparse"))
    assert judged["auroc"] == {WITHHELD: 1.0, UNANSWERABLE: 1.0}


@pytest.mark.usefixtures("own_databases")
def test_what_is_judged_here_are_the_signals_that_a_search_decides_on(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    contexts = [{"document_id": one, "title": "", "text": text} for one, text in PASSAGES.items()]
    row = {"task_id": "1<::>1", "answerability": ANSWERABLE, "contexts": contexts}
    path.write_text(json.dumps(row | {"turns": [{"speaker": "user", "text": ASKED[0][0]}]}))
    collection = load_collection(path)
    judged = measure_evidence(settings, collection, lambda *step: None)[0]
    engine = index_dataset(settings, collection.dataset).with_changes({"escalation.mode": "off"})
    decided = engine.examine(ASKED[0][0], top_n=20).evidence
    assert judged.signals == pytest.approx(decided.signals, abs=1e-3)
    assert judged.strength == pytest.approx(decided.strength, abs=1e-3)
