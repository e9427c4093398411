"""Numbers, units, dates, names and negations of a text in one comparable form."""

import re
from collections import Counter
from collections.abc import Iterable, Set
from decimal import Decimal
from functools import lru_cache

from pipelines.store.tokens import tokenise
from pipelines.text import fold, plain

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = {name[:length]: name for name in MONTHS for length in (3, len(name))} | {"Sept": "September"}
_MONTH |= {short.upper(): name for short, name in _MONTH.items()}
_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: n for n, word in enumerate(f"{_ONES} eighteen nineteen".split(), start=1)}
_SMALL |= {word: 10 * n for n, word in enumerate(_TENS.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_SCALES = {"k": 1_000, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12}
_ORDINALS = {
    word: f"{n}{'rd' if n == 3 else 'th'}"
    for n, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=3)
}
_AMBIGUOUS = {"half": "50", "one": "1", "once": "1", "first": "1", "second": "2", "twice": "2", "dozen": "12"}
_CURRENCIES = {
    "us$": "dollars", "$": "dollars", "usd": "dollars", "€": "euros", "eur": "euros", "£": "pounds", "gbp": "pounds",
    "¥": "yen", "jpy": "yen", "chf": "francs", "₹": "rupees", "inr": "rupees",
}  # fmt: skip
# By unit, its other spellings; what follows a number only.
_SPELLINGS = {
    "percent": "%", "kilometers": "km kms kilometer kilometre kilometres", "miles": "mi mile",
    "meters": "meter metre metres", "feet": "ft foot", "inches": "inch",
    "centimeters": "cm centimeter centimetre centimetres", "millimeters": "mm millimeter millimetre millimetres",
    "yards": "yd yard", "kilograms": "kg kgs kilogram kilogramme kilogrammes kilo kilos", "grams": "gram",
    "pounds": "lb lbs pound", "tonnes": "tonne", "tons": "ton", "liters": "liter litre litres",
    "gallons": "gal gallon", "mph": "", "kph": "km/h kmh", "acres": "acre", "hectares": "ha hectare",
    "milliseconds": "ms millisecond", "seconds": "sec secs second", "minutes": "min mins minute",
    "hours": "hr hrs hour", "days": "day", "weeks": "week", "months": "month", "years": "yr yrs year",
    "kilobytes": "kb kilobyte", "megabytes": "mb megabyte", "gigabytes": "gb gigabyte", "terabytes": "tb terabyte",
    "watts": "watt", "kilowatts": "kw kilowatt", "megawatts": "mw megawatt", "dollars": "dollar usd",
    "euros": "euro eur €", "yen": "jpy", "francs": "franc chf", "points": "pp",
}  # fmt: skip
_UNITS = {spelt: unit for unit, others in _SPELLINGS.items() for spelt in (unit, *others.split())}


def any_of(words: Iterable[str]) -> str:
    """A regular expression for any of these words, longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_DIGITS = r"\d+(?:\.\d+)?"
_NUMBER_WORD = any_of((*_SMALL, *_SCALES))
_SPELT = re.compile(rf"\b(?:{_NUMBER_WORD})(?:[\s-](?:and\s)?(?:{_NUMBER_WORD}))*+\b", re.IGNORECASE)
_ORDINAL = re.compile(rf"\b(?:{any_of(_ORDINALS)})\b(?![\s-]part)", re.IGNORECASE)
_MONEY = re.compile(
    rf"(?<!\w)({any_of(_CURRENCIES)})\s?({_DIGITS})(?:[\s-]?({any_of((*_SCALES, *_SHORT_SCALES))})\b)?(?!\w)",
    re.IGNORECASE,
)
_SCALED = re.compile(rf"(?<![\w.])({_DIGITS})(?:[\s-]?({any_of(_SCALES)})\b|([kK])\b)", re.IGNORECASE)
_MEASURED = re.compile(rf"(?<![\w.])({_DIGITS})[\s-]?({any_of(_UNITS)})(?![\w/])", re.IGNORECASE)
_PER_CENT = re.compile(r"\bper\scent\b", re.IGNORECASE)
_POINTS = re.compile(r"\bpercentage[\s-]points?\b", re.IGNORECASE)
_LETTERS = {"g": "grams", "l": "liters", "m": "meters", "h": "hours"}  # case and place say that they are units
_LETTER_UNIT = re.compile(rf"(?<![\w.$€£¥])({_DIGITS})\s?([glmh])(?=[\s.,;:)]|/(?:s|min|h)\b|$)(?!\.\w)")
_ISO = re.compile(r"(?<![\w-])(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?(?![\w-])")
_DOTTED = re.compile(r"(?<![\w.])(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.(\d{4})(?!\w|\.\d)")
_MONTH_YEAR = re.compile(r"(?<![\w/])(0?[1-9]|1[0-2])/(\d{4})(?![\w/])")
_SHORT_MONTH = re.compile(rf"\b({any_of(_MONTH)})\b\.?(?=,?\s\d)|(?<=\d\s)({any_of(_MONTH)})\b\.?")
_NTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)(?=(?:\sof)?\s(?:{any_of(MONTHS)})\b)")
_MONTH_NTH = re.compile(rf"\b((?:{any_of(MONTHS)})\s\d{{1,2}})(?:st|nd|rd|th)\b")
_DATE = re.compile(
    rf"(?:\b(\d{{1,2}})\s(?:of\s)?)?\b({any_of(MONTHS)})\b(?:\s(\d{{1,2}})(?!\w|\.\d))?(?:(?:,|\sof)?\s(\d{{4}})\b)?"
)
_YEAR = re.compile(r"(?<![\w.,-])(?:1[5-9]|20)\d\d(?!\w|[.,]\d)")

Date = tuple[str, str, str]  # day, month, year; each may be empty


@lru_cache(maxsize=4_096)
def normalise_figures(text: str) -> str:
    """The text with its dates, numbers, money and units in one spelling; nothing else of it changes.

    `2019-05-07` is `7 May 2019`, `Sept. 2nd` is `September 2`, `twenty-one` is `21`, `$3 million` is `3000000 dollars`,
    `40 per cent` and `40%` are `40 percent`, `5km` is `5 kilometers`. A lone `one` stays: it is seldom a number. The
    thousands separators must be out.
    """
    text = _ISO.sub(lambda found: _dated(found[3], found[2], found[1]), text)
    text = _DOTTED.sub(lambda found: _dated(*found.groups()), text)
    text = _MONTH_YEAR.sub(lambda found: _dated("", *found.groups()), text)
    text = _SHORT_MONTH.sub(lambda found: _MONTH[found[1] or found[2]], text)
    text = _MONTH_NTH.sub(r"\1", _NTH.sub(r"\1", text))
    text = _ORDINAL.sub(lambda found: _ORDINALS[found[0].lower()], _SPELT.sub(_in_digits, text))
    text = _MONEY.sub(_money, _POINTS.sub("points", _PER_CENT.sub("percent", text)))
    text = _LETTER_UNIT.sub(lambda found: f"{found[1]} {_LETTERS[found[2]]}", text)
    text = _SCALED.sub(lambda found: _scaled(found[1], found[2] or found[3]), text)
    return _MEASURED.sub(lambda found: f"{found[1]} {_UNITS[found[2].lower()]}", text)


def ambiguous_number_words(text: str) -> Counter[str]:
    """Numbers of words that may also mean something else: `one`, `first`, `second`, `twice`, `dozen`, `half`."""
    return Counter(_AMBIGUOUS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _AMBIGUOUS)


def units_differ(claim: str, text: str) -> bool:
    """True if a number of the claim has another unit than in the text; both normalised."""
    held: dict[str, set[str]] = {}
    for number in re.finditer(rf"(?<![\w.]){_DIGITS}(?![\w.]\d)", text):
        measured = _MEASURED.match(text, number.start())
        held.setdefault(number[0], set()).add(measured[2].lower() if measured else "")
    return any(
        units and "" not in units and found[2].lower() not in units
        for found in _MEASURED.finditer(claim)
        for units in (held.get(found[1], set()),)
    )


def dates_differ(claim: str, text: str) -> bool:
    """True if a date of the claim with a month is compatible with no date of the text; both normalised."""
    held = _dates(text)
    return bool(held) and any(not any(_compatible(date, other) for other in held) for date in _dates(claim) if date[1])


def _dates(text: str) -> set[Date]:
    """The dates of a text; a year that stands alone is one, a month that stands alone is none."""
    found = set()
    for date in _DATE.finditer(text):
        day = (date[1] or date[3] or "").lstrip("0")
        if day or date[4]:
            found.add((day, date[2], date[4] or ""))
    in_full = {year for _, _, year in found}
    return found | {("", "", year[0]) for year in _YEAR.finditer(text) if year[0] not in in_full}


def _compatible(date: Date, other: Date) -> bool:
    pairs = [(mine, theirs) for mine, theirs in zip(date, other, strict=True) if mine and theirs]
    return bool(pairs) and all(mine == theirs for mine, theirs in pairs)


def _dated(day: str | None, month: str, year: str) -> str:
    return " ".join(filter(None, [(day or "").lstrip("0"), MONTHS[int(month) - 1], year]))


def _scaled(digits: str, scale: str) -> str:
    factor = (_SCALES | _SHORT_SCALES).get((scale or "").lower(), 1)
    return f"{(Decimal(digits) * factor).normalize():f}"


def _money(found: re.Match[str]) -> str:
    return f"{_scaled(found[2], found[3])} {_CURRENCIES[found[1].lower()]}"


def _in_digits(found: re.Match[str]) -> str:
    """A run of number words as digits: one number for each run that reads on, as `two hundred and six` does."""
    words = [word for word in re.split(r"[\s-]", found[0].lower()) if word != "and"]
    if words == ["one"] or words[0] in _SCALES:
        return found[0]
    numbers: list[str] = []
    start = 0
    while start < len(words):
        number, end = _number_from(words, start)
        numbers.append(number)
        start = end
    return " ".join(numbers)


def _number_from(words: list[str], start: int) -> tuple[str, int]:
    """(the number that the words from `start` on say, where it ends)."""
    total = part = 0
    end = start
    while end < len(words):
        word = words[end]
        value = _SMALL.get(word, 0)
        if word in _SCALES:
            scale = _SCALES[word]
            total, part = (total, part * scale) if scale == 100 else (total + max(part, 1) * scale, 0)
        elif part % 100 == 0 or (part % 100 >= 20 and part % 10 == 0 and value < 10):
            part += value
        else:
            break
        end += 1
    return str(total + part), end


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?![\d,])")
_NEGATION = re.compile(
    r"\b(?:no|not(?! only\b)|never|none|nobody|nothing|neither|nor|without|cannot|unable|lack(?:s|ed|ing)?"
    r"|(?:fail|refuse)(?:s|d|ed)? to|\w+n['’]t)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b([a-z]+)n['’]t\b", re.IGNORECASE)
_HALF = re.compile(
    r"(?<!first )(?<!second )(?<!other )(?<!latter )(?<!last )(?<!next )\bhalf of "
    r"(?=(?:the|all|its|their|our|my|these|those)\b)",
    re.IGNORECASE,
)
_SHORT_NOT = {"ca": "can", "wo": "will", "sha": "shall"}
_CLAUSE_END = re.compile(r"[.!?;:,](?=\s|$)|\b(?:but|although|though|whereas|while|because)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:(?<!\w)\.)?\b[A-Z]\w*(?:[.'’&-]\w+)*(?:\+\+|#)?")
_DETERMINER = re.compile(r"\s+(?:a|an|the|this|these|his|her|its|their|our|my)\b")
# Usual first words: a capital makes no name of them.
SENTENCE_OPENERS = frozenset(
    """according additionally after all also although among another anyone because before between both currently
    despite during each earlier even every everyone finally first following further furthermore given here however
    instead just last later many meanwhile moreover most never next no nobody none nothing now once one only other
    overall over previously prior several since some sometimes soon still then there therefore through throughout
    though thus today together two three under until using when whenever while within without yes yet""".split()
)
_OPENING = re.compile(rf"\b(?:{'|'.join(sorted(SENTENCE_OPENERS))})\b", re.IGNORECASE)
_NEGATION_REACH = 300  # characters after a denial in which what is denied stands


@lru_cache(maxsize=4_096)
def strip_markup(text: str) -> str:
    """The text without markup and thousands separators."""
    return plain(_THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), text))


def normalise(text: str) -> str:
    """The text without markup, its numbers, units, dates and short forms of `not` in one spelling.

    `half of the readings` is `50 percent of the readings`; the first half of a year is none.
    """
    whole = _NOT.sub(lambda found: _SHORT_NOT.get(found[1].lower(), found[1]) + " not", strip_markup(text))
    return normalise_figures(_HALF.sub("50 percent of ", whole))


def folded_words(text: str) -> str:
    return fold(strip_markup(text))


def contains_phrase(text: str, claim: str) -> bool:
    """True if a text holds a folded claim verbatim at word boundaries (`5` is not in `1.5`)."""
    body = folded_words(text)
    start = body.find(claim) if claim else -1
    while start >= 0:
        if _begins(body[:start][-2:]) and _ends(body[start + len(claim) :][:2]):
            return True
        start = body.find(claim, start + 1)
    return False


def _begins(before: str) -> bool:
    last = before[-1:]
    if last in {"-", "_"} or last.isalnum():
        return False
    return not (last in {".", ",", "'", "/"} and before[:1].isalnum() and len(before) == 2)


def _ends(after: str) -> bool:
    first = after[:1]
    if first in {"+", "#", "_"} or first.isalnum():
        return False
    return not (first in {"-", ".", ",", "'", "/"} and after[1:].isalnum())


def numbers_in(text: str) -> Counter[str]:
    """The numbers of a text without thousands separators; digits between letters (k8s) do not count."""
    padded = f" {folded_words(text)} "
    found = _NUMBER.finditer(padded)
    return Counter(n.group() for n in found if not (padded[n.start() - 1].isalpha() and padded[n.end()].isalpha()))


def names_in(text: str) -> list[str]:
    """The capitalised words of a text except stop words, usual first words and a verb that opens it (`Led a team`)."""
    clean = strip_markup(text)
    return [
        name.group()
        for name in _NAME.finditer(clean)
        if name.group().lower() not in SENTENCE_OPENERS
        and tokenise(name.group())
        and not (name.start() == 0 and _DETERMINER.match(clean, name.end()))
    ]


_NOUNS = r"(?:sources?|documents?|context|passages?|excerpts?|texts?|articles?|posts?)(?: \d{1,3})?"
_MATERIAL = rf"(?:the |these |this |your )?(?:\w+ ){{0,2}}{_NOUNS}(?: (?:provided|given|above))?"
_TELLS = r"(?:mention|state|say|note|explain|describe|indicate|report|show|tell(?:s)? us|specif(?:y|ie))(?:s|d|ed)?"
_ATTRIBUTION = re.compile(
    rf"(?:(?:based on|according to|as (?:stated|mentioned|described|noted) in) {_MATERIAL}, "
    rf"|{_MATERIAL} (?:also |clearly |explicitly ){{0,2}}{_TELLS},? that "
    rf"|(?:the|these|this|your) (?:provided |given |cited |uploaded ){{0,2}}{_NOUNS} (?:also |clearly ){{0,2}}{_TELLS} "
    rf"|it (?:is|was) (?:also )?(?:mentioned|stated|said|noted|reported)(?: in {_MATERIAL})? that )(?=\S)",
    re.IGNORECASE,
)
_CLOSING_ATTRIBUTION = re.compile(
    rf"(?<=\S),? \(?(?:based on|according to|as (?:stated|mentioned|described|noted) in) {_MATERIAL}\)?(?=[.!]?\Z)",
    re.IGNORECASE,
)


def without_attribution(claim: str) -> str:
    """The claim without words that name the sources in general: `Based on the sources, `, `The text mentions that `."""
    found = _ATTRIBUTION.match(claim)
    return _CLOSING_ATTRIBUTION.sub("", claim[found.end() :] if found else claim)


def contains_name(name: str, terms: Set[str]) -> bool:
    """True if a name is among the terms of a text: whole, or by all its parts or its long form."""
    whole, *parts = tokenise(name)
    return whole in terms or (bool(parts) and terms >= set(parts))


def count_negations(text: str, claim: str = "") -> int:
    """Number of negations in a text; with a claim, only those that negate a term of the claim.

    The negated terms stand in the clause after the negation, or in the next clause that has terms (`not, however,`); at
    the end of a text (`they hear nothing`), before it.
    """
    clean, terms, found = strip_markup(text), set(tokenise(strip_markup(claim))), 0
    for negation in _NEGATION.finditer(clean):
        clauses = (
            _OPENING.sub(" ", clause)
            for clause in _CLAUSE_END.split(clean[negation.end() : negation.end() + _NEGATION_REACH])
        )
        own = (_CLAUSE_END.split(clean[max(0, negation.start() - _NEGATION_REACH) : negation.start()])[-1],)
        denied = next((held for clause in (*clauses, *own) if (held := set(tokenise(clause)))), set[str]())
        found += not claim or not denied or not denied.isdisjoint(terms)
    return found
