"""ANSWER: from a question to sentences with checked footnotes."""
