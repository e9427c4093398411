"""What a question asks for and a unit only mentions."""

import pytest

from pipelines.query.missing import MISSING, missing_of
from pipelines.query.question.form import classify_question
from pipelines.query.question.understand import analyse
from pipelines.query.quotable_units import quotable_units
from tests.unit.query.builders import source


def lacks(question: str, text: str) -> set[str]:
    (unit,) = quotable_units([source(1, text)])
    missing = missing_of(classify_question(analyse(question)), unit)
    return {name for name, is_missing in zip(MISSING, missing, strict=True) if is_missing}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which freight company wanted to hire Ann?", "Ann was asked by a freight company. They paid well."),
        ("What's the harbour ferry called?", "She played on a harbour ferry in May."),
        ("name of the client who asked for it", "It was Ann who wrote it for one client."),
        ("What is the bank that lent the money called?", "The money came from our bank in Oslo."),
        ("Which editors read it?", "Ann had it read by two editors."),
        ("Which company made it?", "It was made by a company/agency in the north."),
    ],
)
def test_a_thing_that_is_only_pointed_at_has_no_name(question: str, text: str) -> None:
    assert "unnamed" in lacks(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which freight company wanted to hire Ann?", "Ann was asked by a freight company, Tidewell, twice."),
        ("What's the harbour ferry called?", "She played on the harbour ferry Solan in May."),
        ("Which bank lent the money?", "The money came from the Tidewell bank."),
        ("What is the client called?", "It was written for a client called Brook."),
        ("Which one was it in the end?", "In the end it was the third one."),
        ("Why did the company leave?", "It was a company in Oslo."),
        ("Which port must be open?", "The port 8443 must be open."),
        ("Which template gives the port?", "The template `{{ .Values.port }}` gives the port."),
        ("Which file holds the ports?", "The file ~/.ferry/ports.toml holds them."),
    ],
)
def test_a_thing_with_a_name_beside_it_and_a_question_for_no_name_are_answered(question: str, text: str) -> None:
    assert "unnamed" not in lacks(question, text)


@pytest.mark.parametrize(
    "question",
    ["How much is a seat?", "Her day rate as a designer?", "What did Brook pay you?", "What's the fee for a review?"],
)
def test_a_price_is_money(question: str) -> None:
    assert "priceless" in lacks(question, "A seat at Brook is for 12 people, two days a year.")
    assert "priceless" not in lacks(question, "A seat at Brook is 95 EUR.")


def test_a_budget_is_no_salary() -> None:
    assert "priceless" in lacks("What's her salary at Brook?", "Leads Brook with a budget of EUR 2 million.")
    assert "priceless" not in lacks("What's her salary at Brook?", "Brook pays her EUR 61,000 a year.")


def test_what_is_no_price_needs_no_money() -> None:
    assert lacks("How much faster is it?", "It is twice as fast.") == set()
    assert lacks("By how much did the bill fall?", "It shrank by 4 percent.") == set()
    assert lacks("How much does the hive weigh?", "The hive weighs 41.6 kg when full.") == set()
    assert lacks("Who signs the budget?", "The budget is signed by Marta.") == set()
