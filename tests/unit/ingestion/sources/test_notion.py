"""What is listed of Notion, by the real client from a server on the loopback."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from config.settings import NotionSettings, Settings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.ingestion.loaders import load
from pipelines.ingestion.sources import Access, Listing
from pipelines.ingestion.sources.notion import Notion, pages
from pipelines.ingestion.sources.notion.client import id_of
from pipelines.store.originals import original_path
from pipelines.types import Document
from tests.fake_notion import TOKEN, FakeNotion, Fault, block, rich

ROOT = Path(__file__).parents[4]
ID = "0123456789abcdef0123456789abcdef"
LATER = "2024-04-01T09:00:00.000Z"
AGAIN = Fault(503, "service_unavailable", retry_after="0")
LIMIT = Fault(429, "rate_limited", retry_after="0")


@pytest.fixture
def notion() -> Iterator[FakeNotion]:
    with FakeNotion() as fake:
        yield fake


class World:
    """A home, and listings of the fake into it."""

    def __init__(self, notion: FakeNotion, home: Path) -> None:
        self.notion, self.home = notion, home
        self.reason: list[str] = []
        self.far: list[str] = []
        self.token: str | None = TOKEN
        self.stop = threading.Event()

    def list(self, location: str, **options: object) -> Listing:
        return self.opened(**options).list(location)

    def opened(self, verify: bool = False, depth: int | None = None, wait: float = 300.0, under: str = "") -> Notion:
        settings = Settings(
            _env_file=None, home=self.home, notion_token=self.token,
            notion=NotionSettings(api_base=self.notion.url, wait_seconds=wait),
        )  # fmt: skip
        declared = {under: DeclaredSource(location=under, depth=depth)} if depth is not None else {}
        return Notion(Access(settings, 10_000_000, declared, verify, self.reason.append, self.stop, self.far.append))

    def documents(self, location: str, **options: object) -> dict[str, Document]:
        kind = self.opened(**options)
        listing = kind.list(location)
        assert not listing.problems
        kept = {item: original_path(self.home, kind.read(item).sha).read_bytes() for item in listing.items}
        kind.close()
        return {item.name: load(data, item) for item, data in kept.items()}

    def failure(self, location: str) -> SourceError:
        """Why the one document of an incomplete listing that cannot be read cannot."""
        kind = self.opened()
        listing = kind.list(location)
        assert (listing.complete, listing.problems) == (False, ())
        found = []
        for item in listing.items:
            try:
                kind.read(item)
            except SourceError as error:
                found.append(error)
        kind.close()
        (error,) = found
        return error


@pytest.fixture
def world(notion: FakeNotion, tmp_path: Path) -> World:
    return World(notion, tmp_path)


def problem(listing: Listing) -> SourceError:
    ((_, error),) = listing.problems
    assert not listing.complete
    return error


@pytest.mark.parametrize(
    "location",
    [
        f"notion:{ID}",
        f"notion:{ID.upper()}",
        "notion:01234567-89ab-cdef-0123-456789abcdef",
        f"notion:https://www.notion.so/acme/On-call-handbook-{ID}?pvs=4#aabb",
        f"notion:https://www.notion.so/{ID}",
        "notion:https://acme.notion.site/01234567-89ab-cdef-0123-456789abcdef",
        f"notion:notion.so/acme/{ID}/",
        f"notion:On-call-handbook-{ID}",
        f"notion:{ID}?v={'e' * 32}",
        f"notion://www.notion.so/acme/Handbook-{ID}",
        f"notion:https://www.notion.so/acme/{'f' * 32}?v={'e' * 32}&p={ID}&pm=s",
    ],
)
def test_an_id_is_found_however_it_is_written(location: str) -> None:
    assert id_of(location) == ID


@pytest.mark.parametrize(
    "location", ["notion:", "notion:handbook", f"notion:{ID}0", "notion:../../users", "notion:/", "notion://["]
)
def test_what_holds_no_id_is_refused(location: str, world: World) -> None:
    assert "is not a Notion page or database" in problem(world.list(location)).message
    assert world.notion.requests == []


def test_everything_below_a_page_is_listed_under_its_titles(world: World) -> None:
    notion = world.notion
    root = notion.page("Handbook", block("paragraph", "Welcome."))
    deep = notion.page("On call / nights", parent=root)
    notion.page("", parent=deep)
    tasks = notion.database("Tasks", parent=deep)
    notion.row(tasks, "Mend the pump")
    listing = world.list(f"notion:{root}")
    assert (listing.source, listing.complete) == (f"notion:{root.replace('-', '')}", True)
    assert [item.name for item in listing.items] == [
        "Handbook",
        "Handbook/On call - nights",
        "Handbook/On call - nights/Tasks",
        "Handbook/On call - nights/Tasks/Mend the pump",
        "Handbook/On call - nights/Untitled",
    ]
    assert listing.items[0].uri == f"https://www.notion.so/{root.replace('-', '')}"


def test_a_database_may_be_the_source_itself(world: World) -> None:
    tasks = world.notion.database("Tasks")
    world.notion.row(tasks, "Mend the pump", State={"select": {"name": "open"}})
    documents = world.documents(f"notion:{tasks}")
    assert documents["Tasks"].text == "# Tasks\n\n| Name | State |\n| --- | --- |\n| Mend the pump | open |"
    assert documents["Tasks/Mend the pump"].text == "# Mend the pump\n\nState: open"


def test_more_than_a_hundred_blocks_and_ten_levels_are_all_fetched(world: World) -> None:
    nested = block("paragraph", "level 10")
    for level in range(9, 0, -1):
        nested = block("toggle", f"level {level}", nested, *(block("paragraph", f"{level}-{n}") for n in range(101)))
    root = world.notion.page("Deep", nested, *(block("paragraph", f"flat {n}") for n in range(250)))
    document = world.documents(f"notion:{root}")["Deep"]
    said = {document.text[each.start : each.end] for each in document.blocks}
    expected = {f"level {n}" for n in range(1, 11)} | {f"flat {n}" for n in range(250)}
    assert said == expected | {f"{level}-{n}" for level in range(1, 10) for n in range(101)} | {"# Deep"}
    assert document.metadata["blocks"] == 10 + 250 + 9 * 101
    assert "partial" not in document.metadata


def test_each_answer_tells_how_far_the_look_is_in_a_long_page_too(world: World) -> None:
    root = world.notion.page("Root", *(block("toggle", f"t{n}", block("paragraph", "inside")) for n in range(5)))
    world.list(f"notion:{root}")
    assert world.far[0] == "Notion: the beginning (answer 1)"
    assert world.far[-1] == "Notion: page 1, Root (answer 7)"
    assert len(world.far) == 8


def test_the_declared_depth_is_kept(world: World) -> None:
    first = world.notion.page("A")
    second = world.notion.page("B", parent=first)
    world.notion.page("C", parent=second)
    plain = f"notion:{first.replace('-', '')}"
    assert [item.name for item in world.list(plain, depth=1, under=plain).items] == ["A", "A/B"]
    shallow = world.list(plain, depth=0, under=plain)
    assert [item.name for item in shallow.items] == ["A"]
    assert shallow.skipped == (("A/...", "1 below it, deeper than 0"),)
    assert [item.name for item in world.list(plain).items] == ["A", "A/B", "A/B/C"]


def test_what_did_not_change_is_only_asked_for_its_time(world: World) -> None:
    notion = world.notion
    root = notion.page("Root", *(block("toggle", f"t{n}", block("paragraph", "inside")) for n in range(5)))
    pages = [notion.page(f"Page {n}", block("paragraph", "words"), parent=root) for n in range(6)]
    tasks = notion.database("Tasks", parent=root)
    for number in range(4):
        notion.row(tasks, f"Row {number}", block("paragraph", "words"))
    first = world.list(f"notion:{root}")
    notion.requests.clear()
    assert world.list(f"notion:{root}") == first
    asked = {"GET /v1/pages/ID": 7, "GET /v1/databases/ID": 1, "POST /v1/data_sources/ID/query": 1}
    assert notion.counts() == asked
    notion.edit(pages[2], LATER, block("paragraph", "more"))
    notion.requests.clear()
    listing = world.list(f"notion:{root}")
    assert notion.counts() == {**asked, "GET /v1/blocks/ID/children": 1}
    assert {item.stamp for item in listing.items} > {item.stamp for item in first.items}


def test_verifying_fetches_everything_anew(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"))
    world.list(f"notion:{root}")
    world.notion.blocks[root][0]["paragraph"]["rich_text"] = rich("other words")
    assert world.documents(f"notion:{root}")["Root"].text == "# Root\n\nwords"
    assert world.documents(f"notion:{root}", verify=True)["Root"].text == "# Root\n\nother words"


def test_a_page_without_a_time_is_fetched_each_time(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"), last_edited_time=None)
    world.list(f"notion:{root}")
    world.notion.write(root, block("paragraph", "more"))
    assert world.documents(f"notion:{root}")["Root"].text.endswith("more")


def test_what_another_run_fetched_since_is_not_taken_for_what_was_listed(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"))
    world.list(f"notion:{root}")
    kind = world.opened()
    (item,) = kind.list(f"notion:{root}").items
    world.notion.edit(root, LATER, block("paragraph", "more"))
    world.list(f"notion:{root}")
    with pytest.raises(SourceError, match="not fetched"):
        kind.read(item)


def test_a_page_edited_a_moment_ago_is_looked_at_again(world: World) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:00.000Z")  # Notion tells whole minutes
    root = world.notion.page("Root", block("paragraph", "words"), last_edited_time=now)
    assert world.list(f"notion:{root}").items[0].stamp == ""
    world.notion.write(root, block("paragraph", "more"))
    assert world.documents(f"notion:{root}")["Root"].text.endswith("more")


def test_the_same_answers_make_the_same_bytes(world: World, tmp_path: Path) -> None:
    root = world.notion.page("Root", block("toggle", "a", block("paragraph", "b")))
    first = world.opened()
    (item,) = first.list(f"notion:{root}").items
    again = World(world.notion, tmp_path / "other").opened()
    again.list(f"notion:{root}")
    assert first.read(item) == again.read(item)


def test_a_page_in_the_trash_or_gone_is_no_longer_listed_and_the_listing_is_complete(world: World) -> None:
    root = world.notion.page("Root")
    for number in range(3):
        world.notion.page(f"Page {number}", parent=root)
    ids = [each["id"] for each in world.notion.blocks[root]]
    assert len(world.list(f"notion:{root}").items) == 4
    world.notion.pages[ids[0]]["in_trash"] = True  # the parent's own time did not change
    world.notion.hidden.add(ids[1])
    listing = world.list(f"notion:{root}")
    assert ([item.name for item in listing.items], listing.complete) == (["Root", "Root/Page 2"], True)
    assert "not shared" in listing.skipped[0].reason


def test_a_failure_in_the_middle_of_a_page_leaves_it_out_and_the_listing_incomplete(world: World) -> None:
    root = world.notion.page("Root")
    many = world.notion.page("Many", *(block("paragraph", f"p{n}") for n in range(150)), parent=root)
    world.notion.page("Other", block("paragraph", "words"), parent=root)
    flat = many.replace("-", "")
    ok = world.notion.answer("GET", f"/v1/blocks/{flat}/children", {})[1]
    path = f"/v1/blocks/{flat}/children"
    world.notion.fail(path, Fault(200, body=json.dumps(ok)), AGAIN, AGAIN, AGAIN)
    assert "answered with 503" in world.failure(f"notion:{root}").message
    assert "Root/Many" in [item.name for item in world.list(f"notion:{root}").items]


def test_a_page_that_is_there_but_whose_blocks_are_refused_removes_nothing(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"))
    world.notion.fail(f"/v1/blocks/{root.replace('-', '')}/children", Fault(404, "object_not_found"))
    assert "no such page" in world.failure(f"notion:{root}").message


def test_three_failures_in_a_row_end_the_listing(world: World) -> None:
    root = world.notion.page("Root")
    for number in range(9):
        world.notion.page(f"Page {number}", parent=root)
    world.list(f"notion:{root}")
    for each in world.notion.blocks[root]:
        world.notion.fail(f"/v1/pages/{each['id'].replace('-', '')}", *[AGAIN] * 100)
    world.notion.requests.clear()
    assert "answered with 503" in problem(world.list(f"notion:{root}")).message
    assert len(world.notion.requests) == 1 + 3 + 1 + 1  # after one that failed, the next is sent only once


def test_no_client_is_loaded_before_a_source_is_asked() -> None:
    clients = "{'httpcore', 'httpx', 'trafilatura'}"
    asked = f"import sys, pipelines.ingestion.sources; print(bool({clients} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"


def test_a_failing_request_is_tried_again(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.fail("", AGAIN, AGAIN)
    assert world.list(f"notion:{root}").complete
    assert world.reason == ["Notion answered with 503; the next try is in 0 s ..."] * 2


def test_a_rate_limit_is_waited_for_aloud(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.fail("", LIMIT, LIMIT, LIMIT, LIMIT)
    assert world.list(f"notion:{root}").complete
    assert world.reason == ["Notion asks to wait 0 s (its rate limit) ..."] * 4


def test_a_rate_limit_longer_than_the_setting_is_left_for_the_next_run(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.page("Below", parent=root)
    path = f"/v1/blocks/{root.replace('-', '')}/children"
    world.notion.fail(path, Fault(429, "rate_limited", retry_after="301"))
    error = problem(world.list(f"notion:{root}"))
    assert "asks to wait 6 min (its rate limit); that is left for the next run" in error.message
    assert error.wait == 301  # seconds: a watch asks again only then
    assert "WAIT_SECONDS" in error.hint
    assert len(world.list(f"notion:{root}").items) == 2


def test_a_rate_limit_that_never_ends_is_left_for_the_next_run(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.fail("", *[LIMIT] * 100)
    assert "asks to wait" in problem(world.list(f"notion:{root}")).message
    assert len(world.notion.requests) == 31


def test_a_failing_server_is_waited_for_no_longer_than_the_setting(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.fail("", Fault(503, "service_unavailable", retry_after="500"))
    assert world.list(f"notion:{root}", wait=0.0).complete


def test_a_wait_of_more_digits_than_any_time_has_is_none(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.fail("", Fault(429, "rate_limited", retry_after="9" * 400))
    assert world.list(f"notion:{root}", wait=0.0).complete is False
    assert world.list(f"notion:{root}").complete


def test_a_stop_ends_the_wait_and_the_listing(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.fail("", Fault(429, "rate_limited", retry_after="200"))
    threading.Timer(0.1, world.stop.set).start()
    assert "stopped" in problem(world.list(f"notion:{root}")).message


def test_a_refused_token_ends_the_listing_and_is_not_shown(world: World) -> None:
    root, world.token = world.notion.page("Root"), "ntn_wrong"
    error = problem(world.list(f"notion:{root}"))
    assert "rejects the token" in error.message
    assert "ntn_" not in str(error)
    assert len(world.notion.requests) == 1


@pytest.mark.parametrize("token", [None, "", "ntn_se\ncret", "ntn_sécret"])
def test_a_token_that_cannot_be_sent_is_a_problem_without_a_request(token: str | None, world: World) -> None:
    world.token = token
    error = problem(world.list(f"notion:{ID}"))
    assert "NOTION_TOKEN" in str(error)
    assert "cret" not in str(error).replace("secret", "")
    assert world.notion.requests == []


def test_an_address_of_the_api_that_is_none_is_a_problem(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, home=tmp_path, notion_token=TOKEN, notion=NotionSettings(api_base="http://["))
    assert "API_BASE" in problem(Notion(Access(settings, 1000)).list(f"notion:{ID}")).message


def test_a_page_that_is_not_shared_says_to_share_it(world: World) -> None:
    assert "Connections" in problem(world.list(f"notion:{ID}")).hint


def test_a_source_in_the_trash_is_a_problem_and_removes_nothing(world: World) -> None:
    root = world.notion.page("Root")
    world.notion.trash(root)
    assert "trash" in problem(world.list(f"notion:{root}")).message


def test_a_block_whose_children_are_refused_is_named_and_its_page_stored_as_partial(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "before"), block("ai_block", "", block("paragraph", "x")))
    bad = world.notion.blocks[root][1]["id"]
    world.notion.refused.add(bad)
    kind = world.opened()
    listing = kind.list(f"notion:{root}")
    (name, said), (item,) = listing.partial[0], listing.items
    first = f"ai_block {bad.replace('-', '')}"
    assert (name, listing.skipped) == ("Root", ())
    assert said.startswith(f"without what lies below 1 of its blocks, such as {first}: ")
    assert "ai_block is not supported" in said
    assert listing.complete  # else nothing that is deleted elsewhere would ever be removed
    document = load(original_path(world.home, kind.read(item).sha).read_bytes(), item)
    assert document.text == "# Root\n\nbefore"
    assert document.metadata["partial"]["fetched"] == 2
    assert document.metadata["partial"]["rendered"] == 1
    world.notion.refused.clear()
    whole = world.documents(f"notion:{root}")["Root"]  # it is asked again although no time changed
    assert whole.text == "# Root\n\nbefore\n\nx"
    assert "partial" not in whole.metadata


def test_a_page_of_which_notion_gives_no_block_fails_and_keeps_what_was_stored_and_what_is_below(world: World) -> None:
    root = world.notion.page("Root")
    page = world.notion.page("Asked", block("paragraph", "words"), parent=root)
    world.notion.page("Child", block("paragraph", "below"), parent=page)
    path = f"/v1/blocks/{page.replace('-', '')}/children"
    said = {"object": "error", "status": 400, "code": "validation_error"}
    said["message"] = "Block type ai_block is not supported via the API."
    refusal = Fault(400, body=json.dumps(said))
    world.notion.fail(path, refusal)
    assert "ai_block is not supported via the API." in world.failure(f"notion:{root}").message
    assert world.documents(f"notion:{root}")["Root/Asked"].text.startswith("# Asked\n\nwords\n\n[Child]")
    world.notion.edit(page, LATER)
    world.notion.fail(path, refusal, refusal)
    for verify in (True, False):
        kind = world.opened(verify=verify)
        listing = kind.list(f"notion:{root}")
        assert (listing.complete, listing.partial) == (False, ())
        (asked,) = [item for item in listing.items if item.name == "Root/Asked"]
        with pytest.raises(SourceError) as failure:
            kind.read(asked)
        assert failure.value.hint.endswith("its stored version is kept.")
        kind.close()


def test_a_block_that_the_api_only_names_is_told_at_every_run(world: World) -> None:
    root = world.notion.page("Root", block("unsupported"), block("paragraph", "words"))
    for _ in range(2):
        listing = world.list(f"notion:{root}")
        assert listing.complete
        assert listing.partial == (("Root", "without blocks that the API does not give: 1 unsupported"),)
        assert world.reason == []  # the report says it
    assert world.documents(f"notion:{root}")["Root"].metadata["partial"]["unread"] == {"unsupported": 1}


def test_synced_blocks_are_read_once_a_page_and_never_without_end(world: World) -> None:
    notion = world.notion
    home = notion.page("Home", block("synced_block", "", block("paragraph", "shared words"), synced_from=None))
    original = notion.blocks[home][0]["id"]
    repeat = block("synced_block", synced_from={"type": "block_id", "block_id": original})
    loop = notion.page("Loop", repeat, repeat)
    notion.write(original, block("synced_block", synced_from={"type": "block_id", "block_id": original}))
    assert world.documents(f"notion:{loop}")["Loop"].text == "# Loop\n\nshared words"
    assert world.documents(f"notion:{home}")["Home"].text == "# Home\n\nshared words"


def test_a_synced_block_whose_original_is_not_shared_is_named(world: World) -> None:
    repeat = block("synced_block", synced_from={"type": "block_id", "block_id": ID})
    root = world.notion.page("Root", repeat, block("paragraph", "words"))
    world.notion.hidden.add(world.notion.blocks[root][0]["id"])
    ((_, said),) = world.list(f"notion:{root}").partial
    assert "not shared with the integration" in said


def test_below_a_block_that_the_api_only_names_nothing_is_asked_for(world: World) -> None:
    root = world.notion.page("Root", block("unsupported", "", block("paragraph", "inside")))
    world.notion.refused.add(world.notion.blocks[root][0]["id"])
    assert world.list(f"notion:{root}").complete
    assert world.notion.counts()["GET /v1/blocks/ID/children"] == 1


def test_pages_that_lay_below_what_is_refused_now_stay_listed_while_they_are_there(world: World) -> None:
    notion = world.notion
    root = notion.page("Root", block("toggle", "inside", block("paragraph", "words")))
    toggle = notion.blocks[root][0]["id"]
    for number in range(2):
        notion.page(f"Page {number}", parent=toggle)
    deleted = notion.page("Deleted", parent=toggle)
    assert len(world.list(f"notion:{root}").items) == 4
    notion.refused.add(toggle)
    notion.edit(root, LATER)
    notion.pages[deleted]["in_trash"] = True
    for _ in range(2):
        listing = world.list(f"notion:{root}", verify=True)
        assert ([item.name for item in listing.items], listing.complete) == (
            ["Root", "Root/Page 0", "Root/Page 1"],
            True,
        )


def test_a_cursor_that_is_no_longer_taken_below_a_block_is_no_refusal_of_all_that_lies_there(world: World) -> None:
    root = world.notion.page("Root", block("toggle", "t", *(block("paragraph", f"p{n}") for n in range(150))))
    path = f"/v1/blocks/{world.notion.blocks[root][0]['id'].replace('-', '')}/children"
    first = world.notion.answer("GET", path, {})[1]
    world.notion.fail(path, Fault(200, body=json.dumps(first)), Fault(400, "validation_error"))
    assert "refuses the request" in world.failure(f"notion:{root}").message


def test_what_lies_deeper_than_a_page_is_read_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_MAX_DEPTH", 2)
    nested = block("toggle", "a", block("toggle", "b", block("toggle", "c", block("paragraph", "d"))))
    root = world.notion.page("Root", nested)
    assert "more than 2 levels deep" in world.list(f"notion:{root}").partial[0].reason
    assert world.documents(f"notion:{root}")["Root"].text == "# Root\n\na\n\nb\n\nc"


def test_a_page_of_too_many_blocks_cannot_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_MAX_BLOCKS", 3)
    root = world.notion.page("Root", *(block("paragraph", f"p{n}") for n in range(4)))
    assert "more than 3 blocks" in world.failure(f"notion:{root}").message


def test_blocks_and_rows_in_the_trash_are_not_read(world: World) -> None:
    tasks = world.notion.database("Tasks")
    page = world.notion.row(tasks, "Mend the pump", block("paragraph", "kept"), block("paragraph", "deleted"))
    world.notion.blocks[page][1]["in_trash"] = True
    gone = world.notion.row(tasks, "Mend the belt")
    world.notion.pages[gone]["archived"] = True
    documents = world.documents(f"notion:{tasks}")
    assert documents["Tasks"].text == "# Tasks\n\n| Name |\n| --- |\n| Mend the pump |"
    assert documents["Tasks/Mend the pump"].text == "# Mend the pump\n\nkept"
    assert len(documents) == 2


def test_pages_that_hold_each_other_are_listed_once(world: World) -> None:
    first = world.notion.page("First")
    second = world.notion.page("Second", parent=first)
    world.notion._append(second, "child_page", {"title": "First"}, first, has_children=True)
    assert [item.name for item in world.list(f"notion:{first}").items] == ["First", "First/Second"]
    assert world.notion.counts()["GET /v1/pages/ID"] == 2


def test_a_linked_view_of_a_database_is_passed_over_and_told(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"))
    view = world.notion.view(root)
    listing = world.list(f"notion:{root}")
    assert ([item.name for item in listing.items], listing.complete) == (["Root"], True)
    assert "linked view" in listing.skipped[0].reason
    assert "linked view" in problem(world.list(f"notion:{view}")).hint


def test_a_database_that_is_refused_for_another_reason_is_a_document_that_cannot_be_read(world: World) -> None:
    root = world.notion.page("Root")
    tasks = world.notion.database("Tasks", parent=root)
    world.notion.fail(f"/v1/databases/{tasks.replace('-', '')}", Fault(400, "validation_error"))
    assert "refuses the request" in world.failure(f"notion:{root}").message


def test_a_page_that_moves_is_listed_where_it_is_now(world: World) -> None:
    notion = world.notion
    root = notion.page("Root")
    first, second = (notion.page(title, parent=root) for title in ("First", "Second"))
    page, away = notion.page("Page", parent=second), notion.page("Gone", parent=second)
    world.list(f"notion:{root}")
    notion.move(page, first, LATER)
    notion.move(away, notion.page("Elsewhere"), LATER)
    notion.edit(first, LATER)
    notion.edit(second, LATER)
    listing = world.list(f"notion:{root}")
    assert [item.name for item in listing.items] == ["Root", "Root/First", "Root/First/Page", "Root/Second"]
    assert listing.complete


@pytest.mark.parametrize("gone", ["hidden", "in_trash"])
def test_a_page_that_left_its_page_and_is_gone_leaves_the_listing_complete(gone: str, world: World) -> None:
    notion = world.notion
    root = notion.page("Root")
    page = notion.page("Page", parent=root)
    world.list(f"notion:{root}")
    notion.trash(page)
    notion.pages[page]["in_trash"] = gone == "in_trash"
    notion.hidden |= {page} if gone == "hidden" else set()
    notion.edit(root, LATER)
    listing = world.list(f"notion:{root}")
    assert ([item.name for item in listing.items], listing.complete) == (["Root"], True)


def test_what_lies_below_refused_blocks_of_pages_below_refused_blocks_stays_listed(world: World) -> None:
    notion = world.notion
    root = notion.page("Root", block("toggle", "inside", block("paragraph", "words")))
    page = notion.page("Page", block("toggle", "inside", block("paragraph", "words")), parent=_first(notion, root))
    notion.page("Deep", parent=_first(notion, page))
    names = [item.name for item in world.list(f"notion:{root}").items]
    for each in (root, page):
        notion.refused.add(_first(notion, each))
        notion.edit(each, LATER)
    for _ in range(2):
        listing = world.list(f"notion:{root}")
        assert ([item.name for item in listing.items], listing.complete) == (names, True)
    assert names == ["Root", "Root/Page", "Root/Page/Deep"]


def _first(notion: FakeNotion, page: str) -> str:
    return str(notion.blocks[page][0]["id"])


def test_rows_deeper_than_the_declared_depth_are_told(world: World) -> None:
    tasks = world.notion.database("Tasks")
    world.notion.row(tasks, "Mend the pump")
    listing = world.list(f"notion:{tasks}", depth=0, under=f"notion:{tasks}")
    assert listing.skipped == (("Tasks/...", "1 below it, deeper than 0"),)


def test_a_table_of_a_database_that_is_not_shared_is_told_and_the_others_are_read(world: World) -> None:
    tasks = world.notion.database("Tasks")
    world.notion.row(tasks, "Mend the pump")
    world.notion.databases[tasks]["data_sources"].append({"id": ID, "name": "Secrets"})
    listing = world.list(f"notion:{tasks}")
    assert [item.name for item in listing.items] == ["Tasks", "Tasks/Mend the pump"]
    assert listing.partial == (("Tasks", "without tables that are not shared with the integration: Secrets"),)


def test_rows_of_a_table_that_is_no_longer_shared_are_listed_as_long_as_they_are(world: World) -> None:
    notion = world.notion
    root = notion.page("Root")
    tasks = notion.database("Tasks", root)
    rows = [notion.row(tasks, title, block("paragraph", title)) for title in ("Mend the pump", "Oil it")]
    before = world.documents(f"notion:{root}")
    (source,) = notion.rows
    notion.hidden.add(source)
    for _ in range(2):
        listing = world.list(f"notion:{root}")
        assert (listing.complete, listing.skipped, len(listing.partial)) == (True, (), 1)
        now = world.documents(f"notion:{root}")
        assert now["Root/Tasks"].text == "# Tasks"  # its table is not shared
        assert {**now, "Root/Tasks": before["Root/Tasks"]} == before
    notion.edit(rows[0], LATER, block("paragraph", "Soon."))
    notion.hidden.add(rows[1])
    after = world.documents(f"notion:{root}")
    assert list(after) == ["Root", "Root/Tasks", "Root/Tasks/Mend the pump"]
    assert after["Root/Tasks/Mend the pump"].text.endswith("Soon.")
    notion.hidden.clear()
    assert list(world.documents(f"notion:{root}")) == list(before)


def test_what_fails_is_named_by_its_title_where_that_is_known(world: World) -> None:
    root = world.notion.page("Root")
    many = world.notion.page("Many", block("paragraph", "words"), parent=root)
    world.notion.fail(f"/v1/blocks/{many.replace('-', '')}/children", Fault(400, "validation_error"))
    assert [item.name for item in world.list(f"notion:{root}").items] == ["Root", "Root/Many"]


@pytest.mark.parametrize("fault", [Fault(403, "restricted_resource"), Fault(400, "invalid_request")])
def test_what_one_page_alone_is_refused_ends_no_listing(fault: Fault, world: World) -> None:
    root = world.notion.page("Root")
    pages = [world.notion.page(f"Page {n}", parent=root) for n in range(2)]
    world.notion.fail(f"/v1/blocks/{pages[0].replace('-', '')}/children", fault)
    listing = world.list(f"notion:{root}")
    assert ([item.name for item in listing.items], listing.complete) == (["Root", "Root/Page 0", "Root/Page 1"], False)


def test_an_integration_that_may_read_nothing_is_told_at_once(world: World) -> None:
    world.notion.fail("", *[Fault(403, "restricted_resource")] * 9)
    assert "capability" in problem(world.list(f"notion:{ID}")).hint
    assert len(world.notion.requests) == 1


def test_every_kind_of_property_is_said(world: World) -> None:
    notion = world.notion
    authors = notion.database("Authors")
    ada = notion.row(authors, "Ada Lovelace")
    books = notion.database("Books")
    person = {"object": "user", "id": ID, "name": "Grace Hopper"}
    notion.row(
        books, "Notes", block("paragraph", "Inside the row."),
        Text={"rich_text": rich("see ", ("the site", "https://acme.example/"))},
        Kind={"select": {"name": "essay"}}, Tags={"multi_select": [{"name": "engine"}, {"name": "loom"}]},
        State={"status": {"name": "Done"}}, When={"date": {"start": "2024-01-02", "end": "2024-02-03"}},
        Who={"people": [person]}, Pages={"number": 40.0}, Price={"number": 2.5}, Read={"checkbox": False},
        Link={"url": "https://acme.example/b"}, Mail={"email": "ada@acme.example"}, Phone={"phone_number": "+44 1"},
        Sum={"formula": {"type": "number", "number": 7}}, Author={"relation": [{"id": ada}]},
        Roll={"rollup": {"type": "array", "array": [{"type": "rich_text", "rich_text": rich("x")}], "function": "f"}},
        Files={"files": [{"name": "plan.pdf", "type": "file", "file": {"url": "https://s3/secret?sig=1"}}]},
        Made={"created_time": "2024-01-01T00:00:00.000Z"}, By={"created_by": person},
        Number={"unique_id": {"prefix": "B", "number": 12}}, Empty={"select": None}, Push={"button": {}},
    )  # fmt: skip
    document = world.documents(f"notion:{books}")["Books/Notes"]
    assert document.text == (
        "# Notes\n\nAuthor: Ada Lovelace\nBy: Grace Hopper\nFiles: plan.pdf\nKind: essay\n"
        "Link: https://acme.example/b\nMade: 2024-01-01T00:00:00.000Z\nMail: ada@acme.example\nNumber: B-12\n"
        "Pages: 40\nPhone: +44 1\nPrice: 2.5\nRead: no\nRoll: x\nState: Done\nSum: 7\nTags: engine, loom\n"
        "Text: see [the site](https://acme.example/)\nWhen: 2024-01-02 → 2024-02-03\nWho: Grace Hopper"
        "\n\nInside the row."
    )
    assert document.metadata["properties"]["Pages"] == "40"


def test_a_relation_of_more_than_25_pages_is_asked_for_whole_and_once(world: World) -> None:
    notion = world.notion
    parts = notion.database("Parts")
    ids = [{"id": notion.row(parts, f"Part {n:02}")} for n in range(30)]
    whole = notion.database("Machines")
    notion.row(whole, "Loom", Parts={"relation": ids})
    text = world.documents(f"notion:{whole}")["Machines/Loom"].text
    assert text == "# Loom\n\nParts: " + ", ".join(f"Part {n:02}" for n in range(30))
    notion.requests.clear()
    assert world.documents(f"notion:{whole}")["Machines/Loom"].text == text
    assert notion.counts() == {"GET /v1/pages/ID": 1, "GET /v1/databases/ID": 1, "POST /v1/data_sources/ID/query": 1}


def test_a_rollup_of_more_than_25_values_shows_the_first_25_and_that_more_follow(world: World) -> None:
    notion = world.notion
    books = notion.database("Books")
    values = [{"type": "number", "number": n} for n in range(30)]
    notion.row(books, "All", Pages={"rollup": {"type": "array", "array": values, "function": "show_original"}})
    text = world.documents(f"notion:{books}")["Books/All"].text
    assert text == "# All\n\nPages: " + ", ".join([*map(str, range(25)), "..."])


def test_a_row_says_what_its_rollups_come_to_now(world: World) -> None:
    notion = world.notion
    books = notion.database("Books")
    row = notion.row(books, "All", block("paragraph", "words"), Pages={"rollup": {}})
    notion.page("Notes", parent=row)
    for number in range(3):
        notion.pages[row]["properties"]["Pages"]["rollup"] = {"type": "number", "number": number}
        documents = world.documents(f"notion:{books}")
        assert documents["Books/All"].text.startswith(f"# All\n\nPages: {number}\n\nwords\n\n")
        assert (len(documents), documents["Books/All"].metadata["blocks"]) == (3, 2)
    notion.requests.clear()
    world.list(f"notion:{books}")
    assert notion.counts()["GET /v1/blocks/ID/children"] == 0


def test_long_relations_of_a_row_edited_a_moment_ago_are_asked_for_again(world: World) -> None:
    notion, now = world.notion, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:00.000Z")
    parts, whole = notion.database("Parts"), notion.database("Machines")
    ids = [{"id": notion.row(parts, f"Part {n:02}")} for n in range(30)]
    loom = notion.row(whole, "Loom", Parts={"relation": ids})
    notion.pages[loom]["last_edited_time"] = now
    assert "Part 00" in world.documents(f"notion:{whole}")["Machines"].text
    notion.pages[loom]["properties"]["Parts"]["relation"] = ids[1:]
    assert "Part 00" not in world.documents(f"notion:{whole}")["Machines"].text


def test_the_rows_of_a_database_come_through_all_its_cursors(world: World) -> None:
    tasks = world.notion.database("Tasks")
    for number in range(230):
        world.notion.row(tasks, f"Row {number}")
    assert len(world.list(f"notion:{tasks}", depth=0, under=f"notion:{tasks}").items) == 1
    assert world.notion.counts()["POST /v1/data_sources/ID/query"] == 3
    (document,) = world.documents(f"notion:{tasks}", depth=0, under=f"notion:{tasks}").values()
    assert all(f"| Row {number} |" in document.text for number in range(230))


def test_more_rows_than_one_query_gives_are_asked_for_by_their_age(world: World) -> None:
    tasks, world.notion.most_rows = world.notion.database("Tasks"), 20
    for number in range(45):
        row = world.notion.row(tasks, f"Row {number}")
        world.notion.pages[row]["created_time"] = f"2024-01-01T09:{number // 3:02}:00.000Z"
    assert len(world.list(f"notion:{tasks}").items) == 46
    assert world.notion.counts()["POST /v1/data_sources/ID/query"] == 3


def test_rows_that_no_query_gives_make_the_listing_incomplete(world: World) -> None:
    tasks, world.notion.most_rows = world.notion.database("Tasks"), 5
    for number in range(9):
        world.notion.row(tasks, f"Row {number}")
    assert "not return all rows" in world.failure(f"notion:{tasks}").message


def test_a_database_among_the_pages_of_a_wiki_is_visited(world: World) -> None:
    wiki, tasks = world.notion.database("Wiki"), world.notion.database("Tasks")
    world.notion.row(wiki, "A page")
    world.notion.row(tasks, "Mend the pump")
    first, second = world.notion.rows
    world.notion.rows[first].append(second)
    names = [item.name for item in world.list(f"notion:{wiki}").items]
    assert names == ["Wiki", "Wiki/A page", "Wiki/Tasks", "Wiki/Tasks/Mend the pump"]


def test_a_data_source_stands_for_its_database(world: World) -> None:
    tasks = world.notion.database("Tasks")
    world.notion.row(tasks, "Mend the pump")
    (source,) = world.notion.rows
    named = world.list(f"notion:{source}")
    assert [item.uri for item in named.items] == [item.uri for item in world.list(f"notion:{tasks}").items]


@pytest.mark.parametrize(
    "answer",
    [
        lambda page: Fault(200, body="<html>It works</html>"),
        lambda page: Fault(200, body="[]"),
        lambda page: Fault(200, body="[" * 100_000),
        lambda page: Fault(400, body='{"a":' * 100_000),
        lambda page: Fault(200, body='{"object": "list", "results": [], "has_more": true, "next_cursor": null}'),
        lambda page: Fault(200, body='{"object": "list", "results": [{"type": "paragraph"}], "has_more": false}'),
        lambda page: Fault(200, body='{"object": "list", "results": [{"id": "../users", "type": "x"}]}'),
        lambda page: Fault(404, body="<html>no such page</html>"),
        lambda page: Fault(301, body="moved"),
    ],
)
def test_an_answer_that_is_not_of_the_api_is_a_problem(answer: Callable[[str], Fault], world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"))
    world.notion.fail(f"/v1/blocks/{root.replace('-', '')}/children", answer(root))
    listing = world.list(f"notion:{root}")
    assert not listing.complete
    assert listing.problems or [item.stamp for item in listing.items] == [""]  # a page that cannot be read


def test_a_cursor_that_comes_again_ends_the_list_as_no_answer_of_the_api(world: World) -> None:
    root = world.notion.page("Root", block("paragraph", "words"))
    again = Fault(200, body='{"object": "list", "results": [], "has_more": true, "next_cursor": "c"}')
    world.notion.fail(f"/v1/blocks/{root.replace('-', '')}/children", *[again] * 9)
    assert "does not follow Notion's API" in world.failure(f"notion:{root}").message


def test_a_server_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with FakeNotion() as gone:
        pass
    world = World(gone, tmp_path)
    world.stop.wait = lambda seconds=None: False  # type: ignore[method-assign]
    assert ": it refuses connections." in problem(world.list(f"notion:{ID}")).message
