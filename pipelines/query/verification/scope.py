"""SCOPE: whether a claim says more than a passage: of all where that says of some, surely where that says perhaps."""

import re
from collections.abc import Iterator

from pipelines.store.tokens import tokenise

_SHARES = {
    "all": "all every each everyone everybody everything entire always whole both",
    "most": "most mostly usually mainly majority generally often frequently",
    "half": "half",
    "some": "some several sometimes partly occasionally certain",
    "few": "few rarely seldom hardly little",
}
_SHARE = {word: share for share, words in _SHARES.items() for word in words.split()}
_ALWAYS = frozenset(
    "always usually generally often frequently sometimes occasionally rarely seldom hardly never".split()
)
_OFTEN = {"always": 3, "usually": 2, "generally": 2, "often": 2, "frequently": 2, "sometimes": 1, "occasionally": 1}
_QUANTIFIED = re.compile(
    rf"\b({'|'.join(_SHARE)})\b(?! (?:more|less|than|other|later|time))((?:[ -][\w'’-]+){{1,4}})", re.IGNORECASE
)
_NEARLY = re.compile(r"\b(?:almost|nearly|not) $", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?:except|excepting|apart from|aside from|other than|but for|with the exception|excluding|all but|save for"
    r"|bar one|but (?:not )?the|but one)\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bonly (?:the|a|one|some|those)\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|every|everyone|everybody|everything|each)\b", re.IGNORECASE)
# What may be, with what it may be.
_UNSURE = re.compile(
    r"\b(?:may|might|could|perhaps|possibly|maybe|allegedly|reportedly|likely|rumou?red"
    r"|(?:plan(?:s|ned|ning)?|intend(?:s|ed)?|hope[sd]?|aim(?:s|ed)?|expect(?:s|ed)?|want(?:s|ed)?|seek(?:s|ing)?|sought"
    r"|tried|attempt(?:s|ed)?|failed|propose[sd]?)(?= to\b)|consider(?:s|ed|ing)?|propos(?:es?|ed|ing))\b"
    r"((?:[ -][\w'’-]+){1,4})",
    re.IGNORECASE,
)
_MONTH_OF_MAY = re.compile(r"\bMay\b")
_WORD = re.compile(r"[a-z]+")
_STEM = 4  # letters by which `build` and `built` are one


def overstated(claim: str, passage: str) -> bool:
    """Whether a claim has another share of the same things than a passage, leaves out its exception or its doubt."""
    return _shares_differ(claim, passage) or _leaves_out_exception(claim, passage) or is_surer(claim, passage)


def _shares_differ(claim: str, passage: str) -> bool:
    held: dict[str, set[str]] = {}
    for term, share in _shares(passage):
        held.setdefault(term, set()).add(share)
    differ = any(held.get(term) and share not in held[term] for term, share in _shares(claim))
    mine, theirs = (_ALWAYS.intersection(_WORD.findall(text.lower())) for text in (claim, passage))
    return differ or bool(
        mine and theirs and {_OFTEN.get(word, 0) for word in mine}.isdisjoint(_OFTEN.get(word, 0) for word in theirs)
    )


def _shares(text: str) -> Iterator[tuple[str, str]]:
    """(term, share) of what stands right after each word of a share: `most of the patients` -> (patient, most)."""
    for found in _QUANTIFIED.finditer(text):
        terms = [term for term in tokenise(found[2]) if not term[0].isdigit()]
        if terms:
            yield terms[0], "most" if _NEARLY.search(text[: found.start()][-12:]) else _SHARE[found[1].lower()]


def _leaves_out_exception(claim: str, passage: str) -> bool:
    if not _ALL.search(claim) or _EXCEPT.search(claim):
        return False
    some = bool(_ALL.search(passage) and _EXCEPT.search(passage))
    return some or bool(_ONLY.search(passage) and not _ALL.search(passage) and not _ONLY.search(claim))


def is_surer(claim: str, passage: str) -> bool:
    """Whether a passage says that something may be, or is planned, and a claim that it is or will be."""
    if _unsure(claim):
        return False
    said = {term[:_STEM] for term in tokenise(claim)}
    return any(not said.isdisjoint(doubted) for doubted in _unsure(passage))


def _unsure(text: str) -> list[set[str]]:
    """The first term after each word of doubt, by its beginning."""
    found = _UNSURE.finditer(_MONTH_OF_MAY.sub(" ", text))
    return [{term[:_STEM] for term in tokenise(doubt[1])[:1]} for doubt in found]
