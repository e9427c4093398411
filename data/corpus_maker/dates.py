"""How a page writes months and ranges, and what that states."""

from collections.abc import Callable
from dataclasses import dataclass

from corpus_maker.people import Month

_NAMES = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
}
MONTHS = {language: tuple(names.split()) for language, names in _NAMES.items()}
PRESENT = {"en": "Present", "de": "heute", "fr": "aujourd'hui", "es": "actualidad", "pt": "presente", "it": "oggi"}
_SEASONS = (
    "Winter",
    "Winter",
    "Spring",
    "Spring",
    "Spring",
    "Summer",
    "Summer",
    "Summer",
    "Fall",
    "Fall",
    "Fall",
    "Winter",
)
_SHORT_GERMAN = "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.".split()
_SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Dates:
    """A way to write dates.

    Attributes:
        month: One month in words.
        join: What stands between start and end.
        present: What stands for an end that is open.
        yearly: Whether only years are stated, so that the truth holds no months.
    """

    month: Callable[[Month], str]
    join: str = " – "
    present: str = "Present"
    yearly: bool = False
    since: str = ""

    def range(self, start: Month, end: Month | None) -> str:
        """The words for a range."""
        if end is None and self.since:
            return self.since.format(self.month(start))
        first, last = self.month(start), self.month(end) if end else self.present
        return first if first == last else f"{first}{self.join}{last}"

    def stated(self, month: Month | None) -> str:
        """The month as the words state it: ISO, without the month where it is not said; empty when open."""
        if month is None:
            return ""
        return str(month[0]) if self.yearly else f"{month[0]}-{month[1]:02d}"


def named(language: str, between: str = " ", *, short: bool = False) -> Callable[[Month], str]:
    """Months by name, as in "März 2020"; `short` = abbreviated, in English and German."""
    names = MONTHS[language] if not short else _SHORT_GERMAN if language == "de" else _SHORT
    return lambda when: f"{names[when[1] - 1]}{between}{when[0]}"


def _season(when: Month) -> str:
    return f"{_SEASONS[when[1] - 1]} {when[0]}"


DATES = {
    "short": Dates(named("en", short=True)),
    "long": Dates(named("en"), " - "),
    "to current": Dates(named("en"), " to ", "current"),
    "numbers": Dates(lambda m: f"{m[1]:02d}/{m[0]}", " - "),
    "years": Dates(lambda m: str(m[0]), yearly=True),
    "years hyphen": Dates(lambda m: str(m[0]), "-", "present", yearly=True),
    "seasons": Dates(_season, yearly=True),
    "de": Dates(lambda m: f"{m[1]:02d}/{m[0]}", " – ", "heute"),
    "de named": Dates(named("de"), " bis ", "heute"),
    "fr": Dates(named("fr"), " - ", "aujourd'hui"),
    "es": Dates(named("es"), " - ", "actualidad"),
}
HELDOUT_DATES = {
    "iso": Dates(lambda m: f"{m[0]}-{m[1]:02d}", " – ", "now"),
    "apostrophe": Dates(lambda m: f"{_SHORT[m[1] - 1]} '{m[0] % 100:02d}", " – ", "present"),
    "dots": Dates(lambda m: f"{m[1]:02d}.{m[0]}", " - ", "ongoing"),
    "comma": Dates(named("en", ", "), " — ", "Present"),
    "since": Dates(named("en", short=True), " – ", since="Since {}"),
    "from to": Dates(lambda m: f"{m[1]}/{m[0]}", " to ", "date"),
    "caps": Dates(lambda m: f"{MONTHS['en'][m[1] - 1].upper()} {m[0]}", " – ", "PRESENT"),
    "years slash": Dates(lambda m: str(m[0]), " to ", "today", yearly=True),
    "seasons": Dates(lambda m: _season(m).replace("Fall", "Autumn"), " - ", "now", yearly=True),
    "de": Dates(lambda m: f"{m[1]:02d}.{m[0]}", " – ", since="seit {}"),
    "de named": Dates(named("de", short=True), " – ", "laufend"),
    "it": Dates(named("it"), " – ", "in corso"),
    "pt": Dates(lambda m: f"{MONTHS['pt'][m[1] - 1][:3]}/{m[0]}", " - ", "atual"),
    "es": Dates(lambda m: f"{m[1]:02d}/{m[0]}", " – ", "Presente"),
    "fr": Dates(named("fr"), " à ", since="Depuis {}"),
}
