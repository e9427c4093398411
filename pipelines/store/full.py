"""A full disk, however it shows: as the error of a file, of Postgres, or in the words of a program."""

import errno

_NUMBERS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_WORDS = ("No space left on device", "Disk quota exceeded", "File too large")
_POSTGRES = "53100"
HINT = "Free some space there; what was finished stays, and the next run goes on."


def is_full(error: object) -> bool:
    """Whether an error of the system or of psycopg2 means that nothing more fits; some only say so."""
    if isinstance(error, OSError):
        return error.errno in _NUMBERS
    return getattr(error, "pgcode", None) == _POSTGRES or says_full(str(error))


def says_full(text: str) -> bool:
    """Whether a program's output says that nothing more fits."""
    return any(words in text for words in _WORDS)
