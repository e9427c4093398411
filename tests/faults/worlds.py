"""Worlds: a folder of documents of many kinds, and what happens to each of them between two runs."""

import csv
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from config.settings import EmbeddingSettings, IngestionSettings, ParsingSettings, SourceRule

EDITS = ("change", "tag", "touch", "move", "remove", "break", "keep")
# Small nodes and groups, so that small documents have several nodes and a run several transactions; short vectors.
SETTINGS = {
    "parsing": ParsingSettings(
        markdown_target_words=40, markdown_max_words=60, markdown_overlap_words=5, generic_characters=240,
        semantic_max_characters=400,
    ),
    "embedding": EmbeddingSettings(provider="hashed", dimension=64, batch_size=6),
    "ingestion": IngestionSettings(executor="here", rules=(SourceRule(match="story.txt", parser="semantic"),)),
}  # fmt: skip
_WHO = "Marit Olav Ingrid Jonas Astrid Henrik Solveig Lars Ragnhild Emil".split()
_DID = "built mended painted measured sold carried drew found weighed lifted".split()
_WHAT = (
    "the harbour crane|the old lighthouse|a wooden bridge|the weather station|nine fishing boats|a stone oven".split(
        "|"
    )
)
_WHERE = "Bergen Lisbon Oslo Porto Tromso Utrecht Galway Riga".split()


def prose(rng: Random, sentences: int) -> str:
    """So many sentences."""
    return " ".join(
        " ".join((*map(rng.choice, (_WHO, _DID, _WHAT)), "in", rng.choice(_WHERE), "in", f"{rng.randint(1950, 2024)}."))
        for _ in range(sentences)
    )


def _essay(rng: Random, edition: str, tag: str) -> bytes:
    sections = [f"## Part {number} {edition}\n\n{prose(rng, 5)}" for number in range(5)]
    return f"---\ntitle: Essay\nauthor: {tag}\n---\n# Essay\n\n".encode() + "\n\n".join(sections).encode()


def _copy(rng: Random, edition: str, tag: str) -> bytes:
    """Nearly the essay: its nodes belong to the essay's families."""
    return _essay(rng, edition, tag).replace(b"# Essay", b"# Essay, again") + b"\n\nAnd so on.\n"


def _private(rng: Random, edition: str, tag: str) -> bytes:
    return f"---\nvisibility: private\nauthor: {tag}\n---\n# Diary {edition}\n\n{prose(rng, 8)}\n".encode()


def _letter(rng: Random, edition: str, tag: str) -> bytes:
    return f"---\nvisibility: {tag and 'private'}\n---\n# Letter {edition}\n\n{prose(rng, 4)}\n".encode()


def _plain(rng: Random, edition: str, _tag: str) -> bytes:
    return f"{prose(rng, 9)} {edition}\n".encode()


def _story(rng: Random, edition: str, _tag: str) -> bytes:
    return f"{prose(rng, 14)} {edition}\n".encode()


def _people(rng: Random, edition: str, _tag: str) -> bytes:
    sheet = io.StringIO()
    rows = [[rng.choice(_WHO), rng.choice(_WHERE), str(rng.randint(1950, 2024))] for _ in range(12)]
    csv.writer(sheet).writerows([["who", "where", f"when {edition}".strip()], *rows])
    return sheet.getvalue().encode()


def _report(rng: Random, edition: str, _tag: str) -> bytes:
    page = io.BytesIO()
    canvas = Canvas(page, pagesize=A4, invariant=1)
    for number in range(2):
        canvas.drawString(72, 780, f"Page {number} {edition}")
        for line in range(10):
            canvas.drawString(72, 740 - 16 * line, prose(rng, 1))
        canvas.showPage()
    canvas.save()
    return page.getvalue()


def _resume(rng: Random, edition: str, _tag: str) -> bytes:
    jobs = [
        f"Harbour {rng.choice(_WHERE)} | Engineer | {rng.choice(_WHERE)} | {2010 + 3 * job} – {2012 + 3 * job}\n"
        f"- {prose(rng, 2)}\n"
        for job in range(3)
    ]
    return (
        f"ANA BROOK\nBackend developer {edition}\nLisbon, Portugal | ana@brook.dev\n\nEXPERIENCE\n{''.join(jobs)}\n"
        "EDUCATION\nMSc in Physics\t2006 – 2009\nUniversity of Porto\n\nSKILLS\nLanguages: Python, Go and SQL\n"
    ).encode()


Text = Callable[[Random, str, str], bytes]
KINDS: Mapping[str, Text] = {
    "essay.md": _essay,
    "copy.md": _copy,
    "private.md": _private,
    "blog/letter.md": _letter,
    "plain.txt": _plain,
    "story.txt": _story,
    "twin-a.txt": _plain,
    "twin-b.txt": _plain,
    "people.csv": _people,
    "report.pdf": _report,
    "resume.txt": _resume,
    "blog/late.md": _essay,
}
_SAME_TEXT = {"copy.md": "essay.md", "twin-b.txt": "twin-a.txt"}
_TAGGED = ("essay.md", "copy.md", "private.md", "blog/letter.md", "blog/late.md")
NEW = {"new/essay.md": "essay.md", "new/notes.txt": "plain.txt"}


@dataclass(frozen=True)
class World:
    """A folder of documents; `edits` says what `edit` does to each of them. The same number makes the same world."""

    number: int
    folder: Path

    @property
    def edits(self) -> Mapping[str, str]:
        """Document -> what happens to it: every edit at least once, in another place in every world."""
        rng = Random(f"edits {self.number}")
        names = sorted(KINDS)
        rng.shuffle(names)
        tagged = next(name for name in names if name in _TAGGED)
        rest = [name for name in names if name != tagged]
        others = [edit for edit in EDITS if edit != "tag"]
        happens = [*others, *(rng.choice(others[:3]) for _ in range(len(rest) - len(others)))]
        return {tagged: "tag", **dict(zip(rest, happens, strict=True))}

    def begin(self) -> None:
        """Write the documents as they are at first."""
        for name in KINDS:
            self._write(name, self._text(name, "", "Ann"))

    def edit(self) -> None:
        """Bring the documents to what they are later."""
        for name, edit in self.edits.items():
            path = self.folder / name
            if edit == "change":
                self._write(name, self._text(name, "later", "Ann"))
            elif edit == "tag":
                self._write(name, self._text(name, "", "Ben"))
            elif edit == "touch":
                os.utime(path, (1_600_000_000, 1_600_000_000))
            elif edit == "move":
                (self.folder / "away").mkdir(exist_ok=True)
                path.rename(self.folder / "away" / path.name)
            elif edit == "remove":
                path.unlink()
            elif edit == "break":
                path.write_bytes(b"")
        for name, like in NEW.items():
            self._write(name, KINDS[like](Random(f"{self.number} {name}"), "new", "Ann"))

    def _text(self, name: str, edition: str, tag: str) -> bytes:
        return KINDS[name](Random(f"{self.number} {_SAME_TEXT.get(name, name)}{edition}"), edition, tag)

    def _write(self, name: str, text: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
