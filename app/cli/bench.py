"""`footnote bench`: measure speed and memory, and print the figures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli import output
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import emit, render, say

group = typer.Typer(help="Measure speed and memory. Example: footnote bench parsing ~/portfolio", no_args_is_help=True)
Locations = Annotated[list[str], argument("Files and folders.")]


class IngestBench(dict[str, Any]):
    """The figures of `bench_ingest`."""


@group.command("ingest")
def ingest_speed(locations: Locations, as_json: Json = False) -> None:
    """Measure how fast documents are ingested, and how fast a second run finds that nothing changed.

    Everything happens in a home and a database of its own. Example: footnote bench ingest data/sample
    """
    settings = settings_now()
    from pipelines.evaluation.bench import bench_ingest

    with output.progress(quiet=as_json) as advance:
        report = bench_ingest(settings, locations, advance)
    emit(IngestBench(report), as_json)


@render.register(IngestBench)
def _render_ingest(report: IngestBench) -> None:
    rows = [
        ["documents, nodes", f"{report['documents']:,} ({report['failed']} failed), {report['nodes']:,}"],
        ["first run", f"{report['seconds']} s, {report['documents_per_second']} documents/s, "
                      f"{report['nodes_per_second']} nodes/s"],
        ["unchanged run", f"{report['unchanged']['seconds']} s, {report['unchanged']['embedded']} embedded"],
        ["peak memory", f"{report['peak_memory_mb']:.0f} MB, workers and Postgres apart"],
    ]  # fmt: skip
    output.table("ingest", ["measure", "value"], rows)


class AskBench(dict[str, Any]):
    """The figures of `bench_ask`."""


@group.command("ask")
def ask_speed(
    topics: Annotated[Path | None, argument("A topics file; default: that of the sample.")] = None,
    limit: Annotated[int, option("At most this many questions, from the first.", min=1)] = 40,
    as_json: Json = False,
) -> None:
    """Measure how long a warm search and a warm ask take over the ingested documents; nothing is logged.

    Example: footnote bench ask --limit 10
    """
    settings = settings_now()
    from app.settings import SAMPLE
    from pipelines.evaluation.bench import bench_ask
    from pipelines.evaluation.datasets import load_topics
    from pipelines.query.engine import build_query_engine

    questions = [topic.question for topic in load_topics(topics or SAMPLE.parent / "eval" / "topics.jsonl")][:limit]
    with output.progress(quiet=as_json) as advance:
        emit(AskBench(bench_ask(build_query_engine(settings), questions, advance)), as_json)


@render.register(AskBench)
def _render_ask(report: AskBench) -> None:
    rows = [[name, times["p50"], times["p95"]] for name, times in report["milliseconds"].items()]
    output.table(f"{report['questions']} questions, milliseconds", ["", "p50", "p95"], rows)
    say(f"an ask takes {report['ratio']} times a search", "bold")


class ParsingBench(dict[str, Any]):
    """The figures of `bench_parsing`."""


@group.command("parsing")
def parsing_speed(locations: Locations, as_json: Json = False) -> None:
    """Measure how fast documents are read, loaded and parsed, and whether their nodes are exact and complete.

    Nothing is written and nothing embedded. Example: footnote bench parsing data/sample --json
    """
    settings = settings_now()
    from pipelines.evaluation.bench import bench_parsing
    from pipelines.ingestion.loaders import Limits

    given = settings.ingestion
    limits = Limits(given.max_text_bytes, given.max_binary_bytes, given.max_pages)
    with output.progress(quiet=as_json) as advance:
        report = bench_parsing(locations, sizes=settings.parsing, limits=limits, on_progress=advance)
    emit(ParsingBench(report), as_json)


@render.register(ParsingBench)
def _render_parsing(report: ParsingBench) -> None:
    least, coverage = report["least_coverage"], report["coverage"]
    parsers = ", ".join(f"{name} {count:,}" for name, count in report["parsers"].items())
    seconds = ", ".join(f"{stage} {spent:.2f}" for stage, spent in report["seconds"].items())
    floor = f"{report['floor_ratio']} (reading, decoding and canonical text: {report['floor_seconds']} s)"
    rows = [
        ["documents", f"{report['documents']:,} of {report['files']:,} files ({parsers})"],
        ["nodes", f"{report['nodes']:,}"],
        ["documents a second", report["documents_per_second"]],
        ["seconds", seconds],
        ["times the floor", floor],
        ["coverage", f"{coverage:.4%}" if coverage is not None else "no text"],
        ["least coverage", f"{least['coverage']:.4%} ({least['document']})" if least["document"] else ""],
        ["span violations", report["span_violations"]],
        ["nodes over their limit", report["over_limit"]],
        ["peak memory", f"{report['peak_memory_mb']:.0f} MB"],
    ]
    output.table("load, classify and parse", ["measure", "value"], rows)
    for reason, count in report["failures"].items():
        say(f"{count} failed: {reason}", "yellow")
