"""Pictures of the chat's pages for docs/pictures, in a wide window and on a telephone.

    python -m tests.trials.pictures

Serves data/sample from a database of its own, to the owner and then to a visitor, and takes every picture in one run.
"""

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import QUIET, read_address, stop
from tests.conftest import open_folder

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
QUESTION = "How was retrieval quality brought up to 0.88?"
WINDOWS = {"wide": (1280, 800), "phone": (390, 780)}
_LIBRARY_ROW = '[class*="st-key-open_"] button'


def ask(page: Page) -> None:
    """Ask the question of the pictures."""
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(QUESTION)
    box.press("Enter")
    page.locator(".fn-answer").wait_for()
    page.get_by_test_id("stFeedback").wait_for()


def source(page: Page) -> None:
    """Open the source of the first footnote; on a telephone the first tap only says what it is."""
    page.locator(".fn-chip").first.dispatch_event("click")
    page.locator(".fn-reader mark").first.wait_for()
    if page.evaluate("innerWidth") > 1199:  # where the answer beside it became longer
        page.mouse.move(500, 400)
        page.mouse.wheel(0, -800)


def inspect(page: Page) -> None:
    """Open the ledger of the last question."""
    page.locator(_LIBRARY_ROW).first.click()
    page.locator(".fn-fall").wait_for()


def library(page: Page) -> None:
    """Wait for the rows."""
    page.locator(_LIBRARY_ROW).first.wait_for()


def document(page: Page) -> None:
    """Open the first document."""
    page.locator(_LIBRARY_ROW).first.click()
    page.locator(".fn-node").first.wait_for()


def career(page: Page) -> None:
    """Wait for the tables."""
    page.locator(".fn-career table").first.wait_for()


def health(page: Page) -> None:
    """Wait for the checks and for the servers of language models."""
    page.locator(".st-key-check_actions").wait_for()
    page.locator(".st-key-connect").wait_for()


def persona(page: Page) -> None:
    """Wait for the form."""
    page.get_by_label("Name").wait_for()


def take(page: Page, name: str) -> None:
    """Write what the window shows as docs/pictures/NAME.webp."""
    page.wait_for_timeout(2500)  # until nothing moves
    with Image.open(io.BytesIO(page.screenshot())) as shown:
        shown.convert("RGB").save(FOLDER / f"{name}.webp", quality=70, method=6)


def pictures_of_owner(browser: Browser, url: str) -> None:
    """Take every page that the owner sees."""
    pages: tuple[Callable[[Page], None], ...] = (inspect, library, document, career, health, persona)
    for window in WINDOWS:
        page = opened(browser, url, window)
        take(page, f"start-{window}")
        for show in (ask, source):
            show(page)
            take(page, f"{'chat' if show is ask else 'source'}-{window}")
        for show in pages:
            page.goto(f"{url}/{'library' if show is document else show.__name__}")
            show(page)
            take(page, f"{show.__name__}-{window}")


def opened(browser: Browser, url: str, window: str) -> Page:
    """The chat in a light wide window, or dark on a telephone."""
    width, height = WINDOWS[window]
    scheme = "dark" if window == "phone" else "light"
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(60_000)
    page.goto(url)
    page.locator(".st-key-starters button").first.wait_for()
    return page


@contextmanager
def served(home: Path, *options: str) -> Iterator[str]:
    """The address of a chat over data/sample, which is ingested if `home` has no database yet."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home / "var")}
    command = [sys.executable, "-m", "footnote", "chat", "--sample", "--headless", "--port", "0", *options]
    with (home / "chat.log").open("a") as errors:
        process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=errors)
    try:
        assert process.stdout
        yield read_address(process.stdout, home / "chat.log")
    finally:
        stop(process)


def main() -> None:
    """Take every picture."""
    home = open_folder("footnote-pictures-")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(QUIET))
        with served(home) as url:
            pictures_of_owner(browser, url)
        with served(home, "--visitor") as url:
            for window in WINDOWS:
                take(opened(browser, url, window), f"visitor-{window}")
        browser.close()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
