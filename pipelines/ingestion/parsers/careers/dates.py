"""Dates, date ranges and durations in a text, in the notations of six languages; months named in any of 35."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from pipelines.ingestion.parsers.careers.vocabulary import cached_for_short_text
from pipelines.text import digit_runs, fold

MONTHS: dict[int, str] = {
    1: "january jan januar janner jenner janvier janv enero ene janeiro gennaio gen genn",
    2: "february feb febr februar feber fevrier fevr fev febrero fevereiro febbraio febb",
    3: "march mar marz maerz mrz mars marzo marco",
    4: "april apr avril avr abril abr aprile",
    5: "may mai mayo maio maggio mag magg",
    6: "june jun juni juin junio junho giugno giu giug",
    7: "july jul juli juillet juil julio julho luglio lug",
    8: "august aug aout agosto ago agos",
    9: "september sept sep septembre septiembre setiembre setembro set settembre sett",
    10: "october oct oktober okt octobre octubre outubro out ottobre ott",
    11: "november nov novembre noviembre novembro",
    12: "december dec dezember dez decembre diciembre dic dezembro dicembre",
}

# Words that usually have another meaning ("rolled out 2019", "real estate 2020").
DOUBTFUL = frozenset({"out", "set", "gen", "mag", "lug", "ago", "mid", "fall", "estate", "ende", "hiver"})

SEASONS = (
    "spring summer autumn fall winter fruhjahr fruhling sommer herbst wintersemester sommersemester printemps ete"
    " automne hiver primavera verano otono invierno verao outono inverno estate autunno"
    " mid early late anfang mitte ende"
).split()

PRESENT = (
    "present presently today now current currently ongoing date heute jetzt aktuell gegenwart laufend andauernd"
    " fortlaufend aujourd'hui actuel actuelle actuellement maintenant actualidad actual actualmente hoy fecha presente"
    " momento atual atualmente atualidade hoje data oggi attuale attualmente adesso corso curso cours jour"
).split()
PRESENT_ARTICLES = ("the", "la", "le", "el", "o", "l'", "il", "al", "ad", "a", "ce", "en", "in", "em")

TO_WORDS = "to until till through thru bis a au al ao ad hasta ate jusqu'en jusqu'a jusqu'au".split()
SINCE_WORDS = ("since", "seit", "depuis", "desde", "dal", "a partir de", "a partire da")
FROM_WORDS = ("from", "von", "vom", "de", "du", "del", "da")

YEAR_UNITS = "years year yrs yr jahre jahren jahr ans an annees annee anos ano anni anno".split()
MONTH_UNITS = "months month mos mo monate monaten monat mon mois meses mes mesi mese".split()
LESS_THAN_A_YEAR = (
    "less than a year",
    "less than 1 year",
    "weniger als ein jahr",
    "weniger als 1 jahr",
    "moins d'un an",
    "moins de 1 an",
    "menos de un ano",
    "menos de 1 ano",
    "menos de um ano",
    "meno di un anno",
    "meno di 1 anno",
)


@dataclass(frozen=True, slots=True)
class DateRange:
    """A date or a range in a text; `text` is the text's `[start:end]`.

    Months are ISO 8601 in the stated precision (`2023-04`, or `2023`). `end_month` is None for a single date and for an
    open range; `current` is True for an open range ("Present", "since").
    """

    start: int
    end: int
    text: str
    start_month: str
    end_month: str | None
    current: bool = False

    @property
    def is_range(self) -> bool:
        """True unless it is a single date."""
        return bool(self.end_month or self.current)


def _any_of(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


_MONTH_OF = {word: month for month, words in MONTHS.items() for word in words.split()}
_YEAR = r"(?:19[5-9]\d|20\d\d)"
_MONTH = _any_of(_MONTH_OF)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_TWO = r"(?:0[1-9]|1[0-2])"
_OF = r"(?:[ \t]{1,2}|,[ ]?|[ ](?:de|del|of|di)[ ])"

# One point in time: "Jan. 2020", "15 de enero de 2020", "Jan '20"; "Summer 2019", "Q3 2021"; "01/2020", "2020-01".
_NAMED = (
    rf"(?:{_DAY}(?:\.|st|nd|rd|th|er|º|°)?[ ](?:(?:de|di|of)[ ])?)?"
    rf"{_MONTH}\.?(?:[ ]{_DAY}(?:st|nd|rd|th)?(?=,|[ ]{_YEAR}))?(?:(?:{_OF}|[-/])?{_YEAR}|[ ]?'\d\d)"
)
_PART = (
    rf"{_any_of(SEASONS)}(?:{_OF}|[-/]){_YEAR}|[qth][1-4](?:[ ,/-]{{0,2}}|[ ]de[ ]){_YEAR}|{_YEAR}[ /-]?[qh][1-4](?!\d)"
)
_NUMBERED = (
    rf"\d{{1,2}}[./]\d{{1,2}}[./]{_YEAR}|(?:0?[1-9]|1[0-2])(?:[./-]|[ ][./][ ]){_YEAR}"
    rf"|{_YEAR}(?:[-./]{_TWO}|[-/][1-9])(?:[-./](?:0[1-9]|[12]\d|3[01]))?(?![.,]?\d)"
)
_POINT = rf"(?:{_NAMED}|{_PART}|{_NUMBERED}|{_YEAR})"

_GAP = r"[ \t]{0,3}"
_TO = _any_of(TO_WORDS)
_UNTIL = rf"(?:{_GAP}(?:[-‐‑‒–—―−~→]{{1,2}}|->){_GAP}\n{{0,2}}{_GAP}(?:{_TO}[ ])?|[ \t]{_TO}:?[ \t\n]|[ ]fino[ ]ad?[ ])"
_PRESENT = rf"(?:{_any_of(PRESENT_ARTICLES)}[ ]?)?{_any_of(PRESENT)}(?![a-z0-9])"
_EXPECTED = r"\(?(?:exp(?:ected)?|est|anticipated|voraussichtlich|prevu|previsto|prevista)\.?"
_BOUND = r"(?![a-z0-9%+_]|[.,:][0-9]|[-/][a-z0-9])"
_RANGE = re.compile(
    rf"(?<![a-z0-9])(?:(?P<since>{_any_of(SINCE_WORDS)})[ ](?:(?:the|le|dem|el|il)[ ])?"
    rf"|(?P<from>{_any_of(FROM_WORDS)})[ ])?"
    r"(?<![a-z0-9@#$€£+_/])(?<![0-9][-.:,])(?<![a-z][-._])(?<![0-9][ ])(?:"
    rf"(?P<short>{_TWO}/\d\d){_UNTIL}(?:(?P<short_last>{_TWO}/\d\d)|{_PRESENT})(?![\d/])"
    rf"|(?P<whole>{_YEAR})(?:[–—]|[-/](?!0|1[0-2]))(?P<digits>\d\d)(?![\w%/+]|[.,:-]\d)"
    rf"|(?P<academic>{_YEAR})/(?P<academic_last>{_YEAR}){_BOUND}"
    rf"|(?P<bare>{_MONTH})\.?{_UNTIL}(?P<bare_last>{_NAMED}){_BOUND}"
    rf"|(?P<first>{_POINT})(?:"
    rf"{_UNTIL}(?:(?:{_EXPECTED}[ ])?(?P<last>{_POINT}){_BOUND}"
    rf"|(?P<now>{_PRESENT}))|(?P<open>{_GAP}[-–—](?=[ \t]*(?:\n|$)))|{_BOUND}))"
)
_HINT = re.compile(rf"{_YEAR}|'\d\d|{_TWO}/\d\d")
_DIGITS = re.compile(r"\d\d")
_BEFORE, _AFTER = 60, 80
_MIN_THINGS = 3  # letters of what a number counts: "2000 books" is no year
_YEARS = rf"\d{{1,2}}\+?[ ]?{_any_of(YEAR_UNITS)}\.?"
_MONTHS = rf"\d{{1,3}}[ ]?{_any_of(MONTH_UNITS)}\.?"
_DURATION = re.compile(
    rf"(?<![a-z0-9.,])(?P<open>\()?(?:{_YEARS}(?:,?[ ](?:(?:and|und|et|y|e)[ ])?{_MONTHS})?|{_MONTHS}"
    rf"|{_any_of(LESS_THAN_A_YEAR)})(?![a-z0-9])(?(open)\)|)"
)


@cached_for_short_text
def date_ranges(text: str) -> tuple[DateRange, ...]:
    """The date ranges and single dates of the text, in order, without overlap.

    A word before a date ("since") is part of it. Names and formats are English, German, French, Spanish, Portuguese and
    Italian; years 1950 to 2099. A year inside a longer number, a version, an address or an amount is not a date.
    """
    if not _DIGITS.search(text):
        return ()
    folded = _folded(text)
    found: list[DateRange] = []
    done = 0
    for hint in _HINT.finditer(folded):
        if hint.start() < done:
            continue
        nearest = max(done, hint.start() - _BEFORE)
        begin = max(nearest, folded.rfind("\n", nearest, hint.start()) + 1)
        for match in _RANGE.finditer(folded, begin, hint.end() + _AFTER):
            if match.start() > hint.start():
                break
            dated = _dated(text, folded, match)
            if dated:
                found.append(dated)
                done = dated.end
    return tuple(found)


def stacked_range(text: str, start: int, end: int) -> DateRange | None:
    """The range of which `text[start:end]` holds nothing but the two ends, in columns or lines, in either order."""
    words = text[start:end]
    points = [point for point in date_ranges(words) if not point.is_range]
    rest = words
    for point in reversed(points):
        rest = rest[: point.start] + rest[point.end :]
    is_open = fold(rest.strip()) in PRESENT
    if (len(points), is_open) not in ((1, True), (2, False)) or (rest.strip() and not is_open):
        return None
    first, *last = sorted(point.start_month for point in points)
    return DateRange(start, end, words, first, last[0] if last else None, is_open)


def leading_range(text: str, start: int, end: int) -> DateRange | None:
    """The range whose two ends are in columns of their own at the start of `text[start:end]`: "2019\t2022\tCook"."""
    cells = text[start:end].split("\t")[:2]
    ends = (start + len("\t".join(cells[:count])) for count in range(1, len(cells) + 1))
    return next((found for last in ends if (found := stacked_range(text, start, last))), None)


def durations(text: str) -> list[tuple[int, int]]:
    """The spans of durations ("(2 years 3 months)", "1 an 2 mois") in order, including brackets around them."""
    return [match.span() for match in _DURATION.finditer(_folded(text))]


def _dated(text: str, folded: str, match: re.Match[str]) -> DateRange | None:
    """The date or range of a match; None if it only looks like a date."""
    parts = match.groupdict()
    first = parts["first"] or parts["short"] or parts["whole"] or parts["academic"]
    last = parts["last"] or parts["short_last"] or parts["academic_last"] or parts["bare_last"]
    current = bool(parts["now"] or parts["open"] or (parts["short"] and not last))
    single = not last and not current and not parts["digits"]
    start, end = match.start(), match.end()
    if single and not parts["since"]:
        start = match.start("first")
        following = "".join(takewhile(str.isalpha, folded[end + 1 : end + _AFTER]))
        if (
            len(first) == 4
            and folded[end : end + 1] == " "
            and len(following) > _MIN_THINGS
            and following.endswith("s")
        ):
            return None
        if _is_doubtful(text, folded, start, end):
            start, first = end - 4, first[-4:]
    end_month = month_of(last) if last else first[:2] + parts["digits"] if parts["digits"] else None
    if parts["bare"]:
        start_month = f"{end_month[:4]}-{_MONTH_OF[parts['bare']]:02d}" if end_month else ""
    else:
        start_month = month_of(first)
    return DateRange(
        start, end, text[start:end], start_month, end_month, current or bool(parts["since"] and not end_month)
    )


def _is_doubtful(text: str, folded: str, start: int, end: int) -> bool:
    """True if the date begins with a word that usually has another meaning ("rolled out 2019")."""
    word = "".join(takewhile(str.isalpha, folded[start:end]))
    behind = folded[start + len(word) : start + len(word) + 3]
    if word not in DOUBTFUL or behind == " de":
        return False
    return text[start].islower() and behind[0] != "." and start > 0 and folded[start - 1] == " "


def month_of(point: str) -> str:
    """The ISO month of one folded date, `2023-04`, or its year if no month is stated."""
    letters = "".join([char if "a" <= char <= "z" else " " for char in point]).split()
    numbers = digit_runs(point)
    year = next((number for number in numbers if len(number) == 4), "") or _full_year(numbers[-1])
    if letters:
        return _iso_month(year, next((_MONTH_OF[word] for word in letters if word in _MONTH_OF), 0))
    first, second, third = (*map(int, numbers), 0, 0, 0)[:3]
    if len(numbers[0]) == 4:
        return _iso_month(year, second)
    return _iso_month(year, second if third and second <= 12 else first)


def _full_year(two: str) -> str:
    return f"20{two}" if int(two) < 50 else f"19{two}"


def _iso_month(year: str, month: int) -> str:
    return f"{year}-{month:02d}" if 1 <= month <= 12 else year


def _folded(text: str) -> str:
    """The text without capitals and accents, with equal offsets."""
    return text.lower() if text.isascii() else text.translate(_FOLDED)


class _Folded(dict[int, str]):
    """The folded form of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        folded = _folded_character(chr(code))
        if len(self) < _MOST_FOLDED:
            self[code] = folded
        return folded


_MOST_FOLDED = 4096
_FOLDED = _Folded()


def _folded_character(char: str) -> str:
    if char in "’‘´":
        return "'"
    if char == "\xa0":
        return " "
    lower = unicodedata.normalize("NFD", char)[0].lower()
    return lower if len(lower) == 1 else char


# LinkedIn's languages. Where two explain the dates of a document equally well, the first does.
_CLDR_LANGUAGES = (
    "en es fr de pt it nl tr ko sv da no fi pl cs ro hu ru uk el ar he fa hi bn mr pa te th vi id ms tl ja zh"
)
_YEAR_WORD = re.compile(r"(?<!\d)(?:19|20)\d\d[^\W\d]*")  # with what is written close to it, as in Korean


def months_named(dates: Sequence[str]) -> list[int]:
    """The month of each date, 1 to 12, in the one language that explains most of them; 0 where none is named."""
    points = [_YEAR_WORD.sub(" ", fold(date)) for date in dates]
    stated = sum(any(map(str.isalnum, point)) for point in points)
    best: list[int] = [0] * len(points)
    for language in _CLDR_LANGUAGES.split() if stated else ():
        found = [_month_named(point, language) for point in points]
        if sum(map(bool, found)) > sum(map(bool, best)):
            best = found
        if sum(map(bool, best)) == stated:
            break
    return best


def _month_named(point: str, language: str) -> int:
    pattern, numbers = _month_names(language)
    match = pattern.search(point)
    return numbers[match[0]] if match else 0


@cache
def _month_names(language: str) -> tuple[re.Pattern[str], dict[str, int]]:
    """(what finds a month, the number of each name), folded; names as in a date, alone, and short."""
    from babel import Locale

    tables = Locale.parse(language).months
    numbers: dict[str, int] = {}
    for context, width in (("format", "wide"), ("stand-alone", "wide"), ("format", "abbreviated")):
        for number, name in tables[context][width].items():
            numbers.setdefault(fold(str(name)).rstrip("."), int(number))
    names = sorted(numbers, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, names))})(?![^\W_])"), numbers
