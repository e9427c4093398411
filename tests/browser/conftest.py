"""A real `footnote chat` over a small corpus, forbidden the network, and a headless browser."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from config.settings import Settings
from pipelines.ingestion.run import ingest
from pipelines.store.embedded import EmbeddedServer
from tests.conftest import MakeSettings, making_settings, open_folder
from tests.guard import guarded_environment, read_log

BROWSERS = ("chromium", "google-chrome", "chromium-browser")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--process-per-site",
)  # fmt: skip
STILL = """new MutationObserver((_, seen) => {
    if (!document.head) return;
    seen.disconnect();
    document.head.insertAdjacentHTML("beforeend", "<style>*, ::before, ::after { animation: none !important }</style>");
}).observe(document, { childList: true, subtree: true });
"""
CORPUS = {
    "kiln.md": "# The kiln at Dunsyre\n\n"
    "Wood is stacked for a year before it is burnt. A firing needs eleven people.\n\n"
    "The anagama kiln was built in 2014 by Ruth Aldous. It is fired twice a year with larch.\n\n"
    "Between firings the chamber is swept and the shelves are washed with alumina.\n",
    "glaze.txt": "Tenmoku is a black glaze that breaks to rust where it is thin.\n",
    "hostile.md": "# <img src=x onerror=alert(1)> [press](javascript:alert(2))\n\n"
    "The saboteur writes <script>alert(3)</script> and ![pixel](https://evil.example/pixel.png) in every postcard.\n",
}


RESUME = """# Ines Varga

Bridge engineer

## Experience

### Senior Engineer, Northmere Bridges

March 2018 - present

- Inspected forty bridges

### Engineer, Carrow Steel

May 2012 - February 2018

- Drew girders

## Education

BSc Civil Engineering, Leith College, 2008 - 2012
"""


@dataclass(frozen=True, slots=True)
class LiveChat:
    """A running chat: its address, and the file that names every forbidden connection."""

    url: str
    log: Path


@pytest.fixture(scope="session")
def live_chat() -> Iterator[LiveChat]:
    """The chat as `footnote chat` serves it, with hashed embeddings and its own Postgres.

    When it is told to stop it must do so, take its Postgres with it, and have opened no connection off this machine.
    """
    home = open_folder("footnote-live-")
    for name, text in CORPUS.items():
        (home / "corpus").mkdir(exist_ok=True)
        (home / "corpus" / name).write_text(text)
    log = home / "forbidden.txt"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home / "var")}
    environment |= {"FOOTNOTE_EMBEDDING__PROVIDER": "hashed", **guarded_environment(log)}
    footnote = [sys.executable, "-m", "footnote"]
    subprocess.run(
        [*footnote, "ingest", str(home / "corpus")], env=environment | {"FOOTNOTE_INGESTION__EXECUTOR": "here"},
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    with (home / "chat.log").open("w") as errors:
        process = subprocess.Popen(
            [*footnote, "chat", "--headless", "--port", "0"],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            assert process.stdout
            yield LiveChat(read_address(process.stdout, home / "chat.log"), log)
            code = stop(process)
            assert (code, read_log(log)) == (0, []), (home / "chat.log").read_text()[-3000:]
            assert "Traceback" not in (home / "chat.log").read_text()
            assert not (home / "var" / "postgres" / "data" / "postmaster.pid").exists()
        finally:
            stop(process)
            shutil.rmtree(home, ignore_errors=True)


def stop(process: subprocess.Popen[str]) -> int:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    return process.returncode


def read_address(output: TextIO, errors: Path) -> str:
    for line in output:
        found = re.search(r"http://\S+", line)
        if found:
            return found.group()
    raise AssertionError(f"the chat did not start: {errors.read_text()}")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium; it ends with its tests, because Playwright keeps an event loop running in this thread."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield running
        running.close()


@pytest.fixture(scope="package")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """A profile of the browser, which keeps Streamlit's scripts from one page to the next."""
    context = browser.new_context(reduced_motion="reduce")
    context.add_init_script(STILL)
    yield context
    context.close()


@pytest.fixture
def page(profile: BrowserContext, live_chat: LiveChat) -> Iterator[Page]:
    """The chat for a reader whom it does not know; fails when the page asks anyone else or a script breaks.

    All tests have the same tab: in a new one another process compiles Streamlit's scripts.
    """
    opened = profile.pages[0] if profile.pages else profile.new_page()
    opened.goto(f"{live_chat.url}/_stcore/health")
    opened.evaluate("localStorage.clear(); sessionStorage.clear()")
    profile.clear_cookies()
    opened.set_default_timeout(20_000)
    opened.set_viewport_size({"width": 1280, "height": 860})
    opened.emulate_media(color_scheme="null")
    opened.mouse.move(0, 0)
    asked, broken = [], []
    listeners: dict[Any, Callable[[Any], object]] = {
        "request": lambda request: asked.append(request.url),
        "pageerror": lambda error: broken.append(str(error)),
        "dialog": lambda dialog: (broken.append(dialog.message), dialog.dismiss()),
    }
    for event, listener in listeners.items():
        opened.on(event, listener)
    opened.goto(live_chat.url)
    yield opened
    for event, listener in listeners.items():
        opened.remove_listener(event, listener)
    for each in profile.pages[1:]:
        each.close()
    profile.clear_permissions()
    elsewhere = [url for url in asked if not url.startswith((live_chat.url, "data:", "blob:"))]
    assert (elsewhere, broken) == ([], [])


@pytest.fixture
def tab(profile: BrowserContext) -> Iterator[Page]:
    """A tab beside that of `page`, for a chat of the test's own."""
    opened = profile.new_page()
    yield opened
    opened.close()


Serve = Callable[..., tuple[str, subprocess.Popen[str]]]


@pytest.fixture(scope="package")
def owned_chat(server: EmbeddedServer, migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a chat over a resume and a note whose documents and persona its tests may change."""
    resume = tmp_path_factory.mktemp("resume") / "resume.md"
    resume.write_text(RESUME)
    with making_settings(server, migrated) as make, serving(settings := make()) as serve:
        ingest(settings, [str(resume)])
        yellow = "#ffe600"  # on paper it has no contrast unless darkened
        yield serve(text=CORPUS["kiln.md"], FOOTNOTE_PERSONA__ACCENT=yellow)[0]


@pytest.fixture
def serve(make_settings: MakeSettings) -> Iterator[Serve]:
    """Starts the chat on a database of the test's own, as `serving` does."""
    with serving(make_settings()) as start:
        yield start


@pytest.fixture
def serve_alone() -> Iterator[Serve]:
    """Starts the chat with a Postgres of its own, as `serving` does."""
    with serving() as start:
        yield start


@contextmanager
def serving(settings: Settings | None = None) -> Iterator[Serve]:
    """Starts the chat, on the same port every time, over a document of `text` if one is given.

    `settings` are whose database it has, else it has a Postgres of its own; `more` are settings of the environment.
    """
    home = open_folder("footnote-served-")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home / "var")}
    environment |= {"FOOTNOTE_EMBEDDING__PROVIDER": "hashed", "FOOTNOTE_INGESTION__EXECUTOR": "here"}
    if settings:
        assert settings.database_url
        environment |= {"FOOTNOTE_HOME": str(settings.home), "DATABASE_URL": settings.database_url.get_secret_value()}
    started: list[subprocess.Popen[str]] = []
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def start(*options: str, text: str = "", name: str = "note.md", **more: str) -> tuple[str, subprocess.Popen[str]]:
        if text:
            assert settings
            (home / name).write_text(text)
            ingest(settings, [str(home / name)])
        with (home / "chat.log").open("a") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "footnote", "chat", "--headless", "--port", str(port), *options],
                env=environment | more, text=True, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        started.append(process)
        assert process.stdout
        return read_address(process.stdout, home / "chat.log"), process

    yield start
    for process in started:
        stop(process)
    shutil.rmtree(home, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a failed test of this folder once more: a click may meet a page that is drawn anew.

    The report of it holds the first failure.
    """
    if Path(__file__).parent not in item.path.parents:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if any(report.failed for report in reports):
        first = next(report.longreprtext for report in reports if report.failed)
        item._initrequest()  # type: ignore[attr-defined]
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        reports[0].sections.append(("failed and was run again", first))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
