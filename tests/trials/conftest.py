"""The browser of the browser tests, for the chat of the wheel."""

from tests.browser.conftest import browser  # noqa: F401
