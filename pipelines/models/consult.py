"""A language model's reply within a time: it is listened to in a thread, and given up when the time is over."""

import contextvars
import queue
import threading
from collections.abc import Sequence

from llama_index.core.llms import LLM

from pipelines.errors import FootnoteError, ModelError, ServiceUnavailable


def consult(llm: LLM, messages: Sequence[tuple[str, str]], *, seconds: float, limit: int, hint: str = "") -> str:
    """What the model replies to `messages`, (role, content) each; at most `limit` characters of it.

    `hint` says what to set when it takes too long.

    A model that is given up goes on in its thread until its next word or its own timeout; that thread ends with the
    process.

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

    said = ""
    for piece in complete(llm, messages):
        said += piece
        if len(said) >= limit or given_up.is_set():
            break
    return said[:limit]
