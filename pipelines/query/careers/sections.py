"""Facts from the lines of sections that the parser read no facts from: certificates, languages, skills."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from llama_index.core.schema import TextNode

from pipelines.facts import CareerRecord, CertificationFacts, LanguageFacts, SkillsFacts
from pipelines.query.careers.people import Person
from pipelines.store.facts import Fact
from pipelines.store.node_reader import NodeReader
from pipelines.structure import structure_of
from pipelines.text import fold
from pipelines.types import Audience, Filters

_Kind = Literal["certification", "language", "skills"]
_LONGEST = 300  # characters of a line that is an entry, not a paragraph
_LETTERS = 2


def read_section_lines(
    reader: NodeReader, facts: Sequence[Fact], known: Sequence[Person], audience: Audience
) -> list[Fact]:
    """A fact for each line of the certificate, language and skill sections of people who have no such facts.

    Args:
        reader: Reads the nodes.
        facts: Facts of these people, from which the new facts take the data of their documents.
        known: The people.
        audience: Who asks.
    """
    first = {fact.document_name: fact for fact in reversed(facts)}
    found: list[Fact] = []
    for kind, lacking in _lacking(known).items():
        documents = tuple(sorted({first[name].document_id for name in lacking}))
        filters = Filters(document=documents, kind=(kind,))
        ids = reader.matching_ids(filters, audience) if documents else ()
        nodes = reader.fetch(ids, filters=filters, audience=audience).values()
        of_document = {fact.document_id: fact for fact in first.values()}
        for node in sorted(nodes, key=lambda node: (node.metadata["document_id"], node.metadata["start"])):
            found += _facts_of_section(node, kind, of_document[node.metadata["document_id"]])
    return found


def _lacking(known: Sequence[Person]) -> Mapping[_Kind, list[str]]:
    """By kind, the names of the documents of people without facts of that kind."""
    return {
        "certification": [name for person in known if not person.certifications for name in person.documents],
        "language": [name for person in known if not person.languages for name in person.documents],
        "skills": [name for person in known if not person.skills for name in person.documents],
    }


def _facts_of_section(node: TextNode, kind: _Kind, beside: Fact) -> Iterator[Fact]:
    """The facts of a section's lines without its heading; `beside` is another fact of its document."""
    meta = node.metadata
    headings = {fold(title) for title in meta["section_path"]}
    structure = structure_of(node.text, (), meta["mime"])
    for start, end in structure.lines():
        own, text = node.text[start:end], structure.words(start, end)
        is_heading = fold(text).rstrip(":") in headings
        if is_heading or len(own) > _LONGEST or sum(map(str.isalpha, text)) < _LETTERS:
            continue
        at = meta["line_start"] + node.text.count("\n", 0, start)
        place = meta["start"] + start
        yield replace(
            beside,
            record=_record(kind, text, (place, place + len(own))),
            page=meta["page"],
            line_start=at,
            line_end=at,
            section_path=tuple(meta["section_path"]),
            node_id=node.node_id,
            start=place,
            end=place + len(own),
            text=own,
        )


def _record(kind: _Kind, text: str, span: tuple[int, int]) -> CareerRecord:
    if kind == "certification":
        return CertificationFacts(span=span, name=text)
    return LanguageFacts(span=span, language=text) if kind == "language" else SkillsFacts(span=span, skills=(text,))
