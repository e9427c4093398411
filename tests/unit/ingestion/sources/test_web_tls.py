"""A real handshake: whose certificate is believed, and for which name."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from config.settings import WebSettings
from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.fetch import Fetcher
from pipelines.tls import CA_FILE_HINT
from tests.fake_web import FakeSite, network, page, website

PUBLIC = "93.184.216.34"
NAMES = {"example.org": [PUBLIC], "other.example": [PUBLIC]}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of `example.org` that it signed itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.org")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("example.org")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "example.pem"
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def site(certificate: Path) -> Iterator[FakeSite]:
    with website() as served:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        served.encrypt(context)
        served.pages["/"] = page("Home", "Here it is.")
        yield served


def get(site: FakeSite, url: str) -> bytes:
    settings = WebSettings(delay_seconds=0, timeout_seconds=10, robots=False)
    fetching = Fetcher(settings, threading.Event(), network=network(site, NAMES))
    try:
        return fetching.get(fetching.address(url)).body
    finally:
        fetching.close()


def test_a_page_is_fetched_from_the_host_that_its_certificate_names(
    site: FakeSite, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifi, "where", lambda: str(certificate))
    assert b"Here it is." in get(site, "https://example.org/")


def test_a_certificate_of_another_host_is_refused(
    site: FakeSite, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifi, "where", lambda: str(certificate))
    with pytest.raises(SourceError, match=r"not valid for 'other\.example'") as refused:
        get(site, "https://other.example/")
    assert refused.value.hint == "Tell the operator of the site."
    assert site.asked == []


def test_a_certificate_of_nobody_who_is_believed_is_refused(site: FakeSite) -> None:
    with pytest.raises(SourceError, match=r"certificate is not accepted \(self-signed certificate\)") as refused:
        get(site, "https://example.org/")
    assert refused.value.hint == f"Tell the operator of the site. {CA_FILE_HINT}"
    assert site.asked == []
