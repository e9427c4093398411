"""Uploaded files survive page changes and a killed server, in a real browser."""

import signal
import subprocess
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Serve
from tests.browser.test_chat import _ask as ask

FILES = 15  # `make trial-app` uploads 150


def upload(serve: Serve, page: Page, folder: Path, files: int) -> tuple[str, subprocess.Popen[str]]:
    """Upload files while pages change and the server is killed once, and expect every one in the library."""
    for n in range(files):
        (folder / f"note-{n:02}.md").write_text(f"# Note {n}\n\nKiln number {n} burns larch for {n + 3} hours.\n")
    url, process = serve()
    page.goto(f"{url}/library")
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(sorted(folder.glob("*.md")))
    expect(page.locator(".st-key-tray")).to_contain_text(f"{files} files")
    page.get_by_role("link", name="Chat").click()
    expect(page.locator(".st-key-tray")).to_contain_text(f"{files} files")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    url, process = serve()
    page.goto(f"{url}/library")
    expect(page.locator(".st-key-tray")).to_contain_text(f"{files} of {files} done", timeout=max(30_000, 1000 * files))
    expect(page.get_by_text(f"{files} documents")).to_be_visible()
    return url, process


def test_uploads_survive_page_changes_and_a_killed_server(serve_alone: Serve, tab: Page, tmp_path: Path) -> None:
    upload(serve_alone, tab, tmp_path, FILES)
    tab.get_by_role("link", name="Chat").click()
    ask(tab, "How long does kiln number 7 burn?")
    expect(tab.locator(".fn-prose:not(.fn-running)")).to_contain_text("burns larch for 10 hours")
