"""The project of a README: its name, what it is in its own words, languages and topics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from pipelines.blocks import blocks_of, title_of
from pipelines.facts import ProjectFacts, repository_of
from pipelines.ingestion.parsers.project_details import is_notice
from pipelines.ingestion.parsers.technologies import (
    is_language,
    language_of_command,
    language_of_fence,
    technologies_in,
    topic_terms,
)
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import fold, letters_of, plain
from pipelines.topics import stated_tags
from pipelines.types import Block, Document

_FOLDERS = frozenset({"github", "readmes", "repositories"})
_PROJECT_FOLDERS = frozenset({"projects", "_projects"})  # of pages about one project each
_MAX_NAME = 80
_MAX_NAME_WORDS = 5
_MAX_PURPOSE = 500
_MAX_BLOCKS = 60
_MAX_PARAGRAPHS = 6
_MAX_SENTENCES = 4
_MAX_TAGLINE = 28
_MAX_ASIDE = 20
_MIN_SCORE, _MIN_SCORE_ELSEWHERE, _TAGLINE_SCORE = 1.0, 3.0, 2.9
_MIN_CHARACTERS = 8
_LATER_PARAGRAPH, _LATER_SENTENCE = 0.7, 0.5  # what a candidate loses for each one before it
_AFTER_NOTICE = 1.5  # what it loses after a notice in its paragraph
_MIN_QUESTION = 4  # words of a question that may be a tagline, if there is no other
_SEPARATORS = (": ", " - ", " – ", " — ", " -- ")
_CODE_HOSTS = ("github", "gitlab", "git.", "bitbucket", "codeberg", "sr.ht")
_MAX_LINK_TEXT = 20_000
_BRACKETS = str.maketrans(dict.fromkeys("()[]<>{}\"'`|", " "))


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a README; `block` is its heading, `names` are what its text may call the project."""

    block: Block | None
    name: str
    names: tuple[str, ...]
    heading: str = ""
    tagline: str = ""


@dataclass(frozen=True, slots=True)
class Purpose:
    """A sentence that may say what a project is, with its span; the best score is 3.

    `is_elsewhere` is True in a section that is not about what the project is.
    """

    start: int
    end: int
    words: str
    score: float
    is_elsewhere: bool = False


_README_ENDS = (".readme", "-readme", "_readme", " readme")  # of names without their extension: "koma.README.md"


def is_readme(document: Document) -> bool:
    """True for a README, for the description of a repository without one, and for a file in a folder of READMEs or of
    projects.
    """
    path = PurePosixPath(str(document.metadata.get("path") or document.name))
    if "repository" in document.metadata and not document.metadata.get("path"):
        return True
    if is_readme_name(path.stem):
        return True
    folder = path.parent.name.lower()
    listed = folder in _PROJECT_FOLDERS or (document.category == "github" and folder in _FOLDERS)
    return listed and "path" not in document.metadata


def is_readme_name(stem: str) -> bool:
    """True for the name of a README, without its extension: "README", "koma.README"."""
    return fold(stem).startswith("readme") or fold(stem).endswith(_README_ENDS)


def project_of(document: Document) -> ProjectFacts | None:
    """The project that a README describes; its span goes from the title to the purpose. None without a name."""
    text, blocks = document.text, list(_with_glued_headings(document.text, blocks_of(document)))
    repository = repository_of(document.metadata)
    title = _title(document, blocks[:_MAX_BLOCKS], repository.name if repository else "")
    sentences_read = list(_candidates(text, blocks[:_MAX_BLOCKS], title))
    candidates = [one for one in sentences_read if not one.is_elsewhere and one.score >= _MIN_SCORE]
    candidates = candidates or [one for one in sentences_read if one.score >= _MIN_SCORE_ELSEWHERE][:1]
    purpose = max(candidates, key=lambda one: one.score, default=None)
    places = [(place.start, place.end) for place in (title.block, purpose) if place]
    if not title.name or not places:
        return None
    described = [title.heading, *(one.words for one in candidates)]
    introduction = " ".join(word for word in " ".join(described).split() if "://" not in word)
    given = (*(repository.topics if repository else ()), *stated_tags(document.metadata))
    return ProjectFacts(
        span=(min(start for start, _ in places), max(end for _, end in places)),
        name=_bare_name(title.name)[:_MAX_NAME],
        purpose=purpose.words if purpose else "",
        languages=_languages(text, blocks, introduction, repository.language if repository else ""),
        topics=tuple(dict.fromkeys([*given, *topic_terms(introduction)])),
        link=_link(document, title.name, repository.homepage if repository else ""),
    )


def _title(document: Document, blocks: Sequence[Block], known: str) -> Title:
    """The title of a README: its first heading, unless this is below other text (but of the README's own
    name) or names a section ("Installation").
    """
    text = document.text
    headings = [block for block in blocks if block.kind == "heading"]
    block = next(iter(headings), None)
    if block and block.level > 1 and fold(title_of(text, block.start, block.end)) in word_lists("readme")["status"]:
        block = next((other for other in headings if other.level == 1), block)
    is_below = block and any(_is_prose(text, other) for other in blocks if other.end <= block.start)
    own = [known, _name_of_file(document)]
    if block and block.level > 1 and is_below and not _is_title(title_of(text, block.start, block.end), own):
        block = None
    heading = title_of(text, block.start, block.end).lstrip("# ") if block else ""
    name, tagline = _name_and_tagline(heading)
    folded, lists = fold(name), word_lists("readme")
    is_section = folded.startswith(("what ", "why ", "how ")) or folded in lists["about"] or folded in lists["sections"]
    if block and not is_section:
        spelt = known or _as_in_title(_name_of_file(document), heading) or name
        return Title(block, spelt, (spelt, name, heading), heading, tagline)
    name = known or _name_of_file(document)
    is_readme = fold(heading).replace(" ", "").startswith("readme")
    return Title(block if is_readme else None, name, (name,))


def _with_glued_headings(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks; a first line of a paragraph with number signs and no space after them ("##About") is a heading."""
    for block in blocks:
        line, newline, _ = text[block.start : block.end].partition("\n")
        level = len(line) - len(line.lstrip("#"))
        if block.kind != "paragraph" or not 0 < level <= 6 or not line[level : level + 1].isalpha():
            yield block
            continue
        yield Block(block.start + level, block.start + len(line.rstrip()), "heading", level)
        if newline:
            yield replace(block, start=block.start + len(line) + 1)


def _name_and_tagline(heading: str) -> tuple[str, str]:
    """The name and the tagline of a title ("HanLP: Han Language Processing"); without a tagline, the title.

    The name in "What is HanLP?" is what it asks for.
    """
    for opening in ("What is ", "What's ", "Welcome to the ", "Welcome to "):
        if heading.startswith(opening):
            return heading.removeprefix(opening).rstrip("?! "), ""
    for separator in _SEPARATORS:
        name, found, tagline = heading.partition(separator)
        if found and 0 < len(name.split()) <= _MAX_NAME_WORDS and len(tagline.split()) > 2:
            return name.strip(), tagline.strip()
    return heading, ""


def _as_in_title(name: str, heading: str) -> str:
    """The name of a README's folder or file as its title spells it, where the title begins with it; else empty.

    The rest is a sign, words in brackets or in another script: "koma 独楽", "kelp (archived)", "Model card: kelp-2".
    """
    for title in map(_bare_name, (heading, heading.partition(": ")[2])):
        own, rest = title[: len(name)], title[len(name) :].lstrip()
        is_rest = bool(rest) and (rest[0] in "([.,:-" or not rest.isascii())
        if is_rest and name and letters_of(own) == letters_of(name):
            return own
    return ""


def _bare_name(name: str) -> str:
    """The name without signs and pictures around it."""
    kept = [place for place, char in enumerate(name) if char.isalnum() or char in "()+#!.?\"'/@"]
    return name[kept[0] : kept[-1] + 1] if kept else name


def _name_of_file(document: Document) -> str:
    """The name of a README's folder, else that of the file."""
    path = PurePosixPath(document.name)
    stem = path.stem
    if fold(stem).startswith("readme"):
        return path.parent.name
    if fold(stem).endswith(_README_ENDS):
        return stem[: -len("-readme")]
    return stem.rpartition(".")[2] or stem


def _is_prose(text: str, block: Block, *, items: bool = False) -> bool:
    """True for a paragraph of several words that is no aside in brackets; of a section about the project, an item."""
    is_read = block.kind == "paragraph" or (items and block.kind == "list")
    words = plain(text[block.start : block.end], images=False)
    is_aside = words.startswith("(") and words.endswith(")") and words.count("(") == 1
    return is_read and not is_aside and len(words.split()) > 2


def _candidates(text: str, blocks: Sequence[Block], title: Title) -> Iterator[Purpose]:
    """The title's tagline, and sentences of the paragraphs below it and of sections that say what the project is."""
    if title.block and title.tagline:
        yield Purpose(title.block.start, title.block.end, title.tagline, _TAGLINE_SCORE)
    paragraph, is_elsewhere, is_about, is_name = 0, False, False, False
    for block in blocks:
        if block.kind == "heading":
            heading = title_of(text, block.start, block.end)
            about, is_name = fold(heading).rstrip("?!.: "), fold(heading) == "name"
            for name in filter(None, map(fold, title.names)):
                about = about.replace(name, "it")
            is_about = about in word_lists("readme")["about"]  # "About", "What is CNTK?"
            paragraph, is_elsewhere = 0, not is_about and block != title.block
        elif paragraph < _MAX_PARAGRAPHS and _is_prose(text, block, items=is_about):
            noticed = 0.0
            spans = sentences(text[block.start : block.end])[: _MAX_SENTENCES + 1]
            places = ((block.start + start, block.start + end) for start, end in spans)
            found = ((place, _words_of(text[slice(*place)])) for place in places)
            told = [(place, words) for place, words in found if not _is_title(words, title.names)]
            for number, (place, words) in enumerate(told[:_MAX_SENTENCES]):
                noticed = _AFTER_NOTICE if is_notice(words) else noticed
                called, tagline = _name_and_tagline(words)
                is_opening = not (title.block or paragraph or number) and _is_title(called, title.names)
                if tagline and (is_name or is_opening):  # of a manual page, or of a first line without a mark
                    yield Purpose(*place, tagline, _TAGLINE_SCORE)
                elif words and len(words) <= _MAX_PURPOSE:
                    score = _score(words, title.names, first=not paragraph and not number)
                    later = _LATER_PARAGRAPH * paragraph + _LATER_SENTENCE * number + noticed
                    yield Purpose(*place, words, score - later, is_elsewhere)
            paragraph += not noticed


def _words_of(raw: str) -> str:
    """The words of a sentence without markup, and without the questions and links in a row around it."""
    head, dot, rest = raw.partition(" · ")  # links in a row may follow a tagline on its line
    is_menu = bool(dot) and "](" in rest and "](" not in head
    words = " ".join(plain(head if is_menu else raw, images=False).split()).rstrip(":").strip("*")
    return words.rpartition("? ")[2]


def _is_title(words: str, names: Sequence[str]) -> bool:
    """True if a sentence says one of these names and nothing else."""
    own = letters_of(fold(words))
    return bool(own) and own in [letters_of(fold(name)) for name in names]


def _score(words: str, names: Sequence[str], *, first: bool) -> float:
    """How well a sentence says what the project is: 3 if it is its subject, 2.5 for a tagline, 0 for a remark."""
    folded = fold(words)
    tokens = [token.strip("()[]{}\"'`*,;:!?.") for token in folded.split()]
    lists, defined = word_lists("readme"), _defines(tokens, folded, names)
    if first and words.endswith("?") and len(tokens) >= _MIN_QUESTION:
        return _MIN_SCORE
    if defined or _is_remark(words, folded, tokens[0]):
        return 0.0 if _is_remark(words, folded, "") else defined
    clause = ("that", "which", "who", "when", "where", "whose")  # words that begin a relative one
    has_verb = any(token in lists["finite"] for token in takewhile(lambda token: token not in clause, tokens))
    if first and any(one == "is" and other in lists["articles"] for one, other in pairwise(tokens[1:5])):
        return 2.2  # the name in a form that is not the title's
    if tokens[0] in ("a", "an") or (_is_third_person(tokens[0]) and not has_verb and len(tokens) > 2):
        return 1.5 if has_verb else 2.5
    if has_verb or (len(tokens) < 2 and words.isascii()):
        return 1.2 if has_verb else 0.0
    return 2.5 if first and 3 < len(tokens) <= _MAX_TAGLINE else 1.7


def _defines(tokens: Sequence[str], folded: str, names: Sequence[str]) -> float:
    """The score of a sentence with the project as its subject; 0 for others."""
    length, lists = _subject_length(tokens, names), word_lists("readme")
    if not 0 < length < len(tokens):
        return 0.0
    verb, following = tokens[length], [*tokens, ""][length + 1]
    if verb in ("is", "are", "was"):
        return 3.0 if following in lists["articles"] else 2.3
    is_verb = verb in lists["verbs"] or _is_third_person(verb)
    # "NAME (...), ..., is": words in brackets or between commas stand before the verb
    rest = pairwise(folded.split()[length - 1 :][:_MAX_ASIDE])
    is_aside = any(token in ("is", "are") and before.endswith((",", ")")) for before, token in rest)
    return 3.0 if is_verb or is_aside else 0.0


def _is_remark(words: str, folded: str, first: str) -> bool:
    """True for a sentence that says something else: a question, a notice, links in a row, a line of code."""
    lists = word_lists("readme")
    said = words.endswith("?") or first in lists["remarks"] or any(folded.startswith(one) for one in lists["notices"])
    said = (
        said
        or is_notice(words)
        or bool(language_of_command(words))
        or "not" in folded.split()[:4]
        or words.startswith(("<", "...", "…"))
        or "](" in words
    )
    return said or _is_menu(words) or len(folded) < _MIN_CHARACTERS or not any(map(str.isalpha, folded))


def _subject_length(tokens: Sequence[str], names: Sequence[str]) -> int:
    """The number of words of the sentence's subject if this is the project: its name, "this", "the library"; else 0."""
    for name in filter(None, names):
        own = fold(name).split()
        if list(tokens[: len(own)]) == own:
            return len(own)
    lists = word_lists("readme")
    if tokens[0] in ("this", "it", "our", "the", "here"):
        near = list(takewhile(lambda token: token not in lists["verbs"] and token not in lists["others"], tokens[1:4]))
        end = next((number for number, token in enumerate(near, 1) if token in lists["kinds"]), 0)
        while end and [*tokens, ""][end + 1] in lists["kinds"]:
            end += 1
        return 0 if tokens[0] in ("the", "our") and not end else end + 1
    return 0


def _is_third_person(token: str) -> bool:
    return len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is", "ics", "'s"))


def _is_menu(words: str) -> bool:
    """True for links in a row, an address alone, and a line of code."""
    return any(words.count(sign) > 1 for sign in ("|", "•", "·")) or words.startswith(
        ("http://", "https://", "//", "$")
    )


def _languages(text: str, blocks: Sequence[Block], introduction: str, main: str) -> tuple[str, ...]:
    """The languages and technologies of a project, the main language first.

    They are those of its introduction, its badges, its code blocks, and the sections on what it needs or is built
    with; the language of the commands that install it counts if none of these names a language.
    """
    found: dict[str, None] = dict.fromkeys([main] if main else [])
    commands: dict[str, None] = {}
    stack = False
    stated = list(technologies_in(introduction))
    for block in blocks:
        raw = text[block.start : block.end]
        if block.kind == "heading":
            stack = any(
                word in word_lists("readme")["stack"] for word in fold(title_of(text, block.start, block.end)).split()
            )
        elif block.kind == "code":
            first, _, code = raw.partition("\n")
            mark = first.strip("`~ \t")
            if first[:3] in ("```", "~~~") and (language := language_of_fence(mark.split()[0] if mark else "")):
                stated.append(language)
            commands |= dict.fromkeys(filter(None, map(language_of_command, (code or raw).split("\n"))))
        elif "![" in raw and not plain(raw, images=False):
            stated += [name for line in plain(raw).split("\n") for name in technologies_in(line, badge=True)]
        elif stack:
            stated += technologies_in(plain(raw))
        else:
            stated += _built_with(plain(raw))
    found |= dict.fromkeys(stated)
    if not any(map(is_language, found)):
        found = {**commands, **found}
    return tuple(sorted(found, key=lambda name: not is_language(name)))


def _built_with(words: str) -> Iterator[str]:
    """The technologies after "written in", "built with" and their like."""
    folded = " ".join(words.split())
    for phrase in word_lists("readme")["built_with"]:
        _, found, after = folded.casefold().partition(f" {phrase} ")
        if found:
            rest = folded[len(folded) - len(after) :]
            yield from technologies_in(f"in {rest.partition('. ')[0][:80]}")


def _link(document: Document, name: str, homepage: str) -> str:
    """The address of the repository, else its homepage, else the first address of a repository of its name."""
    uri = document.source_uri.partition("#")[0]
    if address := uri if uri.startswith("https://") else homepage:
        return address
    for word in document.text[:_MAX_LINK_TEXT].translate(_BRACKETS).split():
        stated = urlsplit(word.rstrip(".,;:/").removesuffix(".git")) if word.startswith("http") else None
        if stated and stated.path.casefold().endswith(f"/{fold(name)}") and any(map(stated.netloc.count, _CODE_HOSTS)):
            return stated._replace(query="").geturl()
    return ""
