"""Units of quotation: what a source is cut into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.query.quotable_units import quotable_units
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


@given(st.text(alphabet="ab .|#-*`~>1)\n\t{}[]()!", max_size=200))
def test_parts_are_spans_in_order_that_do_not_overlap(text: str) -> None:
    own = source(1, text)
    ends = 0
    for unit in quotable_units([own]):
        for part in unit.parts:
            assert ends <= part.start < part.end <= len(text)
            assert part.text
            ends = part.end
