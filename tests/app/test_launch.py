"""How the chat's server is started."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.address import free_port, is_loopback
from app.cli.chat import MAIN_SCRIPT, OriginPolicy, chat, flags
from config.settings import ChatSettings, Settings
from pipelines.errors import ConfigError
from tests.shell import Shell

READ = """
from streamlit import config
config._main_script_path = {script!r}
config.get_config_options(force_reparse=True)
for name in ("server.address", "browser.gatherUsageStats", "server.showEmailPrompt", "server.allowedHosts"):
    print(config.get_option(name))
"""


def test_a_taken_port_is_passed_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        assert taken < free_port("127.0.0.1", taken) < taken + 20


def test_port_0_is_any_free_port() -> None:
    assert free_port("127.0.0.1", 0) > 0


def test_an_address_of_another_machine_is_refused_with_the_setting_to_change() -> None:
    with pytest.raises(ConfigError, match="cannot listen on 192\\.0\\.2\\.1") as caught:
        free_port("192.0.2.1", 8501)
    assert "FOOTNOTE_CHAT__HOST" in caught.value.hint


def test_the_flags_bind_one_address_and_send_nothing() -> None:
    given = flags("127.0.0.1", 8600, headless=True, max_upload_mb=7)
    for flag in (
        "--server.address=127.0.0.1",
        "--server.port=8600",
        "--server.headless=true",
        "--server.maxUploadSize=7",
        "--browser.gatherUsageStats=false",
        "--server.allowedHosts=127.0.0.1",
    ):
        assert flag in given


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "footnote.example.org"])
def test_an_address_that_others_reach_is_refused_before_anything_is_opened(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(_env_file=None, home=tmp_path / "home", chat=ChatSettings(host=host))
    monkeypatch.setattr("app.cli.chat.settings_now", lambda: settings)
    with pytest.raises(ConfigError, match="no public mode yet") as caught:
        chat(port=0, sample=True, headless=True)
    assert "FOOTNOTE_CHAT__HOST" in caught.value.hint
    assert not settings.home.exists()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "::1"])
def test_a_loopback_address_is_not_refused(host: str) -> None:
    assert is_loopback(host)


def test_the_file_beside_the_script_holds_from_any_folder(tmp_path: Path) -> None:
    read = subprocess.run(
        [sys.executable, "-c", READ.format(script=str(MAIN_SCRIPT))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert read.stdout.split("\n")[:3] == ["127.0.0.1", "False", "False"]
    assert "localhost" in read.stdout


@pytest.mark.parametrize(("verb", "package"), [("serve", "fastapi"), ("mcp", "mcp")])
def test_a_server_without_its_packages_names_its_extra(
    verb: str, package: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [
        each for each in sys.modules if each in ("app.server", "app.mcp") or each.partition(".")[0] == package
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    shell = Shell(settings, monkeypatch, tmp_path)
    said = f"The package {package} is not installed. Run `pip install 'footnote[{verb}]'`."
    assert shell(verb) == (3, said)


def test_a_server_that_others_reach_is_refused_without_tokens(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell = Shell(settings, monkeypatch, tmp_path, FOOTNOTE_SERVE__HOST="0.0.0.0")
    for words in (("serve",), ("mcp", "--http")):
        code, said = shell(*words)
        assert code == 3
        assert "FOOTNOTE_SERVE__TOKENS" in said


@pytest.mark.parametrize(
    ("origin", "passed"),
    [("http://127.0.0.1:8501", True), ("", True), ("http://127.0.0.1:9999", False), ("http://localhost:8501", False)],
)
def test_a_page_of_another_port_opens_no_websocket(origin: str, passed: bool) -> None:
    reached, sent = [], []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    headers = [(b"host", b"127.0.0.1:8501"), *([(b"origin", origin.encode())] if origin else [])]
    asyncio.run(OriginPolicy(streamlit, ())({"type": "websocket", "headers": headers}, None, send))
    assert (bool(reached), sent) == ((True, []) if passed else (False, ["websocket.close"]))
