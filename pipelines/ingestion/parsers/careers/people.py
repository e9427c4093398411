"""A person in prose: the summary in their own words, pronouns, and who introduces themselves where."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise
from pathlib import PurePosixPath

from pipelines.contacts import phones_in
from pipelines.facts import PersonFacts, SummaryFacts
from pipelines.headings import trim_span
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.careers.separators import without_asides
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import fold, letters_of, plain, word_parts

MAX_SUMMARY = 600
DOCUMENT_TITLES = frozenset(
    map(fold, ("resume", "cv", "curriculum vitae", "curriculum", "vitae", "lebenslauf", "currículo"))
)
_MIN_WORDS = 6
_MAX_NAME_WORDS, _MAX_INTRODUCED = 6, 4
_MAX_IN_SCRIPT = 4  # letters of a name without spaces, as in Chinese or Korean
_MAX_PLACE_WORDS = 5
_MIN_IN_NAME, _MIN_IN_ADDRESS = 2, 3  # words of a name; letters of the last one
_MAX_HEADLINE = 120
_ENDS = ",.;:!?()–—"
_MAX_DATE = 8  # digits of two years


def summary_of(text: str, start: int, end: int) -> SummaryFacts | None:
    """The first whole sentences of `text[start:end]`, at most 600 characters; None if they are no prose.

    The first sentence counts however long it is.
    """
    first = last = -1
    for begin, finish in sentences(text[start:end]):
        if first >= 0 and finish - first > MAX_SUMMARY:
            break
        first, last = (begin, finish) if first < 0 else (first, finish)
    if first < 0:
        return None
    span = trim_span(text, start + first, start + last)
    words = " ".join(plain(text[slice(*span)]).split())
    is_prose = len(words.split()) >= _MIN_WORDS and any(map(str.islower, words))
    return SummaryFacts(span=span, text=words) if is_prose else None


def phone_in(text: str) -> str:
    """The first telephone number of a text that is not a date; "" without one."""
    return next((number for number in phones_in(text) if not _is_date(number)), "")


def _is_date(number: str) -> bool:
    """True for a range without other digits, or a date that is no part of a longer number."""
    dates = date_ranges(number)
    if not dates:
        return False
    if sum(map(str.isdigit, number)) <= _MAX_DATE:
        return True
    others = number[: dates[0].start] + number[dates[0].end :]
    return dates[0].is_range and not any(map(str.isdigit, others))


def pronouns_in(text: str) -> str:
    """The first pronouns that a text states as such ("she/her"), as written; empty if it states none."""
    stated = (word.strip("()[],.;|·•") for word in text.split())
    return next((word for word in stated if _are_pronouns(word)), "")


def without_pronouns(words: str) -> str:
    """The words without stated pronouns."""
    return " ".join(word for word in words.split() if not _are_pronouns(word.strip("()[],.;|·•")))


def _are_pronouns(word: str) -> bool:
    parts = fold(word).split("/")
    return 1 < len(parts) <= 4 and _pronouns().issuperset(parts)


def self_introduction(text: str, start: int, end: int, title: str = "") -> PersonFacts | None:
    """The person who is introduced in `text[start:end]`: name, headline and place; None if nobody is.

    Somebody is introduced by "I am NAME", or by a sentence that begins with the name in the title ("About NAME").
    """
    for begin, finish in sentences(text[start:end])[:6]:
        words = " ".join(plain(text[start + begin : start + finish]).split())
        name, rest = _introduced(words, title)
        if name:
            headline, place = _described(rest)
            later = " ".join(plain(text[start:end]).split())
            return PersonFacts(
                span=(start + begin, start + finish),
                name=name,
                headline=headline,
                location=place or stated_home(later),
                pronouns=pronouns_in(later),
            )
    return None


def stated_home(words: str) -> str:
    """The place after "I live in", "based in" and their like; empty if none is stated."""
    folded = words.casefold()
    for phrase in word_lists("people")["lives"]:
        at = folded.find(f"{phrase} ")
        if at >= 0 and (place := _place_at(words[at + len(phrase) :])):
            return place
    return ""


def name_in_title(title: str) -> str:
    """The person's name that a title states ("About Ann Lee", "Ann Lee | Home"); empty if it states none."""
    words = title
    for phrase in word_lists("people")["about"]:
        if fold(words).startswith(f"{phrase} "):
            words = words[len(phrase) :]
            break
    first = words
    for sign in ("|", " - ", " – ", " — ", "·", ":"):
        first = first.split(sign)[0]
    return first.strip() if is_name(first.split()) else ""


def could_be_name(words: str) -> bool:
    """True for words that a document may state as its person's name: letters alone, without what is in brackets or
    behind a comma, and no title of a section or of a page. In a script with capitals they begin with one.
    """
    parts = [part.strip(".'’-") for part in without_asides(words).partition(",")[0].split()]
    is_short = 0 < len(parts) <= _MAX_NAME_WORDS
    letters = str.maketrans("", "", "-'’.")
    is_words = all(part.translate(letters).isalpha() for part in parts)
    particles = word_lists("people")["particles"]
    if not is_short or not is_words or section_of(words) or fold(words) in word_lists("people")["pages"]:
        return False
    if "".join(parts).lower() == "".join(parts).upper():  # a script without capitals
        return len(parts) > 1 or len(parts[0]) <= _MAX_IN_SCRIPT
    return all(part[:1].isupper() or fold(part) in particles for part in parts)


def is_addressed(name: str, addresses: str) -> bool:
    """True if a mail address or link has a name of two words or more: both ends of it, or an initial and the last."""
    parts, known = word_parts(name), letters_of(addresses)
    if len(parts) < _MIN_IN_NAME or len(parts[-1]) < _MIN_IN_ADDRESS:
        return False
    first, last = parts[0], parts[-1]
    return any(form in known for form in (first + last, last + first, first[0] + last))


def name_of_file(file: str) -> str:
    """The person's name in that of a file ("CV Ann Kestrel (2025).pdf", "AnnKestrel_resume.docx"); "" without one."""
    stem = PurePosixPath(file).stem.partition("(")[0]
    parted = "".join(
        f" {char}" if char.isupper() and before.islower() else char for before, char in pairwise(f" {stem}")
    )
    words = "".join(char if char.isalpha() or char in "'’" else " " for char in parted).split()
    runs = [tuple(run) for is_title, run in groupby(words, lambda word: fold(word) in DOCUMENT_TITLES) if not is_title]
    return next(
        (" ".join(run) for run in runs if len(run) < _MAX_INTRODUCED and min(map(len, run)) > 1 and is_name(run)), ""
    )


def is_name(words: Sequence[str]) -> bool:
    """True for two to six words with capitals that are no place, like a person's name."""
    letters = str.maketrans("", "", "-'’.")
    shaped = all(
        word[:1].isupper() and word.translate(letters).isalpha()
        for word in words
        if fold(word) not in word_lists("people")["particles"]
    )
    return 1 < len(words) <= _MAX_NAME_WORDS and shaped and place_score(" ".join(words)) < 2


def _introduced(words: str, title: str) -> tuple[str, str]:
    """(name, the rest of the sentence) of somebody whom it introduces; two empty strings for other sentences."""
    words = without_pronouns(words)
    folded = words.casefold().replace("’", "'")
    for phrase in word_lists("people")["introductions"]:
        greeting, found, _ = folded.partition(f"{phrase} ")
        if not found or len(greeting.split()) > 2 or greeting.rstrip()[-1:] not in ("", ",", "!", ".", "-", "–", "—"):
            continue
        rest = words[len(greeting) + len(phrase) :]
        named = list(_leading_name(rest.split()))
        if is_name(named):
            return " ".join(named), rest.split(named[-1], 1)[1]
    known = name_in_title(title)
    for name in filter(None, (known, known.partition(" ")[0])):
        if words.startswith((f"{name} is ", f"{name}, ")):
            return known, words.removeprefix(name)
    return "", ""


def _leading_name(words: Sequence[str]) -> Iterator[str]:
    for word in words[:_MAX_INTRODUCED]:
        bare = word.strip(_ENDS)
        if not bare or not (bare[:1].isupper() or fold(bare) in word_lists("people")["particles"]):
            return
        yield bare
        if word[-1:] in _ENDS:
            return


def _described(rest: str) -> tuple[str, str]:
    """(headline, place) of "..., an engineer in Leipzig."; each may be empty."""
    clause = rest.lstrip(", ").removeprefix("and ").removeprefix("I'm ").removeprefix("I am ").removeprefix("is ")
    clause = clause.partition(". ")[0].rstrip(".! ")
    words = clause.split()
    if not words or fold(words[0]) not in ("a", "an", "the", "ein", "eine"):
        return "", stated_home(rest)
    for number, word in enumerate(words):
        if fold(word) in ("in", "from", "based") and (
            place := _place_at(" ".join(words[number + (fold(word) != "based") :]).removeprefix("based in "))
        ):
            return " ".join(words[1:number]).rstrip(",")[:_MAX_HEADLINE], place
    headline = " ".join(words[1:])
    ends = [at for sign in (", ", "; ", " who ", " and I ", " – ", " — ") if (at := headline.find(sign)) > 0]
    return headline[: min(ends, default=_MAX_HEADLINE)][:_MAX_HEADLINE], stated_home(rest)


def _place_at(words: str) -> str:
    """The longest known place at the start of the words; a single unknown word with a capital counts as well."""
    parts = words.split()[:_MAX_PLACE_WORDS]
    stop = next((number for number, part in enumerate(parts, 1) if part[-1] in ".;:!?()"), len(parts))
    for size in range(stop, 0, -1):
        place = " ".join(parts[:size]).strip(_ENDS + " ")
        if place_score(place) >= 2:
            return place
    first = parts[0] if parts else ""
    return first.strip(_ENDS) if first[:1].isupper() and first.strip(_ENDS).isalpha() else ""


@cache
def _pronouns() -> frozenset[str]:
    return frozenset(word_lists("people")["pronouns"])
