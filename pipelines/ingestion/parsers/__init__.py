"""PARSE: a Document to nodes that are exact spans of its text."""

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode

from pipelines.errors import ConfigError
from pipelines.ingestion.contextualise import Contextualise
from pipelines.ingestion.parsers.generic import GenericParser
from pipelines.ingestion.parsers.markdown import MarkdownParser
from pipelines.ingestion.parsers.nodes import CarriedDocument, SpanParser, make_node
from pipelines.types import Document

__all__ = ["PARSERS", "PARSER_OF_CATEGORY", "build_parser", "make_node", "parse", "parser_for"]

PARSERS: dict[str, type[SpanParser]] = {
    "markdown": MarkdownParser,
    "generic": GenericParser,
}
PARSER_OF_CATEGORY = {
    "resume": "generic",
    "linkedin": "generic",
    "journey": "generic",
    "github": "markdown",
    "blog": "markdown",
    "notion": "markdown",
    "web": "markdown",
    "generic": "generic",
}


def parser_for(document: Document) -> str:
    """The name of the parser that suits a document's category; generic Markdown is still parsed by heading."""
    if document.category == "generic" and document.mime == "text/markdown":
        return "markdown"
    return PARSER_OF_CATEGORY.get(document.category, "generic")


def build_parser(name: str, sizes: object | None = None) -> SpanParser:
    """The parser of that name, with the sizes of `Settings.parsing` (or alike) or its own.

    Raises:
        ConfigError: If there is no such parser.
    """
    kind = PARSERS.get(name)
    if kind is None:
        raise ConfigError(f"There is no parser called {name!r}.", hint=f"Parsers: {', '.join(sorted(PARSERS))}.")
    return kind.sized(sizes) if sizes else kind()


def parse(document: Document, name: str = "", sizes: object | None = None) -> list[TextNode]:
    """The document's nodes in order, each with its header; at least one for a document with text.

    Args:
        document: `id` and `content_sha` must be set: the nodes' ids are made of them.
        name: The parser; empty = the one that suits the document.
        sizes: How long nodes may be; None = the parser's own sizes.

    Raises:
        ParseError: If a parser makes a node that is not an exact span.
        ConfigError: If there is no such parser.
    """
    parser = build_parser(name or parser_for(document), sizes)
    pipeline = IngestionPipeline(transformations=[parser, Contextualise()], disable_cache=True)
    nodes = pipeline.run(documents=[CarriedDocument.of(document)])
    return [node for node in nodes if isinstance(node, TextNode)]
