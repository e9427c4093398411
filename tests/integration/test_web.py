"""A small website, ingested: what changed, what did not, what is gone, and what could not be had."""

import itertools
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Thread

import pytest

from config.settings import Settings, WebSettings
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import Ingestion, build_ingestion, ingest
from pipelines.ingestion.watch import Watch
from pipelines.store.database import open_database
from pipelines.store.fetch_cache import recall_listings
from pipelines.store.runs import list_runs
from pipelines.store.status import coverage
from pipelines.types import Filters, IngestReport
from tests.fake_web import FILLER, SCRIPTED, FakeSite, Served, page, rss, sitemap, website

NAMES = [f"/notes/{number}" for number in range(6)]


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with website() as served:
        for number, name in enumerate(NAMES):
            served.pages[name] = page(f"Note {number}", f"{FILLER}\n\nIt is note {number}.", etag=f'"{number}"')
        served.pages["/sitemap.xml"] = sitemap({NAMES[0]: "2025-01-01", **dict.fromkeys(NAMES[1:], "")})
        yield served


@pytest.fixture
def web_settings(make_settings: Callable[..., Settings], site: FakeSite) -> Settings:
    return make_settings(web=WebSettings(delay_seconds=0, timeout_seconds=10, private_hosts=(site.host,)))


def outcomes(report: IngestReport, site: FakeSite) -> dict[str, str]:
    return {item.document.removeprefix(site.host): item.outcome for item in report.items}


def texts(ingestion: Ingestion) -> str:
    store = ingestion.store
    found = store.fetch(store.matching_ids(Filters(), "owner"), filters=Filters(), audience="owner")
    return "\n".join(sorted(node.text for node in found.values()))


def stored(settings: Settings, site: FakeSite) -> set[str]:
    rows = coverage(open_database(settings))["documents"]
    return {row["document"].removeprefix(site.host) for row in rows if row["id"]}


def test_a_site_is_ingested_and_a_second_run_fetches_no_page_again(site: FakeSite, web_settings: Settings) -> None:
    location = f"{site.url}/sitemap.xml"
    first = ingest(web_settings, [location])
    assert outcomes(first, site) == dict.fromkeys(NAMES, "added")
    assert "It is note 3." in texts(build_ingestion(web_settings))
    assert site.asked_for_pages() == ["/sitemap.xml", *NAMES]
    site.headers.clear()
    second = ingest(web_settings, [location])
    assert (set(outcomes(second, site).values()), second.embedded) == ({"unchanged"}, 0)
    assert site.asked_for_pages() == ["/sitemap.xml", *NAMES[1:]]  # the first one's lastmod is as it was
    assert [told["If-None-Match"] for told in site.headers[2:]] == [f'"{number}"' for number in range(1, 6)]


def test_the_seconds_of_a_run_are_those_of_its_look_at_the_sources_too(site: FakeSite, web_settings: Settings) -> None:
    answered: list[datetime] = []

    def slow() -> Served:
        time.sleep(0.2)
        answered.append(datetime.now(UTC))
        return page("Slow", FILLER)

    site.pages["/slow"] = slow
    report = ingest(web_settings, [f"{site.url}/slow"])
    assert 0.2 <= report.looked < report.seconds
    (run,) = list_runs(open_database(web_settings).engine, 1)
    assert run["seconds"] == report.seconds
    assert datetime.fromisoformat(run["started_at"]) < answered[0]


def test_a_page_that_changed_is_updated_and_embeds_only_what_is_new(site: FakeSite, web_settings: Settings) -> None:
    location = f"{site.url}/sitemap.xml"
    ingest(web_settings, [location])
    site.pages[NAMES[2]] = page("Note 2", f"{FILLER}\n\nIt is another note now.", etag='"new"')
    report = ingest(web_settings, [location])
    assert [name for name, outcome in outcomes(report, site).items() if outcome != "unchanged"] == [NAMES[2]]
    assert "It is another note now." in texts(build_ingestion(web_settings))
    assert "It is note 2." not in texts(build_ingestion(web_settings))


def test_a_page_that_only_its_server_writes_anew_each_time_is_unchanged(site: FakeSite, web_settings: Settings) -> None:
    numbers = itertools.count()

    def served() -> Served:
        number = next(numbers)
        head = f"<meta name='csrf-token' content='{number}'><script nonce='{number}'>let n = {number}</script>"
        return page("A", FILLER, head=f"{head}<!-- made in {number} ms -->")

    site.pages["/a"] = served
    ingest(web_settings, [f"{site.url}/a"])
    assert outcomes(ingest(web_settings, [f"{site.url}/a"]), site) == {"/a": "unchanged"}
    site.pages["/a"] = page("A", FILLER, head="<meta name='author' content='Ann Example'>")
    assert outcomes(ingest(web_settings, [f"{site.url}/a"]), site) == {"/a": "metadata"}
    site.pages["/a"] = page("A", f"{FILLER}\n\nOne more paragraph.")
    assert outcomes(ingest(web_settings, [f"{site.url}/a"]), site) == {"/a": "updated"}


@pytest.mark.parametrize("still_listed", [True, False])
def test_a_page_that_was_deleted_goes_after_the_next_complete_listing_and_not_after_a_failed_one(
    site: FakeSite, web_settings: Settings, still_listed: bool
) -> None:
    location = f"{site.url}/sitemap.xml"
    ingest(web_settings, [location])
    del site.pages[NAMES[4]]
    complete = site.pages["/sitemap.xml"]
    if not still_listed:
        complete = sitemap(dict.fromkeys([*NAMES[:4], NAMES[5]], ""))
    site.pages["/sitemap.xml"] = Served(status=500)
    assert outcomes(ingest(web_settings, [location]), site) == {"/sitemap.xml": "failed"}
    assert stored(web_settings, site) == {*NAMES}
    site.pages["/sitemap.xml"] = complete
    assert outcomes(ingest(web_settings, [location]), site)[NAMES[4]] == "removed"
    assert stored(web_settings, site) == {*NAMES} - {NAMES[4]}
    assert "It is note 4." not in texts(build_ingestion(web_settings))


def test_a_page_that_two_sources_list_goes_when_both_have_dropped_it(site: FakeSite, web_settings: Settings) -> None:
    first, second = f"{site.url}/sitemap.xml", f"{site.url}/sitemap-2.xml"
    site.pages["/sitemap-2.xml"] = sitemap(dict.fromkeys(NAMES, ""))
    ingest(web_settings, [first])
    assert ingest(web_settings, [second]).count("unchanged") == len(NAMES)
    fewer = sitemap(dict.fromkeys(NAMES[1:], ""))
    site.pages["/sitemap.xml"] = fewer
    assert ingest(web_settings, [first]).count("removed") == 0
    assert stored(web_settings, site) == {*NAMES}
    site.pages["/sitemap-2.xml"] = fewer
    assert outcomes(ingest(web_settings, [second]), site)[NAMES[0]] == "removed"
    assert stored(web_settings, site) == {*NAMES[1:]}


def test_a_watch_that_finds_nothing_new_knows_what_its_source_holds_all_the_same(
    site: FakeSite, web_settings: Settings
) -> None:
    first, second = f"{site.url}/sitemap.xml", f"{site.url}/sitemap-2.xml"
    site.pages["/sitemap-2.xml"] = sitemap(dict.fromkeys(NAMES, ""))
    ingest(web_settings, [first])
    watch = Watch(web_settings, [second], Overrides(), tick=0.01)
    watching = Thread(target=lambda: list(watch.rounds()))
    watching.start()
    until = time.monotonic() + 30
    while second not in recall_listings(web_settings.home, web_settings.collection) and time.monotonic() < until:
        time.sleep(0.02)
    watch.stop.set()
    watching.join()
    assert len(recall_listings(web_settings.home, web_settings.collection)[second]) == len(NAMES)


def test_a_page_that_fails_for_now_stays_as_it_is_stored(site: FakeSite, web_settings: Settings) -> None:
    location = f"{site.url}/sitemap.xml"
    ingest(web_settings, [location])
    site.pages[NAMES[1]] = Served(status=503)
    report = ingest(web_settings, [location])
    assert outcomes(report, site)[NAMES[1]] == "failed"
    assert stored(web_settings, site) == {*NAMES}
    assert coverage(open_database(web_settings))["totals"]["failed"] == 1


def test_a_site_that_loses_all_its_pages_at_once_keeps_them_until_a_person_says_so(
    site: FakeSite, web_settings: Settings
) -> None:
    location = f"{site.url}/sitemap.xml"
    ingest(web_settings, [location])
    site.pages["/sitemap.xml"] = sitemap({NAMES[0]: ""})
    plan = build_ingestion(web_settings).plan([location])
    assert (plan.count("remove"), plan.refused) == (0, ((location, 5, 6),))


def test_a_feed_adds_and_never_removes(site: FakeSite, web_settings: Settings) -> None:
    site.pages["/feed"] = rss(NAMES[:2])
    ingest(web_settings, [f"{site.url}/feed"])
    site.pages["/feed"] = rss(NAMES[1:3])
    report = ingest(web_settings, [f"{site.url}/feed"])
    assert outcomes(report, site) == {NAMES[1]: "unchanged", NAMES[2]: "added"}
    assert stored(web_settings, site) == {*NAMES[:3]}


def test_pages_are_named_and_described_by_what_they_say(site: FakeSite, web_settings: Settings) -> None:
    site.pages["/a"] = page("A title", FILLER, head='<meta name="author" content="Ann Example">')
    ingest(web_settings, [f"{site.url}/a"])
    (document,) = coverage(open_database(web_settings))["documents"]
    assert (document["document"], document["category"]) == (f"{site.host}/a", "web")
    store = build_ingestion(web_settings).store
    (node_id,) = store.matching_ids(Filters(author=("ann example",)), "owner")
    (node,) = store.fetch([node_id], filters=Filters(), audience="owner").values()
    assert node.metadata["title"] == "A title"


def test_one_page_that_cannot_be_read_fails_alone_with_what_to_do(site: FakeSite, web_settings: Settings) -> None:
    site.pages["/app"] = SCRIPTED
    site.pages["/data"] = Served(b"{}", "application/json")
    site.pages["/sitemap.xml"] = sitemap(dict.fromkeys(["/app", "/data", NAMES[0]], ""))
    report = ingest(web_settings, [f"{site.url}/sitemap.xml"])
    assert outcomes(report, site) == {"/app": "failed", "/data": "failed", NAMES[0]: "added"}
    said = {item.document.removeprefix(site.host): item for item in report.items}
    assert "needs JavaScript" in said["/app"].message
    assert "of the type application/json" in said["/data"].message
    assert said["/app"].hint
    assert said["/data"].hint


def test_what_failed_is_tried_again_alone(site: FakeSite, web_settings: Settings) -> None:
    good = site.pages[NAMES[3]]
    site.pages[NAMES[3]] = Served(status=500)
    ingest(web_settings, [f"{site.url}/sitemap.xml"])
    site.pages[NAMES[3]] = good
    ingestion = build_ingestion(web_settings)
    plan = ingestion.plan([], only_failed=True)
    assert [(step.action, step.item.name) for step in plan.steps] == [("add", f"{site.host}{NAMES[3]}")]
    assert outcomes(ingestion.run(plan), site) == {NAMES[3]: "added"}


def test_a_page_that_was_named_itself_and_failed_is_a_document_that_did_and_is_tried_again(
    site: FakeSite, web_settings: Settings
) -> None:
    site.pages["/alone"] = Served(status=500)
    ingest(web_settings, [f"{site.url}/alone"])
    assert coverage(open_database(web_settings))["totals"]["failed"] == 1
    site.pages["/alone"] = page("Alone", FILLER)
    ingestion = build_ingestion(web_settings)
    assert outcomes(ingestion.run(ingestion.plan([], only_failed=True)), site) == {"/alone": "added"}
    assert coverage(open_database(web_settings))["totals"]["failed"] == 0


def test_a_new_time_in_the_text_is_a_new_date_of_the_page(site: FakeSite, web_settings: Settings) -> None:
    def dated(day: str) -> Served:
        served = page("A", FILLER)
        told = f"<article><time class='entry-date' datetime='{day}T10:00:00Z'>a while ago</time>"
        return Served(served.body.replace(b"<article>", told.encode()))

    site.pages["/a"] = dated("2024-03-05")
    ingest(web_settings, [f"{site.url}/a"])
    site.pages["/a"] = dated("2025-04-06")
    assert outcomes(ingest(web_settings, [f"{site.url}/a"]), site)["/a"] != "unchanged"
    assert outcomes(ingest(web_settings, [f"{site.url}/a"]), site)["/a"] == "unchanged"
