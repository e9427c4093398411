"""The errors a person can meet.

FootnoteError
├── ConfigError          a setting, a missing package or a database that does not fit; exit code 3
├── SourceError          a source cannot be listed or read (missing path, refused address, no answer)
├── LoadError            a file cannot be read as its type (encrypted, truncated, binary, too large)
├── ParseError           a parser broke its contract for a document
├── StoreError           the database refused a write, or an invariant does not hold
├── RetrievalError       a question cannot be searched (empty, a wrong filter)
│   ├── NotFound         there is no such document, query, collection or job
│   └── TooLarge         a question, a comment or an upload is over its limit
├── PackError            an answer pack cannot be read or written
├── ModelError           an embedding or language model answered with an error or with nonsense
│   └── PromptTooLong    a request does not fit into a language model's window
└── ServiceUnavailable   the database, a model or a cluster cannot be reached; exit code 5

Each says what happened, to which document or question, and what to do (`hint`).
"""

import math

from pipelines.wording import with_hint

UNTIL_MENDED = math.inf  # seconds: as long as nobody mends what is refused, asking again is no use


class FootnoteError(Exception):
    """The base of every error that Footnote raises on purpose.

    Attributes:
        message: One sentence: what happened, and to what.
        hint: What to do about it, often a command; may be empty.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(with_hint(message, hint))
        self.message = message
        self.hint = hint


class ConfigError(FootnoteError):
    """Raised when the settings, the installed packages or the database's shape do not fit together."""


class SourceError(FootnoteError):
    """Raised when a source cannot be listed, or something of it not be read.

    Attributes:
        wait: Seconds for which it asks to be left alone; 0 where it says none, infinite (`UNTIL_MENDED`) where it
            refuses a key, a right or an address.
    """

    def __init__(self, message: str, *, hint: str = "", wait: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.wait = wait


def as_source_error(error: FootnoteError) -> SourceError:
    """The same words as what is wrong with a source, which ends the listing and not the run."""
    return SourceError(error.message, hint=error.hint, wait=error.wait if isinstance(error, SourceError) else 0.0)


class LoadError(FootnoteError):
    """Raised when bytes cannot be turned into a Document."""


class ParseError(FootnoteError):
    """Raised when a document cannot be cut into nodes that satisfy the contract."""


class StoreError(FootnoteError):
    """Raised when a write is refused; nothing of that document was written."""


class RetrievalError(FootnoteError):
    """Raised when a question cannot be searched."""


class NotFound(RetrievalError):
    """Raised when there is nothing of the given name or number, or it may not be seen."""


class TooLarge(RetrievalError):
    """Raised when what was given is over its limit."""


class PackError(FootnoteError):
    """Raised when a file is not an answer pack, is damaged, or cannot be read or written."""


class ModelError(FootnoteError):
    """Raised when a model answers with an error or with something that cannot be used."""


class PromptTooLong(ModelError):
    """Raised when a request does not fit into a model's window."""


class ServiceUnavailable(FootnoteError):
    """Raised when a database, a model endpoint or a cluster cannot be reached."""
