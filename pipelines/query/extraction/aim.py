"""AIM: question -> what kind of answer it wants, of what it names, and what it asks about that; by literal rules."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pipelines.query.extraction.irregular import regular
from pipelines.store.tokens import tokenise
from pipelines.text import fold
from pipelines.types import QueryIntent

Kind = Literal[
    "why", "money", "share", "duration", "when", "count", "who", "where", "which", "comparison", "how", "yes-no", "what"
]

# In this order: the first that stands in the folded question is its kind.
_ASKED: Mapping[Kind, tuple[str, ...]] = {
    "why": (
        r"\bwhy\b",
        r"\bwhat (?:was |were |is )?(?:the )?(?:\w+ )?(?:caused?|reasons?)\b",
        r"\breasons? (?:for|that)\b",
    ),
    "money": (
        r"\bhow much (?:money|(?:did|was|were)\b.{0,60}? (?:cost|pay|spend|earn|fined?|paid|charged))\b",
        r"\b(?:costs?|salary|wages?|price|fee)\b",
        r"\b(?:does|do|did) (?:\w+ )?(?:charge|earn)\b",
    ),
    "share": (
        r"\b(?:what|which) (?:share|fraction|percentage|proportion|part of)\b",
        r"\bby how much\b",
        r"\bpercent\b",
    ),
    "duration": (
        r"\bhow (?:long|often|frequently)\b",
        r"\bhow many (?:years|months|weeks|days|hours|minutes|seconds)\b",
    ),
    "when": (
        r"^(?:and )?(?:(?:since|until|till|from|by) )?when\b",
        r"\b(?:what|which) (?:year|month|date|day|time)\b",
        r"[,;] (?:and )?when (?:did|was|were|is|will|does)\b",
    ),
    "count": (
        r"\bhow (?:many|much|big|large|old|far|high|fast|tall|heavy)\b",
        r"\b(?:what|which) (?:\w+ )?(?:number|age|score|size|amount|rate|recall|precision|maximum|minimum)\b",
        r"\b(?:number|maximum|minimum|average) of\b",
        r"\bphone number\b",
    ),
    "comparison": (
        r"\bcompar\w+\b",
        r"\b(?:better|worse|more|less|faster|slower|larger|smaller)\b.{0,80} (?:than|or)\b",
        r"\bor\b.{0,80} better\b",
        r"\bdifference between\b",
    ),
    "who": (
        r"\bwho(?:m|se)?\b",
        r"\b(?:which|what) (?:\w+ )?(?:colleague|person|engineer|author|manager|boss)\b",
        r"\bname of\b",
    ),
    "where": (
        r"\bwhere\b",
        r"\b(?:which|what) (?:city|town|country|place|university|school)\b",
    ),
    "which": (r"^(?:(?:in|on|under|at|for|with|from|to|of|by) )?which\b",),
    "yes-no": (r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)\b",),
    "how": (r"\bhow\b",),
}
_KINDS = tuple((kind, re.compile("|".join(patterns))) for kind, patterns in _ASKED.items())
# Several things: a plural right after the question word, or words that ask for all.
_LIST = re.compile(
    r"\b(?:which|what)(?: are| were)?(?: the)? (?:(?!(?:is|was|does|has)\b)[\w-]+ ){0,2}?"
    r"(?!\w*(?:ss|us|is)\b|does\b)\w{3,}s\b"
    r"|\b(?:list|name all|in what ways|what (?:else )?(?:do|did) \w+ need)\b"
)
_EDGES = "?.,;:!\"'()[]{}“”‘’„«»"
_OPENERS = _EDGES.replace(".", "")  # .NET
_PLACED = re.compile(r"[+#]|.\.\w")  # C++, C#, Node.js
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
# Words that ask, and name nothing that an answer must speak of.
_ASKING = frozenset(
    tokenise(
        """year years many much often long share fraction percentage number name names people person way ways thing
        things kind kinds sort type part finally first very last ever still now nowadays current currently get got
        gets come came make makes made do done does use uses used know knows known tell different total one happen
        happened happens maximum minimum most least average good exactly roughly experience having after before while
        than whether once through up out off over any other others all both per further rather against until
        according compare compared comparing comparison difference differences"""
    )
)
_COMPARING = frozenset(
    tokenise("compare compared comparing comparison difference differences differ between versus vs")
)
# Words of a request that says nothing of what is wanted: the whole, or whatever there is.
_WHATEVER = frozenset(
    tokenise(
        """something anything everything nothing whatever stuff more else again summarize summarise summary overview
        gist content documents document files file texts text corpus sources source data information info knowledge
        interesting random whole entire main please help explain describe give show hello hi"""
    )
)
# Where the second half of a question of two begins.
_SECOND = re.compile(
    r"(?:,? and|[,;])(?= (?:(?:in|on|for|by|from|to|of|with|at|since|until) )?"
    r"(?:who|whom|whose|what|when|where|why|which|how)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:who|whom|whose|what|when|where|why|which|how)\b|^(?:is|are|was|were|do|does|did|has|have|can)\b"
)
_MOST_PARTS = 4


@dataclass(frozen=True, slots=True)
class Aim:
    """What a question wants.

    Attributes:
        kind: What an answer must hold: a date, a number, a name, a reason; `what` leaves it open.
        listed: Whether several things are asked for.
        names: Index terms of what the question names: names, years, known documents and companies.
        focus: Index terms of what it asks about them, without words that only ask.
        text: The question.
        about: It without what it names.
        terms: Index terms of the whole question.
        things: What it names, a name each: the terms of words that stand together.
        carried: Those of the names that an earlier turn said: whether they are meant is a guess.
    """

    kind: Kind
    listed: bool
    names: tuple[str, ...]
    focus: tuple[str, ...]
    text: str
    about: str
    terms: frozenset[str]
    things: tuple[tuple[str, ...], ...] = ()
    carried: frozenset[str] = frozenset()

    @property
    def is_vague(self) -> bool:
        """Whether nothing is named, and nothing is asked, or no more than whatever there is."""
        is_open = not self.focus or self.kind in ("what", "which", "how", "yes-no")
        return not self.names and is_open and _WHATEVER.issuperset(self.focus)

    @property
    def asks_nothing(self) -> bool:
        """Whether nothing is asked about what is named, but for how it compares."""
        return _COMPARING.issuperset(self.focus)


def aim_of(intent: QueryIntent) -> Aim:
    """What the question wants; of a follow-up, its names and focus are those of the question that stands alone."""
    text = intent.search_text if intent.follow_up else intent.question
    aim = _aim(text, _known(intent))
    if not intent.follow_up:
        return aim
    asked, typed = fold(intent.question), frozenset(tokenise(intent.question))
    return replace(aim, kind=_kind(asked), listed=bool(_LIST.search(asked)), carried=frozenset(aim.names) - typed)


def parts_of(intent: QueryIntent, whole: Aim) -> list[Aim]:
    """What each part of the question wants, where it has several: two questions in one, or things to compare.

    A part that names nothing is about what the whole one names.
    """
    known = _known(intent)
    things = [thing for thing in whole.things if whole.asks_nothing or known.issuperset(thing)]
    if whole.kind == "comparison" and len(things) > 1:
        kind: Kind = "what" if whole.asks_nothing else "comparison"
        focus = () if whole.asks_nothing else whole.focus
        asked = [(thing, frozenset((*thing, *focus))) for thing in things[:_MOST_PARTS]]
        return [replace(whole, kind=kind, names=thing, focus=focus, terms=terms) for thing, terms in asked]
    halves = [half.strip() for half in _SECOND.split(whole.text)][:_MOST_PARTS]
    if len(halves) < 2 or not all(_ASKS.search(fold(half)) for half in halves):
        return []
    aims = (_aim(half, known) for half in halves)
    return [part if part.names else replace(part, names=whole.names) for part in aims]


def _kind(folded: str) -> Kind:
    return next((kind for kind, pattern in _KINDS if pattern.search(folded)), "what")


def _known(intent: QueryIntent) -> frozenset[str]:
    return frozenset(term for name in intent.names for term in tokenise(name))


def _aim(text: str, known: frozenset[str]) -> Aim:
    folded = fold(text)
    names: dict[str, None] = {}
    things: list[tuple[str, ...]] = []
    focus: dict[str, None] = {}
    about: list[str] = []
    follows = False
    for place, raw in enumerate(text.split()):
        word = raw.lstrip(_OPENERS).rstrip(_EDGES).removesuffix("'s").removesuffix("’s")
        terms = tokenise(regular(word))
        if is_name(word, first=place == 0) or (terms and known.issuperset(terms)):
            names |= dict.fromkeys(terms[:1])
            things[len(things) - follows :] = [((*things[-1], *terms[:1]) if follows else tuple(terms[:1]))]
            follows = raw[-1] not in _EDGES
            continue
        follows = False
        about.append(raw)
        focus |= dict.fromkeys(term for term in terms[:1] if term not in _ASKING)
    return Aim(
        kind=_kind(folded),
        listed=bool(_LIST.search(folded)),
        names=tuple(names),
        focus=tuple(focus),
        text=text,
        about=" ".join(about),
        terms=frozenset(tokenise(text)) - _COMPARING,
        things=tuple(dict.fromkeys(filter(None, things))),
    )


def is_name(word: str, *, first: bool = False) -> bool:
    """Whether a word of a question names something: by its capitals, its signs (C++), or as a year."""
    if _YEAR.fullmatch(word) or _PLACED.search(word):
        return True
    inner = word[1:] != word[1:].lower()
    return inner or (word[:1].isupper() and not first)
