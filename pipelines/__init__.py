"""Footnote's notebook surface: `ingest`, `build_query_engine`, `run_experiment` and their types, imported when used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from config.settings import Settings
    from pipelines.answers import Answer
    from pipelines.evaluation.experiment import run_experiment
    from pipelines.ingestion.run import ingest
    from pipelines.query.engine import QueryEngine, build_query_engine
    from pipelines.types import Filters, Turn

__all__ = ["Answer", "Filters", "QueryEngine", "Settings", "Turn", "build_query_engine", "ingest", "run_experiment"]
_HOMES = {
    "Answer": "pipelines.answers",
    "QueryEngine": "pipelines.query.engine",
    "Filters": "pipelines.types",
    "Settings": "config.settings",
    "Turn": "pipelines.types",
    "build_query_engine": "pipelines.query.engine",
    "ingest": "pipelines.ingestion.run",
    "run_experiment": "pipelines.evaluation.experiment",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pipelines' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
