"""The renderer of the command line: text and tables for people, one JSON document for programs."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.cli.options import EXIT_STOPPED
from app.wording import (
    FINDING,
    by_document,
    citations_of,
    cited_at,
    cited_numbers,
    conflict_of,
    how_it_ended,
    is_made,
    link,
    place,
    place_and_others,
    read_as,
    result_source,
    source_of,
)
from config.prompts import GREETING
from pipelines.errors import RetrievalError
from pipelines.query.layout import spans_in
from pipelines.types import Source
from pipelines.wording import format_count, labelled_message

console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
stderr = Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())
_OUTCOME_STYLE = {"added": "green", "updated": "cyan", "metadata": "cyan", "removed": "yellow", "failed": "red"}


def moment(iso: str, shape: str = "%Y-%m-%d %H:%M") -> str:
    """A time of the database by the clock of this machine."""
    return datetime.fromisoformat(iso).astimezone().strftime(shape)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table; cells are text, never markup."""
    drawn = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold", justify="right" if column in _NUMERIC else "left")
    for row in rows:
        drawn.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console.print(drawn)


_NUMERIC = {"nodes", "embeddings", "documents", "coverage", "score", "dense", "sparse", "fused", "#", "page"}


def say(text: str, style: str = "") -> None:
    """A line for people, never read as markup."""
    console.print(Text(text, style=style))


def agree(question: str, said: str, *, as_json: bool) -> None:
    """Say what would be done, and go on only when a person agrees.

    Raises:
        RetrievalError: Where nobody can be asked.
        typer.Exit: With 130, if the answer is no or none.
    """
    if as_json or not sys.stdin.isatty():
        raise RetrievalError(said, hint="Say --yes to do it.")
    warn(said)
    confirm(question)


def confirm(question: str) -> None:
    """Ask a person, and go on only when the answer is yes.

    Raises:
        typer.Exit: With 130, if it is no or none.
    """
    try:
        if typer.confirm(question):
            return
        warn("Nothing was done.")
    except typer.Abort:  # Ctrl-C, which was said, or the end of the input
        pass
    raise typer.Exit(EXIT_STOPPED)


def warn(text: str, style: str = "yellow") -> None:
    """A line on stderr."""
    stderr.print(Text(text, style=style))


def progress_bar(*, quiet: bool) -> Any:
    """A rich Progress on stderr with counts, the rate and the time left; nothing when quiet or off a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    named = TextColumn("{task.description}", markup=False)
    columns = (named, BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    return Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal)


@contextmanager
def under_way(what: str, *, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None] | None]]:
    """Something that takes long; gives (what is told why it waits, what is told at each step how far it is).

    Each wait stays as a line on stderr. How far it is shows on a terminal in a line below them, as long as it lasts;
    off one, and for a program (`quiet`), nothing is there to be told.
    """
    if quiet or not stderr.is_terminal:
        yield note, None
        return
    with stderr.status(Text(what)) as shown:
        yield note, lambda far: shown.update(Text(clip(f"{what}: {far}", max(stderr.width - 4, 20))))


def note(said: str) -> None:
    """A line on stderr that says by the clock what was waited for, and where a long thing stood."""
    warn(f"{datetime.now():%H:%M:%S}  {said}", "dim")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A function that is told (what, how much is done, of how much); each thing has a bar until it is finished."""
    with progress_bar(quiet=quiet) as bar:
        tasks: dict[str, Any] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done, total=total)
            if done >= total:
                bar.remove_task(tasks.pop(label))

        yield advance


def print_ingest(report: Mapping[str, Any]) -> None:
    """What changed and what failed; unchanged documents are counted only."""
    for item in report["items"]:
        if item["outcome"] in _OUTCOME_STYLE and item["outcome"] != "failed":
            made = f"  ({format_count(item['nodes'], 'node')})" if item["nodes"] else ""
            say(f"{item['outcome']:>9}  {item['document']}{made}", _OUTCOME_STYLE[item["outcome"]])
    for item in report["items"]:
        if item["outcome"] == "failed":
            say(f"   failed  {labelled_message(item['document'], item['error'], item['hint'])}", "red")
    names = ("added", "updated", "metadata", "unchanged", "removed", "failed")
    counts = ", ".join(f"{report[name]} {name}" for name in names if report[name])
    kept = sum(refused["documents"] for refused in report.get("refused_removals", ()))
    at_sources = report["seconds_at_sources"]
    looked = f", {at_sources:.1f} s of them at the sources" if at_sources >= 1 else ""
    idle = f"{kept} that are gone were kept" if kept else "nothing done" if report.get("stopped") else "nothing to do"
    say(
        f"{counts or idle}; {format_count(report['nodes'], 'node')}, {report['embedded']:,} embedded "
        f"in {report['seconds']:.1f} s{looked} (run {report['run_id']})",
        "bold",
    )


def print_results(report: Mapping[str, Any]) -> None:
    """Ranked passages."""
    for result in report["results"]:
        source = result_source(result)
        say(f"{result['rank']}. {source.title}, {place(source)}", "bold")
        say(f"   {clip(source.snippet, 320)}")
        if shown_at := link(source):
            say(f"   {shown_at}", "dim")
        if source.near_copies:
            say(f"   nearly the same in {', '.join(source.near_copies)}", "dim")
    if not report["results"]:
        say(GREETING if report["intent"]["greeting"] else "Nothing was found.")


def print_notes(notes: Iterable[str]) -> None:
    """What a reader should know of how it was found, one a line."""
    for note in notes:
        say(f"Note: {note}", "yellow")


def clip(text: str, limit: int) -> str:
    """The text on one line, at most so many characters, cut after a word."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1].rsplit(" ", 1)[0] + "…"


def marked(answer: Mapping[str, Any]) -> str:
    """The answer's text with a remark after each sentence that its sources do not bear out."""
    text, made, done = str(answer["answer"]), "", 0
    spans = spans_in(text, [sentence["text"] for sentence in answer["sentences"]])
    for sentence, (_, end) in zip(answer["sentences"], spans, strict=True):
        if end >= 0 and sentence["verdict"] != "supported":
            made += f"{text[done:end]} ({FINDING[sentence['verdict']]})"
            done = end
    return made + text[done:]


def print_verdicts(answer: Mapping[str, Any]) -> None:
    """The sentences that their sources do not bear out, for an answer that went out before it was checked."""
    for index, sentence in enumerate(answer["sentences"], start=1):
        if sentence["verdict"] != "supported":
            say(f"Sentence {index} is {FINDING[sentence['verdict']]}: {clip(sentence['text'], 100)}", "yellow")


def print_sources(answer: Mapping[str, Any]) -> None:
    """The footnotes of an answer by document, and what they disagree about.

    Of an abstention, what was searched and what came nearest.
    """
    cited = cited_numbers(answer["sentences"], answer["conflicts"])
    sources = [source_of(row) for row in answer["sources"]]
    if cited:
        console.print()
    disputed = [{"evidence": conflict["sides"]} for conflict in answer["conflicts"] if isinstance(conflict, Mapping)]
    print_documents((source for source in sources if source.n in cited), [*answer["sentences"], *disputed])
    for conflict in answer["conflicts"]:
        say(f"Sources disagree: {conflict_of(conflict)[0]}", "yellow")
    if not answer["answered"]:
        for tried in answer["searched"]:
            say(f"Searched: {tried}", "dim")
        if answer["nearest"]:
            say("Nearest passages:", "dim")
        print_documents(map(source_of, answer["nearest"]), quoted=True)
    if meant := read_as(answer["condensed"], answer["condensed_by"]):
        say(meant, "dim")
    failed, truncated = answer["fallback_reason"], answer["truncated"]
    for said in how_it_ended(answer["mode"], failed, truncated=truncated, answered=answer["answered"]):
        warn(said)
    print_notes(answer["notes"])
    if answer["answer"] == GREETING:
        return
    cost = f", ${answer['cost']:.6f}" if answer["cost"] else ""
    model = f" {answer['model']}" if answer["model"] else ""
    say(f"{answer['mode']}{model}, confidence {answer['confidence']}{cost}", "dim")


def print_follow_ups(answer: Mapping[str, Any]) -> None:
    """What may be asked next, one a line."""
    if answer["follow_ups"]:
        say("\nYou could ask next:", "dim")
    for question in answer["follow_ups"]:
        say(f"  {question}", "dim")


def print_documents(
    sources: Iterable[Source], sentences: Sequence[Mapping[str, Any]] = (), *, quoted: bool = False
) -> None:
    """Sources by document, each with its number, its place and that of the words which the sentences cite, and a link.

    `quoted` ones have their first words for a number.
    """
    for document in by_document(sources):
        say(f"{document.title} ({document.name})" if document.name else document.title, "bold dim")
        first = document.sources[0]
        if shown_at := "" if first.lines_uri else link(first):
            say(f"  {shown_at}", "dim")
        for source in document.sources:
            number, words = ("", f": {clip(source.snippet, 120)}") if quoted else (f"[{source.n}] ", "")
            where, citations = place_and_others(source), citations_of(sentences, source.n)
            cited = cited_at(citations, converted=is_made(source))
            narrower = f" (cited: {cited})" if cited and not where.startswith(cited) else ""
            say(f"  {number}{where}{narrower}{words}", "dim")
            if source.lines_uri:
                say(f"  {' ' * len(number)}{link(source, citations)}", "dim")


_INDENT = 4
_RIGHT = frozenset("run nodes embeddings embedded coverage took speed documents failed characters size".split())


class Entry(NamedTuple):
    """A row: its cells, of which the last may be of any length, and what is said of it below, in that style."""

    cells: Sequence[Any]
    below: str = ""
    style: str = "dim"


def print_entries(columns: Sequence[str], entries: Sequence[Entry], *, most: int | None = None) -> None:
    """The rows under the names of their columns; nothing where there are none, on a terminal at most `most` of them."""
    shown = entries[:most] if most is not None and console.is_terminal else entries
    rows = [["" if cell is None else str(cell) for cell in entry.cells] for entry in shown]
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)][:-1]
    if rows:
        console.out(_aligned(columns, columns, widths), style="bold", highlight=False)
    for row, entry in zip(rows, shown, strict=True):
        console.out(_aligned(columns, row, widths), highlight=False)
        if entry.below:
            _print_below(entry)
    if len(shown) < len(entries):
        say(f"... and {len(entries) - len(shown):,} more; --json has all of them", "dim")


def _print_below(entry: Entry) -> None:
    """Indented; in lines as wide as a terminal, else in one."""
    if console.is_terminal:
        console.print(Padding(Text(entry.below, style=entry.style), (0, 0, 0, _INDENT), expand=False))
    else:
        console.out(" " * _INDENT + entry.below, highlight=False)


def _aligned(columns: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([*_padded(columns, cells, widths), cells[-1]])


def _padded(columns: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for column, cell, width in zip(columns, cells, widths, strict=False):
        space = " " * (width - cell_len(cell))
        yield space + cell if column in _RIGHT else cell + space
