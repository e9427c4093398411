"""What `ingest --watch` prints for each round."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from threading import Event
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from app.cli import app, output
from app.cli.ingest import RoundResult, print_rounds, print_watched
from app.cli.output import render
from app.serialise import serialise
from config.settings import Settings
from pipelines.errors import ServiceUnavailable
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


def show(of: Round) -> None:
    render(RoundResult(of))


def test_a_round_is_a_line_and_what_is_new_of_its_failures(capsys: pytest.CaptureFixture[str]) -> None:
    show(found(report=IngestReport(7, ITEMS, 2, 1, 0.5), failed=ITEMS[2:]))
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"{AT.astimezone():%H:%M:%S}  notes: 1 updated, 1 failed (1 embedded, run 7)",
        "          c.pdf is broken. Copy it again.",
    ]
    assert err == ""


def test_what_a_person_has_to_do_something_about_is_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    show(found(refused=(("file:///notes", 3, 4),), error=ServiceUnavailable("Gone.", hint="Start it."), again=40))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (out, len(lines)) == ("", 3)
    assert lines[0].startswith("3 of 4 documents are no longer in file:///notes")
    assert lines[1].endswith("  Gone. Start it.")
    assert lines[2].endswith("  Trying notes again in 40 s.")


def test_a_round_in_which_all_failed_says_nothing_of_what_was_embedded(capsys: pytest.CaptureFixture[str]) -> None:
    show(Round(("github:ann", "b"), AT, IngestReport(7, ITEMS[2:], 0, 0, 0.5), ITEMS[2:], again=4000))
    out, err = capsys.readouterr()
    assert out.splitlines()[0].endswith("  github:ann, b: 1 failed (run 7)")
    assert err.endswith("  Trying github:ann, b again in 1 h 7 min.\n")


def test_a_round_that_is_stopped_is_news_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    stopped = found(report=IngestReport(7, ITEMS[1:2], 0, 0, 0.5, stopped=True))
    assert stopped.is_news
    show(stopped)
    assert capsys.readouterr().out.endswith("  notes: nothing done, stopped (run 7)\n")


def test_a_round_as_json_leaves_out_what_is_unchanged() -> None:
    shown = serialise(RoundResult(found(report=IngestReport(7, ITEMS, 2, 1, 0.5))))
    assert (shown["at"], shown["sources"], shown["run_id"]) == ("2026-05-01T12:30:05+00:00", ["notes"], 7)
    assert (shown["unchanged"], [item["document"] for item in shown["items"]]) == (1, ["a.md", "c.pdf"])
    assert (shown["error"], shown["again_seconds"], shown["refused_removals"]) == (None, 0, [])
    failed = serialise(RoundResult(found(error=ServiceUnavailable("Gone.", hint="Start it."), again=5)))
    assert failed["error"] == {"type": "ServiceUnavailable", "message": "Gone.", "hint": "Start it."}


def test_json_lines_tell_what_is_watched_and_what_is_new_and_once_that_nothing_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_watched({"notes": 3600, "github:ann": 5400}, as_json=True)
    rounds = [found(), found(), found(report=IngestReport(7, ITEMS, 2, 1, 0.5)), found()]
    print_rounds(iter(rounds), Event(), as_json=True)
    first, *others = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["watching"] == [
        {"source": "notes", "every_seconds": 3600, "on_change": True},
        {"source": "github:ann", "every_seconds": 5400, "on_change": False},
    ]
    assert [(shown["sources"], shown.get("run_id")) for shown in others] == [(["notes"], None), (["notes"], 7)]


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
    lines = [line.partition("  ")[2] for line in err.splitlines()]
    assert (out, lines) == (
        "", ["no change in notes", "Gone. Start it.", "Trying notes again in 5 s.", "no change in notes"]
    )  # fmt: skip


def test_what_is_said_while_something_takes_long_stays_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = StringIO()
    monkeypatch.setattr(output, "stderr", Console(file=written, width=80, force_terminal=True, color_system=None))
    with output.under_way("looking at the sources", quiet=False) as (say, far):
        assert far
        say("GitHub asks to wait 600 s")
        far("example.org/a.xml: 3 of 30 pages\nlooked at " + "and so on " * 20)
        say("reading sitemap 2")
    lines = written.getvalue().split("\n")
    assert [line[-25:] for line in lines if "GitHub" in line] == ["GitHub asks to wait 600 s"]
    assert any(line.endswith("reading sitemap 2") for line in lines)
    assert "looking at the sources: example.org/a.xml: 3 of 30 pages looked at and so…" in written.getvalue()
    assert "and so on" not in written.getvalue()  # it is one line, cut where the terminal ends


@pytest.mark.parametrize("quiet", [True, False])
def test_off_a_terminal_and_for_a_program_nothing_shows_how_far_something_is(quiet: bool) -> None:
    with output.under_way("looking at the sources", quiet=quiet) as (_, far):
        assert far is None


def test_what_is_watched_is_said_with_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    print_watched({"notes": 3600, "github:ann": 5400}, as_json=False)
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "Watching until Ctrl-C or SIGTERM:", "notes  whenever it changes, and every 1 h",
        "github:ann  every 1 h 30 min",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--plan", "--retry-failed"])
def test_a_watch_goes_with_no_option_that_is_for_one_run(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.ingest.settings_now", lambda: Settings(_env_file=None))
    done = CliRunner().invoke(app, ["ingest", "--watch", option])
    assert (done.exit_code, "--watch goes with neither" in done.stderr) == (2, True)
