"""Only public addresses: what is refused before a connection is made, and what is fetched."""

import itertools
import re
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.settings import WebSettings
from pipelines.errors import ConfigError, SourceError
from pipelines.ingestion.sources.web.address import join, printable_url, read_address
from pipelines.ingestion.sources.web.fetch import Fetcher
from pipelines.ingestion.sources.web.guard import Network, is_public
from tests.fake_web import FakeSite, Served, network, page, redirect, website

PUBLIC = "93.184.216.34"
NAMES = {
    "example.org": [PUBLIC],
    "xn--bcher-kva.example": [PUBLIC],
    "six.example": ["2606:2800:220:1:248:1893:25c8:1946"],
    "metadata.google.internal": ["169.254.169.254"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "10-0-0-1.sslip.io": ["10.0.0.1"],
    "localtest.me": ["::1"],
    "localhost": ["127.0.0.1", "::1"],
    "intranet": ["192.168.1.10"],
    "both.example": [PUBLIC, "127.0.0.1"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "nat64.example": ["64:ff9b::a9fe:a9fe"],
    "zone.example": ["fe80::1%eth0"],
}
EVIL = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0x7f.1/",
    "http://127.0.0.1./",
    "http://127.0.0.1.nip.io/",
    "http://10-0-0-1.sslip.io/",
    "http://localtest.me/",
    "http://intranet/",
    "http://both.example/",
    "http://mapped.example/",
    "http://nat64.example/",
    "http://zone.example/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::1]/",
    "http://[2606:2800:220:1:0:5efe:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[::1].example.org/",
    "http://[v1.x]/",
    "http://ann:secret@example.org/",
    "http://ann@example.org/",
    "http://example.org@127.0.0.1/",
    "http://127.0.0.1#@example.org/",
    "http://127.0.0.1\\@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http:\\\\127.0.0.1/",
    "http:///127.0.0.1/",
    "http:127.0.0.1",
    "//127.0.0.1/",
    "http://127。0。0。1/",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://ⓛocalhost/",
    "http://127.0.0.1%00.example.org/",
    "http://exa\tmple.org/",
    "http://example.org/\r\nX-Evil: 1",
    "http://example.org:22/",
    "http://example.org:6379/",
    "http://example.org:99999/",
    "http://example.org:0/",
    "http://example.org:80:80/",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://-example-.org/",
    "http://example..org/",
    "http://nowhere.example/",
    "http://",
    "",
    "file:///etc/passwd",
    "gopher://127.0.0.1:70/_x",
    "ftp://example.org/a",
    "data:text/html,<p>x</p>",
    "javascript:alert(1)",
    "dict://127.0.0.1:11211/stat",
    "ldap://127.0.0.1/",
    "jar:http://example.org!/a",
    "https://169.254.169.254/",
    f"http://example.org/{'a' * 3000}",
]
OF_THE_SAME_HOST = ["http:///127.0.0.1/", "http:127.0.0.1"]
SETTINGS = WebSettings(delay_seconds=0, timeout_seconds=10, robots=False)


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with website() as served:
        served.pages["/"] = page("Home", "Here it is.")
        yield served


def fetcher(site: FakeSite, names: Any = NAMES, settings: WebSettings = SETTINGS) -> Fetcher:
    return Fetcher(settings, threading.Event(), network=network(site, names))


def get(site: FakeSite, url: str, **given: Any) -> bytes:
    fetching = fetcher(site, **given)
    try:
        return fetching.get(fetching.address(url)).body
    finally:
        fetching.close()


@pytest.mark.parametrize("url", EVIL, ids=lambda url: repr(url[:50]))
def test_an_evil_address_is_refused_before_anything_is_connected_to(site: FakeSite, url: str) -> None:
    with pytest.raises(SourceError) as refused:
        get(site, url)
    assert (site.connected, site.asked) == ([], [])
    assert refused.value.hint
    assert "secret" not in str(refused.value)


def test_more_than_forty_ways_are_tried() -> None:
    assert len(set(EVIL)) > 40


@pytest.mark.parametrize("url", sorted({*EVIL} - {*OF_THE_SAME_HOST, ""}), ids=lambda url: repr(url[:50]))
def test_a_redirect_to_an_evil_address_is_refused(site: FakeSite, url: str) -> None:
    site.pages["/"] = redirect(url.replace("\r\n", "\\").replace("\t", "\\"))
    with pytest.raises(SourceError):
        get(site, "http://example.org/")
    assert site.connected == [f"{PUBLIC}:80"]


@pytest.mark.parametrize("url", OF_THE_SAME_HOST)
def test_a_redirect_without_a_host_stays_with_the_host(site: FakeSite, url: str) -> None:
    site.pages["/"] = redirect(url)
    site.pages["/127.0.0.1"] = site.pages["/127.0.0.1/"] = page("Home", "A path, not a host.")
    assert b"not a host" in get(site, "http://example.org/")
    assert set(site.connected) == {f"{PUBLIC}:80"}


def test_a_space_in_a_redirect_is_escaped_as_browsers_do(site: FakeSite) -> None:
    site.pages |= {"/": redirect("/a b"), "/a%20b": page("A", "Words.")}
    assert b"Words." in get(site, "http://example.org/")


@pytest.mark.parametrize(
    ("url", "ip"),
    [
        ("http://example.org/", PUBLIC),
        ("HTTP://EXAMPLE.ORG./", PUBLIC),
        ("http://example.org:80/", PUBLIC),
        ("http://example.org:8080/", PUBLIC),
        ("http://bücher.example/", PUBLIC),
        ("http://six.example/", "2606:2800:220:1:248:1893:25c8:1946"),
        ("http://1572395042/", PUBLIC),
        ("http://0x5d.0xb8.0xd8.0x22/", PUBLIC),
        ("http://[2606:2800:220:1:248:1893:25c8:1946]/", "2606:2800:220:1:248:1893:25c8:1946"),
        ("http://[64:ff9b::5db8:d822]/", "64:ff9b::5db8:d822"),
        ("  http://example.org/#part", PUBLIC),
    ],
)
def test_a_good_address_is_fetched_from_the_address_that_was_judged(site: FakeSite, url: str, ip: str) -> None:
    assert b"Here it is." in get(site, url)
    assert [connected.rpartition(":")[0] for connected in site.connected] == [ip]


def test_a_name_is_looked_up_once_a_connection_so_that_it_cannot_change_in_between(site: FakeSite) -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    assert b"Here it is." in get(site, "http://rebound.example/", names={"rebound.example": answers})
    assert site.connected == [f"{PUBLIC}:80"]
    assert next(answers) == ["127.0.0.1"]  # nobody asked for the second answer


def test_a_name_that_leads_inside_when_it_is_connected_to_again_is_refused(site: FakeSite) -> None:
    site.pages["/"] = Served(b"Here it is.", "text/plain", headers={"Connection": "close"})
    fetching = fetcher(site, names={"rebound.example": itertools.chain([[PUBLIC]], itertools.repeat(["10.0.0.7"]))})
    address = fetching.address("http://rebound.example/")
    assert fetching.get(address).body
    with pytest.raises(SourceError, match=r"leads to 10\.0\.0\.7, which is not an address of the public"):
        fetching.get(address)
    fetching.close()
    assert site.connected == [f"{PUBLIC}:80"]


def test_a_named_private_host_is_fetched_at_its_port_and_at_no_other(site: FakeSite) -> None:
    named = SETTINGS.model_copy(update={"private_hosts": (site.host,)})
    assert b"Here it is." in get(site, site.url, settings=named)
    with pytest.raises(SourceError, match="has port"):
        get(site, f"http://127.0.0.1:{site.port + 1}/", settings=named)
    with pytest.raises(SourceError, match="not an address of the public internet"):
        get(site, "http://127.0.0.1/", settings=named)


def test_a_private_host_named_without_a_port_is_fetched_at_any(site: FakeSite) -> None:
    named = SETTINGS.model_copy(update={"private_hosts": ("Intranet",)})
    assert b"Here it is." in get(site, "http://intranet:9000/", settings=named)
    assert site.connected == ["192.168.1.10:9000"]
    for port in (0, 65536, 99999):
        with pytest.raises(SourceError, match="has a port outside 1 to 65535"):
            get(site, f"http://intranet:{port}/", settings=named)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("INTRANET.", "http://intranet:9000/"),
        ("INTRANET.:8080", "http://intranet:8080/"),
        (" 10.1 ", "http://10.0.0.1/"),
        ("bücher.example:81", "http://xn--bcher-kva.example:81/"),
        ("::1", "http://[::1]/"),
        ("[0:0::1]:8081", "http://[::1]:8081/"),
    ],
)
def test_a_private_host_is_known_however_the_settings_write_it(site: FakeSite, written: str, url: str) -> None:
    assert b"Here it is." in get(site, url, settings=SETTINGS.model_copy(update={"private_hosts": (written,)}))


@pytest.mark.parametrize("written", ["http://intranet", "intranet/", "a b", "", "intranet:x", "ann@intranet", "10.*"])
def test_what_is_no_host_is_refused_as_a_private_one_and_a_right_one_shown(site: FakeSite, written: str) -> None:
    with pytest.raises(ConfigError, match="FOOTNOTE_WEB__PRIVATE_HOSTS names") as refused:
        get(site, "http://example.org/", settings=SETTINGS.model_copy(update={"private_hosts": (written,)}))
    assert "host:port" in refused.value.hint


@pytest.mark.parametrize(
    ("url", "named"), [("http://intranet:8080/", " intranet:8080 "), ("http://[::1]/", r" \[::1\]:80 ")]
)
def test_a_refusal_says_how_the_host_would_be_named(site: FakeSite, url: str, named: str) -> None:
    with pytest.raises(SourceError) as refused:
        get(site, url)
    assert re.search(named, refused.value.hint)


def test_a_public_page_does_not_lead_to_a_named_private_host(site: FakeSite) -> None:
    site.pages["/"] = redirect("http://intranet/secret")
    named = SETTINGS.model_copy(update={"private_hosts": ("intranet",)})
    with pytest.raises(SourceError, match="from a public host to the private intranet"):
        get(site, "http://example.org/", settings=named)
    assert site.connected == [f"{PUBLIC}:80"]


def test_the_proxies_of_the_environment_are_not_used(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert b"Here it is." in get(site, "http://example.org/")
    assert site.connected == [f"{PUBLIC}:80"]


def test_the_server_is_asked_by_name_and_its_certificate_judged_by_it() -> None:
    told: list[Any] = []

    class Refusing(httpcore.NetworkStream):
        def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
            told.append((server_hostname, ssl_context.check_hostname))
            try:
                raise ssl.SSLCertVerificationError
            except ssl.SSLError as error:
                raise httpcore.ConnectError from error

        def close(self) -> None:
            """Nothing is open."""

    def dial(ip: str, port: int, seconds: float) -> Refusing:
        told.append((ip, port))
        return Refusing()

    fetching = Fetcher(SETTINGS, threading.Event(), network=Network(lambda host, port: [PUBLIC], dial))
    with pytest.raises(SourceError, match="its certificate is not accepted"):
        fetching.get(fetching.address("https://example.org/"))
    fetching.close()
    assert told == [(PUBLIC, 443), ("example.org", True)]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://ann:secret@example.org/a", "https://...@example.org/a"),
        ("http:\\\\ann:secret@example.org/", "...@example.org/"),
        ("http:///ann:secret@example.org/", "...@example.org/"),
        ("http://ann:s@cret@example.org/", "http://...@example.org/"),
        ("https://example.org/@ann/notes", "https://example.org/@ann/notes"),
    ],
)
def test_no_message_shows_a_password(url: str, said: str) -> None:
    assert printable_url(url) == said


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("::ffff:8.8.8.8", True),
        ("::ffff:192.168.0.1", False),
        ("64:ff9b::8.8.8.8", True),
        ("64:ff9b::10.0.0.1", False),
        ("2002:808:808::1", True),
        ("2002:a00:1::1", False),
        ("2606:4700::1111", True),
        ("::8.8.8.8", False),
        ("2001:0:808:808::1", False),
        ("4000::1", False),
        ("240.0.0.1", False),
        ("192.88.99.1", False),
        ("no address", False),
    ],
)
def test_what_wraps_an_address_is_as_public_as_that(address: str, public: bool) -> None:
    assert is_public(address) is public


SIGNS = st.sampled_from(
    [*"htps:/.@[]%?#&=_017afx é。１①ß\u200b\\", "http://", "example.org", "127.0.0.1", "xn--", "[::1]"]
)


@given(st.lists(SIGNS, max_size=14).map("".join))
def test_whatever_is_written_is_refused_or_has_one_form_that_reads_the_same(written: str) -> None:
    base = read_address("http://example.org/a")
    for read in (read_address, lambda link: join(base, link), lambda rest: read_address(f"http://{rest}")):
        try:
            address = read(written)
        except SourceError:
            continue
        assert read_address(address.url) == address
        assert address.url.isascii()
