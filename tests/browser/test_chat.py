"""A person asks, reads the footnote, and opens its source; in a real browser on a real server."""

from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import CORPUS, LiveChat
from tests.guard import read_log

BUILT = "The anagama kiln was built in 2014 by Ruth Aldous."


def _ask(page: Page, question: str) -> None:
    """Ask once the box can send: Streamlit ignores Enter while a dropped file is on its way."""
    answers = page.locator(".fn-answer").count()
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    expect(page.get_by_test_id("stChatInputSubmitButton")).to_be_enabled()
    box.press("Enter")
    expect(page.locator(".fn-answer")).to_have_count(answers + 1)


def test_a_footnote_opens_the_passage_with_the_cited_words_marked(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    answer = page.locator(".fn-answer")
    expect(answer.locator(".fn-words", has_text=BUILT)).to_have_attribute("title", "✓ Supported by its source")
    expect(answer).to_contain_text("Extractive: sentences quoted verbatim")
    answer.locator(".fn-chip").first.click()
    panel = page.locator(".fn-reader")
    expect(panel.locator("mark")).to_have_text(f"{BUILT} It is fired twice a year with larch.")
    expect(panel.get_by_role("button", name="Close")).to_be_focused()
    expect(panel).to_contain_text("A firing needs eleven people.")
    expect(panel).to_contain_text("swept and the shelves")
    expect(panel).to_contain_text("kiln.md")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(answer.locator(".fn-chip").first).to_be_focused()


def test_the_margin_holds_a_card_beside_each_footnote_which_opens_the_same_source(page: Page) -> None:
    _ask(page, "Who built the anagama kiln?")
    card, chip = page.locator(".fn-card").first, page.locator(".fn-chip").first
    expect(card).to_contain_text("line")
    expect(card).to_contain_text("Word for word")
    beside, at = card.bounding_box(), chip.bounding_box()
    assert beside is not None
    assert at is not None
    assert beside["x"] > at["x"]
    assert abs(beside["y"] - at["y"]) < 40
    page.set_viewport_size({"width": 1000, "height": 860})
    expect(card).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 860})
    card.click()
    expect(page.locator(".fn-reader mark").first).to_contain_text(BUILT)


def test_a_footnote_says_what_it_is_before_it_is_opened(page: Page) -> None:
    page.set_viewport_size({"width": 1000, "height": 860})
    _ask(page, "Who built the anagama kiln?")
    page.locator(".fn-chip").first.hover()
    tip = page.locator(".fn-tip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("The kiln at Dunsyre")
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    how = page.locator(".fn-how")
    expect(how.locator("summary")).to_contain_text("sentences checked, quoted, 0.")
    expect(how.locator("dl")).to_be_hidden()
    how.locator("summary").click()
    expect(how.locator("dl")).to_contain_text("Extractive: sentences quoted verbatim")


def test_a_source_row_opens_the_same_panel_and_a_button_closes_it(page: Page) -> None:
    page.set_viewport_size({"width": 1000, "height": 860})
    _ask(page, "Who built the anagama kiln?")
    page.locator(".fn-row").first.click()
    expect(page.locator(".fn-reader mark").first).to_be_in_viewport()
    page.get_by_role("tab", name="Details").click()
    page.get_by_role("button", name="Wrong source").click()
    expect(page.get_by_role("button", name="Reported as wrong")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".fn-reader")).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 860})  # which a closed source no longer hears of
    expect(page.locator(".fn-card").first).to_be_visible()


def test_the_keyboard_stays_in_the_question_box(page: Page) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_be_focused()
    page.keyboard.type("Who built the anagama kiln?")
    page.keyboard.press("Enter")
    expect(page.locator(".fn-answer")).to_have_count(1)
    expect(box).to_be_focused()
    page.locator(".fn-chip").first.press("Enter")
    expect(page.locator(".fn-reader mark")).to_be_visible()
    tabs = page.locator(".fn-reader").get_by_role("tab")
    expect(tabs).to_have_text(["Text", "Details"])
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".fn-details")).to_contain_text("kiln.md")
    expect(page.locator(".fn-reader mark")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".fn-chip").first).to_be_focused()


def _walk(page: Page, key: str, wanted: Locator) -> None:
    """Press Tab, or Shift+Tab, until this has the keyboard."""
    for _ in range(40):
        page.keyboard.press(key)
        if wanted.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{key} does not lead to {wanted}")


def test_the_keyboard_alone_asks_reads_the_cited_places_and_comes_back(page: Page) -> None:
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_focused()
    page.keyboard.type("How many people does a firing need, and who built the kiln?")
    page.keyboard.press("Enter")
    expect(page.locator(".fn-answer")).to_have_count(1)
    expect(page.locator('[class*="st-key-thumbs_"]')).to_be_visible()
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_focused()
    chips, reader = page.locator(".fn-chip"), page.locator(".fn-reader")
    _walk(page, "Shift+Tab", chips.first)
    page.keyboard.press("Enter")
    expect(reader.get_by_role("button", name="Close")).to_be_focused()
    _walk(page, "Tab", reader.get_by_role("button", name="Next"))
    page.keyboard.press("Enter")
    expect(reader).to_contain_text("2 of 2 cited places")
    expect(reader.locator("mark.fn-here")).to_contain_text(BUILT)
    _walk(page, "Shift+Tab", reader.get_by_role("button", name="Previous"))
    page.keyboard.press("Enter")
    expect(reader.locator("mark.fn-here")).to_contain_text("A firing needs eleven people.")
    page.keyboard.press("Escape")
    expect(reader).to_have_count(0)
    expect(chips.first).to_be_focused()
    _walk(page, "Tab", chips.nth(1))
    page.keyboard.press("Enter")
    _walk(page, "Tab", reader.get_by_role("tab", name="Details"))
    page.keyboard.press("Enter")
    _walk(page, "Tab", reader.get_by_role("link", name="Open in the library"))
    with page.context.expect_page() as library:
        page.keyboard.press("Enter")
    expect(library.value.get_by_role("heading", name="The kiln at Dunsyre").first).to_be_visible()
    page.bring_to_front()
    _walk(page, "Shift+Tab", reader.get_by_role("button", name="Close"))
    page.keyboard.press("Enter")
    expect(chips.nth(1)).to_be_focused()


def test_every_new_question_comes_into_view(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    for number in range(3):
        _ask(page, "Who built the anagama kiln?")
        expect(page.locator("h2.fn-question").nth(number)).to_be_in_viewport()


def test_what_a_document_says_never_acts_on_the_page(page: Page) -> None:
    _ask(page, "What does the saboteur write in every postcard?")
    page.locator(".fn-chip").first.click()
    expect(page.locator(".fn-page")).to_contain_text("in every postcard")
    for injected in (
        ".fn-page a",
        ".fn-reader img",
        ".fn-reader script",
        ".fn-prose a",
        ".fn-answer img",
        "[onerror]",
    ):
        expect(page.locator(injected)).to_have_count(0)


def test_an_abstention_shows_the_nearest_words_and_opens_them_in_their_document(page: Page) -> None:
    _ask(page, "What did the anagama kiln cost?")
    answer = page.locator(".fn-answer")
    expect(answer.locator(".fn-prose")).to_contain_text("I looked for an amount of money together with “anagama”")
    near = answer.get_by_label("Only near, not an answer").locator(".fn-near").first
    expect(near).to_contain_text("kiln")
    near.click()
    expect(page.locator(".fn-reader mark").first).to_contain_text("kiln")


def test_the_window_stays_where_it_is_below_the_menus_of_earlier_answers(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 420})
    for question in ("Who built the anagama kiln?", "How many people does a firing need?"):
        _ask(page, question)
    window = page.get_by_test_id("stAppViewContainer")
    assert window.evaluate("each => [each.scrollTop, each.scrollHeight - each.clientHeight]") == [0, 0]


def test_an_abstention_under_a_filter_is_asked_again_without_it(page: Page) -> None:
    page.get_by_role("button", name="Search only in").click()
    expect(page.get_by_role("group", name="Until")).to_be_in_viewport()  # above the button, where it has room
    page.locator(".st-key-filter_document input").fill("glaze")
    page.keyboard.press("Enter")
    pill = page.locator(".st-key-no_filter_document")
    expect(pill).to_contain_text("Only glaze: leaves out")
    page.mouse.click(640, 60)
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    _ask(page, "Who built the anagama kiln?")
    expect(page.locator(".fn-answer")).to_contain_text("Only a part of the documents was searched, by document.")
    page.get_by_role("button", name="Search everything").click()
    expect(page.locator(".fn-answer")).to_have_count(2)
    expect(page.locator(".fn-answer").last).to_contain_text(BUILT)
    expect(pill).to_have_count(0)


def test_what_a_follow_up_took_is_a_chip_whose_cross_asks_it_as_it_stands(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    _ask(page, "Who built the anagama kiln?")
    _ask(page, "How often is it fired with larch?")
    chip = page.locator('[class*="st-key-alone_"]').get_by_role("button")
    expect(chip).to_contain_text("kiln")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    chip.click()
    expect(page.locator(".fn-answer")).to_have_count(3)
    expect(page.locator("h2.fn-question").last).to_have_text("How often is it fired with larch?")
    expect(chip).to_have_count(1)


def test_a_source_stands_over_the_sidebar_in_a_narrow_window(page: Page) -> None:
    page.set_viewport_size({"width": 800, "height": 800})
    _ask(page, "Who built the anagama kiln?")
    page.locator(".fn-chip").first.click()
    panel = page.locator(".fn-reader")
    expect(panel.locator("mark").first).to_be_in_viewport()
    at = "(([x, y]) => document.elementFromPoint(x, y)?.closest('.fn-reader') !== null)"
    assert page.evaluate(at, [790, 20])
    assert page.evaluate(at, [790, 780])
    page.mouse.click(20, 400)  # the backdrop
    expect(panel).to_have_count(0)


def test_an_answer_fits_a_telephone_and_its_source_is_a_sheet_of_two_heights(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    _ask(page, "Who built the anagama kiln?")
    page.locator(".fn-chip").first.click()
    panel = page.locator(".fn-reader")
    expect(panel.locator("mark").first).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    low = panel.bounding_box()
    assert low is not None
    assert 400 < low["height"] < 500
    panel.get_by_role("button", name="Higher or lower").click()
    expect(panel).to_have_css("height", f"{800 * 0.94:g}px")
    page.mouse.move(200, 600)
    page.mouse.wheel(0, 2000)
    panel.get_by_role("button", name="Close").click()
    page.set_viewport_size({"width": 320, "height": 400})
    page.locator(".fn-chip").first.click()
    expect(panel.locator("mark").first).to_be_in_viewport()
    top = "document.querySelector('{}').getBoundingClientRect().top"
    assert page.evaluate(f"{top.format('.fn-reader mark')} >= {top.format('.fn-reader-body')}"), (
        "its first line is seen"
    )


def test_a_dropped_file_can_be_asked_about_at_once(page: Page, tmp_path: Path) -> None:
    (tmp_path / "clay.md").write_text("# Clay\n\nFireclay from Prestonpans holds its shape until 1350 degrees.\n")
    page.locator('[data-testid="stChatInput"] input[type="file"]').set_input_files(tmp_path / "clay.md")
    expect(page.get_by_test_id("stChatInput")).to_contain_text("clay")
    _ask(page, "How hot may fireclay from Prestonpans get?")
    expect(page.locator(".fn-intake")).to_contain_text("clay.md added")
    expect(page.locator(".fn-words").first).to_contain_text("until 1350 degrees")


def test_the_library_lists_what_was_ingested(page: Page) -> None:
    page.get_by_role("link", name="Library").click()
    expect(
        page.get_by_text(f"{len(CORPUS)} documents").or_(page.get_by_text(f"{len(CORPUS) + 1} documents"))
    ).to_be_visible()


@pytest.mark.parametrize("header", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
def test_a_page_of_another_site_is_refused_without_asking_the_internet(
    live_chat: LiveChat, header: dict[str, str]
) -> None:
    address = urlsplit(live_chat.url)
    handshake = {
        "Host": address.netloc, "Origin": live_chat.url, "Connection": "Upgrade", "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "c2l4dGVlbiBieXRlcyEhIQ==",
    }  # fmt: skip
    connection = HTTPConnection(str(address.hostname), address.port, timeout=20)
    connection.request("GET", "/_stcore/stream", headers=handshake | header)
    assert connection.getresponse().status == 403
    connection.close()
    assert read_log(live_chat.log) == []
