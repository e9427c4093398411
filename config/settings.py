"""Settings: environment variables, then `.env`, then the defaults below."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

OPENAI_BASE = "https://api.openai.com/v1"
OPENROUTER_BASE = "https://openrouter.ai/api/v1"


Use = Literal["boost", "prefilter", "postfilter", "off"]


class _Stage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EmbeddingSettings(_Stage):
    """The embedding model and its requests."""

    provider: Literal["auto", "local", "openai", "hashed"] = Field(
        "auto", description="auto = openai when OPENAI_API_KEY is set, else local; hashed is for tests"
    )
    model: str = Field(
        "",
        description="empty = all-MiniLM-L6-v2 (local) or text-embedding-3-small (openai). With the extra\n"
        "multilingual, local also has multilingual-e5-small",
    )
    dimension: int = Field(0, ge=0, le=4000, description="0 = the dimension of the model: 384 or 1536")
    precision: Literal["int8", "fp32"] = Field(
        "int8", description="precision of the local model; fp32 needs model_path"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="device of the local model; cuda needs model_path"
    )
    threads: int = Field(0, ge=0, description="threads of the local model; 0 = every core")
    model_path: str = Field("", description="folder with model.safetensors and tokenizer.json, for fp32 and CUDA")
    batch_size: int = Field(50, ge=1, le=2048, description="texts per request or batch")
    pause_ms: int = Field(100, ge=0, description="pause between two batches of a remote model")
    timeout_seconds: float = Field(60.0, gt=0, description="limit of one request")
    retries: int = Field(4, ge=0, le=10, description="retries after 429, 5xx and timeouts; Retry-After is honoured")
    price: float = Field(
        0.0, ge=0, description="US dollars per million tokens; 0 = the known price, see `ingest --plan`"
    )


class LLMSettings(_Stage):
    """The language model that writes answers; without one, answers are extractive."""

    provider: Literal["auto", "openrouter", "openai", "none"] = Field(
        "auto", description="auto = openrouter with its key, openai with a base URL or OPENAI_MODEL, else none"
    )
    model: str = Field(
        "", description="empty = meta-llama/llama-3.1-8b-instruct:free on OpenRouter, else the one model of the server"
    )
    api_base: str = Field("", description="address of any OpenAI-compatible server, such as http://127.0.0.1:8080/v1")
    max_tokens: int = Field(800, ge=16, description="limit of a reply, and a quarter of the window at most")
    context_window: int = Field(
        0, ge=0, description="window in tokens; 0 = what the server tells, else 8192 (OpenRouter: 8192)"
    )
    temperature: float = Field(0.1, ge=0, le=2)
    timeout_seconds: float = Field(60.0, gt=0, description="limit of a whole reply; what came until then stays")
    retries: int = Field(1, ge=0, le=10)
    keep_prompts: bool = Field(False, description="keep the whole prompt and reply of each answer in its trace")
    price: float = Field(
        0.0, ge=0, description="US dollars per million tokens; 0 = the known price, see `ingest --plan`"
    )
    completion_price: float = Field(0.0, ge=0, description="US dollars per million completion tokens; 0 = as `price`")

    def reply_tokens(self, window: int) -> int:
        """Most tokens of a reply within a window of so many: `max_tokens`, and a quarter of the window at most."""
        return min(self.max_tokens, window // 4)


class SourceRule(_Stage):
    """Values for every document whose name, address or source matches; an empty field sets nothing."""

    match: str = Field(min_length=1, description="a glob; its * also matches /")
    category: str = ""
    parser: str = ""
    visibility: Literal["", "public", "private"] = ""
    year: int | None = Field(None, ge=1000, le=2999)
    collection: str = Field("", max_length=200)


class Limits(_Stage):
    """Limits for reading a document, and whether images are read."""

    max_text_bytes: int = Field(10_000_000, ge=1, description="limit of text, Markdown and HTML files")
    max_binary_bytes: int = Field(100_000_000, ge=1, description="limit of PDF and office files")
    max_pages: int = Field(2000, ge=1, description="limit of a PDF")
    ocr: Literal["auto", "off"] = Field(
        "auto", description="auto = scans and images are read with tesseract if it is installed"
    )
    ocr_languages: str = Field("eng", description="tesseract's names of the languages, joined by +: eng+deu")
    ocr_seconds: float = Field(
        120.0, gt=0, description="limit for a whole document; the remaining pages stay without text"
    )
    document_seconds: float = Field(
        180.0, gt=0, description="local: limit for reading and parsing a file; then it fails"
    )
    document_memory_mb: int = Field(2000, ge=600, description="local: limit of a worker, which needs 200 to 400 itself")

    @property
    def most_bytes(self) -> int:
        """The largest size of a file of any type."""
        return max(self.max_text_bytes, self.max_binary_bytes)

    def max_bytes(self, *, binary: bool) -> int:
        """The largest size of a binary or a text file."""
        return self.max_binary_bytes if binary else self.max_text_bytes


class IngestionSettings(Limits):
    """Sources, limits and workers of ingestion."""

    sources: tuple[str, ...] = Field(
        (), description="JSON list; sources of `footnote ingest` without arguments, beside every known one"
    )
    sources_file: str = Field(
        "", description="TOML file of further sources (config/sources.example.toml); empty = HOME/sources.toml"
    )
    poll_minutes: float = Field(60.0, gt=0, description="`ingest --watch`: interval between checks of a remote source")
    rules: tuple[SourceRule, ...] = Field(
        (),
        description='JSON list of {"match": glob, "category", "parser", "visibility", "year", "collection"}; '
        "the last match wins",
    )
    executor: Literal["local", "here", "ray"] = Field(
        "local",
        description="local = files are read in worker processes; here = in this process; "
        "ray = files are read, embedded and stored on the machines of a Ray cluster",
    )
    ray_address: str = Field(
        "", description="address of a running Ray cluster; empty = start one on this machine for the run"
    )
    workers: int = Field(0, ge=0, description="local: number of processes; 0 = one per core, at most 8")
    versions_kept: int = Field(
        5, ge=0, description="earlier versions kept per document, for undo; a change of facts also makes a version"
    )


class GitHubSettings(_Stage):
    """Requests to GitHub."""

    api_base: str = Field("https://api.github.com", description="for an Enterprise server: https://HOST/api/v3")
    wait_seconds: float = Field(
        900.0, ge=0, description="longest wait for a rate limit; items beyond it are left for the next run"
    )


class NotionSettings(_Stage):
    """Requests to Notion."""

    api_base: str = Field("https://api.notion.com", description="address of the API")
    wait_seconds: float = Field(
        300.0, ge=0, description="longest wait for a rate limit; items beyond it are left for the next run"
    )


class WebSettings(_Stage):
    """Requests for web pages."""

    delay_seconds: float = Field(
        1.0, ge=0, description="pause between two requests to a host; its robots.txt may ask for more"
    )
    timeout_seconds: float = Field(20.0, gt=0, description="limit of one page, redirects included")
    max_bytes: int = Field(10_000_000, ge=1, description="limit of a page, decompressed")
    robots: bool = Field(True, description="honour robots.txt")
    agent: str = Field("Footnote/0.1", min_length=1, description="the User-Agent header of its requests")
    private_hosts: tuple[str, ...] = Field(
        (), description="JSON list of host or host:port that may have private IP addresses"
    )


class ParsingSettings(_Stage):
    """Node sizes of parsers, as `<parser>_<size>`; those of the other parsers are their fields."""

    markdown_target_words: int = Field(600, ge=20)
    markdown_max_words: int = Field(800, ge=20)
    markdown_overlap_words: int = Field(25, ge=0)
    generic_characters: int = Field(1000, ge=50)
    semantic_min_characters: int = Field(200, ge=1)
    semantic_max_characters: int = Field(2048, ge=50)


class HeaderSettings(_Stage):
    """The header that is embedded and indexed before each node's text."""

    mode: Literal["deterministic", "llm"] = Field(
        "deterministic",
        description="llm = a language model adds a sentence to every header; `ingest --plan` shows the cost",
    )
    concurrency: int = Field(4, ge=1, le=64, description="llm: concurrent requests")
    seconds: float = Field(
        20.0, gt=0, description="llm: limit of a request; then the node keeps its deterministic header"
    )
    per_minute: int = Field(120, ge=0, description="llm: limit of requests per minute; 0 = none")


class AnalysisSettings(_Stage):
    """The analysis of questions."""

    categories: Use = Field(
        "boost", description="use of category words in a question: boost, prefilter, postfilter or off"
    )
    years: Use = Field("boost", description="use of years in a question: boost, prefilter, postfilter or off")
    names: bool = Field(True, description="boost documents, repositories and companies that the question names")
    phrases: bool = Field(True, description="require words in quotation marks to occur in a passage")
    trim: bool = Field(True, description="leave phrases such as 'I am looking for papers on' out of the query")
    min_candidates: int = Field(
        3, ge=0, description="a filter inferred from the question is dropped if it leaves fewer candidates"
    )


class RetrievalSettings(_Stage):
    """Retrieval and fusion."""

    top_n: int = Field(5, ge=1, le=100, description="passages that a search returns")
    mode: Literal["hybrid", "dense", "sparse"] = Field("hybrid", description="the retrievers that are used")
    ann_factor: int = Field(20, ge=1, description="the vector index examines at least this many times top_n vectors")
    leg_factor: int = Field(4, ge=1, description="each retriever returns this many times top_n nodes")
    fusion: Literal["convex", "rrf"] = Field("convex", description="rrf = reciprocal rank fusion")
    scale: Literal["auto", "max", "min-max", "z", "none"] = Field(
        "auto", description="convex fusion: normalisation of scores; auto = z, or min-max for multilingual-e5-small"
    )
    complete: bool = Field(
        True, description="convex fusion: score each node with both retrievers, even if only one found it"
    )
    dense_weight: float = Field(
        0.5, ge=0, le=1, description="convex fusion: weight of the dense score; the sparse score has the rest"
    )
    whitening: float = Field(0.25, ge=0, le=1, description="strength of whitening of question vectors; 0 = off")
    bm25_b: float = Field(0.6, ge=0, le=1, description="length normalisation of BM25")
    header_weight: int = Field(2, ge=1, le=5, description="weight of a term in a title or heading")
    pair_weight: float = Field(
        0.15, ge=0, le=1, description="weight of question terms that are adjacent in a node; 0 = off"
    )
    typo_weight: float = Field(
        0.8,
        ge=0,
        le=1,
        description="weight of the nearest indexed words for an unknown one; 0 = no spelling is corrected",
    )


class FactorSettings(_Stage):
    """Boosts and cuts of the fused ranking."""

    category: bool = Field(True, description="boost nodes of a category that the question asks for")
    resume: float = Field(1.3, gt=0, description="boost of resumes; the next three likewise for their categories")
    linkedin: float = Field(1.25, gt=0)
    journey: float = Field(1.2, gt=0)
    github: float = Field(1.15, gt=0)
    year: float = Field(1.2, gt=0, description="boost of nodes of a year that the question names; 1 = off")
    named: float = Field(1.2, gt=0, description="boost of nodes of a document that the question names; 1 = off")
    section: float = Field(1.1, gt=0, description="boost of nodes of a section that the question names; 1 = off")
    recency: Literal["off", "asked", "steps"] = Field(
        "asked", description="boost of recent documents; asked = only if the question says 'recent' or 'now'"
    )
    quality: bool = Field(False, description="boost nodes of 100 to 300 words by 1.1")
    per_document: int = Field(
        3, ge=0, description="most nodes of one document if many documents have candidates; 0 = no limit"
    )
    duplicates: bool = Field(True, description="keep only the best of near-duplicate nodes")
    min_score: float = Field(
        0.0, ge=0, le=1, description="least cosine similarity of a result to the question; 0 = off"
    )
    rerank: str = Field("", description="the class of a LlamaIndex reranker, with its module; empty = none")
    rerank_candidates: int = Field(20, ge=1, description="nodes that are reranked")


class EvidenceSettings(_Stage):
    """The threshold between an answer and an abstention."""

    rule: Literal["calibrated", "plain"] = Field("calibrated", description="plain = similarity and number of matches")
    min_strength: float = Field(
        0.0, ge=0, le=1, description="threshold of the calibrated rule; 0 = the calibrated value of the embedding model"
    )
    plain_similarity: float = Field(
        0.78, ge=-1, le=1, description="plain rule: least similarity, on the scale of text-embedding-3-small"
    )
    plain_matches: int = Field(3, ge=0, description="plain rule: least number of matches")


class EscalationSettings(_Stage):
    """Auto-RAG: query rewriting by a language model when the evidence is weak."""

    mode: Literal["off", "auto", "always"] = Field(
        "auto", description="auto = if the evidence is weak; always = also if it is strong"
    )
    kinds: tuple[Literal["rewrite", "hyde"], ...] = Field(
        ("rewrite",), description="JSON list of strategies, in order: rewrite, hyde"
    )
    seconds: float = Field(
        2.5,
        gt=0,
        description="no further attempt starts after this time; a slow model has as long as it needs by measure",
    )
    calls: int = Field(3, ge=0, description="limit of calls of the language model per question")


class ContextSettings(_Stage):
    """The budget of the context."""

    max_characters: int = Field(
        0, ge=0, description="limit of all sources together; 0 = 8000, or 16000 for a language model with a wide window"
    )
    max_tokens: int = Field(
        0,
        ge=0,
        description="the same in tokens; 0 = 2400, or 4000 where the window of the language model is 8192 or more",
    )
    section_tokens: int = Field(
        0,
        ge=0,
        description="a found passage is read with its section where that has at most this many tokens; 0 = alone",
    )


class AnswerSettings(_Stage):
    """Writing, verification and follow-ups of an answer."""

    max_sentences: int = Field(
        6, ge=1, le=30, description="limit of an extractive answer; requested lists and code do not count"
    )
    passages: int = Field(
        20, ge=1, le=100, description="passages from which an extractive answer is taken; at least top_n"
    )
    history_tokens: int = Field(
        800, ge=0, description="earlier turns shown to the language model with a question, at most this many tokens"
    )
    condense: Literal["auto", "rules"] = Field(
        "auto",
        description="makes a follow-up question standalone; auto = by a language model if one is set, else by rules",
    )
    condense_seconds: float = Field(
        4.0, gt=0, description="limit of that call, longer for a slow model; then the rules"
    )
    output: Literal["auto", "prose", "json"] = Field(
        "auto", description="format requested of a language model; auto = JSON for `ask --json`, else streamed prose"
    )
    unsupported: Literal["auto", "mark", "remove"] = Field(
        "auto",
        description="sentences that no source supports: mark or remove them; auto = as a table of measured models "
        "says, remove for others",
    )
    facts: bool = Field(True, description="compute counts and durations from career facts")
    follow_ups: int = Field(3, ge=0, le=3, description="number of suggested questions after an answer; 0 = none")


class PersonaSettings(_Stage):
    """The person whose documents these are: the voice of answers and abstentions, and the face of the chat.

    The page Persona of the chat stores the same; what is set here outranks it.
    """

    voice: Literal["neutral", "first"] = Field(
        "neutral", description="first = in the first person, as the subject of the documents"
    )
    name: str = Field("", max_length=200, description="name of the person whom the documents are about")
    tone: str = Field("", max_length=200, description="a few words, such as: warm and brief")
    links: tuple[str, ...] = Field((), description="JSON list of addresses offered to readers who ask for more")
    bio: str = Field("", max_length=300, description="one line about the person, under the greeting")
    greeting: str = Field("", max_length=120, description="heading of an empty conversation")
    questions: tuple[str, ...] = Field((), description="JSON list of first questions; empty = from the documents")
    accent: str = Field("", pattern="^(#[0-9a-fA-F]{6})?$", description="colour of links and footnotes: #1d5f66")
    picture: str = Field("", description="file of a picture of the person: PNG, JPEG or WebP")


class ChatSettings(_Stage):
    """Address and limits of the chat."""

    host: str = Field("127.0.0.1", description="only loopback addresses are accepted")
    port: int = Field(8501, ge=1, le=65535)
    max_upload_mb: int = Field(100, ge=1)
    frame_ancestors: tuple[Annotated[str, Field(pattern=r"^https?://[^\s;,']+$")], ...] = Field(
        (), description='JSON list of sites that may show the chat in a frame, such as ["https://me.example"]'
    )
    visitor: bool = Field(
        False, description="only public documents, no library, no uploads: as `footnote chat --visitor`"
    )
    feedback: int = Field(200, ge=0, description="limit of feedback entries per browser session; 0 = no feedback")


Scope = Literal["read", "ask", "ingest"]


class BearerToken(_Stage):
    """A bearer token: what it may do, and as whom."""

    token: SecretStr = Field(min_length=16)
    scopes: frozenset[Scope] = frozenset({"read", "ask"})
    audience: Literal["owner", "visitor"] = "visitor"

    @model_validator(mode="after")
    def _visitors_ingest_nothing(self) -> "BearerToken":
        if "ingest" in self.scopes and self.audience == "visitor":
            raise ValueError("the scope ingest needs the audience owner")
        return self


class ServeSettings(_Stage):
    """The HTTP API and the MCP server: address, tokens, limits."""

    host: str = Field("127.0.0.1", description="any other than a loopback address needs tokens")
    port: int = Field(8502, ge=1, le=65535, description="the port; `footnote mcp --http` listens on the next one")
    tokens: tuple[BearerToken, ...] = Field(
        (),
        description='JSON list such as [{"token": "16 characters or more", "scopes": ["read", "ask"], "audience": '
        '"visitor"}];\nscopes are read, ask and ingest, audiences visitor (only public documents) and owner. Empty = '
        "whoever reaches\nthe loopback address is the owner",
    )
    origins: tuple[Annotated[str, Field(pattern=r"^https?://[^\s/]+$")], ...] = Field(
        (), description='JSON list of sites whose pages may call the API, such as ["https://me.example"]'
    )
    per_minute: int = Field(
        600, ge=0, description="limit of requests a minute of each token and address; 0 = none. Without tokens none"
    )


class LogSettings(_Stage):
    """Log messages on stderr."""

    level: Literal["debug", "info", "warning", "error"] = Field("warning")
    format: Literal["auto", "rich", "json"] = Field("auto", description="auto = rich on a terminal, else JSON lines")


def default_home() -> Path:
    """The folder of the data without FOOTNOTE_HOME.

    `var` in the working directory if it holds a database or the directory is a clone of Footnote; else the user's data
    folder, which for root is /var/lib/footnote.
    """
    local = Path("var")
    if (local / "postgres" / "data" / "PG_VERSION").exists() or is_clone(Path()):
        return local
    if os.geteuid() == 0:
        return Path("/var/lib/footnote")
    return platformdirs.user_data_path("footnote")


def is_clone(folder: Path) -> bool:
    """True if the folder is a checkout of Footnote's source."""
    return (folder / "footnote.py").is_file() and (folder / "pipelines" / "__init__.py").is_file()


# A key, and the variables that say where it is sent: the first of them that is set does.
_DESTINATIONS = (
    ("OPENAI_API_KEY", ("FOOTNOTE_LLM__API_BASE", "OPENAI_API_BASE"), OPENAI_BASE),
    ("OPENAI_API_KEY", ("OPENAI_API_BASE",), OPENAI_BASE),
    ("OPENROUTER_API_KEY", ("OPENROUTER_API_BASE",), OPENROUTER_BASE),
    ("GITHUB_TOKEN", ("FOOTNOTE_GITHUB__API_BASE",), GitHubSettings().api_base),
    ("NOTION_TOKEN", ("FOOTNOTE_NOTION__API_BASE",), NotionSettings().api_base),
    ("FOOTNOTE_SERVER_TOKEN", ("FOOTNOTE_SERVER",), ""),
)


class MisdirectedKey(SettingsError):
    """`.env` names the address for a key that it does not hold."""


class _EnvFile(DotEnvSettingsSource):
    """`.env`, which anybody may have put into the working folder: it sends no key elsewhere that is set elsewhere."""

    def __call__(self) -> dict[str, Any]:
        """Its values.

        Raises:
            MisdirectedKey: If a key from the environment or from the caller would go to an address of this file.
        """
        given, outranking = super().__call__(), self.current_state
        for key, addresses, usual in _DESTINATIONS:
            if not _value(outranking, key):
                continue
            before = next(filter(None, (_value(outranking, name) for name in addresses)), usual)
            named = ((name, _value(outranking, name) or _value(given, name)) for name in addresses)
            name, now = next(((name, value) for name, value in named if value), ("", usual))
            if now.rstrip("/") != before.rstrip("/"):
                raise MisdirectedKey(f"{name} in {self.env_file} would send {key}, which is set elsewhere, to {now}.")
        return given


def _value(state: Mapping[str, Any], variable: str) -> str:
    """The value of a variable in what a source of settings gives; empty where it has none."""
    stage, _, name = variable.removeprefix("FOOTNOTE_").lower().partition("__")
    found = state.get(variable) or state.get(stage)
    if name:
        found = found.get(name) if isinstance(found, Mapping) else getattr(found, name, "")
    return found.get_secret_value() if isinstance(found, SecretStr) else str(found or "").strip()


class Settings(BaseSettings):
    """Every setting of Footnote; frozen, one nested model per stage."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_nested_delimiter="__",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The caller's values, the environment, then `.env`."""
        file = getattr(dotenv_settings, "env_file", None)
        return init_settings, env_settings, _EnvFile(settings_cls, file, env_file_encoding="utf-8")

    home: Path = Field(
        default_factory=default_home,
        description="folder of database, saved indexes and originals; empty = ./var if it holds a database or in a "
        "clone, else the user's data folder",
    )
    collection: str = Field("default", min_length=1, max_length=200, description="collection of new documents")
    database_url: SecretStr | None = Field(
        None,
        validation_alias="DATABASE_URL",
        description="address of a Postgres with pgvector 0.8; empty = the embedded server under FOOTNOTE_HOME",
    )
    read_url: SecretStr | None = Field(
        None, description="address of a streaming replica of that database, from which questions are answered"
    )
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias="OPENAI_API_KEY",
        description="key for embeddings by OpenAI, or by the server at OPENAI_API_BASE",
    )
    openai_api_base: str = Field(
        OPENAI_BASE,
        validation_alias="OPENAI_API_BASE",
        description="address of any OpenAI-compatible server. For Gemini, for example:\n"
        "https://generativelanguage.googleapis.com/v1beta/openai/ with\n"
        "FOOTNOTE_EMBEDDING__MODEL=gemini-embedding-001 and FOOTNOTE_EMBEDDING__DIMENSION=768",
    )
    openai_model: str = Field(
        "",
        validation_alias="OPENAI_MODEL",
        description="a language model of that server; if set, it writes the answers",
    )
    openrouter_api_key: SecretStr | None = Field(
        None,
        validation_alias="OPENROUTER_API_KEY",
        description="key for a language model on OpenRouter; if set, it writes the answers",
    )
    openrouter_api_base: str = Field(OPENROUTER_BASE, validation_alias="OPENROUTER_API_BASE")
    github_token: SecretStr | None = Field(
        None, validation_alias="GITHUB_TOKEN", description="token for private repositories"
    )
    notion_token: SecretStr | None = Field(None, validation_alias="NOTION_TOKEN", description="token for Notion pages")
    server: str = Field(
        "",
        pattern="^(https?://[^/]+.*)?$",
        description="address of a running `footnote serve`, which `footnote ask` asks instead of the database",
    )
    server_token: SecretStr | None = Field(None, description="a token of that server")
    ca_file: str = Field("", description="PEM file of certificate authorities to trust in addition to the system's")

    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LLMSettings = LLMSettings()
    ingestion: IngestionSettings = IngestionSettings()
    github: GitHubSettings = GitHubSettings()
    notion: NotionSettings = NotionSettings()
    web: WebSettings = WebSettings()
    parsing: ParsingSettings = ParsingSettings()
    headers: HeaderSettings = HeaderSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    factors: FactorSettings = FactorSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    escalation: EscalationSettings = EscalationSettings()
    context: ContextSettings = ContextSettings()
    answer: AnswerSettings = AnswerSettings()
    persona: PersonaSettings = PersonaSettings()
    chat: ChatSettings = ChatSettings()
    serve: ServeSettings = ServeSettings()
    log: LogSettings = LogSettings()

    @field_validator("home", mode="before")
    @classmethod
    def _blank_is_the_default(cls, value: object) -> object:
        return default_home() if value == "" else value

    @field_validator(
        "database_url",
        "read_url",
        "openai_api_key",
        "openrouter_api_key",
        "github_token",
        "notion_token",
        "server_token",
        mode="before",
    )
    @classmethod
    def _blank_is_unset(cls, value: object) -> object:
        return None if isinstance(value, str) and not value.strip() else value


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process, read once; `get_settings.cache_clear()` reads them again."""
    return Settings()
