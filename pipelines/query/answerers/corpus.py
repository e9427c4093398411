"""Questions about the corpus itself, answered from the database: how many documents, what is new, which say X."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from llama_index.core.schema import QueryBundle
from sqlalchemy import func, select

from pipelines.answers import Sentence, Source, Token
from pipelines.query.answer import AnswerEvents, unanswered, write_sentences
from pipelines.query.citation_markers import escape_markers
from pipelines.query.context import sources_of_nodes
from pipelines.query.layout import CitedText
from pipelines.query.question.corpus import CorpusQuestion, corpus_question, is_title
from pipelines.query.search import Search
from pipelines.store.database import read_rows
from pipelines.store.filters import seen_by
from pipelines.store.schema import documents
from pipelines.store.tokens import tokenise
from pipelines.topics import stated_tags
from pipelines.types import Filters
from pipelines.wording import format_count

DOCUMENT_LIST = "the list of documents"  # the model name of such an answer
_MOST = 10  # documents that an answer names
_LATEST = 5
_LONG = 2  # terms; of more, passages may speak without holding them all

# The category that a noun stands for; any document for others.
_CATEGORIES = {"post": "blog", "blog post": "blog", "blog article": "blog", "resume": "resume", "cv": "resume"}
_CATEGORIES["readme"] = "github"


@dataclass(frozen=True, slots=True)
class Stored:
    """A document that the question may speak of, and its first node that passes the filters."""

    id: str
    title: str
    category: str
    dated: datetime | None
    ingested: datetime
    node_id: str
    author: str = ""
    terms: frozenset[str] = frozenset()  # of its title, and of the tags that its front matter states

    @property
    def line(self) -> str:
        """`Late data (blog, 2019-05-14)`."""
        return f"{self.title} ({self.category}{f', {self.dated.astimezone(UTC).date()}' if self.dated else ''})"


@dataclass(frozen=True, slots=True)
class CorpusAnswer:
    """The answer of the database on its documents: an opening sentence, and the documents with their sources.

    `terms` are the index terms that are looked for in each source; without any its beginning is shown.
    """

    said: str
    named: tuple[tuple[Stored, Source], ...] = ()
    terms: tuple[str, ...] = ()
    answered: bool = True


def find(search: Search) -> CorpusAnswer | None:
    """The answer to a question about the documents as such, within its filters and audience; None for any other."""
    asked = corpus_question(search.intent) if search.intent.form == "corpus" else None
    return _answer(search, asked) if asked else None


def posts(search: Search, topic: str = "") -> CorpusAnswer | None:
    """The blog posts of the years that the question names, the latest first, or those that mention a topic; None
    without any.
    """
    filters = replace(search.request.filters, year=search.request.filters.year or search.intent.years)
    of_years = replace(search, request=replace(search.request, filters=filters))
    asked = CorpusQuestion("mention" if topic else "list", "blog post", several=True, named=True, topic=topic)
    found = _answer(of_years, asked)
    return found if found and found.named and found.named[0][0].category == "blog" else None


def _answer(search: Search, asked: CorpusQuestion) -> CorpusAnswer | None:
    noun = asked.noun
    stored, shown, filters = _stored_as(search, noun)
    if not stored:
        return None
    if asked.form == "made":
        return _made(search, stored, asked)
    if asked.form == "mention":
        return _mentioning(replace(search, request=replace(search.request, filters=filters)), stored, shown, asked)
    if asked.form == "new":
        found = _latest(search, stored, shown, only=1 if asked.named and not asked.several else _LATEST)
    else:
        found = _counted(search, stored, shown, named=asked.form == "list")
    return found if shown == noun else replace(found, said=f"No document is known as a {noun}. {found.said}")


def _stored_as(search: Search, noun: str) -> tuple[list[Stored], str, Filters]:
    """(the documents that a noun names, the noun, their filters); any document where none has the noun's category."""
    filters = replace(search.request.filters, phrase=(*search.request.filters.phrase, *search.intent.phrases))
    category, stored = _CATEGORIES.get(noun, ""), _stored(search, filters)
    own = [each for each in stored if each.category == category]
    if not own:
        return stored, "document" if category else noun, filters
    return own, noun, replace(filters, category=(category,))


def _stored(search: Search, filters: Filters) -> list[Stored]:
    """The documents with a node that passes, the latest first."""
    d, node = documents.c, search.store.passing(filters, search.request.audience).c
    firsts = select(node.document_id, node.node_id).distinct(node.document_id).order_by(node.document_id, node.start)
    first = firsts.subquery("first")
    dated = func.coalesce(d.published_at, d.modified_at).label("dated")
    statement = (
        select(d.id, d.name, d.title, d.category, d.author, dated, d.ingested_at, d.metadata, first.c.node_id)
        .join_from(documents, first, d.id == first.c.document_id)
        .where(seen_by(search.request.audience))
        .order_by(dated.desc().nulls_last(), d.name)
    )
    rows = read_rows(search.store.engine, "reading which documents there are", statement)
    return [
        Stored(
            row.id, row.title or row.name, row.category, row.dated, row.ingested_at, row.node_id, row.author,
            frozenset(tokenise(" ".join((row.title, *stated_tags(row.metadata))), aliases=False)),
        )
        for row in rows
    ]  # fmt: skip


def _counted(search: Search, stored: Sequence[Stored], noun: str, *, named: bool) -> CorpusAnswer:
    """How many documents there are, by category, and the titles of the latest where they are asked for."""
    kinds = sorted(Counter(each.category for each in stored).items(), key=lambda kind: (-kind[1], kind[0]))
    split = f": {', '.join(f'{category} ({count:,})' for category, count in kinds)}" if len(kinds) > 1 else ""
    verb = "is" if len(stored) == 1 else "are"
    said = f"There {verb} {format_count(len(stored), noun)}{split}."
    if not named:
        return CorpusAnswer(said)
    cut = f" The latest {_MOST}:" if len(stored) > _MOST else ""
    return CorpusAnswer(said + cut, _shown(search, [(each, each.node_id) for each in stored[:_MOST]]))


def _latest(search: Search, stored: Sequence[Stored], noun: str, *, only: int) -> CorpusAnswer:
    """The latest documents: those of the last day on which any was taken in, by their own dates."""
    day = max(each.ingested for each in stored).date()
    fresh = sum(each.ingested.date() == day for each in stored)
    latest = sorted(stored, key=lambda each: each.ingested.date(), reverse=True)[:only]
    said = f"The latest ingest with something new was on {day}: {format_count(fresh, noun)} new or changed."
    return CorpusAnswer(said, _shown(search, [(each, each.node_id) for each in latest]))


def _made(search: Search, stored: Sequence[Stored], asked: CorpusQuestion) -> CorpusAnswer | None:
    """Who wrote a document, or when, by its own data; None if no document has this title, or it does not say."""
    named = [each for each in stored if is_title(asked, each.title)]
    found = [each for each in named if (each.author if asked.asks_who else each.dated)]
    if len(found) != 1:
        return None
    each = found[0]
    told = f"by {each.author}" if asked.asks_who or not each.dated else f"of {each.dated.date()}"
    return CorpusAnswer(f"“{each.title}” is {told}.", _shown(search, [(each, each.node_id)]))


def _mentioning(search: Search, stored: Sequence[Stored], noun: str, asked: CorpusQuestion) -> CorpusAnswer | None:
    """The documents that hold every term of a topic: in one passage, as a search ranks them, then in title or tags."""
    terms, topic = asked.terms, asked.topic
    if not terms:
        return None
    scores = search.holding(terms)
    said = f"“{topic.strip(' “”')}”" if '"' not in topic else topic
    listed = _passages(search, stored, topic, scores)
    found = {each.id for each, _ in listed}
    listed += [(each, each.node_id) for each in stored if each.id not in found and each.terms.issuperset(terms)]
    if not listed:
        return None if len(terms) > _LONG else CorpusAnswer(f"No {noun} mentions {said}.", answered=False)
    verb = "mentions" if len(listed) == 1 else "mention"
    cut = f" The first {_MOST}:" if len(listed) > _MOST else ""
    told = f"{format_count(len(listed), noun)} {verb} {said}.{cut}"
    return CorpusAnswer(told, _shown(search, listed[:_MOST]), terms)


def _passages(
    search: Search, stored: Sequence[Stored], topic: str, scores: Mapping[str, float]
) -> list[tuple[Stored, str]]:
    """Each document with its best passage of those that are scored."""
    ranked = search.attempt(QueryBundle(topic), search.ledger).ranked if scores else []
    place = {hit.node.node_id: rank for rank, hit in enumerate(ranked)}
    ordered = sorted(scores, key=lambda node_id: (place.get(node_id, len(ranked)), -scores[node_id], node_id))
    known, best = {each.id: each for each in stored}, dict[str, str]()
    for node in search.fetch(ordered):
        best.setdefault(node.metadata["document_id"], node.node_id)
    return [(known[own], node_id) for own, node_id in best.items() if own in known]


def _shown(search: Search, listed: Sequence[tuple[Stored, str]]) -> tuple[tuple[Stored, Source], ...]:
    """Each document with a node of it as its numbered source; one that is gone meanwhile is left out."""
    nodes = search.fetch(node_id for _, node_id in listed)
    found = sources_of_nodes(nodes, search.store.engine, search.request.audience)
    sources = {source.document_id: source for source in found}
    return tuple((each, sources[each.id]) for each, _ in listed if each.id in sources)


def write(search: Search, found: CorpusAnswer) -> AnswerEvents:
    """Yield the opening sentence and a line with a footnote for each document, then their Verdicts.

    A line cites the sentence of its source that holds most of the terms, else the first.
    """
    if not found.answered:
        yield Token(escape_markers(found.said))
        return unanswered(search.intent.question, escape_markers(found.said), DOCUMENT_LIST)
    written = [(CitedText(found.said, (), ""), Sentence(found.said, (), "supported"))]
    for each, source in found.named:
        spans = source.sentences
        held = [len({*found.terms} & {*tokenise(source.snippet[start:end])}) for start, end in spans]
        first, last = spans[held.index(max(held))]
        cited = source.cite(source.start + first, source.start + last)
        before = "\n- " if len(written) > 1 else "\n\n- "
        written.append(
            (CitedText(each.line, (source.n,), before), Sentence(each.line, (source.n,), "supported", (cited,)))
        )
    sources = tuple(source for _, source in found.named)
    return (yield from write_sentences(search.intent.question, written, sources, "high", DOCUMENT_LIST))
