"""Fetching a page from a real server: redirects, limits, packing, types, robots.txt, busy hosts."""

import gzip
import re
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpcore
import pytest

from config.settings import WebSettings
from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Gone
from pipelines.ingestion.sources.web.fetch import FetchedPage, Fetcher, Rules
from pipelines.ingestion.sources.web.guard import Network
from pipelines.ingestion.sources.web.responses import decoded_body
from tests.fake_web import FakeSite, Served, network, packed, page, redirect, website
from tests.linear import assert_linear

MOST = 50_000


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with website() as served:
        yield served


@pytest.fixture
def settings(site: FakeSite) -> WebSettings:
    return WebSettings(delay_seconds=0, timeout_seconds=10, max_bytes=MOST, private_hosts=(site.host,))


@pytest.fixture
def fetching(settings: WebSettings) -> Iterator[Fetcher]:
    made = Fetcher(settings, threading.Event())
    yield made
    made.close()


def get(fetching: Fetcher, site: FakeSite, path: str, **validators: str) -> FetchedPage:
    return fetching.get(fetching.address(site.url + path), validators)


def test_redirects_are_followed_to_where_the_page_is(site: FakeSite, fetching: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b", 301), "/b": redirect("c?x=1#part", 308), "/c?x=1": page("C", "Here.")}
    found = get(fetching, site, "/a")
    assert (found.address.url, b"Here." in found.body) == (f"{site.url}/c?x=1", True)


def test_a_circle_of_redirects_is_named(site: FakeSite, fetching: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b"), "/b": redirect("/a")}
    with pytest.raises(SourceError, match=rf"redirects in a circle: {site.url}/a -> {site.url}/b -> {site.url}/a"):
        get(fetching, site, "/a")


def test_too_many_redirects_are_not_followed(site: FakeSite, fetching: Fetcher) -> None:
    site.pages |= {f"/{number}": redirect(f"/{number + 1}") for number in range(9)}
    with pytest.raises(SourceError, match="redirected more than 5 times"):
        get(fetching, site, "/0")
    assert site.asked_for_pages() == [f"/{number}" for number in range(6)]


def test_a_page_that_drips_is_given_up_in_time(site: FakeSite, settings: WebSettings) -> None:
    site.pages["/slow"] = Served(b"x" * 4_000, "text/plain", pause=0.02)
    fetching = Fetcher(settings.model_copy(update={"timeout_seconds": 0.2, "robots": False}), threading.Event())
    began = time.monotonic()
    with pytest.raises(SourceError, match="took too long"):
        get(fetching, site, "/slow")
    fetching.close()
    assert time.monotonic() - began < 5  # all of it would take twenty seconds


def test_what_a_server_sends_too_much_is_no_answer_to_the_next_request(site: FakeSite, fetching: Fetcher) -> None:
    extra = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nother"
    site.pages |= {"/a": Served(b"Words." + extra, "text/plain", cut=-len(extra)), "/b": page("B", "Of its own.")}
    assert get(fetching, site, "/a").body == b"Words."
    assert b"Of its own." in get(fetching, site, "/b").body


def test_a_page_that_is_too_large_is_not_read_to_its_end(site: FakeSite, fetching: Fetcher) -> None:
    site.pages["/huge"] = Served(b"x" * (MOST + 1), "text/plain")
    site.pages["/said"] = Served(b"x", "text/plain", cut=MOST)
    for path in ("/huge", "/said"):
        with pytest.raises(SourceError, match=f"larger than {MOST:,} bytes") as refused:
            get(fetching, site, path)
        assert "FOOTNOTE_WEB__MAX_BYTES" in refused.value.hint


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
def test_a_packed_page_is_unpacked_and_a_bomb_is_stopped(site: FakeSite, fetching: Fetcher, encoding: str) -> None:
    site.pages["/a"] = packed(page("A", "Here it is. " * 100), encoding)
    site.pages["/bomb"] = packed(Served(b"\0" * 20_000_000, "text/plain"), encoding)
    assert b"Here it is." in get(fetching, site, "/a").body
    with pytest.raises(SourceError, match="larger than"):
        get(fetching, site, "/bomb")
    assert site.headers[-1]["Accept-Encoding"] == "gzip, deflate"


def test_a_gzip_file_of_several_parts_is_read_to_its_last(site: FakeSite, fetching: Fetcher) -> None:
    body = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0\0"
    site.pages["/a"] = Served(body, "text/plain", headers={"Content-Encoding": "gzip"})
    assert get(fetching, site, "/a").body == b"one two"


@pytest.mark.parametrize(
    ("served", "why"),
    [
        (Served(b"x", headers={"Content-Encoding": "br"}), "packed as br"),
        (Served(b"no gzip", headers={"Content-Encoding": "gzip"}), "cannot be decompressed"),
        (Served(gzip.compress(b"x" * 900)[:-9], headers={"Content-Encoding": "gzip"}), "ended before"),
        (Served(b"half of it", cut=10), "cannot be fetched"),
        (Served(b"{}", "application/json"), "of the type application/json"),
        (Served(b"GIF89a", "image/gif"), "of the type image/gif"),
        (Served(b"MZ\x90", "application/octet-stream"), "does not state its content type"),
        (Served(status=403), "refused: it answered 403"),
        (Served(status=500), "answers 500"),
        (Served(status=204), "answers 204"),
        (Served(status=302), "answers 302"),
    ],
)
def test_what_is_no_page_is_refused_with_the_reason(
    site: FakeSite, fetching: Fetcher, served: Served, why: str
) -> None:
    site.pages["/a"] = served
    with pytest.raises(SourceError, match=why) as refused:
        get(fetching, site, "/a")
    assert refused.value.hint


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_not_there_is_gone(site: FakeSite, fetching: Fetcher, status: int) -> None:
    site.pages["/a"] = Served(status=status)
    with pytest.raises(Gone, match=f"is gone: it answered {status}"):
        get(fetching, site, "/a")


@pytest.mark.parametrize(
    ("served", "kind", "charset"),
    [
        (Served(b"<p>x", "Text/HTML;charset=UTF-8"), "text/html", "utf-8"),
        (Served(b"<p>x", 'application/xhtml+xml; charset="latin1"'), "text/html", "latin1"),
        (Served(b"%PDF-1.7", "application/pdf"), "application/pdf", ""),
        (Served(b"%PDF-1.7", "application/octet-stream"), "application/pdf", ""),
        (Served(b"# A", "text/markdown"), "text/markdown", ""),
        (Served(b"<urlset/>", "text/xml"), "application/xml", ""),
        (Served(gzip.compress(b"<urlset/>"), "application/x-gzip"), "application/xml", ""),
        (Served(b" <!DOCTYPE html><p>x", ""), "text/html", ""),
        (Served(b"<?xml version='1.0'?>\n<?xml-stylesheet href='x'?><!-- y --><urlset >"), "application/xml", "utf-8"),
        (Served(b"\xef\xbb\xbf<rss version='2.0'>", "text/plain"), "application/xml", ""),
        (Served(b"<?xml version='1.0'?><!DOCTYPE html><html><p>&lt;rss>"), "text/html", "utf-8"),
    ],
)
def test_the_type_is_what_the_server_says_else_what_the_bytes_say(
    site: FakeSite, fetching: Fetcher, served: Served, kind: str, charset: str
) -> None:
    site.pages["/a"] = served
    found = get(fetching, site, "/a")
    assert (found.type, found.charset) == (kind, charset)


def test_a_page_that_did_not_change_is_not_sent_again(site: FakeSite, fetching: Fetcher) -> None:
    changed = "Sat, 01 Nov 2025 10:00:00 GMT"
    site.pages["/a"] = page("A", "Words.", etag='"1"')
    site.pages["/b"] = page("B", "Words.", modified=changed)
    assert get(fetching, site, "/a").validators == {"If-None-Match": '"1"'}
    for path, told in (("/a", {"If-None-Match": '"1"'}), ("/b", {"If-Modified-Since": changed})):
        found = get(fetching, site, path, **told)
        assert (found.fresh, found.body, found.validators) == (False, b"", told)


def test_validators_are_told_only_where_they_came_from(site: FakeSite, fetching: Fetcher) -> None:
    changed = "Sat, 01 Nov 2025 10:00:00 GMT"
    site.pages |= {f"/v{number}": page("V", f"Words of {number}.", modified=changed) for number in (1, 2)}
    site.pages["/latest"] = redirect("/v1")
    address = fetching.address(f"{site.url}/latest")
    first = fetching.get(address)
    assert not fetching.get(address, first.validators, first.address.url).fresh
    site.pages["/latest"] = redirect("/v2")  # which is no older and no newer
    assert b"Words of 2." in fetching.get(address, first.validators, first.address.url).body


def test_an_answer_that_nothing_changed_is_no_page_where_nobody_asked(site: FakeSite, fetching: Fetcher) -> None:
    site.pages["/a"] = Served(status=304)
    with pytest.raises(SourceError, match="answers 304"):
        get(fetching, site, "/a")


def test_robots_txt_is_asked_for_once_and_honoured_also_after_a_redirect(site: FakeSite, fetching: Fetcher) -> None:
    site.pages["/robots.txt"] = Served(b"User-agent: footnote\nDisallow: /private*.html$\n", "text/plain")
    site.pages |= {"/a": page("A", "Words."), "/b": redirect("/private/x.html"), "/private/x.html": page("X", "No.")}
    get(fetching, site, "/a")
    for path in ("/b", "/private/x.html"):
        with pytest.raises(SourceError, match=r"/private/x\.html is disallowed by the robots\.txt"):
            get(fetching, site, path)
    assert site.asked == ["/robots.txt", "/a", "/b"]


def test_a_robots_txt_that_cannot_be_had_forbids_for_now_and_one_that_is_not_there_allows(
    site: FakeSite, settings: WebSettings, fetching: Fetcher
) -> None:
    site.pages["/a"] = page("A", "Words.")
    assert get(fetching, site, "/a").body
    other = Fetcher(settings, threading.Event())
    site.pages["/robots.txt"] = Served(status=503)
    said = f"{site.host} does not say what may be fetched: {site.host}/robots.txt is busy: it answered 503."
    with pytest.raises(SourceError, match=re.escape(said)):
        get(other, site, "/a")
    other.close()
    assert site.asked == ["/robots.txt", "/a", "/robots.txt"]


def test_a_busy_host_is_waited_for_as_long_as_it_asks(site: FakeSite, fetching: Fetcher) -> None:
    answers = iter([Served(status=429, headers={"Retry-After": "0"}), page("A", "At last.")])
    site.pages["/a"] = lambda: next(answers)
    assert b"At last." in get(fetching, site, "/a").body


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_host_that_asks_for_a_long_rest_is_left_alone_for_the_run(
    site: FakeSite, fetching: Fetcher, form: str
) -> None:
    in_two_hours = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    wait = "3600" if form == "seconds" else in_two_hours
    site.pages |= {"/a": Served(status=503, headers={"Retry-After": wait}), "/b": page("B", "Words.")}
    for path in ("/a", "/b"):
        with pytest.raises(SourceError, match=r"asks to wait \d h") as raised:
            get(fetching, site, path)
        assert 3_000 < raised.value.wait <= 7_200  # seconds: a watch asks again only then
    assert site.asked_for_pages() == ["/a"]


def test_a_host_is_asked_no_faster_than_the_setting_and_its_robots_txt_say(site: FakeSite) -> None:
    waits: list[float] = []

    class Noting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            return False

    site.pages["/robots.txt"] = Served(b"User-agent: *\nCrawl-delay: 7\n", "text/plain")
    site.pages["/a"] = page("A", "Words.")
    settings = WebSettings(delay_seconds=3, private_hosts=(site.host,))
    fetching = Fetcher(settings, Noting())
    for _ in range(2):
        get(fetching, site, "/a")
    fetching.close()
    assert [round(wait) for wait in waits] == [7, 7]  # after robots.txt, and after the first page


@pytest.mark.parametrize(
    "nonsense", ["Wed, 21 Oct 2015 07:28:00 +99999999999999", "21 Oct 99999999999999999999 07:28:00 GMT", "soon"]
)
def test_a_rest_of_nonsense_is_none_that_was_asked_for(site: FakeSite, fetching: Fetcher, nonsense: str) -> None:
    site.pages |= {"/a": Served(status=503, headers={"Retry-After": nonsense}), "/b": page("B", "Words.")}
    with pytest.raises(SourceError, match="is busy"):
        get(fetching, site, "/a")
    assert get(fetching, site, "/b").body


def test_a_run_that_is_stopped_waits_no_longer(site: FakeSite) -> None:
    stop = threading.Event()
    stop.set()
    fetching = Fetcher(WebSettings(delay_seconds=30, private_hosts=(site.host,)), stop)
    with pytest.raises(SourceError, match="stopped"):
        get(fetching, site, "/a")
    fetching.close()


def test_hosts_have_a_pace_of_their_own(site: FakeSite) -> None:
    site.pages["/"] = page("Home", "Words.")
    names = {"one.example": ["93.184.216.34"], "two.example": ["93.184.216.35"]}
    settings = WebSettings(delay_seconds=60, robots=False)
    fetching = Fetcher(settings, threading.Event(), network=network(site, names))
    for name in names:
        assert fetching.get(fetching.address(f"http://{name}/")).body
    fetching.close()


ROBOTS = b"""
# A comment
User-agent: Other
Disallow: /

User-Agent: FOOTNOTE/9
User-agent: third
Allow: /shop/open
Disallow: /shop
Disallow: /*.pdf$
Disallow: /a*b*c
Disallow: /caf\xc3\xa9
Crawl-delay: 2.5

User-agent: *
Disallow: /everything
"""


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/", True),
        ("/shop", False),
        ("/shop/x", False),
        ("/shop/open/x", True),
        ("/x.pdf", False),
        ("/x.pdf?a=1", True),
        ("/aXbXc/", False),
        ("/acb", True),
        ("/caf%C3%A9", False),
        ("/everything", True),
    ],
)
def test_the_longest_rule_of_the_own_group_decides(target: str, allowed: bool) -> None:
    rules = Rules(ROBOTS, "Footnote/0.1")
    assert rules.allow(target) is allowed
    assert rules.delay == 2.5


def test_a_robots_txt_without_content_allows(site: FakeSite, fetching: Fetcher) -> None:
    site.pages |= {"/robots.txt": Served(status=204), "/a": page("A", "Words.")}
    assert get(fetching, site, "/a").body


def test_rules_are_honoured_however_many_there_are() -> None:
    many = b"".join(b"Disallow: /%d/\n" % number for number in range(20_000))
    assert not Rules(b"User-agent: *\n" + many, "Footnote").allow("/19999/a")


def test_without_a_group_of_its_own_the_one_for_all_decides_and_nonsense_allows() -> None:
    assert not Rules(ROBOTS, "Someone").allow("/everything")
    assert Rules(b"<html>\xff not found: here</html>", "Footnote").allow("/x")
    assert Rules(b"User-agent: *\nCrawl-delay: nan\nDisallow:", "Footnote").delay == 0


def test_a_hostile_pattern_is_matched_in_linear_time() -> None:
    def read(size: int) -> object:
        rules = Rules(b"User-agent: *\nDisallow: /" + b"*a" * size + b"$", "Footnote")
        return rules.allow("/" + "a" * (size // 3))

    assert_linear(read, 5_000)


def test_a_host_with_an_address_that_does_not_answer_is_reached_at_its_next(site: FakeSite) -> None:
    site.pages["/"] = page("Home", "Here it is.")
    given = network(site, {"example.org": ["2606:2800:220:1::1", "93.184.216.34"]})
    waited: list[float] = []

    def dial(ip: str, port: int, seconds: float) -> httpcore.NetworkStream:
        waited.append(seconds)
        if ":" in ip:
            raise httpcore.ConnectTimeout("no route")
        return given.dial(ip, port, seconds)

    settings = WebSettings(delay_seconds=0, timeout_seconds=10, robots=False)
    fetching = Fetcher(settings, threading.Event(), network=Network(given.resolve, dial))
    assert b"Here it is." in fetching.get(fetching.address("http://example.org/")).body
    fetching.close()
    assert waited[0] < 6  # half of the time, so that some is left for the other


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (socket.EAI_NONAME, "example.org cannot be reached: there is no such name."),
        (socket.EAI_AGAIN, "example.org cannot be reached: its name cannot be looked up now."),
    ],
)
def test_a_name_that_is_not_found_is_said_in_words(number: int, said: str) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(number, "as the system says it")

    fetching = Fetcher(WebSettings(delay_seconds=0), threading.Event(), network=Network(resolve))
    with pytest.raises(SourceError) as refused:
        fetching.get(fetching.address("http://example.org/x"))
    fetching.close()
    assert refused.value.message == said


def test_a_name_that_takes_too_long_is_given_up(site: FakeSite) -> None:
    settings = WebSettings(delay_seconds=0, timeout_seconds=0.05, robots=False)
    slow = Network(lambda host, port: time.sleep(0.2) or [])
    fetching = Fetcher(settings, threading.Event(), network=slow)
    with pytest.raises(SourceError, match=r"example\.org was not resolved within 1 s"):
        fetching.get(fetching.address("http://example.org/"))
    fetching.close()


def test_a_gzip_file_of_very_many_parts_is_refused_at_once(site: FakeSite) -> None:
    site.pages["/a"] = Served(gzip.compress(b"") * 200_000, "application/gzip")
    large = WebSettings(delay_seconds=0, timeout_seconds=20, private_hosts=(site.host,))
    fetching = Fetcher(large, threading.Event())
    began = time.process_time()
    with pytest.raises(SourceError, match="cannot be decompressed"):
        get(fetching, site, "/a")
    fetching.close()
    assert time.process_time() - began < 5  # it took a minute


def test_parts_of_a_gzip_file_are_read_wherever_the_pieces_of_it_end() -> None:
    body = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0\0"
    for size in range(1, len(body)):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert decoded_body(pieces, "gzip", MOST, "a") == b"one two"


@pytest.mark.parametrize(
    "headers", [{"Content-Type": "\x1b]0;mine\x07text/x"}, {"Content-Encoding": "\x1b[31mbr\x9b2J"}]
)
def test_no_message_carries_what_a_terminal_would_obey(
    site: FakeSite, fetching: Fetcher, headers: dict[str, str]
) -> None:
    site.pages["/a"] = Served(b"x", "" if "Content-Type" in headers else "text/plain", headers=headers)
    with pytest.raises(SourceError) as refused:
        get(fetching, site, "/a")
    assert f"{refused.value} {refused.value.hint}".isprintable()


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("/x/../secret/a", "/secret/a"),
        ("/x/%2e%2E/secret/a", "/secret/a"),
        ("/./x", "/x"),
        ("/x/.", "/x/"),
        ("/x/y/..", "/x/"),
        ("/../../x?a=../b", "/x?a=../b"),
        ("/x//y/...", "/x//y/..."),
        ("", "/"),
    ],
)
def test_an_address_has_no_dot_segments(fetching: Fetcher, written: str, sent: str) -> None:
    address = fetching.address(f"https://example.org{written}")
    assert (address.target, fetching.address(address.url)) == (sent, address)


def test_robots_txt_is_not_evaded_by_dots(site: FakeSite, fetching: Fetcher) -> None:
    site.pages |= {
        "/robots.txt": Served(b"User-agent: *\nDisallow: /secret/", "text/plain"),
        "/secret/a": page("A", "B"),
    }
    with pytest.raises(SourceError, match="is disallowed by the robots"):
        get(fetching, site, "/x/../secret/a")
    assert site.asked_for_pages() == []
