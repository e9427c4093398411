"""STORE: one Postgres with the documents, their nodes and every log; the BM25 index beside it."""
