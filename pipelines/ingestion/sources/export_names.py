"""The names in an export of Notion: where something lies, what people call it, and where that which belongs to it lies.

They are data, never paths.
"""

import re
import zipfile

from pipelines.text import canonical

_ID = re.compile(r"(?:^|[ -])[0-9a-f]{32}(?=$|\.|_all\.)")
_TOP = re.compile(r"Export-[0-9a-f-]{36}", re.IGNORECASE)


def place_of(info: zipfile.ZipInfo) -> str:
    """A member's name as a path that leads nowhere else; empty where nothing is left of it, and for hidden files."""
    parts = [canonical(part).strip() for part in _name(info).replace("\\", "/").split("/")]
    kept = [part for part in parts if part not in ("", ".", "..")]
    if kept and _TOP.fullmatch(kept[0]):
        kept = kept[1:]
    return "" if any(part.startswith((".", "__MACOSX")) for part in kept) else "/".join(kept)


def has_id(place: str) -> bool:
    """Whether a name ends in an id, as Notion writes it."""
    return bool(_ID.search(place.rpartition("/")[2]))


def readable(place: str) -> str:
    """A place without Notion's ids."""
    return "/".join(_readable(part) for part in place.split("/"))


def folder_of(place: str) -> str:
    """The readable folder of what belongs to a page or table: its name without the ending.

    Notion does not always give both their id.
    """
    return readable(place).rpartition(".")[0]


def _name(info: zipfile.ZipInfo) -> str:
    """A member's name; Notion writes UTF-8, but does not always say so."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.orig_filename.partition("\0")[0].encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _readable(part: str) -> str:
    """A part of a path without Notion's id."""
    bare = _ID.sub("", part, count=1).replace("_all.", ".") if _ID.search(part) else part
    return f"Untitled{bare}" if not bare or bare.startswith(".") else bare
