"""Build the language model that the settings name, and stream its completions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from time import monotonic
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import LLM, ChatMessage, ChatResponse
from llama_index.llms.openai_like import OpenAILike
from llama_index.llms.openrouter import OpenRouter
from pydantic import SecretStr

from config.settings import OPENAI_BASE, LLMSettings, Settings
from pipelines.errors import ConfigError, FootnoteError, ModelError, ServiceUnavailable
from pipelines.models.endpoint import (
    HIDDEN_KEY,
    LLM_VARIABLE,
    REQUEST_ERRORS,
    Endpoint,
    cancellable_client,
    describe_error,
    secret,
    send,
)
from pipelines.models.identity import LLMIdentity, llm_identity
from pipelines.models.served import served_models
from pipelines.models.speed import Speed, SpeedLog
from pipelines.models.usage import Call, count, record_token_counts
from pipelines.observe import log
from pipelines.text import count_tokens, printable

_CONTROLS = dict.fromkeys((*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)))  # of a terminal
DEFAULT_WINDOW = 8192  # tokens, where neither a setting nor the server tells
_UNKNOWN_MODEL = "default"  # which servers of one model take for theirs
_CUT = (None, "", "length", "content_filter", "error")


def build_llm(settings: Settings) -> LLM | None:
    """The language model of `llm_identity(settings)`, None if there is none; no request is sent yet.

    Raises:
        ConfigError: If a key or a model's name is missing, or FOOTNOTE_CA_FILE cannot be used.
    """
    chosen, asked = llm_identity(settings), settings.llm
    if chosen is None:
        return None
    endpoint = _endpoint(settings, chosen)
    limits: dict[str, Any] = {
        "max_tokens": asked.max_tokens,
        "context_window": asked.context_window or DEFAULT_WINDOW,
        "temperature": asked.temperature,
        "timeout": asked.timeout_seconds,
    }
    kind = OpenRouterLLM if chosen.provider == "openrouter" else CompatibleLLM
    return kind(endpoint, SpeedLog(settings.home / "model_speeds.json"), **limits)


def window_of(llm: LLM, settings: LLMSettings) -> int:
    """The window of a model in tokens: that of the settings, else what its server tells, else its metadata's.

    The server is asked once for each model; without an answer in three seconds the metadata count.
    """
    return settings.context_window or told_window(llm) or int(llm.metadata.context_window)


def told_window(llm: LLM) -> int | None:
    """The window that the server of a model tells; None if it tells none, or does not answer in three seconds."""
    if not isinstance(llm, CompatibleLLM):
        return None
    try:
        return _told_window(llm.endpoint)
    except ServiceUnavailable as error:  # asked again the next time
        log("info", "the window of the language model is not known", reason=str(error))
        return None


@lru_cache(maxsize=16)
def _told_window(endpoint: Endpoint) -> int | None:
    served = served_models(endpoint)
    return next((model.window for model in served if model.name == endpoint.model or len(served) == 1), None)


def limited(llm: LLM, reply_tokens: int) -> LLM:
    """The model with so many tokens for a reply at most; another package's model as it is."""
    if not isinstance(llm, OpenRouterLLM | CompatibleLLM) or (llm.max_tokens or 0) <= reply_tokens:
        return llm
    return llm.model_copy(update={"max_tokens": reply_tokens})


def timeout_of(llm: LLM) -> float | None:
    """The seconds that a reply of a model of the settings may take; None for another package's model."""
    return float(llm.timeout) if isinstance(llm, OpenRouterLLM | CompatibleLLM) else None


def speed_of(llm: LLM) -> Speed | None:
    """The measured speed of a model of the settings; None if it has not been measured, or is another package's."""
    return llm.speeds.of(llm.endpoint.label) if isinstance(llm, OpenRouterLLM | CompatibleLLM) else None


class OpenRouterLLM(OpenRouter):
    """LlamaIndex's OpenRouter without its retries, with a hidden key."""

    _endpoint: Endpoint = PrivateAttr()
    _speeds: SpeedLog = PrivateAttr()

    def __init__(self, endpoint: Endpoint, speeds: SpeedLog, **limits: Any) -> None:
        super().__init__(**_arguments(endpoint), **limits)
        self._endpoint, self._speeds = endpoint, speeds

    @property
    def endpoint(self) -> Endpoint:
        """The server and the model."""
        return self._endpoint

    @property
    def speeds(self) -> SpeedLog:
        """Where its speed is kept."""
        return self._speeds

    def _get_credential_kwargs(self, is_async: bool = False) -> dict[str, Any]:
        return {**super()._get_credential_kwargs(is_async), "api_key": self._endpoint.key.get_secret_value()}


class CompatibleLLM(OpenAILike):
    """Any OpenAI-compatible chat server, without LlamaIndex's retries, with a hidden key."""

    _endpoint: Endpoint = PrivateAttr()
    _speeds: SpeedLog = PrivateAttr()

    def __init__(self, endpoint: Endpoint, speeds: SpeedLog, **limits: Any) -> None:
        super().__init__(is_chat_model=True, **_arguments(endpoint), **limits)
        self._endpoint, self._speeds = endpoint, speeds

    @property
    def endpoint(self) -> Endpoint:
        """The server and the model."""
        return self._endpoint

    @property
    def speeds(self) -> SpeedLog:
        """Where its speed is kept."""
        return self._speeds

    def _get_credential_kwargs(self, is_async: bool = False) -> dict[str, Any]:
        return {**super()._get_credential_kwargs(is_async), "api_key": self._endpoint.key.get_secret_value()}


class Completion:
    """One reply of a language model: iterate once over its pieces of text; the attributes are set when that ends.

    Attributes:
        finish_reason: The server's word for why the model stopped; None if the stream was cut.
        usage: `prompt_tokens`, `completion_tokens` and `total_tokens`; empty if the server does not report them.
        failure: The error that broke the stream after its first piece; the pieces before it stay.
    """

    def __init__(self, llm: LLM, messages: Sequence[ChatMessage]) -> None:
        self.finish_reason: str | None = None
        self.usage: dict[str, int] = {}
        self.failure: FootnoteError | None = None
        self._llm = llm
        self._messages = messages
        self._endpoint = llm.endpoint if isinstance(llm, OpenRouterLLM | CompatibleLLM) else _unknown(llm)
        self._text: list[str] = []
        self._asked = False
        self._opened = self._first = 0.0  # when the request was sent, and the seconds until the first piece
        self._pieces = self._stream()
        count(self._spent)

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    @property
    def truncated(self) -> bool:
        """True if the text is incomplete: cut off, out of tokens, or filtered."""
        return self.finish_reason in _CUT

    def _stream(self) -> Iterator[str]:
        self._asked = True
        try:
            chunks, piece = send(self._endpoint, self._open) if self._endpoint.url else self._open()
        except FootnoteError:
            self._asked = bool(self.usage)  # a refused request costs nothing
            raise
        except Exception as error:
            raise self._failed(error) from error
        yield piece
        try:
            for chunk in chunks:
                if piece := self._read(chunk):
                    yield piece
            self._learn()
        except Exception as error:  # noqa: BLE001 - raised again, if it is no request's
            self.finish_reason, self.failure = None, self._failed(error)

    def _failed(self, error: Exception) -> FootnoteError:
        """The error for a reader; what another package's model raised is a ModelError, and a bug is raised again."""
        if not self._endpoint.url:
            return ModelError(f"{self._endpoint.model} failed: {type(error).__name__}: {error}.")
        if not isinstance(error, REQUEST_ERRORS):
            raise error
        return describe_error(error, self._endpoint)

    def _learn(self) -> None:
        """Record the endpoint's count of the prompt's tokens with ours, if it reports one, and the model's speed."""
        counted = sum(count_tokens(str(message.content)) for message in self._messages)
        if reported := self.usage.get("prompt_tokens"):
            record_token_counts(self._endpoint.model, counted=counted, reported=reported)
        if isinstance(self._llm, OpenRouterLLM | CompatibleLLM):
            self._llm.speeds.record(
                self._endpoint.label,
                prompt_tokens=reported or counted,
                first=self._first,
                reply_tokens=self.usage.get("completion_tokens") or count_tokens("".join(self._text)),
                whole=monotonic() - self._opened,
            )

    def _open(self) -> tuple[Iterator[ChatResponse], str]:
        self.finish_reason, self.usage, self._text, self._opened = None, {}, [], monotonic()
        chunk, chunks = None, iter(self._llm.stream_chat(self._messages))
        for chunk in chunks:
            if piece := self._read(chunk):
                self._first = monotonic() - self._opened
                return chunks, piece
        if chunk is None:
            raise ValueError("The stream held no chunk.")
        model = self._endpoint.label
        if self.finish_reason == "length":
            raise ModelError(
                f"{model} used its token limit before it wrote an answer.", hint="Raise FOOTNOTE_LLM__MAX_TOKENS."
            )
        raise ModelError(f"{model} returned an empty answer.", hint="Try again, or choose another model.")

    def _read(self, chunk: ChatResponse) -> str:
        counts = ("prompt_tokens", "completion_tokens", "total_tokens")
        self.usage |= {name: chunk.additional_kwargs[name] for name in counts if name in chunk.additional_kwargs}
        if chunk.raw is None:
            self.finish_reason = "stop"
        for choice in getattr(chunk.raw, "choices", None) or ():
            self.finish_reason = choice.finish_reason or self.finish_reason
        piece = (chunk.delta or "").translate(_CONTROLS)
        self._text.append(piece)
        return piece

    def _spent(self) -> Call | None:
        """The tokens of this request, estimated if its server has not reported them."""
        if not self._asked:
            return None
        if {"prompt_tokens", "completion_tokens"} <= self.usage.keys():
            return Call("llm", self.usage["prompt_tokens"], self.usage["completion_tokens"])
        read = sum(count_tokens(message.content or "") for message in self._messages)
        return Call("llm", read, count_tokens("".join(self._text)), estimated=True)


def complete(llm: LLM, messages: Sequence[tuple[str, str]]) -> Completion:
    """The reply to `messages`, (role, content) each; the request is sent when the iteration begins.

    A request is sent again as LLMSettings.retries allows, but never after the first piece of text. Before that piece
    the iteration raises its errors; after it, it ends early with `truncated` and `failure` set.

    Raises:
        ServiceUnavailable: While iterating, if the server cannot be reached or does not answer in time.
        ModelError: While iterating, if it answers with an error, with nonsense or without a word.
    """
    return Completion(llm, [ChatMessage(role=role, content=printable(content)) for role, content in messages])


def _endpoint(settings: Settings, chosen: LLMIdentity) -> Endpoint:
    openrouter = chosen.provider == "openrouter"
    variable = "OPENROUTER_API_KEY" if openrouter else "OPENAI_API_KEY"
    key = settings.openrouter_api_key if openrouter else settings.openai_api_key
    url = settings.openrouter_api_base if openrouter else settings.llm.api_base or settings.openai_api_base
    server = Endpoint(url, chosen.model, secret(key), settings.llm.retries, variable, LLM_VARIABLE, settings.ca_file)
    model = chosen.model or _only_model(server)
    if key is None and (openrouter or url == OPENAI_BASE):
        raise ConfigError(f"{model} needs a key.", hint=f"Set {variable}, or FOOTNOTE_LLM__PROVIDER=none.")
    return replace(server, model=model)


def _only_model(endpoint: Endpoint) -> str:
    """The model of a server that serves one; `default` while the server cannot be reached, so that it is asked later.

    Raises:
        ConfigError: If it serves none or several.
    """
    hint = "Set FOOTNOTE_LLM__MODEL or OPENAI_MODEL."
    if endpoint.url == OPENAI_BASE:
        raise ConfigError(f"No language model is set for {endpoint.url}.", hint=hint)
    try:
        names = [model.name for model in served_models(endpoint)]
    except ServiceUnavailable as error:
        log("warning", "the language model is not known", reason=str(error))
        return _UNKNOWN_MODEL
    if len(names) != 1:
        shown = ", ".join(names[:8]) or "none"
        raise ConfigError(f"No language model is set for {endpoint.name}, which serves {shown}.", hint=hint)
    return names[0]


def _unknown(llm: LLM) -> Endpoint:
    return Endpoint("", llm.metadata.model_name, SecretStr(""), 0, "its key", LLM_VARIABLE)


def _arguments(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "model": endpoint.model,
        "api_base": endpoint.url,
        "api_key": HIDDEN_KEY,
        "http_client": cancellable_client(endpoint),
        "max_retries": 0,
        "additional_kwargs": {"stream_options": {"include_usage": True}},
    }
