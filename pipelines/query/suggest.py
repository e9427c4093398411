"""SUGGEST: questions to ask next, proposed from documents, each tried before it is shown.

Those beside an answer are tried after it; those that an abstention offers were tried at ingestion and stored.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import PurePath

from sqlalchemy import Engine

from pipelines.answers import Answer
from pipelines.facts import EducationFacts, JobFacts, LanguageFacts, ProjectFacts
from pipelines.query.evidence import idf_share
from pipelines.query.postprocess.duplicates import jaccard
from pipelines.query.search import Request
from pipelines.query.verification.words import subject_terms
from pipelines.store.database import reading
from pipelines.store.documents import DocumentSection, sections_of
from pipelines.store.facts import Fact, read_facts, stated_people
from pipelines.store.known_names import CAREER_CATEGORIES
from pipelines.store.node_reader import NodeReader
from pipelines.store.questions import StoredQuestion, keep_questions, untried_documents
from pipelines.store.tokens import tokenise
from pipelines.text import fold, shown_name
from pipelines.types import Audience, Filters, Turn

Span = tuple[str, int, int]  # document id, start, end
_MAX_TRIED = 6
_MOST_UNTRIED, _ASKED_EACH = 12, 2  # documents of one call, and questions of a document
_SAME = 0.7  # share of the terms of two questions from which they are the same
_MAX_NAME = 60  # characters of a name or heading in a question
_MAX_WORDS = 8
_ORDER = {"job": 0, "project": 1, "education": 2, "language": 3}
_TEMPLATES = frozenset(tokenise("degree speak language tell"))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question, and the span that should answer it; `is_of_fact` if a fact states that."""

    question: str
    span: Span
    is_of_fact: bool = False


def proposals_beside(answer: Answer, request: Request, reader: NodeReader) -> list[Proposal]:
    """Questions about the documents that an answer cites."""
    numbers = {n for sentence in answer.sentences for n in sentence.citations}
    documents = tuple(dict.fromkeys(source.document_id for source in answer.sources if source.n in numbers))
    if not documents:
        return []
    facts, people, sections = _material(documents, request.filters, request.audience, reader)
    return proposals(facts, people, sections, _cited_spans(answer))


def _material(
    documents: tuple[str, ...], filters: Filters, audience: Audience, reader: NodeReader
) -> tuple[list[Fact], dict[str, str], list[DocumentSection]]:
    """The facts of documents, the people of all by document, and the documents' sections."""
    facts = read_facts(reader, replace(filters, document=documents), audience)
    people = {document: name for name, document in stated_people(reader, audience)}
    with reading(reader.engine, "reading the sections of documents") as connection:
        return facts, people, sections_of(connection, documents, audience)


def try_questions(reader: NodeReader, ask: Callable[[str], Answer], engine: Engine) -> None:
    """Try two questions each about a dozen documents that none was tried about, and store those answered from their
    place by this engine, which may write where the reader's may not.
    """
    untried = untried_documents(engine, _MOST_UNTRIED)
    if not untried:
        return
    named = tuple(document for document, _ in untried)
    facts, people, sections = _material(named, Filters(), "owner", reader)
    for document, sha in untried:
        own = [fact for fact in facts if fact.document_id == document]
        proposed = proposals(own, people, [each for each in sections if each.document_id == document], ())
        replies = [(each, ask(each.question)) for each in proposed[:_ASKED_EACH]]
        sure = [(each, reply) for each, reply in replies if reply.confidence != "low"]
        answered = [(each, reply) for each, reply in sure if _overlaps(each.span, _cited_spans(reply))]
        best = [each.question for each, reply in answered if each.is_of_fact and reply.confidence == "high"]
        keep_questions(engine, document, sha, [each.question for each, _ in answered], best)


def offered(
    answer: Answer,
    history: Sequence[Turn],
    stored: Sequence[StoredQuestion],
    *,
    idf: Callable[[str], float],
    limit: int,
) -> tuple[str, ...]:
    """The stored questions that are nearest to one that was not answered, one of each document.

    By the share of its terms' weight (idf) that they have, and by the place of their document among the nearest; those
    about a heading that share no term with it come last.
    """
    near = list(dict.fromkeys(source.document_id for source in answer.nearest))
    terms = _matter(answer.condensed or answer.question)
    nearness = {document: 1 - place / len(near) for place, document in enumerate(near)}
    told = [_matter(question) for question in (answer.question, answer.condensed, *(turn.question for turn in history))]

    def rank(one: StoredQuestion) -> tuple[bool, float]:
        shared = idf_share(idf, terms, _matter(one.question)) if terms else 0.0
        return not (shared or one.is_sure), -shared - nearness.get(one.document_id, 0)

    chosen: dict[str, str] = {}
    for each in sorted(stored, key=rank):
        matter = _matter(each.question)
        is_new = each.document_id not in chosen and all(jaccard(matter, other) < _SAME for other in told)
        if is_new and len(chosen) < limit:
            chosen[each.document_id] = each.question
            told.append(matter)
    return tuple(chosen.values())


def proposals(
    facts: Sequence[Fact], people: Mapping[str, str], sections: Sequence[DocumentSection], quoted: Sequence[Span]
) -> list[Proposal]:
    """Questions about the facts and sections that are not quoted, of both kinds in turn; `people` are by document."""
    pairs = zip_longest(_of_facts(facts, people, quoted), _of_sections(sections, quoted))
    return [proposal for proposal in chain.from_iterable(pairs) if proposal]


def suggest(
    answer: Answer, history: Sequence[Turn], proposed: Sequence[Proposal], ask: Callable[[str], Answer], *, limit: int
) -> tuple[str, ...]:
    """At most `limit` proposals that `ask` answers from their place, in order; six are tried at most.

    A question is left out if it was asked before, in any wording, or if its answer rests on nothing new.
    """
    asked = [answer.question, answer.condensed, *(turn.question for turn in history)]
    quoted, tried, chosen = _cited_spans(answer), [_matter(question) for question in asked], list[str]()
    for proposal in proposed:
        if len(chosen) == limit or len(tried) == len(asked) + _MAX_TRIED:
            break
        matter = _matter(proposal.question)
        if any(jaccard(matter, other) >= _SAME for other in tried):
            continue
        tried.append(matter)
        reply = ask(proposal.question)
        new = [span for span in _cited_spans(reply) if not _overlaps(span, quoted)]
        if reply.confidence != "low" and (_overlaps(proposal.span, new) or (new and reply.model)):
            chosen.append(proposal.question)
            quoted += new
    return tuple(chosen)


def _of_facts(facts: Sequence[Fact], people: Mapping[str, str], quoted: Sequence[Span]) -> Iterator[Proposal]:
    """Questions about facts, each by the person that its document names, else by the only one that any does."""
    only = next(iter(people.values()), "") if len({fold(name) for name in people.values()}) == 1 else ""
    asked = [(fact, *_about_fact(fact, _short(shown_name(people.get(fact.document_id, only))))) for fact in facts]
    spans = {fact: (fact.document_id, *fact.record.span) for fact in facts}
    known = {subject for fact, subject, _ in asked if _overlaps(spans[fact], quoted)}
    for fact, subject, question in sorted(asked, key=lambda each: _ORDER.get(each[0].record.type, 0)):
        if question and subject not in known:
            known.add(subject)
            yield Proposal(question, spans[fact], is_of_fact=True)


def _about_fact(fact: Fact, who: str) -> tuple[str, str]:
    """(what is the same in facts of several documents, the question about it); an empty question if there is none."""
    match fact.record:
        case JobFacts(company=name, current=current):
            question = f"What {'does' if current else 'did'} {who} do at {_short(name)}?"
        case EducationFacts(institution=name):
            question = f"Which degree does {who} have from {_short(name)}?"
        case ProjectFacts(name=name, purpose=purpose):
            return fold(name), f"What is {_short(name)}?" if purpose and _short(name) else ""
        case LanguageFacts():
            name, question = "languages", f"Which languages does {who} speak?"
        case _:
            return "", ""
    return fold(name), question if who and _short(name) else ""


def _of_sections(sections: Sequence[DocumentSection], quoted: Sequence[Span]) -> Iterator[Proposal]:
    for section in sections:
        heading, title = _short(section.heading), _short(section.title)
        span = section.document_id, section.start, section.end
        tells = subject_terms(heading) and fold(heading) != fold(title)
        if not tells or section.category in CAREER_CATEGORIES or _overlaps(span, quoted):
            continue
        is_file = not subject_terms(title) or "_" in title or bool(PurePath(title).suffix)
        where = "" if is_file else f" in “{title}”"
        yield Proposal(f"Tell me about “{heading}”{where}", span)


def _short(text: str) -> str:
    """A name or heading without its number; empty when it is too long, a sentence, an address or markup."""
    words = text.split()
    if words and words[0][-1:] in ".)" and words[0][:-1].isalnum() and len(words[0]) < 4:
        words = words[1:]
    line = " ".join(words).strip(" .,:;!?#*_-–—'\"‘’“”")
    is_name = any(map(str.isalpha, line)) and set(line).isdisjoint('<>{}|`@"“”')
    is_sentence = any(mark in line for mark in (". ", "! ", "? ", "; ", "://", "www."))
    return line if is_name and not is_sentence and len(line) <= _MAX_NAME and len(words) <= _MAX_WORDS else ""


def _cited_spans(answer: Answer) -> list[Span]:
    cited = (citation for sentence in answer.sentences for citation in sentence.evidence)
    return [(citation.document_id, citation.start, citation.end) for citation in cited]


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    document, start, end = span
    return any(document == other and start < until and since < end for other, since, until in others)


def _matter(question: str) -> frozenset[str]:
    return frozenset(tokenise(question)) - _TEMPLATES
