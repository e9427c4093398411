from pathlib import Path

import pytest
from sqlalchemy import text

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ConfigError
from pipelines.evaluation.corpus import index_dataset
from pipelines.evaluation.datasets import load_beir, load_topics
from pipelines.evaluation.experiment import run_experiment
from pipelines.evaluation.portfolio import right_document
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.database import open_database
from tests.unit.evaluation.test_datasets import write_beir

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def own_databases(settings: Settings):
    yield
    with open_database(settings).engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        names = connection.execute(text("SELECT datname FROM pg_database WHERE datname LIKE 'footnote_eval_%'"))
        for name in names.scalars().all():
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.mark.usefixtures("own_databases")
def test_a_dataset_is_indexed_once_beside_the_users_documents_and_ranked(settings: Settings, tmp_path: Path) -> None:
    dataset = load_beir(write_beir(tmp_path / "harbour"))
    told: list[int] = []
    engine = index_dataset(settings, dataset, lambda done, _: told.append(done))
    assert told == [3]
    assert build_query_engine(settings).store.count() == 0
    found = run_experiment(engine, dataset, ["sparse", "default"], measures=["recall@5", "RR@1"], baseline="sparse")
    assert found.systems["sparse"] == {"recall@5": 1.0, "RR@1": 1.0}
    assert found.per_topic["default"].keys() == {"1", "2"}
    assert found.comparisons["default"]["RR@1"]["p"] == 1.0
    index_dataset(settings, dataset, lambda done, _: told.append(done))
    assert told == [3]


@pytest.mark.usefixtures("own_databases")
def test_an_unknown_system_is_refused_with_the_known_ones(settings: Settings, tmp_path: Path) -> None:
    dataset = load_beir(write_beir(tmp_path / "harbour"))
    with pytest.raises(ConfigError, match="hybrid-convex"):
        run_experiment(index_dataset(settings, dataset), dataset, ["psychic"])


def test_the_right_document_is_among_the_first_five_for_nine_of_ten_topics(make_settings) -> None:
    settings = make_settings(embedding=EmbeddingSettings(provider="local"))
    report = ingest(settings, [str(DATA / "sample")])
    assert report.count("failed") == 0
    engine = build_query_engine(settings)
    topics = [topic for topic in load_topics(DATA / "eval" / "topics.jsonl") if topic.answerable]
    found = [right_document(topic, engine.search(topic.question, top_n=5).results) for topic in topics]
    assert sum(found) / len(found) >= 0.9
