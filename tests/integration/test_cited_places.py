from collections.abc import Callable
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from config.settings import Settings
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine

PAGES = [
    ["Anna Brunt keeps the tide tables of Leith in oilcloth.", "She writes them twice a year."],
    ["The harbour clock was mended by Tomas Reed.", "It had stood still for eleven years."],
]
NOTES = "# Boats\n\nThe skiff is blue.\nThe skiff was built by Oskar Lunde.\n\nThe oars are of ash.\n"


def test_a_citation_names_the_page_or_the_lines_of_its_own_words(
    tmp_path: Path, make_settings: Callable[..., Settings]
) -> None:
    canvas = Canvas(str(tmp_path / "clock.pdf"))
    for lines in PAGES:
        for place, line in enumerate(lines):
            canvas.drawString(72, 720 - 16 * place, line)
        canvas.showPage()
    canvas.save()
    (tmp_path / "boats.md").write_text(NOTES)
    settings = make_settings()
    ingest(settings, [str(tmp_path)])
    engine = build_query_engine(settings)
    for question, words, page, line in (
        ("Who mended the harbour clock?", "Tomas Reed", 2, None),
        ("Who keeps the tide tables of Leith?", "Anna Brunt", 1, None),
        ("Who built the skiff?", "Oskar Lunde", None, 4),
    ):
        answer = engine.ask(question, record=False)
        cited = [found for said in answer.sentences for found in said.evidence if words in found.quote]
        assert [found.page for found in cited] == [page], question
        assert line is None or [(found.line_start, found.line_end) for found in cited] == [(line, line)]
