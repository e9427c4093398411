"""`footnote eval structure` prints how many headings and cells are under their sections, and names the others."""

import json
from pathlib import Path

from typer.testing import CliRunner

from app.cli import app

NOTES = "# Log\n\n| Day | Heat |\n|-|-|\n| one | 240 |\n\n> ## Quoted\n"


def test_eval_structure_names_what_is_not_under_its_section(tmp_path: Path) -> None:
    (tmp_path / "log.md").write_text(NOTES, encoding="utf-8")
    shown = CliRunner().invoke(app, ["eval", "structure", str(tmp_path)]).output
    assert "log.md: heading 'Quoted' inside a list or a quotation" in shown


def test_eval_structure_prints_one_json_document(tmp_path: Path) -> None:
    (tmp_path / "log.md").write_text(NOTES, encoding="utf-8")
    report = json.loads(CliRunner().invoke(app, ["eval", "structure", str(tmp_path), "--json"]).stdout)
    assert report["formats"]["md"] == report["totals"]
    assert (report["totals"]["headings"], report["totals"]["headings_in_section"]) == (2, 1)
    assert (report["totals"]["cells"], report["totals"]["cells_in_section"]) == (4, 4)
