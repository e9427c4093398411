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
    """Stop the embedded server; exit 5 when others use it."""
    stopped = _embedded(settings).stop()
    said = "stopped" if stopped else "Another process uses the database; close it first (a chat, an ingest)."
    _done(said, as_json=as_json, running=not stopped)
    if not stopped:
        raise typer.Exit(5)


def migrate_database(settings: Settings, to: str, *, yes: bool, as_json: bool) -> None:
    """Migrate, by default to the newest version, and say where the database stands; going down asks first."""
    from pipelines.store.database import migrate, reach
    from pipelines.store.schema import HEAD, assert_known, losses

    to = to or HEAD
    if to == "base":
        raise RetrievalError("Nothing would be left.", hint="`footnote db reset` empties the database.")
    assert_known(to)
    database, stands = reach(settings)
    lost = losses(stands, to)
    if lost and not yes:
        for each in (*lost, _advice(database.embedded)):
            output.warn(f"   {each}")
        way = f"from migration {stands} down to {to}"
        said = f"The database would go {way}, and lose something."
        output.agree(f"Take the database {way}?", said, as_json=as_json)
    before = migrate(database.engine, to)
    later = "" if to == HEAD else f"; the next command of this Footnote brings it to {HEAD} again"
    _done(f"at migration {to}{later}", as_json=as_json, migration=to, before=before)


def _advice(embedded: bool) -> str:
    """How to keep a copy; the embedded server needs the pg_dump that came with it."""
    from pipelines.store.embedded import binaries

    dump = f"footnote db start && {binaries() / 'pg_dump'}" if embedded else "pg_dump"
    return f'Keep a copy first: {dump} "$(footnote db url)" > footnote.sql'


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


def sweep_home(settings: Settings, *, yes: bool, as_json: bool) -> None:
    """Delete the kept files that nothing needs any more, if somebody agrees."""
    from pipelines.store.database import open_database, reading
    from pipelines.store.unused import sweep, unused

    home, engine = settings.home.resolve(), open_database(settings).engine
    with reading(engine, "looking for unused files") as connection:
        found = unused(connection, home)
    if found.paths and not yes:
        said = f"{found} in {home} would be deleted: no document and no kept version of one needs them."
        question = "Delete them? Another database that shares this folder would miss its own."
        output.agree(question, said, as_json=as_json)
    with reading(engine, "looking for unused files again") as connection:
        gone = sweep(connection, home, found)
    said = f"deleted: {gone}" if gone.paths else "nothing to delete"
    _done(said, as_json=as_json, deleted=len(gone.paths), bytes=gone.size)


def fetch_model(*, as_json: bool) -> None:
    """Download the local model."""
    from pipelines.models.weights import fetch

    folder = str(fetch())
    _done(f"fetched: {folder}", as_json=as_json, folder=folder)
