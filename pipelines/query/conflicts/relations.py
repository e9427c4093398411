"""RELATIONS: what a sentence says that can be so in one way only: who led a thing, where it was, what it cost."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from pipelines.query.conflicts.hours import Hours, opening_hours
from pipelines.query.verification.agree import OPENERS, bare
from pipelines.query.verification.figures import levelled
from pipelines.store.tokens import tokenise
from pipelines.types import ConflictKind

# By the root of what one person does or is to a thing, the words that say so.
_DOING = {
    "lead": "leads led", "head": "heads headed", "manage": "manages managed", "direct": "directs directed",
    "chair": "chairs chaired", "found": "founded", "coordinate": "coordinates coordinated", "own": "owns owned",
    "supervise": "supervises supervised", "write": "wrote written", "invent": "invented", "sponsor": "sponsored",
}  # fmt: skip
_BEING = {
    "lead": "leader lead", "head": "head", "manage": "manager", "direct": "director", "found": "founder",
    "chair": "chair chairman chairwoman chairperson", "coordinate": "coordinator", "own": "owner",
    "supervise": "supervisor", "write": "author", "invent": "inventor", "sponsor": "sponsor",
    "preside": "president", "keep": "treasurer",
}  # fmt: skip
_PLACED = {"located": "seat", "based": "seat", "headquartered": "seat", "situated": "seat", "held": "event",
           "signed": "event", "born": "birth"}  # fmt: skip
_OFFICES = {
    "run": ("chief executive officer", "chief executive", "CEO"), "manage all": ("managing director",),
    "finances": ("chief financial officer", "CFO"), "operations": ("chief operating officer", "COO"),
    "technology": ("chief technology officer", "CTO"),
}  # fmt: skip
_SEATS = ("head office", "headquarters", "main office", "registered office")
_TITLES = {spelt: root for root, names in _OFFICES.items() for name in names for spelt in {name, name.title()}}
_SPOKEN = {word: root for table in (_DOING, _BEING) for root, words in table.items() for word in words.split()}
_ROOT = _SPOKEN | _TITLES | _PLACED | dict.fromkeys(_SEATS, "seat")


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_DOES = _any(word for words in _DOING.values() for word in words.split())
_ROLE = _any([*(word for words in _BEING.values() for word in words.split()), *_TITLES])
_NAME = (
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’-]+(?: (?:(?:van|von|de|da|der|den|la) )?[A-Z][\w'’-]+){0,3}"
    r"(?: (?:and|&) [A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})?"
)
_IS = r"(?:is|was|are|were|has been|had been)"
_AT = rf"{_IS} (?:located |based |situated )?in (?:the )?"
_DEFINITE = r"(?:(?:[Tt]he|[Oo]ur|[Ii]ts|[Tt]his) |(?=[A-Z]))[^,.;:]{2,60}"
_PATTERNS: tuple[tuple[ConflictKind, re.Pattern[str]], ...] = (
    ("person", re.compile(rf"(?P<thing>{_DEFINITE}?) {_IS} (?P<by>{_DOES}) by (?P<value>{_NAME})")),
    ("person", re.compile(rf"(?P<value>{_NAME}) (?P<by>{_DOES}) (?P<thing>{_DEFINITE})")),
    ("person", re.compile(rf"The (?P<by>{_ROLE}) (?:of|for) (?P<thing>{_DEFINITE}?) {_IS} (?P<value>{_NAME})")),
    ("person", re.compile(rf"The (?P<thing>[\w' -]{{2,40}}?)(?:'s)? (?P<by>{_ROLE}) {_IS} (?P<value>{_NAME})")),
    ("person", re.compile(rf"(?P<value>{_NAME}) {_IS} (?:the )?(?P<by>{_ROLE}) (?:of|for) (?P<thing>{_DEFINITE})")),
    ("person", re.compile(rf"\W*(?P<thing>(?:[\w-]+ ){{1,4}})(?P<by>{_ROLE}): ?(?P<value>{_NAME})")),
    ("person", re.compile(rf"(?P<thing>{_NAME})['’]s (?P<by>{_ROLE}) {_IS} (?P<value>{_NAME})")),
    ("person", re.compile(rf"(?P<value>{_NAME}), (?:the )?(?P<by>{_ROLE}) (?:of|for) (?P<thing>{_DEFINITE})")),
    ("place", re.compile(rf"(?P<thing>{_NAME})['’]s (?P<by>{_any(_SEATS)}) {_AT}(?P<value>{_NAME})")),
    ("place", re.compile(rf"The (?P<by>{_any(_SEATS)}) of (?P<thing>{_DEFINITE}?) {_AT}(?P<value>{_NAME})")),
    ("place", re.compile(rf"(?:The|Its|Our|Their) (?P<thing>(?P<by>{_any(_SEATS)})) {_AT}(?P<value>{_NAME})")),
    (
        "place",
        re.compile(
            rf"(?P<thing>{_DEFINITE}?) (?:has|have) (?:its|their|our|the) (?P<by>{_any(_SEATS)}) in (?P<value>{_NAME})"
        ),
    ),
    (
        "place",
        re.compile(rf"(?P<thing>{_DEFINITE}?) {_IS} (?P<by>{_any(_PLACED)}) (?:in|at) (?:the )?(?P<value>{_NAME})"),
    ),
    (
        "title",
        re.compile(
            rf"(?P<thing>{_NAME} joined {_NAME}) (?P<by>as) (?:an? |the )?(?P<value>[\w&/-]+(?: [\w&/-]+){{0,4}}?)"
            r"(?= (?:in|on|from|after|and|at)\b|[,.;]|$)"
        ),
    ),
    (
        "title",
        re.compile(
            rf"(?P<thing>{_NAME}) (?:is (?:an?|the)|(?:works|serves) as(?: an?| the)?)"
            rf" (?P<value>[\w&/-]+(?: [\w&/-]+){{0,4}}?) (?:at|for) (?P<of>{_NAME})"
        ),
    ),
    ("employer", re.compile(rf"(?P<thing>{_NAME}) (?:works|is employed) (?:at|for|by) (?P<value>{_NAME})")),
)  # fmt: skip
_MONEY = "budget|cost|price|revenue|turnover|salary|fee|grant|deposit|rent|funding|fine|loan"
_CURRENCY = "euros|dollars|pounds|francs|yen|rupees"
_LABEL = re.compile(rf"\b({_MONEY})s?\b", re.IGNORECASE)
_SUM = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?) ({_CURRENCY})\b")
_CUT = re.compile(
    r"[,.;:(]|\b(?:in|from|since|until|with|during|after|before|to|by|through|as|and|which|that|who|while|because|at|when)\b"
)
# It may have been so at one time only, or of a part only.
_PASSING = re.compile(
    r"\b(?:since|until|till|from|then|later|initially|originally|first|former(?:ly)?|previous(?:ly)?|new|interim|acting|co"
    r"|deputy|vice|now|currently|once|will|would|could|might|may|plan\w*|expect\w*|estimate\w*|target\w*|propos\w*|hope\w*"
    r"|not|never|no|if|over|under|above|below|than|least|most|almost|nearly|up|about|around|roughly|approximately"
    r"|some|per|each|every|average|requested|asked|wanted)\b|\?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CAPITALISED = re.compile(r"(?<!\w)[A-Z][\w'’-]*")
_LONGEST = 240
_OPEN = frozenset(tokenise("open opens opening opened hours hour daily"))


@dataclass(frozen=True, slots=True)
class Relation:
    """What one sentence says of one thing.

    Attributes:
        kind: Of what two sentences disagree that say another value.
        by: What the value is to the thing: its leader, its seat, its budget.
        thing: What it is said of, in index terms.
        named: Those of them that are capitalised.
        value: In index terms.
        said: The value as it stands.
        years: That the sentence names.
    """

    kind: ConflictKind
    by: str
    thing: frozenset[str]
    named: frozenset[str]
    value: frozenset[str]
    said: str
    years: frozenset[str]


@lru_cache(maxsize=4_096)
def relations(sentence: str) -> tuple[Relation, ...]:
    """What a sentence says so; nothing where it speaks of a time, a part, a plan or a doubt."""
    text = " ".join(levelled(bare(sentence)).split()).lstrip("-*•# ")
    if len(text) > _LONGEST:
        return ()
    if (opened := opening_hours(text)) is not None:
        hours, rest = opened
        return () if _PASSING.search(rest) else (_opened(hours, rest),)
    return () if _PASSING.search(text) else (*_named(text), *_sums(text))


def _opened(hours: Hours, rest: str) -> Relation:
    thing = _terms(rest) - _OPEN
    return Relation("number", "hours", thing, _names(rest[1:]), frozenset(hours.times), hours.said, _years(rest))


def _named(text: str) -> Iterator[Relation]:
    for kind, pattern in _PATTERNS:
        found = pattern.match(text)
        if found is None:
            continue
        thing = found["thing"] if kind == "title" else _CUT.split(found["thing"])[0]
        thing = _SEATS[0] if thing in _SEATS else thing
        value = frozenset(tokenise(found["value"]))
        opens = found["value"].split()[0].lower() if found.start("value") == 0 else ""
        if value and opens not in OPENERS and tokenise(thing):
            by = _ROOT.get(found.groupdict().get("by", ""), "")
            thing = f"{thing} {found.groupdict().get('of', '')}"
            inner = thing if kind in ("title", "place", "employer") else thing[1:]
            yield Relation(kind, by, _terms(thing), _names(inner), value, found["value"], _years(text))
            return


def _sums(text: str) -> Iterator[Relation]:
    """The one sum of money of a sentence with the one word for what it is."""
    sums, labels = _SUM.findall(text), _LABEL.findall(text)
    if len(sums) == 1 and len(labels) == 1:
        thing = _LABEL.sub(" ", _SUM.sub(" ", text))
        said = " ".join(sums[0])
        yield Relation(
            "number", labels[0].lower(), _terms(thing), _names(thing[1:]), frozenset(sums[0]), said, _years(text)
        )


def _terms(thing: str) -> frozenset[str]:
    return frozenset(tokenise(_YEAR.sub(" ", thing)))


def _names(thing: str) -> frozenset[str]:
    return frozenset(tokenise(" ".join(_CAPITALISED.findall(thing))))


def _years(text: str) -> frozenset[str]:
    return frozenset(_YEAR.findall(text))
