import pytest

from config.settings import Settings
from pipelines.store import node_reader as reads
from tests.bench.filters import measure_filters


@pytest.mark.usefixtures("own_databases")
@pytest.mark.parametrize("exact_below", [5000, 0], ids=["compared one by one", "through the index"])
def test_a_filtered_search_finds_what_an_exact_scan_finds(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, exact_below: int
) -> None:
    monkeypatch.setattr(reads, "EXACT_BELOW", exact_below)
    told: list[tuple[int, int]] = []
    report = measure_filters(settings, 400, 30, on_progress=lambda done, total: told.append((done, total)))
    assert (report["nodes"], report["filters"], told[-1]) == (400, 30, (20, 20))
    assert report["agreement"] >= 0.98
    again = measure_filters(settings, 400, 30)
    assert again["agreement"] == report["agreement"]
