"""What `stats` does: print what the query log adds up to."""

from collections.abc import Mapping, Sequence
from typing import Any

from app import output
from config.settings import Settings


def show_stats(settings: Settings, days: int, *, as_json: bool) -> None:
    """Print questions, latency, usage, volumes, clicks and thumbs of the last days."""
    from pipelines.store.database import open_database
    from pipelines.store.stats import statistics

    report = statistics(open_database(settings).engine, days)
    if as_json:
        output.print_json(report)
        return
    output.say(
        f"Since {report['since']} (UTC): {report['questions']} questions, {report['asked']} to be answered: "
        f"{report['answered']} answered ({_counts(report['confidence'], ' confidence')}), "
        f"{report['abstained']} abstained.",
        "bold",
    )
    _table("questions", report["by_day"], ("day", "kind", "route", "questions", "answered", "abstained"))
    latency = [_latency(f"all: {kind}", row) for kind, row in report["latency_ms"].items()]
    latency += [_latency(stage, row) for stage, row in report["stages_ms"].items()]
    if latency:
        output.table("latency, ms", ["stage", "questions", "p50", "p95", "p99"], latency)
    _print_usage(report["usage"])
    _print_volumes(report["volumes"])
    _print_readers(report["clicks"], report["feedback"])


def _latency(name: str, row: Mapping[str, Any]) -> list[str]:
    return [name, str(row["count"]), *(f"{row[share]:,.1f}" for share in ("p50", "p95", "p99"))]


def _print_usage(usage: Mapping[str, Any]) -> None:
    asked = [row for row in usage["by_day"] if row["answers"] or row["embedding_tokens"]]
    if asked:
        columns = ["day", "answers", "model calls", "read", "written", "embedded", "estimated", "US $"]
        names = ("day", "answers", "calls", "prompt_tokens", "completion_tokens", "embedding_tokens",
                 "estimated_tokens")  # fmt: skip
        rows = [[*(str(row[name]) for name in names), _dollars(row)] for row in asked]
        output.table("tokens and cost", columns, rows)
    tokens, cost = usage["per_answer"]["tokens"], usage["per_answer"]["cost"]
    if tokens["mean"] is not None:
        priced = "cost not known" if cost["mean"] is None else f"${cost['mean']:.6f} (p95 ${cost['p95']:.6f})"
        output.say(f"An answer takes {tokens['mean']:,.0f} tokens (p95 {tokens['p95']:,.0f}) and {priced}.")


def _dollars(row: Mapping[str, Any]) -> str:
    unknown = f", {row['unpriced']} of unknown price" if row["unpriced"] else ""
    return f"{row['cost']:.6f}{unknown}"


def _print_volumes(volumes: Sequence[Mapping[str, Any]]) -> None:
    rows = [{**row, "category": row["category"] or "all"} for row in volumes]
    newest = [row for row in rows if row["day"] == rows[0]["day"]]
    _table("volumes at the end of the last day of a run", newest, ("day", "category", "documents", "nodes"))


def _print_readers(clicks: Mapping[str, Any], said: Mapping[str, int]) -> None:
    if clicks["opened"]:
        where = _counts(clicks["by_place"], "")
        numbers = ", ".join(f"[{number}] {count}" for number, count in clicks["by_number"].items())
        output.say(
            f"{clicks['opened']} sources opened in {clicks['answers']} answers, {clicks['per_answer']:.2f} an answer: "
            f"{where}; {numbers}"
        )
    output.say(
        f"Thumbs: {said['up']} up, {said['down']} down; {said['wrong_source']} sources reported as wrong, "
        f"{said['text']} comments"
    )


def _counts(counts: Mapping[str, int], after: str) -> str:
    return ", ".join(f"{count} {name}{after}" for name, count in counts.items()) or "none"


def _table(title: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    if rows:
        output.table(title, names, [[row[name] for name in names] for row in rows])
