"""What single words of a question say: categories, sections, values that are counted, greetings."""

import re

from pipelines.text import fold

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
_GREETING = re.compile(
    rf"(?:(?:{_HELLO}(?: (?:there|everyone|everybody|all|folks|again))?|{_THANKS}|how are you(?: doing)?(?: today)?"
    r"|nice to meet you|ok|okay|great|nice|cool|perfect|awesome|got it)(?: |$))+"
)


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
    """Whether nothing is asked: a greeting or thanks, and nothing beside it."""
    return bool(_GREETING.fullmatch(" ".join(_WORD.findall(fold(question)))))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_STACK.sub("techstack", _OTHER.sub(" ", fold(text)))))
