"""Ask a language model within a time limit: a whole reply, or its pieces as they come."""

import contextvars
import queue
import threading
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from llama_index.core.llms import LLM

from config.settings import Settings
from pipelines.errors import FootnoteError, ModelError, ServiceUnavailable
from pipelines.models.cancellation import Cancellation, cancelled_by
from pipelines.text import count_tokens

if TYPE_CHECKING:  # its libraries take a second to import
    from pipelines.models.llm import Completion

_SLACK = 1.5  # of the measured time, that a reply may take
_UNMEASURED = 0.25  # of a model's limit for a short reply, while it was not measured
TIMEOUT_HINT = "Raise FOOTNOTE_LLM__TIMEOUT_SECONDS, or choose a faster model."


class ReplyStream:
    """The pieces of a reply, read by a daemon thread, so that waiting for them can end; iterate once.

    After `seconds` in all, or after `close`, the request is cancelled at the server. What came until then stays:
    without any piece the iteration raises, else it ends with `failure` set.

    Raises:
        ServiceUnavailable: While iterating, if the model cannot be reached or says nothing in time.
        ModelError: While iterating, if it fails in any other way before its first piece.
    """

    def __init__(self, llm: LLM, messages: Sequence[tuple[str, str]], *, seconds: float, hint: str = "") -> None:
        from pipelines.models.llm import complete

        self._completion: Completion = complete(llm, messages)
        self._seconds, self._hint, self._until = seconds, hint, monotonic() + seconds
        self._pieces: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
        self._first: str | Exception | None = ""
        self._cancellation = Cancellation()
        self._late: FootnoteError | None = None
        self._is_closed = False
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._listen,), name="consult", daemon=True).start()

    def _listen(self) -> None:
        with cancelled_by(self._cancellation):
            try:
                for piece in self._completion:
                    self._pieces.put(piece)
                    if self._cancellation.is_cancelled:
                        break
                self._pieces.put(None)
            except Exception as error:  # noqa: BLE001 - raised again by the iteration
                self._pieces.put(error)

    def wait(self, seconds: float) -> bool:
        """True if the reply begins, or fails, within so many seconds."""
        try:
            self._first = self._first or self._pieces.get(timeout=max(min(seconds, self._left), 0.0))
        except queue.Empty:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        begun = False
        while not self._is_closed:
            try:
                piece = self._first or self._next()
                self._first = ""
            except queue.Empty:
                self.cancel()
                self._late = ServiceUnavailable(
                    f"The language model took more than {self._seconds:.1f} s.", hint=self._hint
                )
                if begun:
                    return
                raise self._late from None
            if piece is None:
                return
            if isinstance(piece, FootnoteError):
                raise piece
            if isinstance(piece, Exception):
                raise ModelError(
                    f"The language model failed: {piece or type(piece).__name__}.", hint="Try again."
                ) from piece
            begun = True
            yield piece

    def _next(self) -> str | Exception | None:
        if (left := self._left) > 0:
            return self._pieces.get(timeout=left)
        piece = self._pieces.get_nowait()
        if isinstance(piece, str):  # pieces that wait do not prolong it; an end or an error has come in time
            raise queue.Empty
        return piece

    @property
    def _left(self) -> float:
        return self._until - monotonic()

    def close(self) -> None:
        """Cancel what is left of the request; the pieces so far are a whole reply."""
        self._is_closed = True
        self.cancel()

    def cancel(self) -> None:
        """End the request at the server, if it is still under way."""
        self._cancellation.cancel()

    @property
    def failure(self) -> FootnoteError | None:
        """The error that broke the reply off; None if it is whole."""
        return None if self._is_closed else self._late or self._completion.failure

    @property
    def truncated(self) -> bool:
        """True if the text is incomplete: cut off, out of time or tokens, or filtered."""
        return not self._is_closed and (self._late is not None or self._completion.truncated)

    @property
    def usage(self) -> dict[str, int]:
        """The tokens that the server reports; empty if it does not."""
        return self._completion.usage


def consult(llm: LLM, messages: Sequence[tuple[str, str]], *, seconds: float, limit: int, hint: str = "") -> str:
    """Return the model's reply to `messages`, (role, content) each, cut to `limit` characters.

    After `seconds` the call raises, and the request is cancelled at the server. `hint` is the hint of that error.

    Raises:
        ServiceUnavailable: If the model cannot be reached, or has not finished after `seconds`.
        ModelError: If it fails in any other way.
    """
    text, stream = "", ReplyStream(llm, messages, seconds=seconds, hint=hint)
    try:
        for piece in stream:
            text += piece
            if len(text) >= limit:
                stream.close()
    finally:
        stream.cancel()
    if stream.failure is not None:
        raise stream.failure
    return text[:limit]


def reply_limit(llm: LLM, messages: Sequence[tuple[str, str]], *, reply_tokens: int, least: float) -> float:
    """The seconds that a short reply of this model may take, by its measured speed; at most its own time limit.

    One and a half times what it is expected to take, at least `least`; a quarter of the limit for a model of the
    settings that has not been measured yet.
    """
    from pipelines.models.llm import speed_of, timeout_of

    most, speed = timeout_of(llm), speed_of(llm)
    if most is None:
        return least
    read = sum(count_tokens(content) for _, content in messages)
    expected = _SLACK * speed.seconds(read, reply_tokens) if speed else _UNMEASURED * most
    return min(max(least, expected), most)


_LEAST_WINDOW = 700  # tokens
_ONE_WORD = (("system", "You answer with one word."), ("user", "Say: ready"))


def examine_llm(settings: Settings) -> tuple[bool, str, str]:
    """Ask the language model of the settings for one word: (it answered, what it is or what is wrong, what to do)."""
    from pipelines.models.llm import CompatibleLLM, OpenRouterLLM, build_llm, told_window, window_of

    try:
        llm = build_llm(settings)
        assert isinstance(llm, OpenRouterLLM | CompatibleLLM)
        label, window, began = llm.endpoint.label, window_of(llm, settings.llm), monotonic()
        stream = ReplyStream(llm, _ONE_WORD, seconds=settings.llm.timeout_seconds, hint=TIMEOUT_HINT)
        first = next(iter(stream), "")
        stream.close()
    except FootnoteError as error:
        return False, error.message.rstrip("."), error.hint
    seconds, kept = monotonic() - began, settings.llm.reply_tokens(window)
    told = told_window(llm)
    if told and window > told:
        hint = f"Set FOOTNOTE_LLM__CONTEXT_WINDOW={told}, or start the server with a larger window."
        return False, f"{label} runs with a window of {told:,} tokens, the settings say {window:,}", hint
    if window < _LEAST_WINDOW:
        hint = "Start the server with a larger window, or set FOOTNOTE_LLM__CONTEXT_WINDOW."
        return False, f"{label} has a window of {window:,} tokens, too little for rules, question and one source", hint
    known = "" if told or settings.llm.context_window else " (assumed: the server does not tell)"
    said = f"{label} answered in {seconds:.1f} s, window {window:,} tokens{known}, {kept:,} of them for the reply"
    return bool(first), said, "Choose another model: FOOTNOTE_LLM__MODEL."
