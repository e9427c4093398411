"""FIT: does a sentence hold the kind of value that a question asks for?"""

import re
from collections.abc import Callable, Mapping

from pipelines.query.extraction.aim import Aim, Kind
from pipelines.query.verification.agree import OPENERS
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold

# Kinds that ask for a value which a line either holds or does not.
EXACT = frozenset[Kind]({"money", "share", "duration", "count", "when", "who"})
_LONGEST = 1_200  # characters of a sentence that are read
_SHORT = 6  # words
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATE = re.compile(
    rf"\b(?:1[89]|20)\d\d\b|\b\d\d? {_MONTH}\b|\b{_MONTH} \d|\b\d\d?:\d\d\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:yesterday|today|midnight|noon)\b"
)
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half twice once "
    "dozen none no"
)
_NUMBER = re.compile(rf"\d+(?:[.,:]\d+)*|\b(?:{'|'.join(_NUMBER_WORDS.split())})\b")
_TIME = re.compile(
    r"\b(?:seconds?|minutes?|hours?|weeks?|months?|years?|nights?|evenings?|yearly|daily|weekly|monthly|percent|always"
    r"|never|every|each|once|twice|\w*days?)\b|%"
)
_MONEY = re.compile(
    r"[£$€¥]\s?\d|\d\s?(?:pence|pounds|euros?|dollars?|cents?|kroner|kronor|usd|eur|gbp|nok|sek)\b"
    r"|\b(?:no fee|unpaid|free of charge)\b|\b(?:price|cost|fee|salary|wage)s?(?: \w+){0,2}: \d"
)
_SHARE = re.compile(
    r"percent|per cent|%|\b(?:half|third|quarter|tenth)\b|\bfrom .{0,40}\d.{0,20} to |\d (?:of|out of|in) (?:the )?\d"
)
_REASON = re.compile(
    r"\b(?:because|since|so|therefore|thus|hence|reasons?|due to|owing to|as a result|caus\w+|mistakes?|fault|afraid"
    r"|fear|wanted|would|could|should|worth|better|harder|too|instead|meant|means|needed|never"
    r"|not|no)\b"
)
_NAME = re.compile(r"(?<![.!?:|•\n] )(?<!^)\b[A-Z][\w&.'’-]*")
_PERSON = re.compile(
    r"\b[A-Z][a-zà-ÿ]+(?: (?:van|von|de|der|den|di|du|la|al|bin) )? ?(?:[A-Z][.] )?[A-Z][a-zà-ÿ'’-]+"
    r"|\b(?:named|called|colleague|by|with|ask|asked|name is|friend|brother|sister|mentor),? [A-Z][a-zà-ÿ'’-]+"
)
_SUBJECT = re.compile(r"[A-Z][a-zà-ÿ'’-]+(?= [a-z])")
_NO_PERSON = frozenset(
    tokenise(
        """university college school institute academy systems system company software
        engineer engineering science sciences bachelor master certified architect administrator january
        february march april may june july august september october november december monday tuesday wednesday thursday
        friday saturday sunday"""
    )
)
_COMPARED = re.compile(r"\b(?:than|more|less|most|better|worse|prefer\w*|alone|against|versus|both|while|\w+er)\b|\d")


def fits(kind: Kind, sentence: str, asked: frozenset[str]) -> bool:
    """Whether a sentence holds a value of the kind that the question does not give itself.

    Args:
        kind: What is asked for; for kinds that leave it open, every sentence does.
        sentence: Text without markup.
        asked: The index terms of the question: what stands there already is no answer.
    """
    text = sentence[:_LONGEST]
    held = _HELD.get(kind)
    return held is None or held(text, asked)


def fit(aim: Aim, sentence: str) -> float:
    """1 where a sentence holds what is asked for, 0 where it does not, 0.5 where the kind leaves it open.

    A single name that a sentence begins with may be a person's.
    """
    if aim.kind in ("what", "how", "yes-no") or not aim.focus:
        return 0.5
    if aim.kind == "who" and not fits("who", sentence, aim.terms):
        return 0.5 * _may_name(sentence[:_LONGEST], aim.terms)
    return float(fits(aim.kind, sentence, aim.terms))


def _has_number(text: str, asked: frozenset[str]) -> bool:
    return any(number not in asked for number in _NUMBER.findall(fold(text)))


def _has_date(text: str, asked: frozenset[str]) -> bool:
    return any(not asked.issuperset(tokenise(date) or [""]) for date in _DATE.findall(fold(text)))


def _has_person(text: str, asked: frozenset[str]) -> bool:
    found = (frozenset(tokenise(name)) for name in _PERSON.findall(text))
    return any(not asked.issuperset(name) and _NO_PERSON.isdisjoint(name) for name in found)


def _may_name(text: str, asked: frozenset[str]) -> bool:
    """Whether a sentence begins with a name on its own (`Ann built`): no usual first word, and not asked about."""
    first = _SUBJECT.match(text)
    name = frozenset(tokenise(first[0])) if first and first[0].lower() not in OPENERS else frozenset()
    return bool(name) and not asked.issuperset(name) and _NO_PERSON.isdisjoint(name)


def _has_name(text: str, asked: frozenset[str]) -> bool:
    said = f"a {text}" if len(text.split()) <= _SHORT else text  # a name on its own begins its line
    names = (name for name in _NAME.findall(said) if fold(name) not in STOP_WORDS)
    return any(not asked.issuperset(tokenise(name)) for name in names)


def _has_share(text: str, asked: frozenset[str]) -> bool:
    return bool(_SHARE.search(fold(text))) and _has_number(text, asked)


def _has_time(text: str, asked: frozenset[str]) -> bool:
    return bool(_TIME.search(fold(text))) and _has_number(text, asked)


# What an answer of a kind must hold; any line may be one of another kind.
_HELD: Mapping[Kind, Callable[[str, frozenset[str]], bool]] = {
    "why": lambda text, _: bool(_REASON.search(fold(text))),
    "money": lambda text, _: bool(_MONEY.search(fold(text))),
    "share": _has_share,
    "duration": _has_time,
    "when": _has_date,
    "count": _has_number,
    "who": _has_person,
    "where": _has_name,
    "which": _has_name,
    "comparison": lambda text, _: bool(_COMPARED.search(fold(text))),
}
