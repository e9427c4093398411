"""Write settings into `.env`: every other line stays as it is, and only its owner may read the file."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

ENV_FILE = Path(".env")  # where Settings reads it
_SIGNS = frozenset("-_.:/@+=,")  # of values, beside letters and digits: none of them means anything in the file


def is_writable_value(value: str) -> bool:
    """True if a value can stand in the file as it is: ASCII letters, digits and a few signs."""
    return bool(value) and all((char.isascii() and char.isalnum()) or char in _SIGNS for char in value)


def write_env(path: Path, given: Mapping[str, str]) -> None:
    """Set these variables in the file, in place of lines that set them; the file is replaced as a whole.

    Raises:
        ValueError: If a value holds a sign that means something in such a file.
        OSError: If the file cannot be read or written; it is as it was then.
    """
    wrong = [name for name, value in given.items() if not is_writable_value(value)]
    if wrong:
        raise ValueError(f"The value of {wrong[0]} cannot be written: it holds other signs than letters and digits.")
    target = path.resolve()  # the file, not a link to it, is replaced
    old = target.read_text("utf-8").splitlines() if target.exists() else []
    kept = [line for line in old if _name_of(line) not in given]
    text = "\n".join([*kept, *(f"{name}={value}" for name, value in given.items())]) + "\n"
    handle, new = tempfile.mkstemp(dir=target.parent, prefix=".env.")  # which makes it readable to its owner alone
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, target)
    except OSError:
        Path(new).unlink(missing_ok=True)
        raise


def _name_of(line: str) -> str:
    """The variable that a line sets, in capitals, as the settings read it."""
    return line.partition("=")[0].strip().removeprefix("export ").strip().upper()
