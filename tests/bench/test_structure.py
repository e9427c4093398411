"""What counts as a heading or a cell that stands under its section."""

from pathlib import Path

import pytest

from pipelines.errors import SourceError
from tests.bench.structure import READERS, Stated, judged, kept, structure_json, structure_of

LOG = [Stated("Log", 1), Stated("Heat", 2), Stated("240"), Stated("Later", 2)]
HEAT, LATER = (["Log", "Heat"], "Heat: 240 degrees"), (["Log", "Later"], "Later")


def lost(stated: list[Stated], *nodes: tuple[list[str], str]) -> list[tuple[str, str]]:
    return [(each.stated.text, each.reason) for each in judged(stated, nodes) if not each.in_section]


def test_each_under_its_own_path_is_kept() -> None:
    assert lost(LOG, (["Log"], "Log"), HEAT, LATER) == []


def test_a_heading_that_opens_the_node_of_what_lies_below_it_is_kept() -> None:
    assert lost(LOG, (["Log", "Heat"], "Log\n\nHeat\n\n240 degrees"), LATER) == []


def test_a_later_part_of_a_section_below_does_not_hold_the_heading_above_it() -> None:
    assert lost([Stated("Log", 1), Stated("Heat", 2)], (["Log", "Heat"], "They kept a log.")) == [
        ("Log", "stands under log > heat"), ("Heat", "stands in no node"),
    ]  # fmt: skip


def test_what_stands_in_the_node_of_a_neighbour_is_not_under_its_path() -> None:
    merged = (["Log", "Later"], "Heat: 240 degrees\n\nLater")
    assert lost(LOG, (["Log"], "Log"), merged) == [
        ("Heat", "stands under log > later"), ("240", "stands under log > later"),
    ]  # fmt: skip


def test_what_stands_only_under_the_heading_above_is_not_under_its_path() -> None:
    merged = (["Log"], "Log\n\nHeat: 240 degrees\n\nLater")
    assert [text for text, _ in lost(LOG, merged)] == ["Heat", "240", "Later"]


def test_every_cell_needs_a_place_of_its_own() -> None:
    assert lost([Stated("240"), Stated("240")], ([], "| 240 | 2400 |")) == [("240", "stands under no heading")]
    assert lost([Stated("240"), Stated("240")], ([], "| 240 | 240 |")) == []


def test_titles_are_the_same_but_for_a_number_and_that_of_a_repetition() -> None:
    stated = [Stated("Log", 1), Stated("Use", 2), Stated("Use", 2)]
    assert lost(stated, (["1. LOG"], "1. LOG"), (["1. LOG", "Use"], "Use"), (["1. LOG", "Use (2)"], "Use")) == []
    assert lost(stated, (["Log"], "Log"), (["Log", "Use"], "Use")) == [("Use", "stands under log > use")]


def test_a_title_that_the_file_does_not_state_is_passed_over() -> None:
    assert lost(LOG[:3], (["Log"], "Log"), (["Log", "Heat", "Seen By Its Look"], "Heat, 240")) == []


def test_what_has_no_letter_is_found_by_its_marks() -> None:
    assert lost([Stated("->"), Stated("-")], ([], "| -> | - |")) == []
    assert lost([Stated("->")], ([], "| - |")) == [("->", "stands in no node")]


def test_a_value_may_be_shown_in_any_of_its_ways() -> None:
    assert lost([Stated("0.25", also=("25%",))], ([], "Share: 25%.")) == []


def test_a_heading_that_does_not_divide_the_text_is_above_nothing() -> None:
    stated = [Stated("Log", 1), Stated("Heat", 2, "in a cell"), Stated("240")]
    assert lost(stated, (["Log"], "Log | Heat | 240")) == [("Heat", "in a cell")]


def test_a_heading_too_long_for_a_title_is_told_as_such() -> None:
    title = "word " * 60
    assert lost([Stated(title, 1)], ([], title)) == [(title, "longer than 200 characters, and so a paragraph")]


def test_a_folder_is_judged_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Log\n\n| Day | Heat |\n|-|-|\n| one | 240 |\n\n> ## Quoted\n", encoding="utf-8")
    (tmp_path / "b.docx").write_bytes(b"no Word file")
    (tmp_path / "c.csv").write_text("Day;Heat\none;240\n", encoding="utf-8")
    report = structure_json(structure_of(tmp_path))
    assert report["files"] == 3
    assert report["totals"] == {
        "headings": 2, "headings_in_nodes": 2, "headings_in_section": 1,
        "cells": 4 + 4, "cells_in_nodes": 4 + 4, "cells_in_section": 4 + 4,
    }  # fmt: skip
    log, broken, table = report["documents"]
    assert [each["text"] for each in log["exceptions"]] == ["Quoted"]
    assert "b.docx" in broken["error"]
    assert table["parser"] == "generic"


def test_a_file_that_only_the_loader_can_read_is_an_error_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("# Café".encode("latin-1"))
    assert "can be loaded but not checked" in kept(path, "a.md").error


def test_a_folder_without_such_files_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no file of these formats"):
        structure_of(tmp_path)


def test_html_is_read_by_the_blocks_of_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<nav><h2>Menu</h2></nav><h1>Log</h1><table><tr><td><h3>In</h3>one <b>two</b><p>three</p></td>"
        "<td>a<table><tr><td>b</td></tr></table>c</td></tr></table>",
        encoding="utf-8",
    )
    read = [(each.level, each.text, bool(each.why)) for each in READERS[".html"](path)]
    assert sorted(read) == sorted([
        (2, "Menu", True), (1, "Log", False), (3, "In", True),
        (0, "one two", False), (0, "three", False), (0, "a", False), (0, "b", False), (0, "c", False),
    ])  # fmt: skip
