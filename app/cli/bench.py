"""`footnote bench`: measure speed and memory, and print the figures."""

from collections.abc import Sequence

from app.cli import output
from config.settings import Settings


def run_parsing(settings: Settings, folders: Sequence[str], *, parser: str, category: str, as_json: bool) -> None:
    """Load and parse the documents of these folders, and print how fast and how exactly that went."""
    from pipelines.evaluation.bench import bench_parsing
    from pipelines.ingestion.loaders import Limits

    given = settings.ingestion
    with output.progress(quiet=as_json) as advance:
        report = bench_parsing(
            folders,
            sizes=settings.parsing,
            limits=Limits(given.max_text_bytes, given.max_binary_bytes, given.max_pages),
            parser=parser,
            category=category,
            on_progress=advance,
        )
    if as_json:
        output.print_json(report)
        return
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
        output.say(f"{count} failed: {reason}", "yellow")


def run_ingest(settings: Settings, folders: Sequence[str], *, documents: int, as_json: bool) -> None:
    """Make small documents of these folders' text, ingest, change and remove them, and print what each cost."""
    from app.settings import SAMPLE
    from pipelines.evaluation.ingest_bench import bench_ingest

    with output.progress(quiet=as_json) as advance:
        report = bench_ingest(settings, folders or [str(SAMPLE)], documents=documents, on_progress=advance)
    if as_json:
        output.print_json(report)
        return
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
