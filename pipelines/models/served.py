"""What an OpenAI-compatible server tells of its models: their names, and the window that it serves them with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import openai

from pipelines.errors import ServiceUnavailable
from pipelines.models.endpoint import Endpoint, cancellable_client, describe_error

_SECONDS = 3.0  # for an answer
# Where servers tell a window: llama.cpp, vLLM, LM Studio, OpenRouter.
_WINDOWS = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "max_context_length")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model of a server, and its window in tokens; None if the server does not tell."""

    name: str
    window: int | None


def served_models(endpoint: Endpoint) -> tuple[ServedModel, ...]:
    """The models that a server lists.

    Raises:
        ServiceUnavailable: If it cannot be reached, or lists none in the usual form.
    """
    listed = _get(endpoint, f"{endpoint.url.rstrip('/')}/models").get("data")
    if not isinstance(listed, list):
        raise ServiceUnavailable(f"{endpoint.name} lists no models.", hint="Check FOOTNOTE_LLM__API_BASE.")
    named = [model for model in listed if isinstance(model, dict) and isinstance(model.get("id"), str)]
    in_use = _window_in_use(endpoint) if len(named) == 1 else None
    return tuple(ServedModel(model["id"], in_use or next(_windows(model), None)) for model in named)


def _window_in_use(endpoint: Endpoint) -> int | None:
    """The window that llama.cpp runs with, which may be less than what its model was trained for."""
    root = endpoint.url.rstrip("/").removesuffix("/v1")
    try:
        settings = _get(endpoint, f"{root}/props").get("default_generation_settings")
    except ServiceUnavailable:
        return None
    return next(_windows(settings), None) if isinstance(settings, dict) else None


def _windows(model: Mapping[str, Any]) -> Iterator[int]:
    meta = model.get("meta")
    for found in (model, meta if isinstance(meta, dict) else {}):
        yield from (found[name] for name in _WINDOWS if isinstance(found.get(name), int) and found[name] > 0)


def _get(endpoint: Endpoint, url: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {endpoint.key.get_secret_value()}"}
    try:
        with cancellable_client(endpoint) as client:
            found = client.get(url, headers=headers, timeout=_SECONDS).raise_for_status().json()
    except httpx.HTTPStatusError as error:
        failure = describe_error(openai.APIStatusError(str(error), response=error.response, body=None), endpoint)
        raise ServiceUnavailable(failure.message, hint=failure.hint) from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        failure = describe_error(error, endpoint)
        raise ServiceUnavailable(failure.message, hint=failure.hint) from None
    return found if isinstance(found, dict) else {}
