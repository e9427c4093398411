"""Documents are removed at once and brought back, and a document becomes again what it was; in a real browser."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect


def test_picked_documents_are_removed_undone_and_an_older_version_is_restored(
    owned_chat: str, tab: Page, tmp_path: Path
) -> None:
    tab.set_viewport_size({"width": 1000, "height": 900})
    tab.goto(f"{owned_chat}/library")
    for name in ("ash.md", "beech.md"):
        (tmp_path / name).write_text(f"# {name[:-3]}\n\nIt burns for {len(name)} hours.\n")
    box = tab.get_by_test_id("stFileUploader").locator("input")
    box.set_input_files([tmp_path / "ash.md", tmp_path / "beech.md"])
    expect(tab.get_by_role("heading", name="4 documents")).to_be_visible()
    for name in ("ash.md", "beech.md"):
        tab.locator("label", has_text=f"Choose {name}").click()  # a row may hold the last one's parts for a moment
    tab.get_by_role("button", name="Remove 2 documents").click()
    expect(tab.get_by_role("heading", name="2 documents")).to_be_visible()
    tab.locator(".st-key-undo_removal").get_by_role("button").click()
    expect(tab.get_by_role("heading", name="4 documents")).to_be_visible()

    (tmp_path / "ash.md").write_text("# ash\n\nIt burns for ninety hours.\n")
    box.set_input_files([tmp_path / "ash.md"])
    expect(tab.locator(".fn-intake", has_text="replaced by this version")).to_be_visible()
    tab.locator('[class*="st-key-row_"]', has_text="ash.md").get_by_role("button", name=re.compile("ash")).first.click()
    expect(tab.locator(".fn-node").first).to_contain_text("ninety hours")
    tab.get_by_role("tab", name=re.compile("Versions")).click()
    tab.get_by_role("button", name="Restore").first.click()
    tab.get_by_role("tab", name="Text").click()
    expect(tab.locator(".fn-node").first).to_contain_text("It burns for 6 hours.")
