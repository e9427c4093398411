"""QUESTION: what a question asks for, read from its words alone."""
