"""Where the host of a repository shows the lines of a file, as they are stored."""

from urllib.parse import quote

from pipelines.store.tables import documents

SHOWS_LINES = (documents.c.source_kind, documents.c.mime, documents.c.metadata["path"].astext.label("path"))
_README = "#readme"
_CONVERTED = "text/html"


def lines_uri(source_kind: str, source_uri: str, mime: str, path: str | None) -> str:
    """Where a repository's host shows a file of it; empty for any other document, and for a text that was made of one.

    Args:
        source_kind: Of the document.
        source_uri: Of the document: its file's own address, or that of the repository whose README it is.
        mime: Of the document; a file in HTML was made into text, and a repository without a README has none.
        path: Of the file in its repository; empty for a text that was made of what is told of a repository.
    """
    if source_kind != "github" or not path or mime == _CONVERTED:
        return ""
    if not source_uri.endswith(_README):
        return source_uri
    return in_repository(source_uri.removesuffix(_README), path)


def in_repository(repository_uri: str, path: str) -> str:
    """Where a person reads a file of a repository, as its default branch has it now."""
    return f"{repository_uri}/blob/HEAD/{quote(path, errors='replace')}"
