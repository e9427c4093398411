"""What people are told of a run beside its documents: what is passed over, and what stays at the sources."""

import pytest

from app.cli import output
from app.cli.ingest import noted_json, say_noted, say_sources_stay
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.sources.base import Remark


def test_what_is_passed_over_and_what_is_stored_in_part_are_told_apart_each_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = tuple(Remark(f"notes/{number}.xyz", "files of its kind are not read") for number in range(12))
    partial = (Remark("Handbook", "without its blocks: Notion refuses"),)
    plan = Plan((), left, (), partial=partial, empty=("file:///home/ann/new%20notes",))
    say_noted(plan)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert (lines[0], lines[1]) == ("12 passed over:", "notes/0.xyz: files of its kind are not read")
    assert lines[10:] == [
        "notes/9.xyz: files of its kind are not read", "and 2 more: --json has all",
        "1 stored in part:", "Handbook: without its blocks: Notion refuses",
        "Nothing that is read is in /home/ann/new notes.",
    ]  # fmt: skip
    shown = noted_json(plan)
    assert (len(shown["skipped"]), shown["skipped"][11]) == (12, "notes/11.xyz")
    assert shown["passed_over"][11] == {"name": "notes/11.xyz", "reason": "files of its kind are not read"}
    assert shown["empty"] == ["file:///home/ann/new%20notes"]
    assert shown["stored_in_part"] == [{"document": "Handbook", "reason": "without its blocks: Notion refuses"}]


def test_a_run_with_nothing_to_note_says_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    say_noted(Plan((), (), ()))
    say_sources_stay([])
    assert capsys.readouterr().out == ""


def test_after_a_removal_it_is_said_which_ingest_takes_it_in_again(capsys: pytest.CaptureFixture[str]) -> None:
    say_sources_stay(["github:Ann", "file:///home/ann/notes", "github:Ann", "notion:1", "https://a.example/"])
    (said,) = capsys.readouterr().out.splitlines()
    assert said == (
        "The sources stay as they are: the next `footnote ingest` of github:Ann, /home/ann/notes, notion:1 and 1 more "
        "ingests again what is there."
    )


def test_a_failure_is_told_once_and_one_node_is_no_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    blank = {"error": "", "hint": "", "nodes": 0}
    items = [
        {**blank, "document": "a.md", "outcome": "added", "nodes": 1},
        {**blank, "document": "b.md", "outcome": "removed"},
        {**blank, "document": "c.example/x", "outcome": "failed", "error": "c.example/x is gone.", "hint": "Leave it."},
    ]
    counts = dict.fromkeys(("added", "removed", "failed"), 1) | dict.fromkeys(("updated", "metadata", "unchanged"), 0)
    run = {"items": items, "nodes": 1, "embedded": 1, "seconds": 0.2, "seconds_at_sources": 0.0, "run_id": 7}
    output.print_ingest({**counts, **run})
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
        "added  a.md  (1 node)", "removed  b.md", "failed  c.example/x is gone. Leave it.",
        "1 added, 1 removed, 1 failed; 1 node, 1 embedded in 0.2 s (run 7)",
    ]  # fmt: skip
