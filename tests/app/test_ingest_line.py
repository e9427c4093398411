"""The last line of an ingest: what became of how many documents, and how long that took."""

from typing import Any

import pytest

from app.cli import output
from app.cli.ingest import ingest_json
from pipelines.types import IngestItem, IngestReport


@pytest.mark.parametrize(
    ("looked", "said"),
    [
        (0.4, "1 added; 2 nodes, 2 embedded in 27.3 s (run 7)"),
        (17.9, "1 added; 2 nodes, 2 embedded in 27.3 s, 17.9 s of them at the sources (run 7)"),
    ],
)
def test_it_says_how_much_of_its_time_a_run_was_at_its_sources(
    looked: float, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = IngestReport(7, (IngestItem("a.md", "added", nodes=2, embedded=2),), 2, 2, 27.3, looked=looked)
    shown: dict[str, Any] = ingest_json(report)
    output.print_ingest(shown)
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert (shown["seconds"], shown["seconds_at_sources"]) == (27.3, looked)
