"""Shared parts of the verbs: options, settings, exit codes."""

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from config.parts import PARTS

if TYPE_CHECKING:
    from config.settings import Settings

EXIT_FAILED_DOCUMENTS, EXIT_STOPPED, EXIT_ENDED = 4, 130, 143
CategoryName = Literal["resume", "linkedin", "journey", "github", "blog", "notion", "web", "generic"]


def option(meaning: str, *names: str, **more: Any) -> Any:
    """An option with its help; without names it is called as its parameter."""
    return typer.Option(*names, help=meaning, **more)


def argument(meaning: str, **more: Any) -> Any:
    """An argument with its help."""
    return typer.Argument(help=meaning, **more)


Json = Annotated[bool, option("Print one JSON document on stdout.", "--json")]
PlanOnly = Annotated[
    bool,
    option("Print what would be done and change nothing; exit code 4 if something would fail.", "--plan"),
]


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


def _repeated(meaning: str, name: str = "", **more: Any) -> Any:
    return typer.Option(*filter(None, [name]), help=f"Only this {meaning}; may be repeated.", **more)


def _dated(meaning: str) -> Any:
    return typer.Option(help=f"Only documents dated on or {meaning} YYYY-MM-DD.")


_FILTERS: dict[str, Any] = {  # by their fields of Filters
    "collection": Annotated[list[str] | None, _repeated("collection")],
    "category": Annotated[list[str] | None, _repeated("category, e.g. resume, blog", callback=known_categories)],
    "kind": Annotated[list[str] | None, _repeated("kind of passage: text, list, table or code")],
    "year": Annotated[list[int] | None, _repeated("year")],
    "author": Annotated[list[str] | None, _repeated("author")],
    "since": Annotated[str, _dated("after")],
    "until": Annotated[str, _dated("before")],
    "document": Annotated[list[str] | None, _repeated("document: id, name or title", "--document")],
}


def filtered(verb: Callable[..., None]) -> Callable[..., None]:
    """Replace a verb's parameter `filters` by the filter options."""

    @functools.wraps(verb)
    def with_options(**given: Any) -> None:
        from pipelines.types import Filters

        chosen = {name: given.pop(name) for name in _FILTERS}
        lists = {name: tuple(value or ()) for name, value in chosen.items() if not isinstance(value, str)}
        verb(**given, filters=Filters(**{**chosen, **lists}))

    signature, kind = inspect.signature(verb), inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(name, kind, default="" if name in {"since", "until"} else None, annotation=annotation)
        for name, annotation in _FILTERS.items()
    ]
    listed = [option for name, each in signature.parameters.items()
              for option in (options if name == "filters" else [each])]  # fmt: skip
    vars(with_options)["__signature__"] = signature.replace(parameters=listed)
    with_options.__annotations__ = {each.name: each.annotation for each in listed}
    return with_options


def settings_now() -> "Settings":
    """Read the settings, and configure the log by them."""
    from app.settings import read_settings
    from pipelines.observe import configure_logging

    settings = read_settings()
    configure_logging(settings.log.level, settings.log.format)
    _note_local_home(settings.home)
    return settings


def _note_local_home(home: Path) -> None:
    """Print on stderr, once for each home, that ./var is used and not the user's data folder."""
    from config.settings import is_clone

    marker = home / "noted"
    if home == Path("var") and not is_clone(Path()) and not marker.exists():
        with suppress(OSError):
            marker.touch()
        typer.echo(f"Using the database in {home.resolve()}; FOOTNOTE_HOME chooses another folder.", err=True)


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
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise typer.BadParameter(f"There is no part {unknown[0]!r}. Parts: {', '.join(PARTS)}.")
    if {"dense", "sparse"} <= {*wanted}:
        raise typer.BadParameter("Without dense and sparse there is no retriever left; keep one of them.")
    return wanted
