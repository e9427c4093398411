"""What a page of Notion reads like."""

import json
from typing import Any

import pytest

from pipelines.errors import LoadError
from pipelines.ingestion.classify import classify
from pipelines.ingestion.envelope import Envelope, pack
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import parser_for
from pipelines.ingestion.sources.notion.pages import block_of
from pipelines.types import Document, SourceItem
from tests.fake_notion import Told, block, mention, rich, table

ID = "0123456789abcdef0123456789abcdef"
LINK = f"https://www.notion.so/{ID}"
ITEM = SourceItem(LINK, "Handbook/Cranes", "notion:x", "notion", "2024")
FACTS = {
    "what": "page", "title": "Cranes", "by": "Ann Lee", "created": "2024-01-02T03:04:00.000Z",
    "edited": "2024-02-03T04:05:00.000Z", "properties": [], "blocks": 0, "missing": [],
}  # fmt: skip


def reduced(given: Told) -> dict[str, Any]:
    """A block of the fake as the source keeps it."""
    own = block_of({"id": ID, "type": given["kind"], given["kind"]: given["body"]})
    return {**own, "children": [reduced(each) for each in given["below"]]} if given["below"] else own


def counted(given: Told) -> int:
    return 1 + sum(map(counted, given["below"]))


def page(*blocks: Told, **given: object) -> Document:
    facts = {**FACTS, "blocks": sum(map(counted, blocks)), **given}
    body = json.dumps([reduced(each) for each in blocks]).encode()
    return load(pack(Envelope(facts, body)), ITEM)


def text(*blocks: Told) -> str:
    """The text of these blocks, without the title."""
    document = page(*blocks)
    assert "partial" not in document.metadata
    return document.text.removeprefix("# Cranes").removeprefix("\n\n")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (block("paragraph", "Words."), "Words."),
        (block("paragraph", [*rich("a "), *rich(("b", "https://x.example"))]), "a [b](https://x.example)"),
        (block("paragraph", rich(("x.example/", "https://x.example"))), "x.example/"),
        (block("paragraph", rich(("bo", "https://x"), ("ld ", "https://x"), "c")), "[bold](https://x) c"),
        (block("paragraph", rich(("page", f"/{ID}"))), f"[page]({LINK})"),
        (block("paragraph", [mention("@Ann Lee"), *rich(" left")]), "@Ann Lee left"),
        (
            block("paragraph", [*rich("see "), mention("Handbook", "https://www.notion.so/0f1e")]),
            "see [Handbook](https://www.notion.so/0f1e)",
        ),
        (block("heading_1", "One"), "## One"),
        (block("heading_3", "Th\nree"), "#### Th ree"),
        (block("bulleted_list_item", "a", block("to_do", "b", checked=True)), "- a\n    - [x] b"),
        (block("to_do", "b", checked=False), "- [ ] b"),
        (block("toggle", "more", block("paragraph", "inside")), "more\n\ninside"),
        (block("quote", "a\nb", block("paragraph", "c")), "> a\n> b\n\n> c"),
        (block("callout", "mind", icon={"emoji": "💡"}), "> mind"),
        (block("code", "a\n  b", language="python", caption=rich("cap")), "```python\na\n  b\n```\ncap"),
        (block("code", "```x", language="md"), "````md\n```x\n````"),
        (block("equation", expression="E = mc^2"), "$$\nE = mc^2\n$$"),
        (table(("a", "b|c"), ("d\ne", "")), "| a | b\\|c |\n| --- | --- |\n| d e |  |"),
        (block("bookmark", url="https://x.example", caption=[]), "https://x.example"),
        (block("embed", url="https://x.example", caption=rich("cap")), "[cap](https://x.example)"),
        (block("link_preview", url="https://x.example"), "https://x.example"),
        (block("link_to_page", type="page_id", page_id=ID), LINK),
        (block("child_page", title="Below"), f"[Below]({LINK})"),
        (block("child_database", title=""), f"[Untitled]({LINK})"),
        (block("image", caption=rich("A crane"), type="file", file={"url": "https://s3/?sig"}), "A crane"),
        (block("pdf", caption=[], type="file", file={"url": "https://s3/?sig"}, name="plan.pdf"), "plan.pdf"),
        (block("file", name="p.txt", type="external", external={"url": "https://x.example/p"}),
         "[p.txt](https://x.example/p)"),
        (block("video", caption=rich("clip"), type="external", external={"url": "https://v.example"}),
         "[clip](https://v.example)"),
        (block("template", "Add", block("paragraph", "inside")), "Add\n\ninside"),
        (block("synced_block", "", block("paragraph", "shared"), synced_from=None), "shared"),
        (block("column_list", "", block("column", "", block("paragraph", "left"))), "left"),
        (block("transcription", title=rich("Call")), "Call"),
        (block("some_new_kind", "words", block("paragraph", "below")), "words\n\nbelow"),
        *((block(kind), "") for kind in ("divider", "breadcrumb", "table_of_contents", "paragraph", "image", "table")),
    ],
)  # fmt: skip
def test_each_block_type_reads_as_markdown(given: Told, expected: str) -> None:
    assert text(given) == expected


def test_numbers_run_on_within_a_list_and_begin_anew_after_it() -> None:
    items = [block("numbered_list_item", "x", block("numbered_list_item", "y")), block("numbered_list_item", "z")]
    again = text(*items, block("paragraph", "p"), block("numbered_list_item", "q"))
    assert again == "1. x\n    1. y\n2. z\n\np\n\n1. q"


def test_a_quotation_in_a_list_is_marked_on_every_line() -> None:
    inner = block("quote", "facts\ntwice", block("code", "a\nb", language="sh"))
    document = page(block("bulleted_list_item", "item", inner))
    assert document.text.endswith("- item\n\n    > facts\n    > twice\n\n    > ```sh\n    > a\n    > b\n    > ```")
    assert [document.text[each.start : each.start + 2] for each in document.blocks] == ["# ", "- ", "> ", "> "]


def test_the_blocks_are_exact_and_headings_have_their_levels() -> None:
    document = page(block("heading_1", "One"), block("paragraph", "p"), block("heading_2", "Two"), block("code", "c"))
    given = [(each.kind, each.level, document.text[each.start : each.end]) for each in document.blocks]
    assert given == [
        ("heading", 1, "# Cranes"),
        ("heading", 2, "## One"),
        ("paragraph", 0, "p"),
        ("heading", 3, "### Two"),
        ("code", 0, "```\nc\n```"),
    ]


def test_a_heading_longer_than_a_title_is_a_paragraph() -> None:
    assert page(block("heading_1", "word " * 60)).blocks[-1].kind == "paragraph"


def test_dates_author_and_class_come_from_the_page() -> None:
    document = page(block("paragraph", "Words."))
    assert (document.title, document.author, document.mime) == ("Cranes", "Ann Lee", "text/markdown")
    assert document.published_at.isoformat() == "2024-01-02T03:04:00+00:00"  # type: ignore[union-attr]
    assert document.modified_at.isoformat() == "2024-02-03T04:05:00+00:00"  # type: ignore[union-attr]
    classified = classify(document)
    assert (classified.category, parser_for(classified)) == ("notion", "markdown")


def test_a_page_without_text_is_its_title() -> None:
    assert page().text == "# Cranes"
    assert page(title="").text == "# Untitled"


def test_blocks_that_are_not_rendered_mark_the_page_as_partial() -> None:
    missing = {"id": ID, "type": "toggle", "why": "no"}
    document = page(block("unsupported"), block("paragraph", "x"), blocks=3, missing=[missing])
    assert document.metadata["partial"] == {
        "fetched": 3,
        "rendered": 1,
        "unread": {"unsupported": 1},
        "refused": [missing],
    }
    assert page(block("paragraph", "x"), blocks=2).metadata["partial"]["rendered"] == 1


def test_control_characters_never_reach_the_text() -> None:
    assert text(block("paragraph", "a\x00b\u202ec\r\nd")) == "abc\nd"


def test_a_database_is_a_table_for_each_of_its_sources() -> None:
    given = {**FACTS, "what": "database", "description": "All tasks."}
    tables = [
        {"name": "Open", "columns": ["Name", "State"], "rows": [["Pump", "new"], ["Belt", ""]]},
        {"name": "Done", "columns": ["Name"], "rows": []},
    ]
    document = load(pack(Envelope(given, json.dumps(tables).encode())), ITEM)
    assert document.text == (
        "# Cranes\n\nAll tasks.\n\n## Open\n\n| Name | State |\n| --- | --- |\n| Pump | new |\n| Belt |  |\n\n## Done"
    )


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'[{"id": "x"}]', b"[" * 5_000])
def test_a_damaged_envelope_is_refused(body: bytes) -> None:
    with pytest.raises(LoadError, match="damaged"):
        load(pack(Envelope(FACTS, body)), ITEM)
