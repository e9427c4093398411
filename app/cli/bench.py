"""`footnote bench`: measure speed and memory, and print the figures."""

from typing import Annotated, Any

import typer

from app.cli import output
from app.cli.options import CategoryName, Json, argument, option, parser_names, settings_now
from app.cli.output import emit, render, say

group = typer.Typer(help="Measure speed and memory. Example: footnote bench parsing ~/portfolio", no_args_is_help=True)


class IngestBench(dict[str, Any]):
    """The figures of `pipelines.evaluation.ingest_bench`."""


@group.command("ingest")
def ingest_speed(
    folders: Annotated[
        list[str] | None,
        argument("Files and folders whose text the documents are made of; default: the sample."),
    ] = None,
    documents: Annotated[int, option("Number of small documents.", min=10, max=1_000_000)] = 10_000,
    as_json: Json = False,
) -> None:
    """Compare the speed of ingesting many small documents with embedding alone, and measure later runs.

    Everything happens in a home and its own database. Example: footnote bench ingest ~/blog --documents 2000
    """
    from app.settings import SAMPLE
    from pipelines.evaluation.ingest_bench import bench_ingest

    with output.progress(quiet=as_json) as advance:
        report = bench_ingest(settings_now(), folders or [str(SAMPLE)], documents=documents, on_progress=advance)
    emit(IngestBench(report), as_json)


@render.register(IngestBench)
def _render_ingest(report: IngestBench) -> None:
    first, pure, changed = report["first"], report["pure"], report["changed"]
    rows = [
        ["documents, nodes", f"{report['documents']:,}, {report['nodes']:,} ({report['failed']} failed)"],
        ["embedding alone", f"{pure['nodes_per_second']} nodes/s, {pure['seconds']} s"],
        ["first run", f"{first['nodes_per_second']} nodes/s, {first['documents_per_second']} documents/s, "
                      f"{first['seconds']} s"],
        ["times the floor", f"{report['ratio']:.1%} of embedding alone ({report['cpu_ratio']:.1%} by processor time)"],
        ["unchanged run", f"{report['unchanged']['seconds']} s, {report['unchanged']['embedded']} embedded"],
        ["one changed, found", f"{changed['seconds_until_a_running_process_finds_it']} s by a running process, "
                               f"{changed['seconds_until_a_new_process_finds_it']} s by a new one"],
        ["files gone", f"{report['gone']['removed']:,} removed in {report['gone']['seconds']} s"],
        ["remove --source", f"{report['removed']['removed']:,} removed in {report['removed']['seconds']} s"],
        ["peak memory", f"{report['peak_memory_mb']:.0f} MB, Postgres apart"],
    ]  # fmt: skip
    output.table("ingest", ["measure", "value"], rows)


class ParsingBench(dict[str, Any]):
    """The figures of `pipelines.evaluation.bench`."""


@group.command("parsing")
def parsing_speed(
    folders: Annotated[list[str], argument("Files and folders.")],
    parser: Annotated[
        str,
        typer.Option(help="Parse every file with this parser; default: as in ingestion.", autocompletion=parser_names),
    ] = "",
    category: Annotated[CategoryName | None, option("Treat every file as this category.")] = None,
    as_json: Json = False,
) -> None:
    """Measure how fast documents are read, loaded and parsed, and whether their nodes are exact and complete.

    Nothing is written and nothing embedded. Example: footnote bench parsing data/sample --json
    """
    settings = settings_now()
    from pipelines.evaluation.bench import bench_parsing
    from pipelines.ingestion.loaders import Limits

    given = settings.ingestion
    with output.progress(quiet=as_json) as advance:
        report = bench_parsing(
            folders,
            sizes=settings.parsing,
            limits=Limits(given.max_text_bytes, given.max_binary_bytes, given.max_pages),
            parser=parser,
            category=category or "",
            on_progress=advance,
        )
    emit(ParsingBench(report), as_json)


@render.register(ParsingBench)
def _render_parsing(report: ParsingBench) -> None:
    seconds, least = report["seconds"], report["least_coverage"]
    parsers = ", ".join(f"{name} {count:,}" for name, count in report["parsers"].items())
    rows = [
        ["documents", f"{report['documents']:,} of {report['files']:,} files ({parsers})"],
        ["nodes", f"{report['nodes']:,}"],
        ["documents a second", f"{report['documents_per_second']}"],
        ["seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in seconds.items())],
        [
            "times the floor",
            f"{report['floor_ratio']} (reading, decoding and canonical text: {report['floor_seconds']} s)",
        ],
        ["coverage", f"{report['coverage']:.4%}" if report["coverage"] is not None else "no text"],
        ["least coverage", f"{least['coverage']:.4%} ({least['document']})" if least["document"] else ""],
        ["span violations", str(report["span_violations"])],
        ["nodes over their limit", str(report["over_limit"])],
        ["peak memory", f"{report['peak_memory_mb']:.0f} MB"],
    ]
    output.table("load, classify and parse", ["measure", "value"], rows)
    for reason, count in report["failures"].items():
        say(f"{count} failed: {reason}", "yellow")
