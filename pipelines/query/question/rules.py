"""Rules for the words of a question: request phrases, categories, sections, years, greetings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from config.prompts import REPLIES
from pipelines.query.question.words import Text, is_year, read, terms_in, words
from pipelines.store.tokens import tokenise
from pipelines.structure import sentences
from pipelines.text import fold
from pipelines.types import QueryIntent

_FORM = terms_in("form")
_MARKS, _CLOSING = ",;(.!?-", ".;!?)"


def trim(question: str) -> str:
    """The question without its request phrases and without what it says is not wanted; whole when nothing is left.

    A question without either comes back as it was.
    """
    wanted = _without(_without(question.replace("’", "'"), "unwanted"), "wanting")
    said = [wanted[start:end] for start, end in sentences(wanted)]
    kept = " ".join(" ".join(_matter(sentence) for sentence in said if not is_greeting(sentence)).split())
    return kept if tokenise(kept) else question


def _without(question: str, name: str) -> str:
    """The question without these phrases; without "I am not interested in" the rest of its clause goes as well."""
    text = read(question)
    places = sorted((place.first, place.last) for place in text.all_of(name))
    kept, at = "", 0
    for first, last in places:
        start, end = text.words[first].start, text.words[last - 1].end
        if name == "unwanted":
            before = question[:start].rstrip()
            if before and before[-1] not in _MARKS:
                continue
            start = len(before.rstrip(_MARKS))
            closing = (question.find(mark, end) for mark in _CLOSING)
            end = min((place for place in closing if place >= 0), default=len(question))
        if start >= at:
            kept, at = kept + question[at:start] + " " * (name == "wanting"), end
    return kept + question[at:] if at else question


def terms_of(question: str) -> list[str]:
    """The index terms of what is asked, without words about the answer's form, in order."""
    return [term for term in tokenise(question) if term not in _FORM]


def owner_terms(owner: Sequence[str]) -> frozenset[str]:
    """The index terms of the words by which a question names the person whose documents these are."""
    return frozenset(term for word in owner for term in tokenise(word))


def typed_words(intent: QueryIntent) -> list[str]:
    """The words of a question as they were typed, without the signs around them."""
    return [word.strip(".,;:!?\"'()[]{}“”‘’„«»¿¡。！？、，「」") for word in intent.search_text.split()]


def is_about_form(term: str) -> bool:
    """True if an index term speaks of the answer's form."""
    return term in _FORM


def _matter(sentence: str) -> str:
    """A sentence without the request phrases that it begins with; whole when it has nothing else."""
    text, at, after = read(sentence), 0, 0
    while at < len(text.words) and (opening := text.at("opening", at)):
        at, after = opening.last, text.words[opening.last - 1].end
    rest = sentence[after:]
    if not at:
        return rest.lstrip(" ,:-")
    return rest.lstrip(" ,:-!.") if tokenise(rest) else sentence


# What families of words ask for, the likeliest category first.
_CATEGORIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("work job experience", ("resume", "linkedin")),
    ("role position company", ("resume", "linkedin")),
    ("decision learning journey why", ("journey",)),
    ("story approach", ("journey",)),
    ("skill technology tool", ("resume", "linkedin")),
    ("project building github", ("github", "resume", "linkedin")),
    ("creating developing", ("github", "resume", "linkedin")),
    ("code", ("github", "resume", "linkedin")),
    ("education school university degree", ("resume", "linkedin")),
    ("resume", ("resume",)),
    ("linkedin", ("linkedin",)),
    ("blog", ("blog",)),
)
_SECTIONS = (
    "experience", "education", "skills", "projects", "certifications", "languages", "summary", "publications",
    "volunteering", "awards", "interests",
)  # fmt: skip


def categories_of(text: str) -> tuple[str, ...]:
    """The categories that a text's words ask for: by how many distinct words, then by the order of the table."""
    said = _plain_words(text)
    places: dict[str, tuple[int, int]] = {}
    hits: dict[str, int] = {}
    for row, (families, categories) in enumerate(_CATEGORIES):
        found = sum(not said.isdisjoint(words(f"category-{family}")) for family in families.split())
        for place, category in enumerate(categories if found else ()):
            hits[category] = hits.get(category, 0) + found
            places[category] = min(places.get(category, (place, row)), (place, row))
    return tuple(sorted(hits, key=lambda category: (-hits[category], places[category])))


def sections_of(text: str) -> tuple[str, ...]:
    """The names of the sections that a text's words ask for, folded, in the order of the table."""
    said = _plain_words(text)
    return tuple(section for section in _SECTIONS if not said.isdisjoint(words(f"section-{section}")))


def wants_of(question: str) -> tuple[str, ...]:
    """The values that are to be counted or summed: `count`, `duration`."""
    text = read(question)
    return ("duration",) if text.says("wants-duration") else ("count",) if text.says("wants-count") else ()


def is_greeting(question: str) -> bool:
    """True for a greeting or thanks and nothing else."""
    return bool(reply_to_courtesy(question))


def reply_to_courtesy(question: str) -> str:
    """The reply to a greeting or to thanks, in its language; empty for anything else."""
    text = read(question)
    for language in REPLIES:
        at, thanks = 0, False
        while at < len(text.words):
            thanked = text.at(f"thanks-{language}", at)
            place = thanked or text.at(f"hello-{language}", at)
            if place is None:
                break
            at, thanks = place.last, thanks or thanked is not None
        if at and at == len(text.words):
            return REPLIES[language][thanks]
    return ""


def _plain_words(text: str) -> set[str]:
    """The words of a text, without those of compounds that mean something else."""
    asked = read(text)
    inside = {at for place in asked.all_of("compound") for at in range(place.first, place.last)}
    found = {part for at, word in enumerate(asked.words) if at not in inside for part in (word.text, *word.parts)}
    return found | {"techstack"} if asked.says("stack") else found


_FIRST = 1950
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def years_in(question: str, today: date) -> tuple[int, ...]:
    """The years that a question names or implies, ascending; between 1950 and next year.

    "2019-2021" is a range, "since 2020" reaches to this year, "before 2018" from 1950; a fiscal year (`FY25-26`) is
    its first year. Four digits that count or number something ("2000 characters", "port 2019", "#2021") are no year.
    """
    text, this, read_words = read(fold(question)), today.year, set[int]()
    found: set[int] = set()
    for name, years in _SPANS.items():
        for place in text.all_of(f"years-{name}"):
            said = range(place.first, place.last)
            values = [value for at in said if (value := number(text.all[at])) is not None]
            if read_words.isdisjoint(said) and (values or name in ("last", "this")):
                found.update(years(values, this))
                read_words.update(said)
    for at in set(range(len(text.words))) - read_words:
        found.update(_years_of_word(text, at, this))
    return tuple(sorted(year for year in found if _FIRST <= year <= this + 1))


_Years = Callable[[Sequence[int], int], Iterable[int]]
_SPANS: Mapping[str, _Years] = {
    "between": lambda years, _: range(years[0], years[-1] + 1),
    "since": lambda years, this: range(years[0], this + 1),
    "after": lambda years, this: range(years[0] + 1, this + 1),
    "before": lambda years, _: range(_FIRST, years[0]),
    "until": lambda years, _: range(_FIRST, years[0] + 1),
    "last": lambda _, this: (this - 1,),
    "this": lambda _, this: (this,),
    "ago": lambda count, this: (this - count[0],),
    "past": lambda count, this: range(this - count[0], this + 1),
}


def number(word: str) -> int | None:
    """The number that a word is: a year, one of two digits, or one to ten; None for any other."""
    if is_year(word) or (word.isdigit() and len(word) < 3):
        return int(word)
    return _NUMBERS.index(word) + 1 if word in _NUMBERS else None


def _years_of_word(text: Text, at: int, this: int) -> Iterable[int]:
    """The years that a word is: 2019, 2019-21, FY25-26, 1990s, mid-2019, 2019-06-01."""
    word, before = text.all[at], text.words[at].before
    sides = word.split("-")
    if word.startswith("fy") or text.all[max(at - 1, 0) : at] == ["fy"] or text.all[max(at - 2, 0) : at] in _FISCAL:
        digits = sides[0].removeprefix("fy")
        return (int(digits) + 2000 * (len(digits) == 2),) if digits.isdigit() and len(digits) in (2, 4) else ()
    if len(sides) == 2 and is_year(sides[0]) and sides[1].isdigit() and len(sides[1]) in (2, 4):
        first, last = int(sides[0]), int(sides[1])
        last += first // 100 * 100 if len(sides[1]) == 2 else 0
        return range(first, last + 1) if last > first else (first, last) if len(sides[1]) == 4 else (first,)
    decade = word.removesuffix("s")
    if decade != word and decade.isdigit() and decade.endswith("0") and (is_year(decade) or decade in _DECADES):
        start = int(decade) if len(decade) == 4 else 1900 + int(decade)
        return range(start, min(start + 9, this) + 1)
    named = sides[0] if len(sides) == 3 else sides[-1] if sides[0] in ("mid", "early", "late") else word
    if not is_year(named) or (before and before[-1] in "$€£#/:@-.,") or text.after(at)[:1] in ("%", "-"):
        return ()
    previous, following = "".join(text.all[at - 1 : at] if at else ()), "".join(text.all[at + 1 : at + 2])
    if previous in words("numbered") or following in words("measured"):
        return ()
    return (int(named),) if int(named) % 1000 or previous in words("dating") else ()


_FISCAL = (["fiscal", "year"], ["financial", "year"])
_DECADES = ("50", "60", "70", "80", "90")


def asks_for_recent(question: str) -> bool:
    """True if a question asks for what is new or current ("latest", "now")."""
    return read(question).says("recent")
