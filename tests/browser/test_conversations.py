"""A conversation and its draft are found again, in a real browser."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import CORPUS, Serve
from tests.browser.test_chat import BUILT, _ask

BOX = "stChatInputTextArea"


def test_a_reload_and_another_tab_find_the_conversation_and_its_draft(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    expect(page).to_have_url(re.compile(r"\?c=[0-9a-f]{32}$"))
    box = page.get_by_test_id(BOX)
    box.fill("How often is it fi")
    page.wait_for_timeout(1500)  # a draft is told after a pause
    page.reload()
    expect(page.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    expect(page.get_by_test_id(BOX)).to_have_value("How often is it fi")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    expect(other.get_by_test_id(BOX)).to_have_value("How often is it fi")
    other.close()
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".fn-answer")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"^[^?]*$"))
    expect(page.get_by_test_id(BOX)).to_have_value("")
    page.locator(".st-key-conversations").get_by_role("button", name="Who built the anagama kiln?").first.click()
    expect(page.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    expect(page.get_by_test_id(BOX)).to_have_value("How often is it fi")


def test_a_share_link_shows_one_answer_until_it_is_revoked(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    reader = page.context.new_page()
    reader.goto(link)
    expect(reader.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    reader.locator(".fn-chip").first.click()
    expect(reader.locator(".fn-reader mark").first).to_contain_text(BUILT)
    expect(reader.get_by_test_id(BOX)).to_have_count(0)
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()
    reader.reload()
    expect(reader.get_by_text("This link leads nowhere.")).to_be_visible()
    reader.close()


def test_a_visitor_finds_a_conversation_again_and_nobody_elses(serve: Serve, browser: Browser) -> None:
    url, _ = serve("--visitor", text=CORPUS["kiln.md"])
    ann, ben = browser.new_context(), browser.new_context()
    page = ann.new_page()
    page.goto(url)
    _ask(page, "Who built the anagama kiln?")
    expect(page).to_have_url(re.compile(r"\?c=[0-9a-f]{32}$"))
    page.reload()
    expect(page.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    other = ben.new_page()
    other.goto(page.url)
    expect(other.get_by_test_id("stToast")).to_contain_text("not here")
    expect(other.locator(".fn-answer")).to_have_count(0)
    ann.close()
    ben.close()
