"""Markdown and its front matter."""

import json
from datetime import UTC, datetime, timedelta, timezone

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


@pytest.mark.parametrize(
    "broken",
    [
        b"---\ntitle: [unclosed\n---\nText",
        b"---\ndate: 2020-13-45\n---\nText",
        b"+++\ntitle = nothing\n+++\nText",
        b"---\na: &a [*a]\n---\nText",
        b"---\n"
        + b"a: &a [1,1,1,1,1,1,1,1,1]\n"
        + b"".join(b"%c: &%c [%s]\n" % (97 + n, 97 + n, b",".join([b"*%c" % (96 + n)] * 9)) for n in range(1, 9))
        + b"---\nText",
    ],
)
def test_broken_front_matter_stays_text_and_is_named(load_bytes, broken: bytes) -> None:
    document = load_bytes(broken, "a.md")
    assert document.text == broken.decode()
    assert document.metadata["front_matter_error"]
    assert document.first_line == 1


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
        ("2024-02-03T04:05:06+02:00", datetime(2024, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2)))),
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


def test_front_matter_values_that_no_database_accepts_are_cleaned_or_dropped(load_bytes) -> None:
    front = 'title: "a\\0b \\ud800"\nyear: 99999999999999\ndate: 0001-01-01\nmodified: 9999-12-31'
    document = load_bytes(f"---\n{front}\n---\n# H\n\nText.\n".encode(), "note.md")
    assert "\0" not in document.title
    assert document.title.startswith("ab")
    assert "year" not in document.metadata
    assert (document.published_at, document.modified_at) == (None, None)
    json.dumps(document.metadata).encode()
    assert "\\u0000" not in json.dumps(document.metadata)
