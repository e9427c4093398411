"""A bar and a row of the career open their source; axe finds nothing serious in either theme."""

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Serve
from tests.browser.test_accessibility import NOTHING, findings_in_both_themes

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


def test_a_bar_and_a_row_of_a_career_open_their_source(serve: Serve, browser: Browser) -> None:
    url, _ = serve(text=RESUME, name="resume.md")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.goto(f"{url}/career")
    expect(page.get_by_role("heading", name="Ines Varga")).to_be_visible()
    page.locator("[data-testid=stVegaLiteChart] .mark-rect path").nth(1).click()
    expect(page.locator(".fn-reader mark").filter(has_text="Carrow Steel").first).to_be_visible()
    page.locator(".fn-close").click()
    expect(page.locator(".fn-reader.fn-on")).to_have_count(0)
    page.get_by_role("row", name="Senior Engineer").locator(".fn-chip").click()
    expect(page.locator(".fn-reader mark:not(.fn-other)").filter(has_text="Northmere").first).to_be_visible()
    page.locator(".fn-close").click()
    expect(page.locator(".fn-career")).to_be_visible()
    assert findings_in_both_themes(page) == NOTHING
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
