"""Why a document could not be prepared, as a value that crosses processes."""

import signal
import traceback
from dataclasses import dataclass

from pipelines.errors import ConfigError, FootnoteError, LoadError, ParseError
from pipelines.types import IngestItem

_DONE = {"read": "read", "load": "read", "parse": "parsed"}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a document could not be prepared: the stage, the error's class and sentence, and what to do.

    A `fatal` one (a setting, a missing package) would meet every other document too, and ends the run.
    """

    stage: str
    error: str
    message: str
    hint: str = ""
    fatal: bool = False
    detail: str = ""

    @classmethod
    def of(cls, error: BaseException, stage: str, name: str) -> "Failure":
        """The failure that an error means for the document of that name."""
        known = isinstance(error, FootnoteError)
        return cls(
            stage=stage,
            error=type(error).__name__,
            message=error.message if isinstance(error, FootnoteError) else f"{name}: {error}"[:2000],
            hint=error.hint if isinstance(error, FootnoteError) else "This is a bug; --json has its class.",
            fatal=isinstance(error, ConfigError),
            detail="" if known else "".join(traceback.format_exception(error)),
        )

    def item(self, document: str, document_id: str) -> IngestItem:
        """What became of the document of that name; its id is empty where nothing of it is stored."""
        return IngestItem(
            document=document,
            outcome="failed",
            stage=self.stage,
            error=self.error,
            message=self.message,
            hint=self.hint,
            document_id=document_id,
        )


def lacked_memory(error: BaseException | None) -> bool:
    """Whether an error is for want of memory, or is what a library made of such a one."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def out_of_memory(stage: str, name: str, megabytes: int) -> Failure:
    """The failure of a document that needed more than the memory that a document may take."""
    return _stopped(
        stage,
        f"{name} needed more than {megabytes:,} MB of memory to be {_DONE.get(stage, stage)}.",
        "Split it, or raise FOOTNOTE_INGESTION__DOCUMENT_MEMORY_MB.",
    )


def out_of_time(stage: str, name: str, seconds: float) -> Failure:
    """The failure of a document whose worker was stopped because it took too long."""
    return _stopped(
        stage,
        f"{name} took longer than {seconds:g} seconds to be {_DONE.get(stage, stage)}, and was stopped.",
        "Split it, or raise FOOTNOTE_INGESTION__DOCUMENT_SECONDS.",
    )


def too_large(name: str, size: int, most: int) -> Failure:
    """The failure of a document that is too large to be handed on, once it is parsed."""
    return _stopped("parse", f"{name} comes to {size:,} bytes once it is parsed, over {most:,}.", "Split it.")


def crashed(stage: str, name: str, code: int, said: str) -> Failure:
    """The failure of a document whose worker ended while it was at it.

    Args:
        code: Its exit code; a negative one is the number of the signal that ended it.
        said: The last that it said on its error stream.
    """
    if code == -signal.SIGKILL:
        how = "was killed from outside (signal 9), perhaps by the system for want of memory"
    elif code < 0:
        how = f"crashed (signal {-code}, {signal.strsignal(-code) or 'unknown'})"
    else:
        how = f"ended (exit code {code})"
    hint = "Save it anew or in another format. The other documents are not touched."
    return _stopped(stage, f"{name} could not be {_DONE.get(stage, stage)}: what was at it {how}.", hint, said)


def _stopped(stage: str, message: str, hint: str, detail: str = "") -> Failure:
    kind = ParseError if stage == "parse" else LoadError
    return Failure(stage, kind.__name__, message, hint, detail=detail)
