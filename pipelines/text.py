"""Canonical text, sentence boundaries, folding, token counts and irregular verb forms."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from pipelines.errors import ConfigError
from pipelines.markup import plain, with_opening_fence, without_rendering_marks

if TYPE_CHECKING:
    from tiktoken import Encoding


MAX_CHARACTERS = 2_000

Span = tuple[int, int]

_CLOSERS = "\"'”’»)\\]*_`~"
_STOP = re.compile(rf"(?<![.!?…。！？])[.!?…。！？]++(?:[{_CLOSERS}]|\[\^?\w{{1,5}}\])*+")
_CJK_STOPS = frozenset("。！？")
_OPENERS = frozenset("\"'“”‘’«»([{*_`~#¿¡")
_BESIDE_WORDS = str.maketrans(dict.fromkeys("\"'“”‘’«»()[]{}*_`~—–", " "))
_BEHIND_WORDS = str.maketrans(dict.fromkeys(",'’", " "))
_AROUND_NUMBER = " \t\n*_()[]\\"
_MAX_NUMBER = 3  # digits of a list item's

# Followed by a name or a number, or inside a clause: never the end of a sentence.
_NEVER = frozenset(
    "dr mr mrs ms mx prof st gen rep sen gov capt cpt lt col sgt cmdr rev hon messrs mme mlle hr fr e.g i.e eg ie cf"
    " viz vs v fig figs eq eqs ref refs approx ca dept est tel ext eds trans resp incl excl bzw z.b d.h u.a vgl".split()
)
# An abbreviation only where a number follows.
_BEFORE_NUMBER = frozenset("no nos p pp vol vols ch chap sec art nr para".split())
# May stand at the end of a sentence: they end one only where a usual first word follows.
_SOMETIMES = frozenset(
    "inc ltd co corp llc llp plc bros gmbh jr sr esq al etc ph.d b.sc m.sc b.tech m.tech b.eng m.eng d.phil m.phil ll.b"
    " ll.m jan feb apr jun jul aug sep sept oct nov dec ave blvd univ assn dist".split()
)
_STARTERS = frozenset(
    "the a an he she it they we i you this that these those there here in on at by for from with without to of as if"
    " and but or so yet nor however then when while after before since because although though once until during my our"
    " his her its their your what why how who where which both all some many most each every no not one two another"
    " today yesterday later now also meanwhile finally next first second instead thus therefore moreover".split()
)


def prose_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """The spans of the sentences of a stretch of prose: ascending, trimmed, none empty, none over 2,000 characters."""
    for last in _ends(text, start, end):
        yield from sentence_pieces(text, start, last)
        start = last


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    for match in _STOP.finditer(text, start, end):
        stop = match.end()
        if stop >= end:
            break
        number = text[start : match.start()].strip(_AROUND_NUMBER) if match.start() - start < 12 else ""
        if number.isdecimal() and len(number) <= _MAX_NUMBER:
            continue
        if match[0].rstrip(_CLOSERS)[-1:] in _CJK_STOPS or (text[stop].isspace() and _ends_here(text, match, end)):
            yield stop
            start = stop
    yield end


def _ends_here(text: str, match: re.Match[str], end: int) -> bool:
    """True if the stop ends a sentence, judged by the word before it and the first letter after it."""
    after = match.end()
    while after < end and (text[after].isspace() or text[after] in _OPENERS):
        after += 1
    following = text[after] if after < end else ""
    marks = match[0]
    if marks[0] != "." or marks.startswith(".."):
        return not following.islower()
    before = text[max(match.start() - 40, 0) : match.start()].lower().translate(_BESIDE_WORDS)
    word = "" if before[-1:].isspace() else "".join(before.rsplit(maxsplit=1)[-1:])
    if word in _NEVER:
        return False
    if word in _BEFORE_NUMBER and following.isdigit():
        return False
    if (len(word) == 1 and word.isalpha()) or word in _SOMETIMES or _is_dotted(word):
        opener = text[after : min(after + 20, end)].translate(_BEHIND_WORDS).split(maxsplit=1)
        return following.isupper() and opener[0].lower() in _STARTERS
    return not following.islower() or (len(word) > 2 and word.isalnum())


def _is_dotted(word: str) -> bool:
    """True for letters with stops between them, as in "u.s" and "ph.d"."""
    *letters, last = word.split(".")
    is_end = word.isascii() and last.isalpha() and len(last) < 3
    return bool(letters) and is_end and all(len(one) == 1 and one.isalpha() for one in letters)


def sentence_pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """The trimmed span without quote marks before it, cut at spaces where it is longer than a sentence may be."""
    is_line = start > 0 and text[start - 1] == "\n"
    while start < end and (text[start].isspace() or (is_line and text[start] == ">")):
        is_line |= text[start] == "\n"
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_CHARACTERS:
        limit = start + MAX_CHARACTERS
        cut = max(text.rfind(" ", start + 1, limit), text.rfind("\n", start + 1, limit))
        cut = cut if cut > start else limit
        yield from sentence_pieces(text, start, cut)
        start = cut
        while text[start].isspace():
            start += 1
    if start < end:
        yield start, end


__all__ = [
    "SEARCHABLE_VERSION",
    "canonical",
    "count_tokens",
    "digit_runs",
    "fold",
    "has_words",
    "is_page_number",
    "letters_of",
    "line_breaks",
    "pages_in",
    "plain",
    "searchable",
    "token_number",
    "word_parts",
    "word_spans",
]

SEARCHABLE_VERSION = 3

_NEWLINES = ("\r\n", "\r", "\x85", "\u2028", "\u2029")
_SPACES = "\x0b\x0c\x1c\x1d\x1e\x1f"
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
_TOKEN_WINDOW, _REACH = 20_000, 2_000

_MOST_KEPT = 20_000
_MARKDOWN = frozenset({"", "text/markdown"})
_PLAIN = frozenset({"text/plain", "application/pdf"})


def printable(text: str) -> str:
    """The text without lone surrogates, which names of files can have, and no message, model or database can."""
    return text.encode("utf-8", "replace").decode()


def canonical(raw: str) -> str:
    """The text as a reader reads it: NFC, `\\n` newlines, nothing invisible; idempotent.

    Control characters (but tab and newline), byte order marks, zero-width and private-use characters are removed;
    form feeds and their like become spaces, so that neither words nor line numbers run together.
    """
    if raw.isprintable():  # nothing but characters that are drawn, and spaces
        return unicodedata.normalize("NFC", raw)
    for sign in _NEWLINES:
        raw = raw.replace(sign, "\n")
    for sign in _SPACES:
        raw = raw.replace(sign, " ")
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", raw))
    return unicodedata.normalize("NFC", _JOINER.sub("", text))


def one_line(text: object) -> str:
    """Foreign text in one line, without what is invisible, which a terminal would obey; empty for what is no text."""
    return " ".join(canonical(text).split()) if isinstance(text, str) else ""


def fold(text: str) -> str:
    """The text for matching: case, accents, ligatures, typographic quotes and dashes, and runs of space folded away."""
    if not text.isascii():
        text = without_accents(text.translate(_TYPOGRAPHIC))
    return " ".join(text.casefold().split())


def word_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The spans of the words between white space, ascending."""
    for word in text[start:end].split():
        start = text.index(word, start)
        yield start, start + len(word)
        start += len(word)


def line_breaks(text: str) -> list[int]:
    """The offsets of the line breaks, ascending."""
    return [end - 1 for end in accumulate(len(line) + 1 for line in text.split("\n"))][:-1]


def digit_runs(text: str) -> list[str]:
    """The runs of digits, in order."""
    return "".join([char if char.isdecimal() else " " for char in text]).split()


_PAGE_WORDS = frozenset("page seite pagina p".split())
_OF_WORDS = frozenset("of von sur de di".split())


def is_page_number(text: str) -> bool:
    """True if a line states its page and no more: "Page 2 of 3", "- 2 -", "2 / 3"; not for a number alone."""
    names, numbers = "".join([char if char.isalpha() else " " for char in fold(text)]).split(), digit_runs(text)
    is_named = names[:1] != [] and names[0] in _PAGE_WORDS
    squeezed = "".join(text.split())
    is_drawn = squeezed.count("/") == 1 if len(numbers) == 2 else squeezed[:1] + squeezed[-1:] in ("--", "––", "——")
    return 0 < len(numbers) < 3 and _OF_WORDS.issuperset(names[is_named:]) and (is_named or (is_drawn and not names))


def pages_in(text: str) -> tuple[int, int]:
    """(the page, the number of pages) that a line ends with: "Ann Lee, 2 of 3"; zeros without."""
    *_, page, of, count = ["", "", "", *word_parts(text.replace("/", " of "))]
    is_stated = of in _OF_WORDS and page.isdecimal() and count.isdecimal()
    return (int(page), int(count)) if is_stated else (0, 0)


def has_words(text: str) -> bool:
    """True if a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def word_parts(text: str) -> list[str]:
    """The runs of letters and digits of a text, folded, in order."""
    return "".join([char if char.isalnum() else " " for char in fold(text)]).split()


def letters_of(text: str) -> str:
    """The letters and digits of a text, folded, and nothing between them: a key for names."""
    return "".join(word_parts(text))


def without_accents(text: str) -> str:
    """The text with compatible characters for its ligatures and other forms, and without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if any(map(unicodedata.combining, decomposed)):
        return "".join([char for char in decomposed if not unicodedata.combining(char)])
    return decomposed


def searchable(header: str, text: str, mime: str = "", kind: str = "text") -> str:
    """The text of a node that is embedded and indexed: its header, then its text without markup noise.

    Only in Markdown is an asterisk a mark, and not in a node of kind `code`, whose later parts no fence opens; what a
    loader put around the words of a web page or an office file (table pipes, fences, the dashes of a list) is taken
    out, and their own signs stay.
    """
    body = _cached_body(text, mime, kind) if len(text) <= _MOST_KEPT else _body(text, mime, kind)
    return f"{header}\n{body}" if header else body


def _body(text: str, mime: str, kind: str) -> str:
    if mime in _MARKDOWN:
        return plain(text if kind != "code" else with_opening_fence(text))
    return text.strip() if mime in _PLAIN else without_rendering_marks(text)


# A node is embedded, indexed and compared with others, one soon after the other.
_cached_body = lru_cache(maxsize=512)(_body)


def count_tokens(text: str) -> int:
    """The number of cl100k tokens; special tokens count as the text that they are. Never downloads anything."""
    encoding, total, start = _cl100k(), 0, 0
    while start < len(text):
        end = start + _TOKEN_WINDOW
        if end < len(text):
            places = (at for at in range(end, min(end + _REACH, len(text) - 1)) if text[at] == " ")
            end = next((at for at in places if not text[at - 1].isspace() and text[at + 1].isalpha()), end)
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


_IRREGULAR_VERBS = """
become became; begin began begun; break broke broken; bring brought; build built; buy bought; catch caught;
choose chose chosen; draw drew drawn; drive drove driven; eat ate eaten; fall fell fallen; feel felt;
fight fought; find found; forget forgot forgotten; give gave given; go went gone; grow grew grown; hear heard;
hold held; keep kept; lead led; leave left; lend lent; lose lost; mean meant; meet met; pay paid;
ride rode ridden; rise rose risen; run ran; say said; see saw seen; sell sold; send sent; show shown; shrink shrank
shrunk; sink sank sunk; speak spoke spoken; spend spent; stand stood; steal stole stolen; swim swam swum;
take took taken; teach taught; tell told; think thought; throw threw thrown; understand understood; win won;
write wrote written; try tried tries; rewrite rewrote rewritten
"""
_BASE_FORM = {form: forms[0] for group in _IRREGULAR_VERBS.split(";") if (forms := group.split()) for form in forms[1:]}
_PARTICIPLE = {forms[1]: forms[-1] for group in _IRREGULAR_VERBS.split(";") if len(forms := group.split()) > 1}


def base_verb_forms(text: str) -> str:
    """The text with the base form for every irregular form of a verb, in lower case where it was replaced."""
    return " ".join(_BASE_FORM.get(word.lower(), word) for word in text.split())


def participle(past: str) -> str:
    """The participle of a verb in the past tense; empty where the word is none that is known."""
    return past if past.endswith("ed") else _PARTICIPLE.get(past.lower(), "")


def shown_name(name: str) -> str:
    """A person's name as it is read: without letters after a comma, and not in capitals alone (`ANN LEE, P.Eng`)."""
    own = name.partition(",")[0]
    bare = (own if len(own.split()) > 1 else name).strip()
    if not bare.isupper():
        return bare
    return " ".join("-".join(half.capitalize() for half in word.split("-")) for word in bare.split())
