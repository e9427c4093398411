"""`footnote status`: the coverage of every document and source, and what failed and why."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import output
from app.cli.options import EXIT_FAILED_DOCUMENTS, Json, option, settings_now
from app.cli.output import ListEntry, emit, print_entries, render, say
from pipelines.store.originals import named_place
from pipelines.wording import format_count, labelled_message, with_hint, without_label

if TYPE_CHECKING:
    from config.settings import Settings
    from pipelines.store.database import Database
    from pipelines.store.documents import StoredDocument

verbs = typer.Typer()
_MANY = 200  # documents, of which a terminal shows a summary instead
_SOURCES = 50  # of which a terminal shows no more
_FAILED = ("failed", "stale")
_RESULTS = {"ok": "ok", "failed": "some failed", "unlisted": "not all listed"}


@dataclass(frozen=True, slots=True)
class Status:
    """The coverage of documents and sources; `everything` shows each document even of many."""

    documents: Sequence[Mapping[str, Any]]
    sources: Sequence[Mapping[str, Any]]
    totals: Mapping[str, Any]
    everything: bool


@verbs.command()
def status(
    failed: Annotated[bool, option("Show only failures.", "--failed")] = False,
    collection: Annotated[str, option("Show only this collection.")] = "",
    everything: Annotated[bool, option("Show every document, however many there are.", "--all")] = False,
    as_json: Json = False,
) -> None:
    """Show every document and source with its coverage, failures and their reasons; exit code 4 if one failed.

    Example: footnote status --failed
    """
    settings = settings_now()
    from pipelines.store.database import open_database
    from pipelines.store.fetch_cache import listed_at
    from pipelines.store.known_values import assert_collection
    from pipelines.store.status import coverage

    database = open_database(settings)
    if collection:
        assert_collection(database.engine, collection)
    report = coverage(
        database, outdated=outdated_in(settings, database), looks=listed_at(settings.home), collection=collection
    )
    rows = [row for row in report["documents"] if not failed or row["state"] in _FAILED]
    sources = [source for source in report["sources"] if not failed or source["failed"]]
    code = EXIT_FAILED_DOCUMENTS if report["totals"]["failed"] else 0
    emit(Status(rows, sources, report["totals"], everything), as_json, code)


@render.register(Status)
def _render_status(status: Status) -> None:
    rows, totals = status.documents, status.totals
    if len(rows) > _MANY and not status.everything and output.console.is_terminal:
        _say_summary(rows)
    else:
        several = ["collection"] if len({row["collection"] for row in rows}) > 1 else []
        entries = [
            ListEntry(
                [row["state"], row["nodes"], f"{row['coverage']:.1%}", (row["last_success"] or "never")[:10],
                 row["category"], *(row[name] for name in several), row["document"]],
                with_hint(without_label(row["document"], row["reason"]), row["hint"]),
                "red" if row["state"] in _FAILED else "yellow",
            )
            for row in rows
        ]  # fmt: skip
        print_entries(["state", "nodes", "coverage", "last success", "category", *several, "document"], entries)
    if status.sources:
        _say_sources(status.sources)
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
    say(", ".join(parts), "bold")


def _say_summary(rows: Sequence[Mapping[str, Any]]) -> None:
    """Documents and nodes by category, the number of documents with each reason, and every failure."""
    stored = [row for row in rows if row["id"]]
    documents, nodes = Counter(row["category"] for row in stored), Counter[str]()
    for row in stored:
        nodes[row["category"]] += row["nodes"]
    shown = [[name, f"{count:,}", f"{nodes[name]:,}"] for name, count in documents.most_common()]
    output.table("", ["category", "documents", "nodes"], shown)
    reasons = Counter(row["reason"] for row in stored if row["reason"] and row["state"] not in _FAILED)
    for reason, count in reasons.most_common(10):
        say(f"{count:,} x {reason}", "yellow")
    for row in rows:
        if row["state"] in _FAILED:
            say(f"{row['state']:>9}  {labelled_message(row['document'], row['reason'], row['hint'])}", "red")
    say("--all shows every document, --failed only failures.", "dim")


def _say_sources(sources: Sequence[Mapping[str, Any]]) -> None:
    """The number of documents that each source holds, and the result of its last listing."""
    entries = []
    for source in sources:
        result = _RESULTS[source["result"]]
        if source["result"] == "unlisted" and not source["documents"]:
            result = "not listed"
        looked = output.local_time(source["last_look"]) if source["last_look"] else ""
        cells = [source["documents"], source["failed"], looked, result, named_place(source["source"])]
        entries.append(ListEntry(cells))
    say("")
    print_entries(["documents", "failed", "last look", "result", "source"], entries, most=_SOURCES)
    if any(source["result"] == "unlisted" for source in sources):
        say(
            "What could not be listed is asked again by `footnote ingest --retry-failed`, and forgotten by "
            "`footnote remove --source SOURCE`.",
            "dim",
        )
    say("")


def outdated_in(settings: "Settings", database: "Database") -> "Callable[[StoredDocument], str]":
    """A function that gives the reason why a document's nodes are not as today's rules make them; empty if they are."""
    from pipelines.ingestion.change_detection import recipe_changes
    from pipelines.ingestion.context_header import build_header_writer
    from pipelines.ingestion.loaders import loader_version
    from pipelines.ingestion.prepare import PrepareOptions
    from pipelines.models.identity import identity
    from pipelines.store.embedding_models import active_model

    model = active_model(database.engine) or identity(settings)
    writer = build_header_writer(settings, database.engine)
    options = PrepareOptions.of(settings, model.slug, writer.recipe if writer else "")
    today = cache(options.recipe)

    def outdated(document: "StoredDocument") -> str:
        if not document.indexed_sha:
            return ""
        return recipe_changes(document.recipe, today(document.parser, loader_version(document)))

    return outdated
