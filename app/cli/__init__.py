"""The `footnote` command: a thin shell over pipelines. Heavy imports live inside the commands."""

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app.cli import (
    ask,
    bench,
    chat,
    evaluate,
    export,
    facts,
    feedback,
    ingest,
    init,
    maintenance,
    models,
    runs,
    search,
    serve,
    status,
)
from app.cli.output import print_json, warn
from app.cli.signals import STOPPED, STOPPED_WHOLE, ending_well

if TYPE_CHECKING:
    from pipelines.errors import FootnoteError

app = typer.Typer(
    name="footnote",
    help="Ask a body of work questions; every sentence of an answer carries a checked footnote. "
    "Example: footnote ask 'What caused the 2021 outage?'",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _module in (init, ingest, status, search, ask, facts, chat, serve, runs, export, maintenance):
    app.add_typer(_module.verbs)
for _name, _group in (
    ("db", maintenance.db), ("models", models.group), ("eval", evaluate.group), ("bench", bench.group),
    ("feedback", feedback.group),
):  # fmt: skip
    app.add_typer(_group, name=_name)

_IN_PARTS = (("ingest",), ("reindex",), ("models", "add"))  # the same command goes on from where it was stopped


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"footnote {version('footnote')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run the command line; errors become one sentence and the exit code that DESIGN.md gives them."""
    from pipelines.errors import FootnoteError

    # Threads of numpy's products wait for one another busily on a machine that does something else, too.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    in_parts = any(sys.argv[1 : 1 + len(verb)] == list(verb) for verb in _IN_PARTS)
    stopped = ending_well(STOPPED if in_parts else STOPPED_WHOLE)
    try:
        app(prog_name="footnote", standalone_mode=True)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if code := stopped():  # libraries that are interrupted while they load make other errors of it
            sys.exit(code)
        if not isinstance(error, FootnoteError):
            raise
        _report(error)
        sys.exit(exit_code(error))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is registered for the exit takes a moment, and is done
        gc.freeze()  # the interpreter would look through everything once more before it goes
    sys.exit(0)


def exit_code(error: "FootnoteError") -> int:
    """3 for configuration, 5 for a service that cannot be reached, 2 for what the caller got wrong, else 1."""
    from pipelines.errors import ConfigError, ModelError, PackError, RetrievalError, ServiceUnavailable, SourceError

    if isinstance(error, ConfigError):
        return 3
    if isinstance(error, (ServiceUnavailable, ModelError)):
        return 5
    return 2 if isinstance(error, (RetrievalError, SourceError, PackError)) else 1


def _report(error: "FootnoteError") -> None:
    from pipelines.wording import with_hint

    if "--json" in sys.argv:
        print_json({"error": error})
    warn(with_hint(error.message, error.hint), "red")


if __name__ == "__main__":
    main()
