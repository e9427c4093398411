"""A conversation, as a person has it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

from app import session
from app.session import Opened
from app.shelf import starters
from config.prompts import NO_ANSWER
from config.settings import PersonaSettings
from pipelines.answers import Answer, Conflict, Sentence, Token
from pipelines.errors import ConfigError, ModelError
from pipelines.store.documents import partial_notice
from pipelines.store.jobs import JobStatus
from pipelines.store.questions import StoredQuestion
from pipelines.types import Filters, IngestItem, Turn
from tests.app.conftest import answers, ask, evidence, html, opened, opened_source, words
from tests.app.fakes import POST, RESUME, FakeEngine, abstained, answered, sentence, shelved, source

Open = Callable[[], AppTest]
ORGANS = "What did she do before Leith?"
REEDS = "What is a reed?"
resume = source(1, "resume.md", RESUME, "She tuned organs for nine years. In 2019 she moved to Leith.", page=2)
reeds = source(2, "reeds.md", POST, "A reed is a strip of brass. It speaks when wind bends it.", title="On reeds")
tuned = sentence("She tuned organs for nine years.", resume)
brass = sentence("A reed is a strip of brass.", reeds)


@pytest.fixture(autouse=True)
def _script(engine: FakeEngine) -> None:
    engine.script = {
        ORGANS: answered(ORGANS, [tuned], [resume, reeds]),
        REEDS: answered(REEDS, [tuned, brass], [resume, reeds]),
    }


def test_an_answer_carries_the_engines_numbers_and_says_that_it_is_quoted(engine: FakeEngine, chat: Open) -> None:
    at = ask(chat(), REEDS)
    [answer] = answers(at)
    assert words(answer) == [("She tuned organs for nine years.", [1], ""), ("A reed is a strip of brass.", [2], "")]
    assert (answer["line"], answer["alerts"]) == ("2 of 2 sentences checked, quoted, 0.4 s", [])
    assert answer["how"] == [
        ["Made", "Extractive: sentences quoted verbatim, high confidence"],
        ["Time", "total 420 ms"],
    ]
    assert REEDS in html(at)
    assert engine.asked == [(REEDS, (), Filters())]
    assert not at.exception


def test_quotations_from_another_document_begin_a_paragraph(chat: Open) -> None:
    assert [[len(line) for line in block["lines"]] for block in answers(ask(chat(), REEDS))[0]["blocks"]] == [[1], [1]]


def test_several_things_are_shown_as_a_list(engine: FakeEngine, chat: Open) -> None:
    *events, answer = engine.script[REEDS]
    assert isinstance(answer, Answer)
    engine.script["Which?"] = [*events, replace(answer, answer=f"- {tuned.text}\n- {brass.text}")]
    at = ask(ask(chat(), REEDS), "Which?")
    assert [{block["kind"] for block in shown["blocks"]} for shown in answers(at)] == [{"paragraph"}, {"bullets"}]


def test_an_answer_by_a_model_names_it(engine: FakeEngine, chat: Open) -> None:
    engine.model_name = "llama-3.1"
    engine.script[REEDS] = answered(REEDS, [brass], [reeds], model="llama-3.1", truncated=True)
    at = ask(chat(), REEDS)
    [answer] = answers(at)
    assert answer["alerts"] == [
        "The language model's answer was cut short, by its length limit or on the way; it may be incomplete."
    ]
    assert answer["line"] == "1 of 1 sentence checked, written by llama-3.1, 0.4 s"
    assert at.sidebar.caption[-1].value == "Answers are written by llama-3.1."
    assert not at.exception


def test_the_tokens_and_the_cost_of_a_model_are_shown_where_they_are_known(engine: FakeEngine, chat: Open) -> None:
    known = {"model": "m", "usage": {"total_tokens": 1234}, "cost": 0.00042}
    engine.script[REEDS] = answered(REEDS, [brass], [reeds], **known)
    guessed = {"model": "m", "usage": {"total_tokens": 90, "estimated_tokens": 90}, "cost": None}
    engine.script[ORGANS] = answered(ORGANS, [tuned], [resume], **guessed)
    spent = [dict(answer["how"])["Spent"] for answer in answers(ask(ask(chat(), REEDS), ORGANS))]
    assert spent == ["1,234 tokens, $0.00042", "about 90 tokens"]


def test_a_computed_answer_does_not_claim_to_be_quoted(engine: FakeEngine, chat: Open) -> None:
    engine.script[REEDS] = answered(REEDS, [brass], [reeds], model="career facts", mode="extractive")
    [answer] = answers(ask(chat(), REEDS))
    assert answer["line"] == "1 of 1 sentence checked, put together from facts, 0.4 s"
    assert dict(answer["how"])["Made"] == "Computed from career facts, high confidence"


def test_a_model_that_failed_is_not_hidden(engine: FakeEngine, chat: Open) -> None:
    engine.script[REEDS] = answered(REEDS, [brass], [reeds], fallback_reason="The model answered 500.")
    at = ask(chat(), REEDS)
    assert "The model answered 500." in answers(at)[0]["alerts"][0]
    assert not at.exception


def test_what_went_wrong_stands_above_the_line_and_how_it_was_found_is_folded(engine: FakeEngine, chat: Open) -> None:
    partly = partial_notice("Roadmap", {"rendered": 8, "fetched": 12})
    notes = ("The dense search failed: The model is gone.", '"red" was not found; searched for "reed".', partly)
    engine.script[REEDS] = answered(REEDS, [brass], [reeds], notes=notes)
    engine.script["Who?"] = abstained("Who?", [resume], ["Who? (hybrid: nothing like it)"], notes=notes)
    at = ask(ask(chat(), REEDS), "Who?")
    noted, plain = answers(at)
    assert noted["alerts"] == plain["alerts"] == list(notes)
    assert ["Searched", "Who? (hybrid: nothing like it)"] in plain["how"]
    assert plain["line"] == "Nothing that answers was found, 0.4 s"
    assert not at.exception


def test_sentences_that_no_source_bears_out_are_marked_and_the_others_are_quiet(engine: FakeEngine, chat: Open) -> None:
    quote = "In 2019 she moved to Leith."
    sentences = [
        tuned,
        sentence("She moved in 2021.", resume, quote, "unsupported"),
        sentence("She likes Leith.", resume, quote, "partial"),
        sentence("Reeds are brass.", resume, quote, "misattributed"),
        sentence("So it goes.", None),
    ]
    engine.script[REEDS] = answered(REEDS, sentences, [resume, reeds], model="llama-3.1")
    at = ask(chat(), REEDS)
    [answer] = answers(at)
    assert [tag for _, _, tag in words(answer)] == ["", "unsupported", "partly", "wrong source", "uncited"]
    assert answer["blocks"][0]["lines"][0][0]["tip"] == "✓ Supported by its source"
    assert answer["alerts"] == ["4 of 5 sentences are marked: their sources do not fully support them."]
    assert answer["line"].startswith("1 of 5 sentences checked")
    assert not at.exception


def test_sources_stand_below_by_document_and_the_uncited_ones_are_folded_away(chat: Open) -> None:
    [cited, rest] = answers(ask(chat(), ORGANS))[0]["groups"]
    assert (cited["kind"], cited["folded"]) == ("cited", False)
    [document] = cited["documents"]
    assert (document["title"], document["rows"]) == (
        "resume",
        [{"numbers": [[1, 1]], "place": "p. 2 · Ann Bell", "quote": ""}],
    )
    assert (rest["heading"], rest["folded"]) == ("Show 1 more place", True)
    assert rest["documents"][0]["title"] == "On reeds"


def test_an_abstention_shows_the_nearest_words_first_and_says_that_they_are_only_near(
    engine: FakeEngine, chat: Open
) -> None:
    engine.script["Who?"] = abstained("Who?", [resume], ["Who? (hybrid: nothing like it)"])
    at = ask(chat(), "Who?")
    [answer] = answers(at)
    assert words(answer) == [(NO_ANSWER, [], "")]
    assert answer["abstains"]
    [nearest] = answer["groups"]
    [row] = nearest["documents"][0]["rows"]
    assert (nearest["heading"], row["quote"]) == ("Only near, not an answer", resume.snippet)
    assert not at.exception


def test_an_abstention_under_filters_can_be_asked_again_without_them(engine: FakeEngine, chat: Open) -> None:
    blog = Filters(category=("blog",))
    engine.script["Who?"] = abstained("Who?", [], [], filters=blog)
    at = opened(chat(), "filter_menu")
    at.multiselect(key="filter_category").select("blog").run()
    at = ask(at, "Who?")
    assert answers(at)[0]["alerts"][0] == "Only a part of the documents was searched, by category."
    at.button(key="everywhere_answer_0").click().run()
    assert [asked[2] for asked in engine.asked] == [blog, Filters()]
    assert engine.asked[1][1] == (), "the turns that it was asked with"
    assert at.session_state["filter_category"] == []
    assert not at.exception


def test_what_a_follow_up_took_is_a_chip_whose_cross_asks_it_as_it_stands(engine: FakeEngine, chat: Open) -> None:
    reading = {"condensed": "What is a reed of Leith?", "condensed_by": "rules"}
    engine.script["What is it?"] = answered("What is it?", [brass], [reeds], added=(("it", "a reed"),), **reading)
    engine.script["And?"] = answered("And?", [brass], [reeds], **reading)
    engine.script["Why?"] = answered("Why?", [brass], [reeds], condensed="Why?", condensed_by="rules")
    at = ask(ask(ask(ask(chat(), ORGANS), "What is it?"), "And?"), "Why?")
    assert [at.button(key=f"alone_answer_{n}").label for n in (1, 2, 3)] == [
        "it = a reed",
        "read as “What is a reed of Leith?”",
        "read as a follow-up",
    ]
    at.button(key="alone_answer_1").click().run()
    question, turns, _ = engine.asked[-1]
    assert (question, turns, bool(engine.asked[1][1])) == ("What is it?", (), True)
    assert "alone_answer_0" not in {button.key for button in at.button}
    assert not at.exception


def test_sources_at_one_place_share_a_row(engine: FakeEngine, chat: Open) -> None:
    other = replace(resume, n=2, snippet="She now builds clavichords in Leith.", start=75, end=111)
    engine.script[ORGANS] = answered(ORGANS, [tuned, sentence(other.snippet, other)], [resume, other])
    [document] = answers(ask(chat(), ORGANS))[0]["groups"][0]["documents"]
    assert [row["numbers"] for row in document["rows"]] == [[[1, 1], [2, 2]]]


def test_footnotes_count_from_one_and_neighbours_of_one_source_share_one(engine: FakeEngine, chat: Open) -> None:
    far, near = replace(resume, n=7), replace(reeds, n=3)
    moved = sentence("In 2019 she moved to Leith.", far)
    said = [sentence(tuned.text, far), moved, sentence(brass.text, near)]
    engine.script[ORGANS] = answered(ORGANS, said, [near, far], model="m")
    [answer] = answers(ask(chat(), ORGANS))
    marks = [[(mark["n"], mark["number"]) for mark in said["marks"]] for said in answer["blocks"][0]["lines"][0]]
    assert marks == [[], [(7, 1)], [(3, 2)]]
    at = ask(chat(), ORGANS)
    assert evidence(_open(at, Opened(0, 7, 1))) == "She tuned organs for nine years. In 2019 she moved to Leith."


def test_a_block_of_code_has_one_footnote(engine: FakeEngine, chat: Open) -> None:
    said = [tuned, sentence("In 2019 she moved to Leith.", resume)]
    text = f"```\n{said[0].text}\n{said[1].text}\n```\n[1]"
    engine.script[ORGANS] = answered(ORGANS, said, [resume], answer=text)
    [block] = answers(ask(chat(), ORGANS))[0]["blocks"]
    assert block["kind"] == "code"
    assert [len(line[0]["marks"]) for line in block["lines"]] == [0, 1]


def test_the_rows_and_the_styles_of_a_model_are_rendered(engine: FakeEngine, chat: Open) -> None:
    head, row = (Sentence(text, (2,), "supported", brass.evidence) for text in ("| Reed | Metal |", "| **A** | `b` |"))
    text = f"{head.text} [2]\n|---|---|\n{row.text} [2]"
    engine.script[REEDS] = answered(REEDS, [head, row], [reeds], model="m", answer=text)
    [block] = answers(ask(chat(), REEDS))[0]["blocks"]
    assert block["kind"] == "table"
    assert block["lines"][1][0]["runs"] == [["|", ""], ["b", "A"], ["|", ""], ["c", "b"], ["|", ""]]


def test_quoted_rows_of_a_table_are_a_table_with_the_names_of_its_columns(engine: FakeEngine, chat: Open) -> None:
    text = "| Year | Rank |\n|---|---|\n| 2019 | **reed** 1 |\n| 2020 | |\n"
    table = source(1, "ranks.md", text, text)
    rows = {
        "| 2019 | **reed** 1 |": ("Year: 2019; Rank: reed 1", (("Year", "2019"), ("Rank", "reed 1"))),
        "| 2020 | |": ("Year: 2020", (("Year", "2020"),)),
    }
    said = [replace(sentence(told, table, quote), cells=cells) for quote, (told, cells) in rows.items()]
    listed = "\n".join(f"- {each.text} [1]" for each in said)
    engine.script[ORGANS] = answered(ORGANS, said, [table], answer=listed)
    [block] = answers(ask(chat(), ORGANS))[0]["blocks"]
    assert block["kind"] == "table"
    shown = [[run[1] for run in line[0]["runs"] if run[0] != "|"] for line in block["lines"]]
    assert shown == [["Year", "Rank"], ["2019", "reed 1"], ["2020"]]
    assert [len(line[0]["marks"]) for line in block["lines"]] == [0, 1, 1]


def test_entries_of_a_list_show_their_dates_apart_and_a_disagreement_once(engine: FakeEngine, chat: Open) -> None:
    jobs = {
        2018: "Editor at Signal (2016 – 2018)",
        2019: "Editor at Signal (2016 – 2019)",
        2015: "Clerk at Dock (2015)",
    }
    sources = [
        replace(resume, n=n, snippet=text, end=resume.start + len(text)) for n, text in enumerate(jobs.values(), 1)
    ]
    said = [sentence(text, source) for text, source in zip(jobs.values(), sources, strict=True)]
    sides = tuple(each.evidence[0] for each in said[:2])
    conflict = Conflict("dates", "Signal: 2016 – 2018 [1], 2016 – 2019 [2]", sides)
    text = "\n".join(f"- {each.text} [{n}]" for n, each in enumerate(said, 1))
    engine.script[ORGANS] = answered(ORGANS, said, sources, answer=text, conflicts=(conflict,))
    [answer] = answers(ask(chat(), ORGANS))
    lines = [line for block in answer["blocks"] for [line] in block["lines"]]
    assert [(line["detail"], line["dispute"]) for line in lines] == [("2016 – 2018", 0), ("2015", None)]
    [dispute] = answer["disputes"]
    assert dispute["heading"] == "The sources disagree about Signal"
    assert [(side["number"], side["quote"]) for side in dispute["sides"]] == [(1, jobs[2018]), (2, jobs[2019])]


def _open(at: AppTest, place: Opened | None) -> dict[str, Any] | None:
    at.session_state["opened"] = place
    at.run()
    assert not at.exception
    return opened_source(at)


def test_an_opened_footnote_shows_the_cited_words_in_their_surroundings(chat: Open) -> None:
    at = ask(chat(), ORGANS)
    shown = _open(at, Opened(0, 1, 0))
    assert shown is not None
    assert evidence(shown) == "She tuned organs for nine years."
    assert [(block["kind"], "".join(run[1] for run in block["runs"])) for block in shown["blocks"]] == [
        ("heading", "Ann Bell"),
        ("paragraph", RESUME.partition("\n\n")[2]),
    ]
    assert (shown["verdict"], shown["finding"]) == ("supported", "The sentence is supported by its source.")
    assert answers(at)[0]["open"] == {"n": 1, "sentence": 0}
    assert _open(at, None) is None


def test_a_source_without_a_citation_shows_its_whole_passage(chat: Open) -> None:
    shown = _open(ask(chat(), ORGANS), Opened(0, 2))
    assert evidence(shown) == "A reed is a strip of brass. It speaks when wind bends it."


@pytest.mark.parametrize(("text", "fate"), [("# Ann Bell\n\nNew text.", "changed"), (None, "removed")])
def test_the_cited_words_stay_when_their_document_does_not(
    engine: FakeEngine, chat: Open, text: str | None, fate: str
) -> None:
    at = ask(chat(), ORGANS)
    engine.texts = {"resume.md": text} if text else {}
    shown = _open(at, Opened(0, 1, 0))
    assert shown is not None
    assert f"The document was {fate} since" in shown["note"]
    assert evidence(shown) == "She tuned organs for nine years."


def test_a_follow_up_is_asked_with_the_conversation_and_a_new_one_begins_without(
    engine: FakeEngine, chat: Open
) -> None:
    at = ask(ask(chat(), ORGANS), REEDS)
    assert engine.asked[1] == (REEDS, (Turn(ORGANS, tuned.text, (resume.title,)),), Filters())
    assert len(answers(at)) == 2
    at.button(key="clear").click().run()
    assert answers(at) == []
    ask(at, ORGANS)
    assert engine.asked[2][1] == ()
    assert not at.exception


def test_a_follow_up_is_asked_with_what_was_not_answered_and_what_failed(engine: FakeEngine, chat: Open) -> None:
    silent = abstained("Who is John Smith?", [], [])
    engine.script["Who is John Smith?"] = silent
    engine.script["Where?"] = [ModelError("The model died.", hint="Start it.")]
    ask(ask(ask(chat(), "Who is John Smith?"), "Where?"), REEDS)
    text = "".join(event.text for event in silent if isinstance(event, Token))
    assert engine.asked[2][1] == (Turn("Who is John Smith?", text), Turn("Where?", ""))


def test_filters_narrow_the_question_and_survive_a_look_at_the_library(engine: FakeEngine, chat: Open) -> None:
    at = opened(chat(), "filter_menu")
    at.multiselect(key="filter_category").select("blog")
    at.multiselect(key="filter_year").select(2019)
    at.multiselect(key="filter_document").select("reeds.md").run()
    at.switch_page("app_pages/library.py").run()
    at = ask(at.switch_page("app_pages/chat.py").run(), REEDS)
    assert engine.asked[0][2] == Filters(category=("blog",), year=(2019,), document=("reeds.md",))
    assert not at.exception


def test_a_filter_is_a_pill_that_says_what_it_leaves_out_and_goes_with_its_cross(
    engine: FakeEngine, chat: Open
) -> None:
    at = opened(chat(), "filter_menu")
    at.multiselect(key="filter_category").select("blog").run()
    pill = at.button(key="no_filter_category")
    assert pill.label == "Only blog: leaves out 1 of 2 documents"
    assert "filter_author" not in [menu.key for menu in at.multiselect], "one author is no choice"
    pill.click().run()
    assert at.multiselect(key="filter_category").value == []
    assert "no_filter_category" not in [button.key for button in at.button]
    assert not at.exception


def test_dates_narrow_and_their_pills_count_what_they_leave_out(engine: FakeEngine, chat: Open) -> None:
    engine.documents.append(shelved("undated.md"))
    engine.script["Who?"] = abstained("Who?", [], [], filters=Filters(since="2020-01-01"))
    at = opened(chat(), "filter_menu")
    at.date_input(key="filter_since").set_value(date(2020, 1, 1))
    at.date_input(key="filter_until").set_value(date(2024, 6, 1)).run()
    assert at.button(key="no_filter_since").label.endswith(": leaves out 2 of 3 documents")
    assert at.button(key="no_filter_until").label.endswith(": leaves out 1 of 3 documents")
    at = ask(at, "Who?")
    assert engine.asked[0][2] == Filters(since="2020-01-01", until="2024-06-01")
    at.button(key="everywhere_answer_0").click().run()
    assert engine.asked[1][2] == Filters()
    assert at.date_input(key="filter_since").value is None
    assert not at.exception


def test_a_visitor_sees_no_sidebar_no_library_no_upload_and_no_setting(
    engine: FakeEngine, chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_CHAT__VISITOR", "true")
    engine.audience = "visitor"
    note = "A model would help: set FOOTNOTE_LLM__MODEL. The words are German."
    engine.script[REEDS] = answered(REEDS, [brass], [reeds], notes=(note,))
    engine.script["Who?"] = [ModelError("The model is gone.", hint="Check FOOTNOTE_LLM__API_BASE.")]
    at = ask(ask(chat(), REEDS), "Who?")
    assert not at.sidebar.children
    assert '<div class="fn-owner">Footnote</div>' in html(at)
    assert answers(at)[0]["alerts"] == ["The words are German."]
    assert "The model is gone." in html(at)
    assert "FOOTNOTE_" not in html(at)
    assert not at.chat_input(key="question").proto.accept_file
    at.button(key="new").click().run()
    assert answers(at) == []
    assert not at.exception


def test_a_starter_question_is_asked_when_it_is_pressed(engine: FakeEngine, chat: Open) -> None:
    engine.stated = PersonaSettings(questions=(ORGANS, REEDS))
    at = chat()
    at.button(key="starter_1").click().run()
    assert engine.asked[0][0] == REEDS
    assert not [button for button in at.button if button.key and button.key.startswith("starter")]
    assert not at.exception


def test_starters_are_sure_questions_about_facts_one_a_document_of_different_categories() -> None:
    documents = [shelved(f"{n}.md", category="blog", nodes=9 - n) for n in range(5)]
    shelf = FakeEngine(documents=[*documents, shelved("cv.pdf")]).shelf()
    tried = [StoredQuestion(f"What is {n}?", f"{n}.md", is_sure=n != 0) for n in range(5)]
    tried += [StoredQuestion("Where?", "cv.pdf", is_sure=True), StoredQuestion("When?", "cv.pdf", is_sure=True)]
    assert starters((), shelf, tried) == ["What is 1?", "Where?", "What is 2?", "What is 3?"]
    assert starters((), shelf, ()) == []


def test_nothing_is_asked_first_about_a_document_that_was_just_added(engine: FakeEngine, chat: Open) -> None:
    engine.tried = (StoredQuestion(REEDS, "reeds.md", is_sure=True), StoredQuestion("What is brass?", "reeds.md"))
    engine.documents.append(shelved("bdurand.whenever"))
    at = chat()
    assert [button.label for button in at.button if (button.key or "").startswith("starter")] == [REEDS]


def test_follow_ups_are_offered_below_the_last_answer(engine: FakeEngine, chat: Open) -> None:
    engine.script[ORGANS] = answered(ORGANS, [tuned], [resume])
    engine.suggestions[ORGANS] = (REEDS,)
    at = ask(chat(), ORGANS)
    at.button(key="follow_up_0").click().run()
    assert [asked[0] for asked in engine.asked] == [ORGANS, REEDS]
    assert engine.asked[1][1] == (), "what is suggested stands alone"
    assert not at.exception


def test_what_an_abstention_offers_is_said_to_have_an_answer(engine: FakeEngine, chat: Open) -> None:
    engine.script["Who?"] = abstained("Who?", [], [], follow_ups=(REEDS,))
    engine.suggestions["Who?"] = (REEDS,)
    at = ask(chat(), "Who?")
    assert "These have an answer:" in [caption.value for caption in at.caption]
    at.button(key="follow_up_0").click().run()
    assert engine.asked[-1][:2] == (REEDS, ())
    assert not at.exception


def test_a_question_back_shows_who_fits_and_offers_the_question_about_each(engine: FakeEngine, chat: Open) -> None:
    about_ann = "Where does Ann live?"
    engine.script["Where does she live?"] = abstained(
        "Where does she live?", [resume], [], model="a question back", follow_ups=(about_ann,)
    )
    engine.suggestions["Where does she live?"] = (about_ann,)
    at = ask(chat(), "Where does she live?")
    assert answers(at)[0]["groups"][0]["heading"] == "Who fits"
    assert "You may mean:" in [caption.value for caption in at.caption]
    assert at.button(key="follow_up_0").label == about_ann


def test_an_error_is_told_with_its_hint_and_what_had_arrived_stays(engine: FakeEngine, chat: Open) -> None:
    engine.script[REEDS] = [Token("A reed "), ModelError("The model <b>died</b>.", hint="Start it.")]
    at = ask(chat(), REEDS)
    assert "<strong>The model &lt;b&gt;died&lt;/b&gt;.</strong><div>Start it.</div>" in html(at)
    [answer] = answers(at)
    assert words(answer) == [("A reed ", [], "")]
    assert answer["alerts"] == ["This is as far as it came; nothing in it was checked."]
    assert not at.exception


def test_a_stopped_answer_keeps_what_had_arrived_with_its_sources(engine: FakeEngine, chat: Open) -> None:
    stop = partial(session.stop, engine.stored)
    engine.script[REEDS] = [*answered(REEDS, [brass, tuned], [resume, reeds])[:3], stop, StopException()]
    at = ask(chat(), REEDS).run()
    [answer] = answers(at)
    assert words(answer) == [(brass.text, [2], ""), (f" {tuned.text}", [], "")]
    assert answer["alerts"] == ["Stopped. This is as far as it came; nothing in it was checked."]
    assert [document["title"] for document in answer["groups"][0]["documents"]] == ["On reeds"]
    ask(at, ORGANS)
    assert engine.asked[1][1] == (Turn(REEDS, f"{brass.text} {tuned.text}", ("On reeds",)),)
    assert not at.exception


def test_a_database_that_cannot_be_reached_is_told_instead_of_a_chat(
    engine: FakeEngine, chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> FakeEngine:
        raise ConfigError("DATABASE_URL is not a URL.", hint="Write postgresql://…")

    monkeypatch.setattr(session, "get_engine", fail)
    at = chat()
    assert "DATABASE_URL is not a URL." in html(at)
    assert not at.chat_input
    assert not at.exception


def test_an_empty_library_asks_for_files_and_takes_them(engine: FakeEngine, chat: Open) -> None:
    engine.documents = []
    at = chat()
    assert "Nothing to read yet" in html(at)
    assert at.code[0].value == "footnote ingest ~/portfolio"
    at.file_uploader(key="upload_0").set_value([("kiln.md", b"# Kiln", "text/markdown"), ("x.pdf", b"%", "")]).run()
    assert engine.desk.taken == [("kiln.md", b"# Kiln"), ("x.pdf", b"%")]
    assert not at.chat_input
    engine.documents = [shelved("kiln.md")]
    failed = IngestItem("x.pdf", "failed", message="x.pdf is encrypted.", hint="Remove the password.")
    engine.desk.finish(1, IngestItem("kiln.md", "added", nodes=1), failed)
    at.run()
    assert at.chat_input(key="question")
    assert "x.pdf is encrypted. Remove the password." in html(at)
    assert not at.exception


def test_a_question_waits_for_the_files_that_came_with_it(engine: FakeEngine, chat: Open) -> None:
    item = IngestItem("kiln.md", "failed", message="kiln.md is empty.", hint="Fill it.")
    find = engine.desk.find

    def finishing(job_id: int) -> JobStatus | None:
        assert engine.asked == []
        engine.desk.finish(job_id, item)
        return find(job_id)

    engine.desk.find = finishing  # type: ignore[method-assign]
    at = chat()
    box = at.chat_input(key="question")
    box.set_value(ORGANS)
    box.upload("kiln.md", b"", "text/markdown")
    at.run()
    assert engine.desk.taken == [("kiln.md", b"")]
    assert "<strong>kiln.md</strong> not taken in" in html(at)
    assert "kiln.md is empty. Fill it." in html(at)
    assert words(answers(at)[0])[0][0] == tuned.text
    assert engine.stored.kept["c1"][1][0].waits_for == 1
    assert not at.exception


def test_the_answer_can_be_downloaded_and_kept_as_a_pack(chat: Open) -> None:
    at = ask(chat(), ORGANS)
    assert not at.main.get("download_button"), "what is in a menu is made when it is opened"
    opened(at, "more_answer_0")
    assert [button.label for button in at.main.get("download_button")] == ["As Markdown", "As a pack"]
    assert not at.exception
