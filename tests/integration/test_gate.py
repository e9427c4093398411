"""A significant fall of ranking fails here, with no key and no network; `make baseline` writes a meant one."""

from pathlib import Path

from config.settings import EmbeddingSettings
from pipelines.evaluation.gate import compare_gate, measure_gate, read_baseline

DATA = Path(__file__).parents[2] / "data"


def test_no_judged_set_of_the_project_fell_below_its_baseline(make_settings, own_databases: None) -> None:
    now = measure_gate(make_settings(embedding=EmbeddingSettings(provider="local")), DATA)
    verdicts = compare_gate(read_baseline(DATA / "eval" / "baseline.json"), now)
    assert [verdict for verdict in verdicts if verdict.change.fell] == []
