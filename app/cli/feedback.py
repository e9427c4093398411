"""`footnote feedback`: list, add and export the feedback of readers on answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli import output
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import Done, emit, render, say
from pipelines.errors import RetrievalError

SESSION = "command line"
_NO_LIMIT = 10**9
group = typer.Typer(help="Feedback on answers: list it, add to it, export it. Example: footnote feedback --limit 20")


@dataclass(frozen=True, slots=True)
class FeedbackLog:
    """The latest feedback, newest first."""

    feedback: Sequence[Mapping[str, Any]]


@group.callback(invoke_without_command=True)
def feedback_list(
    context: typer.Context,
    limit: Annotated[int, option("Number of entries to list.", min=1, max=10_000)] = 50,
    as_json: Json = False,
) -> None:
    """List the feedback on answers: thumbs, wrong sources, comments, and the footnotes that readers opened.

    Example: footnote feedback --limit 20
    """
    if context.invoked_subcommand is not None:
        return
    from pipelines.store.database import open_database
    from pipelines.store.query_log import latest_feedback

    emit(FeedbackLog(latest_feedback(open_database(settings_now()).engine, limit, "owner")), as_json)


@render.register(FeedbackLog)
def _render_feedback(log: FeedbackLog) -> None:
    if log.feedback:
        columns = ["at", "query", "question", "said", "source", "words"]
        output.table("", columns, [_row(row) for row in log.feedback])
    else:
        say("There is no feedback yet. Readers give it in the chat; `footnote feedback add` adds it here.")


def _row(row: Mapping[str, Any]) -> list[str]:
    named = {"thumb": "up" if row["value"] > 0 else "down", "wrong_source": "wrong source", "text": "words"}
    source = f"[{row['source']}] {row['document'] or 'gone'}" if row["source"] else ""
    times = f" x{row['value']}" if row["kind"] == "opened" and row["value"] > 1 else ""
    # A question may hold control characters, which a terminal would obey.
    question = "".join(char for char in row["question"] if char.isprintable() or char.isspace())
    return [row["at"][:16], row["query_id"][:8], output.clip(question, 60), named.get(row["kind"], row["kind"]) + times,
            source, output.clip(row["words"], 200)]  # fmt: skip


@group.command("add")
def feedback_add(
    query: Annotated[str, argument("A query id or its beginning; `footnote trace` lists them.", metavar="QUERY_ID")],
    up: Annotated[bool, option("The answer is good.", "--up")] = False,
    down: Annotated[bool, option("The answer is bad.", "--down")] = False,
    wrong_source: Annotated[
        list[int] | None, option("Source N does not support the answer; may be repeated.", metavar="N")
    ] = None,
    words: Annotated[str, option("A comment.", "--text")] = "",
    as_json: Json = False,
) -> None:
    """Add feedback to an answer; a thumb replaces the previous one.

    Example: footnote feedback add 3fa1 --down --wrong-source 2
    """
    settings = settings_now()
    from pipelines.store.database import open_database
    from pipelines.store.query_log import Feedback, read_query, save_feedback

    entries = [Feedback("thumb", 1 if up else -1)] if up or down else []
    entries += [Feedback("wrong_source", source=n) for n in wrong_source or ()]
    entries += [Feedback("text", words=words)] if words else []
    if not entries or (up and down):
        raise RetrievalError(
            "Give at least one kind of feedback and at most one thumb.", hint="See `footnote feedback add -h`."
        )
    engine = open_database(settings).engine
    query_id = read_query(engine, query)["id"]
    for each in entries:
        save_feedback(engine, query_id, each, session=SESSION, audience="owner", limit=_NO_LIMIT)
    kinds = [each.kind for each in entries]
    emit(Done(f"Saved with query {query_id}.", {"query_id": query_id, "kept": kinds}), as_json)


@dataclass(frozen=True, slots=True)
class FeedbackExport:
    """The report of an export into a folder."""

    folder: Path
    report: Mapping[str, Any]


@group.command("export")
def feedback_export(
    folder: Annotated[Path, argument("A new folder.")],
    public: Annotated[
        bool, option("Only questions of visitors and documents that are visible to them.", "--public")
    ] = False,
    with_text: Annotated[bool, option("Also write the comments, to comments.jsonl.", "--with-text")] = False,
    as_json: Json = False,
) -> None:
    """Write the feedback as topics and judgements for `footnote eval answers` and `footnote eval beir`.

    A source reported as wrong is not relevant. For an answer with a thumb up, the cited sources that readers opened and
    did not report are relevant; if none was opened, all cited sources are. Other clicks and thumbs down are not
    judgements. An abstention with a thumb up becomes a topic without an answer. Contradicting judgements cancel out.
    Questions with filters and passages that no longer exist are left out and counted.
    Example: footnote feedback export var/feedback
    """
    from pipelines.evaluation.feedback_export import export
    from pipelines.store.database import open_database

    engine = open_database(settings_now()).engine
    report = export(engine, folder, "visitor" if public else "owner", with_text=with_text)
    emit(FeedbackExport(folder, report), as_json)


@render.register(FeedbackExport)
def _render_export(result: FeedbackExport) -> None:
    report = result.report
    for reason, count in report["left_out"].items():
        say(f"left out: {count}, {reason}", "dim")
    say(
        f"{report['topics']} topics ({report['unanswerable']} of them without an answer), "
        f"{report['relevant']} relevant passages, {report['not_relevant']} reported as wrong",
        "bold",
    )
    if report["relevant"] or report["unanswerable"]:
        say(f"footnote eval answers {result.folder / 'topics.jsonl'} --ingested")
    if report["relevant"]:
        say(f"footnote eval beir {result.folder}")
