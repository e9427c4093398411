"""Many small documents made of real text, the same at every call: what ingestion is measured with."""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from pipelines.errors import FootnoteError, SourceError
from pipelines.ingestion.loaders import load
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.sentences import sentences

PARTS = 10  # folders side by side
SHORTEST, LONGEST = 600, 1500  # characters of a document, one passage more or less
_LEAST_PASSAGE, _LEAST_WORDS, _LEAST_TEXT = 40, 6, 10 * LONGEST
_READABLE = (".md", ".txt", ".html", ".xhtml", ".htm")
_BLANK = re.compile(r"\n[ \t]*\n")


def write_small_documents(locations: Sequence[str], folder: Path, count: int) -> list[Path]:
    """Write so many documents of the text of these files and folders into a new folder; their paths, by name.

    They are 600 to 1,500 characters each, half of them Markdown with a heading, in ten folders with folders in them.

    Raises:
        SourceError: If the files hold no text.
    """
    passages = list(read_passages(locations))
    if sum(map(len, passages)) < _LEAST_TEXT:
        raise SourceError("There is too little text to make documents of.", hint="Name a folder with more of it.")
    paths = []
    for number, body in enumerate(islice(bodies(passages), count)):
        place = folder / f"part-{number * PARTS // count}" / f"group-{number // 50:03}"
        path = place / f"{number:05}.{'txt' if number % 2 else 'md'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {_heading(body)}\n\n{body}\n" if path.suffix == ".md" else f"{body}\n", encoding="utf-8")
        paths.append(path)
    return sorted(paths)


def read_passages(locations: Sequence[str]) -> Iterator[str]:
    """The paragraphs of prose in these files, in order, each once; white space folded, at most a document long."""
    known: set[str] = set()
    for location in locations:
        for item in list_files(location).items:
            if not item.name.lower().endswith(_READABLE):
                continue
            try:
                text = load(read_file(item, 10_000_000), item).text
            except FootnoteError:
                continue
            for paragraph in _BLANK.split(text):
                for passage in _cut(" ".join(paragraph.split())):
                    if passage not in known:
                        known.add(passage)
                        yield passage


def bodies(passages: Sequence[str]) -> Iterator[str]:
    """The texts of documents without end: first the passages in order, each in one document, then their sentences.

    These are shuffled anew each time round, so that no two documents share more than single sentences.
    """
    rolled = random.Random(0)  # noqa: S311 - for texts to be the same every time
    yield from _filled(passages, "\n\n", rolled)
    loose = [passage[start:end] for passage in passages for start, end in sentences(passage)]
    while True:
        yield from _filled(rolled.sample(loose, len(loose)), " ", rolled)


def _filled(parts: Sequence[str], between: str, rolled: random.Random) -> Iterator[str]:
    body, wanted = "", rolled.randint(SHORTEST, LONGEST)
    for part in parts:
        if len(body) >= SHORTEST and len(body) + len(part) - wanted > wanted - len(body):  # nearer without it
            yield body
            body, wanted = "", rolled.randint(SHORTEST, LONGEST)
        body = f"{body}{between}{part}" if body else part


def _cut(paragraph: str) -> Iterator[str]:
    """The paragraph, or its sentences packed where it is longer than a document; nothing of what is no prose."""
    if len(paragraph) < _LEAST_PASSAGE or len(paragraph.split()) < _LEAST_WORDS or paragraph[0] in "#|`<!-":
        return
    packed = ""
    for start, end in sentences(paragraph) if len(paragraph) > LONGEST else [(0, len(paragraph))]:
        sentence = paragraph[start:end]
        if len(sentence) > SHORTEST:
            continue
        if packed and len(packed) + len(sentence) > SHORTEST:
            yield packed
            packed = ""
        packed = f"{packed} {sentence}".strip()
    if packed:
        yield packed


def _heading(body: str) -> str:
    return " ".join(re.findall(r"\w+", body)[:6])
