"""Talks in lists: title, place and date of each entry."""

from collections.abc import Sequence

from pipelines.facts import TalkFacts
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields
from pipelines.ingestion.words import word_lists
from pipelines.structure import lines_between
from pipelines.text import fold, plain

_QUOTES = (("“", "”"), ("„", "“"), ("«", "»"), ('"', '"'), ("‘", "’"), ("<", ">"))
_SEPARATORS = ("\n", "\t", " | ", " · ", " • ", " — ", " – ", " -- ", " - ")
_EDGES = " \t\n,;:|·•–—-()[]/"
_MAX_TITLE, _MAX_PLACE = 200, 120
_MAX_HEAD = 3  # words before a colon that name a place or a kind
_AT = (" at ", " @ ", " bei ", " auf der ", " à ", " en ", " presso ")


def talk_facts(text: str, start: int, end: int) -> TalkFacts | None:
    """The talk that a list entry states; None if it states no title.

    The title is what stands in quotation marks, else the part before the first separator; without separators, before
    the first comma or "at". The rest without the date is the place.
    """
    words = "\n".join(" ".join(line.split()) for line in plain(text[start:end]).split("\n")).strip()
    dated = _date_of(words)
    words = words[: dated.end] if dated and _begins_sentence(words[dated.end :]) else words
    when = _day_and(words, dated)
    rest = words.replace(when, " ", 1) if dated else words
    head, colon, after = rest.strip(_EDGES).partition(": ")
    is_led = bool(colon) and len(head.split()) <= _MAX_HEAD
    kind = kind_in(words)
    if marked := _emphasised(text[start:end]):
        title, place = marked, _place(rest.replace(marked, " ", 1))
    elif is_led and kind_in(head):  # "panel: Who may edit the map? Boat Days, Leith"
        asks, mark, rest = after.partition("? ")
        title, place = (f"{asks}?", _place(rest)) if mark else _title_and_place(after)
    elif is_led and words.startswith(when or " ") and not _has_quotes(rest):  # "9 Oct 2025, Malmö: Maps at sea"
        title, place = _closed(after), _place(head)
    else:
        title, place = _title_and_place(rest)
    head, colon, tail = title.rpartition(": ")
    title = head if colon and kind_in(tail) and len(tail.split()) == 1 else title
    if not title or len(title) > _MAX_TITLE:
        return None
    fields = date_fields(dated) | ({"date_range": when} if dated else {})
    return TalkFacts(span=(start, end), title=title, place=place[:_MAX_PLACE], kind=kind, **fields)


def kind_in(words: str) -> str:
    """The kind of a talk that words name: `podcast`, `workshop`; empty if they name none."""
    tokens = [word.strip(_EDGES + ".") for word in fold(words).split()]
    singular = [token.removesuffix("s") for token in tokens]
    return next((token for token in singular if token in word_lists("talks")["kinds"]), "")


def _emphasised(raw: str) -> str:
    """The words in emphasis that an entry begins with; empty without."""
    bare = raw.strip()
    mark = bare[: len(bare) - len(bare.lstrip("*_"))]
    inside, closed, _ = bare[len(mark) :].partition(mark) if mark else ("", "", "")
    return " ".join(plain(inside).split()) if closed and len(inside.split()) > 1 else ""


def _has_quotes(words: str) -> bool:
    return any(opening in words for opening, _ in _QUOTES[:4])


def _closed(words: str) -> str:
    """The words without signs around them, but with the bracket that closes one of theirs."""
    bare = words.strip(_EDGES + ".")
    return f"{bare})" if bare.count("(") > bare.count(")") else bare


def table_talks(text: str, start: int, end: int) -> list[TalkFacts]:
    """The talks of a table with a column of titles, one a row; empty for other tables."""
    if "|" not in text[start:end]:
        return _labelled_talks(text, start, end)
    rows = [_row(text, *line) for line in lines_between(text, start, end) if "|" in text[slice(*line)]]
    heads = [fold(cell) for cell in rows[0][1]] if rows else []
    roles = {role: [number for number, head in enumerate(heads) if head in word_lists("talks")[role]]
             for role in ("titles", "places", "dates")}  # fmt: skip
    if not roles["titles"] or not (roles["places"] or roles["dates"]):
        return []
    found = []
    for span, cells in rows[1:]:
        if len(cells) != len(heads) or not any(char.isalnum() for cell in cells for char in cell):
            continue
        when = " ".join(cells[number] for number in roles["dates"])
        dated = _date_of(when)
        place = ", ".join(filter(None, (cells[number] for number in roles["places"])))
        fields = date_fields(dated) | ({"date_range": when} if dated else {})
        found.append(TalkFacts(span=span, title=cells[roles["titles"][0]], place=place, **fields))
    return found


def _labelled_talks(text: str, start: int, end: int) -> list[TalkFacts]:
    """The talk of a row that says its columns: "date: May 2020; title: Maps; event: Fjordconf."; empty for others."""
    cells = [cell.partition(": ") for cell in text[start:end].removesuffix(".").split("; ")]
    said = {fold(label): value for label, _, value in cells}
    first = {role: [said[head] for head in said if head in word_lists("talks")[role]]
             for role in ("titles", "places", "dates", "types")}  # fmt: skip
    if not first["titles"] or not first["places"] + first["dates"]:
        return []
    when = " ".join(first["dates"])
    dated = _date_of(when)
    fields = date_fields(dated) | ({"date_range": when} if dated else {})
    place, kind = ", ".join(first["places"]), kind_in(" ".join(first["types"]))
    return [TalkFacts(span=(start, end), title=first["titles"][0], place=place, kind=kind, **fields)]


def names_talks(title: str) -> bool:
    """True if a section's title names talks, perhaps among other works ("Publications and talks")."""
    return any(word.strip(_EDGES) in word_lists("talks")["names"] for word in fold(title).split())


def is_talk(words: str) -> bool:
    """True if an entry of a mixed list names an event or a kind of talk."""
    folded = fold(words)
    tokens = {word.strip(_EDGES + ".") for word in folded.split()}
    return not tokens.isdisjoint(word_lists("talks")["signs"]) or any(
        token.endswith(tuple(word_lists("talks")["endings"])) for token in tokens
    )


def _row(text: str, start: int, end: int) -> tuple[tuple[int, int], list[str]]:
    raw = text[start:end].strip().strip("|")
    return (start, end), [" ".join(plain(cell).split()) for cell in raw.split("|")]


def _date_of(words: str) -> DateRange | None:
    """The date that begins or ends the words, or their first sentence; else the last one that they have."""
    ranges = [one for one in date_ranges(words) if not one.current]
    for one in ranges:
        before, after = words[: one.start], words[one.end :]
        if not before.strip(_EDGES + "0123456789.") or not after.strip(_EDGES) or _begins_sentence(after):
            return one
    return ranges[-1] if ranges else None


def _begins_sentence(after: str) -> bool:
    """True if a description begins after a date."""
    return after.lstrip(") ").startswith(". ")


def _day_and(words: str, dated: DateRange | None) -> str:
    """The date as stated, with the day before it ("19 September 2019")."""
    if dated is None:
        return ""
    before = words[: dated.start].rstrip()
    bare = before.rstrip(".")
    digits = bare[len(bare.rstrip("0123456789–-")) :].lstrip("–-")
    if digits[:2].isdigit() or digits.isdigit():
        at = before.rfind(digits)
        if 0 < len(digits) <= 5 and int(digits[:2].rstrip("–-")) <= 31 and dated.text[:1].isalpha():
            return words[at : dated.end]
    return words[dated.start : dated.end]


def _title_and_place(words: str) -> tuple[str, str]:
    for opening, closing in _QUOTES:
        before, found, inside = words.partition(opening)
        title, closed, after = inside.partition(closing)
        if found and closed and len(title.split()) > 1 and len(before) < _MAX_PLACE:
            is_aside = after.strip().startswith("(") and any(map(str.isalnum, before))  # its length
            parts = [part for part in after.split(". ") if not part.strip(_EDGES).startswith("with ")]
            where = "" if is_aside else next((part for part in parts if part.strip(_EDGES)), "")
            return _closed(title), _place(f"{where} {before}")
    head, bracket, inside = words.strip().rpartition(" (")
    if bracket and inside.endswith(")") and (place_score(_place(inside)) or is_event(inside)):
        title, more = _title_and_place(head)
        return title, _place(", ".join(filter(None, (more, _place(inside)))))
    for separator in _SEPARATORS:
        parts = [part.strip(_EDGES) for part in words.split(separator)]
        parts = [part for part in parts if any(map(str.isalnum, part))]
        if len(parts) > 1:
            named = next((n for n, part in enumerate(parts) if place_score(part) < 2 and not is_event(part)), 0)
            return _closed(parts[named]), _place(", ".join([*parts[:named], *parts[named + 1 :]]))
    bare = words.strip(_EDGES)
    for sign in _AT:
        before, found, after = bare.rpartition(sign)
        if found and after[:1].isupper() and len(before.split()) > 1:
            return before.strip(_EDGES), _place(after)
    head, found, rest = bare.partition(": ")
    if found and is_event(head):
        return rest.strip(_EDGES), _place(head)
    title, *others = bare.split(", ")
    while len(others) > 1 and others[0][:1].islower() and not is_event(others[0]):
        title = f"{title}, {others.pop(0)}"  # a comma of the title
    return _closed(title), _place(", ".join(others))


def is_event(words: str) -> bool:
    """True if the words name an event: they have a word for one, or end like one ("PyCon", "Gophercon")."""
    tokens = [word.strip(_EDGES + ".0123456789") for word in fold(words).split()]
    return any(
        token in word_lists("talks")["events"] or token.endswith(tuple(word_lists("talks")["endings"]))
        for token in tokens
    )


def _place(words: str) -> str:
    place = " ".join(words.split()).strip(_EDGES + ".")
    for role in word_lists("talks")["roles"]:
        if fold(place).endswith(f" {role}"):
            place = place[: -len(role)].rstrip()
    for sign in ("at ", "@ ", "in ", "bei "):
        place = place.removeprefix(sign)
    return place.replace(" ,", ",").replace(",,", ",").replace("()", "").strip(_EDGES)


def talk_items(text: str, spans: Sequence[tuple[int, int]], *, mixed: bool) -> list[TalkFacts]:
    """The talks of list entries; of a list `mixed` with other works, only those that name an event or a talk."""
    chosen = [span for span in spans if not mixed or is_talk(text[slice(*span)])]
    found = [talk for span in chosen if (talk := talk_facts(text, *span))]
    is_dated = any(talk.start_month for talk in found)
    return [talk for talk in found if talk.start_month or talk.place or not is_dated]
