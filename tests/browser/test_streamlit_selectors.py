"""Every selector of the style sheet that names a part of Streamlit finds it: a new Streamlit may rename its parts."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from app import render
from tests.browser.conftest import LiveChat
from tests.browser.test_chat import _ask

STYLE = (Path(render.__file__).parent / "assets" / "style.css").read_text("utf-8")
PARTS = set(re.findall(r'\[data-testid[*^$]?="\w+"\]', STYLE))
WHILE_BUSY = {part for part in PARTS if "StatusWidget" in part or part.endswith('$="Icon"]')}  # seen for moments only


def test_the_style_sheet_names_parts_of_streamlit_that_exist(page: Page) -> None:
    _ask(page, "What did the anagama kiln cost?")
    expect(page.locator('[class*="st-key-thumbs_"]')).to_be_visible()
    page.get_by_role("button", name="Share or save").click()
    for part in sorted(PARTS - WHILE_BUSY):
        expect(page.locator(part).first).to_be_attached()
    assert len(PARTS) <= 12
    lines = [line for line in STYLE.splitlines() if "stApp" in line or "data-testid" in line or "st-key" in line]
    assert len(lines) <= 60


def test_an_outline_stands_until_the_chat_is_there(browser: Browser, live_chat: LiveChat) -> None:
    page = browser.new_page()
    page.route("**/*.js", lambda route: route.abort())
    page.goto(live_chat.url)
    expect(page.locator("#outline")).to_be_visible()
    assert page.title() == "Footnote"
    page.unroute("**/*.js")
    page.reload()
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_visible()
    expect(page.locator("#outline")).to_be_hidden()
    page.close()
