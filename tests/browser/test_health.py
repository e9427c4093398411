"""Health in a real browser: checks, figures, and a language model that is tried, at two widths without a fault."""

from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import NOTHING, findings_in_both_themes
from tests.fake_openai import FakeOpenAI


def test_checks_are_made_and_a_model_is_tried_before_anything_is_written(page: Page) -> None:
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_text("checks are well")).to_be_visible()
    expect(page.get_by_role("button", name="Look again")).to_be_visible()
    assert findings_in_both_themes(page) == NOTHING
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.get_by_text("Another server").click()
    with FakeOpenAI(reply="ready") as server:
        page.locator(".st-key-other_url input").fill(server.url)
        page.locator(".st-key-other_model input").fill("fake")
        page.locator(".st-key-other_key input").fill("sk-secret")
        page.locator(".st-key-try_other button").click()
        expect(page.locator(".st-key-connect")).to_contain_text("OPENAI_API_KEY=…")
        expect(page.locator(".st-key-other_key input")).to_have_value("")
    expect(page.get_by_role("button", name="Write them")).to_be_visible()
    assert "sk-secret" not in page.content()
