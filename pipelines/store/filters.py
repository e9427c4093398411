"""Filters and audience as SQL conditions with bound values."""

from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, date, datetime, time

from sqlalchemy import ColumnElement, and_, func, or_, true

from pipelines.errors import RetrievalError
from pipelines.store.schema import documents
from pipelines.types import Audience, Filters


def matching(filters: Filters) -> list[ColumnElement[bool]]:
    """The conditions of these filters on documents; an empty list if there are none.

    Raises:
        RetrievalError: If a value has a NUL or a lone surrogate, or a date is not ISO.
    """
    check(filters)
    d = documents.c
    conditions: list[ColumnElement[bool]] = []
    if filters.author:
        conditions.append(func.lower(d.author).in_([author.lower() for author in filters.author]))
    dated = func.coalesce(d.published_at, d.modified_at)
    if filters.since:
        conditions.append(dated >= _midnight(filters.since))
    if filters.until:
        conditions.append(dated <= datetime.combine(_midnight(filters.until), time.max, UTC))
    if filters.document:
        named = [func.right(d.name, len(name) + 1) == f"/{name}" for name in filters.document]
        conditions.append(
            or_(d.id.in_(filters.document), d.name.in_(filters.document), d.title.in_(filters.document), *named)
        )
    return conditions


def check(filters: Filters) -> None:
    """Refuse filter values that cannot be sent to Postgres.

    Raises:
        RetrievalError: If a value has a NUL or a lone surrogate.
    """
    for each in fields(filters):
        given = getattr(filters, each.name)
        if not all(map(is_storable, (given,) if isinstance(given, str) else given)):
            raise RetrievalError(
                f"The {each.name} filter holds a character that cannot be stored.",
                hint="Remove the NUL or the broken character.",
            )


def is_storable(value: object) -> bool:
    """True if the text of a value has no NUL and no lone surrogate, which Postgres refuses."""
    return not any(char == "\x00" or "\ud800" <= char <= "\udfff" for char in str(value))


def storable(values: Iterable[str]) -> list[str]:
    """Those of the values that can be stored, so that a stored value may equal them."""
    return list(filter(is_storable, values))


def seen_by(audience: Audience) -> ColumnElement[bool]:
    """The condition that an audience may see a document."""
    return true() if audience == "owner" else documents.c.visibility == "public"


def _midnight(day: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(day), time(), UTC)
    except ValueError as error:
        raise RetrievalError(f"{day[:40]!r} is not a date.", hint="Write YYYY-MM-DD, as in 2024-06-30.") from error


_TYPOGRAPHIC = dict(zip("‘’‚‛“”„‟«»‐‑‒–—−\xa0", "''''" + '""""""' + "------ ", strict=True))
_PLAIN = str.maketrans("".join(_TYPOGRAPHIC), "".join(_TYPOGRAPHIC.values()))


def holds(text: ColumnElement[str], phrase: str) -> ColumnElement[bool]:
    """True if a text has a phrase; case, line breaks and the kinds of quotes and dashes do not count.

    The database folds the case of ASCII letters only (in its C locale), so the other letters of the phrase are folded
    by `translate`. Its longest word is searched first, which is cheap and excludes most texts.
    """
    wanted = " ".join(phrase.translate(_PLAIN).lower().split())
    # Typographic marks, and the capitals of the phrase's letters beyond ASCII.
    capitals = {char.upper(): char for char in wanted if not char.isascii() and len(char.upper()) == 1}
    pairs = _TYPOGRAPHIC | capitals
    ascii_only = "".join(char if char.isascii() and char.isalnum() else " " for char in wanted)
    plain = max(ascii_only.split(), key=len, default="")
    longest = max(wanted.split(), key=len, default="")
    lowered = func.lower(text)
    folded = func.translate(lowered, "".join(pairs), "".join(pairs.values()))
    likely = func.strpos(lowered, plain) > 0 if plain else func.strpos(folded, longest) > 0
    return and_(likely, func.strpos(func.regexp_replace(folded, r"\s+", " ", "g"), wanted) > 0)
