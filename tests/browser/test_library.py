"""Documents are removed at once and brought back, and a document becomes again what it was; in a real browser."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Serve


def test_picked_documents_are_removed_undone_and_an_older_version_is_restored(
    serve: Serve, browser: Browser, tmp_path: Path
) -> None:
    url, _ = serve(text="# Note\n\nThe kiln burns larch.\n")
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.set_default_timeout(30_000)
    page.goto(f"{url}/library")
    for name in ("ash.md", "beech.md"):
        (tmp_path / name).write_text(f"# {name[:-3]}\n\nIt burns for {len(name)} hours.\n")
    box = page.get_by_test_id("stFileUploader").locator("input")
    box.set_input_files([tmp_path / "ash.md", tmp_path / "beech.md"])
    expect(page.get_by_text("3 documents")).to_be_visible()
    for name in ("ash.md", "beech.md"):
        page.locator("label", has_text=f"Choose {name}").click()  # a row may hold the last one's parts for a moment
    page.get_by_role("button", name="Remove 2 documents").click()
    expect(page.get_by_text("1 document", exact=True)).to_be_visible()
    page.locator(".st-key-undo_removal").get_by_role("button").click()
    expect(page.get_by_text("3 documents")).to_be_visible()

    (tmp_path / "ash.md").write_text("# ash\n\nIt burns for ninety hours.\n")
    box.set_input_files([tmp_path / "ash.md"])
    expect(page.locator(".fn-intake", has_text="replaced by this version")).to_be_visible()
    page.locator('[class*="st-key-row_"]', has_text="ash.md").get_by_role(
        "button", name=re.compile("ash")
    ).first.click()
    expect(page.locator(".fn-node").first).to_contain_text("ninety hours")
    page.get_by_role("tab", name=re.compile("Versions")).click()
    page.get_by_role("button", name="Restore").first.click()
    page.get_by_role("tab", name="Text").click()
    expect(page.locator(".fn-node").first).to_contain_text("It burns for 6 hours.")
    page.close()
