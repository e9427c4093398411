"""`footnote bench`: measure speed and memory."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli import output
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import Report, emit
from pipelines.loading import loading

group = typer.Typer(help="Measure speed and memory. Example: footnote bench ingest ~/portfolio", no_args_is_help=True)


@group.command("ingest")
def ingest_speed(locations: Annotated[list[str], argument("Files and folders.")], as_json: Json = False) -> None:
    """Measure how fast documents are planned and ingested, and how fast a second run finds that nothing changed.

    The plan and the second run are compared with a floor: reading the size and the hash of each file.
    Everything happens in a home and a database of its own. Example: footnote bench ingest data/sample
    """
    settings = settings_now()
    with loading():
        from pipelines.evaluation.bench import bench_ingest
    with output.progress(quiet=as_json) as advance:
        report = bench_ingest(settings, locations, advance)
    emit(Report(report), as_json)


@group.command("ask")
def ask_speed(
    topics: Annotated[Path | None, argument("A topics file; default: that of the sample.")] = None,
    limit: Annotated[int, option("At most this many questions, from the first.", min=1)] = 40,
    as_json: Json = False,
) -> None:
    """Measure how long a warm search and a warm ask take over the ingested documents, beside their floor.

    The floor is the question's vector, the SQL of the vector index and the look-up in the BM25 index alone. Nothing is
    logged.

    Example: footnote bench ask --limit 10
    """
    settings = settings_now()
    from app.settings import SAMPLE
    from pipelines.evaluation.bench import bench_ask
    from pipelines.evaluation.datasets import load_topics
    from pipelines.query.engine import build_query_engine

    questions = [topic.question for topic in load_topics(topics or SAMPLE.parent / "eval" / "topics.jsonl")][:limit]
    with output.progress(quiet=as_json) as advance:
        report = bench_ask(build_query_engine(settings), questions, advance)
    emit(Report(report), as_json)
