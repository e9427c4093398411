"""The persona's page in both themes; a visitor's chat: its conversations, and in a frame of another site."""

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import serving
from tests.browser.test_accessibility import NOTHING, findings_in_both_themes
from tests.browser.test_chat import _ask as ask
from tests.conftest import MakeSettings

TEXT = "# The kiln at Dunsyre\n\nThe anagama kiln was built in 2014 by Ruth Aldous. It is fired twice a year.\n"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the site serves."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(pages: Path) -> Iterator[int]:
    """The port of another site."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(pages))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def visited(site: int, stock: MakeSettings) -> Iterator[str]:
    """The address of a visitor's chat, which the site may show in a frame."""
    with serving(stock()) as serve:
        yield serve("--visitor", text=TEXT, FOOTNOTE_CHAT__FRAME_ANCESTORS=f'["http://localhost:{site}"]')[0]


def test_the_name_of_the_page_is_in_the_chat_and_axe_finds_nothing_serious(owned_chat: str, tab: Page) -> None:
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(f"{owned_chat}/persona")
    tab.get_by_label("Name").fill("Ruth Aldous")
    assert findings_in_both_themes(tab) == NOTHING
    tab.get_by_role("button", name="Save").click()
    expect(tab.get_by_text("Saved.")).to_be_visible()
    tab.goto(owned_chat)
    expect(tab.get_by_role("heading", name="Ask about Ruth Aldous")).to_be_visible()
    assert tab.title() == "Ruth Aldous"
    ask(tab, "Who built the anagama kiln?")
    assert findings_in_both_themes(tab) == NOTHING


def test_a_site_that_is_named_shows_the_chat_in_a_frame_and_no_other_does(
    visited: str, tab: Page, site: int, pages: Path
) -> None:
    for width in (360, 900):
        frame = f'<iframe src="{visited}/?embed=true" width="{width}" height="640"></iframe>'
        (pages / f"{width}.html").write_text(f"<!doctype html><title>A site</title>{frame}")
        tab.set_viewport_size({"width": width + 20, "height": 700})
        tab.goto(f"http://localhost:{site}/{width}.html")
        chat = tab.frame_locator("iframe")
        chat.get_by_test_id("stChatInputTextArea").fill("Who built the anagama kiln?")
        chat.get_by_test_id("stChatInputTextArea").press("Enter")
        chat.locator(".fn-chip").first.click()
        expect(chat.locator(".fn-reader mark").first).to_contain_text("Ruth Aldous")
        assert chat.locator("html").evaluate("page => page.scrollWidth <= innerWidth")
        expect(chat.get_by_test_id("stChatInputTextArea")).to_have_value("")  # what was sent is no draft
    with tab.expect_console_message(lambda message: "frame-ancestors" in message.text):
        tab.goto(f"http://127.0.0.1:{site}/900.html")
    expect(tab.locator("iframe")).to_be_visible()


def test_a_visitor_finds_a_conversation_again_and_nobody_elses(visited: str, browser: Browser) -> None:
    ann, ben = browser.new_context(), browser.new_context()
    page = ann.new_page()
    page.goto(visited)
    ask(page, "Who built the anagama kiln?")
    expect(page).to_have_url(re.compile(r"\?c=[0-9a-f]{32}$"))
    page.reload()
    expect(page.locator(".fn-answer .fn-words", has_text="built in 2014 by Ruth Aldous")).to_be_visible()
    other = ben.new_page()
    other.goto(page.url)
    expect(other.get_by_test_id("stToast")).to_contain_text("not here")
    expect(other.locator(".fn-answer")).to_have_count(0)
    ann.close()
    ben.close()


def test_two_visitors_ask_at_once_and_each_reads_their_own_answer(visited: str, browser: Browser) -> None:
    asked = {"Who built the anagama kiln?": "Ruth Aldous", "How often is the anagama kiln fired?": "twice a year"}
    pages = [browser.new_context().new_page() for _ in asked]
    boxes = [page.get_by_test_id("stChatInputTextArea") for page in pages]
    for page, box, question in zip(pages, boxes, asked, strict=True):
        page.goto(visited)
        box.fill(question)
    for box in boxes:
        box.press("Enter")
    for page, (question, answer) in zip(pages, asked.items(), strict=True):
        expect(page.locator(".fn-answer .fn-words", has_text=answer)).to_be_visible()
        page.reload()
        expect(page.locator("h2.fn-question")).to_have_text([question])
        expect(page.locator(".fn-answer .fn-words", has_text=answer)).to_be_visible()
        page.context.close()
