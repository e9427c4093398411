"""Rules for the words of a question: request phrases, categories, sections, years, greetings."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache

from config.prompts import REPLIES
from pipelines.query.question.language import question_terms
from pipelines.query.question.words import Text, is_year, read, terms_in, words
from pipelines.store.tokens import tokenise
from pipelines.structure import sentences
from pipelines.text import base_verb_forms, fold
from pipelines.types import QueryIntent

_FORM = terms_in("form")


def trim(question: str) -> str:
    """The question without the request phrases that its sentences begin with; as it was when nothing else is left."""
    straight = question.replace("’", "'")
    said = [straight[start:end] for start, end in sentences(straight)]
    kept = " ".join(" ".join(_matter(sentence) for sentence in said if not is_greeting(sentence)).split())
    return kept if tokenise(kept) else question


def terms_of(question: str) -> list[str]:
    """The index terms of what is asked, without words about the answer's form, in order."""
    return [term for term in question_terms(question) if term not in _FORM]


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


# What words ask for, the likeliest category first.
_CATEGORIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("work job experience role position company skill technology tool education school university degree",
     ("resume", "linkedin")),
    ("decision learning journey why story approach", ("journey",)),
    ("project building github creating developing code", ("github", "resume", "linkedin")),
    ("resume cv", ("resume",)),
    ("linkedin", ("linkedin",)),
    ("blog", ("blog",)),
)  # fmt: skip
_SECTIONS = (
    "experience", "education", "skills", "projects", "certifications", "languages", "summary", "publications",
    "volunteering", "awards", "interests",
)  # fmt: skip


def categories_of(text: str) -> tuple[str, ...]:
    """The categories that a text's words ask for: by how many distinct words, then by the order of the table."""
    said, hits = _plain_stems(text), Counter[str]()
    for families, categories in _CATEGORIES:
        if found := sum(_stem(family) in said for family in families.split()):
            hits.update(dict.fromkeys(categories, found))
    return tuple(category for category, _ in hits.most_common())


def sections_of(text: str) -> tuple[str, ...]:
    """The names of the sections that a text's words ask for, folded, in the order of the table."""
    said = _plain_stems(text)
    return tuple(section for section in _SECTIONS if _stem(section) in said)


def wants_of(question: str) -> tuple[str, ...]:
    """The values that are to be counted or summed: `count`, `duration`."""
    text = read(question)
    return ("duration",) if text.says("wants-duration") else ("count",) if text.says("wants-count") else ()


def is_greeting(question: str) -> bool:
    """True for a greeting or thanks and nothing else."""
    return bool(reply_to_courtesy(question))


def reply_to_courtesy(question: str) -> str:
    """The reply to a greeting or to thanks, in its language; empty for anything else."""
    said = read(question).set
    for language in REPLIES:
        thanks, greets = words(f"thanks-{language}"), words(f"hello-{language}")
        if said <= thanks | greets | words(f"polite-{language}") and not said.isdisjoint(thanks | greets):
            return REPLIES[language][not said.isdisjoint(thanks)]
    return ""


def _plain_stems(text: str) -> set[str]:
    """The stems of a text's words, without those of compounds that mean something else."""
    asked = read(text)
    inside = {at for place in asked.all_of("compound") for at in range(place.first, place.last)}
    return {_stem(part) for at, word in enumerate(asked.words) if at not in inside for part in word.parts}


@cache
def _stem(word: str) -> str:
    """A word without the ending of a plural or of a verb."""
    base = base_verb_forms(word)
    endings = (("ies", "y"), ("ing", ""), ("ed", ""), ("s", ""))
    found = next(((end, y) for end, y in endings if base.endswith(end) and len(base) > len(end) + 2), ("", ""))
    return (base.removesuffix(found[0]) + found[1]).removesuffix("e")


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
