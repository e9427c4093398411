"""A language model that says what a test tells it to."""

import time
from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata


class Voice(CustomLLM):
    """Says one reply after another, line by line, the last one again and again; one that begins with ! is raised.

    Attributes:
        wait: Seconds before each reply.
        asked: How often it was asked.
    """

    replies: list[str]
    wait: float = 0.0
    asked: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="voice")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        reply = self.replies[min(self.asked, len(self.replies) - 1)]
        self.asked += 1
        if reply.startswith("!"):
            raise RuntimeError(reply[1:])
        time.sleep(self.wait)
        for line in reply.splitlines(keepends=True):
            yield CompletionResponse(text=line, delta=line)
