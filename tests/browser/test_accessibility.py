"""axe finds nothing serious in an answer, an abstention and an open source, in both themes."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.test_chat import _ask

AXE = Path(__file__).with_name("axe.min.js").read_text("utf-8")  # axe-core 4.14.1, MPL-2.0
RULES = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"

NOTHING: dict[str, list[tuple[str, str]]] = {"light": [], "dark": []}
SETTLED = (
    "[...document.querySelectorAll('[data-testid=stElementContainer]')].every(e => getComputedStyle(e).opacity === '1')"
)


def findings(page: Page) -> list[tuple[str, str]]:
    """(the rule, the first element) of what is serious or critical, once no part is pale because its run goes on.

    A run may begin while the page is looked at: what is found must be there three times.
    """
    serious: list[tuple[str, str]] = []
    for _ in range(3):
        page.wait_for_function(SETTLED)
        page.evaluate(AXE)
        found: list[dict[str, Any]] = page.evaluate(RULES)["violations"]
        serious = [
            (each["id"], each["nodes"][0]["html"] + each["nodes"][0]["failureSummary"])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        if not serious:
            break
        page.wait_for_timeout(500)
    return serious


def findings_in_both_themes(page: Page) -> dict[str, list[tuple[str, str]]]:
    """By theme, what is serious or critical."""
    found = {}
    themes: list[Any] = ["light", "dark"]
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        found[theme] = findings(page)
    return found


def test_axe_finds_nothing_serious(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    _ask(page, "What did the anagama kiln cost?")
    expect(page.locator(".fn-group-near .fn-near").first).to_be_visible()
    expect(page.locator(".st-key-stop")).to_have_count(0)
    assert findings_in_both_themes(page) == NOTHING
    page.locator(".fn-chip").first.click()
    expect(page.locator(".fn-reader mark").first).to_be_visible()
    assert findings_in_both_themes(page) == NOTHING
