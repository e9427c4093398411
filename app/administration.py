"""What the commands about the database and the local model do."""

from typing import Any

import typer

from app import output
from config.settings import Settings
from pipelines.errors import ConfigError, RetrievalError


def _embedded(settings: Settings) -> Any:
    from pipelines.store.embedded import EmbeddedServer

    if settings.database_url is not None:
        raise ConfigError("DATABASE_URL is set, so there is no embedded server.", hint="Unset it to use one.")
    return EmbeddedServer(settings.home)


def _done(said: str, *, as_json: bool, **facts: Any) -> None:
    if as_json:
        output.print_json(facts)
    else:
        output.say(said)


def start_database(settings: Settings, *, as_json: bool) -> None:
    """Start the embedded server for good."""
    server = _embedded(settings)
    server.acquire()
    server.keep(True)
    _done(f"running: {server.libpq_url}", as_json=as_json, running=True, url=server.libpq_url)


def stop_database(settings: Settings, *, as_json: bool) -> None:
    """Stop the embedded server; exit 1 when others use it."""
    stopped = _embedded(settings).stop()
    said = "stopped" if stopped else "Another process uses the database; close it first (a chat, an ingest)."
    _done(said, as_json=as_json, running=not stopped)
    if not stopped:
        raise typer.Exit(1)


def migrate_database(settings: Settings, *, as_json: bool) -> None:
    """Migrate and say where the database stands."""
    from pipelines.store.database import HEAD, open_database

    open_database(settings)
    _done(f"at migration {HEAD}", as_json=as_json, migration=HEAD)


def show_url(settings: Settings, *, as_json: bool) -> None:
    """Print a URL that psql takes."""
    from pipelines.store.database import database_url

    url = database_url(settings).set(drivername="postgresql").render_as_string(hide_password=True)
    _done(url, as_json=as_json, url=url)


def reset_database(settings: Settings, *, yes: bool, as_json: bool) -> None:
    """Empty the database; refuses without --yes."""
    from pipelines.store.database import open_database, reset

    if not yes:
        raise RetrievalError("This deletes every document, node and log.", hint="Say --yes to do it.")
    reset(open_database(settings).engine)
    _done("empty", as_json=as_json, empty=True)


def fetch_model(*, as_json: bool) -> None:
    """Download the local model."""
    from pipelines.models.weights import fetch

    folder = str(fetch())
    _done(f"fetched: {folder}", as_json=as_json, folder=folder)
