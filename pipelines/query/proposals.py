"""Follow-up questions proposed by a language model, or from sections, facts, names and documents near an answer."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from config.prompts import FOLLOW_UPS, QUESTION
from pipelines.answers import Answer
from pipelines.errors import FootnoteError
from pipelines.facts import EducationFacts, JobFacts, LanguageFacts, PersonFacts, ProjectFacts
from pipelines.models.consult import consult
from pipelines.observe import log_failure
from pipelines.query.context import Retrieved
from pipelines.query.llm_queries import MAX_REPLY, parse_queries
from pipelines.query.search import Search
from pipelines.store.facts import Fact, read_facts
from pipelines.store.known_names import is_own_word
from pipelines.store.node_reader import NodeSection, documents_of_categories, sections_of
from pipelines.store.tokens import tokenise
from pipelines.text import canonical, fold

_LONGEST = 60  # characters of a name or heading in a question
_MOST_WORDS = 8
_NUMBER = re.compile(r"^\s*(?:\d{1,3}|[ivxIVX]{1,5}|[A-Za-z])[.)]\s+")
_ASKS = re.compile(r"(?:what|why|how|who|when|where|which|is|are|do|does|can|should)\b", re.IGNORECASE)
_FILE = re.compile(r"[/\\_]|\.[a-z0-9]{1,5}$|-\S*-", re.IGNORECASE)
CAREER = frozenset({"resume", "linkedin"})  # whose sections are facts, and whose title is somebody's name
_SAYS_NOTHING = re.compile(r"[.!?;]\s|[<>{}|`@]|https?:|www\.")
_NAME = re.compile(r"\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}\w*|\w*\d\w*")  # of a heading: GPT-4, SQLite, OAuth
# Words that tell nothing of what stands below a heading, or that no reader of a portfolio asks about.
_DULL = frozenset(
    tokenise(
        """abstract abstracts acknowledgements answer answers appendix author background badges benchmark benchmarks
        build changelog citation citing code command commands comparison conclusion configuration contact
        contents context contribute contributing contributors credits data demo design detail details
        development documentation education ending example examples experience faq feature features file files
        footnotes further future general get getting goal goals guide help history home idea index information
        install installation interest introduction issue issues key known last licence license limit
        limitation limitations limits links list lists main method methods miscellaneous month months
        motivation my name names navigation new next note notes number old option options other our outline
        output overview page part plan plans point points post prerequisites problem process product products
        profile project projects purpose question questions quick quickstart read reading readme references
        related release releases requirements resources result results resume roadmap run running section
        setting settings setup skills sources speed start started status step steps structure summary support
        table team terms test testing tests thing things title toc todo tool tools top troubleshooting usage
        use using version versions well what work works year years"""
    )
)


_ORDER = {"job": 0, "project": 1, "education": 2, "language": 3}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question, and what should answer it.

    Attributes:
        question: The text.
        document: Id of the document that should answer; empty where any may.
        place: Its characters that should; None where any of the document may.
    """

    question: str
    document: str = ""
    place: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context of an answer, from which follow-ups are proposed.

    Attributes:
        cited: (document id, start, end) of the words that it cites; none of an abstention.
        documents: Those that it cites; of an abstention, those that came nearest.
        found: The places of the retrieved nodes, best first.
        sections: Those of these documents.
        facts: What these documents state of a career.
        names: (name, document ids) of what their passages name.
        others: (id, title) of other documents of their categories.
    """

    cited: tuple[tuple[str, int, int], ...]
    documents: frozenset[str]
    found: tuple[NodeSection, ...] = ()
    sections: tuple[NodeSection, ...] = ()
    facts: tuple[Fact, ...] = ()
    names: tuple[tuple[str, Sequence[str]], ...] = ()
    others: tuple[tuple[str, str], ...] = ()


def proposals(near: Surroundings) -> list[Proposal]:
    """Questions that the documents may answer, of every kind in turn, each once.

    Each names a person or thing, or a title or heading that is informative alone: one of several words, or a title that
    is not an ordinary word.
    """
    kinds: list[Iterable[Proposal]] = [
        _of_facts(near.facts, near.cited),
        _of_sections(near.sections, near.cited),
        _of_sections([place for place in near.found if place.document_id not in near.documents], near.cited),
        _of_names(near.names, near.documents),
        _of_documents(near.found, near.others, near.documents),
    ]
    first: dict[str, Proposal] = {}
    for proposal in filter(None, chain.from_iterable(zip_longest(*kinds))):
        first.setdefault(fold(proposal.question), proposal)
    return list(first.values())


def _of_facts(facts: Sequence[Fact], cited: Sequence[tuple[str, int, int]]) -> Iterator[Proposal]:
    """Questions about the facts of a career that were not cited."""
    names = {
        fact.document_id: fact.record.name
        for fact in reversed(facts)
        if isinstance(fact.record, PersonFacts) and fact.record.name
    }
    only = next(iter(names.values()), "") if len({fold(name) for name in names.values()}) == 1 else ""
    known = {_subject(fact) for fact in facts if is_cited(fact.document_id, *fact.record.span, cited)}
    for fact in sorted(facts, key=lambda fact: _ORDER.get(fact.record.type, 0)):
        subject = _subject(fact)
        if subject and subject not in known:
            known.add(subject)
            if question := _about_fact(fact, names.get(fact.document_id, only)):
                yield Proposal(question)  # whichever of its documents states it


def _subject(fact: Fact) -> str:
    """The key by which facts of several documents are the same."""
    match fact.record:
        case JobFacts(company=name) | EducationFacts(institution=name) | ProjectFacts(name=name):
            return fold(name)
        case LanguageFacts():
            return "languages"
        case _:
            return ""


def _about_fact(fact: Fact, who: str) -> str:
    who = _short(who)
    match fact.record:
        case JobFacts(company=name, current=current) if name := _short(name):
            return f"What {'does' if current else 'did'} {who} do at {name}?" if who else f"What was the job at {name}?"
        case EducationFacts(institution=name) if name := _short(name):
            return f"Which degree does {who} have from {name}?" if who else f"Which degree was earned at {name}?"
        case ProjectFacts(name=name) if name := _short(name):
            return f"What is the project {name} about?"
        case LanguageFacts() if who:
            return f"Which languages does {who} speak?"
        case _:
            return ""


def is_cited(document_id: str, start: int, end: int, cited: Sequence[tuple[str, int, int]]) -> bool:
    """True if a span of a document overlaps one of the cited spans."""
    return any(document_id == other and start < until and since < end for other, since, until in cited)


def _of_sections(places: Sequence[NodeSection], cited: Sequence[tuple[str, int, int]]) -> Iterator[Proposal]:
    """Questions about sections that were not cited."""
    for place in places:
        heading = _heading(place.path[-1]) if place.path and place.category not in CAREER else ""
        if (
            not heading
            or fold(heading) == fold(_short(place.title))
            or is_cited(place.document_id, place.start, place.end, cited)
        ):
            continue
        title = _title(place.title)
        who = f"does {_quoted(title)}" if title else "do the documents"
        under = "under" if _ASKS.match(heading) else "about"
        yield Proposal(f"What {who} say {under} ‘{heading}’?", place.document_id, (place.start, place.end))


def _of_names(names: Sequence[tuple[str, Sequence[str]]], cited: Collection[str]) -> Iterator[Proposal]:
    """Questions about names in the sources that another document explains."""
    for name, held in names:
        if len(held) == 1 and held[0] not in cited and (short := _title(name)):
            asks = f"What do the documents say about {_quoted(short)}?" if " " in short else f"What is {short}?"
            yield Proposal(asks, held[0])


def _of_documents(
    found: Sequence[NodeSection], others: Sequence[tuple[str, str]], cited: Collection[str]
) -> Iterator[Proposal]:
    """Questions about other documents: first those that were found too, then those of the same categories."""
    near = dict.fromkeys((place.document_id, place.title) for place in found if place.category not in CAREER)
    for document_id, title in dict.fromkeys([*near, *others]):
        if document_id not in cited and (short := _title(title)):
            about = " about" if " " in short else ""
            yield Proposal(f"What is {_quoted(short)}{about}?", document_id)


def _heading(heading: str) -> str:
    """A heading without its number; empty when it does not tell by itself what it is about."""
    short = _short(_NUMBER.sub("", heading))
    telling = {term for term in tokenise(short) if term not in _DULL}
    named = any(_NAME.search(word) and not word.isdigit() for word in short.split()) and not short.isupper()
    return short if len(telling) > 1 or (telling and named) else ""


def _title(title: str) -> str:
    """The title of a document or project; empty if it is only a file's name, or an ordinary word."""
    short = _short(title)
    telling = any(term not in _DULL for term in tokenise(short))
    several = " " in short and telling
    return short if (several or is_own_word(short)) and not _FILE.search(short) else ""


def _short(text: str) -> str:
    """The text on one line; empty when it is too long for a question, or is no name but a sentence or an address."""
    line = " ".join(canonical(text).split()).strip(" .,:;!?#*_-–—'\"‘’“”")
    tidy = len(line) <= _LONGEST and len(line.split()) <= _MOST_WORDS and not _SAYS_NOTHING.search(line)
    return line.replace('"', "").replace("“", "").replace("”", "") if tidy and any(map(str.isalpha, line)) else ""


def _quoted(name: str) -> str:
    """A name of several words in single quotation marks: double ones would ask for just these words."""
    return f"‘{name}’" if " " in name else name


_PROPOSED = 6  # asked of a language model
_OTHERS = 4  # documents of the same kind
_HINT = "Raise FOOTNOTE_ANSWER__FOLLOW_UP_SECONDS, or set FOOTNOTE_ANSWER__FOLLOW_UPS_BY=documents."


def cited_spans(answer: Answer) -> tuple[tuple[str, int, int], ...]:
    """(document id, start, end) of all the words that an answer quotes."""
    quoted = (citation for sentence in answer.sentences for citation in sentence.evidence)
    return tuple((citation.document_id, citation.start, citation.end) for citation in quoted)


def from_documents(answer: Answer, search: Search, retrieved: Retrieved | None) -> list[Proposal]:
    """Questions from the documents that an answer cites, or from the nearest ones of an abstention."""
    cited = {n for sentence in answer.sentences for n in sentence.citations}
    sources = [source for source in answer.sources if source.n in cited] or answer.nearest
    if not sources:
        return []
    request, store = search.request, search.store
    documents = tuple(dict.fromkeys(source.document_id for source in sources))
    inside = replace(request.filters, document=documents)
    names = search.index.names.current(request.audience, store.version())
    named = dict(pair for source in sources for pair in names.find(source.snippet))
    categories = {source.category for source in sources} - CAREER
    metas = (hit.node.metadata for hit in (retrieved.found.ranking if retrieved else ()))
    places = [
        (m["document_id"], m["title"], m["category"], tuple(m["section_path"]), m["start"], m["end"]) for m in metas
    ]
    return proposals(
        Surroundings(
            cited=cited_spans(answer),
            documents=frozenset(documents),
            found=tuple(NodeSection(*place) for place in places),
            sections=tuple(sections_of(store, inside, request.audience)),
            facts=tuple(read_facts(store, inside, request.audience)),
            names=tuple(named.items()),
            others=tuple(documents_of_categories(store, documents, categories, request.audience, limit=_OTHERS)),
        )
    )


def from_model(answer: Answer, search: Search, retrieved: Retrieved | None) -> list[Proposal]:
    """Questions by the language model, if the settings ask for it; none when it fails.

    Its reply is data, and each line of it a proposal like any other.
    """
    options = search.settings.answer
    if options.follow_ups_by != "llm" or search.llm is None or retrieved is None or not retrieved.context.text:
        return []
    prompt = f"{retrieved.context.text}\n\n{QUESTION}{answer.question}"
    messages = [("system", FOLLOW_UPS.format(count=_PROPOSED)), ("user", prompt)]
    try:
        reply = consult(search.llm, messages, seconds=options.follow_up_seconds, limit=MAX_REPLY, hint=_HINT)
    except FootnoteError as error:
        log_failure("follow-ups are proposed without the language model", error)
        return []
    return [Proposal(text) for text in parse_queries(reply, answer.question, _PROPOSED) if text.endswith("?")]
