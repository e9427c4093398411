"""What a reader may want to ask next, made of what stands near an answer: sections, facts, names, other documents."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from pipelines.facts import EducationFacts, JobFacts, LanguageFacts, PersonFacts, ProjectFacts
from pipelines.store.facts import Fact
from pipelines.store.near import Section
from pipelines.store.tokens import tokenise
from pipelines.text import canonical, fold

_LONGEST = 60  # characters of a name or heading in a question
_MOST_WORDS = 8
_NUMBER = re.compile(r"^\s*(?:\d{1,3}|[ivxIVX]{1,5}|[A-Za-z])[.)]\s+")
_ASKS = re.compile(r"(?:what|why|how|who|when|where|which|is|are|do|does|can|should)\b", re.IGNORECASE)
_FILE = re.compile(r"[/\\_]|\.[a-z0-9]{1,5}$|-\S*-", re.IGNORECASE)
CAREER = frozenset({"resume", "linkedin"})  # whose sections are facts, and whose title is somebody's name
_SAYS_NOTHING = re.compile(r"[.!?;]\s|[<>{}|`@]|https?:|www\.")
# Headings that say nothing of what stands below them, or that no reader of a portfolio asks about.
_DULL = frozenset(
    """about abstract abstracts acknowledgements appendix author badges changelog citing citation conclusion contact
    contents contributing contributors credits education example examples experience faq footnotes help history home
    index install installation introduction license licence links misc navigation notes overview prerequisites profile
    projects quickstart readme references requirements resources resume skills sources summary support todo toc top
    usage work""".split()
)


_ORDER = {"job": 0, "project": 1, "education": 2, "language": 3}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question, and the document that should answer it; empty where any may."""

    question: str
    aim: str = ""


@dataclass(frozen=True, slots=True)
class Near:
    """What stands near an answer.

    Attributes:
        cited: (document id, start, end) of the words that it cites; none of an abstention.
        documents: Those that it cites; of an abstention, those that came nearest.
        found: The places of what was found, the best first.
        sections: Those of these documents.
        facts: What these documents state of a career.
        names: (name, document ids) of what their passages name.
        others: (id, title) of other documents of their categories.
    """

    cited: tuple[tuple[str, int, int], ...]
    documents: frozenset[str]
    found: tuple[Section, ...] = ()
    sections: tuple[Section, ...] = ()
    facts: tuple[Fact, ...] = ()
    names: tuple[tuple[str, Sequence[str]], ...] = ()
    others: tuple[tuple[str, str], ...] = ()


def proposals(near: Near) -> list[Proposal]:
    """Questions that the documents may answer, of every kind in turn, each once."""
    kinds: list[Iterable[Proposal]] = [
        _of_facts(near.facts, near.cited),
        _of_sections(near.sections, near.cited),
        _of_sections([place for place in near.found if place.document_id not in near.documents], near.cited),
        _of_names(near.names, near.documents),
        _of_documents(near.found, near.others, near.documents),
    ]
    in_turn = chain.from_iterable(zip_longest(*kinds))
    first: dict[str, Proposal] = {}
    for proposal in in_turn:
        if proposal is not None:
            first.setdefault(fold(proposal.question), proposal)
    return list(first.values())


def _of_facts(facts: Sequence[Fact], cited: Sequence[tuple[str, int, int]]) -> Iterator[Proposal]:
    """What a career holds beside what was cited of it."""
    who = next((fact.record.name for fact in facts if isinstance(fact.record, PersonFacts) and fact.record.name), "")
    told = {_of_what(fact) for fact in facts if _is_cited(fact.document_id, *fact.record.span, cited)}
    for fact in sorted(facts, key=lambda fact: _ORDER.get(fact.record.type, 0)):
        what = _of_what(fact)
        if what and what not in told:
            told.add(what)
            question = _about_fact(fact, who)
            if question:
                yield Proposal(question, fact.document_id)


def _of_what(fact: Fact) -> str:
    """What facts of several documents have in common that say the same."""
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
            return f"What {'does' if current else 'did'} {who} do at {name}?" if who else f"What was done at {name}?"
        case EducationFacts(institution=name) if name := _short(name):
            return f"Which degree does {who} have from {name}?" if who else f"Which degree is from {name}?"
        case ProjectFacts(name=name) if name := _short(name):
            return f"What is the project {name} about?"
        case LanguageFacts():
            return f"Which languages does {who} speak?" if who else "Which languages are spoken?"
        case _:
            return ""


def _is_cited(document_id: str, start: int, end: int, cited: Sequence[tuple[str, int, int]]) -> bool:
    return any(document_id == other and start < until and since < end for other, since, until in cited)


def _of_sections(places: Sequence[Section], cited: Sequence[tuple[str, int, int]]) -> Iterator[Proposal]:
    """What stands under headings that were not cited: first those of several words, which say more of what it is."""
    open_ = [
        place
        for place in places
        if place.path
        and place.category not in CAREER
        and not _is_cited(place.document_id, place.start, place.end, cited)
    ]
    for place in sorted(open_, key=lambda place: len(set(tokenise(place.path[-1]))) < 2):
        title, heading = _short(place.title), _heading(place.path[-1])
        if title and heading and fold(heading) != fold(title):
            under = "under" if _ASKS.match(heading) else "about"
            yield Proposal(f"What does {_quoted(title)} say {under} ‘{heading}’?", place.document_id)


def _of_names(names: Sequence[tuple[str, Sequence[str]]], cited: Collection[str]) -> Iterator[Proposal]:
    """What is told elsewhere of something that the sources name."""
    for name, held in names:
        if len(held) == 1 and held[0] not in cited and (short := _short(name)) and not _FILE.search(name):
            yield Proposal(f"What do the documents say about {_quoted(short)}?", held[0])


def _of_documents(
    found: Sequence[Section], others: Sequence[tuple[str, str]], cited: Collection[str]
) -> Iterator[Proposal]:
    """Other documents: first those that were found beside, then those of the same kind."""
    near = dict.fromkeys((place.document_id, place.title) for place in found if place.category not in CAREER)
    for document_id, title in dict.fromkeys([*near, *others]):
        if document_id not in cited and (short := _short(title)):
            yield Proposal(f"What is {_quoted(short)} about?", document_id)


def _heading(heading: str) -> str:
    """A heading without its number; empty when it says nothing of its own."""
    short = _short(_NUMBER.sub("", heading))
    return "" if set(fold(short).split()) <= _DULL else short


def _short(text: str) -> str:
    """The text on one line; empty when it is too long for a question, or is no name but a sentence or an address."""
    line = " ".join(canonical(text).split()).strip(" .,:;!?#*_-–—'\"‘’“”")
    tidy = len(line) <= _LONGEST and len(line.split()) <= _MOST_WORDS and not _SAYS_NOTHING.search(line)
    return line.replace('"', "").replace("“", "").replace("”", "") if tidy and any(map(str.isalpha, line)) else ""


def _quoted(name: str) -> str:
    """A name of several words in single quotation marks: double ones would ask for just these words."""
    return f"‘{name}’" if " " in name else name
