"""The question box of `/widget.js` on a page of another origin."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr

from app.chat_engine import build_chat_engine
from app.server import build_server
from config.settings import BearerToken, ServeSettings
from pipelines.ingestion.run import ingest
from tests.browser.conftest import CORPUS
from tests.browser.test_accessibility import findings
from tests.conftest import MakeSettings
from tests.served import Served

TOKEN = "visitor-token-0123456789"
PAGE = """<!doctype html><html lang="en"><title>Me</title><main><h1>Ruth</h1>
<footnote-ask token="{token}" heading="Ask about the kiln" theme="dark" accent="#ffb347"></footnote-ask></main>
<script src="{server}/widget.js"></script></html>"""
WIDGET = Path(__file__).parent.parent.parent / "app" / "assets" / "widget.js"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def sites(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """(a page of a site that may ask, the same page of one that may not)."""
    folder, settings = tmp_path_factory.mktemp("site"), stock()
    for name, text in CORPUS.items():
        (folder / name).write_text(text)
    ingest(settings, [str(folder)])
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) for _ in range(2)]
    origins = [f"http://127.0.0.1:{server.server_address[1]}" for server in servers]
    given = ServeSettings(tokens=(BearerToken(token=SecretStr(TOKEN)),), origins=(origins[0],))
    chat = build_chat_engine(settings.model_copy(update={"serve": given}))
    for server in servers:
        Thread(target=server.serve_forever, daemon=True).start()
    with Served(build_server(chat)) as served:
        (folder / "index.html").write_text(PAGE.format(server=served.url, token=TOKEN))
        yield origins[0], origins[1]
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 600, "height": 800})
    page.set_default_timeout(20_000)
    yield page
    page.close()


def test_a_page_of_an_allowed_site_asks_and_opens_a_footnote_by_keyboard(sites: tuple[str, str], opened: Page) -> None:
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.goto(sites[0])
    box = opened.get_by_label("Ask about the kiln")
    box.fill("Who built the anagama kiln?")
    box.press("Enter")
    mark = opened.get_by_role("button", name="Footnote 1").first
    expect(mark).to_be_visible()
    expect(opened.get_by_role("log")).to_contain_text("The anagama kiln was built in 2014 by Ruth Aldous.")
    mark.focus()
    mark.press("Enter")
    card = opened.get_by_role("group", name="Source: The kiln at Dunsyre")
    expect(card.locator("blockquote").first).to_contain_text("built in 2014 by Ruth Aldous")
    assert findings(opened) == []
    opened.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(mark).to_be_focused()
    assert wrong == []


def test_an_abstention_shows_the_nearest_words(sites: tuple[str, str], opened: Page) -> None:
    opened.goto(sites[0])
    opened.get_by_label("Ask about the kiln").fill("What did the anagama kiln cost?")
    opened.get_by_role("button", name="Ask").click()
    expect(opened.get_by_role("log")).to_contain_text("enough information")
    expect(opened.get_by_role("log")).to_contain_text("Near, but no answer")


def test_what_a_document_says_never_acts_on_the_page(sites: tuple[str, str], opened: Page) -> None:
    opened.on("dialog", lambda dialog: pytest.fail(dialog.message))
    opened.goto(sites[0])
    opened.get_by_label("Ask about the kiln").fill("What does the saboteur write in every postcard?")
    opened.get_by_role("button", name="Ask").click()
    expect(opened.get_by_role("log")).to_contain_text("postcard")
    assert opened.locator("footnote-ask img, footnote-ask script").count() == 0


def test_a_page_of_another_site_is_refused(sites: tuple[str, str], opened: Page) -> None:
    opened.goto(sites[1])
    opened.get_by_label("Ask about the kiln").fill("Who built the anagama kiln?")
    opened.get_by_role("button", name="Ask").click()
    expect(opened.get_by_role("alert")).to_contain_text("does not allow this page")


def test_the_file_is_small() -> None:
    assert WIDGET.stat().st_size <= 30_000
