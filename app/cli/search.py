"""`footnote search` and `footnote trace`: rankings, ledgers, and what-if comparisons."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from app.cli import output
from app.cli.options import Json, argument, filtered, option, parts_of, settings_now
from app.cli.output import clip, emit, print_documents, render, say
from app.serialise import serialise
from config.parts import PARTS
from pipelines.errors import RetrievalError
from pipelines.loading import loading

if TYPE_CHECKING:
    from app.inspection import RankChange
    from pipelines.types import Filters, SearchReport

verbs = typer.Typer()
_WIDE = 100
_FATE_STYLE = {"kept": "green", "merged": "green", "cut": "dim"}
_MOVE_STYLE = {"new": "green", "up": "green", "down": "yellow", "gone": "red"}
_LEDGER = ("candidates", "attempts", "tags", "settings", "corpus_version")  # of the ledger, by `--explain`
_SHORT = {"document", "factors", "fate", "kept", "kind", "asked", "id", "node", "for"}


@dataclass(frozen=True, slots=True)
class Ranking:
    """A search; `explain` shows its ledger, `parts` are those that it was made without, and then it is not logged."""

    report: "SearchReport"
    explain: bool
    parts: tuple[str, ...] = ()

    @property
    def trace_id(self) -> str | None:
        """The id of the logged query; None for a what-if search."""
        return None if self.parts else self.report.trace.id

    @property
    def ledger(self) -> dict[str, Any]:
        """The parts of the ledger that `--explain` adds."""
        return {name: getattr(self.report.trace, name) for name in _LEDGER} if self.explain else {}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A search, the same without some parts, and the passages that moved."""

    base: Ranking
    without: Ranking
    moves: Sequence["RankChange"]


@verbs.command()
@filtered
def search(
    question: str,
    mode: Annotated[
        Literal["hybrid", "dense", "sparse"] | None,
        option("The retrievers to use: both, dense or sparse; default: the setting."),
    ] = None,
    top_n: Annotated[
        int | None, option("Number of passages; default: the setting.", "--top-n", "-n", min=1, max=100)
    ] = None,
    explain: Annotated[bool, option("Show every candidate with its scores and outcome.", "--explain")] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            callback=parts_of,
            help="Search again without this part and show which ranks change; may be repeated. Only the first search "
            f"is logged. Parts: {', '.join(PARTS)}.",
        ),
    ] = None,
    *,
    filters: "Filters",
    as_json: Json = False,
) -> None:
    """Find the best passages, without writing an answer.

    Example: footnote search "Kubernetes experience" --category resume --explain --without recency
    """
    with loading():
        from app.inspection import rank_changes
        from pipelines.query.engine import build_query_engine
    settings, parts = settings_now(), tuple(without or ())
    if mode in parts:  # before anything is searched or logged
        raise RetrievalError(f"--mode {mode} --without {mode} leaves no retriever.")
    engine = build_query_engine(settings)
    report = engine.search(question, filters=filters, mode=mode, top_n=top_n)
    if not parts:
        emit(Ranking(report, explain), as_json)
        return
    other = engine.search_without(parts, question, filters=filters, mode=mode, top_n=top_n)
    moves = rank_changes(report, other)
    emit(WhatIf(Ranking(report, explain), Ranking(other, explain, parts), moves), as_json)


@render.register(Ranking)
def _render_ranking(ranking: Ranking) -> None:
    from pipelines.query.question.rules import reply_to_courtesy

    say_results(serialise(ranking.report.results))
    if not ranking.report.results:
        say(reply_to_courtesy(ranking.report.intent.question) or "No passage was found.")
    _say_notes_or_ledger(ranking, ())


def say_results(results: Sequence[Mapping[str, Any]]) -> None:
    """Print ranked passages, each with its place and its first words."""
    from app.cli.rows import result_source
    from app.wording import link, place

    for result in results:
        source = result_source(result)
        similarity = result.get("similarity")  # absent from results that an older release logged
        near = "" if similarity is None else f" · similarity {similarity:.2f}"
        say(f"{result['rank']}. {source.title}, {place(source)}{near}", "bold")
        say(f"   {clip(source.words, 320)}")
        if shown_at := link(source):
            say(f"   {shown_at}", "dim")
        if source.near_copies:
            say(f"   nearly the same in {', '.join(source.near_copies)}", "dim")


def _say_notes_or_ledger(ranking: Ranking, more: Sequence[str]) -> None:
    """The notes of a search and more notes; with its ledger, which has its own notes, only those others."""
    notes = ranking.report.notes
    output.say_notes(each for each in dict.fromkeys((*notes, *more)) if not ranking.explain or each not in notes)
    if ranking.explain:
        output.console.print()
        _say_ledger(serialise(ranking.report.trace))


@render.register(WhatIf)
def _render_what_if(what_if: WhatIf) -> None:
    if what_if.base.report.intent.greeting:
        _render_ranking(what_if.base)
        return
    parts = ", ".join(what_if.without.parts)
    drawn = _table({"#": "right", "current": "left", f"without {parts}": "left"}, "")
    rankings = [ranking.report.results for ranking in (what_if.base, what_if.without)]
    for index in range(max(map(len, rankings))):
        cells = [
            f"{results[index].score:.3f}  {_cut(results[index].title, output.console.width // 2 - 20)}, "
            f"line {results[index].line_start}"
            if index < len(results)
            else ""
            for results in rankings
        ]
        drawn.add_row(str(index + 1), *map(Text, cells))
    output.console.print(drawn)
    output.console.print()
    for move in what_if.moves:
        ranks = f"{move.before or '-'} -> {move.after or '-'}"
        why = f"  ({move.why})" if move.why else ""
        say(f"{move.kind:<5}{ranks:>8}  {move.title}, line {move.line_start}{why}", _MOVE_STYLE[move.kind])
    if not what_if.moves:
        say(f"No rank changed without {parts}.")
    _say_notes_or_ledger(what_if.base, what_if.without.report.notes)


class LoggedQuery(dict[str, Any]):
    """A logged query with its ledger, and its answer if it was asked for one."""


@dataclass(frozen=True, slots=True)
class QueryLog:
    """The latest queries, newest first."""

    queries: Sequence[Mapping[str, Any]]


@verbs.command()
def trace(
    query: Annotated[str, argument("A query id or its beginning; none = list the latest.", metavar="[ID]")] = "",
    limit: Annotated[int, option("Number of queries to list.", min=1, max=1000)] = 20,
    as_json: Json = False,
) -> None:
    """Show a past query: every candidate, score and decision; without ID, list the latest queries.

    Example: footnote trace 3fa1
    """
    from pipelines.store.database import open_database
    from pipelines.store.query_log import latest_queries, read_query

    engine = open_database(settings_now()).engine
    emit(LoggedQuery(read_query(engine, query)) if query else QueryLog(latest_queries(engine, limit)), as_json)


@render.register(QueryLog)
def _render_queries(log: QueryLog) -> None:
    from app.inspection import outcome_of

    columns = {"asked": "left", "id": "left", "kind": "left", "question": "left", "ms": "right", "outcome": "left"}
    wide = output.console.width >= _WIDE
    drawn = _table(columns | ({"for": "left", "used": "left"} if wide else {}), "")
    for row in log.queries:
        cells = [_time(row["asked_at"]), row["id"] if wide else row["id"][:8], row["kind"], clip(row["question"], 100)]
        cells += [f"{row['latency_ms']:.0f}", outcome_of(row)]
        cells += [row["audience"], " ".join(row["tags"])] if wide else []
        drawn.add_row(*map(Text, cells))
    output.console.print(drawn)
    if not log.queries:
        say("No query is logged yet.")


@render.register(LoggedQuery)
def _render_query(row: LoggedQuery) -> None:
    from app.cli.rows import conflict_of, source_of

    say(f"{row['question']}", "bold")
    say(f"{row['kind']} by the {row['audience']}, {_time(row['asked_at'])}, {row['latency_ms']:.0f} ms", "dim")
    if row["answer"]:
        output.console.print()
        say(row["answer"]["answer"])
        print_documents(map(source_of, row["answer"]["sources"]))
        for conflict in row["answer"].get("conflicts", ()):
            say(f"Sources disagree: {conflict_of(conflict)[0]}", "yellow")
    output.console.print()
    _say_ledger(row["trace"])


def _time(iso: str) -> str:
    return iso[:16].replace("T", " ")


# The ledger


def _say_ledger(trace: Mapping[str, Any]) -> None:
    """The candidates, attempts, notes, evidence, timings and systems of a query."""
    from app.inspection import evidence_lines, kept_evidence, understood

    if parts := understood(trace["intent"]):
        _wrapped("understood", " · ".join(parts))
    if trace["candidates"]:
        _print_candidates(trace["candidates"])
    columns = {"attempt": "left", "kept": "left", "strength": "right", "ms": "right", "why": "left"}
    attempts = _table(columns | {"searched for": "left"}, "attempts")
    for tried in trace["attempts"]:
        evidence = tried["evidence"]
        cells = [tried["name"], "yes" if tried["kept"] else "no", f"{evidence['strength']:.2f} {evidence['band']}"]
        cells += [f"{tried['ms']:.1f}" if tried["ms"] else "", tried["why"], clip(tried["search_text"], 160)]
        attempts.add_row(*map(Text, cells))
    output.console.print()
    output.console.print(attempts)
    for note in trace["notes"]:
        _wrapped("note", note, "yellow")
    output.console.print()
    for label, said in evidence_lines(kept_evidence(trace)):
        if said:
            _wrapped(label.lower(), said)
    output.console.print()
    _wrapped("ms", " · ".join(f"{stage} {ms:.1f}" for stage, ms in trace["timings_ms"].items()))
    _wrapped("used", " · ".join(trace["tags"]))
    _wrapped("query", f"{trace['id']} · settings {trace['settings']} · corpus {trace['corpus_version']}")


def _print_candidates(candidates: Sequence[Mapping[str, Any]]) -> None:
    columns = {"#": "right", "document": "left", "dense": "right", "sparse": "right", "fused": "right"}
    columns |= {"factors": "left", "final": "right", "fate": "left"}
    columns |= {"node": "left"} if output.console.width >= _WIDE else {}
    rows = [
        [str(number), row["title"], _scored(row["dense"], 3), _scored(row["sparse"], 2), f"{row['fused']:.3f}",
         "\n".join(f"{name} {value:.2f}" for name, value in row["factors"].items()), f"{row['final']:.3f}", row["fate"],
         row["node_id"][:8]][: len(columns)]
        for number, row in enumerate(candidates, start=1)
    ]  # fmt: skip
    others = [column for number, column in enumerate(zip(columns, *rows, strict=True)) if number != 1]
    taken = sum(1 + max(len(line) for cell in column for line in cell.split("\n")) for column in others)
    room = max(8, output.console.width - taken)
    drawn = _table(columns, "candidates", gap=1)
    for cells, row in zip(rows, candidates, strict=True):
        style = _FATE_STYLE.get(row["fate"].partition(":")[0].partition(" ")[0], "")
        drawn.add_row(cells[0], Text(_cut(cells[1], room)), *map(Text, cells[2:]), style=style)
    output.console.print()
    output.console.print(drawn)


def _scored(found: Mapping[str, Any] | None, digits: int) -> str:
    return f"{found['rank']:>2} {found['score']:>{3 + digits}.{digits}f}" if found else ""


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


def _wrapped(label: str, body: str, style: str = "") -> None:
    """Print a labelled line; on a terminal its further lines are indented under it."""
    line, width = f"{label:<10} {body}", output.console.width
    if not output.console.is_terminal:
        say(line, style)
        return
    for part in textwrap.wrap(line, width, subsequent_indent=" " * 11, break_long_words=True) or [""]:
        say(part, style)
