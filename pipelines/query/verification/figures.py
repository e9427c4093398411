"""FIGURES: the numbers, units and dates of a text in one spelling, and whether those of two texts agree."""

import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

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
_SPOKEN = {"one": "1", "once": "1", "first": "1", "second": "2", "twice": "2", "dozen": "12"}
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


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_DIGITS = r"\d+(?:\.\d+)?"
_NUMBER_WORD = _any((*_SMALL, *_SCALES))
_SPELT = re.compile(rf"\b(?:{_NUMBER_WORD})(?:[\s-](?:and\s)?(?:{_NUMBER_WORD}))*+\b", re.IGNORECASE)
_ORDINAL = re.compile(rf"\b(?:{_any(_ORDINALS)})\b(?![\s-]part)", re.IGNORECASE)
_MONEY = re.compile(
    rf"(?<!\w)({_any(_CURRENCIES)})\s?({_DIGITS})(?:[\s-]?({_any((*_SCALES, *_SHORT_SCALES))})\b)?(?!\w)", re.IGNORECASE
)
_SCALED = re.compile(rf"(?<![\w.])({_DIGITS})(?:[\s-]?({_any(_SCALES)})\b|([kK])\b)", re.IGNORECASE)
_MEASURED = re.compile(rf"(?<![\w.])({_DIGITS})[\s-]?({_any(_UNITS)})(?![\w/])", re.IGNORECASE)
_PER_CENT = re.compile(r"\bper\scent\b", re.IGNORECASE)
_POINTS = re.compile(r"\bpercentage[\s-]points?\b", re.IGNORECASE)
_LETTERS = {"g": "grams", "l": "liters", "m": "meters", "h": "hours"}  # case and place say that they are units
_LETTERED = re.compile(rf"(?<![\w.$€£¥])({_DIGITS})\s?([glmh])(?=[\s.,;:)]|/(?:s|min|h)\b|$)(?!\.\w)")
_ISO = re.compile(r"(?<![\w-])(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?(?![\w-])")
_DOTTED = re.compile(r"(?<![\w.])(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.(\d{4})(?!\w|\.\d)")
_MONTH_YEAR = re.compile(r"(?<![\w/])(0?[1-9]|1[0-2])/(\d{4})(?![\w/])")
_SHORT_MONTH = re.compile(rf"\b({_any(_MONTH)})\b\.?(?=,?\s\d)|(?<=\d\s)({_any(_MONTH)})\b\.?")
_NTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)(?=(?:\sof)?\s(?:{_any(MONTHS)})\b)")
_MONTH_NTH = re.compile(rf"\b((?:{_any(MONTHS)})\s\d{{1,2}})(?:st|nd|rd|th)\b")
_DATE = re.compile(
    rf"(?:\b(\d{{1,2}})\s(?:of\s)?)?\b({_any(MONTHS)})\b(?:\s(\d{{1,2}})(?!\w|\.\d))?(?:(?:,|\sof)?\s(\d{{4}})\b)?"
)
_YEAR = re.compile(r"(?<![\w.,-])(?:1[5-9]|20)\d\d(?!\w|[.,]\d)")

Date = tuple[str, str, str]  # day, month, year; each may be empty


@lru_cache(maxsize=4_096)
def levelled(text: str) -> str:
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
    text = _LETTERED.sub(lambda found: f"{found[1]} {_LETTERS[found[2]]}", text)
    text = _SCALED.sub(lambda found: _times(found[1], found[2] or found[3]), text)
    return _MEASURED.sub(lambda found: f"{found[1]} {_UNITS[found[2].lower()]}", text)


def spoken_numbers(text: str) -> Counter[str]:
    """The numbers that words say which may also mean something else: `one`, `first`, `second`, `twice`, `dozen`."""
    return Counter(_SPOKEN[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _SPOKEN)


def units_differ(claim: str, text: str) -> bool:
    """Whether a number of a claim has a unit, and the same number of a text only others; both levelled."""
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
    """Whether a claim has a date with a month, and none of the dates of a text goes with it; both levelled."""
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


def _times(digits: str, scale: str) -> str:
    factor = (_SCALES | _SHORT_SCALES).get((scale or "").lower(), 1)
    return f"{(Decimal(digits) * factor).normalize():f}"


def _money(found: re.Match[str]) -> str:
    return f"{_times(found[2], found[3])} {_CURRENCIES[found[1].lower()]}"


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
