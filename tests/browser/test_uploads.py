"""Sixty uploaded files survive page changes and a killed server; a conversation does, too; in a real browser."""

import re
import signal
import time
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Serve

FILES = 60


def test_uploads_survive_page_changes_and_a_killed_server(serve: Serve, browser: Browser, tmp_path: Path) -> None:
    for n in range(FILES):
        (tmp_path / f"note-{n:02}.md").write_text(f"# Note {n}\n\nKiln number {n} burns larch for {n + 3} hours.\n")
    url, process = serve()
    page = browser.new_page()
    page.set_default_timeout(30_000)
    page.goto(f"{url}/library")
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(sorted(tmp_path.glob("*.md")))
    expect(page.locator(".st-key-tray")).to_contain_text(f"{FILES} files")
    page.get_by_role("link", name="Chat").click()
    expect(page.locator(".st-key-tray")).to_contain_text(f"{FILES} files")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    url, process = serve()
    page.goto(f"{url}/library")
    expect(page.locator(".st-key-tray")).to_contain_text(f"{FILES} of {FILES} done", timeout=60_000)
    expect(page.get_by_text(f"{FILES} documents")).to_be_visible()

    page.get_by_role("link", name="Chat").click()
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill("How long does kiln number 7 burn?")
    box.press("Enter")
    expect(page.locator(".fn-answer")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?c="))
    place, answer = page.url, page.locator(".fn-prose").inner_text()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    time.sleep(0.5)
    serve()
    page.goto(place)
    expect(page.locator(".fn-prose")).to_have_text(answer, use_inner_text=True)
    page.close()
