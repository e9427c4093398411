"""The neighbours of what was found, read from the database."""

from collections.abc import Callable
from pathlib import Path

from config.settings import ParsingSettings, Settings
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.types import Filters

SENTENCE = "The {} was moved to the quay before the tide came in, and nobody noticed it until the evening. "
WORDS = ("lantern", "compass", "anchor", "barrel")
POST = (
    "# Port\n\n## Quay\n\n"
    + "\n\n".join(SENTENCE.format(word) * 2 for word in WORDS)
    + "\n\n## Town\n\nThe market sells apples.\n"
)


def test_neighbours_come_with_their_anchor_from_its_section_only(
    tmp_path: Path, make_settings: Callable[..., Settings]
) -> None:
    (tmp_path / "port.md").write_text(POST)
    sizes = ParsingSettings(markdown_target_words=30, markdown_max_words=40, markdown_overlap_words=0)
    settings = make_settings(parsing=sizes)
    ingest(settings, [str(tmp_path)])
    engine = build_query_engine(settings).with_changes({"factors.neighbours": 1, "factors.duplicates": False})

    results = engine.search("barrel", top_n=1).results
    assert [result.section_path[-1] for result in results] == ["Quay"] * len(results)
    assert "barrel" in results[0].text
    assert len(results) == 2
    assert "anchor" in results[1].text
    assert results[1].score == results[0].score

    [only] = engine.search("apples market", top_n=1).results
    assert only.section_path[-1] == "Town"
    assert engine.search("barrel", top_n=1, filters=Filters(phrase=("barrel",))).results[1:] == ()
