"""LOAD Notion: the envelope of a page or a database as Markdown-like text."""

from pipelines.ingestion.loaders.notion.load import load_notion

__all__ = ["load_notion"]
