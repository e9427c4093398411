"""`footnote feedback`: list, add and export what readers said of answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli import output
from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.store.query_log import Feedback

SESSION = "command line"
_NO_LIMIT = 10**9


def show_feedback(settings: Settings, *, limit: int, as_json: bool) -> None:
    """Print what was said last, newest first."""
    from pipelines.store.database import open_database
    from pipelines.store.query_log import latest_feedback

    rows = latest_feedback(open_database(settings).engine, limit, "owner")
    if as_json:
        output.print_json({"feedback": rows})
    elif rows:
        columns = ["at", "query", "question", "said", "source", "words"]
        output.table("", columns, [_row(row) for row in rows])
    else:
        output.say("Nobody has said anything yet. Readers can in the chat, you also with `footnote feedback add`.")


def _row(row: Mapping[str, Any]) -> list[str]:
    said = {"thumb": "up" if row["value"] > 0 else "down", "wrong_source": "wrong source", "text": "words"}
    source = f"[{row['source']}] {row['document'] or 'gone'}" if row["source"] else ""
    times = f" x{row['value']}" if row["kind"] == "opened" and row["value"] > 1 else ""
    named = said.get(row["kind"], row["kind"]) + times
    return [row["at"][:16], row["query_id"][:8], output.clip(_printable(row["question"]), 60), named, source,
            output.clip(row["words"], 200)]  # fmt: skip


def _printable(text: str) -> str:
    """The text without what a terminal would take for orders."""
    return "".join(char for char in text if char.isprintable() or char.isspace())


@dataclass(frozen=True, slots=True)
class FeedbackOptions:
    """What `footnote feedback add` says of an answer; `wrong` lists numbers of sources."""

    up: bool = False
    down: bool = False
    wrong: tuple[int, ...] = ()
    words: str = ""

    def entries(self) -> list[Feedback]:
        """One entry for each thing that is said.

        Raises:
            RetrievalError: If nothing is said, or both thumbs are given.
        """
        thumbs = [Feedback("thumb", 1 if self.up else -1)] if self.up or self.down else []
        words = [Feedback("text", words=self.words)] if self.words else []
        entries = [*thumbs, *(Feedback("wrong_source", source=n) for n in self.wrong), *words]
        if not entries or (self.up and self.down):
            raise RetrievalError(
                "Say one thing at least, and one thumb at most.", hint="See `footnote feedback add -h`."
            )
        return entries


def add_feedback(settings: Settings, query: str, options: FeedbackOptions, *, as_json: bool) -> None:
    """Keep what is said of one answer.

    Raises:
        RetrievalError: If nothing is said, both thumbs are given, or there is no such answer or source.
    """
    from pipelines.store.database import open_database
    from pipelines.store.query_log import read_query, save_feedback

    given = options.entries()
    engine = open_database(settings).engine
    query_id = read_query(engine, query)["id"]
    for one in given:
        save_feedback(engine, query_id, one, session=SESSION, audience="owner", limit=_NO_LIMIT)
    if as_json:
        output.print_json({"query_id": query_id, "kept": [one.kind for one in given]})
    else:
        output.say(f"Kept with query {query_id}.")


def export_feedback(settings: Settings, folder: Path, *, public: bool, with_text: bool, as_json: bool) -> None:
    """Write topics and judgements into a folder, and print how to measure with them."""
    from pipelines.evaluation.feedback_export import export
    from pipelines.store.database import open_database

    engine = open_database(settings).engine
    report = export(engine, folder, "visitor" if public else "owner", with_text=with_text)
    if as_json:
        output.print_json(report)
        return
    for reason, count in report["left_out"].items():
        output.say(f"left out: {count}, {reason}", "dim")
    output.say(
        f"{report['topics']} topics ({report['unanswerable']} of them without an answer), "
        f"{report['relevant']} relevant passages, {report['not_relevant']} reported as wrong",
        "bold",
    )
    if report["relevant"] or report["unanswerable"]:
        output.say(f"footnote eval answers {folder / 'topics.jsonl'} --ingested")
    if report["relevant"]:
        output.say(f"footnote eval beir {folder}")
