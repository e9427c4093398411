"""Values of a kind in a text."""

import json
import time

import pytest

from data import make_currencies
from pipelines.query.values import holds, values_in
from pipelines.store.tokens import tokenise


def found(text: str) -> list[tuple[str, str]]:
    return [(value.kind, value.text) for value in values_in(text)]


@pytest.mark.parametrize(
    "amount",
    [
        "CHF 95,000", "₹18 lakh", "12 000 zł", "4 million yen", "32 kr", "kr 500", "NOK 2.400.000", "1.2 million zloty",
        "300 Swiss francs", "3 crore rupees", "$1.2m", "2m dollars", "Rs. 500", "50 €", "12 pence", "1'200 francs",
        "twelve thousand pesos", "350 Kč", "90k EUR", "500 usd",
    ],
)  # fmt: skip
def test_an_amount_of_any_currency_is_money(amount: str) -> None:
    (value,) = (value for value in values_in(f"They agreed on {amount}.") if value.kind == "money")
    assert value.text == amount


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("length", "212 metres"), ("length", "90 m"), ("length", "62 feet"), ("length", "90-metre"),
        ("length", "3,400 nautical miles"), ("extent", "310 pages"), ("time", "two and a half years"),
        ("time", "half an hour"), ("time", "a week"), ("time", "2:31:05"), ("time", "45min"), ("storage", "5GB"),
        ("area", "12 square metres"), ("area", "40 ha"), ("volume", "300 litres"), ("weight", "3.1 tonnes"),
        ("temperature", "1,240 °C"), ("temperature", "215 degrees"), ("speed", "90 km/h"), ("share", "61 per cent"),
        ("share", "12 %"), ("share", "two thirds"), ("measure", "40 kW"), ("number", "nine"), ("number", "1,200"),
        ("recurrence", "weekly"), ("recurrence", "Mondays"),
    ],
)  # fmt: skip
def test_a_value_has_the_kind_of_its_unit(kind: str, value: str) -> None:
    assert (kind, value) in found(f"It was {value}, they say.")


def test_a_span_is_the_text_of_the_value() -> None:
    text = "A ticket is £12 and the ride 3 km long."
    values = values_in(text)
    assert [(value.kind, value.text) for value in values] == [("money", "£12"), ("length", "3 km")]
    assert all(text[value.start : value.end] == value.text for value in values)


@pytest.mark.parametrize(
    "text",
    ["built in 2014", "on 14 March", "the 12th", "GPT-4 and H7", "v2.4.1", "2019-05-12", "at 04:10", "the 1980s",
     "a second boat", "12/05/2019"],
)  # fmt: skip
def test_dates_clock_times_ordinals_and_numbers_in_names_are_no_values(text: str) -> None:
    assert found(text) == []


def test_a_number_beside_a_word_of_money_is_an_amount_unless_it_counts_something() -> None:
    assert ("money", "95k") in found("The salary of the baker is 95k a year.")
    assert found("The project cost 3 engineers their sleep.") == [("number", "3")]
    assert found("There were 95k in the square.") == [("number", "95k")]


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        ("money", "It is free of charge.", "It is 12 cm long."),
        ("duration", "It is 40 yards.", "It went on and on in 2014."),
        ("duration", "It went on for six weeks.", "It has 9 doors."),
        ("share", "It fell from 97 to 43.", "It fell in 97 villages."),
        ("share", "Three of the seven held.", "Seven crates held."),
        ("count", "There are no cranes.", "There are cranes since 2014."),
        ("weight", "It weighs 3 t.", "It has 3 doors."),
    ],
)
def test_a_text_holds_a_kind(kind: str, yes: str, no: str) -> None:
    assert (holds(kind, yes, frozenset()), holds(kind, no, frozenset())) == (True, False)


def test_a_value_of_the_question_is_no_answer_to_it() -> None:
    asked = frozenset(tokenise("How long did the 12 m mast lie there?"))
    assert not holds("duration", "The 12 m mast lay there.", asked)
    assert holds("duration", "The 12 m mast lay there for 3 days.", asked)


def test_a_question_for_years_is_answered_by_a_time_only() -> None:
    asked = frozenset(tokenise("How many years did it lie there?"))
    assert not holds("duration", "It is 12 m long.", asked)
    assert holds("duration", "It lay there for 3 months.", asked)


@pytest.mark.parametrize("piece", ["1 ", "one and ", "from 3 ", "£", "a ", "12 000 ", "1.2.", "$1k-"])
def test_long_hostile_texts_are_read_in_linear_time(piece: str) -> None:
    started = time.process_time()
    values_in(piece * 5_000)
    assert time.process_time() - started < 0.5


def test_the_stored_currencies_are_those_of_babel() -> None:
    assert json.loads(make_currencies.FILE.read_text("utf-8")) == make_currencies.currencies()
