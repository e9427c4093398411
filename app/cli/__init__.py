"""The `footnote` command: a thin shell over pipelines. Heavy imports live inside the commands."""

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from app.cli.evaluation_verbs import bench, evaluate
from app.cli.options import (
    PART_NAMES,
    Author,
    Category,
    CategoryName,
    Collection,
    DocumentNamed,
    Json,
    Kind,
    PlanOnly,
    Since,
    Until,
    Year,
    filters_of,
    parser_names,
    parts_of,
    settings_now,
)
from app.cli.signals import STOPPED, STOPPED_WHOLE, ending_well
from app.cli.verbs import db, feedback, models

if TYPE_CHECKING:
    from pipelines.errors import FootnoteError

app = typer.Typer(
    name="footnote",
    help="Ask a body of work questions; every sentence of an answer carries a checked footnote. "
    "Example: footnote ask 'What caused the 2021 outage?'",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _group in (("db", db), ("models", models), ("eval", evaluate), ("bench", bench), ("feedback", feedback)):
    app.add_typer(_group, name=_name)

_IN_PARTS = (("ingest",), ("reindex",), ("models", "add"))  # the same command goes on from where it was stopped


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"footnote {version('footnote')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run the command line; errors become one sentence and the exit code that DESIGN.md gives them."""
    from pipelines.errors import FootnoteError

    in_parts = any(sys.argv[1 : 1 + len(verb)] == list(verb) for verb in _IN_PARTS)
    stopped = ending_well(STOPPED if in_parts else STOPPED_WHOLE)
    try:
        app(prog_name="footnote", standalone_mode=True)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if code := stopped():  # libraries that are interrupted while they load make other errors of it
            sys.exit(code)
        if not isinstance(error, FootnoteError):
            raise
        _report(error)
        sys.exit(exit_code(error))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is registered for the exit takes a moment, and is done
    sys.exit(0)


def exit_code(error: "FootnoteError") -> int:
    """3 for configuration, 5 for a service that cannot be reached, 2 for what the caller got wrong, else 1."""
    from pipelines.errors import ConfigError, ModelError, PackError, RetrievalError, ServiceUnavailable, SourceError

    if isinstance(error, ConfigError):
        return 3
    if isinstance(error, (ServiceUnavailable, ModelError)):
        return 5
    return 2 if isinstance(error, (RetrievalError, SourceError, PackError)) else 1


def _report(error: "FootnoteError") -> None:
    from app.cli.output import print_json, warn
    from pipelines.wording import with_hint

    if "--json" in sys.argv:
        print_json({"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}})
    warn(with_hint(error.message, error.hint), "red")


@app.command()
def ingest(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, folders, github:OWNER, github:OWNER/REPO, notion:ID, https://...; none = as the settings say."
        ),
    ] = None,
    plan: PlanOnly = False,
    collection: Annotated[str, typer.Option(help="Put the documents into this collection.")] = "",
    category: Annotated[CategoryName | None, typer.Option(help="Say what the documents are; it is remembered.")] = None,
    visibility: Annotated[
        Literal["public", "private"] | None, typer.Option(help="Who may see them; it is remembered.")
    ] = None,
    parser: Annotated[
        str,
        typer.Option(
            help="Parse with this parser, e.g. markdown, window; it is remembered.", autocompletion=parser_names
        ),
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Read everything, even what is said to be as it was.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove even more than a fifth of a source.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try only what failed the last time; without sources, all of that.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Go on until Ctrl-C: whenever a folder changed, and at times for other sources."),
    ] = False,
    executor: Annotated[
        Literal["local", "here", "ray"] | None,
        typer.Option(help="Read files in worker processes, in this one, or on a Ray cluster; else as set."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=0, help="How many processes; 0 = one for each core, at most 8.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Bring documents in; what did not change costs nothing. Ctrl-C or SIGTERM ends it after what is under way.

    Example: footnote ingest ~/portfolio --plan

    Example: footnote ingest github:ann notion:0123456789abcdef https://example.com/feed.xml

    Example: footnote ingest ~/portfolio github:ann --watch --json (JSON lines: what is watched, then what is new)
    """
    from app.cli.ingest import IngestOptions, run_ingest, run_watch
    from app.settings import with_executor
    from pipelines.ingestion.run import Overrides
    from pipelines.ingestion.sources.locations import unique_locations

    overrides = Overrides(collection, category or "", visibility or "", parser)
    settings = with_executor(settings_now(), executor, workers)
    locations = unique_locations(
        sources or (), settings.web.private_hosts
    )  # or say what can never be one, before a run
    (run_watch if watch else run_ingest)(
        settings, locations, overrides, IngestOptions(plan, verify, yes, retry_failed, as_json)
    )


@app.command()
def status(
    failed: Annotated[bool, typer.Option("--failed", help="Show only what failed.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every document, even of many.")] = False,
    as_json: Json = False,
) -> None:
    """Coverage: every document and source, what failed and why; exit code 4 when something did.

    Example: footnote status --failed
    """
    from app.cli.status import show_status

    show_status(settings_now(), failed=failed, everything=everything, as_json=as_json)


@app.command()
def search(
    question: str,
    mode: Annotated[Literal["hybrid", "dense", "sparse"] | None, typer.Option(help="Which legs search.")] = None,
    top_n: Annotated[
        int | None, typer.Option("--top-n", "-n", min=1, max=100, help="How many passages; else as set.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every candidate and what became of it.")] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            callback=parts_of,
            help="What if: search also without this part, and show what moves; may be repeated. The log keeps only "
            f"the search as set. Parts: {', '.join(PART_NAMES)}.",
        ),
    ] = None,
    collection: Collection = None,
    category: Category = None,
    kind: Kind = None,
    year: Year = None,
    author: Author = None,
    since: Since = "",
    until: Until = "",
    document: DocumentNamed = None,
    as_json: Json = False,
) -> None:
    """Find the best passages, without writing an answer.

    Example: footnote search "Kubernetes experience" --category resume --explain --without recency
    """
    from app.cli.search import SearchOptions, run_search

    filters = filters_of(
        collection=collection,
        category=category,
        kind=kind,
        year=year,
        author=author,
        since=since,
        until=until,
        document=document,
    )
    options = SearchOptions(mode, top_n, explain, tuple(without or ()), as_json)
    run_search(settings_now(), question, filters, options)


@app.command()
def trace(
    query: Annotated[str, typer.Argument(metavar="[ID]", help="Or the beginning of one; none = the latest.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many of the latest.")] = 20,
    as_json: Json = False,
) -> None:
    """Show how a past query went: every candidate, score and decision; without ID, list the latest.

    Example: footnote trace 3fa1
    """
    from app.cli.search import show_trace

    show_trace(settings_now(), query, limit=limit, as_json=as_json)


@app.command()
def ask(
    question: str,
    no_stream: Annotated[bool, typer.Option("--no-stream", help="Print the answer when it is finished.")] = False,
    pack: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Keep the answer with all that it takes to check it, as FILE.md for people and FILE.json for "
            "programs and `footnote replay`; a FILE that ends with .zip holds both.",
        ),
    ] = "",
    collection: Collection = None,
    category: Category = None,
    kind: Kind = None,
    year: Year = None,
    author: Author = None,
    since: Since = "",
    until: Until = "",
    document: DocumentNamed = None,
    as_json: Json = False,
) -> None:
    """Answer a question with a checked footnote under every sentence.

    Example: footnote ask "What caused the 2021 outage?"
    """
    from app.cli.ask import run_ask

    filters = filters_of(
        collection=collection,
        category=category,
        kind=kind,
        year=year,
        author=author,
        since=since,
        until=until,
        document=document,
    )
    run_ask(settings_now(), question, filters, stream=not no_stream, pack=pack, as_json=as_json)


@app.command()
def replay(
    pack: Annotated[str, typer.Argument(metavar="FILE", help="What `footnote ask --pack FILE` or the chat wrote.")],
    as_json: Json = False,
) -> None:
    """Ask the question of an answer pack again, and say what changed and why; the query log does not learn of it.

    Example: footnote replay outage.json
    """
    from app.cli.ask import show_replay

    show_replay(settings_now(), pack, as_json=as_json)


@app.command()
def facts(
    collection: Collection = None,
    category: Category = None,
    kind: Kind = None,
    year: Year = None,
    author: Author = None,
    since: Since = "",
    until: Until = "",
    document: DocumentNamed = None,
    as_json: Json = False,
) -> None:
    """Show careers as the documents state them, and how long: in all, by company, title word and skill.

    Example: footnote facts --document resume.pdf --json
    """
    from app.cli.facts import show_facts

    show_facts(
        settings_now(),
        filters_of(
            collection=collection,
            category=category,
            kind=kind,
            year=year,
            author=author,
            since=since,
            until=until,
            document=document,
        ),
        as_json=as_json,
    )


@app.command()
def chat(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Where to listen; the next free port when it is taken.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Ingest data/sample first when nothing is ingested.")
    ] = False,
    headless: Annotated[bool, typer.Option("--headless", help="Do not open a browser.")] = False,
) -> None:
    """Open the chat in the browser.

    Example: footnote chat --port 8600
    """
    from app.cli.chat import run_chat

    run_chat(settings_now(), port=port, sample=sample, headless=headless)


@app.command()
def remove(
    documents: Annotated[list[str] | None, typer.Argument(help="Ids, names or titles.")] = None,
    source: Annotated[str, typer.Option(help="Remove everything that came from this file, folder or source.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove documents with all that was derived from them; what failed and is not stored is forgotten.

    Example: footnote remove resume.pdf

    Example: footnote remove --source github:ann
    """
    from app.cli.runs import run_remove

    run_remove(settings_now(), documents or [], source, yes=yes, as_json=as_json)


@app.command()
def reindex(
    source: Annotated[str, typer.Option(help="Only what came from this file, folder or source, gone or not.")] = "",
    plan: PlanOnly = False,
    as_json: Json = False,
) -> None:
    """Load the stored originals again: parse and embed with today's settings; until then the old nodes serve.

    Example: footnote reindex --plan
    """
    from app.cli.runs import run_reindex

    run_reindex(settings_now(), source, plan_only=plan, as_json=as_json)


@app.command()
def runs(
    run: Annotated[int | None, typer.Argument(metavar="[ID]", help="Show what became of each document of it.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many of the last runs, or days.")] = 20,
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="Show how much there was at the end of each day instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The ingest log: every run, what it did, how fast, and what failed and why.

    Example: footnote runs 7 --json
    """
    from app.cli.runs import show_runs

    show_runs(settings_now(), run, limit=limit, snapshots=snapshots, as_json=as_json)


@app.command()
def rollback(
    run: Annotated[int, typer.Argument(metavar="RUN_ID", help="As `footnote runs` lists it.")],
    plan: PlanOnly = False,
    keep_later: Annotated[
        bool, typer.Option("--keep-later", help="Leave documents alone that later runs changed again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, on a terminal.")] = False,
    as_json: Json = False,
) -> None:
    """Undo a run: bring its documents back to what they were before it; a rollback can be undone, too.

    Example: footnote rollback 7 --plan
    """
    from app.cli.runs import run_rollback

    run_rollback(settings_now(), run, plan_only=plan, keep_later=keep_later, yes=yes, as_json=as_json)


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Run the safe repairs.")] = False,
    sweep: Annotated[bool, typer.Option("--sweep", help="Delete kept files that nothing needs; asks.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Check everything below, and print the command that mends each finding.

    Example: footnote doctor --fix
    """
    from app.cli.maintenance import run_doctor, sweep_home

    if sweep:
        sweep_home(settings_now(), yes=yes, as_json=as_json)
    else:
        run_doctor(settings_now(), fix=fix, as_json=as_json)


@app.command()
def audit(as_json: Json = False) -> None:
    """Check again that every stored node and every citation is exactly its span of the stored text.

    Example: footnote audit --json
    """
    from app.cli.maintenance import run_audit

    run_audit(settings_now(), as_json=as_json)


@app.command()
def stats(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How many days, with today (UTC).")] = 30,
    as_json: Json = False,
) -> None:
    """Questions, answers and abstentions, latency (p50, p95, p99) by stage, tokens and cost, volumes, clicks, thumbs.

    Example: footnote stats --days 7 --json
    """
    from app.cli.maintenance import show_stats

    show_stats(settings_now(), days, as_json=as_json)


if __name__ == "__main__":
    main()
