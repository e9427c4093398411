"""What takes too long for `make test`: 150 uploads, and how soon something stands on the page; in a real browser."""

from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from tests.browser.conftest import LiveChat, Serve
from tests.browser.test_uploads import upload

_FIRST_PAINT = "performance.getEntriesByType('paint')[0].startTime"


def test_a_hundred_and_fifty_uploads_are_accounted_for(serve_alone: Serve, browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    upload(serve_alone, page, tmp_path, 150)
    page.close()


def test_an_outline_stands_within_half_a_second(live_chat: LiveChat, browser: Browser) -> None:
    taken = []
    for _ in range(9):
        page = browser.new_context().new_page()
        page.goto(live_chat.url)
        page.get_by_test_id("stChatInputTextArea").wait_for()
        taken.append(page.evaluate(_FIRST_PAINT))
        page.context.close()
    assert median(taken) < 500, taken
