"""Markdown and its front matter."""

import json
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from pipelines.ingestion.loaders.base import parse_datetime
from pipelines.ingestion.loaders.markdown import read_front_matter

POST = b"""---
title: "Why we moved"
date: 2023-04-05
authors: [ann, bob]
tags: cloud, cost
excerpt: Short.
categories: [essay, web]
---
# Ignored as a title

Body.
"""


def test_front_matter_becomes_typed_metadata(load_bytes) -> None:
    document = load_bytes(POST, "post.md")
    assert document.title == "Why we moved"
    assert document.author == "ann, bob"
    assert document.published_at == datetime(2023, 4, 5, tzinfo=UTC)
    assert document.metadata["tags"] == ["cloud", "cost"]
    assert document.metadata["description"] == "Short."
    assert document.metadata["category"] == "essay"
    assert document.metadata["front_matter"]["date"] == "2023-04-05"


def test_the_text_is_the_file_after_its_front_matter(load_bytes) -> None:
    document = load_bytes(POST, "post.md")
    assert document.text == "# Ignored as a title\n\nBody.\n"
    assert POST.decode().split("\n")[document.first_line - 1] == "# Ignored as a title"


def test_toml_front_matter_is_read(load_bytes) -> None:
    document = load_bytes(b'+++\ntitle = "Hi"\ndate = 2020-01-02T03:04:05Z\n+++\nText', "a.md")
    assert (document.title, document.text) == ("Hi", "Text")
    assert document.published_at == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_what_is_no_list_of_entries_stays_text_and_is_named(load_bytes) -> None:
    broken = b"---\nA rule: with: words\nand a second line\n---\nText"
    document = load_bytes(broken, "a.md")
    assert document.text == broken.decode()
    assert document.metadata["front_matter_error"]
    assert document.first_line == 1


@pytest.mark.parametrize(
    ("front", "kept"),
    [
        ("---\ntitle: Apiary log\ncreated: 2024-02-30\ntags: [bees]\n---\n", {"title": "Apiary log", "tags": ["bees"]}),
        ("---\ntitle: Why I left: a story\ntags: ops\n---\n", {"title": "Why I left: a story", "tags": "ops"}),
        ("---\ntitle: Tides\ntags: [unclosed\nby:\n- Ann\n- Bo\n---\n", {"title": "Tides", "by": ["Ann", "Bo"]}),
        ("---\ntitle: @home\n---\n", {"title": "@home"}),
        ("+++\ntitle = \"Tides\"\ndate = 2024-02-30\n[params]\nx = 1\n+++\n", {"title": "Tides", "date": "2024-02-30"}),
        ("+++\ntitle = Tides of May\n+++\n", {"title": "Tides of May"}),
        ("---\ntitle: 50% off: a story\n---\n", {"title": "50% off: a story"}),
        ("---\ntitle: 'It's late'\n---\n", {"title": "It's late"}),
    ],
)  # fmt: skip
def test_an_invalid_front_matter_value_costs_only_its_own_key(load_bytes, front: str, kept: dict[str, object]) -> None:
    document = load_bytes(f"{front}Text".encode(), "a.md")
    assert document.text == "Text"
    assert document.metadata["front_matter"] == kept
    assert document.metadata["front_matter_error"]
    assert document.title == kept["title"]


@pytest.mark.parametrize("entry", ["title: [unclosed", "date: 2020-13-45", "a: &a [*a]"])
def test_front_matter_of_an_invalid_value_alone_is_no_text(load_bytes, entry: str) -> None:
    document = load_bytes(f"---\n{entry}\n---\nText".encode(), "a.md")
    assert (document.text, document.title) == ("Text", "a")
    assert document.metadata["front_matter_error"]


def test_aliases_that_multiply_are_not_followed(load_bytes) -> None:
    names = "abcdefghi"
    lines = [f"{b}: &{b} [{','.join(['*' + a] * 9)}]" for a, b in pairwise(names)]
    document = load_bytes("\n".join(["---", "a: &a [1,1]", *lines, "---", "Text"]).encode(), "a.md")
    assert document.text == "Text"
    assert document.metadata["front_matter"] == {"a": [1, 1]}


@pytest.mark.parametrize("text", ["---\n\nText under a rule\n\n---\n", "---\nno end: here", "Text\n---\na: b\n---\n"])
def test_a_rule_is_not_front_matter(text: str) -> None:
    assert read_front_matter(text).end == 0
    assert read_front_matter(text).error == ""


@pytest.mark.parametrize(
    "front",
    [b"---\ntitle:\n---\n", b"---\n---\n", b"---\n# layout: post\n---\n", b"+++\n+++\n", b"---\r\ntitle:\r\n---\r\n"],
)
def test_empty_front_matter_is_removed(load_bytes, front: bytes) -> None:
    assert load_bytes(front + b"Text", "a.md").text == "Text"


def test_a_toml_mark_does_not_close_a_yaml_one() -> None:
    assert read_front_matter("---\na: b\n+++\nText\n").end == 0
    assert read_front_matter("---\na: b\n...\nText\n").values == {"a": "b"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-02-03", datetime(2024, 2, 3, tzinfo=UTC)),
        ("2024-02-03T23:30:00-05:00", datetime(2024, 2, 3, 23, 30, tzinfo=UTC)),
        ("2024-02-03 00:30:00 +0900", datetime(2024, 2, 3, 0, 30, tzinfo=UTC)),
        ("2024-02-03 00:30 +0900", datetime(2024, 2, 3, 0, 30, tzinfo=UTC)),
        ("2024-02-03 23:30:00 EST", datetime(2024, 2, 3, 23, 30, tzinfo=UTC)),
        ("Sat, 03 Feb 2024 23:30:00 -0800", datetime(2024, 2, 3, 23, 30, tzinfo=UTC)),
        ("March 5, 2021", datetime(2021, 3, 5, tzinfo=UTC)),
        ("soon", None),
        (None, None),
        (True, None),
    ],
)
def test_usual_date_formats_are_parsed(value: object, expected: datetime | None) -> None:
    assert parse_datetime(value) == expected


def test_blocks_follow_commonmark(load_bytes) -> None:
    text = (
        "# One\n\nPara\ngraph.\n\n- a\n- b\n  more\n\n  - c\n\n```\n# not a heading\n```\n\n"
        "| a |\n|---|\n| 1 |\n\nTwo\n---\n\n<div>\n# no\n</div>\n\n> ## no\n\n    code\n"
    )
    document = load_bytes(text.encode(), "a.md")
    found = [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        ("heading", 1, "# One"),
        ("paragraph", 0, "Para\ngraph."),
        ("list", 0, "- a"),
        ("list", 0, "- b\n  more"),
        ("list", 0, "- c"),
        ("code", 0, "```\n# not a heading\n```"),
        ("table", 0, "| a |\n|---|\n| 1 |"),
        ("heading", 2, "Two\n---"),
        ("paragraph", 0, "<div>\n# no\n</div>"),
        ("paragraph", 0, "> ## no"),
        ("code", 0, "code"),
    ]


def test_the_title_is_the_first_heading_without_marks(load_bytes) -> None:
    assert load_bytes(b"intro\n\n## The **big** [idea](http://x.y) ##\n", "a.md").title == "The big idea"
    assert load_bytes(b"no heading", "some-notes.md").title == "some notes"


@pytest.mark.parametrize(
    ("text", "title"),
    [("# Tarn [![Build Status](https://ci.test/b.svg)](https://ci.test) ![docs][d]\n", "Tarn"),
     ("# [![Build][b]][c]\n\n## Tarn: small lakes\n", "Tarn: small lakes"),
     ("# <img src='logo.svg' alt='Logo of Tarn'> Tarn\n", "Tarn"),
     ("## Installation\n\nRun make.\n", "tarn maps"), ("# NAME\n\ntarn - draws lakes\n", "tarn maps")],
)  # fmt: skip
def test_no_badge_and_no_section_titles_a_document(load_bytes, text: str, title: str) -> None:
    assert load_bytes(text.encode(), "tarn-maps.md").title == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('<h1 >\n  <img src="l.svg" alt="logo"><br>\n  tarn\n</h1>\n\n<p>A server.</p>\n\n## Use\n', "tarn"),
        ('<div>\n\n<h1><a href="x"><img src="l.png"></a> Tarn</h1>\n\n</div>\n\nText.\n\n## Use\n', "Tarn"),
        ('<h1 align="center"><img src="l.png" alt="Tarn logo"></h1>\n\n## Use\n', "Tarn"),
        ("<h3>A line</h3>\n\n# Tarn\n", "Tarn"),
        ("```html\n<h1>No</h1>\n```\n\n# Tarn\n", "Tarn"),
    ],
)  # fmt: skip
def test_a_heading_in_html_titles_a_document(load_bytes, text: str, title: str) -> None:
    assert load_bytes(text.encode(), "a/README.md").title == title


@pytest.mark.parametrize(
    "text",
    [
        "Notes kept at the kiln.\n\n## Firing 12\n\nCone 6 fell.\n\n## Firing 13\n\nThe damper stuck.\n",
        "Notes kept at the kiln.\n\n## Glaze\n\nBlue.\n\n## Clay\n\nRed.\n",
        "### Tuesday\n\nThe rye rose.\n\n### Thursday\n\nToo hot.\n", "# 2024-05-06\n\nOne.\n",
        "## [1.4.0] - 2024-05-06\n\n- Fix\n", "## 3 March 2024\n\nOne.\n", "# Day 1: arrival\n\n# Day 2: rest\n",
        "## 2024-03-01 Rollout\n\nA.\n\n## 2024-03-08 Rollback\n\nB.\n", "## Unreleased\n\nA.\n\n## v1.2\n",
        "## März 2024\n\nA.\n", "# Friday, May 3rd\n\nA.\n",
    ],
)  # fmt: skip
def test_an_entry_of_a_log_titles_no_document(load_bytes, text: str) -> None:
    assert load_bytes(text.encode(), "Kiln log.md").title == "Kiln log"


@pytest.mark.parametrize(
    "title",
    ["Report of 14 March 2024", "1984", "May I go?", "Part 1", "Fog 3.0", "2024-05-06 Retrospective", "Sunday baking"],
)
def test_a_title_may_name_a_date_or_a_number(load_bytes, title: str) -> None:
    assert load_bytes(f"# {title}\n\nText.\n\n# Sources\n\nNone.\n".encode(), "a.md").title == title


def test_front_matter_values_that_no_database_accepts_are_cleaned_or_dropped(load_bytes) -> None:
    front = 'title: "a\\0b \\ud800"\nyear: 99999999999999\ndate: 0001-01-01\nmodified: 9999-12-31'
    document = load_bytes(f"---\n{front}\n---\n# H\n\nText.\n".encode(), "note.md")
    assert "\0" not in document.title
    assert document.title.startswith("ab")
    assert "year" not in document.metadata
    assert (document.published_at, document.modified_at) == (None, None)
    json.dumps(document.metadata).encode()
    assert "\\u0000" not in json.dumps(document.metadata)
