"""A bar and a row of the career open their source; axe finds nothing serious in either theme."""

from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import NOTHING, findings_in_both_themes


def test_a_bar_and_a_row_of_a_career_open_their_source(owned_chat: str, tab: Page) -> None:
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(f"{owned_chat}/career")
    expect(tab.get_by_role("heading", name="Ines Varga")).to_be_visible()
    tab.locator("[data-testid=stVegaLiteChart] .mark-rect path").nth(1).click()
    expect(tab.locator(".fn-reader mark").filter(has_text="Carrow Steel").first).to_be_visible()
    tab.locator(".fn-close").click()
    expect(tab.locator(".fn-reader.fn-on")).to_have_count(0)
    tab.get_by_role("row", name="Senior Engineer").locator(".fn-chip").click()
    expect(tab.locator(".fn-reader mark:not(.fn-other)").filter(has_text="Northmere").first).to_be_visible()
    tab.locator(".fn-close").click()
    expect(tab.locator(".fn-career")).to_be_visible()
    assert findings_in_both_themes(tab) == NOTHING
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
