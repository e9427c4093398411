"""KINDS: answers from typed facts by the kind of a question, where the rules do not know every word of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from llama_index.core.schema import BaseNode

from pipelines.models.embedding import piece_vectors
from pipelines.query.answer import AnswerEvents
from pipelines.query.answerers import careers, corpus, overview
from pipelines.query.answerers.overview import OverviewAnswer
from pipelines.query.careers.answers import CAREER_KINDS, CareerOf, answer_of_kind, words_of_kind
from pipelines.query.careers.computed_answer import ComputedAnswer, left_out_note
from pipelines.query.careers.people import Person, Project
from pipelines.query.context import sources_of_nodes
from pipelines.query.person_filter import unknown_people
from pipelines.query.question.form import classify_question
from pipelines.query.question.kind import OTHER, Kind, kind_model, question_vectors
from pipelines.query.question.overview import asked_words, overview_of_kind
from pipelines.query.question.words import words
from pipelines.query.quotable_units import quotable_units
from pipelines.query.search import Search
from pipelines.store.known_names import CAREER_CATEGORIES, name_words
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold, word_parts

Found = ComputedAnswer | OverviewAnswer | corpus.CorpusAnswer
_HIRE, _HOBBIES = "hire", "hobbies"
_OF_SECTIONS = frozenset({"awards", _HOBBIES, _HIRE})  # which no fact states, but a section of a resume may
_NO_FACT = frozenset({"money", "share"})  # values that no typed fact states
_SELDOM_CAREERS = ("web", "notion", "generic")  # categories of pages that may say what somebody may be hired for
_MOST_SECTIONS = 3
_MOST_ITEMS = 8


@dataclass(frozen=True, slots=True)
class _OfKind:
    """A question of a kind: its folded words, the person whom it is about, and the stored projects."""

    search: Search
    kind: Kind
    said: tuple[str, ...]
    person: Person
    projects: Sequence[Project]

    @property
    def strange(self) -> list[str]:
        """The words that neither the kind nor the career explains; of a certain kind, those that lead away from it or
        that no question of any kind has.
        """
        known = STOP_WORDS | words("overview-fillers") | words_of_kind(self.kind.name) | _career_words(self.person)
        model = kind_model()
        left = [word for word in self.said if word not in known and not model.leads_to(word, self.kind.name)]
        if not self.kind.is_certain:
            return left
        is_open = self.kind.name == _HIRE  # asked by a firm of any kind
        return [
            word for word in left if model.leads_to(word, OTHER) or not (is_open or word in model.places or "'" in word)
        ]

    @property
    def topic(self) -> str:
        """The words that say of which posts it asks."""
        own = {*word_parts(self.person.name), *map(str, self.search.intent.years)}
        spare = STOP_WORDS.union(own, *map(words, ("overview-fillers", "overview-persons", "posts-words")))
        return " ".join(word for word in self.said if word not in spare)


def find(search: Search) -> Found | None:
    """The answer of typed facts to a question of its kind, about the person whom it means; None for others."""
    intent = search.intent
    if search.llm or intent.greeting or intent.phrases or classify_question(intent).kind in _NO_FACT:
        return None  # a language model knows by itself what is asked
    is_asked = search.settings.answer.facts and intent.person
    kind = kind_of(search) if is_asked else None
    if kind is None or not kind.is_sure:
        return None
    careers, today = search.careers(replace(search.request.filters, phrase=())), date.today()
    person = next((each for each in careers.people(today) if fold(each.name) == fold(intent.person)), None)
    people = [(name, "") for name in search.names.people]
    if person is None or unknown_people(intent, people, [*_organisations(person), *search.names.projects]):
        return None
    asked = _OfKind(search, kind, asked_words(intent), person, careers.projects(today))
    if kind.name in CAREER_KINDS:
        return _from_career(asked)
    if kind.name == "posts":
        is_other = bool(intent.documents) or not words("overview-other-writings").isdisjoint(asked.said)
        return None if is_other else corpus.posts(search, asked.topic)
    return _from_sections(asked) if kind.name in _OF_SECTIONS else _overview(asked)


def _from_career(asked: _OfKind) -> ComputedAnswer | None:
    held = [name_words(name) for name in (asked.person.name, *_organisations(asked.person))]
    is_own = all(any(name_words(name) & words for words in held) for name in asked.search.intent.names)
    if asked.search.intent.documents and not is_own:  # it names more than the person, an employer or a school
        return None
    languages = frozenset(fold(name) for project in asked.projects for name in project.languages)
    career = CareerOf(asked.person, asked.said, asked.search.intent.years, languages)
    computed = None if asked.strange else answer_of_kind(asked.kind.name, career)
    if computed and (note := left_out_note(computed)):
        asked.search.ledger.note(note)
    return computed


def _overview(asked: _OfKind) -> OverviewAnswer | None:
    intent, known = asked.search.intent, asked.search.names
    stated = [name for project in asked.projects for name in (*project.languages, *project.topics)]
    topics = frozenset(map(fold, (*(skill for skill, _ in asked.person.skills), *stated)))
    wanted = overview_of_kind(asked.kind.name, intent, known.people, known.projects, topics)
    is_whole = wanted is not None and (wanted.kind in ("self", "contact") or not wanted.topic)
    if wanted is None or (
        is_whole and wanted.kind in ("self", "place", "contact", "talks", "projects") and asked.strange
    ):
        return None
    return overview.compose(asked.search, wanted)


def kind_of(search: Search) -> Kind:
    """The kind of the question."""
    return _kinds_of(search, [search.intent.wording])[0]


def _kinds_of(search: Search, texts: Sequence[str]) -> list[Kind]:
    vectors = question_vectors(piece_vectors(search.embed_model, texts))
    return [kind_model().kind(text, vector) for text, vector in zip(texts, vectors, strict=True)]


def _from_sections(asked: _OfKind) -> OverviewAnswer | None:
    """The items of the sections whose titles are of a kind, of resumes and profiles, and of pages that say what
    somebody may be hired for; None without such a section.
    """
    search = asked.search
    if asked.strange:
        return None
    filters, audience = search.request.filters, search.request.audience
    known = {*CAREER_CATEGORIES, *(_SELDOM_CAREERS if asked.kind.name == _HIRE else ())}
    if asked.kind.name == _HOBBIES:
        known.discard("linkedin")  # whose interests are the organisations and people that somebody follows
    own = replace(filters, category=tuple(sorted(known.intersection(filters.category or known))))
    ids = search.store.matching_ids(own, audience) if own.category else ()
    nodes = [
        node
        for node in search.store.fetch(ids, filters=own, audience=audience).values()
        if node.metadata["section_path"] and node.metadata["kind"] in ("text", "list")
    ]
    nodes.sort(
        key=lambda node: (
            node.metadata["category"] not in CAREER_CATEGORIES,
            str(node.metadata["source"]),
            int(node.metadata["start"]),
        )
    )
    titles = sorted({node.metadata["section_path"][-1] for node in nodes})
    kinds = dict(zip(titles, _kinds_of(search, titles), strict=True))
    chosen = [node for node in nodes if _is_titled(asked.kind.name, node, kinds)][:_MOST_SECTIONS]
    sources = sources_of_nodes(chosen, search.store.engine, audience)
    units = [(source, unit) for source in sources for unit in quotable_units([source])]
    lines = [overview.Line(part.text, source, (part.text,)) for source, unit in units for part in unit.parts]
    return OverviewAnswer(tuple(lines[:_MOST_ITEMS])) if lines else None


def _is_titled(kind: str, node: BaseNode, kinds: Mapping[str, Kind]) -> bool:
    """True if the title of a node's section is of this kind; on a page that is no resume or profile, surely."""
    title = node.metadata["section_path"][-1]
    found = kinds[title]
    said = set(word_parts(title))
    if kind == _HIRE and said <= words("hiring-titles") and not said.isdisjoint(words("hiring-heads")):
        return True
    return found.name == kind and (node.metadata["category"] in CAREER_CATEGORIES or found.is_sure)


def _organisations(person: Person) -> list[str]:
    """The names of the person's employers and schools."""
    schools = (getattr(group[0].record, "institution", "") for group in person.education)
    return [*(job.record.company for job in person.jobs), *schools]


def _career_words(person: Person) -> frozenset[str]:
    records = [fact.record for job in person.jobs for fact in job.stated]
    studies = [fact.record for group in person.education for fact in group]
    fields = ("company", "position", "location", "institution", "degree", "area")
    said = [getattr(record, field, "") for record in (*records, *studies) for field in fields]
    return frozenset(word for text in (person.name, *said) for word in word_parts(text))


def write(search: Search, found: Found) -> AnswerEvents:
    """Yield what was found with a footnote for each fact, then the Verdicts."""
    if isinstance(found, ComputedAnswer):
        return careers.write(search, found)
    return overview.write(search, found) if isinstance(found, OverviewAnswer) else corpus.write(search, found)
