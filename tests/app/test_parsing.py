"""`footnote eval parsing` prints what was found, in which order, and on demand every value that was not."""

import json
from pathlib import Path

from typer.testing import CliRunner

from app.cli import app

FIXTURES = Path(__file__).parents[1] / "fixtures" / "parsing"


def _one_with_a_wrong_truth(folder: Path) -> None:
    (folder / "cv.pdf").write_bytes((FIXTURES / "hint-0.pdf").read_bytes())
    truth = json.loads((FIXTURES / "hint-0.json").read_text(encoding="utf-8"))
    truth["jobs"][0]["company"] = "Nobody & Daughters"
    (folder / "cv.json").write_text(json.dumps(truth), encoding="utf-8")
    (folder / "cv.txt").write_text((FIXTURES / "hint-0.txt").read_text(encoding="utf-8"), encoding="utf-8")


def test_eval_parsing_names_the_values_that_are_missed(tmp_path: Path) -> None:
    _one_with_a_wrong_truth(tmp_path)
    shown = CliRunner().invoke(app, ["eval", "parsing", str(tmp_path), "--verbose"]).output
    assert "cv.pdf: missed: company: Nobody & Daughters" in shown
    assert "reading order: twins 1, mean 1.0000" in shown
    assert "jobs found twice: 0" in shown
    assert "false jobs: 0" in shown
    assert "documents taken for another kind: 0" in shown


def test_eval_parsing_prints_one_json_document(tmp_path: Path) -> None:
    _one_with_a_wrong_truth(tmp_path)
    report = json.loads(CliRunner().invoke(app, ["eval", "parsing", str(tmp_path), "--json"]).stdout)
    assert report["documents"] == report["order"]["twins"] == 1
    assert report["f1"]["company"] == 2 * 3 / (4 + 4)
    assert report["files"][0]["missed"] == [["company", "Nobody & Daughters"]]
