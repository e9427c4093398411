"""Rules for the words of a question: request phrases, categories, sections, years, greetings."""

import re
from collections.abc import Callable, Iterable
from datetime import date

from config.prompts import REPLIES
from pipelines.store.tokens import tokenise
from pipelines.structure import sentences
from pipelines.text import fold

# Words about the answer's form, not its matter: they are searched for, but evidence does not ask for them.
_FORM = frozenset(
    tokenise(
        """tell give show list name describe explain please many much long often kind sort type some any ever there
        also about know say said does has have being been most more first last"""
    )
)
_SOMEONE = r"\b(?:i|we)(?:'m|'re|'d|\s+am|\s+are|\s+would)"
_VERY = r"(?:(?:also|very|mainly|only|really|particularly|especially|specifically)\s+)*"
_WORKS = r"(?:articles?|papers?|abstracts?|documents?|passages?|discussions?|descriptions?|details?|info(?:rmation)?)"
_WHICH_DEAL = r"(?:(?:which|that)\s+)?(?:deals?\s+with|discuss)"
_ABOUT = rf"(?:on|of|about|for|in|regarding|concerning|describing|dealing\s+with|{_WHICH_DEAL})"

# "I am looking for", "we would like to know": wherever it stands.
_WANTING = re.compile(
    rf"{_SOMEONE}\s+{_VERY}(?:interested\s+in|looking\s+for|seeking|searching\s+for"
    rf"|(?:like|love)(?:\s+to\s+(?:see|know|find|read|learn|get|have))?)\b"
    r"|\b(?:i|we)\s+(?:want|need|wish)\s+to\s+(?:see|know|find|read|learn)\b",
    re.IGNORECASE,
)
# "Please tell me about", "find all discussions of", "what articles exist which deal with": where a sentence begins.
_OPENING = re.compile(
    rf"""[\s,:-]*(?:
        (?:please|kindly|hi|hello|hey|so|well|thanks|ok(?:ay)?|also|and)\b[\s,!.]*(?=\w)
      | (?:can|could|would|will)\s+you\b (?:\s+(?:please|help\s+me|be\s+able\s+to)\b)*
      | (?:what\s+)?do\s+you\s+(?:know|have)\b (?:\s+any(?:thing)?\b)? (?=\s+(?:{_WORKS}|{_ABOUT})\b)
      | (?:is|are)\s+there\s+any(?:thing)?\b (?=\s+(?:{_WORKS}|{_ABOUT})\b)
      | interested\s+in\b | wanted\s+are\b | (?:areas\s+)?of\s+(?:particular|special)\s+interest\s+(?:is|are|include)\b
      | (?:tell|give|show|teach)\s+(?:me|us)\b | (?:find|list|describe|explain|summari[sz]e|give|show)\b
      | (?:what|which)\s+{_WORKS}\s+(?:exist|are\s+there|do\s+you\s+have|(?=deal|discuss))\b
      | (?:(?:all|any|some|more|the)\s+)*{_WORKS}(?=\s+{_ABOUT}\b) | (?:all|any|some)(?=\s+{_WORKS}\b)
    )(?:\s+{_ABOUT}\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
# "(but) we are not interested in ..." up to the end of its clause.
_UNWANTED = re.compile(
    rf"(?:^|[,;(.!?]\s*|\s-+\s*)(?:(?:but|and|though)\s+)?{_SOMEONE}\s+not\s+{_VERY}"
    r"(?:interested\s+in|looking\s+for|concerned\s+with)\b[^.;!?)]*",
    re.IGNORECASE,
)


def trim(question: str) -> str:
    """The question without its request phrases and without what it says is not wanted; whole when nothing is left.

    A question without either comes back as it was.
    """
    plain = question.replace("’", "'")
    wanted = _WANTING.sub(" ", _UNWANTED.sub("", plain))
    kept = " ".join(" ".join(_matter(wanted[start:end]) for start, end in sentences(wanted)).split())
    return kept if tokenise(kept) else question


def terms_of(question: str) -> list[str]:
    """The index terms of what is asked, without words about the answer's form, in order."""
    return [term for term in tokenise(question) if term not in _FORM]


def is_about_form(term: str) -> bool:
    """True if an index term speaks of the answer's form."""
    return term in _FORM


def _matter(sentence: str) -> str:
    """A sentence without the request phrases that it begins with; whole when it has nothing else."""
    rest = sentence
    while opening := _OPENING.match(rest):
        rest = rest[opening.end() :]
    return rest.lstrip(" ,:-") if tokenise(rest) else sentence


# Words with their inflections, and the categories that hold what they ask for, the likeliest first.
_CATEGORIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("work works worked working, job jobs, experience experiences experienced", ("resume", "linkedin")),
    ("role roles, position positions, company companies", ("resume", "linkedin")),
    ("decision decisions, learn learns learned learnt learning, journey journeys, why", ("journey",)),
    ("story stories, approach approaches approached", ("journey",)),
    ("skill skills, technology technologies, tool tools, techstack techstacks", ("resume", "linkedin")),
    ("project projects, build builds built building, github", ("github", "resume", "linkedin")),
    ("create creates created creating, develop develops developed developing", ("github", "resume", "linkedin")),
    ("code codes coded coding", ("github", "resume", "linkedin")),
    ("education, school schools, university universities, degree degrees", ("resume", "linkedin")),
    ("resume resumes cv cvs", ("resume",)),
    ("linkedin", ("linkedin",)),
    ("blog blogs", ("blog",)),
)
# Section names, and the words that ask for them.
_SECTIONS: dict[str, str] = {
    "experience": "experience experiences",
    "education": "education",
    "skills": "skill skills",
    "projects": "project projects",
    "certifications": "certification certifications certificate certificates certified",
    "languages": "language languages",
    "summary": "summary",
    "publications": "publication publications",
    "volunteering": "volunteer volunteers volunteered volunteering",
    "awards": "award awards",
    "interests": "interests hobby hobbies",
}
# Compounds in which a word of the tables means something else.
_OTHER = re.compile(
    r"\b(?:machine|deep|reinforcement|transfer|federated|active|(?:un|self-|semi-)?supervised)[ -]learning\b"
    r"|\b(?:language|languages) models?\b|\b(?:zip|area|postal) codes?\b"
)
_STACK = re.compile(r"\btech(?:nology)?[ -]stack")
_WORD = re.compile(r"[^\W_]+")
_COUNT = re.compile(r"\b(?:how (?:many|much)|(?:number|count) of)\b")
_DURATION = re.compile(r"\bhow (?:long|many (?:years|months|weeks))\b(?! ago)")

_HELLO = r"(?:hi+|hello+|hey+|hiya|howdy|greetings|good (?:morning|afternoon|evening|day|night)|(?:good)?bye|cheers)"
_THANKS = (
    r"(?:(?:many )?(?:thanks|thank you|thx)(?: a lot|(?: so| very) much| again)?"
    r"(?: for (?:that|this|(?:all )?(?:the|your)(?: help| answers?| information| time)))?)"
)
# (what greets, what thanks) in each language.
_COURTESIES = {
    "en": (
        rf"{_HELLO}(?: (?:there|everyone|everybody|all|folks|again))?|how are you(?: doing)?(?: today)?"
        r"|nice to meet you|ok|okay|great|nice|cool|perfect|awesome|got it",
        _THANKS,
    ),
    "de": (r"hallo|guten (?:tag|morgen|abend)", r"danke(?: sehr| sch\w{1,2}n)?|(?:vielen|besten) dank"),
    "fr": (r"bonjour|bonsoir|salut", r"merci(?: beaucoup| bien)?"),
    "es": (r"hola|buenos dias|buenas (?:tardes|noches)", r"(?:muchas )?gracias"),
}
_COURTESY = {
    language: re.compile(rf"(?:(?:{hello}|{thanks})(?: |$))+") for language, (hello, thanks) in _COURTESIES.items()
}
_THANKING = {language: re.compile(rf"\b(?:{thanks})(?: |$)") for language, (_, thanks) in _COURTESIES.items()}


def categories_of(text: str) -> tuple[str, ...]:
    """The categories that a text's words ask for: by how many distinct words, then by the order of the table."""
    words = _words(text)
    places: dict[str, tuple[int, int]] = {}
    hits: dict[str, int] = {}
    for row, (families, categories) in enumerate(_CATEGORIES):
        found = sum(not words.isdisjoint(family.split()) for family in families.split(","))
        for place, category in enumerate(categories if found else ()):
            hits[category] = hits.get(category, 0) + found
            places[category] = min(places.get(category, (place, row)), (place, row))
    return tuple(sorted(hits, key=lambda category: (-hits[category], places[category])))


def sections_of(text: str) -> tuple[str, ...]:
    """The names of the sections that a text's words ask for, folded, in the order of the table."""
    words = _words(text)
    return tuple(section for section, asking in _SECTIONS.items() if not words.isdisjoint(asking.split()))


def wants_of(question: str) -> tuple[str, ...]:
    """The values that are to be counted or summed: `count`, `duration`."""
    text = fold(question)
    if _DURATION.search(text):
        return ("duration",)
    return ("count",) if _COUNT.search(text) else ()


def is_greeting(question: str) -> bool:
    """True for a greeting or thanks and nothing else."""
    return bool(reply_to_courtesy(question))


def reply_to_courtesy(question: str) -> str:
    """The reply to a greeting or to thanks, in its language; empty for anything else."""
    words = " ".join(_WORD.findall(fold(question)))
    language = next((each for each, courtesy in _COURTESY.items() if courtesy.fullmatch(words)), "")
    return REPLIES[language][bool(_THANKING[language].search(words))] if language else ""


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_STACK.sub("techstack", _OTHER.sub(" ", fold(text)))))


_FIRST = 1950
_Y = r"(?:19[5-9]\d|20\d\d)"
_NUMBERS = {word: n for n, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)}
_N = rf"(?:\d{{1,2}}|{'|'.join(_NUMBERS)})"

# What stands before a number that is none of a year, and what it counts when it stands before it.
_NUMBERED = frozenset(
    """port ports issue issues ticket tickets pr prs request bug rfc section page pages line lines room error code
    number no nr id version model chapter office windows iso""".split()
)
_COUNTED = frozenset(
    """characters chars words tokens users people customers employees students members pages lines rows columns
    records items files documents nodes requests queries messages events tests commits stars times hours days
    minutes seconds ms mb gb kb km m kg g w v kwh dollars euros pounds usd eur gbp percent points tickets calls
    sensors devices units copies readers visitors downloads lookups metres meters miles feet square""".split()
)
_CUE = frozenset(
    """in since of during from by early late mid year spring summer autumn fall winter january february march april
    may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_RECENT = re.compile(
    r"\b(?:recent(?:ly)?|latest|newest|current(?:ly)?|now(?:adays)?|today|these days|at (?:the moment|present)"
    r"|presently)\b(?<!ocean current)(?<!electric current)(?<!sea current)"
)

Handler = Callable[[re.Match[str], int], Iterable[int]]


def years_in(question: str, today: date) -> tuple[int, ...]:
    """The years that a question names or implies, ascending; between 1950 and next year.

    "2019-2021" is a range, "since 2020" reaches to this year, "before 2018" from 1950; a fiscal year (`FY25-26`) is
    its first year. Four digits that count or number something ("2000 characters", "port 2019", "#2021") are no year.
    """
    rest, found = fold(question), set[int]()
    for pattern, years in _RULES:
        for match in pattern.finditer(rest):
            found.update(years(match, today.year))
        rest = pattern.sub(" | ", rest)
    for match in _PLAIN.finditer(rest):
        if _is_year(rest, match):
            found.add(int(match.group()))
    return tuple(sorted(year for year in found if _FIRST <= year <= today.year + 1))


def asks_for_recent(question: str) -> bool:
    """True if a question asks for what is new or current ("latest", "now")."""
    return bool(_RECENT.search(fold(question)))


def _is_year(text: str, match: re.Match[str]) -> bool:
    before = re.findall(r"[a-z#]+", text[max(0, match.start() - 20) : match.start()])[-1:]
    after = re.match(r"[ -]*([a-z]*)", text[match.end() :])
    if (before and before[0] in _NUMBERED) or (after and after.group(1) in _COUNTED):
        return False
    return int(match.group()) % 1000 != 0 or (bool(before) and before[0] in _CUE)


def _number(text: str) -> int:
    return _NUMBERS.get(text) or int(text)


def _span(match: re.Match[str], _: int) -> Iterable[int]:
    first, last = int(match[1]), match[2]
    end = int(last) if len(last) == 4 else first // 100 * 100 + int(last)
    return range(first, end + 1) if end > first else (first, end if len(last) == 4 else first)


def _fiscal(match: re.Match[str], _: int) -> Iterable[int]:
    return (int(match[1]) if len(match[1]) == 4 else 2000 + int(match[1]),)


def _decade(match: re.Match[str], this: int) -> Iterable[int]:
    start = int(match[1]) * 10 if len(match[1]) == 3 else 1900 + int(match[1]) * 10
    return range(start, min(start + 9, this) + 1)


_PLAIN = re.compile(rf"(?:(?<![\w.,$€£#/:@-])|(?<=\bmid-)|(?<=\bearly-)|(?<=\blate-)){_Y}(?![\w%]|[.,:]\d|-[a-z])")
# In this order; what one rule has read, the next does not see.
_RULES: tuple[tuple[re.Pattern[str], Handler], ...] = (
    (
        re.compile(rf"\b(?:fy|(?:fiscal|financial) year)[\s_-]*'?({_Y}|\d\d)(?:\s*[-/]\s*(?:{_Y}|\d\d))?(?![\w-]*\d)"),
        _fiscal,
    ),
    (re.compile(rf"\bbetween ({_Y}) and ({_Y})\b"), _span),
    (re.compile(rf"(?<![\w.#/-])({_Y}) ?(?:-|to|through|till|until) ?({_Y}|\d\d)(?![\w-])"), _span),
    (
        re.compile(rf"\bsince (?:\w+ )?({_Y})(?!\w)|\bfrom (?:\w+ )?({_Y}) on(?:wards?)?\b"),
        lambda m, this: range(int(m[1] or m[2]), this + 1),
    ),
    (re.compile(rf"\bafter (?:\w+ )?({_Y})(?!\w)"), lambda m, this: range(int(m[1]) + 1, this + 1)),
    (re.compile(rf"\bbefore (?:\w+ )?({_Y})(?!\w)"), lambda m, _: range(_FIRST, int(m[1]))),
    (re.compile(rf"\b(?:until|up to) (?:\w+ )?({_Y})(?!\w)"), lambda m, _: range(_FIRST, int(m[1]) + 1)),
    (re.compile(r"(?<![\w'])'?(19[5-9]|20\d|[5-9])0'?s\b"), _decade),
    (re.compile(r"\blast year\b"), lambda _, this: (this - 1,)),
    (re.compile(r"\bthis year\b"), lambda _, this: (this,)),
    (re.compile(rf"\b({_N}) years? ago\b"), lambda m, this: (this - _number(m[1]),)),
    (
        re.compile(rf"\b(?:last|past) ({_N}) years\b"),
        lambda m, this: range(this - _number(m[1]), this + 1),
    ),
)
