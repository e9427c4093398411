"""The wording of sources, places, verdicts and endings, in the chat, the terminal and answer packs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from config.prompts import ASKED_BACK
from pipelines.answers import Citation, Source
from pipelines.text import prose_sentences

_EXPORTERS = ("microsoft word", "microsoft powerpoint", "microsoft excel", "pages", "libreoffice ")
_SUFFIXES = frozenset(
    ".pdf .doc .docx .txt .md .markdown .htm .html .ppt .pptx .xls .xlsx .odt .ods .odp .csv .rtf .json .tex".split()
)
_UUID = re.compile(r"(?<![^\W_])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![^\W_])", re.IGNORECASE)
_HASH = re.compile(r"(?<![^\W_])(?=[a-f]{0,64}[0-9])(?=[0-9]{0,64}[a-f])[0-9a-f]{8,64}(?![^\W_])", re.IGNORECASE)
_JOINTS = re.compile(r"(?<=\w)[-+](?=\w)|--+")
_EMPTY = frozenset("new no untitled document page presentation book title index file".split())
_MAX_EMPTY = 4
_CONVERTED = frozenset(".html .htm .xhtml .doc .docx .ppt .pptx .xls .xlsx .odt .odp .ods .rtf .epub".split())
_AS_IT_IS = frozenset(".md .markdown .txt .text .rst .csv .tsv .json".split())
_NAMELESS = frozenset({"readme", "index"})


@dataclass(frozen=True, slots=True)
class DocumentSources:
    """A document's sources in their order; `name` is its file's, empty where the title says it."""

    title: str
    name: str
    sources: tuple[Source, ...]


def by_document(sources: Iterable[Source]) -> list[DocumentSources]:
    """The sources grouped by document, the document of the first source first."""
    groups: dict[str, list[Source]] = {}
    for source in sources:
        groups.setdefault(source.document_id, []).append(source)
    return [
        DocumentSources(readable(group[0].title, group[0].documentName), _beside(group[0]), tuple(group))
        for group in groups.values()
    ]


def place(source: Source) -> str:
    """The place of a source in its document: page, else lines, and the sections above it."""
    return _under(source, _range(source))


def cited_place(source: Source, cited: Sequence[Citation]) -> str:
    """The place of the cited words of a source, and the sections above it; the place of the source without any."""
    return _under(source, cited_at(cited, converted=is_made(source)) or _range(source))


def cited_at(cited: Iterable[Citation], *, converted: bool = False) -> str:
    """The pages, else the lines of cited words, each once, in order; empty if none are stored.

    Lines that follow each other are one range.
    """
    ranges: list[tuple[int | None, int, int]] = []
    for each in sorted((each for each in cited if each.line_start), key=lambda each: each.start):
        page, first, last = ranges[-1] if ranges else (None, 0, -1)
        if ranges and each.page == page and first <= each.line_start <= last + 1:
            ranges[-1] = (page, first, max(last, each.line_end))
        else:
            ranges.append((each.page, each.line_start, each.line_end))
    return ", ".join(dict.fromkeys(page_or_lines(*spot, converted=converted) for spot in ranges))


def is_made(source: Source) -> bool:
    """True if the lines of a source count in the converted text, not in the file."""
    return not source.lines_uri and is_converted(source.documentName, source.uri)


def is_converted(name: str, uri: str) -> bool:
    """True if a file was converted to text, by its name or address: HTML, office documents, web pages."""
    remote = address(uri)
    path = remote.partition("?")[0].partition("#")[0].partition("://")[2].partition("/")[2]
    suffix = PurePosixPath(path if remote else name).suffix.lower()
    is_page = bool(remote) and "/blob/HEAD/" not in remote and (suffix not in _AS_IT_IS or remote.endswith("#readme"))
    return suffix in _CONVERTED or is_page


def _range(source: Source) -> str:
    """The page or pages, else the lines that a source reaches over."""
    if source.page and source.page_breaks:
        return f"pp. {source.page}–{source.page + len(source.page_breaks)}"
    return page_or_lines(source.page, source.line_start, source.line_end, converted=is_made(source))


def _under(source: Source, where: str) -> str:
    titles = (source.title, readable(source.title, source.documentName))
    sections = [part for part in source.section_path if part not in titles]
    return " · ".join([where, " › ".join(sections)]) if sections else where


def page_or_lines(page: int | None, first: int, last: int, *, converted: bool = False) -> str:
    """The page, else the lines from the first to the last: of the text where a file was made into one."""
    if page:
        return f"p. {page}"
    of = " of the text" if converted else ""
    return f"line {first}{of}" if first == last else f"lines {first}–{last}{of}"


def link(source: Source, cited: Iterable[Citation] = ()) -> str:
    """The address at which a browser shows a source; of a file whose lines are shown, the cited lines.

    The lines of the source where no citation has any; empty for a file of this machine.
    """
    if not address(source.lines_uri):
        return address(source.uri)
    noted = [(each.line_start, each.line_end) for each in cited if each.line_start]
    lines = noted or [(source.line_start, source.line_end)]
    first, last = min(start for start, _ in lines), max(end for _, end in lines)
    return f"{source.lines_uri}?plain=1#L{first}" + (f"-L{last}" if last > first else "")


def place_and_others(source: Source) -> str:
    """The place of a source, and the other documents that hold its cited words."""
    return f"{place(source)} · also in {', '.join(source.also_in)}" if source.also_in else place(source)


def readable(title: str, name: str) -> str:
    """The name of a document: its title unless that is empty of meaning, else its file name without hashes and suffix.

    A README is called after its folder.
    """
    titled = _words(_bare_title(title.strip()) if "/" not in title else "")
    if any(map(str.isalpha, titled)) and not _is_empty(titled):
        return titled
    path = PurePosixPath(unquote(name))
    stem = path.parent.name if path.stem.casefold() in _NAMELESS and path.parent.name else path.stem
    words = _words(stem)
    return (words if " " in stem else _JOINTS.sub(" ", words)) or name


def _bare_title(title: str) -> str:
    """A title without the program before it and the suffix behind it."""
    program, dash, rest = title.partition(" - ")
    title = rest if dash and program.lower().startswith(_EXPORTERS) else title
    suffix = PurePosixPath(title).suffix
    return title.removesuffix(suffix) if suffix.lower() in _SUFFIXES else title


def _is_empty(title: str) -> bool:
    """True if a title is made of words that say nothing of its document: "Untitled document 2"."""
    words = title.casefold().split()
    return len(words) <= _MAX_EMPTY and all(word in _EMPTY or word.isdecimal() for word in words)


def _words(text: str) -> str:
    """The words of a name, without hashes and underscores."""
    return " ".join(_HASH.sub(" ", _UUID.sub(" ", text)).replace("_", " ").split()).strip("-–. ")


def _beside(source: Source) -> str:
    """The file's name, unless it is the title."""
    title = readable(source.title, source.documentName)
    return "" if source.documentName in ("", title) else source.documentName


def address(uri: str) -> str:
    """The URI of a document if it is a web address, else empty."""
    return uri if uri.startswith(("https://", "http://")) else ""


FINDING = {
    "supported": "supported by its source",
    "partial": "partly supported by its source",
    "misattributed": "supported by another source than the one it cites",
    "unsupported": "not supported by its source",
    "uncited": "without a source",
}
_BY = {"rules": "by rules, from the questions before it", "model": "by the language model"}


ONLY_NEAR = "Only near, not an answer"


def near_heading(model: str) -> str:
    """The words above the nearest words of an abstention, and above the people whom a question fits."""
    return "Who fits" if model == ASKED_BACK else ONLY_NEAR


def offers(model: str, *, answered: bool) -> str:
    """The words above the questions that may be asked next."""
    return "You could ask next" if answered else "You may mean" if model == ASKED_BACK else "These have an answer"


def added(pairs: Iterable[Sequence[str]]) -> str:
    """The words that a follow-up took from the conversation: `it = saltlick, + the words that were left unsaid`."""
    return ", ".join(f"{said} = {meant}" if said else f"+ {meant}" for said, meant in pairs)


def read_as(condensed: str, condensed_by: str, pairs: Iterable[Sequence[str]] = ()) -> str:
    """The standalone form of a follow-up, what it took from the conversation, and what made it; else empty."""
    how = "; ".join(filter(None, (added(pairs), f"made whole {_BY.get(condensed_by, condensed_by)}")))
    return f"Read as: {condensed} ({how})" if condensed else ""


def without_settings(text: str) -> str:
    """A message without the sentences that name an environment variable, which a visitor cannot set."""
    kept = [text[start:end] for start, end in prose_sentences(text, 0, len(text))]
    return " ".join(sentence for sentence in kept if not any(map(_is_variable, sentence.split())))


def _is_variable(word: str) -> bool:
    name = word.strip('`("').partition("=")[0]
    return "_" in name and name.isupper()


def how_it_ended(mode: str, fallback_reason: str, *, truncated: bool, answered: bool = True) -> Iterator[str]:
    """Reasons why the language model wrote the answer not at all, or only in part."""
    if mode == "llm" and fallback_reason:
        yield f"The language model broke off, and the answer ends there. {fallback_reason}"
    elif fallback_reason and not answered:
        yield f"The language model did not answer, and no sentence that does was found. {fallback_reason}"
    elif fallback_reason:
        yield f"The language model did not answer, so sentences are quoted instead. {fallback_reason}"
    elif truncated:
        yield "The language model's answer was cut short, by its length limit or on the way; it may be incomplete."
