"""What the `bench` commands do: measure speed and memory, and print tables."""

from collections.abc import Sequence

from app import output
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
