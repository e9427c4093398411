"""Answer packs as files: Markdown for people and JSON for programs, side by side or in one archive."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from app.conversation import written_by
from app.typeset import literal
from app.wording import FINDING, is_made, near_heading, page_or_lines
from pipelines.answers import Answer, Source
from pipelines.errors import PackError
from pipelines.query.pack import MAX_BYTES, Pack, pack_json, read_pack
from pipelines.store.originals import named_path

_SUFFIXES = (".md", ".json")
_NAME = "answer"  # of both files in an archive
_DISPUTED = "One side of what the documents disagree about"


def files_of(named: str) -> tuple[Path, ...]:
    """The files of a pack of this name: FILE.md and FILE.json, or one archive if FILE ends with .zip.

    Raises:
        PackError: If nothing can be written there.
    """
    path = named_path(named)
    stem = path.with_suffix("") if path.suffix.lower() in _SUFFIXES else path
    paths = (path,) if path.suffix.lower() == ".zip" else tuple(stem.with_name(stem.name + end) for end in _SUFFIXES)
    taken = next((each for each in paths if each.is_dir()), None)
    if not stem.name or taken or not path.parent.is_dir():
        reason = (
            f"{taken} is a folder"
            if taken
            else f"{path.parent} is not an existing folder"
            if stem.name
            else "it names a folder, not a file"
        )
        raise PackError(
            f"No answer pack can be written to {named!r}: {reason}.",
            hint="Name a file in a folder that you may write to.",
        )
    return paths


def write_pack(pack: Pack, paths: Sequence[Path]) -> None:
    """Write a pack to the files that `files_of` gave; what stood there is replaced.

    Raises:
        PackError: If a file cannot be written.
    """
    try:
        if len(paths) == 1:
            paths[0].write_bytes(pack_archive(pack))
        else:
            paths[0].write_text(pack_markdown(pack), encoding="utf-8")
            paths[1].write_text(pack_json(pack), encoding="utf-8")
    except OSError as error:
        raise PackError(f"The answer pack could not be written: {error.strerror or error}.") from error


def load_pack(named: str) -> Pack:
    """The pack in a file: its JSON or its archive; FILE and FILE.md stand for FILE.json.

    Raises:
        PackError: If there is no such file, or it is damaged or not an answer pack.
    """
    path = named_path(named)
    if path.suffix.lower() == ".md" or not path.is_file():
        stem = path.with_suffix("") if path.suffix.lower() in _SUFFIXES else path
        paths = (stem.with_name(stem.name + end) for end in (".json", ".zip"))
        path = next((each for each in paths if each.is_file()), path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PackError(
            f"{named} cannot be read: {error.strerror or error}.", hint="Name a file that `footnote ask --pack` wrote."
        ) from error
    return read_pack(_unpacked(raw, named) if raw.startswith(b"PK") else raw, named)


def pack_archive(pack: Pack) -> bytes:
    """A ZIP archive with the Markdown and the JSON of a pack."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{_NAME}.md", pack_markdown(pack))
        archive.writestr(f"{_NAME}.json", pack_json(pack))
    return buffer.getvalue()


def _unpacked(raw: bytes, named: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(f"{_NAME}.json") as file:
            return file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, EOFError, NotImplementedError, ValueError) as error:
        raise PackError(
            f"{named} is damaged or not an answer pack: it holds no {_NAME}.json.", hint="Create it again."
        ) from error


# Markdown


def pack_markdown(pack: Pack) -> str:
    """A pack for people: the answer, each footnote with its words and verdict, then what it was made of and with."""
    answer = pack.answer
    parts = [f"# {literal(pack.asked.question)}", _text(answer), _signature(answer)]
    parts += [f"Searched for: {literal(search)}" for search in answer.searched if not answer.answered]
    parts += [f"The documents disagree: {literal(conflict.said)}" for conflict in answer.conflicts]
    parts += [f"Note: {literal(note)}" for note in answer.notes]
    cited = {n for sentence in answer.sentences for n in sentence.citations}
    cited |= {side.n for conflict in answer.conflicts for side in conflict.sides}
    rest = [source for source in answer.sources if source.n not in cited]
    if cited:
        parts += ["## Footnotes", *(_footnote(answer, source) for source in answer.sources if source.n in cited)]
    if rest:
        parts += ["## Also read, not cited", _listed(rest)]
    if answer.nearest and not answer.answered:
        parts += [
            f"## {near_heading(answer.model)}",
            *(f"- {_where(near)}: “{literal(near.words)}”" for near in answer.nearest),
        ]
    parts += ["## Documents", _documents(pack)] if pack.documents else []
    parts += ["## How it was made", _table(("what", "value"), list(_made(pack)))]
    parts.append("`footnote replay` with the JSON file beside this one asks again, and says what changed and why.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(answer: Answer) -> str:
    parts = [
        literal(sentence.text)
        + (" " if sentence.citations else "")
        + "".join(f"\\[{n}\\]" for n in sentence.citations)
        + ("" if sentence.verdict == "supported" else f" *({FINDING[sentence.verdict]})*")
        for sentence in answer.sentences
    ]
    return " ".join(parts) or literal(answer.answer)


def _signature(answer: Answer) -> str:
    parts = [
        literal(written_by(answer)) if answer.answered else "No answer was found",
        *([f"confidence: {answer.confidence}"] * answer.answered),
    ]
    parts += ["the language model failed"] * bool(answer.fallback_reason)
    parts += ["the answer was cut short"] * answer.truncated
    return f"*{' · '.join(parts)}*"


def _footnote(answer: Answer, source: Source) -> str:
    """A source with the words that it is cited for, and what they support or dispute."""
    citations = [cited for sentence in answer.sentences for cited in sentence.evidence if cited.n == source.n]
    quoted = {(citation.quote, FINDING[citation.verdict].capitalize()): None for citation in citations}
    sides = (side for conflict in answer.conflicts for side in conflict.sides if side.n == source.n)
    quoted |= {(side.quote, _DISPUTED): None for side in sides}
    lines = [f"> {literal(quote)}\n>\n> *{finding}.*" for quote, finding in quoted]
    words = "\n>\n".join(lines) or f"> {literal(source.snippet)}"
    return f"**\\[{source.n}\\]** {_where(source)}\n\n{words}"


def _listed(sources: Sequence[Source]) -> str:
    return "\n".join(f"- \\[{source.n}\\] {_where(source)}" for source in sources)


def _where(source: Source) -> str:
    title, name = source.title or source.documentName, source.documentName
    place = page_or_lines(source.page, source.line_start, source.line_end, converted=is_made(source))
    path = " › ".join(part for part in source.section_path if part != title)
    inside = ", ".join(filter(None, [name if name != title else "", place, path]))
    return literal(f"{title} ({inside})")


def _documents(pack: Pack) -> str:
    rows = [
        (source.documentName, source.content_sha, pack.file_hashes.get(key) or "not known")
        for key, source in pack.documents.items()
    ]
    return _table(("document", "content hash", "file SHA-256"), rows)


def _made(pack: Pack) -> Iterator[tuple[str, str]]:
    asked, searched_for = pack.asked, pack.trace.intent.search_text if pack.trace else ""
    yield "asked at", pack.made_at
    yield "asked by", asked.audience
    if asked.history:
        yield "after", "; ".join(turn.question for turn in asked.history)
    if searched_for and searched_for != asked.question:
        yield "searched for", searched_for
    narrowed = {name: value for name, value in asdict(asked.filters).items() if value}
    if narrowed:
        parts = (
            f"{name}: {value if isinstance(value, str) else ', '.join(map(str, value))}"
            for name, value in narrowed.items()
        )
        yield "only in", "; ".join(parts)
    yield "searched by", asked.mode
    yield "language model", pack.language_model or "none"
    yield "embedding model", pack.embedding_model
    yield "settings", pack.fingerprint
    yield "corpus version", str(pack.corpus_version)
    yield "Footnote", pack.footnote


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([literal(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
