"""Connect a language model: servers on this machine, and the settings that name one of their models."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pydantic import SecretStr

from config.settings import OPENROUTER_BASE, Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.models.endpoint import HIDDEN_KEY, LLM_VARIABLE, Endpoint
from pipelines.models.served import ServedModel, served_models
from pipelines.models.usage import is_here

_LOCAL_SECONDS = "300"  # for a reply
LOCAL_SERVERS = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
}


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answers, with its models."""

    name: str
    url: str
    models: tuple[ServedModel, ...]


def find_servers(places: Mapping[str, str] = LOCAL_SERVERS) -> list[FoundServer]:
    """The servers at these addresses, by name, that list a model; those that do not answer are left out."""

    def ask(place: tuple[str, str]) -> FoundServer | None:
        name, url = place
        endpoint = Endpoint(url, "", SecretStr(HIDDEN_KEY), 0, "OPENAI_API_KEY", LLM_VARIABLE)
        try:
            models = served_models(endpoint)
        except FootnoteError:
            return None
        return FoundServer(name, url, models) if models else None

    with ThreadPoolExecutor(len(places) or 1) as pool:
        return [server for server in pool.map(ask, places.items()) if server]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A language model of a server; without a key where the server asks for none."""

    url: str
    model: str
    key: SecretStr | None = None

    def variables(self, settings: Settings) -> dict[str, str]:
        """The environment variables that name it; with OpenAI's key, the embedding model is named, too, to stay.

        A server of this machine gets more time for a reply, as it may read slowly; a quotation is shown meanwhile.
        """
        openrouter = self.url.rstrip("/") == OPENROUTER_BASE
        given = {"FOOTNOTE_LLM__PROVIDER": "openrouter" if openrouter else "openai", LLM_VARIABLE: self.model}
        if not openrouter:
            given["FOOTNOTE_LLM__API_BASE"] = self.url
        if is_here(self.url) and "timeout_seconds" not in settings.llm.model_fields_set:
            given["FOOTNOTE_LLM__TIMEOUT_SECONDS"] = _LOCAL_SECONDS
        if key := self.key and self.key.get_secret_value():
            given["OPENROUTER_API_KEY" if openrouter else "OPENAI_API_KEY"] = key
            if not openrouter and settings.embedding.provider == "auto" and not settings.openai_api_key:
                given["FOOTNOTE_EMBEDDING__PROVIDER"] = "local"
        return given

    def applied(self, settings: Settings) -> Settings:
        """The settings as they would be with it.

        Raises:
            ConfigError: If the address or the model is missing.
        """
        if not (self.url.startswith(("http://", "https://")) and self.model):
            raise ConfigError("A language model needs an address and a name.", hint="Such as http://127.0.0.1:8080/v1.")
        given = self.variables(settings)
        provider, base = given["FOOTNOTE_LLM__PROVIDER"], given.get("FOOTNOTE_LLM__API_BASE", "")
        llm = settings.llm.model_copy(update={"provider": provider, "model": self.model, "api_base": base})
        known = settings.openrouter_api_base if provider == "openrouter" else settings.llm.api_base
        moved = self.url.rstrip("/") != (known or settings.openai_api_base).rstrip("/")
        keys = {f"{provider}_api_key": self.key} if self.key or moved else {}  # another server gets no key of this one
        return settings.model_copy(update={"llm": llm, **keys})
