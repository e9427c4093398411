"""Notion from its API to the search: found, kept up to date, and removed."""

import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr

from config.settings import NotionSettings, ParsingSettings, Settings
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.ingestion.sources.locations import normalized_location
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.audit import audit
from pipelines.store.database import open_database
from pipelines.store.status import coverage, from_source
from pipelines.store.tokens import tokenise
from pipelines.types import Filters, IngestReport
from tests.fake_notion import TOKEN, FakeNotion, Fault, Told, block, mention, rich, table

BLOCKS, LEVELS = 1_200, 7
LATER = "2024-04-01T09:00:00.000Z"
DOWN = Fault(503, "service_unavailable", retry_after="0")


@pytest.fixture
def notion() -> Iterator[FakeNotion]:
    with FakeNotion() as fake:
        yield fake


@pytest.fixture
def settings(make_settings: Callable[..., Settings], notion: FakeNotion) -> Settings:
    return make_settings(notion_token=SecretStr(TOKEN), notion=NotionSettings(api_base=notion.url))


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def lost(engine: QueryEngine, words: Sequence[str]) -> list[str]:
    """The words that the index of the sparse leg has in none of its first three passages."""
    index = engine.indexes.refresh("owner")
    hits = {word: [node_id for node_id, _ in index.search(tokenise(word), 3)] for word in words}
    wanted = {node_id for found in hits.values() for node_id in found}
    nodes = engine.store.fetch(sorted(wanted), filters=Filters(), audience="owner")
    return [word for word, found in hits.items() if not any(word in nodes[each].text for each in found)]


class Tree:
    """A workspace of 1,200 blocks, 7 levels of pages, 3 databases; each block with text has a word of its own."""

    def __init__(self, notion: FakeNotion) -> None:
        self.notion, self.words, self._random = notion, list[str](), random.Random(7)
        self.root = self.notion.page("Handbook", *self._each_kind(), *self._flat(140))
        self.pages = [self.root]
        for level in range(2, LEVELS + 1):
            self.pages.append(self.notion.page(f"Level {level}", *self._each_kind(), parent=self.pages[-1]))
            self.notion.page(f"Beside {level}", *self._each_kind(), parent=self.pages[-2])
        self.databases = [self.notion.database(f"Table {n}", parent=self.pages[2 * n]) for n in range(3)]
        for database in self.databases:
            for number in range(6):
                note = {"rich_text": rich(self._word())}
                self.notion.row(database, f"Row {number}", *self._each_kind(), Note=note)
        self.notion.write(self.root, *self._flat(BLOCKS - self.count))

    @property
    def count(self) -> int:
        return sum(map(len, self.notion.blocks.values()))

    def _word(self) -> str:
        self.words.append("".join(self._random.choices("abcdefghijklmnopqrstuvwxyz", k=12)))
        return self.words[-1]

    def _flat(self, count: int) -> list[Told]:
        return [block("paragraph", f"Line {self._word()} here.") for _ in range(count)]

    def _each_kind(self) -> list[Told]:
        nested = block("bulleted_list_item", self._word())
        for kind in ("numbered_list_item", "to_do", "toggle", "quote", "callout", "paragraph"):
            nested = block(kind, self._word(), nested)
        columns = [block("column", "", block("paragraph", self._word())) for _ in range(2)]
        address = f"https://acme.example/{self._word()}"
        said = [*rich("see ", (self._word(), "https://acme.example"), " by "), mention(self._word(), "/0123")]
        return [
            block("heading_1", self._word(), block("paragraph", self._word()), is_toggleable=True),
            nested,
            block("column_list", "", *columns),
            block("code", f"x = {self._word()}", language="python", caption=rich(self._word())),
            block("equation", expression=f"{self._word()} = m"),
            table((self._word(), "b"), ("c", self._word())),
            block("image", caption=rich(self._word()), type="file", file={"url": "https://s3/x?sig=1"}),
            block("embed", url=address),
            block("synced_block", "", block("paragraph", self._word()), synced_from=None),
            block("paragraph", said),
        ]


def test_every_block_of_a_deep_tree_is_found_and_the_second_run_fetches_only_what_changed(
    notion: FakeNotion, settings: Settings
) -> None:
    tree = Tree(notion)
    assert (tree.count, len(notion.databases)) == (BLOCKS, 3)
    location = f"notion:{tree.root}"
    first = ingest(settings, [location])
    assert set(outcomes(first).values()) == {"added"}
    assert len(first.items) == len(notion.pages) + len(notion.databases)
    fetched = notion.counts()

    engine = build_query_engine(settings)
    assert len(tree.words) > 1_000
    assert lost(engine, tree.words) == []
    for word in tree.words[::40]:
        assert any(word in hit.node.text for hit in engine.rank(word, k=3, mode="sparse"))

    notion.requests.clear()
    second = ingest(settings, [location])
    assert set(outcomes(second).values()) == {"unchanged"}
    asked = {"GET /v1/pages/ID": 13, "GET /v1/databases/ID": 3, "POST /v1/data_sources/ID/query": 3}
    assert notion.counts() == asked
    assert fetched["GET /v1/blocks/ID/children"] > 400

    notion.edit(tree.pages[3], LATER, block("paragraph", "A line that nobody had written before."))
    row = notion.rows[next(iter(notion.rows))][0]
    notion.edit(row, LATER, block("paragraph", "Another one."))
    notion.requests.clear()
    third = ingest(settings, [location])
    changed = {name.rpartition("/")[2] for name, outcome in outcomes(third).items() if outcome == "updated"}
    assert changed == {"Level 4", "Row 0"}
    per_page = 13  # requests for the blocks of one such page
    assert notion.counts() == {**asked, "GET /v1/blocks/ID/children": 2 * per_page}


def test_a_deleted_page_is_removed_after_the_next_complete_listing_and_not_after_a_failed_one(
    notion: FakeNotion, settings: Settings
) -> None:
    root = notion.page("Root", block("paragraph", "The first words."))
    pages = [notion.page(f"Page {n}", block("paragraph", f"Words {n}."), parent=root) for n in range(12)]
    location = f"notion:{root}"
    ingest(settings, [location])
    notion.trash(pages[0])
    notion.hidden.add(pages[1])

    notion.fail(f"/v1/pages/{pages[5].replace('-', '')}", DOWN, DOWN, DOWN)
    failed = ingest(settings, [location])
    assert failed.count("removed") == 0
    assert failed.count("failed") == 1

    after = outcomes(ingest(settings, [location]))
    assert after["Root/Page 0"] == after["Root/Page 1"] == "removed"
    assert sum(outcome == "removed" for outcome in after.values()) == 2
    assert len(coverage(open_database(settings))["documents"]) == 11


def test_a_page_without_new_words_touches_metadata_only(notion: FakeNotion, settings: Settings) -> None:
    root = notion.page("Root", block("paragraph", "Words."))
    ingest(settings, [f"notion:{root}"])
    notion.pages[root]["last_edited_time"] = LATER  # a page is edited by a comment or a colour, too
    report = ingest(settings, [f"notion:{root}"])
    assert (outcomes(report), report.embedded) == ({"Root": "metadata"}, 0)


def test_a_page_below_one_that_is_called_otherwise_now_has_the_new_path(notion: FakeNotion, settings: Settings) -> None:
    root = notion.page("Root", block("paragraph", "Words."))
    alpha = notion.page("Alpha", block("paragraph", "Words."), parent=root)
    notion.page("Beta", block("paragraph", "Words."), parent=alpha)
    ingest(settings, [f"notion:{root}"])
    notion.pages[alpha]["properties"]["title"]["title"] = rich("Omega")
    notion.pages[alpha]["last_edited_time"] = LATER
    report = ingest(settings, [f"notion:{root}"])
    assert outcomes(report) == {"Root": "unchanged", "Root/Omega": "updated", "Root/Omega/Beta": "metadata"}
    assert ingest(settings, [f"notion:{root}"]).count("unchanged") == 3


def test_a_page_that_is_stored_in_part_says_so_and_is_found_by_its_source_however_spelt(
    notion: FakeNotion, settings: Settings
) -> None:
    root = notion.page("Root", block("paragraph", "Words."), block("unsupported"))
    ingest(settings, [f"notion:{root}"])
    database = open_database(settings)
    (row,) = coverage(database)["documents"]
    with database.engine.connect() as connection:
        found = from_source(connection, normalized_location(f"notion:{root.upper()}", ()))
    assert (row["state"], row["reason"]) == ("indexed", "in part: 1 of its 2 blocks")
    assert found == [row["id"]]


def test_a_tree_with_what_notion_never_gives_loses_its_deleted_pages_and_no_other(
    notion: FakeNotion, settings: Settings
) -> None:
    repeat = block("synced_block", synced_from={"type": "block_id", "block_id": "0" * 32})
    root = notion.page("Root", repeat, block("toggle", "more", block("paragraph", "Words.")))
    repeated, toggle = (each["id"] for each in notion.blocks[root])
    notion.hidden.add(repeated)
    notion.view(root)
    pages = [notion.page(f"Page {n}", block("paragraph", f"Words {n}."), parent=toggle) for n in range(8)]
    location = f"notion:{root}"
    assert ingest(settings, [location]).count("failed") == 0
    notion.trash(pages[0])
    notion.refused.add(toggle)
    notion.edit(root, LATER)
    after = outcomes(ingest(settings, [location]))
    assert [name for name, outcome in after.items() if outcome == "removed"] == ["Root/Page 0"]
    held = {row["document"]: row["reason"] for row in coverage(open_database(settings))["documents"]}
    assert len(held) == 8
    assert held["Root"] == "in part: 3 of its 3 blocks, nothing of what lies below 2 of them"


def test_a_page_that_fails_is_a_document_that_did_and_is_tried_again(notion: FakeNotion, settings: Settings) -> None:
    root = notion.page("Root", block("paragraph", "Words."))
    page = notion.page("Page", block("paragraph", "Words."), parent=root)
    notion.fail(f"/v1/blocks/{page.replace('-', '')}/children", *[Fault(400, "validation_error")] * 4)
    ingest(settings, [f"notion:{root}"])
    assert coverage(open_database(settings))["totals"]["failed"] == 1
    notion.faults.clear()
    ingestion = build_ingestion(settings)
    report = ingestion.run(ingestion.plan([], only_failed=True))
    assert outcomes(report) == {"Root/Page": "added"}
    assert coverage(open_database(settings))["totals"]["failed"] == 0


def test_an_interrupted_first_run_goes_on_where_it_was(notion: FakeNotion, settings: Settings) -> None:
    root = notion.page("Root", block("paragraph", "Words."))
    for number in range(5):
        notion.page(f"Page {number}", block("paragraph", "Words."), parent=root)
    last = notion.blocks[root][-1]["id"].replace("-", "")
    notion.fail(f"/v1/pages/{last}", Fault(401, "unauthorized"))
    first = ingest(settings, [f"notion:{root}"])
    assert (first.count("added"), first.count("failed")) == (5, 1)
    notion.requests.clear()
    assert ingest(settings, [f"notion:{root}"]).count("added") == 1
    assert notion.counts() == {"GET /v1/pages/ID": 6, "GET /v1/blocks/ID/children": 1}


def test_what_was_fetched_is_made_again_without_notion(notion: FakeNotion, settings: Settings) -> None:
    root = notion.page("Root", block("paragraph", "Words about cranes."))
    ingest(settings, [f"notion:{root}"])
    notion.requests.clear()
    ingestion = build_ingestion(settings.model_copy(update={"parsing": ParsingSettings(markdown_max_words=400)}))
    plan = plan_reindex(ingestion)
    assert [item.outcome for item in ingestion.run(plan, kind="reindex").items] == ["updated"]
    assert notion.requests == []
    assert audit(open_database(settings).engine)["violations"] == []


def test_an_export_is_taken_in_like_a_folder_and_followed_when_it_is_exported_anew(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    settings, path = make_settings(), tmp_path / "export.zip"
    pages = {f"Handbook/Page {n} {n:032x}.md": f"# Page {n}\n\nWords of page {n}." for n in range(10)}
    part = tmp_path / "part.zip"

    def export() -> None:
        for target, files in ((part, pages), (path, {"ExportBlock-1-Part-1.zip": part})):
            with zipfile.ZipFile(target, "w") as archive:
                for name, held in files.items():
                    archive.writestr(name, held.read_bytes() if isinstance(held, Path) else held)

    export()
    first = ingest(settings, [str(path)])
    assert outcomes(first)["Handbook/Page 3.md"] == "added"
    assert {held["category"] for held in coverage(open_database(settings))["documents"]} == {"notion"}
    assert set(outcomes(ingest(settings, [str(path)])).values()) == {"unchanged"}

    del pages[f"Handbook/Page 7 {7:032x}.md"]
    pages[f"Handbook/Page 3 {3:032x}.md"] += " And more."
    export()
    again = outcomes(ingest(settings, [str(path)]))
    assert (again.pop("Handbook/Page 3.md"), again.pop("Handbook/Page 7.md")) == ("updated", "removed")
    assert set(again.values()) == {"unchanged"}

    path.write_bytes(path.read_bytes()[:300])
    assert ingest(settings, [str(path)]).count("removed") == 0


def test_the_same_page_in_another_export_is_another_document(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    settings = make_settings()
    for name in ("one.zip", "two.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(f"Page {7:032x}.md", "# Page\n\nWords.")
        ingest(settings, [str(tmp_path / name)])
    assert len(coverage(open_database(settings))["documents"]) == 2
