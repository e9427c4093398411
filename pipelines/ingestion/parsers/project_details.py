"""What a README states of its project by its structure: licence, latest version, status, requirements."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.version import InvalidVersion, Version

from pipelines.blocks import title_of
from pipelines.facts import ProjectDetail
from pipelines.ingestion.parsers.technologies import technologies_in
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import fold, plain
from pipelines.types import Block, Document

About = Literal["licence", "version", "status", "requirement"]
_ABOUT: tuple[About, ...] = ("licence", "version", "status", "requirement")
_MAX_VALUE = 200
_MAX_LINE = 120  # of a changelog
_MAX_SENTENCE = 30  # words of a sentence that states a detail
_SHORT = 14  # words of the last lines of a README
_LAST = 2  # blocks at the end that may be a licence alone
_FIRST, _HEADINGS = 3, 2  # paragraphs that may be a notice, before the second heading
_MAX_LICENCE_WORDS = 3
_NEAR = 3  # words between "last release" and its version
_OPENS = 6  # words of a notice that hold its status
_EDGES = "*_`~>#:;,.!?()[]©\"'⚠️ "
_IDS = ("", "-1.0", "-2.0", ".0")  # endings that people leave out: "CC0", "Apache", "GPL-3"


def project_details(document: Document, blocks: Sequence[Block], name: str) -> Iterator[ProjectDetail]:
    """The details of a project in the order of its README: the first of each section, and the newest version."""
    text = document.text
    section, level, headings, paragraphs, told = "", 0, 0, 0, False
    versions: list[tuple[Version, tuple[int, int]]] = []
    for number, block in enumerate(blocks):
        span = block.start, block.end
        if block.kind == "heading":
            headings += 1
            if section != "version" or block.level <= level:
                section, level, told = _section(title_of(text, *span)), block.level, False
            else:
                versions += _versions(text, *span)
            continue
        if section == "version":
            versions += _versions(text, *span)
        if block.kind not in ("paragraph", "list"):
            continue
        paragraphs += block.kind == "paragraph"
        is_first = block.kind == "paragraph" and paragraphs <= _FIRST and headings < _HEADINGS
        is_last = number >= len(blocks) - _LAST
        versions += _version_badges(text, span)
        yield from _licence_badges(text, span, name)
        for start, end, words in _sentences(text, span):
            is_spare = told or fold(words).startswith("copyright")
            about = section if section in ("licence", "status") and not is_spare else ""
            in_section = section == "licence" or is_last
            is_alone = (is_first or in_section) and bool(_licence("-".join(words.strip(_EDGES).split())))
            about = about or ("licence" if is_alone else _stated(words, first=is_first, licensing=in_section))
            if about:
                told = told or about == section
                yield _detail(name, about, start, end, words)
    if versions:
        start, end = max(versions)[1]
        yield _detail(name, "version", start, end, _line(text[start:end]))


def is_notice(words: str) -> bool:
    """True for a sentence that says that a project is archived, deprecated or frozen, and not what it is."""
    lists, folded = word_lists("readme"), fold(words)
    tokens = [token.strip(_EDGES) for token in folded.split()][:_OPENS]
    is_said = not set(tokens).isdisjoint(lists["states"]) or any(one in folded for one in lists["kept"])
    return is_said and tokens[:1] not in (["a"], ["an"], ["the"])


def _detail(name: str, about: str, start: int, end: int, words: str) -> ProjectDetail:
    kind = next(known for known in _ABOUT if known == about)
    return ProjectDetail(span=(start, end), name=name, about=kind, value=words[:_MAX_VALUE])


def _section(title: str) -> str:
    """The subject of a section by its title; empty for others."""
    folded = fold(plain(title)).strip(_EDGES + "0123456789")
    words = folded.partition(" (")[0]
    first = words.partition(" and ")[0].partition(" & ")[0]
    named = ((about, word_lists("readme")[f"about-{about}"]) for about in _ABOUT)
    return next((about for about, titles in named if words in titles or first in titles), "")


def _sentences(text: str, span: tuple[int, int]) -> Iterator[tuple[int, int, str]]:
    """(start, end, words) of each sentence of a block that is short enough to state a detail."""
    for start, end in sentences(text[slice(*span)]):
        raw = text[span[0] + start : span[0] + end]
        words = " ".join(plain(raw, images=False).split()).strip("*>-• ")
        if words and len(words.split()) <= _MAX_SENTENCE:
            yield span[0] + start, span[0] + end, words


def _stated(words: str, *, first: bool, licensing: bool) -> str:
    """The kind of detail that a sentence states by its first words or by its form; empty for others."""
    lists, folded = word_lists("readme"), fold(words)
    head, tokens = fold(words.partition(":")[0]).strip(_EDGES), [token.strip(_EDGES) for token in folded.split()]
    is_labelled = ":" in words and not head.count(" ")
    opens = tokens[0] in lists["about-licence"]
    licensed = opens or (licensing and len(tokens) <= _SHORT) or any(one in folded for one in lists["licensed"])
    if licensed and (licences_in(words) or (opens and is_labelled)):
        return "licence"
    after = (folded.partition(one)[2].split()[:_NEAR] for one in lists["released"] if one in folded)
    if any(_version(word) for near in after for word in near):
        return "version"
    if (is_labelled and head in lists["about-status"]) or any(one in folded for one in lists["kept"]):
        return "status"
    if first and is_notice(words):
        return "status"
    is_needed = tokens[0] in lists["needing"] or (is_labelled and head in lists["about-requirement"])
    return "requirement" if _has_versioned(words.split(), needed=is_needed) else ""


def _has_versioned(words: Sequence[str], *, needed: bool) -> bool:
    """True if a technology with a version stands in a sentence that says what is needed, or that begins with it."""
    for at, word in enumerate(words[1:], 1):
        bare = word.lstrip(">=≥^~")
        signed = words[at - 1] in (">=", "≥", ">")
        names = technologies_in(words[at - 1].strip(_EDGES), badge=True)
        is_bare = at < _MAX_LICENCE_WORDS and words[at + 1 :][:1] in ([], ["or"])
        if bare[:1].isdigit() and (names or (signed and at > 1)) and (needed or is_bare):
            return True
    return False


def _badges(text: str, span: tuple[int, int]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(span of its text, span of its address) of each badge in Markdown."""
    start = text.find("![", *span)
    while start >= 0:
        middle = text.find("](", start, span[1])
        end = text.find(")", middle, span[1])
        if middle > 0 and end > 0:
            yield (start + 2, middle), (middle + 2, end)
        start = text.find("![", start + 2, span[1])


def _licence_badges(text: str, span: tuple[int, int], name: str) -> Iterator[ProjectDetail]:
    """The licence of a badge that states it in its text: `![licence: MIT](...)`."""
    for (start, end), _ in _badges(text, span):
        label, _, rest = text[start:end].partition(" ")
        if fold(label).strip(_EDGES) in word_lists("readme")["about-licence"] and licences_in(rest):
            yield _detail(name, "licence", start, end, rest.strip())


def _version_badges(text: str, span: tuple[int, int]) -> Iterator[tuple[Version, tuple[int, int]]]:
    """The versions that badges of packages have as the last part of their addresses: `![npm](.../npm/3.2.0.svg)`."""
    for (start, end), (first, last) in _badges(text, span):
        at = text.rfind("/", first, last) + 1
        shown = text[at:last].removesuffix(".svg").removesuffix(".png")
        is_own = fold(text[start:end]).partition(" ")[0] in word_lists("readme")["packages"]
        if at and is_own and (version := _version(shown)):
            yield version, (at, at + len(shown))


def licences_in(words: str) -> tuple[str, ...]:
    """The SPDX identifiers of the licences that a text names, in its order: "Apache 2.0", "GPLv3", "CC BY 4.0"."""
    tokens = [token.strip(_EDGES) for token in words.replace("/", " ").split()]
    tokens = [token for token in tokens if token and fold(token) not in word_lists("readme")["about-licence"]]
    found: dict[str, None] = {}
    at = 0
    while at < len(tokens):
        sizes = range(min(_MAX_LICENCE_WORDS, len(tokens) - at), 0, -1)
        size, known = next(((n, one) for n in sizes if (one := _licence("-".join(tokens[at : at + n])))), (1, ""))
        if known:
            found[known] = None
        at += size
    return tuple(found)


@cache
def _licence(phrase: str) -> str:
    """The identifier of a licence by its name; empty if there is none, or if it is that of a technology."""
    is_name = any(char.isdigit() for char in phrase) or phrase.isupper() or phrase[:1].isupper()
    if not is_name or not phrase[0].isalnum() or technologies_in(phrase, badge=True):
        return ""
    spelt = phrase.casefold()
    for digit in "1234":
        spelt = spelt.replace(f"v{digit}", f"-{digit}").replace("--", "-")
    for ending in _IDS:
        try:
            return str(canonicalize_license_expression(spelt + ending))
        except InvalidLicenseExpression:
            continue
    return ""


def _versions(text: str, start: int, end: int) -> Iterator[tuple[Version, tuple[int, int]]]:
    """The lines of a changelog that begin with a version."""
    at = start
    for line in text[start:end].split("\n"):
        words = _line(line)
        first = words.split()[:1]
        if first and (version := _version(first[0])):
            part = line.partition(" · ")[0].rstrip()
            yield version, (at, at + len(part))
        at += len(line) + 1


def _line(raw: str) -> str:
    """The words of a line of a changelog, without marks and what follows a middle dot."""
    words = " ".join(plain(raw.strip().lstrip("#-+ ").removeprefix("* ").replace("[", "").replace("]", "")).split())
    return words.partition(" · ")[0].strip("`* ")[:_MAX_LINE]


def _version(word: str) -> Version | None:
    """The version that a word is; None without a point in it."""
    bare = word.strip(_EDGES).removeprefix("v")
    try:
        return Version(bare) if "." in bare else None
    except InvalidVersion:
        return None
