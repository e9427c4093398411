"""What `ingest --watch` prints for each round."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

from app.ingesting import Asked
from app.watching import round_json, run_watch, show_round
from config.settings import Settings
from pipelines.errors import ServiceUnavailable
from pipelines.ingestion.run import Overrides
from pipelines.ingestion.watch import Round
from pipelines.types import IngestItem, IngestReport

AT = datetime(2026, 5, 1, 12, 30, 5, tzinfo=UTC)
ITEMS = (
    IngestItem("a.md", "updated", nodes=2, embedded=1),
    IngestItem("b.md", "unchanged"),
    IngestItem("c.pdf", "failed", "load", "LoadError", "c.pdf is broken.", "Copy it again."),
)


def found(**given: Any) -> Round:
    return Round(("notes",), AT, **given)


def test_a_round_is_a_line_and_what_is_new_of_its_failures(capsys: pytest.CaptureFixture[str]) -> None:
    show_round(found(report=IngestReport(7, ITEMS, 2, 1, 0.5), failed=ITEMS[2:]))
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"{AT.astimezone():%H:%M:%S}  1 updated, 1 failed (1 embedded, run 7)",
        "          c.pdf: c.pdf is broken. Copy it again.",
    ]
    assert err == ""


def test_what_a_person_has_to_do_something_about_is_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    show_round(found(refused=(("file:///notes", 3, 4),), error=ServiceUnavailable("Gone.", hint="Start it."), again=40))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (out, len(lines)) == ("", 3)
    assert lines[0].startswith("3 of 4 documents are no longer in file:///notes")
    assert lines[1].endswith("  Gone. Start it.")
    assert lines[2].endswith("  Trying again in 40 s.")


def test_a_round_as_json_leaves_out_what_is_unchanged() -> None:
    told = round_json(found(report=IngestReport(7, ITEMS, 2, 1, 0.5)))
    assert (told["at"], told["sources"], told["run_id"]) == ("2026-05-01T12:30:05+00:00", ["notes"], 7)
    assert (told["unchanged"], [item["document"] for item in told["items"]]) == (1, ["a.md", "c.pdf"])
    assert (told["error"], told["again_seconds"], told["refused_removals"]) == (None, 0, [])
    failed = round_json(found(error=ServiceUnavailable("Gone.", hint="Start it."), again=5))
    assert failed["error"] == {"type": "ServiceUnavailable", "message": "Gone.", "hint": "Start it."}


@pytest.mark.parametrize("asked", [Asked(plan_only=True), Asked(retry_failed=True)])
def test_a_watch_goes_with_no_option_that_is_for_one_run(asked: Asked, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="--watch goes with neither"):
        run_watch(Settings(_env_file=None, home=tmp_path), [], Overrides(), asked)
