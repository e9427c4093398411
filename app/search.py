"""What `search` and `trace` do: rank, say why, say what if, and look past queries up."""

from collections.abc import Sequence
from typing import Any

from app import output
from app.explain import print_queries, print_query, print_trace, print_what_if
from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.query.moves import moves
from pipelines.query.parts import without as switched_off
from pipelines.store.database import open_database
from pipelines.store.queries import jsonable, latest_queries, read_query
from pipelines.types import Filters, Mode, SearchReport


def run_search(
    settings: Settings,
    question: str,
    filters: Filters,
    *,
    mode: Mode | None,
    top_n: int | None,
    explain: bool,
    without: Sequence[str],
    as_json: bool,
) -> None:
    """Search and print the ranking; with parts to do without, also the ranking that is left then, and the moves."""
    from pipelines.query.engine import build_query_engine

    if mode in without:
        raise RetrievalError(f"Nothing would be left to search with: --mode {mode} --without {mode}.")
    engine = build_query_engine(settings)
    report = engine.search(question, filters=filters, mode=mode, top_n=top_n)
    base = search_json(report, explain=explain)
    if without:
        leg_is_out = {"dense", "sparse"} & {*without}
        other = engine.with_changes(switched_off(tuple(without))).search(
            question, filters=filters, mode=None if leg_is_out else mode, top_n=top_n, record=False
        )
        rest = search_json(other, explain=explain) | {"parts": list(without), "trace_id": None}
        moved = [{**jsonable(move), "kind": move.kind} for move in moves(report, other)]
    if as_json:
        output.print_json({"base": base, "without": rest, "moves": moved} if without else base)
        return
    if without and not report.intent.greeting:
        print_what_if(base, rest, moved)
    else:
        output.print_results(base)
    notes = dict.fromkeys([*base["notes"], *(rest["notes"] if without else ())])
    output.print_notes(note for note in notes if not explain or note not in base["notes"])  # the ledger says them too
    if explain:
        output.console.print()
        print_trace(jsonable(report.trace))


def search_json(report: SearchReport, *, explain: bool) -> dict[str, Any]:
    """A search as DESIGN.md's JSON; with `explain`, also what its ledger says."""
    shown: dict[str, Any] = jsonable(report)
    trace = shown.pop("trace")
    told = {name: trace[name] for name in ("candidates", "attempts", "tags", "settings", "corpus_version")}
    return shown | {"notes": list(report.notes), "trace_id": trace["id"]} | (told if explain else {})


def show_trace(settings: Settings, named: str, *, limit: int, as_json: bool) -> None:
    """The ledger of one past query, or the latest queries."""
    engine = open_database(settings).engine
    if named:
        row = read_query(engine, named)
        output.print_json(row) if as_json else print_query(row)
        return
    rows = latest_queries(engine, limit)
    output.print_json({"queries": rows}) if as_json else print_queries(rows)
