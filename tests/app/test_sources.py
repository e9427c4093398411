"""Sources as people read them: one naming and one grouping for the chat and the command line."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from app.cli.ask import marked, say_sources
from app.cli.rows import citations_of, cited_numbers, conflict_of, source_of
from app.cli.search import say_results
from app.conversation import Exchange
from app.session import Opened
from app.wording import address, by_document, cited_at, link, place_and_others, readable
from pipelines.answers import Answer, Citation, Conflict, Sentence
from pipelines.store.query_log import jsonable
from tests.app.conftest import answers, ask, opened_source
from tests.app.fakes import POST, RESUME, FakeEngine, answered, sentence, source

Open = Callable[[], AppTest]
resume = source(1, "resume.md", RESUME, RESUME[RESUME.index("She tuned") :], page=2)
reeds = source(2, "reeds.md", POST, POST[POST.index("A reed") :], title="On reeds")
later = source(3, "resume.md", RESUME, "She now builds clavichords in Leith.")


def side(n: int, quote: str) -> Citation:
    text, document = (RESUME, "resume.md") if n != 2 else (POST, "reeds.md")
    start = text.index(quote)
    return Citation(n, document, "", start, start + len(quote), quote, "supported", 1.0)


CONFLICT = Conflict("dates", "Leith: 2019 [1], 2021 [2]", (side(1, "In 2019 she moved"), side(2, "A reed is a strip")))


def an_answer(**changes: object) -> Answer:
    *_, answer = answered("Where?", [sentence("She tuned organs for nine years.", resume)], [resume, reeds, later])
    assert isinstance(answer, Answer)
    return Answer(**{name: getattr(answer, name) for name in Answer.__dataclass_fields__} | changes)


@pytest.mark.parametrize(
    ("title", "name", "shown"),
    [
        ("Field notes", "notes-2019.md", "Field notes"),
        ("", "annual_report_final.pdf", "annual report final"),
        ("resume.md", "resume.md", "resume"),
        ("Untitled document", "plans/harbour-crane.docx", "harbour crane"),
        ("Microsoft Word - CV_final.docx", "a.pdf", "CV final"),
        ("3f2a9c1db04e77aa", "Trip plan 3f2a9c1db04e4f0d8a3f2a9c1db04e77.md", "Trip plan"),
        ("", "scans/6ba7b810-9dad-11d1-80b4-00c04fd430c8_lease.pdf", "lease"),
        ("", "github/latemark/README.md", "latemark"),
        ("node.js in C++", "x.md", "node.js in C++"),
        ("GPT-4 notes", "x.md", "GPT-4 notes"),
        ("", "3f2a9c1db04e77aa.pdf", "3f2a9c1db04e77aa.pdf"),
        ("", "2024 20240131.csv", "2024 20240131"),
    ],
)
def test_a_document_is_called_by_its_title_else_by_its_cleaned_file_name(title: str, name: str, shown: str) -> None:
    assert readable(title, name) == shown


def test_sources_stand_by_document_with_their_places() -> None:
    first, second = by_document([resume, reeds, later])
    assert (first.title, first.name, [one.n for one in first.sources]) == ("resume", "resume.md", [1, 3])
    assert (second.title, second.name, [one.n for one in second.sources]) == ("On reeds", "reeds.md", [2])


def test_a_place_names_the_other_documents_that_say_the_same() -> None:
    also = source_of(jsonable(resume) | {"also_in": ["cv.pdf", "cv.docx"]})
    assert place_and_others(also) == "p. 2 · Ann Bell · also in cv.pdf, cv.docx"


def test_the_command_line_groups_what_is_cited_by_document(capsys: pytest.CaptureFixture[str]) -> None:
    two = [
        sentence("She tuned organs for nine years.", resume),
        sentence("She now builds clavichords in Leith.", later),
    ]
    say_sources(jsonable(an_answer(sentences=tuple(two), conflicts=(CONFLICT,))))
    out = capsys.readouterr().out
    assert out.splitlines()[:6] == [
        "", "resume (resume.md)", "  [1] p. 2 · Ann Bell", "  [3] lines 3–4 · Ann Bell", "On reeds (reeds.md)",
        "  [2] lines 3–4 · Ann Bell",
    ]  # fmt: skip
    assert "Sources disagree: Leith: 2019 [1], 2021 [2]" in out


def test_a_printed_answer_says_behind_each_sentence_that_its_source_does_not_bear_it_out() -> None:
    sentences = (
        Sentence("She tuned organs.", (1,), "supported"),
        Sentence("She earns a million.", (1,), "unsupported"),
        Sentence("She is tall.", (), "uncited"),
    )
    text = "She tuned organs. [1] She earns a million. [1] She is tall."
    assert marked(jsonable(replace(an_answer(sentences=sentences), answer=text))) == (
        "She tuned organs. [1] She earns a million. [1] (not supported by its source) She is tall. (without a source)"
    )


def test_a_remote_document_is_shown_with_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    page = replace(resume, uri="https://example.org/ann")
    say_sources(jsonable(an_answer(sentences=(sentence("She tuned organs for nine years.", page),), sources=(page,))))
    assert capsys.readouterr().out.splitlines()[1:3] == ["resume (resume.md)", "  https://example.org/ann"]


@pytest.mark.parametrize("uri", ["file:///home/ann/resume.md", "javascript:alert(1)", "ftp://example.org", ""])
def test_only_a_web_address_is_followed(uri: str) -> None:
    assert address(uri) == ""


def test_an_opened_remote_source_leads_to_its_document(engine: FakeEngine, chat: Open) -> None:
    page = replace(resume, uri='https://example.org/"><script>')
    engine.script["Who?"] = answered("Who?", [sentence("She tuned organs for nine years.", page)], [page])
    at = ask(chat(), "Who?")
    at.session_state["opened"] = Opened(0, 1, 0)
    opened = opened_source(at.run())
    assert opened is not None
    assert opened["link"] == page.uri
    assert not at.exception


def test_an_abstention_lists_the_nearest_passages_by_document(capsys: pytest.CaptureFixture[str]) -> None:
    say_sources(jsonable(an_answer(answered=False, sentences=(), sources=(), nearest=(reeds,), searched=("x",))))
    assert (
        "Only near, not an answer:\nOn reeds (reeds.md)\n  lines 3–4 · Ann Bell: “A reed is a strip"
        in capsys.readouterr().out
    )


def cited(quote: str, page: int | None, first: int, last: int) -> Citation:
    return replace(side(1, quote), page=page, line_start=first, line_end=last)


def test_a_footnote_names_the_place_of_its_words_and_the_list_that_of_the_source(
    engine: FakeEngine, chat: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = replace(resume, page=None, line_start=3, line_end=40)
    cites = replace(
        sentence("She tuned organs for nine years.", wide),
        evidence=(cited("She tuned organs for nine years.", None, 12, 12),),
    )
    engine.script["Who?"] = answered("Who?", [cites], [wide])
    at = ask(chat(), "Who?")
    [shown] = answers(at)
    [mark] = shown["blocks"][0]["lines"][0][0]["marks"]
    assert (mark["title"], mark["where"], mark["verdict"]) == ("resume", "line 12 · Ann Bell", "supported")
    assert shown["groups"][0]["documents"][0]["rows"][0]["place"] == "lines 3–40 · Ann Bell"
    at.session_state["opened"] = Opened(0, 1, 0)
    opened = opened_source(at.run())
    assert opened is not None
    assert opened["place"] == "line 12 · Ann Bell"
    assert not at.exception
    capsys.readouterr()
    say_sources(jsonable(an_answer(sentences=(cites,), sources=(wide,))))
    assert "[1] lines 3–40 · Ann Bell (cited: line 12)\n" in capsys.readouterr().out


def test_the_places_of_cited_words_stand_in_order_and_once_and_older_answers_have_none() -> None:
    spots = [
        cited("In 2019 she moved", 3, 9, 9),
        cited("She tuned organs", 2, 4, 5),
        cited("She tuned organs", 2, 4, 4),
    ]
    assert cited_at(spots) == "p. 2, p. 3"
    assert cited_at([side(1, "She tuned organs")]) == ""
    lines = [(4, 5), (5, 5), (6, 8), (12, 12)]
    spots = [replace(cited("She tuned organs", None, *span), start=place) for place, span in enumerate(lines)]
    assert cited_at(spots) == "lines 4–8, line 12"
    assert citations_of([{"citations": [1]}, {"evidence": [jsonable(side(1, "She tuned organs"))]}], 1) == []
    assert citations_of([{"evidence": [jsonable(spots[0])]}], 1) == [spots[0]]


@pytest.mark.parametrize(
    ("name", "uri", "shown"),
    [
        ("talks.html", "file:///talks.html", "lines 3–4 of the text · Ann Bell"),
        ("cv.DOCX", "file:///cv.DOCX", "lines 3–4 of the text · Ann Bell"),
        ("About Ann", "https://example.org/ann", "lines 3–4 of the text · Ann Bell"),
        ("The point", "https://point.md/", "lines 3–4 of the text · Ann Bell"),
        ("ann/notes", "https://github.com/ann/notes/blob/HEAD/README", "lines 3–4 · Ann Bell"),
        ("ann/notes.md", "https://github.com/ann/notes.md#readme", "lines 3–4 of the text · Ann Bell"),
        ("Notes.md", "https://notion.so/0a1b", "lines 3–4 of the text · Ann Bell"),
        ("notes", "https://example.org/notes.md?raw=1", "lines 3–4 · Ann Bell"),
        ("a.txt", "file:///a.txt", "lines 3–4 · Ann Bell"),
    ],
)
def test_lines_of_a_converted_document_are_those_of_the_text(name: str, uri: str, shown: str) -> None:
    assert place_and_others(replace(later, documentName=name, title="Notes", uri=uri)) == shown


BLOB = "https://github.com/ann/notes/blob/HEAD/README.md"


def test_a_source_leads_to_the_lines_of_its_file_where_its_host_shows_them(
    engine: FakeEngine, chat: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = replace(
        resume, documentName="ann/notes", page=None, uri="https://github.com/ann/notes#readme", lines_uri=BLOB
    )
    assert link(readme) == f"{BLOB}?plain=1#L3-L4"
    spots = [cited("In 2019 she moved", None, 9, 10), cited("She tuned organs", None, 4, 4)]
    assert (link(readme, spots), link(readme, spots[1:])) == (f"{BLOB}?plain=1#L4-L10", f"{BLOB}?plain=1#L4")
    assert link(readme, [side(1, "She tuned organs")]) == link(readme)
    assert link(replace(readme, lines_uri="")) == "https://github.com/ann/notes#readme"
    assert link(replace(readme, uri="file:///x", lines_uri="javascript:alert(1)")) == ""

    cites = replace(
        sentence("She tuned organs for nine years.", readme),
        evidence=(cited("She tuned organs for nine years.", None, 4, 4),),
    )
    say_sources(jsonable(an_answer(sentences=(cites,), sources=(readme,))))
    assert capsys.readouterr().out.splitlines()[1:4] == [
        "resume (ann/notes)",
        "  [1] lines 3–4 · Ann Bell (cited: line 4)",
        f"      {BLOB}?plain=1#L4",
    ]
    engine.script["Who?"] = answered("Who?", [cites], [readme])
    at = ask(chat(), "Who?")
    at.session_state["opened"] = Opened(0, 1, 0)
    opened = opened_source(at.run())
    assert opened is not None
    assert opened["link"] == f"{BLOB}?plain=1#L4"
    assert not at.exception


def test_a_search_says_where_a_passage_stands_as_an_answer_does(capsys: pytest.CaptureFixture[str]) -> None:
    page = {
        "rank": 1, "document_name": "example.org/snow", "title": "Snow", "page": None, "line_start": 1, "line_end": 5,
        "section_path": ["Snow", "North"], "text": "It snows.", "near_copies": ["example.org/ice"],
        "uri": "https://example.org/snow", "lines_uri": "",
    }  # fmt: skip
    say_results([page, page | {"rank": 2, "similarity": 0.414}])
    below = ["   It snows.", "   https://example.org/snow", "   nearly the same in example.org/ice"]
    assert capsys.readouterr().out.splitlines() == [
        "1. Snow, lines 1–5 of the text · North",
        *below,
        "2. Snow, lines 1–5 of the text · North · similarity 0.41",
        *below,
    ]


def test_a_source_over_several_pages_names_the_first_and_the_last() -> None:
    assert place_and_others(replace(resume, page_breaks=(resume.start + 1, resume.start + 5))) == "pp. 2–4 · Ann Bell"


def test_answers_that_an_older_release_logged_are_still_read() -> None:
    row = json.loads(json.dumps(jsonable(resume)))
    old = {name: value for name, value in row.items() if name not in ("also_in", "node_ids", "uri")}
    assert source_of(old).snippet == resume.snippet
    assert source_of(old).also_in == ()
    assert source_of(row) == resume
    assert conflict_of("Acme: 2019 (a), 2021 (b)") == ("Acme: 2019 (a), 2021 (b)", ())
    assert conflict_of(jsonable(CONFLICT)) == (CONFLICT.said, (1, 2))
    assert cited_numbers([{"citations": [3]}], ["told only", jsonable(CONFLICT)]) == {1, 2, 3}


def test_the_chat_shows_a_conflict_and_its_sources_among_the_cited(engine: FakeEngine, chat: Open) -> None:
    sentences = [sentence("She tuned organs for nine years.", resume)]
    engine.script["Where?"] = answered("Where?", sentences, [resume, reeds, later], conflicts=(CONFLICT,))
    at = ask(chat(), "Where?")
    [shown] = answers(at)
    [dispute] = shown["disputes"]
    assert [(side["name"], side["quote"]) for side in dispute["sides"]] == [
        (cited.document_id, " ".join(cited.quote.split())) for cited in CONFLICT.sides
    ]
    cited, rest = shown["groups"]
    assert [document["title"] for document in cited["documents"]] == ["resume", "On reeds"]
    assert [row["numbers"] for document in rest["documents"] for row in document["rows"]] == [[[3, 3]]]
    assert not at.exception


def test_an_opened_source_marks_what_is_disputed() -> None:
    exchange = Exchange("Where?", answer=an_answer(conflicts=(CONFLICT,)))
    exchange.sentences = list(an_answer().sentences)
    assert [cited.quote for cited in exchange.evidence(2, None)] == ["A reed is a strip"]
    assert [cited.quote for cited in exchange.evidence(1, [0])] == ["She tuned organs for nine years."]
