"""The report of a run: each outcome, the totals, what is passed over, and what stays at the sources."""

import pytest

from app.cli.ingest import RunResult, say_noted, say_sources_stay
from app.cli.output import render
from app.serialise import serialise
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.sources.base import Remark
from pipelines.types import IngestItem, IngestReport

NO_PLAN = Plan((), (), ())


def test_passed_over_and_stored_in_part_are_listed_apart_each_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = tuple(Remark(f"notes/{number}.xyz", "files of its kind are not read") for number in range(12))
    partial = (Remark("Handbook", "without its blocks: Notion refuses"),)
    plan = Plan((), left, (), partial=partial, empty=("file:///home/ann/new%20notes",))
    say_noted(plan)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert (lines[0], lines[1]) == ("12 skipped:", "notes/0.xyz: files of its kind are not read")
    assert lines[10:] == [
        "notes/9.xyz: files of its kind are not read", "and 2 more; --json lists all",
        "1 stored in part:", "Handbook: without its blocks: Notion refuses",
        "/home/ann/new notes holds no file of a supported type.",
    ]  # fmt: skip
    shown = serialise(RunResult(IngestReport(7, (), 0, 0, 0.0), plan))
    assert (len(shown["skipped"]), shown["skipped"][11]) == (12, "notes/11.xyz")
    assert shown["passed_over"][11] == {"name": "notes/11.xyz", "reason": "files of its kind are not read"}
    assert shown["empty"] == ["file:///home/ann/new%20notes"]
    assert shown["stored_in_part"] == [{"document": "Handbook", "reason": "without its blocks: Notion refuses"}]


def test_a_run_with_nothing_to_note_prints_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    say_noted(NO_PLAN)
    say_sources_stay([])
    assert capsys.readouterr().out == ""


def test_after_a_removal_the_ingest_that_takes_it_in_again_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    say_sources_stay(["github:Ann", "file:///home/ann/notes", "github:Ann", "notion:1", "https://a.example/"])
    (line,) = capsys.readouterr().out.splitlines()
    assert line == (
        "The sources stay as they are: the next `footnote ingest` of github:Ann, /home/ann/notes, notion:1 and 1 more "
        "ingests again what is there."
    )


def test_a_failure_is_named_once_and_one_node_is_no_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    items = (
        IngestItem("a.md", "added", nodes=1),
        IngestItem("b.md", "removed"),
        IngestItem("c.example/x", "failed", message="c.example/x is gone.", hint="Leave it."),
    )
    render(RunResult(IngestReport(7, items, 1, 1, 0.2), NO_PLAN))
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
        "added  a.md  (1 node)", "removed  b.md", "failed  c.example/x is gone. Leave it.",
        "1 added, 1 removed, 1 failed; 1 node, 1 embedded in 0.2 s (run 7)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("looked", "line"),
    [
        (0.4, "1 added; 2 nodes, 2 embedded in 27.3 s (run 7)"),
        (17.9, "1 added; 2 nodes, 2 embedded in 27.3 s, 17.9 s of them at the sources (run 7)"),
    ],
)
def test_the_last_line_of_a_run_names_the_seconds_at_its_sources(
    looked: float, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = IngestReport(7, (IngestItem("a.md", "added", nodes=2, embedded=2),), 2, 2, 27.3, looked=looked)
    result = RunResult(report, NO_PLAN)
    render(result)
    assert capsys.readouterr().out.splitlines()[-1] == line
    shown = serialise(result)
    assert (shown["seconds"], shown["seconds_at_sources"]) == (27.3, looked)
