"""Questions to a running server (FOOTNOTE_SERVER); only the standard library is imported."""

import json
import ssl
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from config.settings import Settings
from pipelines import errors
from pipelines.errors import ConfigError, FootnoteError, ServiceUnavailable

_SECONDS = 300.0  # that a language model may take
_HINT = "Start it with `footnote serve`, or unset FOOTNOTE_SERVER."


def ask_server(settings: Settings, asked: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, data) of the events of an answer, the Answer last; of the Answer alone unless `asked` wants a stream.

    Raises:
        ServiceUnavailable: If the server cannot be reached, or breaks off.
        ConfigError: If it does not accept the token.
        FootnoteError: What the server refuses, as its error's type.
    """
    address = urlsplit(settings.server)
    host = address.hostname or ""
    if address.scheme == "https":
        context = ssl.create_default_context(cafile=settings.ca_file or None)
        connection: HTTPConnection = HTTPSConnection(host, address.port, timeout=_SECONDS, context=context)
    else:
        connection = HTTPConnection(host, address.port, timeout=_SECONDS)
    headers = {"Content-Type": "application/json"}
    if settings.server_token:
        headers["Authorization"] = f"Bearer {settings.server_token.get_secret_value()}"
    try:
        connection.request("POST", f"{address.path.rstrip('/')}/v1/ask", json.dumps(dict(asked)), headers)
        reply = connection.getresponse()
        if reply.status != 200:
            raise _refused(settings.server, reply)
        if asked.get("stream"):
            yield from _events(reply)
        else:
            yield "Answer", json.load(reply)
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServiceUnavailable(f"The server {settings.server} does not answer: {reason}.", hint=_HINT) from error
    finally:
        connection.close()


def _events(reply: HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in reply:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data" and name == "Error":
            raise _of(json.loads(value)["error"])
        elif field == "data":
            yield name, json.loads(value)
    if name != "Answer":
        raise HTTPException("it broke off")


def _refused(server: str, reply: HTTPResponse) -> FootnoteError:
    try:
        error = json.load(reply)["error"]
    except (ValueError, KeyError, TypeError):
        return ServiceUnavailable(f"{server} is no Footnote server: HTTP {reply.status}.", hint=_HINT)
    if reply.status in (401, 403):
        return ConfigError(f"The server {server} refuses: {error['message']}", hint="Set FOOTNOTE_SERVER_TOKEN.")
    return _of(error)


def _of(error: Mapping[str, str]) -> FootnoteError:
    """The error of a server as the class that it names."""
    known = getattr(errors, error["type"], None)
    kind = known if isinstance(known, type) and issubclass(known, FootnoteError) else ServiceUnavailable
    return kind(error["message"], hint=error["hint"])
