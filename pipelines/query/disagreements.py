"""CONFLICTS: where documents disagree on a value that an answer states or its question asks for, both sides cited."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from pipelines.answers import Answer, Citation, Conflict, ConflictKind, Sentence, Source
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.careers.disagreements import ConflictSide, Disagreement, career_disagreements
from pipelines.query.careers.people import group_people, organisation_words
from pipelines.query.layout import blocks_of
from pipelines.query.question.careers import DISPUTED, asks_for_value, is_mostly_said, is_named
from pipelines.query.search import Search
from pipelines.query.verification.normalise import contains_phrase, folded_words, normalise, numbers_in, strip_markup
from pipelines.query.verification.rows import NamedValue, named_values
from pipelines.query.verification.words import MONTHS, subject_terms
from pipelines.store.known_names import CAREER_CATEGORIES
from pipelines.store.tokens import tokenise
from pipelines.types import Filters

_MAX_CONFLICTS = 5
_MAX_VALUE = 80  # characters of a value; a longer one is a text
# Terms of labels of what holds of one document only.
_OF_DOCUMENT = set(
    tokenise("attendees author authors created date modified page present published tags title updated written")
)


def with_conflicts(answer: Answer, wording: str, careers: Sequence[Disagreement] = ()) -> Answer:
    """The answer with at most five disagreements on what it states or its question asks for; no abstention has any.

    A side that no source of the answer holds becomes a source of it. A confidence of "high" becomes "medium".
    """
    if not answer.answered:
        return answer
    disagreements = [each for each in careers if _is_relevant(each, answer, wording)]
    disagreements += _value_disagreements(answer, set(tokenise(wording)))
    conflicts: list[Conflict] = []
    sources = list(answer.sources)
    for each in disagreements[:_MAX_CONFLICTS]:
        sides = tuple(_cite(side, sources) for side in each.sides)
        values = ", ".join(f"{side.said} [{cited.n}]" for side, cited in zip(each.sides, sides, strict=True))
        conflicts.append(Conflict(each.kind, f"{each.about}: {values}", sides))
    confidence = "medium" if conflicts and answer.confidence == "high" else answer.confidence
    return replace(answer, conflicts=tuple(conflicts), sources=tuple(sources), confidence=confidence)


def _cite(side: ConflictSide, sources: list[Source]) -> Citation:
    """The citation of a side by the source that holds its span; the source is added if none does."""
    version = side.source.document_id, side.source.content_sha
    for source in sources:
        same_version = (source.document_id, source.content_sha) == version
        if same_version and source.start <= side.start and side.end <= source.end:
            return source.cite(side.start, side.end)
    sources.append(replace(side.source, n=len(sources) + 1))
    return sources[-1].cite(side.start, side.end)


# Career facts


def career_disagreements_for(answer: Answer, search: Search) -> Sequence[Disagreement]:
    """Disagreements between the resumes and profiles among the candidates of an answer.

    Empty without a year in the answer or a question for a date, title or employer, and if the facts cannot be read.
    """
    documents = search.ledger.documents
    is_about = any(asks_for_value(search.intent.wording, kind) for kind in DISPUTED) or any(
        _years(sentence.text) for sentence in answer.sentences
    )
    uses_career = any(source.category in CAREER_CATEGORIES for source in answer.sources)
    if len(documents) < 2 or not is_about or not uses_career:
        return ()
    try:
        known = search.careers(Filters()).facts
    except FootnoteError as error:
        log_failure("career facts were not compared", error)
        return ()
    facts = [fact for fact in known if fact.document_id in documents and fact.category in CAREER_CATEGORIES]
    return career_disagreements(group_people(facts, date.today()))


def _is_relevant(found: Disagreement, answer: Answer, wording: str) -> bool:
    """True if the question asks for the disputed value, or a sentence of the answer states one side."""
    is_asked = found.kind in DISPUTED and asks_for_value(wording, found.kind)
    if is_asked and is_named(wording, organisation_words(found.about)):
        sides = " ".join(" ".join([side.source.snippet, *_titles(side.source)]) for side in found.sides)
        if is_mostly_said(wording, f"{sides} {found.about}"):
            return True
    return any(_states_side(sentence, side, found.kind) for sentence in _statements(answer) for side in found.sides)


def _statements(answer: Answer) -> Iterator[Sentence]:
    """The sentences of an answer without those that lead in to a list: a job's line with its dates states no date."""
    blocks = blocks_of(answer.answer, [sentence.text for sentence in answer.sentences])
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        is_lead = block.kind == "paragraph" and after is not None and after.kind in ("bullets", "numbers", "code")
        yield from (answer.sentences[at] for line in block.lines for at in line if not is_lead)


def _states_side(sentence: Sentence, side: ConflictSide, kind: ConflictKind) -> bool:
    """True if a sentence cites a side and has its value; of dates one year is enough."""
    if kind == "dates":
        stated = any(year in sentence.text for year in _years(side.said))
    else:
        stated = contains_phrase(sentence.text, folded_words(side.said))
    return stated and bool(_cited(sentence, side))


def _cited(sentence: Sentence, side: ConflictSide) -> list[Citation]:
    """The citations of a sentence that overlap a side."""
    document = side.source.document_id
    return [c for c in sentence.evidence if c.document_id == document and c.start < side.end and side.start < c.end]


# Named values


def _value_disagreements(answer: Answer, asked: set[str]) -> Iterator[Disagreement]:
    """Each cited value that is asked for, with the first other one of that name and subject in another document."""
    values = [(source, value) for source in answer.sources for value in named_values(source.read())]
    for source, value in values:
        if not _is_asked(_side(source, value), _terms(value), answer.sentences, asked):
            continue
        for other, rival in values:
            is_same = other.document_id != source.document_id and _terms(rival) == _terms(value)
            if is_same and _is_same_subject(source, other) and _values_differ(value, rival):
                yield Disagreement("value", ", ".join(value.names), (_side(source, value), _side(other, rival)))
                break


def _side(source: Source, value: NamedValue) -> ConflictSide:
    return ConflictSide(strip_markup(value.value), source, source.start + value.start, source.start + value.end)


def _terms(value: NamedValue) -> list[set[str]]:
    return [set(tokenise(name)) for name in value.names]


def _is_asked(side: ConflictSide, names: Sequence[set[str]], sentences: Sequence[Sentence], asked: set[str]) -> bool:
    """True if the answer cites the line of a value, and the question names the value or the answer begins with it."""
    if not all(names) or set[str]().union(*names) <= _OF_DOCUMENT:
        return False
    if all(name <= asked for name in names):
        return any(_cited(sentence, side) for sentence in sentences)
    first = [cited for sentence in sentences[:1] for cited in _cited(sentence, side) if len(names) == 1]
    return any(side.start <= cited.start and cited.end <= side.end for cited in first)


def _values_differ(one: NamedValue, other: NamedValue) -> bool:
    """True if two values cannot both be right: other numbers with the same words, or no word in common.

    Of words below a label in the plural (`Skills: Go`) both may be right.
    """
    if max(len(one.value), len(other.value)) > _MAX_VALUE:
        return False
    (mine, words), (theirs, other_words) = _parts(one.value), _parts(other.value)
    if mine and theirs:
        return words == other_words and not (mine <= theirs or theirs <= mine)
    return not one.names[-1].endswith("s") and bool(words and other_words) and words.isdisjoint(other_words)


def _parts(value: str) -> tuple[set[str], set[str]]:
    """(the numbers and months of a value, its other terms)."""
    text = normalise(value)
    months = {month for month in MONTHS if month in text}
    terms = {term for term in tokenise(text) if not term[0].isdigit()}
    return months.union(numbers_in(text)), terms.difference(tokenise(" ".join(months)))


def _is_same_subject(one: Source, other: Source) -> bool:
    """True if titles and headings of two sources name one thing: the innermost of each is among those of the other."""
    mine, theirs = _subjects(one), _subjects(other)
    years = [set(_years(" ".join([source.documentName, *_titles(source)]))) for source in (one, other)]
    if not mine or not theirs or (all(years) and years[0] != years[1]):
        return False
    return mine[-1] <= set[str]().union(*theirs) and theirs[-1] <= set[str]().union(*mine)


def _subjects(source: Source) -> list[set[str]]:
    return [terms for title in _titles(source) if (terms := subject_terms(title))]


def _titles(source: Source) -> list[str]:
    return [source.title, *source.section_path]


def _years(text: str) -> list[str]:
    return [number for number in numbers_in(text) if len(number) == 4 and number.isdigit()]
