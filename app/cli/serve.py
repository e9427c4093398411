"""`footnote mcp` and `footnote serve`: the servers for agents and programs."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.address import free_port
from app.cli.options import option, settings_now
from pipelines.errors import ConfigError
from pipelines.loading import loading

if TYPE_CHECKING:
    from app.door import Door
    from config.settings import Settings
    from pipelines.types import Audience

verbs = typer.Typer()
Visitor = Annotated[bool, option("Callers without a token are visitors, who see public documents only.", "--visitor")]


@verbs.command()
def mcp(
    http: Annotated[bool, option("Serve streamable HTTP instead of stdin and stdout.", "--http")] = False,
    port: Annotated[
        int | None, option("Port of --http; default: the one after FOOTNOTE_SERVE__PORT.", min=0, max=65535)
    ] = None,
    visitor: Visitor = False,
    allow_ingest: Annotated[bool, option("Offer tools that take in links and texts.", "--allow-ingest")] = False,
) -> None:
    """Serve the documents to an agent by the Model Context Protocol, read-only unless ingesting is allowed.

    Example: footnote mcp --visitor

    Example: footnote mcp --http --port 8600
    """
    settings = settings_now()
    try:
        with loading():
            from app.mcp import PATH, Doors, build_mcp, http_app
    except ModuleNotFoundError as error:
        raise _missing(error, "mcp") from error
    from app.access import Grant, all_scopes, assert_may_listen

    audience: Audience = "visitor" if visitor else "owner"
    doors = Doors(lambda: _open(settings))
    server = build_mcp(doors, Grant(all_scopes(audience), audience), may_ingest=allow_ingest)
    if http:
        assert_may_listen(settings.serve)
    doors.warm()
    with ExitStack() as beside:
        if allow_ingest:
            from app.worker import WorkerProcess

            beside.enter_context(WorkerProcess())
        if http:
            wanted = settings.serve.port + 1 if port is None else port
            _run(http_app(server, settings, audience), settings, wanted, PATH)
        else:
            server.run("stdio")


@verbs.command()
def serve(
    port: Annotated[
        int | None, option("Port to listen on; if it is taken, the next free one.", min=0, max=65535)
    ] = None,
    visitor: Visitor = False,
) -> None:
    """Serve the HTTP API, with a worker that takes documents in.

    Example: footnote serve --port 8600
    """
    settings = settings_now()
    from app.access import assert_may_listen

    assert_may_listen(settings.serve)
    with loading():
        from app.chat_engine import build_chat_engine
        from app.worker import WorkerProcess

        try:
            from app.server import build_server
        except ModuleNotFoundError as error:
            raise _missing(error, "serve") from error

    owners = settings.model_copy(update={"chat": settings.chat.model_copy(update={"visitor": False})})
    app = build_server(build_chat_engine(owners), "visitor" if visitor else "owner")
    with WorkerProcess():
        _run(app, settings, settings.serve.port if port is None else port)


def _open(settings: "Settings") -> "Door":
    from app.door import Door
    from pipelines.query.engine import build_query_engine

    return Door(build_query_engine(settings))


def _missing(error: ModuleNotFoundError, extra: str) -> ConfigError:
    package = (error.name or "").partition(".")[0]
    return ConfigError(f"The package {package} is not installed.", hint=f"Run `pip install 'footnote[{extra}]'`.")


def _run(app: Any, settings: "Settings", port: int, path: str = "") -> None:
    """Serve an application until Ctrl-C or SIGTERM, on the port or the next free one."""
    import uvicorn

    host = settings.serve.host
    free = free_port(host, port)
    if port and free != port:
        typer.echo(f"Port {port} is taken; using {free}.", err=True)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"Footnote: http://{shown}:{free}{path}   (Ctrl-C stops it)", err=True)
    uvicorn.run(app, host=host, port=free, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
