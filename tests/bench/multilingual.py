"""Questions in German, French and Spanish about English documents: the right passage by each local embedding model.

    python -m tests.bench.multilingual PORTFOLIOS

PORTFOLIOS holds a folder of documents for each file of data/multilingual. Each is ingested with all-MiniLM-L6-v2 into a
home of its own, multilingual-e5-small is added as `footnote models add` does, and both search every question, and the
same questions in English where PORTFOLIOS/NAME/topics.jsonl has them. By model and language: the shares of questions
of whose quotes one overlaps the first passage, or one of the first five.
"""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from config.settings import Settings
from pipelines.evaluation.answers import FOUND, found_measures
from pipelines.evaluation.datasets import Topic, load_topics
from pipelines.ingestion.reindex import build_reembedding
from pipelines.ingestion.run import ingest
from pipelines.models.identity import LOCAL_MODEL, MULTILINGUAL, parse_model_name
from pipelines.query.engine import QueryEngine, build_engine_aside
from pipelines.store.database import open_database
from tests.bench import arguments, show

QUESTIONS = Path(__file__).parents[2] / "data" / "multilingual"
_DEPTH = 5
_Found = dict[tuple[str, str], list[dict[str, bool]]]


def in_english(topics: Sequence[Topic], portfolio: Path) -> list[Topic]:
    """The same topics as they were before the translation."""
    english = {topic.id: topic for topic in load_topics(portfolio / "topics.jsonl")}
    return [replace(english[name], id=f"en-{name}") for topic in topics if (name := topic.id[3:]) in english]


def engines(settings: Settings, documents: Path) -> dict[str, QueryEngine]:
    """An engine for each model over these documents."""
    ingest(settings, [str(documents)])
    filled = build_reembedding(settings, parse_model_name(settings, MULTILINGUAL)).run(lambda *_: None)
    assert not filled.failed, filled.failed
    database = open_database(settings)
    named = {name: parse_model_name(settings, name) for name in (LOCAL_MODEL, MULTILINGUAL)}
    return {name: build_engine_aside(settings, database, model) for name, model in named.items()}


def measure(portfolios: Path, home: Path) -> dict[str, Any]:
    """By model and language, the share of the questions of each measure."""
    found: _Found = defaultdict(list)
    misses = []
    for path in sorted(QUESTIONS.glob("*.jsonl")):
        topics = load_topics(path)
        settings = Settings(home=home / path.stem)
        for model, engine in engines(settings, portfolios / path.stem / "documents").items():
            for topic in (*topics, *in_english(topics, portfolios / path.stem)):
                results = engine.search(topic.question, top_n=_DEPTH, record=False).results
                measured = found_measures(topic, results)
                found[model, topic.id[:2]].append(measured)
                misses += [] if measured["success@5"] else [f"{model} {topic.id}"]
    rows = {f"{model} {language}": {name: round(fmean(row[name] for row in rows), 3) for name in FOUND}
            for (model, language), rows in sorted(found.items())}  # fmt: skip
    return {"measures": rows, "missed": misses}


if __name__ == "__main__":
    parser = arguments("multilingual", __doc__)
    parser.add_argument("portfolios", type=Path)
    with tempfile.TemporaryDirectory() as folder:
        show(measure(parser.parse_args().portfolios, Path(folder)))
