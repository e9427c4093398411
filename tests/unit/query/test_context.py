from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.answers import Source
from pipelines.query.context import Budget, assemble
from pipelines.query.delimit import SEPARATOR, Context
from pipelines.query.trace import Ledger
from pipelines.structure import sentences, structure_of
from pipelines.text import count_tokens
from tests.unit.query.builders import hit, passage

TEXT = "One is here. Two is there.\n\nThree follows now. Four comes last of all."
LONG = " ".join(f"Sentence number {n} says what the harbour crane did on day {n}." for n in range(40))
Key = tuple[str, int, int]


def run(
    hits, texts: dict[str, str], characters: int = 8000, tokens: int = 2400, margin: float = 1.15,
    named: Collection[str] = (), names: Mapping[str, str] | None = None, ledger: Ledger | None = None,
    pages: tuple[int, ...] = (),
) -> tuple[Context, Ledger]:  # fmt: skip
    def read(spans: Sequence[Key]) -> dict[Key, Source]:
        return {
            span: passage(texts[span[0]][span[1] : span[2]], f"{span[0]}.md", span[0].upper(), pages=pages, id=span[0])
            for span in spans
            if span[0] in texts
        }

    ledger = ledger or Ledger()
    ledger.fused(hits)
    budget = Budget(characters, tokens, margin)
    known = {document: f"{document}.md" for document in texts} if names is None else names
    return assemble(hits, read, ledger, budget, names=lambda _: known, named=named), ledger


def piece(node_id: str, start: int, end: int, document: str = "d", text: str = TEXT, **facts):
    lines = {"line_start": line_of(text, start), "line_end": line_of(text, end - 1)}
    return hit(node_id, text[start:end], document_id=document, start=start, end=end, **lines | facts)


def line_of(text: str, place: int) -> int:
    return 1 + text[:place].count("\n")


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
    context, ledger = run([piece("a", 0, 26), piece("b", 47, 72)], {"d": TEXT}, characters=130)
    assert [source.node_ids for source in context.sources] == [("a",)]
    assert context.dropped == (("b", "budget"),)
    assert ledger.candidate("b").fate == "cut: budget"


def test_the_token_budget_counts_too_and_so_does_its_margin() -> None:
    hits = [piece("a", 0, 310, text=LONG), piece("b", 1000, 1310, text=LONG)]
    one, both = (count_tokens(run(own, {"d": LONG}, margin=1)[0].text) for own in (hits[:1], hits))
    roomy, _ = run(hits, {"d": LONG}, tokens=both + 40, margin=1)
    tight, ledger = run(hits, {"d": LONG}, tokens=both + 40, margin=(both + 40) / (one + 40))
    assert [source.node_ids for source in roomy.sources] == [("a",), ("b",)]
    assert [source.node_ids for source in tight.sources] == [("a",)]
    assert count_tokens(tight.text) * (both + 40) / (one + 40) <= both + 40
    assert ledger.candidate("b").fate == "cut: budget"


def test_a_source_that_does_not_fit_is_cut_at_the_end_of_a_sentence() -> None:
    context, ledger = run([piece("a", 0, len(LONG), text=LONG)], {"d": LONG}, characters=800)
    (source,) = context.sources
    assert LONG[source.start : source.end] == source.snippet
    assert source.start == 0
    assert source.snippet.endswith(".")
    assert source.end in {end for _, end in sentences(LONG)}
    assert 500 < len(source.snippet) <= 800
    assert len(context.text) <= 800
    assert ledger.candidate("a").fate == "kept"


def test_of_a_long_span_the_best_node_stays_and_the_nodes_outside_are_listed() -> None:
    cuts = [0, *(end for _, end in sentences(LONG))][::8]
    hits = [
        piece(f"n{at}", start, end, text=LONG, line_start=at + 1, line_end=at + 1, section_path=["Days", f"Week {at}"])
        for at, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(LONG)], strict=True))
    ]
    context, ledger = run([hits[3], hits[2], hits[0], hits[1], hits[4]], {"d": LONG}, characters=900)
    (source,) = context.sources
    assert source.node_ids[0] == "n3"
    assert source.start == cuts[3]
    assert (source.section_path[0], source.line_start) == ("Days", 4)
    assert {node for node, why in context.dropped if why == "budget"} >= {"n0", "n1", "n2"}
    assert ledger.candidate("n0").fate == "cut: budget"


def test_a_source_whose_front_was_cut_says_the_lines_and_the_page_of_what_is_left() -> None:
    boats = "".join(f"Boat {n} belongs to owner {n}.\n" for n in range(200))
    early, best = boats.index("Boat 50 "), boats.index("Boat 60 ")
    end = boats.index("Boat 90 ")
    hits = [piece("best", best, end, text=boats), piece("early", early, best + 20, text=boats)]
    pages = (0, boats.index("Boat 55 "), boats.index("Boat 70 "))
    context, _ = run(hits, {"d": boats}, characters=500, pages=pages)
    source = context.sources[0]
    assert source.snippet.startswith("Boat 60 ")
    assert len(source.node_ids) == 2
    assert (source.line_start, source.page) == (61, 2)
    assert source.line_end == 61 + source.snippet[:-1].count("\n")


def test_too_little_of_a_passage_is_not_shown() -> None:
    context, _ = run([piece("a", 0, len(LONG), text=LONG)], {"d": LONG}, characters=200)
    assert context.sources == ()
    assert context.dropped == (("a", "budget"),)


def test_a_long_document_does_not_crowd_out_another_that_the_question_names() -> None:
    hits = [piece("a", 0, len(LONG), "d", LONG), piece("b", 0, len(TEXT), "e"), piece("c", 0, 12, "f")]
    texts = {"d": LONG, "e": TEXT, "f": TEXT}
    context, _ = run(hits, texts, characters=1500, named=("d", "e"))
    assert [source.document_id for source in context.sources] == ["d", "e"]
    assert len(context.sources[0].snippet) > 1000
    assert context.sources[1].snippet == TEXT
    assert [source.document_id for source in run(hits, texts, characters=1500)[0].sources] == ["d"]


def test_a_passage_that_a_better_one_of_another_document_holds_stands_once_and_names_both() -> None:
    context, ledger = run([piece("a", 0, len(TEXT)), piece("b", 28, len(TEXT), "e")], {"d": TEXT, "e": TEXT})
    (source,) = context.sources
    assert (source.near_copies, source.also_in) == (("e.md",), ())
    assert "[Nearly the same in: e.md]" in context.text
    assert context.dropped == (("b", "duplicate"),)
    assert ledger.candidate("b").fate == "cut: duplicate"


def test_the_writer_is_told_the_documents_of_copies_that_were_cut_before_but_not_those_it_may_not_see() -> None:
    ledger, hits = Ledger(), [piece("a", 0, 26), piece("b", 0, 26, "e"), piece("c", 0, 26, "secret")]
    ledger.fused(hits)
    ledger.copied("b", "a")
    ledger.copied("c", "a")
    context, _ = run(hits[:1], {"d": TEXT}, names={"e": "twin.pdf"}, ledger=ledger)
    assert context.sources[0].near_copies == ("twin.pdf",)
    assert "[Nearly the same in: twin.pdf]" in context.text


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
    shown = f"<<source 1 {key}>>\n[Source: d.md (blog), D, p.2] Experience > Acme\nOne is here.\n<</source 1 {key}>>"
    assert context.text.split(SEPARATOR)[0] == shown


def test_a_heading_path_is_shown_once_for_the_sources_of_a_section() -> None:
    path = ["Experience", "Acme"]
    context, _ = run([piece("a", 0, 12, section_path=path), piece("b", 28, 46, section_path=path)], {"d": TEXT})
    assert context.text.count("Experience > Acme") == 1
    assert context.text.count("[Source: d.md (blog), D]") == 2
    assert [source.section_path for source in context.sources] == [tuple(path)] * 2


@pytest.mark.parametrize(
    ("snippet", "path", "shown"),
    [
        ("## Acme\n\nShe built it.", ["Experience", "Acme"], "D] Experience\n## Acme"),
        ("## Experience\n\n### Acme\n\nShe built it.", ["Experience", "Acme"], "D]\n## Experience"),
        ("She built it.", ["D", "Experience"], "D] Experience\nShe"),
        ("She built it.\n\nAcme", ["Experience", "Acme"], "D] Experience > Acme\nShe"),
    ],
)  # fmt: skip
def test_headings_that_the_snippet_or_the_title_shows_are_not_said_again(
    snippet: str, path: list[str], shown: str
) -> None:
    context, _ = run([piece("a", 0, len(snippet), text=snippet, section_path=path)], {"d": snippet})
    assert f"[Source: d.md (blog), {shown}" in context.text


def test_what_fits_into_a_full_context_does_not_depend_on_the_delimiter() -> None:
    hits = [piece(str(n), start, end, text=LONG) for n, (start, end) in enumerate(sentences(LONG)[::3])]
    shown = [run(hits, {"d": LONG}, tokens=300)[0] for _ in range(30)]
    assert len({context.delimiter for context in shown}) == 30
    assert len({context.sources for context in shown}) == len({count_tokens(context.text) for context in shown}) == 1
    assert all(context.dropped for context in shown)


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


# Properties

WORDS = st.sampled_from(
    ["Acme ran late.", "Two boats!", "Was it so?", "- item one\n", "\n\n", " ", "# Head\n\n", "x = 1"]
)
TEXTS = st.lists(WORDS, min_size=3, max_size=60).map(" ".join)


@st.composite
def corpora(draw: st.DrawFn):
    """Texts of documents and nodes anywhere in them, ranked at random."""
    texts = {name: draw(TEXTS) for name in draw(st.sampled_from(["d", "de", "def"]))}
    hits = []
    for number in range(draw(st.integers(1, 9))):
        name = draw(st.sampled_from(sorted(texts)))
        start = draw(st.integers(0, len(texts[name]) - 1))
        end = draw(st.integers(start + 1, min(len(texts[name]), start + 120)))
        hits.append(piece(f"n{number}", start, end, name, texts[name]))
    return texts, hits


@settings(max_examples=150)
@given(corpora())
def test_merging_agrees_with_an_oracle_that_colours_characters(corpus) -> None:
    texts, hits = corpus
    context, _ = run(hits, texts, characters=100_000, tokens=100_000)
    own = context.sources
    covered = {name: [False] * len(text) for name, text in texts.items()}
    gone = {node for node, why in context.dropped if why == "duplicate"}
    for each in (each for each in hits if each.node.node_id not in gone):
        meta = each.node.metadata
        covered[meta["document_id"]][meta["start"] : meta["end"]] = [True] * (meta["end"] - meta["start"])
    for name, colours in covered.items():
        for source in (source for source in own if source.document_id == name):
            for place in range(source.start, source.end):
                assert colours[place] or texts[name][place].isspace()
                colours[place] = False
        assert not any(colours)
        edges = [
            (one.end, other.start)
            for one in own
            for other in own
            if one.document_id == other.document_id == name and one.start < other.start
        ]
        assert all(end < start and (texts[name][end:start].strip() or start - end > 16) for end, start in edges)


@settings(max_examples=150)
@given(corpora(), st.integers(200, 900), st.integers(60, 300), st.sampled_from([1.0, 1.15, 2.0]))
def test_whatever_the_budget_each_sentence_is_of_one_source_and_nothing_exceeds_it(
    corpus, characters: int, tokens: int, margin: float
) -> None:
    texts, hits = corpus
    context, ledger = run(hits, texts, characters=characters, tokens=tokens, margin=margin, named=("d", "e"))
    assert len(context.text) <= characters
    assert count_tokens(context.text) * margin <= tokens
    assert [source.n for source in context.sources] == list(range(1, len(context.sources) + 1))
    for source in context.sources:
        text = texts[source.document_id]
        assert (source.line_start, source.line_end) == (line_of(text, source.start), line_of(text, source.end - 1))
    spans = [(one.n, one.start + start, one.start + end) for one in context.sources for start, end in one.sentences]
    for n, start, end in spans:
        source = context.sources[n - 1]
        assert texts[source.document_id][start:end] == source.snippet[start - source.start : end - source.start] != ""
        holders = [
            other.n
            for other in context.sources
            if other.document_id == source.document_id and other.start < end and start < other.end
        ]
        assert holders == [n]
    kept = {node for source in context.sources for node in source.node_ids}
    dropped = [node for node, _ in context.dropped]
    assert kept | set(dropped) == {each.node.node_id for each in hits}
    assert kept.isdisjoint(dropped)
    assert len(dropped) == len(set(dropped))
    assert all(ledger.candidate(node).fate.startswith("cut: ") for node in dropped)


def test_what_is_not_published_is_not_shown_to_the_writer_and_is_no_sentence() -> None:
    text = (
        "The outage lasted 6 hours. {% comment %} Ingvild unplugged it. {% endcomment %} It cost ~~sixty~~ 450 euros."
    )

    def read(spans: Sequence[Key]) -> dict[Key, Source]:
        whole = structure_of(text)
        return {span: passage(text[span[1] : span[2]], "a.md", "A", structure=whole) for span in spans}

    found = assemble([piece("n", 0, len(text), text=text)], read, Ledger(), Budget(8_000, 2_400))
    assert "The outage lasted 6 hours." in found.text
    assert "450 euros" in found.text
    assert not [word for word in ("Ingvild", "sixty", "comment") if word in found.text]
    (own,) = found.sources
    said = [own.read().words(start, end) for start, end in own.sentences]
    assert said == ["The outage lasted 6 hours.", "It cost 450 euros."]
