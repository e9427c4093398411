import pytest
from sqlalchemy import text

from config.settings import Settings
from pipelines.evaluation.filtered import measure_filters
from pipelines.store import reads
from pipelines.store.database import open_database


@pytest.fixture
def own_databases(settings: Settings):
    yield
    with open_database(settings).engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        names = connection.execute(text("SELECT datname FROM pg_database WHERE datname LIKE 'footnote_eval_filters_%'"))
        for name in names.scalars().all():
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))


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
