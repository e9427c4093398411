"""`footnote chat`: the Streamlit server in this process, on one address, with no telemetry."""

import os
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from app.address import free_port, is_loopback
from app.cli.options import option, settings_now
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.loading import loading

verbs = typer.Typer()
MAIN_SCRIPT = Path(__file__).parent.parent / "streamlit_app.py"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_START_SECONDS = 30.0
_ROOT = '<div id="root"></div>'
_OUTLINE = """
<style>
:root { color-scheme: light dark; background: light-dark(#fdfcf9, #17191c); }
#outline { position: fixed; inset: 12vh 0 auto; max-width: 44rem; margin: auto; padding: 0 1.5rem; }
#outline div { height: 1rem; margin-bottom: 1rem; border-radius: .3rem; background: light-dark(#dfdacc, #383c42); }
#outline div:first-child { height: 2.2rem; width: 60%; }
body:has([data-testid="stElementContainer"]) #outline { display: none; }
</style>
<div id="outline" role="status" aria-label="Opening the chat"><div></div><div></div><div></div><div></div></div>"""


@verbs.command()
def chat(
    port: Annotated[
        int | None, option("Port to listen on; if it is taken, the next free one.", min=0, max=65535)
    ] = None,
    sample: Annotated[bool, option("Ingest data/sample first if the database is empty.", "--sample")] = False,
    headless: Annotated[bool, option("Do not open a browser.", "--headless")] = False,
    visitor: Annotated[
        bool, option("Show what a visitor sees: public documents only, no library, no uploads.", "--visitor")
    ] = False,
) -> None:
    """Open the chat in the browser.

    Example: footnote chat --port 8600
    """
    from app.cli.ingest import ensure_sample
    from pipelines.store.database import open_database

    if visitor:
        os.environ["FOOTNOTE_CHAT__VISITOR"] = "true"  # which the pages read
    settings = settings_now()
    host = settings.chat.host
    if not is_loopback(host):
        raise ConfigError(
            f"The chat does not listen on {host}: it has no login, and every visitor could read and remove documents. "
            "There is no public mode yet.",
            hint="Unset FOOTNOTE_CHAT__HOST, and put a proxy with a login in front of 127.0.0.1.",
        )
    with suppress(ServiceUnavailable):  # which the pages say, and go on once it is there
        open_database(settings).engine.dispose()
    if sample:
        ensure_sample(settings)
    launch(host, settings.chat.port if port is None else port, headless=headless,
           max_upload_mb=settings.chat.max_upload_mb, frame_ancestors=settings.chat.frame_ancestors)  # fmt: skip


def launch(host: str, port: int, *, headless: bool, max_upload_mb: int, frame_ancestors: Sequence[str] = ()) -> None:
    """Serve the chat until Ctrl-C or SIGTERM.

    Args:
        host: A loopback address.
        port: Where to begin looking for a free port; 0 = any.
        headless: Do not open a browser.
        max_upload_mb: The largest file that the upload box takes.
        frame_ancestors: The sites that may show the chat in a frame.

    Raises:
        ConfigError: If this machine does not have the address, or the port may not be used.
        ServiceUnavailable: If no port from `port` on is free.
    """
    free = free_port(host, port)
    if port and free != port:
        typer.echo(f"Port {port} is taken; using {free}.", err=True)
    with loading():
        import app.chat_engine  # noqa: F401 - now: two first visitors would race for it, and see half
        from app.worker import WorkerProcess

    threading.Thread(target=_announce, args=(host, free), daemon=True).start()
    with WorkerProcess():
        _serve(flags(host, free, headless=headless, max_upload_mb=max_upload_mb), frame_ancestors)


def flags(host: str, port: int, *, headless: bool, max_upload_mb: int) -> list[str]:
    """Streamlit's flags: they outrank its files and its environment variables."""
    options = {
        "server.address": host,
        "server.port": port,
        "server.headless": str(headless).lower(),
        "server.maxUploadSize": max_upload_mb,
        "server.showEmailPrompt": "false",
        "server.fileWatcherType": "none",
        "server.enableStaticServing": "true",
        "server.enableAgentApi": "false",
        "runner.postScriptGC": "false",
        "browser.gatherUsageStats": "false",
        "browser.serverAddress": host,
        "logger.hideWelcomeMessage": "true",
        "logger.level": "warning",
    }
    allowed = dict.fromkeys((*_LOOPBACK, "[::1]", host))
    given = [f"--{name}={value}" for name, value in options.items()]
    return given + [f"--server.allowedHosts={name}" for name in allowed]


def _announce(host: str, port: int) -> None:
    """Print the address once something answers there."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
            continue
        shown = f"[{host}]" if ":" in host else host
        typer.echo(f"Footnote: http://{shown}:{port}   (Ctrl-C stops it)")
        sys.stdout.flush()
        return


class OriginPolicy:
    """Keeps other pages out: from frames, but for the sites given, and from the chat's websocket.

    Streamlit refuses websockets of other sites, but takes every port of this machine for its own.
    """

    def __init__(self, app: Callable[..., Awaitable[None]], ancestors: Sequence[str]) -> None:
        self._app = app
        self._policy = " ".join(("frame-ancestors 'self'", *ancestors)).encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, and add the header to its response; refuse a websocket of another local page."""
        if scope["type"] == "websocket" and _is_of_another_port(dict(scope["headers"])):
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", self._policy)]
            await send(message)

        await self._app(scope, receive, with_policy)


def _is_of_another_port(headers: Mapping[bytes, bytes]) -> bool:
    origin = urlsplit(headers.get(b"origin", b"").decode("latin-1"))
    return is_loopback(origin.hostname or "") and origin.netloc != headers.get(b"host", b"").decode("latin-1")


def _serve(options: list[str], frame_ancestors: Sequence[str]) -> None:
    with loading():
        from starlette.middleware import Middleware
        from streamlit import file_util, net_util
        from streamlit.web import cli
        from streamlit.web.server.starlette import starlette_app

    # Streamlit has no setting for headers and ports.
    of_streamlit = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [Middleware(OriginPolicy, frame_ancestors), *of_streamlit()]

    # For an Origin that it does not know, Streamlit asks a server on the internet for this machine's own address.
    net_util.get_internal_ip = lambda: None
    net_util.get_external_ip = lambda: None
    with TemporaryDirectory(prefix="footnote-page-") as folder:
        files = _with_outline(Path(file_util.get_static_dir()), Path(folder))
        file_util.get_static_dir = lambda: str(files)
        cli.main(["run", str(MAIN_SCRIPT), *options], standalone_mode=False)


def _with_outline(original: Path, folder: Path) -> Path:
    """A folder of links to Streamlit's files beside a page of ours; the original where there can be no links."""
    with suppress(OSError):
        for path in original.iterdir():
            if path.name != "index.html":
                (folder / path.name).symlink_to(path, target_is_directory=path.is_dir())
        page = (original / "index.html").read_text("utf-8").replace("<title>Streamlit<", "<title>Footnote<")
        (folder / "index.html").write_text(page.replace(_ROOT, _ROOT + _OUTLINE), "utf-8")
        return folder
    return original
