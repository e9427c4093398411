"""QUOTE: text of documents as data in a prompt: between lines with a key that none of it holds."""

import re
import secrets
from collections.abc import Iterable

# What looks like a delimiter of ours, whatever the space in it and the way its signs are written.
_DELIMITER = re.compile(
    r"[<＜‹]\s*(?=[<＜‹]\s*[/／]?\s*(?:source|conversation|document)\b)|[《«](?=\s*[/／]?\s*source\b)", re.I
)


def fresh_key(texts: Iterable[str]) -> str:
    """Eight random hex digits that stand in none of the texts, in either case."""
    held = [text.casefold() for text in texts]
    while True:
        key = secrets.token_hex(4)
        if not any(key in text for text in held):
            return key


def harmless(text: str) -> str:
    """The text with a stroke before what looks like a delimiter; any other text is as it was."""
    return _DELIMITER.sub(lambda match: f"|{match.group()}", text)


def on_one_line(text: str) -> str:
    """The text without line breaks, for the head of a quotation."""
    return " ".join(harmless(text).split())
