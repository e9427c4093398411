"""The value types that cross stages: frozen, and free of LlamaIndex."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from html import escape
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from pipelines.display import clip, frame, html_table, markdown_table
from pipelines.facts import CareerRecord, Facts

Audience = Literal["owner", "visitor"]
Visibility = Literal["public", "private"]
BlockKind = Literal["heading", "paragraph", "list", "table", "code", "caption"]
Mode = Literal["hybrid", "dense", "sparse"]
Band = Literal["high", "medium", "low"]
Outcome = Literal["added", "updated", "metadata", "unchanged", "removed", "failed"]
RunKind = Literal["ingest", "reindex", "rollback", "remove"]
CondensedBy = Literal["", "rules", "model"]

_SLUG_LENGTH = 40
MAX_QUESTION_CHARACTERS = 2000
CATEGORIES = ("resume", "linkedin", "journey", "github", "blog", "notion", "web", "generic")


# Models

SHORT_NAMES = {"multilingual": "multilingual-e5-small"}  # of embedding models


@dataclass(frozen=True, slots=True)
class EmbeddingIdentity:
    """The name of a vector space; vectors compare only within one."""

    provider: str
    model: str
    dimension: int

    @property
    def label(self) -> str:
        """The name that means this one and no other, for commands: `provider/model@dimension`."""
        return f"{self.provider}/{self.model}@{self.dimension}"

    @property
    def slug(self) -> str:
        """A name for tables: `[a-z0-9_]`, at most 40 characters, ending in a hash when it had to be cut."""
        full = f"{self.provider}/{self.model}/{self.dimension}"
        plain = (char if char.isascii() and char.isalnum() else " " for char in full.lower())
        slug = "_".join("".join(plain).split())
        if len(slug) <= _SLUG_LENGTH:
            return slug
        digest = hashlib.blake2b(full.encode(), digest_size=4).hexdigest()
        return f"{slug[: _SLUG_LENGTH - len(digest) - 1].rstrip('_')}_{digest}"


# Documents


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document's structure: `text[start:end]`, its kind, and for a heading its level from 1."""

    start: int
    end: int
    kind: BlockKind
    level: int = 0


@dataclass(frozen=True, slots=True)
class Furniture:
    """A running header, footer or page number that was lifted out of the canonical text."""

    page: int
    text: str


@dataclass(frozen=True, slots=True)
class LineBox:
    """The position of the line `text[start:end]` on its page (from 1), in points from the page's lower left corner.

    `breaks` are the offsets in the text where it goes on in another font.
    """

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One thing a source lists: where it is and what tells cheaply whether it changed.

    Attributes:
        uri: Unique and stable, e.g. `file:///home/ann/resume.pdf`.
        name: Readable, relative to the source, with `/`.
        stamp: What spares the reading when it is unchanged, e.g. `size:mtime`; empty = always read.
    """

    uri: str
    name: str
    source: str
    source_kind: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as a reader reads it; every node of it is one contiguous span of `text`.

    Attributes:
        id: Minted from its first URI, then stored.
        text: Canonical text: NFC, `\\n` newlines, no control characters but tab and newline.
        pages: Start offset of each page, ascending, first 0; empty when the format has no pages.
        boxes: Where each line stands on its page, in the order of the text; empty when the format has no pages.
        structure: As `pipelines.structure` stores it; empty where it was not made yet.
        records: What it states as a whole (`document_records`); None where it was not read yet. It is not stored.
        first_line: Line number in the file of `text`'s first line (front matter comes before it).
        published_at, modified_at: As the author's clock showed them, labelled UTC: a stated offset is not kept.
        file_sha: SHA-256 of the raw bytes; decides *unchanged*.
        content_sha: SHA-256 of the text and all that is embedded with it; decides *content*.
        meta_sha: SHA-256 of the other facts; decides *metadata only*.
    """

    id: str
    text: str
    source_uri: str
    source: str
    source_kind: str
    name: str
    mime: str
    bytes: int
    file_sha: str
    title: str = ""
    collection: str = "default"
    category: str = "generic"
    subcategory: str = ""
    year: int | None = None
    visibility: Visibility = "public"
    author: str = ""
    published_at: datetime | None = None
    modified_at: datetime | None = None
    ingested_at: datetime | None = None
    content_sha: str = ""
    meta_sha: str = ""
    stamp: str = ""
    first_line: int = 1
    furniture: tuple[Furniture, ...] = ()
    pages: tuple[int, ...] = ()
    pages_without_text: tuple[int, ...] = ()
    blocks: tuple[Block, ...] = ()
    boxes: tuple[LineBox, ...] = ()
    structure: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[CareerRecord, ...] | None = field(default=None, compare=False)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def with_(self, **changes: Any) -> "Document":
        """A copy with these fields changed."""
        return replace(self, **changes)


class NodeMetadata(BaseModel):
    """Everything that is stored of a node beside its text; checked in `make_nodes`.

    `line_start` and `line_end` count the file's lines from 1, `page` counts from 1 (None without pages),
    `ordinal` counts a document's nodes from 0, `header` is embedded and indexed before the text. A job's `year` is the
    year in which it ended, this year for a current one. `extra` holds the caller's own metadata, if the document
    came from another LlamaIndex program; it is absent from what is stored if it is empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str
    collection: str
    source: str
    mime: str
    title: str
    category: str
    subcategory: str = ""
    section: str = ""
    section_path: tuple[str, ...] = ()
    kind: str = "text"
    page: int | None = None
    line_start: int
    line_end: int
    year: int | None = None
    visibility: Visibility = "public"
    ordinal: int = Field(ge=0)
    total: int = Field(ge=1)
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    token_count: int = Field(ge=0)
    parser: str
    parser_version: int
    header: str = ""
    ingested_at: str = ""
    facts: Facts | None = None
    extra: dict[str, Any] = {}

    @model_serializer(mode="wrap")
    def _without_empty_extra(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in fields(self).items() if value or name != "extra"}


# Reading


@dataclass(frozen=True, slots=True)
class Filters:
    """A selection of nodes; every field narrows, an empty field does not.

    `since` and `until` (ISO dates, both included) compare a document's published, else modified, date.
    `document` holds document ids, names or titles; every `phrase` must stand in a node's text, whatever its case and
    line breaks.
    """

    collection: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    year: tuple[int, ...] = ()
    author: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    kind: tuple[str, ...] = ()
    document: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()
    __pydantic_config__ = ConfigDict(extra="forbid")  # where a caller states them

    def __bool__(self) -> bool:
        return self != Filters()

    @property
    def given(self) -> dict[str, Any]:
        """The fields that narrow, by name."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name))}

    @property
    def narrowing(self) -> tuple[str, ...]:
        """The names of the fields that narrow."""
        return tuple(self.given)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer, as the conversation remembers them; `sources` are the titles of those it cites."""

    question: str
    answer: str
    sources: tuple[str, ...] = ()
    __pydantic_config__ = ConfigDict(extra="forbid")  # where a caller states it


QuestionForm = Literal[
    "fact", "list", "definition", "how-to", "yes-no", "value", "comparison", "overview", "corpus", "greeting"
]


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """The analysis of a question.

    Attributes:
        question: As asked, spaces folded.
        search_text: The text that both retrievers search for: without words that only ask, a follow-up made standalone.
        terms: Index terms that an answer must be about, each once.
        categories: Categories whose words the question has, the likeliest first.
        sections: Section names that the question has, folded (`education`).
        years: Years that the question names or implies, ascending.
        recent: True if it asks for recent or current things.
        phrases: Words in quotation marks, which a passage must hold.
        documents: Ids of stored documents that the question names.
        names: The names of documents, repositories and companies that it was recognised by.
        wants: Values to compute rather than find: `count`, `duration`.
        follow_up: True if it goes on from the question before it.
        after: The question that a follow-up goes on from; empty for others.
        told: Ids of the documents that the answer before it is from; empty for a question that stands alone.
        condensed: The standalone form of a follow-up; empty for other questions.
        condensed_by: `rules` or `model`; empty if it was left as it is.
        added: What that took from the conversation: (`it`, `saltlick`), or ("", words that were left unsaid); empty for
            another question altogether.
        greeting: True for a greeting or thanks, which asks nothing.
        corrected: The question with its misspelt words corrected; empty if none was certain.
        proper: Its last sentence, where that is a question and what stands before it is context; else empty.
        form: What form of answer it asks for.
        person: The stored person whom it is about: the one it names, else the only one; empty if that is not clear.
        owner: The words by which it names the person whose documents these are, folded: what belongs to that person
            need not repeat the name.
    """

    question: str
    search_text: str
    terms: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    recent: bool = False
    phrases: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    follow_up: bool = False
    after: str = ""
    told: tuple[str, ...] = ()
    condensed: str = ""
    condensed_by: CondensedBy = ""
    added: tuple[tuple[str, str], ...] = ()
    greeting: bool = False
    corrected: str = ""
    owner: tuple[str, ...] = ()
    proper: str = ""
    form: QuestionForm = "fact"
    person: str = ""

    @property
    def wording(self) -> str:
        """The text for rules: the standalone form of a follow-up, else the question proper with its typos corrected."""
        return self.search_text if self.follow_up else self.proper or self.corrected or self.question


@dataclass(frozen=True, slots=True)
class LegScore:
    """The rank of a node by one retriever, from 1, and that retriever's score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """The record of a node in one query; `fate` is `kept`, `merged into n` or `cut: <why>`.

    `also_in` are the ids of other documents with a near-copy that was cut for this one. `similarity` is the
    cosine to the question itself; the dense retriever's score may be that of a whitened or expanded one.
    """

    node_id: str
    document_id: str
    title: str
    dense: LegScore | None = None
    sparse: LegScore | None = None
    similarity: float | None = None
    fused: float = 0.0
    factors: Mapping[str, float] = field(default_factory=dict)
    final: float = 0.0
    fate: str = ""
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The strength of the evidence for an answer, from signals before fusion.

    Attributes:
        strength: The calibrated probability (0..1) that the passages hold an answer; see `assess`.
        band: high, medium or low; below low's bound no answer is written.
        similarity: Best cosine similarity of the dense retriever; None without it.
        coverage: Largest share (0..1) of the question's idf weight in one passage.
        signals: The signals of the strength, by name.
        matches: The number of candidates.
        missing: Question terms that no candidate holds.
        sufficient: True if an answer should be written from them.
        reason: The reason if the evidence is not sufficient; else empty.
    """

    strength: float
    band: Band
    similarity: float | None
    coverage: float
    signals: Mapping[str, float]
    matches: int
    missing: tuple[str, ...]
    sufficient: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to find evidence: the base search or an escalation, and whether it was kept."""

    name: str
    search_text: str
    evidence: Evidence
    kept: bool
    why: str
    ms: float = 0.0


ReadingOutcome = Literal["answered", "refused", "unsupported", "failed"]


@dataclass(frozen=True, slots=True)
class ModelReading:
    """The passages that a language model was shown, and the outcome of its reply.

    Attributes:
        model: Its name.
        sources: The passages that it was shown: (document id, start, end), in the order of their numbers.
        outcome: `answered`; `refused`: it said that they do not answer; `unsupported`: no source supports what it
            wrote; `failed`: it wrote nothing that can be read.
        left_out: Sentences of its reply that are not in the answer: refusals, and those without support.
        prompt: The messages, (role, content) each; kept only if FOOTNOTE_LLM__KEEP_PROMPTS says so.
        reply: The whole reply; kept likewise.
    """

    model: str
    sources: tuple[tuple[str, int, int], ...]
    outcome: ReadingOutcome
    left_out: tuple[str, ...] = ()
    prompt: tuple[tuple[str, str], ...] = ()
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The ledger of a query; `tags` name what was used: `base` or `auto`, the retrievers, the fusion, each factor.

    `declined` holds (answerer, why) of each that did not answer, in order.
    """

    id: str
    intent: QueryIntent
    attempts: tuple[Attempt, ...]
    candidates: tuple[Candidate, ...]
    corpus_version: int
    audience: Audience
    filters: Filters
    mode: Mode
    settings: str
    tags: tuple[str, ...]
    notes: tuple[str, ...]
    timings_ms: Mapping[str, float]
    readings: tuple[ModelReading, ...] = ()
    declined: tuple[tuple[str, str], ...] = ()


# Ingestion


@dataclass(frozen=True, slots=True)
class IngestItem:
    """The outcome of one document in one run."""

    document: str
    outcome: Outcome
    stage: str = ""
    error: str = ""
    message: str = ""
    hint: str = ""
    nodes: int = 0
    embedded: int = 0
    document_id: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class IngestReport:
    """The report of a run: one item a document, in the order of the plan; `stopped` if it was ended early.

    `seconds` are those of all of it; for the first `looked` of them it looked at its sources, fetched, and waited.
    """

    run_id: int
    items: tuple[IngestItem, ...]
    nodes: int
    embedded: int
    seconds: float
    stopped: bool = False
    looked: float = 0.0

    def count(self, outcome: Outcome) -> int:
        """The number of documents with this outcome."""
        return sum(item.outcome == outcome for item in self.items)

    @property
    def counts(self) -> dict[Outcome, int]:
        """The number of documents with each outcome."""
        return {outcome: self.count(outcome) for outcome in get_args(Outcome)}

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each document."""
        return frame(map(asdict, self.items))

    def __repr__(self) -> str:
        done = ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items() if count)
        return f"<IngestReport: run {self.run_id}, {done or 'nothing to do'}, {self.nodes} nodes>"

    def _repr_html_(self) -> str:
        rows = ((each.document, each.outcome, each.nodes, each.message) for each in self.items)
        return f"<p>{escape(repr(self)[1:-1])}</p>" + html_table(("document", "outcome", "nodes", "message"), rows)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One ranked node with its place in the document and its scores by stage.

    `similarity` (0..1) is the cosine similarity to the question, None for a search without vectors; `score` only orders
    the results of one question. `near_copies` names other documents that say nearly the same, and are not shown for
    that; `lines_uri` is as a Source has it.
    """

    rank: int
    node_id: str
    document_id: str
    document_name: str
    title: str
    category: str
    section_path: tuple[str, ...]
    kind: str
    page: int | None
    line_start: int
    line_end: int
    start: int
    end: int
    text: str
    score: float
    dense: LegScore | None
    sparse: LegScore | None
    fused: float
    factors: Mapping[str, float]
    similarity: float | None = None
    near_copies: tuple[str, ...] = ()
    uri: str = ""
    lines_uri: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class SearchReport:
    """A ranking for a question, and why it is so."""

    query: str
    intent: QueryIntent
    results: tuple[SearchResult, ...]
    evidence: Evidence
    timings_ms: Mapping[str, float]
    trace: Trace

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the reader, each once: a search that failed, a word that was respelt."""
        return tuple(dict.fromkeys(self.trace.notes))

    def to_frame(self) -> Any:
        """A pandas DataFrame of the results: place, scores and text of each."""
        return frame(dict(zip(_COLUMNS, row, strict=True)) for row in self._rows())

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for each in self.results:
            ranks = (each.dense and each.dense.rank, each.sparse and each.sparse.rank)
            path = " > ".join(each.section_path)
            yield (each.rank, each.document_name, path, each.page, each.similarity, *ranks, each.score, each.text)

    def __repr__(self) -> str:
        return f"<SearchReport: {len(self.results)} results for {self.query!r}>"

    def _repr_html_(self) -> str:
        rows = ((*cells, clip(text)) for *cells, text in self._rows())
        return html_table(_COLUMNS, rows) + "".join(f"<p><em>{escape(note)}</em></p>" for note in self.notes)

    def _repr_markdown_(self) -> str:
        return markdown_table(_COLUMNS, ((*cells, clip(text)) for *cells, text in self._rows()))


_COLUMNS = ("rank", "document", "section", "page", "similarity", "dense", "sparse", "score", "text")
