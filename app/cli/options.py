"""What several verbs of the command line share: options, settings, exit codes."""

from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

if TYPE_CHECKING:
    from pipelines.types import Filters


EXIT_FELL, EXIT_FAILED_DOCUMENTS, EXIT_STOPPED, EXIT_ENDED = 1, 4, 130, 143
CategoryName = Literal["resume", "linkedin", "journey", "github", "blog", "notion", "web", "generic"]
PART_NAMES = (
    "dense", "sparse", "completion", "whitening", "pairs", "headers", "typos", "trim", "phrases", "names", "category",
    "years", "section", "recency", "quality", "floor", "quota", "duplicates", "neighbours", "rerank", "escalation",
)  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
PlanOnly = Annotated[
    bool,
    typer.Option("--plan", help="Say what would be done, and do nothing; exit code 4 where something would fail."),
]
Collection = Annotated[list[str] | None, typer.Option(help="Only this collection; may be repeated.")]


def known_categories(named: list[str] | None) -> list[str] | None:
    """The named categories as given.

    Raises:
        typer.BadParameter: If there is no such category; names the nearest.
    """
    known = get_args(CategoryName)
    for name in named or ():
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise typer.BadParameter(f"There is no category {name!r}.{meant} Categories: {', '.join(known)}.")
    return named


Category = Annotated[
    list[str] | None,
    typer.Option(callback=known_categories, help="Only this category, e.g. resume, blog; may be repeated."),
]
Kind = Annotated[list[str] | None, typer.Option(help="Only this kind of passage, e.g. text, table; may be repeated.")]
Year = Annotated[list[int] | None, typer.Option(help="Only this year; may be repeated.")]
Author = Annotated[list[str] | None, typer.Option(help="Only this author; may be repeated.")]
Since = Annotated[str, typer.Option(help="Only documents dated on or after YYYY-MM-DD.")]
Until = Annotated[str, typer.Option(help="Only documents dated on or before YYYY-MM-DD.")]
DocumentNamed = Annotated[
    list[str] | None, typer.Option("--document", help="Only this document: id, name or title; may be repeated.")
]


def settings_now() -> Any:
    """The settings; what is logged goes where they say."""
    from app.settings import read_settings
    from pipelines.observe import configure_logging

    settings = read_settings()
    configure_logging(settings.log.level, settings.log.format)
    _note_local_home(settings.home)
    return settings


def _note_local_home(home: Path) -> None:
    """Say on stderr, once for each home, that the data is that of ./var and not of the user's folder."""
    from config.settings import is_clone

    marker = home / "noted"
    if home == Path("var") and not is_clone(Path()) and not marker.exists():
        with suppress(OSError):
            marker.touch()
        typer.echo(f"Using the database in {home.resolve()}; FOOTNOTE_HOME chooses another folder.", err=True)


def filters_of(**options: Any) -> "Filters":
    """Filters from the filter options of a verb, each under the name of its field; None is no filter."""
    from pipelines.types import Filters

    given: dict[str, Any] = {
        name: value if isinstance(value, str) else tuple(value or ()) for name, value in options.items()
    }
    return Filters(**given)


def parser_names() -> list[str]:
    """The parsers, for completion."""
    from pipelines.ingestion.parsers import PARSERS

    return list(PARSERS)


def parts_of(named: list[str] | None) -> list[str]:
    """The named parts, each once.

    Raises:
        typer.BadParameter: If one does not exist, or nothing would be left to search with.
    """
    wanted = list(dict.fromkeys(named or []))
    unknown = [name for name in wanted if name not in PART_NAMES]
    if unknown:
        raise typer.BadParameter(f"There is no part {unknown[0]!r}. Parts: {', '.join(PART_NAMES)}.")
    if {"dense", "sparse"} <= {*wanted}:
        raise typer.BadParameter("Nothing would be left to search with: leave dense or sparse in.")
    return wanted
