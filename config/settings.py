"""Settings: environment variables, then `.env`, then the defaults below."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

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
    model: str = Field("", description="empty = all-MiniLM-L6-v2 (local) or text-embedding-3-small (openai)")
    dimension: int = Field(0, ge=0, le=4000, description="0 = the model's own: 384 or 1536")
    precision: Literal["int8", "fp32"] = Field("int8", description="of the local model; fp32 needs model_path")
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="where the local model runs; cuda needs model_path"
    )
    threads: int = Field(0, ge=0, description="threads of the local model; 0 = every core")
    model_path: str = Field("", description="a folder with model.safetensors and tokenizer.json, for fp32 and CUDA")
    batch_size: int = Field(50, ge=1, le=2048, description="texts per request or batch")
    pause_ms: int = Field(100, ge=0, description="between two batches for a remote model")
    timeout_seconds: float = Field(60.0, gt=0)
    retries: int = Field(4, ge=0, le=10, description="after 429, 5xx and timeouts; Retry-After is honoured")
    price: float = Field(0.0, ge=0, description="US dollars a million tokens; 0 = as known, see `ingest --plan`")


class LLMSettings(_Stage):
    """The language model that writes; none = extractive answers."""

    provider: Literal["auto", "openrouter", "openai", "none"] = Field(
        "auto", description="auto = openrouter with its key, openai with a base URL or OPENAI_MODEL, else none"
    )
    model: str = Field("", description="empty = meta-llama/llama-3.1-8b-instruct:free on OpenRouter")
    api_base: str = Field("", description="any OpenAI-compatible server: Ollama, vLLM, llama.cpp")
    max_tokens: int = Field(800, ge=16)
    context_window: int = Field(8192, ge=1024)
    temperature: float = Field(0.1, ge=0, le=2)
    timeout_seconds: float = Field(60.0, gt=0)
    retries: int = Field(1, ge=0, le=10)
    price: float = Field(0.0, ge=0, description="US dollars a million tokens; 0 = as known, see `ingest --plan`")
    completion_price: float = Field(0.0, ge=0, description="of the tokens that it writes; 0 = as `price`")


class SourceRule(_Stage):
    """Values for every document whose name, address or source matches; an empty field sets nothing."""

    match: str = Field(min_length=1, description="a glob; its * reaches over /")
    category: str = ""
    parser: str = ""
    visibility: Literal["", "public", "private"] = ""
    year: int | None = Field(None, ge=1000, le=2999)


class IngestionSettings(_Stage):
    """Sources, limits and workers of ingestion."""

    sources: tuple[str, ...] = Field(("data/sample",), description="JSON list; what `footnote ingest` takes alone")
    sources_file: str = Field("", description="a TOML file of more of them, as config/sources.example.toml shows")
    poll_minutes: float = Field(60.0, gt=0, description="`ingest --watch`: between two looks at a remote source")
    rules: tuple[SourceRule, ...] = Field(
        (), description='JSON list of {"match": glob, "category", "parser", "visibility", "year"}; the last match wins'
    )
    max_text_bytes: int = Field(10_000_000, ge=1, description="text, Markdown and HTML")
    max_binary_bytes: int = Field(100_000_000, ge=1, description="PDF and office files")
    max_pages: int = Field(2000, ge=1)
    ocr: Literal["auto", "off"] = Field("auto", description="auto = tesseract, where installed, reads scans and images")
    ocr_languages: str = Field("eng", description="as tesseract names them, joined by +: eng+deu")
    ocr_seconds: float = Field(120.0, gt=0, description="for all pages of a document; those past it stay without text")
    executor: Literal["local", "here", "ray"] = Field(
        "local",
        description="local = files are read in worker processes that can be stopped; here = in this process; "
        "ray = read, embedded and stored by the machines of a Ray cluster",
    )
    ray_address: str = Field("", description="of a running Ray cluster; empty = one is started here for the run")
    workers: int = Field(0, ge=0, description="local: how many processes; 0 = one for each core, at most 8")
    document_seconds: float = Field(180.0, gt=0, description="local: to read and parse a file; past it, it failed")
    document_memory_mb: int = Field(2000, ge=600, description="local: of a worker, which takes 200 to 400 for itself")
    versions_kept: int = Field(
        5, ge=0, description="earlier versions of a document that stay for undo; changed facts make one, too"
    )


class GitHubSettings(_Stage):
    """Requests to GitHub."""

    api_base: str = Field("https://api.github.com", description="of an Enterprise server: https://HOST/api/v3")
    wait_seconds: float = Field(
        900.0, ge=0, description="the longest wait for a rate limit; else left for the next run"
    )


class NotionSettings(_Stage):
    """Requests to Notion."""

    api_base: str = Field("https://api.notion.com")
    wait_seconds: float = Field(
        300.0, ge=0, description="the longest wait for a rate limit; else left for the next run"
    )


class WebSettings(_Stage):
    """Requests for web pages."""

    delay_seconds: float = Field(
        1.0, ge=0, description="between two requests to a host; its robots.txt may ask for more"
    )
    timeout_seconds: float = Field(20.0, gt=0, description="for one page, redirects included")
    max_bytes: int = Field(10_000_000, ge=1, description="of a page, unpacked")
    robots: bool = Field(True, description="honour robots.txt")
    agent: str = Field("Footnote/0.1", min_length=1, description="how it calls itself")
    private_hosts: tuple[str, ...] = Field(
        (), description="JSON list of host or host:port; these may be addresses that are not public"
    )


class ParsingSettings(_Stage):
    """Node sizes of each parser, as `<parser>_<size>`."""

    resume_max_tokens: int = Field(800, ge=50, description="a longer job is cut, its job line repeated in the header")
    linkedin_max_tokens: int = Field(800, ge=50, description="several jobs a node, up to so many")
    journey_target_tokens: int = Field(450, ge=20)
    markdown_target_words: int = Field(600, ge=20)
    markdown_max_words: int = Field(800, ge=20)
    markdown_overlap_words: int = Field(25, ge=0)
    generic_characters: int = Field(1000, ge=50)
    sections_characters: int = Field(400, ge=50, description="windows that never cross a section")
    sections_overlap: int = Field(100, ge=0)
    window_tokens: int = Field(450, ge=20)
    window_overlap: int = Field(75, ge=0)
    semantic_min_characters: int = Field(200, ge=1)
    semantic_max_characters: int = Field(2048, ge=50)


class HeaderSettings(_Stage):
    """The header that is embedded and indexed before each node's text."""

    mode: Literal["deterministic", "llm"] = Field(
        "deterministic", description="llm = a language model adds a sentence for every node; see `ingest --plan`"
    )
    concurrency: int = Field(4, ge=1, le=64, description="llm: requests at a time")
    seconds: float = Field(20.0, gt=0, description="llm: past it the node keeps its deterministic header")
    per_minute: int = Field(120, ge=0, description="llm: requests; 0 = as many as are answered")


class AnalysisSettings(_Stage):
    """The analysis of questions."""

    categories: Use = Field("boost", description="a question's category words: boost, prefilter, postfilter or off")
    years: Use = Field("boost", description="a question's years: boost, prefilter, postfilter or off")
    names: bool = Field(True, description="what the question names (documents, repositories, companies) is boosted")
    phrases: bool = Field(True, description="words in quotation marks must stand in a passage")
    trim: bool = Field(True, description="what only asks (I am looking for papers on) is not searched for")
    min_candidates: int = Field(3, ge=0, description="a guessed filter that leaves fewer is dropped")


class RetrievalSettings(_Stage):
    """Retrieval and fusion."""

    top_n: int = Field(5, ge=1, le=100)
    mode: Literal["hybrid", "dense", "sparse"] = Field("hybrid")
    ann_factor: int = Field(20, ge=1, description="the vector index looks at this many times top_n")
    leg_factor: int = Field(4, ge=1, description="each leg returns this many times top_n")
    fusion: Literal["convex", "rrf"] = Field("convex")
    scale: Literal["max", "theoretical", "z", "none"] = Field("z", description="convex fusion: how scores compare")
    complete: bool = Field(True, description="convex fusion: a node that one leg found is scored by the other too")
    dense_weight: float = Field(0.5, ge=0, le=1, description="convex fusion; the sparse leg has the rest")
    whitening: float = Field(0.25, ge=0, le=1, description="how far common directions of the vectors are evened out")
    bm25_b: float = Field(0.6, ge=0, le=1)
    header_weight: int = Field(2, ge=1, le=5, description="a term of title or heading counts so many times")
    pair_weight: float = Field(0.15, ge=0, le=1, description="of neighbouring question terms that stand together")
    typo_weight: float = Field(0.8, ge=0, le=1, description="of the nearest known word for an unknown one; 0 = off")
    cache_entries: int = Field(256, ge=0, description="rankings kept until the corpus or a setting changes; 0 = none")


class FactorSettings(_Stage):
    """Boosts and cuts of the fused ranking."""

    category: bool = Field(True, description="nodes of a category that the question asks for")
    resume: float = Field(1.3, gt=0, description="factor of the category")
    linkedin: float = Field(1.25, gt=0)
    journey: float = Field(1.2, gt=0)
    github: float = Field(1.15, gt=0)
    year: float = Field(1.2, gt=0, description="nodes of a year that the question names; 1 = off")
    named: float = Field(1.2, gt=0, description="nodes of a document that the question names; 1 = off")
    section: float = Field(1.1, gt=0, description="nodes of a section that the question names; 1 = off")
    recency: Literal["off", "asked", "steps", "decay"] = Field("asked", description="asked = only for 'recent', 'now'")
    quality: bool = Field(False, description="nodes of 100 to 300 words count 1.1 times")
    floor: bool = Field(False, description="drop what scores far below the best")
    per_document: int = Field(3, ge=0, description="nodes of one document, where many have candidates; 0 = any")
    duplicates: bool = Field(True, description="of nodes that say the same, keep the best")
    neighbours: int = Field(0, ge=0, le=5, description="nodes before and after each, within its section")
    rerank: str = Field("", description="folder of a local ONNX cross-encoder, or a LlamaIndex reranker's class")
    rerank_candidates: int = Field(20, ge=1)
    rerank_seconds: float = Field(1.0, gt=0, description="past it the ranking stays as it was")


class EvidenceSettings(_Stage):
    """The threshold between an answer and an abstention."""

    rule: Literal["calibrated", "plain"] = Field("calibrated", description="plain = similarity and number of matches")
    min_strength: float = Field(0.0, ge=0, le=1, description="of the calibrated score; 0 = what suits the model")
    plain_similarity: float = Field(0.78, ge=-1, le=1, description="plain rule, on text-embedding-3-small's scale")
    plain_matches: int = Field(3, ge=0, description="plain rule")


class EscalationSettings(_Stage):
    """Auto-RAG: what a language model tries when the evidence is weak."""

    mode: Literal["off", "auto", "always"] = Field("auto", description="auto = when weak; always = also when strong")
    kinds: tuple[Literal["rewrite", "hyde", "multi"], ...] = Field(
        ("rewrite", "hyde", "multi"), description="JSON list; what a language model tries, in order"
    )
    seconds: float = Field(2.5, gt=0, description="no new attempt is begun after this")
    calls: int = Field(3, ge=0, description="of the language model, a question")


class ContextSettings(_Stage):
    """The budget of the context."""

    max_characters: int = Field(8000, ge=200)
    max_tokens: int = Field(2400, ge=50)


class AnswerSettings(_Stage):
    """Writing, verification and follow-ups of an answer."""

    max_sentences: int = Field(
        6, ge=1, le=30, description="of an extractive answer, without lists that are asked for and code"
    )
    passages: int = Field(10, ge=1, le=100, description="that an extractive answer is picked from; at least top_n")
    history_tokens: int = Field(800, ge=0, description="... and at most so many tokens of them")
    condense: Literal["auto", "rules"] = Field(
        "auto", description="auto = a language model makes a follow-up whole, where there is one; else rules do"
    )
    condense_seconds: float = Field(4.0, gt=0, description="past it the rules do")
    output: Literal["auto", "prose", "json"] = Field(
        "auto", description="what a language model is asked for; auto = JSON for `ask --json`, else prose, streamed"
    )
    unsupported: Literal["mark", "remove", "repair"] = Field(
        "mark", description="sentences that no source bears out: marked, removed, or the model is told once and repairs"
    )
    facts: bool = Field(True, description="counts and durations are computed from career facts, where these say them")
    nli_model: str = Field("", description="folder of a local ONNX model of inference that verification asks, too")
    follow_ups: int = Field(3, ge=0, le=3, description="questions that are suggested after an answer; 0 = none")
    follow_ups_by: Literal["documents", "llm"] = Field(
        "documents", description="who proposes them; llm costs a request an answer. All are checked by retrieval"
    )
    follow_up_seconds: float = Field(0.3, gt=0, description="past it no further suggestion is looked for")


class PersonaSettings(_Stage):
    """The voice of answers by a language model."""

    voice: Literal["neutral", "first"] = Field("neutral", description="first = as the person the documents are about")
    name: str = Field("", max_length=200, description="whose documents they are")
    tone: str = Field("", max_length=200, description="a few words: warm and brief")
    links: tuple[str, ...] = Field((), description="JSON list; offered to who asks for more")


class ChatSettings(_Stage):
    """Address, limits and first questions of the chat."""

    host: str = Field("127.0.0.1")
    port: int = Field(8501, ge=1, le=65535)
    title: str = Field("Footnote")
    max_upload_mb: int = Field(100, ge=1)
    starters: tuple[str, ...] = Field((), description="JSON list of starter questions; empty = those of the sample")
    feedback: int = Field(200, ge=0, description="entries that one browser session may leave; 0 = none is asked for")


class LogSettings(_Stage):
    """Messages on stderr."""

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

    home: Path = Field(
        default_factory=default_home,
        description="database, lexical index, originals; empty = ./var where it holds a database or in a clone, else "
        "the user's data folder",
    )
    collection: str = Field("default", min_length=1, max_length=200, description="the collection of new documents")
    database_url: SecretStr | None = Field(
        None,
        validation_alias="DATABASE_URL",
        description="any Postgres with pgvector 0.8; empty = the embedded one under FOOTNOTE_HOME",
    )
    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="embeddings by OpenAI, or by the server of OPENAI_API_BASE"
    )
    openai_api_base: str = Field(
        OPENAI_BASE,
        validation_alias="OPENAI_API_BASE",
        description="any server that speaks OpenAI's protocol. For Gemini, for example:\n"
        "https://generativelanguage.googleapis.com/v1beta/openai/ with\n"
        "FOOTNOTE_EMBEDDING__MODEL=gemini-embedding-001 and FOOTNOTE_EMBEDDING__DIMENSION=768",
    )
    openai_model: str = Field(
        "", validation_alias="OPENAI_MODEL", description="a language model of that server; it writes the answers then"
    )
    openrouter_api_key: SecretStr | None = Field(
        None, validation_alias="OPENROUTER_API_KEY", description="a language model on OpenRouter writes the answers"
    )
    openrouter_api_base: str = Field(OPENROUTER_BASE, validation_alias="OPENROUTER_API_BASE")
    github_token: SecretStr | None = Field(
        None, validation_alias="GITHUB_TOKEN", description="for private repositories"
    )
    notion_token: SecretStr | None = Field(None, validation_alias="NOTION_TOKEN", description="for Notion pages")
    ca_file: str = Field("", description="a PEM file of authorities that are trusted beside the usual ones")

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
    log: LogSettings = LogSettings()

    @field_validator("home", mode="before")
    @classmethod
    def _blank_is_the_default(cls, value: object) -> object:
        return default_home() if value == "" else value

    @field_validator(
        "database_url", "openai_api_key", "openrouter_api_key", "github_token", "notion_token", mode="before"
    )
    @classmethod
    def _blank_is_unset(cls, value: object) -> object:
        return None if isinstance(value, str) and not value.strip() else value


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process, read once; `get_settings.cache_clear()` reads them again."""
    return Settings()
