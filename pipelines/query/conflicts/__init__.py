"""Disagreements of sources, with both sides."""
