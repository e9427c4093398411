"""Pictures of the chat's pages for docs/pictures, in a wide window and on a telephone.

    python -m tests.trials.pictures URL [--visitor]

URL is a running `footnote chat` over data/sample; with --visitor it is one that was started so, and shows one page.
"""

import argparse
import io
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import QUIET

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


def main() -> None:
    """Take every picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--visitor", action="store_true")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    pages: tuple[Callable[[Page], None], ...] = (inspect, library, document, career, health, persona)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(QUIET))
        for window, (width, height) in WINDOWS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="dark" if width < 640 else "light"
            )
            page.set_default_timeout(60_000)
            page.goto(given.url)
            page.locator(".st-key-starters button").first.wait_for()
            take(page, f"{'visitor' if given.visitor else 'start'}-{window}")
            if given.visitor:
                continue
            for show in (ask, source):
                show(page)
                take(page, f"{'chat' if show is ask else 'source'}-{window}")
            for show in pages:
                page.goto(f"{given.url}/{'library' if show is document else show.__name__}")
                show(page)
                take(page, f"{show.__name__}-{window}")
        browser.close()


if __name__ == "__main__":
    main()
