"""`footnote search` and `footnote trace`: rankings, ledgers, and what-if comparisons."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from app.cli import output
from app.cli.output import clip, console, print_documents, say
from app.wording import conflict_of, read_as, source_of
from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.query.ablation import rank_changes
from pipelines.query.ablation import settings_without as switched_off
from pipelines.store.database import open_database
from pipelines.store.query_log import jsonable, latest_queries, read_query
from pipelines.types import Filters, Mode, SearchReport


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of `footnote search`; `without` names the parts of a what-if search."""

    mode: Mode | None = None
    top_n: int | None = None
    explain: bool = False
    without: tuple[str, ...] = ()
    as_json: bool = False


def run_search(settings: Settings, question: str, filters: Filters, options: SearchOptions) -> None:
    """Search and print the ranking; with `without`, also the ranking without those parts, and what moved."""
    from pipelines.query.engine import build_query_engine

    mode, top_n, explain, without = options.mode, options.top_n, options.explain, options.without
    if mode in without:
        raise RetrievalError(f"Nothing would be left to search with: --mode {mode} --without {mode}.")
    engine = build_query_engine(settings)
    report = engine.search(question, filters=filters, mode=mode, top_n=top_n)
    base = search_json(report, explain=explain)
    if without:
        leg_is_out = {"dense", "sparse"} & {*without}
        other = engine.with_changes(switched_off(without)).search(
            question, filters=filters, mode=None if leg_is_out else mode, top_n=top_n, record=False
        )
        rest = search_json(other, explain=explain) | {"parts": list(without), "trace_id": None}
        moved = [{**jsonable(move), "kind": move.kind} for move in rank_changes(report, other)]
    if options.as_json:
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


_WIDE = 100
_FATE_STYLE = {"kept": "green", "merged": "green", "cut": "dim"}
_MOVE_STYLE = {"new": "green", "up": "green", "down": "yellow", "gone": "red"}
_UNDERSTOOD = ("categories", "sections", "years", "phrases", "names", "wants")


def print_trace(trace: Mapping[str, Any]) -> None:
    """The ledger of a query: its candidates, attempts, notes, evidence, timings and systems."""
    _say_understood(trace["intent"])
    if trace["candidates"]:
        _print_candidates(trace["candidates"])
    _print_attempts(trace["attempts"])
    for note in trace["notes"]:
        _wrapped("note", note, "yellow")
    evidence = next((tried["evidence"] for tried in reversed(trace["attempts"]) if tried["kept"]), None)
    if evidence:
        _print_evidence(evidence)
    console.print()
    _wrapped("ms", " · ".join(f"{stage} {ms:.1f}" for stage, ms in trace["timings_ms"].items()))
    _wrapped("used", " · ".join(trace["tags"]))
    _wrapped("query", f"{trace['id']} · settings {trace['settings']} · corpus {trace['corpus_version']}")


def _say_understood(intent: Mapping[str, Any]) -> None:
    said = [f"searched for {intent['search_text']!r}"] if intent["search_text"] != intent["question"] else []
    said += [f"{name}: {', '.join(map(str, intent[name]))}" for name in _UNDERSTOOD if intent.get(name)]
    if meant := read_as(intent.get("condensed", ""), intent.get("condensed_by", "")):
        said.insert(0, meant[0].lower() + meant[1:])
    said += [name.replace("_", "-") for name in ("recent", "follow_up", "greeting") if intent.get(name)]
    if said:
        _wrapped("understood", " · ".join(said))


def _print_candidates(candidates: Sequence[Mapping[str, Any]]) -> None:
    columns = {"#": "right", "document": "left", "dense": "right", "sparse": "right", "fused": "right"}
    columns |= {"factors": "left", "final": "right", "fate": "left"}
    columns |= {"node": "left"} if console.width >= _WIDE else {}
    rows = [_candidate(number, row)[: len(columns)] for number, row in enumerate(candidates, start=1)]
    others = [column for number, column in enumerate(zip(columns, *rows, strict=True)) if number != 1]
    taken = sum(1 + max(len(line) for cell in column for line in cell.split("\n")) for column in others)
    room = max(8, console.width - taken)
    drawn = _table(columns, "candidates", gap=1)
    for cells, row in zip(rows, candidates, strict=True):
        style = _FATE_STYLE.get(row["fate"].partition(":")[0].partition(" ")[0], "")
        drawn.add_row(cells[0], Text(_cut(cells[1], room)), *(Text(cell) for cell in cells[2:]), style=style)
    console.print()
    console.print(drawn)


def _candidate(number: int, row: Mapping[str, Any]) -> list[str]:
    factors = "\n".join(f"{name} {value:.2f}" for name, value in row["factors"].items())
    legs = [_leg(row["dense"], 3), _leg(row["sparse"], 2)]
    scores = [f"{row['fused']:.3f}", factors, f"{row['final']:.3f}"]
    return [str(number), row["title"], *legs, *scores, row["fate"], row["node_id"][:8]]


def _leg(leg: Mapping[str, Any] | None, digits: int) -> str:
    return f"{leg['rank']:>2} {leg['score']:>{3 + digits}.{digits}f}" if leg else ""


def _print_attempts(attempts: Sequence[Mapping[str, Any]]) -> None:
    columns = {"attempt": "left", "kept": "left", "strength": "right", "ms": "right", "why": "left"}
    drawn = _table(columns | {"searched for": "left"}, "attempts")
    for tried in attempts:
        evidence = tried["evidence"]
        cells = [tried["name"], "yes" if tried["kept"] else "no", f"{evidence['strength']:.2f} {evidence['band']}"]
        cells += [f"{tried['ms']:.1f}" if tried["ms"] else "", tried["why"], clip(tried["search_text"], 160)]
        drawn.add_row(*(Text(cell) for cell in cells))
    console.print()
    console.print(drawn)


def _print_evidence(evidence: Mapping[str, Any]) -> None:
    console.print()
    held = "sufficient" if evidence["sufficient"] else f"not sufficient: {evidence['reason']}"
    similar = "" if evidence["similarity"] is None else f"similarity {evidence['similarity']:.2f} · "
    _wrapped(
        "evidence",
        f"{evidence['band']}, strength {evidence['strength']:.2f}, {held} · {similar}"
        f"coverage {evidence['coverage']:.0%} · {evidence['matches']} candidates · "
        f"missing {', '.join(evidence['missing']) or 'nothing'}",
    )
    if evidence["signals"]:
        _wrapped("signals", " · ".join(f"{name} {value:.3g}" for name, value in evidence["signals"].items()))


def print_query(row: Mapping[str, Any]) -> None:
    """A logged query with its answer, if it was asked for one, and its ledger."""
    say(f"{row['question']}", "bold")
    say(f"{row['kind']} by the {row['audience']}, {_time(row['asked_at'])}, {row['latency_ms']:.0f} ms", "dim")
    if row["answer"]:
        console.print()
        say(row["answer"]["answer"])
        print_documents(map(source_of, row["answer"]["sources"]))
        for conflict in row["answer"].get("conflicts", ()):
            say(f"Sources disagree: {conflict_of(conflict)[0]}", "yellow")
    console.print()
    print_trace(row["trace"])


def print_queries(rows: Sequence[Mapping[str, Any]]) -> None:
    """The latest queries, one a line or two."""
    columns = {"asked": "left", "id": "left", "kind": "left", "question": "left", "ms": "right", "came of it": "left"}
    wide = console.width >= _WIDE
    drawn = _table(columns | ({"for": "left", "used": "left"} if wide else {}), "")
    for row in rows:
        outcome = row["band"] if row["answered"] is None else ("answered" if row["answered"] else "abstained")
        auto = ", auto" if row["route"] == "auto" else ""
        cells = [_time(row["asked_at"]), row["id"] if wide else row["id"][:8], row["kind"], clip(row["question"], 100)]
        cells += [f"{row['latency_ms']:.0f}", f"{outcome}{auto}"]
        cells += [row["audience"], " ".join(row["tags"])] if wide else []
        drawn.add_row(*(Text(cell) for cell in cells))
    console.print(drawn)
    if not rows:
        say("Nothing has been asked yet.")


def print_what_if(base: Mapping[str, Any], other: Mapping[str, Any], moved: Sequence[Mapping[str, Any]]) -> None:
    """Both rankings beside each other, and the moves between them."""
    parts = ", ".join(other["parts"])
    drawn = _table({"#": "right", "as set": "left", f"without {parts}": "left"}, "")
    for index in range(max(len(base["results"]), len(other["results"]))):
        drawn.add_row(str(index + 1), *(_nth(report["results"], index) for report in (base, other)))
    console.print(drawn)
    console.print()
    for row in moved:
        ranks = f"{row['before'] or '-'} -> {row['after'] or '-'}"
        why = f"  ({row['why']})" if row["why"] else ""
        line = f"{row['kind']:<5}{ranks:>8}  {row['title']}, line {row['line_start']}{why}"
        say(line, _MOVE_STYLE[row["kind"]])
    if not moved:
        say(f"Nothing moved without {parts}.")


def _nth(results: Sequence[Mapping[str, Any]], index: int) -> Text:
    if index >= len(results):
        return Text("")
    result = results[index]
    title = _cut(result["title"], console.width // 2 - 20)
    return Text(f"{result['score']:.3f}  {title}, line {result['line_start']}")


def _time(iso: str) -> str:
    return iso[:16].replace("T", " ")


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _table(columns: Mapping[str, str], title: str, *, gap: int = 2) -> Table:
    drawn = Table(
        title=title or None, title_justify="left", box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold"
    )
    for name, side in columns.items():
        right = side == "right"
        drawn.add_column(name, justify="right" if right else "left", no_wrap=right or name in _SHORT, overflow="fold")
    return drawn


_SHORT = {"document", "factors", "fate", "kept", "kind", "asked", "id", "node", "for"}


def _wrapped(label: str, body: str, style: str = "") -> None:
    """A labelled line whose further lines are indented under it."""
    for line in _lines(f"{label:<10} {body}"):
        say(line, style)


def _lines(body: str) -> Iterator[str]:
    if not console.is_terminal:
        yield body
        return
    yield from textwrap.wrap(body, console.width, subsequent_indent=" " * 11, break_long_words=True) or [""]
