"""The renderer of the command line: one registry of result types, and what every rendering is drawn with."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.cli.options import EXIT_STOPPED
from app.serialise import serialise
from pipelines.errors import RetrievalError

if TYPE_CHECKING:
    from pipelines.answers import Source

console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
stderr = Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def emit(result: Any, as_json: bool, code: int = 0) -> None:
    """Print a result, as one JSON document or as text for people, and exit with a code unless it is 0.

    Raises:
        typer.Exit: With that code.
    """
    print_json(result) if as_json else render(result)
    if code:
        raise typer.Exit(code)


@singledispatch
def render(result: Any) -> None:
    """Print a result for people; each verb registers the types that it gives."""
    raise TypeError(f"No rendering of {type(result).__name__} is registered.")


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a command: a sentence for people, facts for programs."""

    text: str
    facts: Mapping[str, Any]
    style: str = ""


@render.register(Done)
def _render_done(done: Done) -> None:
    say(done.text, done.style)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of a measurement for programs; for people too, unless `shown` are others. `title` stands above them."""

    figures: Mapping[str, Any]
    shown: Mapping[str, Any] | None = None
    title: str = ""


@render.register(Report)
def _render_report(report: Report) -> None:
    if report.title:
        say(report.title, "bold")
    for name, value in (report.shown or report.figures).items():
        if value or value == 0:
            print_figures(name, value)


def print_figures(name: str, value: Any) -> None:
    """Print a value under its name: a table for rows of named values, several for a mapping of such, else a line."""
    held: dict[Any, Any] = dict(value) if isinstance(value, Mapping) else {}
    if isinstance(value, list):
        held = dict(enumerate(value))
    rows: dict[Any, dict[Any, Any]] = {key: values for key, item in held.items() if (values := _named(item))}
    columns = list(dict.fromkeys(column for values in rows.values() for column in values))
    if not rows:
        say(f"{name}: {_cell(value)}")
    elif isinstance(value, list):
        table(name, columns, [[_cell(values.get(column)) for column in columns] for values in rows.values()])
    elif all(map(_named, next(iter(rows.values())).values())):
        for key, item in held.items():
            print_figures(f"{name}: {key}", item)
    else:
        if len(columns) > len(rows):
            rows, columns = {column: {key: rows[key].get(column) for key in rows} for column in columns}, [*rows]
        cells = [[key, *(_cell(values.get(column)) for column in columns)] for key, values in rows.items()]
        table(name, ["", *columns], cells)


def _named(value: Any) -> dict[str, Any]:
    """The named values of a mapping or a list's row; empty for a value with a text of its own."""
    if isinstance(value, Mapping):
        return dict(value)
    has_text = not is_dataclass(value) or isinstance(value, type) or type(value).__str__ is not object.__str__
    return {} if has_text else {each.name: getattr(value, each.name) for each in fields(value)}


def _cell(value: Any) -> str:
    """A value as text: numbers with at most four decimals, nothing for None."""
    if named := _named(value):
        return ", ".join(f"{name} {_cell(item)}" for name, item in named.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return f"{value:.4f}" if isinstance(value, float) else "" if value is None else str(value)


def local_time(iso: str, shape: str = "%Y-%m-%d %H:%M") -> str:
    """A time of the database by the clock of this machine."""
    return datetime.fromisoformat(iso).astimezone().strftime(shape)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Write a value to stdout as one JSON document; as one line without an indent."""
    sys.stdout.write(json.dumps(serialise(value), ensure_ascii=False, indent=indent, default=str) + "\n")
    sys.stdout.flush()


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; cells are text, never markup."""
    drawn = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold", justify="right" if column in _NUMERIC else "left")
    for row in rows:
        drawn.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console.print(drawn)


_NUMERIC = {"nodes", "embeddings", "documents", "coverage", "score", "dense", "sparse", "fused", "#", "page"}


def say(text: str, style: str = "") -> None:
    """Print a line for people, never read as markup."""
    console.print(Text(text, style=style))


def agree(question: str, message: str, *, as_json: bool) -> None:
    """Print what would be done, and continue only if a person agrees.

    Raises:
        RetrievalError: If there is no terminal to ask on.
        typer.Exit: With 130, if the answer is no or none.
    """
    if as_json or not sys.stdin.isatty():
        raise RetrievalError(message, hint="Add --yes to confirm.")
    warn(message)
    confirm(question)


def confirm(question: str) -> None:
    """Ask a person, and continue only if the answer is yes.

    Raises:
        typer.Exit: With 130, if it is no or none.
    """
    try:
        if typer.confirm(question):
            return
        warn("Nothing was done.")
    except typer.Abort:  # Ctrl-C, which the handler reported, or the end of the input
        pass
    raise typer.Exit(EXIT_STOPPED)


def warn(text: str, style: str = "yellow") -> None:
    """Print a line on stderr."""
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
    """Report a long task; gives (a function for the reason of each wait, one for the progress of each step).

    Each wait stays as a line on stderr. On a terminal the progress is one line below them until the task ends;
    else, and for a program (`quiet`), the second function is None.
    """
    if quiet or not stderr.is_terminal:
        yield note, None
        return
    with stderr.status(Text(what)) as shown:
        yield note, lambda far: shown.update(Text(clip(f"{what}: {far}", max(stderr.width - 4, 20))))


@contextmanager
def waiting(what: str, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show on a terminal's stderr that something is under way, until the block or the yielded function ends it."""
    if quiet or not stderr.is_terminal:
        yield lambda: None
        return
    with stderr.status(Text(what)) as shown:
        yield shown.stop


def note(message: str) -> None:
    """Print a line on stderr, with the time."""
    warn(f"{datetime.now():%H:%M:%S}  {message}", "dim")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A function of (label, done, total); each label has a progress bar until it is finished."""
    with progress_bar(quiet=quiet) as bar:
        tasks: dict[str, Any] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done, total=total)
            if done >= total:
                bar.remove_task(tasks.pop(label))

        yield advance


def say_notes(notes: Iterable[str]) -> None:
    """Print the notes of a search, one per line."""
    for note in notes:
        say(f"Note: {note}", "yellow")


def clip(text: str, limit: int) -> str:
    """The text on one line, cut after a word to at most `limit` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1].rsplit(" ", 1)[0] + "…"


def print_documents(
    sources: "Iterable[Source]", sentences: Sequence[Mapping[str, Any]] = (), *, quoted: bool = False
) -> None:
    """Print sources by document, each with its number, its place, the place of the cited words, and a link.

    With `quoted`, their words instead of the number.
    """
    from app.cli.rows import citations_of
    from app.wording import by_document, cited_at, is_made, link, place_and_others

    for document in by_document(sources):
        say(f"{document.title} ({document.name})" if document.name else document.title, "bold dim")
        first = document.sources[0]
        if shown_at := "" if first.lines_uri else link(first):
            say(f"  {shown_at}", "dim")
        for source in document.sources:
            number, words = ("", f": “{clip(source.words, 240)}”") if quoted else (f"[{source.n}] ", "")
            where, citations = place_and_others(source), citations_of(sentences, source.n)
            cited = cited_at(citations, converted=is_made(source))
            narrower = f" (cited: {cited})" if cited and not where.startswith(cited) else ""
            say(f"  {number}{where}{narrower}{words}", "dim")
            if source.lines_uri:
                say(f"  {' ' * len(number)}{link(source, citations)}", "dim")


_INDENT = 4
_RIGHT = frozenset("run nodes embeddings embedded coverage took speed documents failed characters size".split())


class ListEntry(NamedTuple):
    """A row: its cells, of which the last may be of any length, and a remark below it, in that style."""

    cells: Sequence[Any]
    below: str = ""
    style: str = "dim"


def print_entries(columns: Sequence[str], entries: Sequence[ListEntry], *, most: int | None = None) -> None:
    """Print rows under the names of their columns, on a terminal at most `most` of them; nothing without rows."""
    shown = entries[:most] if most is not None and console.is_terminal else entries
    rows = [["" if cell is None else str(cell) for cell in entry.cells] for entry in shown]
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)][:-1]
    if rows:
        console.out(_aligned(columns, columns, widths), style="bold", highlight=False)
    for row, entry in zip(rows, shown, strict=True):
        console.out(_aligned(columns, row, widths), highlight=False)
        if entry.below and console.is_terminal:  # wrapped at its width
            console.print(Padding(Text(entry.below, style=entry.style), (0, 0, 0, _INDENT), expand=False))
        elif entry.below:
            console.out(" " * _INDENT + entry.below, highlight=False)
    if len(shown) < len(entries):
        say(f"... and {len(entries) - len(shown):,} more; --json has all of them", "dim")


def _aligned(columns: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = []
    for column, cell, width in zip(columns, cells, widths, strict=False):
        space = " " * (width - cell_len(cell))
        padded.append(space + cell if column in _RIGHT else cell + space)
    return "  ".join([*padded, cells[-1]])
