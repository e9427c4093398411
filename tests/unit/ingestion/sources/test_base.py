"""The messages of a source that asks to wait, fails or cannot be reached, and how often progress is said."""

import errno
import socket
import ssl
from pathlib import Path

import pytest
from pydantic import SecretStr

from config.settings import GitHubSettings, NotionSettings, Settings, WebSettings
from pipelines.ingestion.sources.base import Access, asked_wait, connection_failure, throttled
from pipelines.ingestion.sources.github import GitHub
from pipelines.ingestion.sources.notion import Notion
from pipelines.ingestion.sources.web import Web


def test_every_kind_says_a_wait_in_the_same_words() -> None:
    assert asked_wait("Notion", 6.2, "its rate limit") == "Notion asks to wait 7 s (its rate limit)"
    assert asked_wait("a.example", 600) == "a.example asks to wait 10 min"
    assert asked_wait("GitHub", 4_000) == "GitHub asks to wait 1 h 7 min"


class Wrapped(Exception):
    """An error of a library, whose name nobody should read."""


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "it refuses connections"),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "it broke off the connection"),
        (OSError(errno.ENETUNREACH, "unreachable"), "no way leads there from here"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "there is no such name"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "its name cannot be looked up now"),
        (TimeoutError(), "it took too long to answer"),
        (ssl.SSLError(1, "wrong version number"), "no secure connection to it came about"),
        (ssl.SSLCertVerificationError(1, "x"), "its certificate is not accepted"),
        (OSError(errno.EIO, "[Errno 5] x"), "no connection to it came about"),
        (ValueError("x"), "no connection to it came about"),
    ],
)
def test_why_a_host_was_not_reached_is_said_in_words_however_libraries_wrap_it(cause: Exception, said: str) -> None:
    outer, inner = Wrapped("outer"), Wrapped("inner")
    outer.__cause__, inner.__context__ = inner, cause
    assert connection_failure(outer) == said


NOBODY = "127.0.0.1:9"


@pytest.mark.parametrize(
    ("kind", "location", "said"),
    [
        (GitHub, "github:ann", "GitHub cannot be reached at 127.0.0.1: it refuses connections."),
        (Notion, f"notion:{'a' * 32}", "Notion cannot be reached at 127.0.0.1: it refuses connections."),
        (Web, f"http://{NOBODY}/sitemap.xml", f"{NOBODY} cannot be reached: it refuses connections."),
    ],
)
def test_nobody_at_the_address_is_said_alike_and_without_internal_words(
    kind: type[GitHub | Notion | Web], location: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.ingestion.sources.http._PAUSES", ())
    settings = Settings(
        _env_file=None,
        home=tmp_path,
        notion_token=SecretStr("t"),
        github=GitHubSettings(api_base=f"http://{NOBODY}"),
        notion=NotionSettings(api_base=f"http://{NOBODY}"),
        web=WebSettings(delay_seconds=0, private_hosts=(NOBODY,)),
    )
    opened = kind(Access(settings, 1_000))
    listing = opened.list(location)
    opened.close()
    ((_, error),) = listing.problems
    assert error.message == said


def test_what_is_told_often_is_said_after_ten_seconds_and_then_after_ten_more() -> None:
    clock, said = [100.0], list[str]()
    told = throttled(said.append, now=lambda: clock[0])
    for second in range(35):
        clock[0] = 100.0 + second
        told(f"{second} of 35")
    assert said == ["10 of 35", "20 of 35", "30 of 35"]


def test_steps_that_take_longer_are_all_said() -> None:
    clock, said = [0.0], list[str]()
    told = throttled(said.append, now=lambda: clock[0])
    for step in range(1, 4):
        clock[0] = step * 14.0
        told(f"{step} of 3")
    assert said == ["1 of 3", "2 of 3", "3 of 3"]
