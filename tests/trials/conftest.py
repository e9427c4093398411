"""The browser and the servers of the browser tests, for the trials."""

from tests.browser.conftest import browser, live_chat, serve_alone  # noqa: F401
