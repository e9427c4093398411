"""The records that a document states as a whole: the project of a README, the person of an "about me" page, talks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from pipelines.blocks import blocks_of, title_of
from pipelines.facts import CareerRecord, LanguageFacts, PersonFacts, SummaryFacts, TalkFacts
from pipelines.ingestion.parsers.careers.job_lines import listed_jobs
from pipelines.ingestion.parsers.careers.people import name_in_title, self_introduction, stated_home, summary_of
from pipelines.ingestion.parsers.careers.records import combined
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.careers.talks import kind_in, names_talks, table_talks, talk_items
from pipelines.ingestion.parsers.careers.vocabulary import language_names
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.project_details import project_details
from pipelines.ingestion.parsers.projects import is_readme, project_of
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import fold, plain
from pipelines.types import Block, Document

_OWN_READERS = frozenset({"resume", "linkedin", "journey"})  # categories whose parsers read their records themselves
_INTRODUCING = frozenset({"web", "generic", "notion"})
_MIN_WORDS = 6
_NO_LEVEL = 7
_MAX_PARAGRAPHS, _NEAR_TOP, _MAX_HEADINGS = 5, 3, 2
_MAX_NAME = 4  # words of a title that names talks


def document_records(document: Document) -> tuple[CareerRecord, ...]:
    """The records of a document as a whole, in order; their spans are those of its text."""
    if document.records is not None:
        return document.records
    if document.category in _OWN_READERS:
        return ()
    if is_readme(document):
        project = project_of(document)
        return (project, *project_details(document, blocks_of(document), project.name)) if project else ()
    blocks = blocks_of(document)
    return (*_about_person(document, blocks), *_talks(document.text, document.title, blocks))


def with_document_records(document: Document, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, each with the document's records of which it holds the end; spans are clipped to their pieces."""
    found: dict[int, list[CareerRecord]] = {}
    for record in document_records(document):
        start, end = record.span
        holding = [number for number, piece in enumerate(pieces) if piece.start < end <= piece.end]
        if holding and not pieces[holding[0]].facts:
            number = holding[0]
            clipped = record.model_copy(update={"span": (max(start, pieces[number].start), end)})
            found.setdefault(number, []).append(clipped)
    return [
        replace(piece, facts=combined(found[number])) if number in found else piece
        for number, piece in enumerate(pieces)
    ]


def _about_person(document: Document, blocks: Sequence[Block]) -> Iterator[CareerRecord]:
    """The person, the summary and the jobs of a page about its author, or of a page that begins with "I am NAME"."""
    text = document.text
    headings = [title_of(text, block.start, block.end) for block in blocks[:3] if block.kind == "heading"]
    titles = [*headings[:1], document.title]
    is_page = _is_about_page(document, titles)
    if not (is_page or document.category in _INTRODUCING):
        return
    others = (  # the paragraphs of a few words or more
        block
        for block in blocks
        if block.kind == "paragraph" and len(plain(text[block.start : block.end], images=False).split()) >= _MIN_WORDS
    )
    opening = [*islice(others, _MAX_PARAGRAPHS if is_page else 1)]
    title = next((title for title in titles if name_in_title(title)), "") if is_page else ""
    found = ((block, self_introduction(text, block.start, block.end, title)) for block in opening)
    block, person = next(((block, person) for block, person in found if person), (None, None))
    if not opening or not (person or is_page):
        return
    prose = [*opening, *others]
    name = name_in_title(title)
    openings = [(block, fold(plain(text[block.start : block.end]))) for block in prose]
    told = [block for block, words in openings if words.startswith(("i ", "i'", "i’"))]
    named = [block for block, words in openings if name and words.startswith(f"{fold(name.partition(' ')[0])} ")]
    if person and block:
        home = person.location or (_home(text, prose) if is_page else "")
        yield person.model_copy(update={"location": home})
        named = [*named, block]
    elif not (told or named):
        return
    elif name:
        first = min([*told[:1], *named[:1]], key=lambda block: block.start)
        start = text.rfind(name, 0, first.start)
        yield PersonFacts(
            span=(start if start >= 0 else first.start, first.end), name=name, location=_home(text, prose)
        )
    yield from _summary(text, blocks, prose, [*told, *named])
    if is_page:
        yield from _languages(text, blocks)
    if is_page and told:
        yield from listed_jobs(text, blocks)


def _summary(
    text: str, blocks: Sequence[Block], prose: Sequence[Block], about: Sequence[Block]
) -> Iterator[SummaryFacts]:
    """The summary: the paragraphs from the first one on that speaks of the person, if it is near the top."""
    first = next((block for block in prose[:_NEAR_TOP] if block in about), None)
    if first is None or sum(block.kind == "heading" for block in blocks[: blocks.index(first)]) > _MAX_HEADINGS:
        return
    following = takewhile(lambda block: block.kind == "paragraph", blocks[blocks.index(first) :])
    if summary := summary_of(text, first.start, [block.end for block in following][-1]):
        yield summary


def _languages(text: str, blocks: Sequence[Block]) -> Iterator[CareerRecord]:
    """The languages below a heading for them, or of the first sentence that says which ones somebody speaks."""
    is_open = False
    for block in blocks:
        if block.kind == "heading":
            is_open = section_of(title_of(text, block.start, block.end)) == "languages"
        elif is_open:
            yield from _named_languages(text, block.start, block.end)
        elif block.kind in ("paragraph", "list"):
            for start, end in sentences(text[block.start : block.end]):
                words = fold(text[block.start + start : block.start + end])
                spoken = any(f"{said} " in f"{words} " for said in word_lists("people")["speaks"])
                found = _named_languages(text, block.start + start, block.start + end) if spoken else []
                if len(found) > 1:
                    yield from found
                    return


def _named_languages(text: str, start: int, end: int) -> list[LanguageFacts]:
    """The languages that `text[start:end]` names, each with its level in brackets behind."""
    found = []
    for first, last in language_names(text[start:end]):
        begin, finish = start + first, start + last
        closed = text.find(")", finish, end) if text[finish : finish + 2] == " (" else -1
        level = text[finish + 2 : closed] if closed > 0 else ""
        found.append(LanguageFacts(span=(begin, max(finish, closed + 1)), language=text[begin:finish], level=level))
    return found


def _home(text: str, prose: Sequence[Block]) -> str:
    """The place where a paragraph says that somebody lives; empty if none does."""
    return next(filter(None, (stated_home(plain(text[block.start : block.end])) for block in prose)), "")


def _is_about_page(document: Document, titles: Sequence[str]) -> bool:
    if document.category == "blog" and document.published_at:
        return False
    path = PurePosixPath(unquote(urlsplit(document.source_uri).path) or document.name)
    names = [path.stem.replace("-", " ").replace("_", " "), *titles]
    pages = word_lists("people")["pages"]
    return any(fold(name).strip("!?.:") in pages or name_in_title(name) for name in names)


def _talks(text: str, title: str, blocks: Sequence[Block]) -> Iterator[TalkFacts]:
    """The talks of the lists and tables below headings that name talks, each title once."""
    seen: set[str] = set()
    # The level of the heading that names talks; 0 for the page's title.
    level = 0 if _names_talks(title.partition("|")[0]) else _NO_LEVEL
    kind = ""
    for block in blocks:
        if block.kind == "heading":
            named = title_of(text, block.start, block.end)
            is_talks = _names_talks(named)
            kind = "" if is_talks or len(named.split()) > _MAX_NAME else kind_in(named)
            if is_talks or (kind and level < _NO_LEVEL):
                level = min(level, block.level)
            elif block.level <= level:
                level = _NO_LEVEL
            elif level < _NO_LEVEL:
                titled = title_of(text, block.start, block.end)
                start = text.find(titled, block.start, block.end)
                span = (start, start + len(titled)) if start >= 0 else (block.start, block.end)
                found = [talk for talk in _listed_talk(text, span) if talk.place]
                yield from (talk for talk in found if fold(talk.title) not in seen)
                seen.update(fold(talk.title) for talk in found)
        elif level < _NO_LEVEL:
            span = block.start, block.end
            match block.kind:
                case "table":
                    found = table_talks(text, *span)
                case "list":
                    found = _listed_talk(text, _item(text, span))
                case "paragraph":
                    found = _talks_of_lines(text, *span)
                    if not found and kind and any(sign in text[slice(*span)] for sign in '“„«"'):
                        found = talk_items(text, [span], mixed=False)
                case _:
                    found = []
            is_title = block.kind == "paragraph" and len(text[slice(*span)].split()) <= _MAX_NAME
            level = _NO_LEVEL if is_title and not found else level  # "Press", on a line of its own
            of_kind = [talk.model_copy(update={"kind": kind or talk.kind}) for talk in found]
            yield from (talk for talk in of_kind if fold(talk.title) not in seen)
            seen.update(fold(talk.title) for talk in found)


def _names_talks(title: str) -> bool:
    return section_of(title) == "talks" or (names_talks(title) and len(title.split()) <= _MAX_NAME)


def _talks_of_lines(text: str, start: int, end: int) -> list[TalkFacts]:
    """The talks of a paragraph that has one on each line, all with dates; empty for other paragraphs."""
    spans, at = list[tuple[int, int]](), start
    for line in text[start:end].split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    found = [talk for span in spans for talk in _listed_talk(text, span)]
    return found if len(spans) > 1 and len(found) == len(spans) else []


def _listed_talk(text: str, span: tuple[int, int]) -> list[TalkFacts]:
    """The talk of a list item, which must have a date and be no sentence about its author."""
    is_told = fold(text[slice(*span)]).startswith(("i ", "we ", "you ", "my "))
    found = talk_items(text, [span], mixed=False)
    return [talk for talk in found if talk.start_month and not is_told]


def _item(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The span of a list item without its mark."""
    start, end = span
    mark = text[start:end].split(maxsplit=1)[0]
    is_mark = mark in ("-", "*", "+", "•") or (mark.rstrip(".)").isdigit() and mark[-1] in ".)")
    return (start + len(mark) + 1, end) if is_mark else span
