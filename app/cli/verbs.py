"""The signatures of `footnote db`, `models` and `feedback`; what they do is imported when one is called."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Json, settings_now

db = typer.Typer(help="The database: start, stop, migrate, url, reset. Example: footnote db url", no_args_is_help=True)
models = typer.Typer(
    help="The embedding models: list, add, compare, promote, drop. Example: footnote models list",
    no_args_is_help=True,
)


@db.command("start")
def db_start(as_json: Json = False) -> None:
    """Start the embedded server and keep it running until `footnote db stop`.

    Example: footnote db start
    """
    from app.cli.maintenance import start_database

    start_database(settings_now(), as_json=as_json)


@db.command("stop")
def db_stop(as_json: Json = False) -> None:
    """Stop the embedded server, unless another process uses it.

    Example: footnote db stop
    """
    from app.cli.maintenance import stop_database

    stop_database(settings_now(), as_json=as_json)


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
    from app.cli.maintenance import migrate_database

    migrate_database(settings_now(), to, yes=yes, as_json=as_json)


@db.command("url")
def db_url(as_json: Json = False) -> None:
    """Print the address of the database, without its password.

    Example: footnote db start && psql "$(footnote db url)"
    """
    from app.cli.maintenance import show_url

    show_url(settings_now(), as_json=as_json)


@db.command("reset")
def db_reset(
    yes: Annotated[bool, typer.Option("--yes", help="Really delete everything.")] = False, as_json: Json = False
) -> None:
    """Delete every document, node and log of this database.

    Example: footnote db reset --yes
    """
    from app.cli.maintenance import reset_database

    reset_database(settings_now(), yes=yes, as_json=as_json)


@models.command("list")
def models_list(as_json: Json = False) -> None:
    """List the embedding models whose nodes are stored, and which of them serves.

    Example: footnote models list
    """
    from app.cli.models import list_models

    list_models(settings_now(), as_json=as_json)


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
    from app.cli.models import add_model

    add_model(settings_now(), model, yes=yes, as_json=as_json)


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
    from app.cli.model_compare import compare_models

    compare_models(settings_now(), a, b, topics, limit=limit, as_json=as_json)


@models.command("promote")
def models_promote(model: Model, as_json: Json = False) -> None:
    """Make a model the one that serves, once it holds every stored document; who searches meanwhile notices nothing.

    Example: footnote models promote text-embedding-3-small@512
    """
    from app.cli.models import promote_model

    promote_model(settings_now(), model, as_json=as_json)


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
    from app.cli.models import drop_model

    drop_model(settings_now(), model, cached=cache, yes=yes, as_json=as_json)


feedback = typer.Typer(
    help="What readers say of answers: list it, add to it, export it. Example: footnote feedback --limit 20"
)


@feedback.callback(invoke_without_command=True)
def feedback_list(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How much of the latest.")] = 50,
    as_json: Json = False,
) -> None:
    """What readers say of answers: thumbs, wrong sources, words, and the footnotes that they open.

    Example: footnote feedback --limit 20
    """
    from app.cli.feedback import show_feedback

    if context.invoked_subcommand is None:
        show_feedback(settings_now(), limit=limit, as_json=as_json)


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
    from app.cli.feedback import FeedbackOptions, add_feedback

    options = FeedbackOptions(up, down, tuple(wrong_source or ()), words)
    add_feedback(settings_now(), query, options, as_json=as_json)


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
    """Write the feedback as topics and judgements that `footnote eval answers` and `beir` read.

    A source that was reported as wrong is not relevant. Of an answer with a thumb up, the cited sources that were
    opened and not reported are relevant, and all that it cites when none was opened. Nothing else makes a source
    relevant: no thumb down, and no opening alone. An abstention with a thumb up becomes a topic without an answer.
    Readers who disagree cancel out. Left out, and counted: questions that were asked within filters, and passages
    that no document holds any more. Example: footnote feedback export var/feedback
    """
    from app.cli.feedback import export_feedback

    export_feedback(settings_now(), folder, public=public, with_text=with_text, as_json=as_json)
