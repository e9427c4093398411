"""The ledger of an answer in a real browser: from the answer to its candidates, on a telephone, without a fault."""

from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import NOTHING, findings_in_both_themes
from tests.browser.test_chat import _ask


def test_an_answer_opens_its_ledger_and_a_part_is_left_out(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    page.locator(".fn-how summary").click()
    page.get_by_role("link", name="Inspect this answer").click()
    expect(page.locator("h2.fn-question")).to_have_text("Who built the anagama kiln?")
    used = page.locator(".fn-fall .fn-used").first
    expect(used).to_contain_text("The anagama kiln was built in 2014")
    assert findings_in_both_themes(page) == NOTHING
    page.set_viewport_size({"width": 390, "height": 800})
    expect(used).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.get_by_role("tab", name="What if").click()
    page.get_by_text("dense only").click()
    page.get_by_role("button", name="Search again").click()
    expect(page.get_by_text("move").or_(page.get_by_text("No rank changes")).last).to_be_visible()
    page.get_by_role("button", name="All questions").click()
    expect(page.locator(".st-key-queries button").first).to_have_text("Who built the anagama kiln?")
