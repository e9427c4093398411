"""Web pages, sitemaps and feeds as a source: only public addresses, politely, within limits."""

from pipelines.ingestion.sources.web.kind import Web

__all__ = ["Web"]
