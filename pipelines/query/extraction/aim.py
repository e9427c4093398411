"""AIM: question -> what kind of answer it wants, of what it names, and what it asks about that; by literal rules."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
    r"\b(?:which|what)(?: are| were)?(?: the)? (?:(?!(?:is|was|does|has)\b)[\w-]+ ){0,2}?(?!\w*(?:ss|us|is)\b)\w{3,}s\b"
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
        according"""
    )
)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a question wants.

    Attributes:
        kind: What an answer must hold: a date, a number, a name, a reason; `what` leaves it open.
        listed: Whether several things are asked for.
        names: Index terms of what the question names: names, years, known documents and companies.
        focus: Index terms of what it asks about them, without words that only ask.
        about: The question without what it names.
        terms: Index terms of the whole question.
    """

    kind: Kind
    listed: bool
    names: tuple[str, ...]
    focus: tuple[str, ...]
    about: str
    terms: frozenset[str]


def aim_of(intent: QueryIntent) -> Aim:
    """What the question wants; a follow-up's is that of the question that stands alone."""
    text = intent.search_text if intent.follow_up else intent.question
    folded = fold(text)
    known = {term for name in intent.names for term in tokenise(name)}
    names: dict[str, None] = {}
    focus: dict[str, None] = {}
    about: list[str] = []
    for place, raw in enumerate(text.split()):
        word = raw.lstrip(_OPENERS).rstrip(_EDGES).removesuffix("'s").removesuffix("’s")
        terms = tokenise(regular(word))
        if is_name(word, first=place == 0) or (terms and known.issuperset(terms)):
            names |= dict.fromkeys(terms[:1])
            continue
        about.append(raw)
        focus |= dict.fromkeys(term for term in terms[:1] if term not in _ASKING)
    return Aim(
        kind=next((kind for kind, pattern in _KINDS if pattern.search(folded)), "what"),
        listed=bool(_LIST.search(folded)),
        names=tuple(names),
        focus=tuple(focus),
        about=" ".join(about),
        terms=frozenset(tokenise(text)),
    )


def is_name(word: str, *, first: bool = False) -> bool:
    """Whether a word of a question names something: by its capitals, its signs (C++), or as a year."""
    if _YEAR.fullmatch(word) or _PLACED.search(word):
        return True
    inner = word[1:] != word[1:].lower()
    return inner or (word[:1].isupper() and not first)
