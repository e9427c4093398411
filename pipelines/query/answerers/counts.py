"""COUNTS: two documents that count the things which a question asks the number of, and differ; both are stated."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import NamedTuple

from pipelines.query.answerers.overview import Line, OverviewAnswer
from pipelines.query.careers.disagreements import ConflictSide, Disagreement
from pipelines.query.context import sources_of_nodes
from pipelines.query.question.form import classify_question
from pipelines.query.question.words import is_year
from pipelines.query.quotable_units import Part, QuotableUnit, quotable_units
from pipelines.query.search import Search
from pipelines.query.values import Value, values_in
from pipelines.query.verification.normalise import normalise, numbers_in
from pipelines.store.tokens import STOP_WORDS, index_terms, tokenise
from pipelines.text import fold, word_parts, word_spans
from pipelines.types import Filters

_MOST_READ = 40  # passages that count something
_MOST_SIDES = 3  # documents that differ; more of them count several things (the cranes 1 to 6)
_LEAST_NEAR = 0.7  # of the greater amount, from which two amounts may count the same things
_MANY = 100  # an amount that is seldom met twice by chance
_MOST_WORDS = 3  # after an amount, one of which says what is counted
_ENDS = ",;:()|.!?"  # of a clause
_LIMITS = frozenset("first last initial per".split())


class _Counted(NamedTuple):
    """Index terms of the things whose number is asked, and of the names beside; `is_named` for a project's own name."""

    things: frozenset[str]
    names: frozenset[str]
    is_named: bool


@dataclass(frozen=True, slots=True)
class Count:
    """How many of the asked things a part of a unit states: `said` as it is written."""

    unit: QuotableUnit
    part: Part
    said: str
    amount: float

    @property
    def document_id(self) -> str:
        """The document that states it."""
        return self.unit.source.document_id

    @property
    def terms(self) -> frozenset[str]:
        """The index terms of the words around it."""
        return index_terms(" ".join((self.part.text, self.unit.lead_text, *self.unit.headings)))

    @property
    def side(self) -> ConflictSide:
        """The part as one side of a disagreement."""
        source = self.unit.source
        return ConflictSide(self.said, source, source.start + self.part.start, source.start + self.part.end)


def find(search: Search) -> OverviewAnswer | None:
    """Both counts of what the question asks the number of, where two documents differ; None where they do not."""
    wanted = classify_question(search.intent)
    things = frozenset(tokenise(" ".join(wanted.counted)))
    if search.llm or not things or search.intent.phrases:
        return None
    others = frozenset((*wanted.names, *wanted.focus)) - things
    found = [count for unit in _units(search, things, wanted.terms) for count in _counts(unit, things)]
    names = wanted.own_terms.union(wanted.names) - things
    projects = [frozenset(tokenise(name)) for name in search.names.projects]
    told_of = [(each, [name for name in projects if name <= index_terms(each.part.text)]) for each in found]
    found = [each for each, own in told_of if not own or any(not name.isdisjoint(wanted.terms) for name in own)]
    documents = {each.document_id for each in found}
    if names and len(documents) > 1:
        naming = _naming(search, names, documents)
        found = [each for each in found if each.document_id in naming]
    found.sort(key=lambda count: -len(count.terms & others))
    pairs = list(_pairs(found, _Counted(things, names, bool(names) or things in projects)))
    if not pairs or len({each.document_id for pair in pairs for each in pair}) > _MOST_SIDES:
        return None
    pair = pairs[0]
    doubt = Disagreement("value", ", ".join(wanted.counted), tuple(each.side for each in pair))
    lines = tuple(Line(each.part.text, each.unit.source, (each.said,)) for each in pair)
    return OverviewAnswer(lines, exact=False, doubts=(doubt,))


def _units(search: Search, things: frozenset[str], asked: frozenset[str]) -> Sequence[QuotableUnit]:
    """The units of the passages that hold one of the terms, those first that BM25 ranks first for the question."""
    held = {node for term in things for node in search.holding([term])}
    scores = search.lexical.score_of(dict.fromkeys(asked, 1.0), held)
    nodes = search.fetch(sorted(held, key=lambda node: (-scores[node], node))[:_MOST_READ])
    return quotable_units(sources_of_nodes(nodes, search.store.engine, search.request.audience))


def _naming(search: Search, names: Collection[str], documents: Collection[str]) -> set[str]:
    """Those of the documents of which a passage holds all of the names."""
    own = Filters(document=tuple(documents))
    held = search.store.fetch(search.holding([*names]), filters=own, audience=search.request.audience)
    return {node.metadata["document_id"] for node in held.values()}


def _counts(unit: QuotableUnit, things: frozenset[str]) -> Iterator[Count]:
    """The counts in a unit that hold for good: not those of a time."""
    for part in unit.parts:
        values = [value for value in values_in(part.text) if value.kind in ("number", "time")]
        for value in values:
            said = _counted(part.text, value, things)
            amounts = list(numbers_in(normalise(value.text)))
            if said and len(amounts) == 1 and not _is_of_time(part.text, value, unit.kind == "table"):
                yield Count(unit, part, said, float(amounts[0].replace(",", "")))


def _counted(text: str, value: Value, things: frozenset[str]) -> str:
    """The amount with the word after it that says what is counted; alone where its line opens with that; else empty."""
    if not things.isdisjoint(tokenise(value.text)):
        return value.text
    after = list(word_spans(text, value.end))[:_MOST_WORDS]
    if not text[value.end :].startswith(tuple(_ENDS)):
        for start, end in takewhile(lambda span: fold(text[slice(*span)]) not in STOP_WORDS, after):
            if not things.isdisjoint(tokenise(text[start:end])):
                return text[value.start : end].rstrip(_ENDS)
            if text[end - 1] in _ENDS:
                break
    is_alone = not after or fold(text[slice(*after[0])]) in STOP_WORDS or text[value.end] in _ENDS
    opening = next((text[start:end] for start, end in word_spans(text)), "")
    return value.text if value.kind == "number" and is_alone and not things.isdisjoint(tokenise(opening)) else ""


def _is_of_time(text: str, value: Value, is_row: bool) -> bool:
    """True if the clause, or the row, of an amount says of which time it is: a year, `a month`, `first week`."""
    ends = "" if is_row else _ENDS
    start = max((text.rfind(sign, 0, value.start) for sign in ends), default=-1) + 1
    end = min((at for sign in ends if (at := text.find(sign, value.end)) >= 0), default=len(text))
    beside = (text[start : value.start], text[value.end : end])
    words = {fold(word) for said in beside for word in word_parts(said)}
    is_dated = any(map(is_year, words)) or not words.isdisjoint(_LIMITS)
    return is_dated or any(other.kind in ("time", "recurrence") for said in beside for other in values_in(said))


def _pairs(found: Sequence[Count], asked: _Counted) -> Iterator[tuple[Count, Count]]:
    """Counts of two documents that must be of the same things, and differ."""
    stated: dict[str, set[float]] = {}
    for each in found:
        stated.setdefault(each.document_id, set()).add(each.amount)
    for one, other in combinations(found, 2):
        least, most = sorted((one.amount, other.amount))
        is_near = one.document_id != other.document_id and least >= _LEAST_NEAR * most
        if is_near and stated[one.document_id].isdisjoint(stated[other.document_id]) and _is_same(one, other, asked):
            yield one, other


def _is_same(one: Count, other: Count, asked: _Counted) -> bool:
    """True if two counts are of one subject: both are many, are told of what is named, or share another word."""
    dated = (word_parts(" ".join((each.unit.source.documentName, *each.unit.headings))) for each in (one, other))
    years = [set(filter(is_year, words)) for words in dated]
    if all(years) and years[0] != years[1]:
        return False
    shared = index_terms(one.part.text) & index_terms(other.part.text) - asked.things
    is_near = [asked.names <= each.terms | index_terms(each.unit.source.snippet) for each in (one, other)]
    is_many = asked.is_named and min(one.amount, other.amount) >= _MANY
    is_told = bool(asked.names) and all(is_near)
    return any(is_near) and (is_told or is_many or any(map(str.isalpha, shared)))
