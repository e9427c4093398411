"""INGEST: from sources to rows; `python -m pipelines.ingestion` does what `footnote ingest` does."""
