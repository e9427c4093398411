"""What `ingest --watch` prints for each round."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import typer
from rich.console import Console

from app import output
from app.ingesting import Asked
from app.watching import lasting, print_round, print_rounds, round_json, run_watch, say_watched, show_round
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
        f"{AT.astimezone():%H:%M:%S}  notes: 1 updated, 1 failed (1 embedded, run 7)",
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


def test_only_what_is_news_is_a_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_round(found())
    print_round(found(report=IngestReport(7, ITEMS, 2, 1, 0.5)))
    assert [json.loads(line)["run_id"] for line in capsys.readouterr().out.splitlines()] == [7]


def test_off_a_terminal_a_round_without_news_is_said_once_and_after_a_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = ServiceUnavailable("Gone.", hint="Start it.")
    stopped = Event()

    def rounds() -> Iterator[Round]:
        yield from [found(), found(), found(error=error, again=5), found(again=5), found(), found()]
        stopped.set()
        yield Round(("other",), AT)

    print_rounds(rounds(), stopped, as_json=False)
    out, err = capsys.readouterr()
    said = [line.partition("  ")[2] for line in err.splitlines()]
    assert (out, said) == (
        "", ["nothing new in notes", "Gone. Start it.", "Trying again in 5 s.", "nothing new in notes"]
    )  # fmt: skip


def test_what_is_said_while_something_takes_long_stays_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = StringIO()
    monkeypatch.setattr(output, "stderr", Console(file=written, width=80, force_terminal=True, color_system=None))
    with output.under_way("looking at the sources", quiet=False) as say:
        say("GitHub asks to wait 600 s")
        say("reading sitemap 2")
    lines = written.getvalue().split("\n")
    assert [line[-25:] for line in lines if "GitHub" in line] == ["GitHub asks to wait 600 s"]
    assert any(line.endswith("reading sitemap 2") for line in lines)
    assert "looking at the sources" in written.getvalue()


def test_what_is_watched_is_said_with_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    say_watched({"notes": 3600, "github:ann": 5400})
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "Watching until Ctrl-C:", "notes  whenever it changes, and every 1 h", "github:ann  every 1.5 h",
    ]  # fmt: skip


@pytest.mark.parametrize(("seconds", "said"), [(3, "3 s"), (90, "1.5 min"), (3600, "1 h"), (86_400, "24 h")])
def test_an_interval_is_said_in_the_unit_that_suits_it(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


@pytest.mark.parametrize("asked", [Asked(plan_only=True), Asked(retry_failed=True)])
def test_a_watch_goes_with_no_option_that_is_for_one_run(asked: Asked, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="--watch goes with neither"):
        run_watch(Settings(_env_file=None, home=tmp_path), [], Overrides(), asked)
