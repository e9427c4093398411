"""Resolve which models the settings name, without loading or calling them."""

from dataclasses import dataclass

from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.types import SHORT_NAMES, EmbeddingIdentity

LOCAL_MODEL, MULTILINGUAL = "all-MiniLM-L6-v2", "multilingual-e5-small"
OPENAI_MODEL = "text-embedding-3-small"
HASHED_MODEL = "hashed"
PROVIDERS = ("local", "openai", "hashed")
OPENROUTER_MODEL = "meta-llama/llama-3.1-8b-instruct:free"

_NATIVE_DIMENSIONS = {
    LOCAL_MODEL: 384,
    MULTILINGUAL: 384,
    OPENAI_MODEL: 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
}
# By their names in lower case.
_LOCAL_MODELS = {LOCAL_MODEL.lower(): LOCAL_MODEL, MULTILINGUAL: MULTILINGUAL, **SHORT_NAMES}
_MOST_DIMENSIONS = 4000  # that pgvector can index
_DEFAULT_DIMENSIONS = {**_NATIVE_DIMENSIONS, "gemini-embedding-001": 768, HASHED_MODEL: 256}


def identity(settings: Settings) -> EmbeddingIdentity:
    """The provider, model and dimension that the settings resolve to; `auto` follows OPENAI_API_KEY.

    Raises:
        ConfigError: If the dimension of a model is not known and not set, or the local model is asked to be another.
    """
    asked = settings.embedding
    provider = asked.provider
    if provider == "auto":
        provider = "openai" if settings.openai_api_key else "local"
    if provider == "local":
        return _local(asked.model, asked.dimension)
    if provider == "hashed":
        return EmbeddingIdentity(provider, asked.model or HASHED_MODEL, asked.dimension or 256)
    model = asked.model or OPENAI_MODEL
    dimension = asked.dimension or _DEFAULT_DIMENSIONS.get(_base_name(model), 0)
    if not dimension:
        raise ConfigError(
            f"The dimension of the embedding model {model} is not known.",
            hint="Set FOOTNOTE_EMBEDDING__DIMENSION to the length of its vectors.",
        )
    return EmbeddingIdentity(provider, model, dimension)


def is_model_configured(settings: Settings) -> bool:
    """True if the settings name an embedding model, rather than leaving it to `auto`."""
    asked = settings.embedding
    return asked.provider != "auto" or bool(asked.model) or bool(asked.dimension)


def with_identity(settings: Settings, chosen: EmbeddingIdentity) -> Settings:
    """The settings, asking for just this embedding model."""
    asked = {"provider": chosen.provider, "model": chosen.model, "dimension": chosen.dimension}
    return settings.model_copy(update={"embedding": settings.embedding.model_copy(update=asked)})


def parse_model_name(settings: Settings, name: str) -> EmbeddingIdentity:
    """Parse the name of an embedding model: `model` or `provider/model`, either with `@dimension`.

    Without a dimension it is that of the settings if they name the same model, else the model's default.

    Raises:
        ConfigError: If there is no such local model, or its dimension is not known or not possible.
    """
    stem, at, dimension = name.rpartition("@") if "@" in name else (name, "", "")
    if at and not (dimension.isascii() and dimension.isdigit() and 0 < int(dimension) <= _MOST_DIMENSIONS):
        raise ConfigError(f"{name!r} has no dimension after its @.", hint=f"Write 1 to {_MOST_DIMENSIONS}.")
    provider, slash, model = stem.partition("/")
    if not (slash and provider in PROVIDERS):
        provider, model = _provider_of(stem), stem
    if not model:
        raise ConfigError(f"{name!r} is not an embedding model.", hint=f"Write one like {LOCAL_MODEL}.")
    asked = settings.embedding
    its_own = asked.dimension if model == asked.model else 0
    chosen = EmbeddingIdentity(provider, model, int(dimension) if at else its_own)
    try:
        return identity(with_identity(settings, chosen))
    except ConfigError as error:
        if provider == "openai" and not chosen.dimension:
            raise ConfigError(error.message, hint=f"Write {model}@ and the length of its vectors.") from error
        raise


def _provider_of(model: str) -> str:
    if _base_name(model).lower() in _LOCAL_MODELS:
        return "local"
    return "hashed" if model.startswith(HASHED_MODEL) else "openai"


@dataclass(frozen=True, slots=True)
class LLMIdentity:
    """The provider of a language model, `openrouter` or `openai` (any compatible server), and the model's name."""

    provider: str
    model: str


def llm_identity(settings: Settings) -> LLMIdentity | None:
    """The language model that the settings resolve to; None means extractive answers.

    `auto` takes OpenRouter when its key is set, else a compatible server when its address or OPENAI_MODEL is set.
    """
    asked = settings.llm
    provider = asked.provider
    if provider == "auto" and settings.openrouter_api_key:
        provider = "openrouter"
    elif provider == "auto" and (asked.api_base or settings.openai_model):
        provider = "openai"
    if provider == "openrouter":
        return LLMIdentity(provider, asked.model or OPENROUTER_MODEL)
    if provider == "openai":
        return LLMIdentity(provider, asked.model or settings.openai_model)
    return None


def requested_dimensions(chosen: EmbeddingIdentity) -> int | None:
    """The `dimensions` to send with a request; None if the model has only one, and would refuse the parameter."""
    name = _base_name(chosen.model)
    native = _NATIVE_DIMENSIONS.get(name, chosen.dimension)
    return chosen.dimension if name.startswith("text-embedding-3") or native != chosen.dimension else None


def _local(model: str, dimension: int) -> EmbeddingIdentity:
    name = _LOCAL_MODELS.get(_base_name(model or LOCAL_MODEL).lower())
    if name is None:
        raise ConfigError(
            f"The local embedding models are {LOCAL_MODEL} and {MULTILINGUAL}, not {model}.",
            hint="Unset FOOTNOTE_EMBEDDING__MODEL, or set FOOTNOTE_EMBEDDING__PROVIDER=openai for your own server.",
        )
    if dimension not in (0, 384):
        raise ConfigError(f"{name} has 384 dimensions, not {dimension}.", hint="Unset FOOTNOTE_EMBEDDING__DIMENSION.")
    return EmbeddingIdentity("local", name, 384)


def _base_name(model: str) -> str:
    return model.rsplit("/", 1)[-1]
