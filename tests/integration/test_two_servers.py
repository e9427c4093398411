"""Two servers of one database, each with a home of its own, behind a proxy that takes turns."""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from config.settings import Settings
from tests.conftest import open_folder
from tests.loopback import Loopback
from tests.served import footnote_served

_UP, _SEEN = 60.0, 3.0  # seconds until a job has ended, and until a server shows what another one took in


class Proxy(Loopback):
    """Passes each request to the next of these addresses."""

    def __init__(self, addresses: list[str]) -> None:
        self.next = itertools.cycle(addresses).__next__

    def handled_by(self) -> type[BaseHTTPRequestHandler]:
        return _Passing


class _Passing(BaseHTTPRequestHandler):
    fake: Proxy

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {name: value for name, value in self.headers.items() if name.lower() in ("content-type", "accept")}
        answer = httpx.request(self.command, self.fake.next() + self.path, content=body, headers=kept, timeout=30)
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_POST = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def server(settings: Settings) -> Iterator[str]:
    """The address of `footnote serve` on this database, in a process and a home of its own."""
    assert settings.database_url is not None
    own = {
        "FOOTNOTE_HOME": str(open_folder("footnote-server-")),
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "FOOTNOTE_EMBEDDING__PROVIDER": "hashed",
    }
    with footnote_served(dict(os.environ) | own) as (url, _):
        yield url


@pytest.mark.trial
def test_what_one_server_takes_in_the_other_shows_within_three_seconds(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings()
    with ExitStack() as stack:
        addresses = [stack.enter_context(server(settings)) for _ in range(2)]
        proxy = stack.enter_context(Proxy(addresses))
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{proxy.port}", timeout=30))
        for name in ("kiln", "loom", "anvil"):
            text = f"# {name.title()}\n\nRuth Aldous mended the {name}.\n".encode()
            job = client.post("/v1/documents", files={"files": (f"{name}.md", text)}).json()["job"]
            until = time.monotonic() + _UP
            while client.get(f"/v1/ingest/{job}").json()["state"] not in ("done", "failed"):
                assert time.monotonic() < until
                time.sleep(0.05)
            assert [each["outcome"] for each in client.get(f"/v1/ingest/{job}").json()["outcomes"]] == ["added"]
            done = time.monotonic()
            for address in addresses:
                while not _finds(address, name):
                    assert time.monotonic() - done < _SEEN
                    time.sleep(0.05)
        removed = client.delete("/v1/documents/kiln.md")
        assert removed.status_code == 200
        assert not any(_finds(address, "kiln") for address in addresses)


def _finds(address: str, word: str) -> bool:
    found = httpx.post(f"{address}/v1/search", json={"question": f"Who mended the {word}?"}, timeout=30).json()
    return any(word in each["text"] for each in found["results"])
