"""Units of quotation: what a source is cut into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.query.quotable_units import quotable_units
from pipelines.structure import structure_of
from tests.unit.query.builders import source

README = """# Drum

[![build](https://x.test/b.svg)](https://x.test)

- [Install](#install)
- [Use](#use)

Drum is a small server. It plays one song.

## Install

It needs:

* Python 3.11
* a sound card

Then run:

```sh
pip install drum
drum play
```

## Colours

| Name | Code |
|------|------|
| red  | #f00 |

    drum colours --all
"""


def told(text: str) -> list[tuple[str, str, str]]:
    return [(unit.kind, unit.lead_text, unit.text) for unit in quotable_units([source(1, text)])]


def test_a_readme_is_cut_into_paragraphs_lists_code_and_rows_with_what_leads_in_to_them() -> None:
    assert told(README) == [
        ("paragraph", "", "Drum is a small server. It plays one song."),
        ("list", "It needs:", "Python 3.11 a sound card"),
        ("code", "Then run:", "pip install drum\ndrum play"),
        ("table", "Name | Code", "red | #f00"),
        ("code", "", "drum colours --all"),
    ]


def test_a_unit_knows_the_headings_above_it() -> None:
    units = quotable_units([source(1, README)])
    assert [unit.headings[-1] for unit in units] == ["Drum", "Install", "Install", "Colours", "Colours"]


@pytest.mark.parametrize(
    "text",
    [
        "[![build](https://x.test/b.svg)](https://x.test)",
        "- [One](#one)\n- [Two](#two)",
        "[Home](https://x.test) | [Blog](https://x.test/b) | [About](https://x.test/a)",
        "{% include header.html %}",
        "# A heading",
        "***",
    ],
)
def test_badges_contents_navigation_tags_and_headings_are_no_units(text: str) -> None:
    assert told(text) == []


def test_tags_of_a_site_s_templates_are_not_quoted() -> None:
    text = 'The [team]({{ "/team" | url }}) grew to 76 {{ icon }} people.'
    assert told(text) == [("paragraph", "", "The team grew to 76 people.")]


def test_a_long_paragraph_is_cut_into_even_segments_that_know_the_whole() -> None:
    text = " ".join(f"The crane moved {n} boxes." for n in range(8))
    units = quotable_units([source(1, text)])
    assert [len(unit.parts) for unit in units] == [3, 2, 3]
    assert {len(unit.around) for unit in units} == {8}


def test_a_question_of_its_own_heads_what_follows() -> None:
    (unit,) = quotable_units([source(1, "Does it run on Windows?\n\nIt runs on all three systems.")])
    assert (unit.text, unit.headings[-1]) == ("It runs on all three systems.", "Does it run on Windows?")


def test_parts_that_must_not_be_quoted_are_left_out() -> None:
    text = "The crane is blue. Ignore the crane. It is tall."
    (unit,) = quotable_units([source(1, text)], lambda own, start, end: "Ignore" in own.snippet[start:end])
    assert [part.text for part in unit.parts] == ["The crane is blue.", "It is tall."]


WORD = st.text(alphabet="bcdfgh", min_size=3, max_size=7)
FRAMED = (
    "The {} is ==here== :smile: now.", "> [!NOTE]\n> The {} is here.", '!!! warning "Port"\n    The {} is here.',
    ":::tip\nThe {} is here.\n:::", "The [[page|{}]] is here. ^block-1", "The **{}** ~~was~~ is here.",
    "The [{}][] is here.\n\n[{}]: http://a.b", "The {} is here. {{% comment %}} hidden {{% endcomment %}}",
)  # fmt: skip
MARKS = ("==", ":smile:", "[!", "!!!", ":::", "[[", "]]", "^block", "~~", "was", "**", "hidden", "{%")


@given(st.lists(st.tuples(st.sampled_from(FRAMED), WORD), min_size=1, max_size=4))
def test_units_of_any_dialect_hold_the_words_and_no_markup(parts: list[tuple[str, str]]) -> None:
    text = "# Title\n\n" + "\n\n".join(
        frame.replace("{}", word).replace("{{%", "{%").replace("%}}", "%}") for frame, word in parts
    )
    said = " ".join(part.text for unit in quotable_units([source(1, text)]) for part in unit.parts)
    assert all(word in said for _, word in parts)
    assert not [mark for mark in MARKS if mark in said]


@given(
    st.lists(WORD, min_size=1, max_size=5), st.sampled_from(["pin {}", "- {}", "```\n{}\n```", "| a |\n|---|\n| {} |"])
)
def test_no_sentence_is_in_two_units_or_both_lead_in_and_part(words: list[str], below: str) -> None:
    prose = " ".join(f"The {word} is near." for word in words)
    for text in (
        f"{prose} They are these:\n\n{below.replace('{}', 'hemp rope')}",
        f"{prose}\n\n{below.replace('{}', 'x y')}",
    ):
        units = quotable_units([source(1, text)])
        spans = [(part.start, part.end) for unit in units for part in unit.parts]
        spans += [(unit.lead.start, unit.lead.end) for unit in units if unit.lead]
        assert len(spans) == len(set(spans))


@pytest.mark.parametrize(
    "text",
    [
        "Pump A moves 40 litres\n\nPump B moves 55 litres",
        "Deadline: 18 June 2024\n\nThe team met.",
        "**A typesetting server for busy archives**\n\n## Install",
        "Room 12 → Dr Bello\n\nRoom 14 → Dr Fuchs",
        "The lift was replaced in 2011\n\nThe stairs are old.",
        "Opens at 08:40\n\nIt closes late.",
        "AWS Solutions Architect, expires June 2026\n\nScrum Master",
    ],
)
def test_a_line_that_says_something_is_a_unit_without_a_stop(text: str) -> None:
    first = text.split("\n", maxsplit=1)[0].strip("*")
    assert first in [unit.text for unit in quotable_units([source(1, text)])]


def test_rows_of_a_later_part_of_a_table_keep_the_names_of_its_columns() -> None:
    rows = "\n".join(f"| KX{n} | Wren {n} |" for n in range(100))
    text = f"# Ringing\n\n| Ring | Species |\n|---|---|\n{rows}\n"
    start = text.index("| KX60 ")
    cut = source(1, text[start:], structure=structure_of(text).between(start, len(text)))
    (unit,) = quotable_units([cut])
    assert (unit.columns, len(unit.parts), unit.parts[0].text) == ("Ring | Species", 40, "KX60 | Wren 60")


def test_a_caption_labels_its_table_and_no_other_code() -> None:
    text = (
        "# Crane\n\nTable 1: loads of the crane\n\n| Arm | Load |\n|---|---|\n| short | 4 t |\n\n```sh\ncrane up\n```\n"
    )
    rows, code = quotable_units([source(1, text)])
    assert rows.lead_text == "Table 1: loads of the crane Arm | Load"
    assert (code.lead_text, code.headings[-1]) == ("", "Crane")


@given(st.text(alphabet="ab .|#-*`~>1)\n\t{}[]()!", max_size=200))
def test_parts_are_spans_in_order_that_do_not_overlap(text: str) -> None:
    own = source(1, text)
    ends = 0
    for unit in quotable_units([own]):
        for part in unit.parts:
            assert ends <= part.start < part.end <= len(text)
            assert part.text
            ends = part.end
