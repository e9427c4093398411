"""The statements of one sentence in comparable form: dates, amounts, and relations that hold in one way only."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pipelines.answers import ConflictKind
from pipelines.query.verification.normalise import MONTHS, SENTENCE_OPENERS, any_of, normalise_figures, strip_markup
from pipelines.store.tokens import tokenise

_DATE = re.compile(
    rf"(?<![\w./])(?:(?:(\d{{1,2}}) )?({'|'.join(MONTHS)})(?: (\d{{1,2}}))?,? )?((?:19|20)\d\d)(?![\w%/]|[.,]\d)"
)
_UNTIL_NOW = re.compile(r"\s*(?:-|–|—|to|until|till)\s*(?:present|now|today|current)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:-|–|—|to|until|till|through|and)\s*", re.IGNORECASE)
_ROLES = {
    "start": re.compile(r"\b(?:since|from|starting(?: in)?|beginning(?: in)?) $", re.IGNORECASE),
    "end": re.compile(r"\b(?:until|till|through|to) $", re.IGNORECASE),
    "before": re.compile(r"\b(?:before|by) $", re.IGNORECASE),
    "after": re.compile(r"\bafter $", re.IGNORECASE),
}
_NUMBER = re.compile(r"(?<![\w.#/-])\d+(?:\.\d+)?(?![\w/]|\.\d|-\d)")
_UNIT = re.compile(r"[ -]([^\W\d]+)(?:[ -]([^\W\d]+))?")
_WORD_BEFORE = re.compile(r"([^\W\d_]+) $")
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|circa|some|almost|nearly|approx\.?)|~) ?$", re.IGNORECASE
)
_BOUND = re.compile(r"\b(?:over|under|than|least|most|to|above|below|exceeding|nearly|almost) $", re.IGNORECASE)
_LABELS = frozenset(
    "version section chapter part page figure table step phase no number room level grade release rfc issue ticket"
    " volume act article line item day week sprint season round task question rank place appendix".split()
)
_NAME = re.compile(r"\b[A-Z][\w&'’-]*")
_QUALIFIED = re.compile(r"\b(?:in|at|for|of|from|on|to|with|near|under|during|within) (?:the )?([A-Z][\w&'’-]*)")
_DEFINITE = re.compile(r"\b(?:the|our|its|her|his|their|my) +(\w+)(?: (\w+))?", re.IGNORECASE)
_LEAD_IN = re.compile(r"\W*(?:in +)?", re.IGNORECASE)
_SUBJECT = re.compile(r"\W*([A-Z]\w*[^\Ws]) +(?:is|are|was|were|(\w+))\b")
_PAST_VERB = re.compile(
    r"(?:\w+ed|led|built|ran|won|cut|wrote|grew|made|held|gave|sold|drove|taught|had|has|saw|took)", re.IGNORECASE
)
HEDGED = re.compile(
    r"\b(?:will|would|could|might|may be|should|plan|plans|planned|planning|expect|expected|expects|estimate|estimated"
    r"|estimates|target|targets|goal|goals|aim|aims|budget|forecast|if|unless|originally|initially|hoped|proposed"
    r"|per cent of the|rumou?red|allegedly|example|e\.g)\b|\?",
    re.IGNORECASE,
)
DENIED = re.compile(r"\b(?:no|not|never|none|nobody|nothing|without|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
# Index terms that say that the same happened.
_SAME = {
    "began": "start", "begun": "start", "begin": "start", "commenc": "start", "establish": "found", "inaugur": "open",
    "finish": "end", "conclud": "end", "construct": "built", "shut": "close",
}  # fmt: skip
_LONGEST = 400

Date = tuple[str, str, str]  # year, month, day; the later ones may be empty


@dataclass(frozen=True, slots=True)
class DateReference:
    """A date with its role (`at`, `start`, `end`, `before`, `after`, `open`), or a range of two dates."""

    role: str
    first: Date
    last: Date | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """A number; `rough` if the sentence calls it approximate."""

    value: float
    said: str
    rough: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence in comparable form.

    Attributes:
        terms: Its index terms without dates and amounts.
        names: Terms of its capitalised words, except a first word that may be no name.
        opening: Terms of its first word, which may be a name.
        qualifying: Names after a preposition.
        definite: Terms after `the` or a possessive.
        subject: The definite terms that open the sentence.
        when: Its date or range.
        amounts: Numbers by the term that they count.
        labels: Numbers that name something: a version, a page.
        denies: True if it has a negation.
    """

    terms: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    qualifying: frozenset[str]
    definite: frozenset[str]
    subject: frozenset[str]
    when: DateReference | None
    amounts: Mapping[str, Amount]
    labels: frozenset[str]
    denies: bool


@lru_cache(maxsize=4_096)
def parse_statement(sentence: str) -> Statement | None:
    """A sentence in comparable form; None for plans, questions and lists of dates or numbers."""
    text = " ".join(normalise_figures(strip_markup(sentence)).split())
    if len(text) > _LONGEST or HEDGED.search(text):
        return None
    dated = _date_reference(text)
    if dated is None:
        return None
    when, text = dated
    counted = _amounts(text)
    if counted is None:
        return None
    amounts, labels, rest = counted
    first = rest.split(" ", 1)[0] if rest else ""
    inner = rest if _opens_with_a_name(rest) else rest[len(first) :]
    lead = _LEAD_IN.match(rest)
    subject = _DEFINITE.match(rest, lead.end() if lead else 0)
    return Statement(
        terms=frozenset(_SAME.get(term, term) for term in tokenise(rest)),
        names=_terms(_NAME.findall(inner)),
        opening=_terms(_NAME.findall(first)),
        qualifying=_terms(_QUALIFIED.findall(rest)),
        definite=_terms(word for pair in _DEFINITE.findall(rest) for word in pair if word),
        subject=_terms(filter(None, subject.groups())) if subject else frozenset(),
        when=when,
        amounts=amounts,
        labels=labels,
        denies=bool(DENIED.search(rest)),
    )


def _terms(words: object) -> frozenset[str]:
    return frozenset(tokenise(" ".join(words)))  # type: ignore[arg-type]


def _date_reference(text: str) -> tuple[DateReference | None, str] | None:
    """(the only date or range, the text without it); None if there are several."""
    found = list(_DATE.finditer(text))
    if not found:
        return None, text
    first, last = found[0], found[-1]
    if len(found) == 2 and _BETWEEN.fullmatch(text[first.end() : last.start()]):
        return DateReference("range", _date(first), _date(last)), f"{text[: first.start()]} {text[last.end() :]}"
    if len(found) > 1:
        return None
    before, after = text[: first.start()], text[first.end() :]
    if going_on := _UNTIL_NOW.match(after):
        return DateReference("open", _date(first)), f"{before} {after[going_on.end() :]}"
    role = next((name for name, pattern in _ROLES.items() if pattern.search(before[-20:])), "at")
    return DateReference(role, _date(first)), f"{before} {after}"


def _date(found: re.Match[str]) -> Date:
    day, month, other_day, year = found.groups()
    return year, month or "", (day or other_day or "").lstrip("0")


def _amounts(text: str) -> tuple[dict[str, Amount], frozenset[str], str] | None:
    """(amounts by what they count, numbers that are names, the text without amounts); None for a list of numbers."""
    amounts: dict[str, Amount] = {}
    labels: set[str] = set()
    rest, done = [], 0
    for number in _NUMBER.finditer(text):
        before, unit = text[: number.start()], _UNIT.match(text, number.end())
        word = _WORD_BEFORE.search(before[-30:])
        counted = tokenise(" ".join(filter(None, unit.groups()))) if unit else []
        if not counted or (word and _is_named_by(word[1], first=len(before) == len(word[0]))):
            labels.add(number[0])
            continue
        if counted[0] in amounts or _BOUND.search(before[-12:]) or text[number.end() :][:1] == "+":
            return None
        rough = bool(_ROUGHLY.search(before[-16:]))
        amounts[counted[0]] = Amount(float(number[0]), number[0], rough)
        rest.append(text[done : number.start()])
        done = number.end()
    return None if len(amounts) > 3 else (amounts, frozenset(labels), "".join([*rest, text[done:]]))


def _is_named_by(word: str, *, first: bool) -> bool:
    """True if a number names what stands before it (`version 2`, `Python 3`) and is no amount."""
    if word.casefold() in _LABELS:
        return True
    return word[0].isupper() and bool(tokenise(word)) and not (first and _PAST_VERB.fullmatch(word))


def _opens_with_a_name(text: str) -> bool:
    """True if the first word must be a name: it is the subject of a verb and has no article."""
    found = _SUBJECT.match(text)
    return bool(found and tokenise(found[1]) and (not found[2] or _PAST_VERB.fullmatch(found[2])))


_TIME = r"(\d{1,2})(?:[:.](\d\d))? ?([ap]\.?m\b\.?)?"
_HOURS = re.compile(rf"(?:\bfrom )?(?<![\w.:]){_TIME} ?(?:-|–|—|to|until|till) ?{_TIME}(?![\w:]|\.\d)", re.IGNORECASE)
_OPENING_WORDS = re.compile(r"\b(?:open(?:s|ing)?|hours)\b", re.IGNORECASE)


class OpeningHours(NamedTuple):
    """Opening hours in the words of the sentence, and as `HH:MM` times."""

    said: str
    times: tuple[str, str]


def opening_hours(text: str) -> tuple[OpeningHours, str] | None:
    """(the opening hours of a sentence, the sentence without them); None without hours, or with several."""
    if not _OPENING_WORDS.search(text):
        return None
    found = list(_HOURS.finditer(text))
    if len(found) != 1:
        return None
    first, last = found[0].groups()[:3], found[0].groups()[3:]
    if not any((first[1], first[2], last[1], last[2])):
        return None
    times = _clock_time(*first, half=first[2] or ""), _clock_time(*last, half=last[2] or "")
    rest = f"{text[: found[0].start()]} {text[found[0].end() :]}"
    return OpeningHours(found[0].group().strip(), times), " ".join(rest.split())


def _clock_time(hour: str, minute: str | None, _: str | None, *, half: str) -> str:
    counted = int(hour) % 12 + 12 * half.lower().startswith("p") if half else int(hour)
    return f"{counted:02d}:{minute or '00'}"


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
_ROLE_WORDS = {word: root for table in (_DOING, _BEING) for root, words in table.items() for word in words.split()}
_ROOT = _ROLE_WORDS | _TITLES | _PLACED | dict.fromkeys(_SEATS, "seat")
_ACTING = any_of(word for words in _DOING.values() for word in words.split())
_ROLE = any_of([*(word for words in _BEING.values() for word in words.split()), *_TITLES])
_NAMED = (
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’-]+(?: (?:(?:van|von|de|da|der|den|la) )?[A-Z][\w'’-]+){0,3}"
    r"(?: (?:and|&) [A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})?"
)
_TO_BE = r"(?:is|was|are|were|has been|had been)"
_IS_IN = rf"{_TO_BE} (?:located |based |situated )?in (?:the )?"
_THING = r"(?:(?:[Tt]he|[Oo]ur|[Ii]ts|[Tt]his) |(?=[A-Z]))[^,.;:]{2,60}"
_PATTERNS: tuple[tuple[ConflictKind, re.Pattern[str]], ...] = (
    ("person", re.compile(rf"(?P<thing>{_THING}?) {_TO_BE} (?P<by>{_ACTING}) by (?P<value>{_NAMED})")),
    ("person", re.compile(rf"(?P<value>{_NAMED}) (?P<by>{_ACTING}) (?P<thing>{_THING})")),
    ("person", re.compile(rf"The (?P<by>{_ROLE}) (?:of|for) (?P<thing>{_THING}?) {_TO_BE} (?P<value>{_NAMED})")),
    ("person", re.compile(rf"The (?P<thing>[\w' -]{{2,40}}?)(?:'s)? (?P<by>{_ROLE}) {_TO_BE} (?P<value>{_NAMED})")),
    ("person", re.compile(rf"(?P<value>{_NAMED}) {_TO_BE} (?:the )?(?P<by>{_ROLE}) (?:of|for) (?P<thing>{_THING})")),
    ("person", re.compile(rf"\W*(?P<thing>(?:[\w-]+ ){{1,4}})(?P<by>{_ROLE}): ?(?P<value>{_NAMED})")),
    ("person", re.compile(rf"(?P<thing>{_NAMED})['’]s (?P<by>{_ROLE}) {_TO_BE} (?P<value>{_NAMED})")),
    ("person", re.compile(rf"(?P<value>{_NAMED}), (?:the )?(?P<by>{_ROLE}) (?:of|for) (?P<thing>{_THING})")),
    ("place", re.compile(rf"(?P<thing>{_NAMED})['’]s (?P<by>{any_of(_SEATS)}) {_IS_IN}(?P<value>{_NAMED})")),
    ("place", re.compile(rf"The (?P<by>{any_of(_SEATS)}) of (?P<thing>{_THING}?) {_IS_IN}(?P<value>{_NAMED})")),
    ("place", re.compile(rf"(?:The|Its|Our|Their) (?P<thing>(?P<by>{any_of(_SEATS)})) {_IS_IN}(?P<value>{_NAMED})")),
    (
        "place",
        re.compile(
            rf"(?P<thing>{_THING}?) (?:has|have) (?:its|their|our|the) (?P<by>{any_of(_SEATS)}) in (?P<value>{_NAMED})"
        ),
    ),
    (
        "place",
        re.compile(rf"(?P<thing>{_THING}?) {_TO_BE} (?P<by>{any_of(_PLACED)}) (?:in|at) (?:the )?(?P<value>{_NAMED})"),
    ),
    (
        "title",
        re.compile(
            rf"(?P<thing>{_NAMED} joined {_NAMED}) (?P<by>as) (?:an? |the )?(?P<value>[\w&/-]+(?: [\w&/-]+){{0,4}}?)"
            r"(?= (?:in|on|from|after|and|at)\b|[,.;]|$)"
        ),
    ),
    (
        "title",
        re.compile(
            rf"(?P<thing>{_NAMED}) (?:is (?:an?|the)|(?:works|serves) as(?: an?| the)?)"
            rf" (?P<value>[\w&/-]+(?: [\w&/-]+){{0,4}}?) (?:at|for) (?P<of>{_NAMED})"
        ),
    ),
    ("employer", re.compile(rf"(?P<thing>{_NAMED}) (?:works|is employed) (?:at|for|by) (?P<value>{_NAMED})")),
)  # fmt: skip
_MONEY = "budget|cost|price|revenue|turnover|salary|fee|grant|deposit|rent|funding|fine|loan"
_CURRENCY = "euros|dollars|pounds|francs|yen|rupees"
_LABEL = re.compile(rf"\b({_MONEY})s?\b", re.IGNORECASE)
_SUM = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?) ({_CURRENCY})\b")
_THING_END = re.compile(
    r"[,.;:(]|\b(?:in|from|since|until|with|during|after|before|to|by|through|as|and|which|that|who|while|because|at|when)\b"
)
# It may have been so at one time only, or of a part only.
_QUALIFIER = re.compile(
    r"\b(?:since|until|till|from|then|later|initially|originally|first|former(?:ly)?|previous(?:ly)?|new|interim|acting|co"
    r"|deputy|vice|now|currently|once|will|would|could|might|may|plan\w*|expect\w*|estimate\w*|target\w*|propos\w*|hope\w*"
    r"|not|never|no|if|over|under|above|below|than|least|most|almost|nearly|up|about|around|roughly|approximately"
    r"|some|per|each|every|average|requested|asked|wanted)\b|\?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CAPITALISED = re.compile(r"(?<!\w)[A-Z][\w'’-]*")
_LONGEST_RELATION = 240
_OPENING_TERMS = frozenset(tokenise("open opens opening opened hours hour daily"))


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that one sentence states.

    Attributes:
        kind: The kind of conflict if another sentence gives another value.
        by: The relation of the value to the thing: its leader, its seat, its budget.
        thing: Index terms of the thing.
        named: The capitalised ones of them.
        value: Index terms of the value.
        said: The value as it stands.
        years: The years in the sentence.
    """

    kind: ConflictKind
    by: str
    thing: frozenset[str]
    named: frozenset[str]
    value: frozenset[str]
    said: str
    years: frozenset[str]


@lru_cache(maxsize=4_096)
def find_relations(sentence: str) -> tuple[Relation, ...]:
    """The relations of a sentence; none if it is limited to a time, a part, a plan or a doubt."""
    text = " ".join(normalise_figures(strip_markup(sentence)).split()).lstrip("-*•# ")
    if len(text) > _LONGEST_RELATION:
        return ()
    if (opened := opening_hours(text)) is not None:
        hours, rest = opened
        return () if _QUALIFIER.search(rest) else (_hours_relation(hours, rest),)
    return () if _QUALIFIER.search(text) else (*_named_relation(text), *_sum_relation(text))


def _hours_relation(hours: OpeningHours, rest: str) -> Relation:
    thing = _thing_terms(rest) - _OPENING_TERMS
    return Relation("number", "hours", thing, _names(rest[1:]), frozenset(hours.times), hours.said, _years(rest))


def _named_relation(text: str) -> Iterator[Relation]:
    for kind, pattern in _PATTERNS:
        found = pattern.match(text)
        if found is None:
            continue
        thing = found["thing"] if kind == "title" else _THING_END.split(found["thing"])[0]
        thing = _SEATS[0] if thing in _SEATS else thing
        value = frozenset(tokenise(found["value"]))
        opens = found["value"].split()[0].lower() if found.start("value") == 0 else ""
        if value and opens not in SENTENCE_OPENERS and tokenise(thing):
            by = _ROOT.get(found.groupdict().get("by", ""), "")
            thing = f"{thing} {found.groupdict().get('of', '')}"
            inner = thing if kind in ("title", "place", "employer") else thing[1:]
            yield Relation(kind, by, _thing_terms(thing), _names(inner), value, found["value"], _years(text))
            return


def _sum_relation(text: str) -> Iterator[Relation]:
    """The relation of a sentence with exactly one sum of money and one word for its kind."""
    sums, labels = _SUM.findall(text), _LABEL.findall(text)
    if len(sums) == 1 and len(labels) == 1:
        thing = _LABEL.sub(" ", _SUM.sub(" ", text))
        said = " ".join(sums[0])
        yield Relation(
            "number", labels[0].lower(), _thing_terms(thing), _names(thing[1:]), frozenset(sums[0]), said, _years(text)
        )


def _thing_terms(thing: str) -> frozenset[str]:
    return frozenset(tokenise(_YEAR.sub(" ", thing)))


def _names(thing: str) -> frozenset[str]:
    return frozenset(tokenise(" ".join(_CAPITALISED.findall(thing))))


def _years(text: str) -> frozenset[str]:
    return frozenset(_YEAR.findall(text))
