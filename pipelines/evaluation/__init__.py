"""Measures of retrieval and of answers; every default is backed by a command here."""
