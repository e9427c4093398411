"""Write many small documents made of real text, to try ingestion with; `python -m tests.bench.ingest` makes its own so.

Run `python data/make_documents.py FOLDER SOURCE... [--documents N]`: N documents (10,000) of 600 to 1,500 characters,
half of them Markdown, made of the text of the sources, which are files and folders. A second run writes the same.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from pipelines.errors import FootnoteError, SourceError
from pipelines.ingestion.loaders import load
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.structure import sentences

PARTS = 10  # folders side by side
SHORTEST, LONGEST = 600, 1500  # characters of a document, one passage more or less
_MIN_CHARACTERS, _MIN_WORDS = 40, 6  # of a passage
_READABLE = (".md", ".txt", ".html", ".xhtml", ".htm")


def write_small_documents(locations: Sequence[str], folder: Path, count: int) -> list[Path]:
    """Write small documents with the text of these files and folders to a new folder; return their paths, by name.

    They are 600 to 1,500 characters each, half of them Markdown with a heading, in ten folders with folders in them.

    Raises:
        SourceError: If the files hold too little text.
    """
    passages = list(read_passages(locations))
    if sum(map(len, passages)) < 10 * LONGEST:
        raise SourceError("There is too little text to make documents from.", hint="Name a folder with more of it.")
    paths = []
    for number, body in enumerate(islice(bodies(passages), count)):
        place = folder / f"part-{number * PARTS // count}" / f"group-{number // 50:03}"
        place.mkdir(parents=True, exist_ok=True)
        paths.append(path := place / f"{number:05}.{'txt' if number % 2 else 'md'}")
        heading = " ".join(word.strip(".,;:!?\"'()") for word in body.split()[:6])
        path.write_text(f"{body}\n" if number % 2 else f"# {heading}\n\n{body}\n", encoding="utf-8")
    return sorted(paths)


def read_passages(locations: Sequence[str]) -> Iterator[str]:
    """The paragraphs of prose in these files, in order, each once; white space folded, at most a document long."""
    known: set[str] = set()
    for item in (item for location in locations for item in list_files(location).items):
        if not item.name.lower().endswith(_READABLE):
            continue
        try:
            lines = load(read_file(item, 10_000_000), item).text.splitlines()
        except FootnoteError:
            continue
        for paragraph in "\n".join(line.strip() for line in lines).split("\n\n"):
            new = [passage for passage in _cut(" ".join(paragraph.split())) if passage not in known]
            known.update(new)
            yield from new


def bodies(passages: Sequence[str]) -> Iterator[str]:
    """The texts of documents without end: first the passages in order, each in one document, then their sentences.

    These are shuffled again each time, so that no two documents share more than single sentences.
    """
    chance = random.Random(0)  # for texts to be the same every time
    yield from _filled(passages, "\n\n", chance)
    loose = [passage[start:end] for passage in passages for start, end in sentences(passage)]
    while True:
        yield from _filled(chance.sample(loose, len(loose)), " ", chance)


def _filled(parts: Sequence[str], between: str, chance: random.Random) -> Iterator[str]:
    body, wanted = "", chance.randint(SHORTEST, LONGEST)
    for part in parts:
        if len(body) >= SHORTEST and len(body) + len(part) - wanted > wanted - len(body):  # nearer without it
            yield body
            body, wanted = "", chance.randint(SHORTEST, LONGEST)
        body = f"{body}{between}{part}" if body else part


def _cut(paragraph: str) -> Iterator[str]:
    """The paragraph, or its sentences packed where it is longer than a document; nothing of what is no prose."""
    if len(paragraph) < _MIN_CHARACTERS or len(paragraph.split()) < _MIN_WORDS or paragraph[0] in "#|`<!-":
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


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--documents", type=int, default=10_000)
    given = parser.parse_args()
    print(f"{len(write_small_documents(given.sources, given.folder, given.documents))} documents in {given.folder}")


if __name__ == "__main__":
    main()
