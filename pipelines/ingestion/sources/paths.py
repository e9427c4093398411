"""The paths that locations name, and what is said of one where nothing is."""

import os
import re
from difflib import get_close_matches
from pathlib import Path

from pipelines.errors import SourceError
from pipelines.store.originals import named_path, path_of

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://|[A-Za-z]{2,30}:(?!\s)")
_ALIKE = 0.8  # of 1: gihtub is meant for github, gitlab is not
_KINDS = "Name a file, a folder, github:OWNER, notion:ID or an address that begins with https://."


def read_path(location: str) -> Path:
    """The path that a location names; nothing has to be there.

    Raises:
        SourceError: If it is empty, holds a zero byte, or begins like another kind of source, one that there is not,
            and no file is called so. With `./` before it, it is a path all the same.
    """
    if not location.strip():
        raise SourceError("An empty location names no source.", hint=_KINDS)
    if "\0" in location:
        raise SourceError(f"The path {location!r} holds a zero byte, as no path does.", hint="Check the path.")
    path, text = named_path(location), printable(location).strip()
    if _SCHEME.match(text) and not os.path.lexists(path):
        kind, _, rest = text.partition(":")
        said = f"{text} names no source: {kind}: is no kind of source, and no file is called so."
        raise SourceError(said, hint=_kind_meant(kind.lower(), rest))
    return path


def where_it_may_be(location: str) -> str:
    """What to do about a location where nothing is: it may be meant for the web, or lie elsewhere."""
    if location.lower().startswith("www."):
        return f"Did you mean https://{location}?"
    path = named_path(location)
    if path.parts[:1] and path.parts[0].startswith("~"):
        return f"No user is called {path.parts[0][1:]}."
    return "Check the path." if path.is_absolute() else f"Check the path; it was looked for in {Path.cwd()}."


def printable(text: str) -> str:
    """A path as a message or a database can hold it: names of files need not be UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _kind_meant(kind: str, rest: str) -> str:
    if kind == "file" and rest.startswith("///"):
        return f"Did you mean {path_of(f'file:{rest}')}?"
    near = get_close_matches(kind, ("github", "notion", "https", "http"), 1, _ALIKE)
    return f"Did you mean {near[0]}:{rest}?" if near else _KINDS
