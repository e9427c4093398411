"""The verbs `footnote feedback`."""

from pathlib import Path
from typing import Annotated

import typer

from app.options import Json, settings_now

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
    from app.feedback import show_feedback

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
    from app.feedback import add_feedback

    add_feedback(settings_now(), query, up=up, down=down, wrong=wrong_source or [], words=words, as_json=as_json)


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

    export_feedback(settings_now(), folder, public=public, with_text=with_text, as_json=as_json)
