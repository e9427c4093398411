"""`footnote status`: the coverage of every document, and what failed and why."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from app.cli import output
from app.cli.options import EXIT_FAILED_DOCUMENTS
from app.cli.output import Entry, print_entries
from config.settings import Settings
from pipelines.store.originals import named_place
from pipelines.wording import format_count, labelled_message, with_hint, without_label

if TYPE_CHECKING:
    from pipelines.store.database import Database
    from pipelines.store.documents import StoredDocument


_MANY = 200  # documents, of which a terminal shows a summary instead
_SOURCES = 50  # of which a terminal shows no more
_FAILED = ("failed", "stale")


def show_status(settings: Settings, *, failed: bool, everything: bool, as_json: bool) -> None:
    """Print the coverage; exit 4 when a document or the listing of a source failed the last time it was tried."""
    from pipelines.store.database import open_database
    from pipelines.store.fetch_cache import listed_at
    from pipelines.store.status import coverage

    database = open_database(settings)
    report = coverage(database, outdated=outdated_in(settings, database), looks=listed_at(settings.home))
    totals, rows, sources = report["totals"], report["documents"], report["sources"]
    if failed:
        rows = [row for row in rows if row["state"] in _FAILED]
        sources = [source for source in sources if source["failed"]]
    if as_json:
        output.print_json({"documents": rows, "sources": sources, "totals": totals})
    else:
        if len(rows) > _MANY and not everything and output.console.is_terminal:
            _print_summary(rows)
        else:
            _print_rows(rows)
        _print_sources(sources)
        _print_totals(totals)
    if totals["failed"]:
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def outdated_in(settings: Settings, database: "Database") -> "Callable[[StoredDocument], str]":
    """Says of a document why its nodes are not as today's rules would make them; empty where they are."""
    from pipelines.ingestion.change_detection import recipe_changes
    from pipelines.ingestion.context_header import build_header_writer
    from pipelines.ingestion.prepare import PrepareOptions
    from pipelines.models.identity import identity
    from pipelines.store.embedding_models import active_model

    model = active_model(database.engine) or identity(settings)
    writer = build_header_writer(settings, database.engine)
    options = PrepareOptions.of(settings, model.slug, writer.recipe if writer else "")
    today: dict[str, str] = {}

    def outdated(document: "StoredDocument") -> str:
        if not document.indexed_sha:
            return ""
        if document.parser not in today:
            today[document.parser] = options.recipe(document.parser)
        return recipe_changes(document.recipe, today[document.parser])

    return outdated


def _print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    cells = [
        [
            row["state"], row["nodes"], f"{row['coverage']:.1%}", (row["last_success"] or "never")[:10],
            row["category"], row["document"],
        ]
        for row in rows
    ]  # fmt: skip
    styles = ["red" if row["state"] in _FAILED else "yellow" for row in rows]
    columns = ["state", "nodes", "coverage", "last success", "category", "document"]
    print_entries(columns, [Entry(*each) for each in zip(cells, map(_reason, rows), styles, strict=True)])


_RESULTS = {"ok": "ok", "failed": "some failed", "unlisted": "not all listed"}


def _print_sources(sources: Sequence[Mapping[str, Any]]) -> None:
    """What each source holds, and what came of the last look at it."""
    if not sources:
        return
    output.say("")
    cells = [
        [
            source["documents"], source["failed"], output.moment(source["last_look"]) if source["last_look"] else "",
            _result(source), named_place(source["source"]),
        ]
        for source in sources
    ]  # fmt: skip
    columns = ["documents", "failed", "last look", "result", "source"]
    print_entries(columns, [Entry(row) for row in cells], most=_SOURCES)
    if any(source["result"] == "unlisted" for source in sources):
        output.say(
            "What could not be listed is asked again by `footnote ingest --retry-failed`, and forgotten by "
            "`footnote remove --source SOURCE`.",
            "dim",
        )
    output.say("")


def _result(source: Mapping[str, Any]) -> str:
    if source["result"] == "unlisted" and not source["documents"]:
        return "not listed"
    return _RESULTS[source["result"]]


def _print_summary(rows: Sequence[Mapping[str, Any]]) -> None:
    """Documents and nodes by category, how many have which reason, and every failure."""
    stored = [row for row in rows if row["id"]]
    documents, nodes = Counter(row["category"] for row in stored), Counter[str]()
    for row in stored:
        nodes[row["category"]] += row["nodes"]
    shown = [[name, f"{count:,}", f"{nodes[name]:,}"] for name, count in documents.most_common()]
    output.table("", ["category", "documents", "nodes"], shown)
    reasons = Counter(row["reason"] for row in stored if row["reason"] and row["state"] not in _FAILED)
    for reason, count in reasons.most_common(10):
        output.say(f"{count:,} x {reason}", "yellow")
    for row in rows:
        if row["state"] in _FAILED:
            output.say(f"{row['state']:>9}  {labelled_message(row['document'], row['reason'], row['hint'])}", "red")
    output.say("--all shows every document, --failed what failed.", "dim")


def _reason(row: Mapping[str, Any]) -> str:
    return with_hint(without_label(row["document"], row["reason"]), row["hint"])


def _print_totals(totals: Mapping[str, Any]) -> None:
    parts = [
        f"{totals['indexed']:,} of {format_count(totals['documents'], 'document')} indexed",
        format_count(totals["nodes"], "node"),
        f"{totals['coverage']:.1%} of the characters covered",
        f"{totals['failed']:,} failed",
    ]
    if totals["pages_without_text"]:
        parts.append(f"{format_count(totals['pages_without_text'], 'page')} without text")
    if totals["outdated"]:
        parts.append(f"{totals['outdated']:,} parsed by older rules")
    output.say(", ".join(parts), "bold")
