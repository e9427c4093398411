"""A reader says what they think of an answer, in a real browser; the database keeps it, and nothing is lost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import LiveChat
from tests.browser.test_chat import _ask


def _kept(live_chat: LiveChat) -> list[tuple[str, int, int, str, str]]:
    """What the newest answer was told, oldest first."""
    home = live_chat.log.parent
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "FOOTNOTE_HOME": str(home / "var")}
    environment |= {"FOOTNOTE_EMBEDDING__PROVIDER": "hashed"}
    command = [sys.executable, "-m", "footnote", "feedback", "--json"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, env=environment, cwd=root, check=True, capture_output=True, timeout=60)
    rows: list[dict[str, Any]] = json.loads(done.stdout)["feedback"]
    newest = [row for row in rows if row["query_id"] == rows[0]["query_id"]]
    names = ("kind", "value", "source", "place", "words")
    return [tuple(row[name] for name in names) for row in reversed(newest)]  # type: ignore[misc]


def test_thumbs_words_openings_and_a_wrong_source_are_kept_without_losing_the_conversation(
    page: Page, live_chat: LiveChat
) -> None:
    thumbs = page.locator("[class*='st-key-thumbs_']")
    _ask(page, "How many people does a firing need?")
    earlier = thumbs.get_attribute("class") or ""
    _ask(page, "Who built the anagama kiln?")
    expect(thumbs).not_to_have_class(earlier)  # those of the answer before stay until this one is drawn whole
    rating = page.get_by_role("radiogroup")
    rating.get_by_role("radio", name="Thumbs up").click()
    expect(page.locator(".fn-thanks")).to_have_text("Thank you.")
    rating.get_by_role("radio", name="Thumbs down").click()
    box = page.get_by_label("What was wrong?")
    box.fill("The <b>year</b> is wrong.")
    box.press("Enter")
    expect(page.locator(".fn-thanks")).to_have_text("Thank you.")
    page.locator(".fn-answer").last.locator(".fn-chip").first.click()
    expect(page.locator(".fn-reader mark")).to_be_visible()
    page.get_by_role("tab", name="Details").click()
    page.get_by_role("button", name="Wrong source").click()
    expect(page.get_by_role("button", name="Reported as wrong")).to_be_visible()
    expect(page.locator(".fn-answer")).to_have_count(2)
    expect(page.locator(".fn-reader")).to_be_visible()
    assert _kept(live_chat) == [
        ("thumb", -1, 0, "", ""),
        ("text", 1, 0, "", "The <b>year</b> is wrong."),
        ("opened", 1, 1, "sentence", ""),
        ("wrong_source", 1, 1, "", ""),
    ]
