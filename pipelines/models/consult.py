"""Ask a language model for a whole reply within a time limit."""

import contextvars
import queue
import threading
from collections.abc import Sequence

from llama_index.core.llms import LLM

from pipelines.errors import FootnoteError, ModelError, ServiceUnavailable


def consult(llm: LLM, messages: Sequence[tuple[str, str]], *, seconds: float, limit: int, hint: str = "") -> str:
    """Return the model's reply to `messages`, (role, content) each, cut to `limit` characters.

    The model runs in a daemon thread. After `seconds` the call raises, and the thread ends at the next token or at the
    model's own timeout. `hint` is the hint of that error.

    Raises:
        ServiceUnavailable: If the model cannot be reached, or has not finished after `seconds`.
        ModelError: If it fails in any other way.
    """
    replies: queue.Queue[str | Exception] = queue.Queue(1)
    given_up = threading.Event()

    def listen() -> None:
        try:
            replies.put(_reply(llm, messages, limit, given_up))
        except Exception as error:  # noqa: BLE001 - whatever a model's library raises ends the attempt, not the search
            replies.put(error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(listen,), name="consult", daemon=True).start()
    try:
        reply = replies.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        given_up.set()
        raise ServiceUnavailable(f"The language model took more than {seconds:.1f} s.", hint=hint) from None
    if isinstance(reply, FootnoteError):
        raise reply
    if isinstance(reply, Exception):
        raise ModelError(f"The language model failed: {reply or type(reply).__name__}.", hint="Try again.") from reply
    return reply


def _reply(llm: LLM, messages: Sequence[tuple[str, str]], limit: int, given_up: threading.Event) -> str:
    from pipelines.models.llm import complete  # its libraries take a second to import

    text = ""
    for piece in complete(llm, messages):
        text += piece
        if len(text) >= limit or given_up.is_set():
            break
    return text[:limit]
