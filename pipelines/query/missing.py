"""MISSING: what a question asks for and a unit only mentions: a thing that has no name there, a price without money."""

from pipelines.query.question.form import QuestionType, holds_kind
from pipelines.query.question.words import QuestionWord, read, words
from pipelines.query.quotable_units import QuotableUnit
from pipelines.store.tokens import tokenise

MISSING = ("unnamed", "priceless")
_MOST_WORDS = 3  # before a thing, one of which points at it
_JOINTS = frozenset("\"'“‘(,: ")  # signs that may stand between a thing and its name
_CODE = frozenset("{<$/")  # signs before a name that needs no capital (the file ~/.ferry/ports)


def missing_of(wanted: QuestionType, unit: QuotableUnit) -> tuple[bool, bool]:
    """True for each of the MISSING that a unit lacks.

    - `unnamed`: a name is asked for, and the unit has the thing without one ("a delivery company", "our client").
    - `priceless`: a price or pay is asked for, and the unit has no money.
    """
    return (
        bool(wanted.named_things) and _is_unnamed(unit.text, wanted.named_things),
        wanted.asks_price and not any(_is_price(part.text, wanted, unit) for part in unit.parts),
    )


def _is_price(text: str, wanted: QuestionType, unit: QuotableUnit) -> bool:
    """True for money; where pay is asked for, beside a word of pay or of its time: a budget is no salary."""
    around = f"{unit.lead_text} {' '.join(unit.headings[-1:])} {text}"
    is_paid = not wanted.asks_pay or read(around).has("pay")
    return is_paid and holds_kind("money", text, wanted.terms)


def _is_unnamed(text: str, things: frozenset[str]) -> bool:
    """True if a text points at one of the things, and has none with a name beside it."""
    said = read(text)
    is_pointed_at = False
    for at, word in enumerate(said.words):
        if things.isdisjoint(tokenise(word.text)):
            continue
        before, after = said.words[max(at - _MOST_WORDS, 0) : at], said.words[at + 1 : at + 3]
        if after and after[0].text in words("calling"):
            after = after[1:]
        is_told_of = len(after) > 1 and after[0].text in ("in", "of") and not after[1].is_capital  # a degree in welding
        if is_told_of or (at > 1 and before[-1].is_capital) or (after and _is_name(after[0])):
            return False
        is_pointed_at |= any(one.text in words("determiners") for one in before)
    return is_pointed_at


def _is_name(word: QuestionWord) -> bool:
    """True for a word with a capital, a number or a version (port 8443), and for code, right after what it names."""
    is_named = word.is_capital or word.typed[:1].isdigit()
    is_code = not _CODE.isdisjoint(word.before) and word.before.strip() != "/"  # as in "company/agency"
    return is_code or (is_named and _JOINTS.issuperset(word.before))
