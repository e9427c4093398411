"""`footnote export`: every document as Markdown with front matter, careers as JSON Resume, nodes with their vectors."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import yaml

from app.cli import output
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import Done, emit
from pipelines.errors import SourceError

if TYPE_CHECKING:
    from pipelines.store.vector_store import FootnoteVectorStore
    from pipelines.types import Document

verbs = typer.Typer()
_MADE_OF_SAFE = frozenset("-_.()+,' ")
_SECTIONS = {"jobs": "work", "education": "education", "languages": "languages", "projects": "projects",
             "certifications": "certificates", "talks": "talks"}  # fmt: skip
_KEYS = {  # of our records, by those of JSON Resume
    "work": {"name": "company", "position": "position", "location": "location"},
    "education": {"institution": "institution", "area": "area", "studyType": "degree"},
    "languages": {"language": "language", "fluency": "level"},
    "projects": {"name": "name", "description": "purpose", "url": "link"},
    "certificates": {"name": "name", "issuer": "issuer"},
    "talks": {"name": "title"},
}


@verbs.command()
def export(
    folder: Annotated[Path, argument("A new or an empty folder.")],
    collection: Annotated[str, option("Only documents of this collection.")] = "",
    public: Annotated[bool, option("Only what visitors may see.", "--public")] = False,
    nodes: Annotated[
        Literal["jsonl", "parquet", "none"], option("Form of the nodes; parquet needs pyarrow, as Streamlit has.")
    ] = "jsonl",
    vectors: Annotated[bool, option("Write the vectors of the nodes, too.", "--vectors")] = False,
    as_json: Json = False,
) -> None:
    """Write all that is stored: documents as Markdown with front matter, careers as JSON Resume, and nodes.

    The documents ingested again have the text, title, author, category, year, dates and visibility that they have here.

    Example: footnote export ~/footnote-export --vectors
    """
    place = folder.expanduser().resolve()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise SourceError(f"{folder} is not empty.", hint="Name a new folder.")
    from app.careers import read_careers
    from pipelines.query.engine import build_query_engine
    from pipelines.store.database import reading
    from pipelines.store.documents import load_document, stored_documents
    from pipelines.store.known_values import assert_collection
    from pipelines.types import Filters

    engine = build_query_engine(settings_now())
    store, audience = engine.store, "visitor" if public else "owner"
    if collection:
        assert_collection(store.engine, collection)
    written: list[Document] = []
    with reading(store.engine, "exporting the documents") as connection, output.progress(quiet=as_json) as advance:
        stored = stored_documents(connection, store.table, collection=collection or None)
        for at, each in enumerate(stored, start=1):
            document = load_document(connection, each.id, audience)  # type: ignore[arg-type]
            if document is not None:
                _write(place / "documents" / _file_name(document), markdown_of(document))
                written.append(document)
            advance("documents", at, len(stored))
    filters = Filters(collection=(collection,) if collection else ())
    people = read_careers(store, filters, audience)["people"]  # type: ignore[arg-type]
    for person in people:
        _write(place / "facts" / f"{_safe(person['name']) or 'person'}.json", _json(json_resume(person)))
    count = _write_nodes(place, store, written, nodes, vectors=vectors) if nodes != "none" else 0
    facts = {"folder": str(place), "documents": len(written), "people": len(people), "nodes": count}
    emit(
        Done(f"{len(written):,} documents, {len(people):,} careers and {count:,} nodes are in {place}", facts), as_json
    )


def markdown_of(document: "Document") -> str:
    """The text of a document below front matter that states what is known of it."""
    stated = {
        "title": document.title,
        "author": document.author,
        "date": document.published_at and document.published_at.isoformat(),
        "updated": document.modified_at and document.modified_at.isoformat(),
        "category": document.category,
        "subcategory": document.subcategory,
        "year": document.year,
        "visibility": document.visibility,
        "collection": document.collection,
        "source": document.source_uri,
    }
    return (
        f"---\n{yaml.safe_dump(_known(stated), allow_unicode=True, sort_keys=False, width=10_000)}---\n{document.text}"
    )


def json_resume(person: Mapping[str, Any]) -> dict[str, Any]:
    """A person's career in the form of JSON Resume (jsonresume.org)."""
    profile: Mapping[str, Any] = next(iter(person["profile"]), {})
    basics = {
        "name": person["name"], "label": profile.get("headline"), "email": profile.get("email"),
        "phone": profile.get("phone"), "location": profile.get("location") and {"city": profile["location"]},
        "summary": next((each["text"] for each in person["summaries"]), None),
        "profiles": [{"url": link} for link in profile.get("links", ())],
    }  # fmt: skip
    sections = {name: [_entry(each, _KEYS[name]) for each in person[own]] for own, name in _SECTIONS.items()}
    skills = [{"keywords": [each["skill"] for each in person["skills"]]}] if person["skills"] else []
    return {"basics": _known(basics), **sections, "skills": skills}


def _entry(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    dated = {"startDate": record.get("start_month"), "endDate": record.get("end_month"),
             "highlights": record.get("bullets")}  # fmt: skip
    return _known({**{name: record.get(own) for name, own in names.items()}, **dated})


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _write_nodes(
    place: Path, store: "FootnoteVectorStore", documents: "list[Document]", form: str, *, vectors: bool
) -> int:
    rows = _nodes(store, documents, vectors=vectors)
    if form == "jsonl":
        with (place / "nodes.jsonl").open("w", encoding="utf-8") as file:
            return sum(bool(file.write(json.dumps(row, ensure_ascii=False) + "\n")) for row in rows)
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    table = pa.Table.from_pylist([{**row, "metadata": _json(row["metadata"])} for row in rows])
    pq.write_table(table, place / "nodes.parquet")
    return int(table.num_rows)


def _nodes(store: "FootnoteVectorStore", documents: "list[Document]", *, vectors: bool) -> Iterator[dict[str, Any]]:
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

    for document in documents:
        of_it = MetadataFilters(filters=[MetadataFilter(key="document_id", value=document.id)])
        for node in store.get_nodes(filters=of_it):
            row = {
                "id": node.node_id, "document": document.name, "text": node.get_content(),
                "start": node.metadata["start"], "end": node.metadata["end"], "metadata": node.metadata,
            }  # fmt: skip
            yield {**row, "vector": node.embedding} if vectors else row


def _file_name(document: "Document") -> Path:
    """A relative path by the document's name; the id tells equal names of several collections apart."""
    parts = [safe for part in document.name.split("/") if (safe := _safe(part).strip(". "))] or [document.id]
    is_markdown = parts[-1].lower().endswith((".md", ".markdown"))
    path = Path(_safe(document.collection) or "default", *parts)
    return path if is_markdown else path.with_name(f"{path.name}.md")


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in _MADE_OF_SAFE else "-" for char in name)[:120]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _write(path: Path, text: str) -> None:
    while path.exists():  # two names that differ in signs which no file name has
        path = path.with_name(f"{path.stem}-{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="")
