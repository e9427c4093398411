"""Parsers: a Document to nodes that are exact spans of its text."""

from functools import lru_cache

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode

from pipelines.errors import ConfigError
from pipelines.ingestion.context_header import ContextHeader
from pipelines.ingestion.parsers.generic import GenericParser
from pipelines.ingestion.parsers.journey import JourneyParser
from pipelines.ingestion.parsers.linkedin import LinkedInParser
from pipelines.ingestion.parsers.markdown import MarkdownParser
from pipelines.ingestion.parsers.nodes import CarriedDocument, EmbedTexts, SpanParser
from pipelines.ingestion.parsers.resume import ResumeParser
from pipelines.ingestion.parsers.sections import SectionsParser
from pipelines.ingestion.parsers.semantic import SemanticParser
from pipelines.ingestion.parsers.window import WindowParser
from pipelines.types import Document

__all__ = ["PARSERS", "PARSER_OF_CATEGORY", "build_parser", "parse", "parser_for"]

PARSERS: dict[str, type[SpanParser]] = {
    "resume": ResumeParser,
    "linkedin": LinkedInParser,
    "journey": JourneyParser,
    "markdown": MarkdownParser,
    "generic": GenericParser,
    "sections": SectionsParser,
    "window": WindowParser,
    "semantic": SemanticParser,
}
PARSER_OF_CATEGORY = {
    "resume": "resume",
    "linkedin": "linkedin",
    "journey": "journey",
    "github": "markdown",
    "blog": "markdown",
    "notion": "markdown",
    "web": "markdown",
    "generic": "generic",
}


def parser_for(document: Document) -> str:
    """The name of the document's parser: as a person or a rule of the settings chose, else by category.

    Generic Markdown with headings has the Markdown parser.
    """
    chosen = document.metadata.get("said", {}).get("parser") or document.metadata.get("ruled", {}).get("parser")
    if chosen:
        return str(chosen)
    has_headings = not document.blocks or any(block.kind == "heading" for block in document.blocks)
    if document.category == "generic" and document.mime == "text/markdown" and has_headings:
        return "markdown"
    return PARSER_OF_CATEGORY.get(document.category, "generic")


def build_parser(name: str, sizes: object | None = None, embed: EmbedTexts | None = None) -> SpanParser:
    """Build the parser with that name.

    Without `sizes` (as `Settings.parsing`) it has its defaults; `embed` is for the semantic parser.

    Raises:
        ConfigError: If there is no such parser.
    """
    kind = PARSERS.get(name)
    if kind is None:
        raise ConfigError(f"There is no parser called {name!r}.", hint=f"Parsers: {', '.join(sorted(PARSERS))}.")
    return kind.sized(sizes, embed=embed) if sizes else kind(embed=embed)


def parse(
    document: Document, name: str = "", sizes: object | None = None, embed: EmbedTexts | None = None
) -> list[TextNode]:
    """Parse a document into nodes, in order, each with its header; at least one for a document with text.

    The document's `id` and `content_sha` must be set: they are part of the node ids. Without a name the parser is
    `parser_for(document)`; for `sizes` and `embed` see `build_parser`.

    Raises:
        ParseError: If a parser returns a node that is not an exact span.
        ConfigError: If there is no such parser, or the semantic parser is given no `embed`.
    """
    name = name or parser_for(document)
    pipeline = _pipeline(PARSERS[name], sizes) if name in PARSERS and not embed else None
    pipeline = pipeline or _through(build_parser(name, sizes, embed))
    nodes = pipeline.run(documents=[CarriedDocument.of(document)])
    return [node for node in nodes if isinstance(node, TextNode)]


@lru_cache(maxsize=64)
def _pipeline(parser: type[SpanParser], sizes: object | None) -> IngestionPipeline:
    return _through(parser.sized(sizes) if sizes else parser())


def _through(parser: SpanParser) -> IngestionPipeline:
    return IngestionPipeline(transformations=[parser, ContextHeader()], disable_cache=True)
