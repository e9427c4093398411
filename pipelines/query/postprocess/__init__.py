"""RERANK: one BaseNodePostprocessor a file, applied in the order that `engine.py` gives."""
