"""The value types of an answer: its context, sentences, citations and conflicts; frozen, and free of LlamaIndex."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from typing import Any, Literal

from pipelines.display import clip, frame, link, with_footnotes
from pipelines.structure import Structure, structure_of
from pipelines.types import CondensedBy, Filters

ConflictKind = Literal["dates", "title", "employer", "value"]
VerdictName = Literal["supported", "partial", "misattributed", "unsupported", "uncited"]


_structure_of_snippet = lru_cache(maxsize=64)(structure_of)  # of a source that was not read from the store


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered, contiguous span of a stored document, as the writer and the reader see it.

    `snippet == document.text[start:end]`; `node_ids` are the nodes that were merged into it; `near_copies` names other
    documents with nearly the same text, not shown; `also_in` names those that contain the cited words; `about`
    describes its repository; `page_breaks` are the offsets in the document at which its pages after `page` begin;
    `lines_uri` is the address at which the repository's host shows the lines; `structure` is the stored one of the
    snippet, which is not kept with an answer.
    """

    n: int
    document_id: str
    documentName: str
    title: str
    uri: str
    content_sha: str
    category: str
    page: int | None
    line_start: int
    line_end: int
    section_path: tuple[str, ...]
    snippet: str
    start: int
    end: int
    node_ids: tuple[str, ...]
    also_in: tuple[str, ...] = ()
    about: str = ""
    page_breaks: tuple[int, ...] = ()
    near_copies: tuple[str, ...] = ()
    lines_uri: str = ""
    structure: Structure | None = field(default=None, repr=False, compare=False, metadata={"kept": False})

    def read(self) -> Structure:
        """The elements, sentences and markup of the snippet, in its offsets."""
        is_own = self.structure is not None and self.structure.text == self.snippet
        return self.structure if self.structure and is_own else _structure_of_snippet(self.snippet)

    @property
    def label(self) -> str:
        """Its document and place on one line: title, name, page or lines, sections."""
        where = f"p. {self.page}" if self.page else f"lines {self.line_start}–{self.line_end}"
        named = self.title if self.title == self.documentName else f"{self.title} ({self.documentName})"
        return ", ".join(filter(None, (named, where, " > ".join(self.section_path))))

    @property
    def sentences(self) -> Sequence[tuple[int, int]]:
        """The spans of the snippet's sentences; its own where it has none."""
        return self.read().sentences or [(0, len(self.snippet))]

    @property
    def shown(self) -> str:
        """The snippet without what its markup hides: comments, struck text."""
        return self.read().shown()

    def place(self, start: int, end: int) -> tuple[int | None, int, int]:
        """(page, first line, last line) of `document.text[start:end]`, which is a part of this source."""
        first = self.line_start + self.snippet.count("\n", 0, start - self.start)
        last = first + self.snippet.count("\n", start - self.start, end - self.start)
        return self.page and self.page + bisect_right(self.page_breaks, start), first, last

    def part(self, start: int, end: int) -> "Source":
        """The source of `snippet[start:end]` alone."""
        first, last = self.start + start, self.start + end
        page, line, until = self.place(first, last)
        return replace(
            self,
            page=page,
            line_start=line,
            line_end=until,
            snippet=self.snippet[start:end],
            start=first,
            end=last,
            page_breaks=tuple(at for at in self.page_breaks if first < at < last),
            structure=self.read().between(start, end),
        )

    @property
    def words(self) -> str:
        """The words of the snippet on one line, without markup."""
        return self.read().words(0, len(self.snippet))

    def cite(self, start: int, end: int, verdict: VerdictName = "supported", support: float = 1.0) -> "Citation":
        """A citation of `document.text[start:end]`, which is a part of this source."""
        quote, (page, first, last) = self.snippet[start - self.start : end - self.start], self.place(start, end)
        return Citation(
            self.n, self.document_id, self.content_sha, start, end, quote, verdict, support, page, first, last
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker of a sentence: source `n`, and the span of the document that supports the sentence, with its place.

    Pages and lines count from 1; the page is None where the format has none, and lines are 0 where they are not known.
    """

    n: int
    document_id: str
    content_sha: str
    start: int
    end: int
    quote: str
    verdict: VerdictName
    support: float
    page: int | None = None
    line_start: int = 0
    line_end: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer without its markers, the sources it cites, and whether they support it.

    `cells` has, of a quoted row of a table, each cell with the name of its column before it.
    """

    text: str
    citations: tuple[int, ...]
    verdict: VerdictName
    evidence: tuple[Citation, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction between sources: a sentence for people (`said`, with its markers), and the span of each side.

    The sides are at least two, each of another source of the answer; `quote` is the stored text at their offsets.
    """

    kind: ConflictKind
    said: str
    sides: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """An answer: sentences with verified citations, or an abstention that says what was searched.

    `notes` tell the reader about the search: a retriever that failed, a filter that was dropped, a word whose spelling
    was corrected, a document that its source gave only in part. `fallback_reason` is the failure of the language
    model, if it failed. `model` is that of the language model, `career facts` for a sentence that was computed from
    them, else empty. `usage` counts the tokens of all models (`Meter.usage`), and `cost` is their price in dollars: 0
    for models on this machine, None if a price is unknown. `condensed` is the standalone form of a follow-up,
    `condensed_by` its maker, and `added` what it took from the conversation: (`it`, `saltlick`), or ("", words that
    were left unsaid). `nearest` are the words that came nearest to an abstention, each a source of its own; `filters`
    are those that it was asked with.
    """

    question: str
    answered: bool
    confidence: Literal["high", "medium", "low"]
    mode: Literal["llm", "extractive"]
    model: str
    answer: str
    sentences: tuple[Sentence, ...]
    sources: tuple[Source, ...]
    nearest: tuple[Source, ...] = ()
    searched: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    follow_ups: tuple[str, ...] = ()
    truncated: bool = False
    fallback_reason: str = ""
    notes: tuple[str, ...] = ()
    condensed: str = ""
    condensed_by: CondensedBy = ""
    added: tuple[tuple[str, str], ...] = ()
    filters: Filters = field(default_factory=Filters)
    trace_id: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None

    @property
    def evidence(self) -> tuple[Citation, ...]:
        """The citations of its sentences, then those of its conflicts."""
        sides = (side for conflict in self.conflicts for side in conflict.sides)
        return (*(cited for sentence in self.sentences for cited in sentence.evidence), *sides)

    @property
    def cited(self) -> tuple[Source, ...]:
        """The sources that its sentences and conflicts cite, by number."""
        told = [n for sentence in self.sentences for n in sentence.citations]
        numbers = {*told, *(side.n for conflict in self.conflicts for side in conflict.sides)}
        return tuple(source for source in self.sources if source.n in numbers)

    def quotes(self) -> dict[int, str]:
        """By the number of a cited source, the words that sentences cite it for; its text where they state none."""
        every = self.evidence
        own = {source.n: dict.fromkeys(each.quote for each in every if each.n == source.n) for source in self.cited}
        return {source.n: " … ".join(own[source.n]) or source.words for source in self.cited}

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each sentence and source that it cites."""
        names = {source.n: source.documentName for source in self.sources}
        return frame(
            {"sentence": sentence.text, "verdict": sentence.verdict, "n": n, "document": names.get(n or 0, ""),
             "quote": " … ".join(each.quote for each in sentence.evidence if each.n == n)}
            for sentence in self.sentences
            for n in sentence.citations or (None,)
        )  # fmt: skip

    def __str__(self) -> str:
        lines = (f"[{source.n}] {source.label}" for source in self.cited)
        return "\n".join([self.answer, *lines])

    def __repr__(self) -> str:
        kind = f"{self.confidence} confidence, {len(self.cited)} sources" if self.answered else "an abstention"
        return f"<Answer: {clip(self.answer, 80)!r} ({kind})>"

    def _repr_html_(self) -> str:
        quotes, anchor = self.quotes(), f"footnote-{self.trace_id or 'answer'}"
        conflicts = [f"<p><em>Sources disagree: {with_footnotes(each.said, quotes, anchor)}</em></p>"
                     for each in self.conflicts]  # fmt: skip
        items = [
            f'<li id="{anchor}-{source.n}" value="{source.n}">{link(source.label, source.lines_uri or source.uri)}'
            f"<blockquote>{escape(quotes[source.n])}</blockquote></li>"
            for source in self.cited
        ]
        near = [f"<li>{escape(clip(each.words))} <small>{escape(each.label)}</small></li>" for each in self.nearest]
        end = f"{self.mode} {self.model}, confidence {self.confidence}" if self.answered else "no answer; only near:"
        parts = [f"<p>{with_footnotes(self.answer, quotes, anchor)}</p>", *conflicts]
        parts += [f"<ol>{''.join(items)}</ol>"] if items else []
        parts += [f"<small>{escape(end)}</small>", *([f"<ul>{''.join(near)}</ul>"] if not self.answered else [])]
        return f"<div>{''.join(parts)}</div>"

    def _repr_markdown_(self) -> str:
        quotes = self.quotes()
        sources = (f"**[{source.n}]** {source.label}\n\n> {clip(quotes[source.n])}" for source in self.cited)
        return "\n\n".join([self.answer, *sources])


@dataclass(frozen=True, slots=True)
class Preview:
    """A quotation that stands in while a slow language model reads; the answer replaces it."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text, markers taken out."""

    text: str


@dataclass(frozen=True, slots=True)
class Footnote:
    """A marker that has just arrived, with the source that it points at."""

    n: int
    source: Source


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finished sentence, verified; `index` counts sentences from 0."""

    index: int
    sentence: Sentence
