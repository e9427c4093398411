"""TEXT: canonical text, searchable text, token counts and folding; sentences come from `sentences.py`."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.errors import ConfigError
from pipelines.markup import fenced, plain, unframed
from pipelines.sentences import sentences

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = [
    "SEARCHABLE_VERSION",
    "canonical",
    "count_tokens",
    "fold",
    "plain",
    "searchable",
    "sentences",
    "token_number",
]

SEARCHABLE_VERSION = 2

_NEWLINES = re.compile("\r\n|[\r\x85\u2028\u2029]")
_SPACES = re.compile("[\x0b\x0c\x1c-\x1f]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"
    "\ue000-\uf8ff\ud800-\udfff\U000f0000-\U0010ffff]"
)
# Persian, Indic scripts and emoji are spelt with joiners; beside ASCII or each other they are debris.
_JOINER = re.compile("[\u200c\u200d](?:(?<![^\x00-\x7f\u200c\u200d].)|(?![^\x00-\x7f\u200c\u200d]))", re.DOTALL)
_TYPOGRAPHIC = str.maketrans(
    dict.fromkeys("‘’‚‛′´", "'") | dict.fromkeys("“”„‟″«»", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)

# The tokens of cl100k_base; the vocabulary is the file that llama-index-core carries.
_CL100K_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_TOKEN_WINDOW = 20_000
_WORD_BREAK = re.compile(r"(?<=\S)(?= [^\W\d_])")

_MOST_KEPT = 20_000
_MARKDOWN = frozenset({"", "text/markdown"})
_PLAIN = frozenset({"text/plain", "application/pdf"})


def canonical(raw: str) -> str:
    """The text as a reader reads it: NFC, `\\n` newlines, nothing invisible; idempotent.

    Control characters (but tab and newline), byte order marks, zero-width and private-use characters are removed;
    form feeds and their like become spaces, so that neither words nor line numbers run together.
    """
    text = unicodedata.normalize("NFC", _NEWLINES.sub("\n", raw))
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text))
    return unicodedata.normalize("NFC", _JOINER.sub("", text))


def fold(text: str) -> str:
    """The text for matching: case, accents, ligatures, typographic quotes and dashes, and runs of space folded away."""
    if not text.isascii():
        text = bare(text.translate(_TYPOGRAPHIC))
    return " ".join(text.casefold().split())


def bare(text: str) -> str:
    """The text with compatible characters for its ligatures and other forms, and without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if any(map(unicodedata.combining, decomposed)):
        return "".join([char for char in decomposed if not unicodedata.combining(char)])
    return decomposed


def searchable(header: str, text: str, mime: str = "", kind: str = "text") -> str:
    """What is embedded and indexed of a node: its header, then its text without markup noise.

    Only in Markdown is an asterisk a mark, and not in a node of kind `code`, whose later parts no fence opens; what a
    loader put around the words of a web page or an office file (table pipes, fences, the dashes of a list) is taken
    out, and their own signs stay.
    """
    body = _just_made(text, mime, kind) if len(text) <= _MOST_KEPT else _body(text, mime, kind)
    return f"{header}\n{body}" if header else body


def _body(text: str, mime: str, kind: str) -> str:
    if mime in _MARKDOWN:
        return plain(text if kind != "code" else fenced(text))
    return text.strip() if mime in _PLAIN else unframed(text)


# A node is embedded, indexed and compared with others, one soon after the other.
_just_made = lru_cache(maxsize=512)(_body)


def count_tokens(text: str) -> int:
    """The number of cl100k tokens; special tokens count as the text that they are. Never downloads anything."""
    encoding, total, start = _cl100k(), 0, 0
    while start < len(text):
        end = start + _TOKEN_WINDOW
        if end < len(text):
            cut = _WORD_BREAK.search(text, end, end + 2_000)
            end = cut.start() if cut else end
        total += len(encoding.encode_ordinary(text[start:end]))
        start = end
    return total


def token_number(word: str) -> int | None:
    """Of a word after a space that is one cl100k token, its number: the lower, the commoner the word; else None."""
    numbers = _cl100k().encode_ordinary(f" {word}")
    return numbers[0] if len(numbers) == 1 else None


@lru_cache(maxsize=1)
def _cl100k() -> "Encoding":
    """The encoding, built from the file itself: tiktoken's own loader may go online."""
    import base64
    from importlib.util import find_spec
    from pathlib import Path

    from tiktoken import Encoding

    spec = find_spec("llama_index.core")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = [Path(folder) / "_static" / "tiktoken_cache" / _CL100K_FILE for folder in folders]
    path = next((file for file in files if file.is_file()), None)
    if path is None:
        raise ConfigError(
            "The cl100k vocabulary that llama-index-core carries is missing.",
            hint="Install it again: pip install --force-reinstall llama-index-core.",
        )
    pairs = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return Encoding("cl100k_base", pat_str=_CL100K_PATTERN, mergeable_ranks=ranks, special_tokens={})
