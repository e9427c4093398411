from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pipelines.query.assemble import SEPARATOR, Passage, assemble
from pipelines.query.trace import Ledger
from pipelines.types import Context
from tests.unit.query.builders import hit

TEXT = "One is here. Two is there.\n\nThree follows now. Four comes last of all."
Key = tuple[str, int, int]


def run(hits, texts: dict[str, str], **limits) -> tuple[Context, Ledger]:
    def read(spans: Sequence[Key]) -> dict[Key, Passage]:
        return {
            span: Passage(texts[span[0]][span[1] : span[2]], f"{span[0]}.md", span[0].upper(), "file:///x", "c", "blog")
            for span in spans
            if span[0] in texts
        }

    ledger = Ledger()
    ledger.fused(hits)
    sizes = {"max_characters": 8000, "max_tokens": 2400} | limits
    return assemble(hits, read, ledger, **sizes), ledger


def piece(node_id: str, start: int, end: int, document: str = "d", text: str = TEXT):
    return hit(node_id, text[start:end], document_id=document, start=start, end=end)


def test_overlapping_nodes_become_one_source_that_says_nothing_twice() -> None:
    context, ledger = run([piece("b", 13, 46), piece("a", 0, 26)], {"d": TEXT})
    assert [source.snippet for source in context.sources] == [TEXT[0:46]]
    assert context.sources[0].node_ids == ("a", "b")
    assert ledger.candidate("a").fate == "merged into 1"


def test_adjacent_nodes_are_joined_over_the_space_between_them() -> None:
    context, _ = run([piece("a", 0, 26), piece("b", 28, 46)], {"d": TEXT})
    assert [source.snippet for source in context.sources] == [TEXT[0:46]]


def test_nodes_with_words_between_them_stay_apart() -> None:
    context, _ = run([piece("a", 0, 12), piece("b", 28, 46)], {"d": TEXT})
    assert len(context.sources) == 2


def test_sources_are_numbered_without_gaps_in_document_order() -> None:
    hits = [piece("x", 47, 72), piece("y", 0, 12, "e"), piece("z", 0, 12)]
    context, _ = run(hits, {"d": TEXT, "e": TEXT})
    assert [(s.n, s.document_id, s.start) for s in context.sources] == [(1, "d", 0), (2, "d", 47), (3, "e", 0)]


def test_what_does_not_fit_is_dropped_with_its_reason() -> None:
    context, ledger = run([piece("a", 0, 26), piece("b", 47, 72)], {"d": TEXT}, max_characters=30)
    assert [source.node_ids for source in context.sources] == [("a",)]
    assert context.dropped == (("b", "budget"),)
    assert ledger.candidate("b").fate == "cut: budget"


def test_the_token_budget_counts_too() -> None:
    context, _ = run([piece("a", 0, 26), piece("b", 47, 72)], {"d": TEXT}, max_tokens=10)
    assert len(context.sources) == 1
    assert context.tokens <= 10


def test_a_document_that_changed_meanwhile_is_not_shown() -> None:
    context, ledger = run([piece("a", 0, 12)], {"d": "Something else entirely."})
    assert context.sources == ()
    assert ledger.candidate("a").fate == "cut: document changed"


def test_a_document_that_is_gone_is_not_shown() -> None:
    assert run([piece("a", 0, 12)], {})[0].sources == ()


def test_the_writer_sees_delimited_headed_passages() -> None:
    first = hit("a", TEXT[:12], end=12, page=2, section_path=["Experience", "Acme"])
    context, _ = run([first, piece("b", 0, 12, "e")], {"d": TEXT, "e": TEXT})
    key = context.delimiter
    shown = f"<<source 1 {key}>>\n[Source: D, p.2] Experience > Acme\nOne is here.\n<</source 1 {key}>>"
    assert context.text.split(SEPARATOR)[0] == shown


def test_the_delimiter_differs_between_requests() -> None:
    assert run([piece("a", 0, 12)], {"d": TEXT})[0].delimiter != run([piece("a", 0, 12)], {"d": TEXT})[0].delimiter


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), min_size=1, max_size=6, unique=True))
def test_every_snippet_is_its_span_and_no_character_stands_twice(cuts: list[tuple[int, int]]) -> None:
    hits = [piece(f"n{i}", start, min(start + size, len(TEXT))) for i, (start, size) in enumerate(cuts)]
    context, _ = run(hits, {"d": TEXT})
    seen: set[int] = set()
    for source in context.sources:
        assert TEXT[source.start : source.end] == source.snippet
        assert not seen & set(range(source.start, source.end))
        seen |= set(range(source.start, source.end))
    assert seen >= {place for start, size in cuts for place in range(start, min(start + size, len(TEXT)))}
