"""Real handshakes with servers whose certificates an authority of one's own signed, by the client of every source."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from config.settings import GitHubSettings, NotionSettings, Settings, WebSettings
from pipelines.errors import ConfigError
from pipelines.ingestion.sources import SOURCES, Access, Listing
from pipelines.tls import CA_FILE_HINT, checked_ca_file, ssl_context
from tests.authority import Authority
from tests.fake_github import FakeGitHub, Repository
from tests.fake_notion import TOKEN, FakeNotion
from tests.fake_web import FakeSite, page, sitemap
from tests.loopback import Loopback

HOST = "127.0.0.1"


class AtOnce(threading.Event):
    """Waits for nothing."""

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


@dataclass(frozen=True)
class Served:
    """A server with one document, the settings that lead to it, and the location that lists it."""

    server: Loopback
    settings: dict[str, Any]
    location: str

    def listing(self, home: Path, ca_file: str) -> Listing:
        kind = self.location.partition(":")[0].replace("https", "web")
        opened = SOURCES[kind](
            Access(Settings(_env_file=None, home=home, ca_file=ca_file, **self.settings), 10_000_000, stop=AtOnce())
        )
        try:
            return opened.list(self.location)
        finally:
            opened.close()


def of_github() -> tuple[Loopback, Callable[[str], dict[str, Any]], str]:
    fake = FakeGitHub(owners={"ann": [Repository("notes", "Notes")]})
    return fake, lambda base: {"github": GitHubSettings(api_base=base)}, "github:ann"


def of_notion() -> tuple[Loopback, Callable[[str], dict[str, Any]], str]:
    fake = FakeNotion()
    root = fake.page("Roadmap")
    return (
        fake,
        lambda base: {"notion": NotionSettings(api_base=base), "notion_token": SecretStr(TOKEN)},
        f"notion:{root}",
    )


def of_web() -> tuple[Loopback, Callable[[str], dict[str, Any]], str]:
    fake = FakeSite(pages={"/a": page("A", "Words."), "/sitemap.xml": sitemap({"/a": ""})})

    def settings(base: str) -> dict[str, Any]:
        return {"web": WebSettings(delay_seconds=0, private_hosts=(base.removeprefix("https://"),))}

    return fake, settings, "/sitemap.xml"


@contextmanager
def serving(kind: str, context: ssl.SSLContext) -> Iterator[Served]:
    fake, settings, location = {"github": of_github, "notion": of_notion, "web": of_web}[kind]()
    with fake:
        fake.encrypt(context)
        base = f"https://{HOST}:{fake.port}"
        yield Served(fake, settings(base), base + location if location.startswith("/") else location)


@pytest.fixture(autouse=True)
def _no_authorities_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("trust") / "own.pem")


@pytest.fixture(params=["github", "notion", "web"])
def served(request: pytest.FixtureRequest, authority: Authority) -> Iterator[Served]:
    with serving(request.param, authority.server(HOST)) as server:
        yield server


def test_a_source_believes_the_authority_that_the_settings_name(
    served: Served, authority: Authority, tmp_path: Path
) -> None:
    listing = served.listing(tmp_path, str(authority.path))
    assert (len(listing.items), listing.problems) == (1, ())


def test_without_the_setting_it_is_refused_and_the_setting_is_named(served: Served, tmp_path: Path) -> None:
    listing = served.listing(tmp_path, "")
    assert (listing.items, [CA_FILE_HINT in error.hint for _, error in listing.problems]) == ((), [True])


@pytest.mark.parametrize("kind", ["github", "notion", "web"])
def test_a_certificate_of_another_host_is_refused_though_its_authority_is_believed(
    kind: str, authority: Authority, tmp_path: Path
) -> None:
    with serving(kind, authority.server("other.example")) as served:
        listing = served.listing(tmp_path, str(authority.path))
    assert (listing.items, len(listing.problems)) == ((), 1)


def test_an_authority_beside_the_one_that_signed_is_not_enough(served: Served, tmp_path: Path) -> None:
    other = Authority.made(tmp_path / "other.pem")
    assert served.listing(tmp_path, str(other.path)).items == ()


def test_the_usual_authorities_are_believed_beside_it(
    served: Served, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Authority.made(tmp_path / "other.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    for ca_file in ("", str(other.path)):
        assert len(served.listing(tmp_path, ca_file).items) == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "holds no certificate"),
        (b"Our certificate is on the intranet.", "holds no certificate"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "holds no certificate"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_before_anything_is_asked(
    served: Served, tmp_path: Path, content: bytes | None, why: str
) -> None:
    path = tmp_path / "company.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=f"FOOTNOTE_CA_FILE names {path}, which {why}"):
        served.listing(tmp_path, str(path))


@pytest.mark.parametrize("kind", ["github", "notion"])
def test_a_file_that_the_environment_names_in_vain_is_named_too(
    kind: str, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    with (
        serving(kind, authority.server(HOST)) as served,
        pytest.raises(ConfigError, match=r"SSL_CERT_FILE names .*gone\.pem, which cannot be read: No such file"),
    ):
        served.listing(tmp_path, "")


def test_a_list_of_what_was_revoked_is_no_certificate(authority: Authority, tmp_path: Path) -> None:
    path = tmp_path / "revoked.pem"
    path.write_bytes(authority.revocations())
    with pytest.raises(ConfigError, match="holds no certificate"):
        checked_ca_file(str(path))


def test_verification_stays_as_strict_as_it_was(authority: Authority) -> None:
    made = ssl_context(f" {authority.path}", ssl.create_default_context)
    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_REQUIRED, True)
    usual = ssl.create_default_context().cert_store_stats()["x509"]
    assert made.cert_store_stats()["x509"] == usual + 1
    assert ssl_context(" ", ssl.create_default_context).cert_store_stats()["x509"] == usual


def test_a_file_that_was_replaced_is_read_again(authority: Authority, tmp_path: Path) -> None:
    path = tmp_path / "authorities.pem"
    path.write_bytes(authority.path.read_bytes())
    made = ssl_context(str(path), ssl.create_default_context)
    assert ssl_context(str(path), ssl.create_default_context) is made
    path.write_bytes(authority.path.read_bytes() * 2)
    assert ssl_context(str(path), ssl.create_default_context) is not made
    path.write_text("no certificate")
    with pytest.raises(ConfigError, match="holds no certificate"):
        ssl_context(str(path), ssl.create_default_context)
