"""A conversation and its draft are found again, in a real browser."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import CORPUS, Serve
from tests.browser.test_chat import BUILT, _ask
from tests.fake_openai import FakeOpenAI, Fault

BOX = "stChatInputTextArea"


def test_a_reload_and_another_tab_find_the_conversation_and_its_draft(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    expect(page).to_have_url(re.compile(r"\?c=[0-9a-f]{32}$"))
    box = page.get_by_test_id(BOX)
    box.fill("How often is it fi")
    page.reload()  # before the pause after which the server is told
    expect(page.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    expect(page.get_by_test_id(BOX)).to_have_value("How often is it fi")
    page.wait_for_function("localStorage.footnote_draft === undefined")  # the server has it
    other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    other.goto(page.url)
    expect(other.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    expect(other.get_by_test_id(BOX)).to_have_value("How often is it fi")
    other.context.close()
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".fn-answer")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"^[^?]*$"))
    expect(page.get_by_test_id(BOX)).to_have_value("")
    page.locator(".st-key-conversations").get_by_role("button", name="Who built the anagama kiln?").first.click()
    expect(page.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    expect(page.get_by_test_id(BOX)).to_have_value("How often is it fi")


def test_what_is_chosen_in_the_sidebar_of_a_telephone_is_not_covered_by_it(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(page.url.partition("?")[0])
    page.get_by_test_id("stExpandSidebarButton").click()
    page.locator(".st-key-conversations").get_by_role("button").first.click()
    expect(page.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Connect a model").click()
    expect(page.locator(".st-key-connect")).to_be_visible()
    expect(sidebar).to_have_attribute("data-collapsed", "true")


def test_a_draft_is_kept_before_its_conversation_begins(page: Page) -> None:
    page.get_by_test_id(BOX).press_sequentially("Who bu")
    page.wait_for_function("localStorage.footnote_draft?.includes('Who bu')")
    page.reload()
    expect(page.get_by_test_id(BOX)).to_have_value("Who bu")
    _ask(page, "Who built the anagama kiln?")
    page.reload()
    expect(page.locator(".fn-answer")).to_have_count(1)
    expect(page.get_by_test_id(BOX)).to_have_value("")


def test_the_last_question_is_recalled_edited_and_asked_again_and_its_answer_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _ask(page, "Who built the anagama kiln?")
    box = page.get_by_test_id(BOX)
    box.press("ArrowUp")
    expect(box).to_have_value("Who built the anagama kiln?")
    box.fill("")
    page.get_by_role("button", name="Copy with its footnotes").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert f"{BUILT} [1]" in copied.replace("\\", "")
    page.get_by_role("button", name="Edit").click()
    expect(box).to_have_value("Who built the anagama kiln?")
    expect(box).to_be_focused()
    box.fill("How many people does a firing need?")
    box.press("Enter")
    expect(page.locator("h2.fn-question")).to_have_text(["How many people does a firing need?"])
    expect(page.locator(".fn-answer")).to_contain_text("eleven people")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".fn-answer")).to_contain_text("eleven people")
    page.reload()
    expect(page.locator("h2.fn-question")).to_have_text(["How many people does a firing need?"])


def test_a_lost_connection_is_said_in_a_line_and_the_question_in_hand_is_asked_again(serve: Serve, tab: Page) -> None:
    with FakeOpenAI(reply=f"{BUILT} [1] It is fired twice a year with larch. [1]") as model:
        settings = {"FOOTNOTE_LLM__API_BASE": model.url, "FOOTNOTE_LLM__MODEL": "fake"}
        url, process = serve(text=CORPUS["kiln.md"], **settings)
        tab.goto(url)
        _ask(tab, "Who built the anagama kiln?")
        model.pause = 0.1  # a word
        model.fail(Fault("stall", after=20, seconds=60))  # the first sentence is shown, the second one not whole
        box = tab.get_by_test_id(BOX)
        box.fill("When was the anagama kiln built?")
        box.press("Enter")
        expect(tab.locator(".fn-running:not(.fn-preview)")).to_contain_text(BUILT)
        process.kill()
        process.communicate()
        line = tab.locator(".fn-away")
        expect(line).to_contain_text("The connection is lost")
        tab.wait_for_timeout(3000)  # in which Streamlit would show its dialog
        expect(tab.get_by_role("dialog")).to_have_count(0)
        model.pause = 0.0
        serve(**settings)
        asked = ["Who built the anagama kiln?", "When was the anagama kiln built?"]
        for is_reloaded in (False, True):
            if is_reloaded:
                tab.reload()  # the conversation is stored
            expect(tab.locator(".fn-answer .fn-words", has_text=BUILT)).to_have_count(2)
            expect(line).to_be_empty()
            expect(tab.locator("h2.fn-question")).to_have_text(asked)
        assert len([request for request in model.requests if request.body.get("stream")]) == 3


def test_a_share_link_shows_one_answer_until_it_is_revoked(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_text("It leads to this machine")).to_be_visible()
    link = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    reader = page.context.new_page()
    reader.goto(link)
    expect(reader.locator(".fn-answer .fn-words", has_text=BUILT)).to_be_visible()
    reader.locator(".fn-chip").first.click()
    expect(reader.locator(".fn-reader mark").first).to_contain_text(BUILT)
    expect(reader.get_by_test_id(BOX)).to_have_count(0)
    expect(reader.get_by_role("link", name="Library")).to_have_count(0)
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()
    reader.reload()
    expect(reader.get_by_text("This link leads nowhere.")).to_be_visible()
    reader.close()
