"""The structure of a document: elements, sentences and markup, whole and of a part."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.structure import TITLE_LEVEL, read_structure, sentences, structure_of
from pipelines.types import Block
from tests.linear import assert_linear

GUIDE = """# Deploy guide

**A server for busy archives**

## Ports {#ports}

Deadline: 18 June 2024

Room 12 → Dr Bello

- [x] 8443 for the console
  1. nested ~~old~~ new
- 9100 for the metrics

| Name | Code |
|------|:----:|
| `a \\| b` | x |
| red | y |

```sh
apt install holmd
```

[![build](b.svg)](c) ![logo](l.png)

> [!NOTE]
> The key lasts 400 days. It is long.

Requirements

- a sound card

The stairs were replaced in 2016

They are of wood.
"""
SIGNS = st.text(alphabet=st.sampled_from('ab .|#-*`~>1)\n\t{}[]()!:=%"<>'), max_size=200)
WORD = st.text(alphabet="bcdfgh", min_size=3, max_size=7)


def told(text: str) -> list[tuple[str, str, str]]:
    own = structure_of(text)
    return [(element.kind, element.name, own.words(element.body, element.end)) for element in own.elements]


def test_a_document_is_read_into_its_elements() -> None:
    assert told(GUIDE) == [
        ("heading", "Deploy guide", "Deploy guide"),
        ("paragraph", "", "A server for busy archives"),
        ("heading", "Ports", "Ports"),
        ("label", "Deadline", "18 June 2024"),
        ("label", "Room 12", "Dr Bello"),
        ("item", "", "8443 for the console"),
        ("item", "", "nested new"),
        ("item", "", "9100 for the metrics"),
        ("head", "Name | Code", "Name | Code"),
        ("row", "", "a | b | x"),
        ("row", "", "red | y"),
        ("code", "sh", "apt install holmd"),
        ("links", "", "logo"),
        ("quote", "", "The key lasts 400 days. It is long."),
        ("heading", "Requirements", "Requirements"),
        ("item", "", "a sound card"),
        ("paragraph", "", "The stairs were replaced in 2016"),
        ("paragraph", "", "They are of wood."),
    ]


def test_elements_know_their_list_depth_table_and_the_end_of_what_a_heading_heads() -> None:
    own = structure_of(GUIDE)
    items = [element for element in own.elements if element.kind == "item"]
    rows = [element for element in own.elements if element.kind in ("head", "row")]
    assert [item.level for item in items[:3]] == [0, 1, 0]
    assert len({item.of for item in items[:3]}) == len({row.of for row in rows}) == 1
    title = next(element for element in own.elements if element.name == "Requirements")
    assert (title.level, title.of) == (TITLE_LEVEL, items[3].end)


def test_the_title_of_a_tab_holds_for_what_is_in_it_alone() -> None:
    tab = '=== "{}"\n\n    ```sh\n    {} install\n    ```\n\n'
    text = f"# Guide\n\n{tab.format('Debian', 'apt')}{tab.format('Fedora', 'dnf')}Done.\n"
    own = structure_of(text)
    for name, line in (("Debian", "apt install"), ("Fedora", "dnf install")):
        held = [each.name for each in own.elements if each.kind == "heading" and each.end <= text.index(line) < each.of]
        assert held == ["Guide", name]
    assert [each.name for each in own.elements if each.kind == "heading" and each.of > text.index("Done")] == ["Guide"]


def test_a_part_keeps_the_columns_and_headings_that_hold_for_it() -> None:
    own = structure_of(GUIDE)
    start = GUIDE.index("| red")
    part = own.between(start, start + 20)
    assert [(each.kind, each.name) for each in part.elements if each.end <= 0] == [
        ("heading", "Deploy guide"),
        ("heading", "Ports"),
        ("head", "Name | Code"),
    ]
    assert [part.words(each.start, each.end) for each in part.elements if each.kind == "row"] == ["red | y"]


def test_html_tables_give_rows_with_their_columns() -> None:
    text = "<table>\n<tr><th>Engine</th><th>Memory</th></tr>\n<tr><td>LaTeX</td><td>210 MB</td></tr>\n</table>\n"
    assert told(text) == [("head", "Engine | Memory", "Engine | Memory"), ("row", "", "LaTeX | 210 MB")]


def test_a_row_of_a_file_with_a_line_break_in_a_cell_is_one_row() -> None:
    text = "id: 1; notes: Likes tea,\nhates coffee.\n\nid: 2; notes: Sings."
    rows = (Block(0, 38, "table"), Block(40, len(text), "table"))
    own = structure_of(text, rows, "text/csv")
    assert [own.words(row.start, row.end) for row in own.elements] == [
        "id: 1; notes: Likes tea, hates coffee.",
        "id: 2; notes: Sings.",
    ]
    assert len({row.of for row in own.elements}) == 1


def test_only_in_markdown_is_an_asterisk_a_mark() -> None:
    text = "Use a*b*c and **x**."
    assert structure_of(text, (), "application/pdf").words(0, len(text)) == text
    table = "| a \\| b | c |\n| --- | --- |\n| 1 | 2 |"
    own = structure_of(table, (Block(0, len(table), "table"),), "text/html")
    assert [own.words(each.start, each.end) for each in own.elements] == ["a | b | c", "1 | 2"]
    assert len({each.of for each in own.elements}) == 1


def test_what_is_not_published_is_no_sentence_and_is_not_shown() -> None:
    text = "Six hours. {% comment %} Ingvild\n\n## did it. {% endcomment %} Then %%ask Bruno%% it ~~ended~~ began.\n"
    own = structure_of(text)
    said = " ".join(own.words(*span) for span in own.sentences)
    assert said == "Six hours. Then it began."
    assert not any(word in own.shown() for word in ("Ingvild", "Bruno", "~~"))
    assert not any(element.kind == "heading" for element in own.elements)


def test_a_sentence_that_a_shortcode_says_is_a_sentence_of_its_own() -> None:
    text = 'It was 14 lines of code. {{< sidenote "It was written in 1998." >}} The new one has 3.'
    own = structure_of(text)
    said = [own.words(*span) for span in own.sentences]
    assert said == ["It was 14 lines of code.", "It was written in 1998.", "The new one has 3."]


@given(SIGNS)
@settings(max_examples=300)
def test_elements_and_sentences_ascend_apart_and_a_part_is_its_own_text(text: str) -> None:
    own = structure_of(text)
    done = 0
    for element in own.elements:
        assert done <= element.start <= element.body <= element.end <= len(text)
        done = element.end
    done = 0
    for start, end in own.sentences:
        assert done <= start < end <= len(text)
        done = end
    middle = len(text) // 2
    for part in (own.between(0, middle), own.between(middle, len(text))):
        assert all(0 <= start < end <= len(part.text) for start, end in part.sentences)
        assert all(0 <= span.start < span.end <= len(part.text) for span in part.markup)


@given(SIGNS)
def test_what_is_stored_reads_as_what_was_made(text: str) -> None:
    own = structure_of(text)
    assert read_structure(json.loads(json.dumps(own.stored())), text) == own


@given(st.lists(st.tuples(st.sampled_from("hplrc"), WORD), min_size=1, max_size=8))
def test_generated_documents_are_read_block_by_block(parts: list[tuple[str, str]]) -> None:
    forms = {
        "h": ("# {}", "heading"),
        "p": ("The {} is here now.", "paragraph"),
        "l": ("- {}", "item"),
        "r": ("| a |\n|---|\n| {} |", "row"),
        "c": ("```\n{}\n```", "code"),
    }
    text = "\n\n".join(forms[kind][0].format(word) for kind, word in parts)
    own = structure_of(text)
    found = [(each.kind, own.words(each.body, each.end)) for each in own.elements if each.kind != "head"]
    assert [kind for kind, _ in found] == [forms[kind][1] for kind, _ in parts]
    assert all(word in words for (_, word), (_, words) in zip(parts, found, strict=True))


def test_the_sentences_of_a_structure_are_those_of_the_text_where_no_markup_holds_a_stop() -> None:
    text = "# Title\n\nOne. Two!\n\n- first item\n- second\n  goes on\n"
    assert [own for own in structure_of(text).sentences if own[0] > 2] == [own for own in sentences(text) if own[0] > 2]


@pytest.mark.parametrize(
    "unit", ["- a\n", "a: b\n\n", "| a |\n", "> a\n", "!!! a\n    b\n", "<tr>", "# a\n", "[a](b) ", ":::\n"]
)
def test_a_long_document_is_read_in_linear_time(unit: str) -> None:
    assert_linear(lambda count: structure_of(unit * (count // len(unit))), 60_000)
