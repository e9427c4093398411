"""OVERVIEW: answers composed from typed facts: a person, projects, talks, and what somebody has done with something."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from llama_index.core.schema import BaseNode

from pipelines.answers import Source
from pipelines.facts import PersonFacts, ProjectDetail, ProjectFacts, SummaryFacts, TalkFacts
from pipelines.query.answer import AnswerEvents, write_sentences
from pipelines.query.careers.computed_answer import job_item, study_items
from pipelines.query.careers.disagreements import Disagreement, fact_source
from pipelines.query.careers.people import Person, Project
from pipelines.query.confidence import computed_confidence
from pipelines.query.context import sources_of_nodes
from pipelines.query.layout import CitedText
from pipelines.query.question.form import holds_kind
from pipelines.query.question.overview import OverviewQuestion, overview_of
from pipelines.query.quotable_units import quotable_units
from pipelines.query.search import Search
from pipelines.query.verification.normalise import contains_phrase, folded_words
from pipelines.query.verify import verify_computed
from pipelines.store.facts import Fact
from pipelines.store.known_names import CAREER_CATEGORIES
from pipelines.store.tokens import index_terms, tokenise
from pipelines.structure import sentences
from pipelines.text import fold
from pipelines.topics import uses, widened

OVERVIEW = "overview of facts"  # the model name of such an answer
_MAIL, _PHONE = frozenset({"email", "e-mail", "mail"}), frozenset({"phone", "telephone"})
_MOST_JOBS, _MOST_PROJECTS, _MOST_TALKS, _MOST_STUDIES = 6, 8, 10, 3
_MOST_DETAILS = 3
_MOST_SHOWN = 4  # projects of a whole person
_MOST_MENTIONS = 6
_MOST_PASSAGES = 3  # passages of which a sentence is quoted, a document each
_MOST_READ = 24  # passages that are read for them


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an overview: its text, the source, the words that must stand in it, and the Markdown before it."""

    text: str
    source: Source
    quotes: tuple[str, ...]
    before: str = "\n- "


@dataclass(frozen=True, slots=True)
class OverviewAnswer:
    """The lines of an overview, `exact` if typed facts alone state what is asked, and what documents disagree on."""

    lines: tuple[Line, ...]
    exact: bool = True
    doubts: tuple[Disagreement, ...] = ()


def find(search: Search) -> OverviewAnswer | None:
    """The overview that a question asks for, within its filters and audience; None for others, or where facts lack."""
    intent, known = search.intent, search.names
    asked = overview_of(intent, known.people, known.projects) if intent.form == "overview" else None
    return compose(search, asked) if asked and search.settings.answer.facts else None


def compose(search: Search, asked: OverviewQuestion) -> OverviewAnswer | None:
    """The overview that is asked for; None where facts lack."""
    request, intent = search.request, search.intent
    careers = search.careers(replace(request.filters, phrase=()))
    today = date.today()
    people, projects = careers.people(today), careers.projects(today)
    stated = [each for each in people if each.name]
    meant = [each for each in stated if not intent.person or fold(each.name) == fold(intent.person)]
    person = meant[0] if len(meant) == 1 else stated[0] if len(stated) == 1 else None
    if asked.kind in ("self", "place", "contact") and (person is None or not intent.person):
        return None
    own = [project for project in projects if person is None or project.person in ("", person.name)]
    words = widened(asked.topic) if asked.topic else frozenset[str]()
    holding = _nodes_with(words, search) if words and asked.kind in ("projects", "built", "experience") else {}
    named = [project for name in asked.names for project in projects if project.name == name]
    readmes = {fact.document_id for project in named for fact in project.stated}
    details = [fact for fact in careers.facts if isinstance(fact.record, ProjectDetail) and fact.document_id in readmes]
    if asked.kind in ("requirement", "licence", "version", "status"):
        return _stated(asked, details)
    fitting = named if asked.names else [project for project in own if not words or _fits(project, words)]
    if not fitting and not asked.names:
        fitting = [project for project in own if project.stated[0].document_id in holding]
    composed = _compose(asked, words, person, own, fitting)
    if composed and named:
        notices = [fact for fact in details if getattr(fact.record, "about", "") == "status"]
        composed = _with_status(composed, notices)
    if composed is None and asked.topic and asked.kind in ("built", "experience"):
        composed = _mentions(words, person, own, holding, search)
    if composed and asked.is_yes_no and composed.exact:
        first, *others = composed.lines
        composed = replace(composed, lines=(replace(first, text=f"Yes: {first.text}"), *others))
    return composed


def _compose(
    asked: OverviewQuestion,
    words: frozenset[str],
    person: Person | None,
    own: Sequence[Project],
    projects: Sequence[Project],
) -> OverviewAnswer | None:
    """The overview out of facts alone; None where none state it. `projects` may be named, or fit the topic."""
    match asked.kind:
        case "self":
            lines = list(_whole(person, own)) if person else []
        case "place":
            lines = list(_places(person, asked.topic)) if person else []
        case "contact":
            lines = list(_contacts(person, asked.topic)) if person else []
        case "talks":
            lines = list(_talks(person, asked, words)) if person else []
        case "project" | "compare":
            lines = [line for project in projects for line in _project_lines(project)[:1]]
            lines = lines if len({line.source.document_id for line in lines}) == len(asked.names) else []
        case "projects":
            lines = [line for project in projects for line in _project_lines(project)[:1]][:_MOST_PROJECTS]
        case _:
            lines = []
    return OverviewAnswer(_first_plain(lines)) if lines else None


def _stated(asked: OverviewQuestion, details: Iterable[Fact]) -> OverviewAnswer | None:
    """What a project states of its licence, version, status or requirements, each once; None where it does not."""
    words = frozenset({asked.topic} if asked.topic else ())
    lines: dict[str, Line] = {}
    for fact in details:
        record = fact.record
        assert isinstance(record, ProjectDetail)
        if record.about == asked.kind and (not words or uses(record.value, words)):
            lines.setdefault(
                fold(record.value), Line(f"{record.name}: {record.value}", fact_source(fact), (record.value,))
            )
    return OverviewAnswer(_first_plain([*lines.values()][:_MOST_DETAILS])) if lines else None


def _with_status(composed: OverviewAnswer, notices: Sequence[Fact]) -> OverviewAnswer:
    """The lines of projects, each followed by the notice that its README has."""
    by_document = {fact.document_id: fact for fact in reversed(notices)}
    lines: list[Line] = []
    for line in composed.lines:
        lines.append(line)
        if fact := by_document.get(line.source.document_id):
            value = getattr(fact.record, "value", "")
            lines.append(Line(value, fact_source(fact), (value,), " "))
    return replace(composed, lines=tuple(lines))


def _first_plain(lines: Sequence[Line]) -> tuple[Line, ...]:
    return (replace(lines[0], before=""),) if len(lines) == 1 else tuple(lines)


def _whole(person: Person, projects: Sequence[Project]) -> Iterator[Line]:
    """A person: the summary in their own words, or else the headline; jobs, studies, projects."""
    if person.summaries:
        fact = person.summaries[0]
        assert isinstance(fact.record, SummaryFacts)
        said = fact.record.text
        for place, (start, end) in enumerate(sentences(said)):
            yield Line(said[start:end], fact_source(fact), (said[start:end],), " " if place else "")
    else:
        headed = [(fact, fact.record.headline) for fact in person.stated if isinstance(fact.record, PersonFacts)]
        yield from (Line(said, fact_source(fact), (said,), "") for fact, said in headed[:1] if said)
    jobs = [job_item(job, job.stated[0]) for job in person.jobs[:_MOST_JOBS]]
    studies = (study_items(person.education, degrees=True) or study_items(person.education))[:_MOST_STUDIES]
    for title, items in (("Work", jobs), ("Education", studies)):
        for place, item in enumerate(items):
            yield Line(item.text, fact_source(item.fact), item.quotes, "\n- " if place else f"\n\n**{title}**\n\n- ")
    shown = [line for project in projects for line in _project_lines(project)[:1]][:_MOST_SHOWN]
    for place, line in enumerate(shown):
        yield line if place else replace(line, before="\n\n**Projects**\n\n- ")


def _places(person: Person, asked: str) -> Iterator[Line]:
    """Where a person lives, as the first document says it; nothing if that is not the place that is asked about."""
    placed = ((fact, getattr(fact.record, "location", "")) for fact in person.stated_facts)
    fact, place = next(((fact, place) for fact, place in placed if place), (None, ""))
    if fact and says_all(place, asked):
        yield Line(place, fact_source(fact), (place,), "")


def _contacts(person: Person, asked: str) -> Iterator[Line]:
    """How a person can be reached: what is asked for, each value once."""
    by_mail, by_phone = (not ways.isdisjoint(asked.split()) for ways in (_MAIL, _PHONE))
    is_open = not (by_mail or by_phone)
    told: dict[str, Line] = {}
    for fact, record in ((fact, fact.record) for fact in person.stated_facts):
        assert isinstance(record, PersonFacts)
        ways = ((record.email, by_mail), (record.phone, by_phone), *((link, False) for link in record.links))
        for value in (value for value, is_named in ways if value and (is_named or is_open)):
            told.setdefault(fold(value), Line(value, fact_source(fact), (value,)))
    yield from told.values()


def says_all(text: str, asked: str) -> bool:
    """True if a text has every index term of what is asked."""
    return index_terms(text).issuperset(index_terms(asked))


def _talks(person: Person, asked: OverviewQuestion, words: frozenset[str]) -> Iterator[Line]:
    """The talks, the latest first; those of the years, or on the topic, that are asked for."""
    found = 0
    for group in person.talks:
        record = group[0].record
        assert isinstance(record, TalkFacts)
        if asked.years and not any(record.start_month.startswith(str(year)) for year in asked.years):
            continue
        said = " ".join((record.kind, record.title, record.place, *(fact.own_text for fact in group)))
        if words and not uses(said, words) and not says_all(said, asked.topic):
            continue
        kind = "" if contains_phrase(record.place, folded_words(record.kind)) else record.kind
        about = ", ".join(filter(None, (kind, record.place, record.date_range)))
        places = record.place.split(", ")  # the event and the city are fields of their own in a row
        quotes = tuple(filter(None, (record.title, *places, record.date_range)))
        yield Line(f"{record.title} ({about})" if about else record.title, fact_source(group[0]), quotes)
        found += 1
        if found == (1 if asked.latest else _MOST_TALKS):
            return


def _project_lines(project: Project) -> list[Line]:
    """`name: purpose` by each statement that has a purpose, the README's first; the name alone if none has."""
    found = []
    for fact in sorted(project.stated, key=lambda fact: not getattr(fact.record, "purpose", "")):
        record = fact.record
        assert isinstance(record, ProjectFacts)
        said = record.purpose or next(iter(record.bullets), "")
        is_named = fold(said).startswith(fold(record.name))
        text = said if is_named else f"{record.name}: {said}" if said else record.name
        is_stated = contains_phrase(fact.text, folded_words(record.name))  # else it is that of its folder
        found.append(Line(text, fact_source(fact), tuple(filter(None, (record.name if is_stated else "", said)))))
    return found


def _fits(project: Project, words: frozenset[str]) -> bool:
    """True if a project has to do with one of these words: by its languages, topics, purpose or bullets."""
    said = [" ".join((record.name, record.purpose, *record.bullets)) for record in project.records]
    return any(uses(text, words) for text in (*project.languages, *project.topics, *said))


def _mentions(
    words: frozenset[str],
    person: Person | None,
    own: Sequence[Project],
    holding: Mapping[str, BaseNode],
    search: Search,
) -> OverviewAnswer | None:
    """What was done with something: projects, bullets of jobs, certificates, talks and skills that name it, and
    sentences of other documents that do."""
    lines = [line for project in own if _fits(project, words) for line in _project_lines(project)[:1]]
    lines += _career_mentions(person, words) if person else []
    stated = [skill for skill, _ in (person.skills if person else ())] + [n for each in own for n in each.languages]
    is_technology = len(words) == 1 and any(uses(name, words) for name in stated)  # which facts state where it is used
    held = [project for project in own if project.stated[0].document_id in holding and not _fits(project, words)]
    held, is_exact = ([] if is_technology else held), bool(lines)
    lines += [line for project in held for line in _project_lines(project)[:1]][:_MOST_PASSAGES]
    told = [fold(line.text) for line in lines]
    said = [line for line in _sentences_with(words, holding, search) if not any(fold(line.text) in it for it in told)]
    if not lines and not said:
        return None
    return OverviewAnswer(_first_plain([*lines, *said][:_MOST_MENTIONS]), exact=is_exact)


def _career_mentions(person: Person, words: frozenset[str]) -> list[Line]:
    found = []
    for job in person.jobs:
        for fact in job.stated[:1]:
            item = job_item(job, fact)
            named = [bullet for bullet in job.record.bullets if uses(bullet, words)]
            texts = named or ([""] if uses(job.record.position, words) else [])
            found += [
                Line(
                    f"{said} – {item.text}" if said else item.text,
                    fact_source(fact),
                    (*filter(None, (said,)), *item.quotes),
                )
                for said in texts
            ]
    found += list(_named(person.certifications, "name", words))
    found += list(_named(person.talks, "title", words))
    by_list: dict[tuple[str, int], tuple[Fact, list[str]]] = {}
    for skill, stated in person.skills:
        if uses(skill, words):
            by_list.setdefault((stated[0].document_id, stated[0].start), (stated[0], []))[1].append(skill)
    lists = by_list.values()
    return found + [Line(f"Skills: {', '.join(own)}", fact_source(fact), tuple(own)) for fact, own in lists]


def _named(groups: Iterable[Sequence[Fact]], field: str, words: frozenset[str]) -> Iterator[Line]:
    for group in groups:
        said = getattr(group[0].record, field)
        if uses(said, words):
            yield Line(said, fact_source(group[0]), (said,))


def _nodes_with(words: frozenset[str], search: Search) -> dict[str, BaseNode]:
    """The best node of each document that holds one of these words or phrases, by document id, best first."""
    scores: dict[str, float] = {}
    for form in words:
        terms = tuple(dict.fromkeys(tokenise(form, aliases=False)))
        for node_id, score in search.holding(terms).items() if terms else ():
            scores[node_id] = max(scores.get(node_id, 0.0), score)
    ordered = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))[:_MOST_READ]
    found: dict[str, BaseNode] = {}
    for node in search.fetch(ordered):
        if uses(node.get_content(), words):
            found.setdefault(node.metadata["document_id"], node)
    return found


def _sentences_with(words: frozenset[str], holding: Mapping[str, BaseNode], search: Search) -> Iterator[Line]:
    """A sentence of each of the first documents that names one of these words; those of careers are facts already."""
    chosen = [node for node in holding.values() if node.metadata["category"] not in CAREER_CATEGORIES]
    found = 0
    for source in sources_of_nodes(chosen, search.store.engine, search.request.audience):
        told = (unit for unit in quotable_units([source]) if unit.kind != "code" and not unit.denials)
        parts = [part for unit in told for part in unit.parts]
        said = next((part.text for part in parts if uses(part.text, words) and _is_told(part.text)), "")
        if said and found < _MOST_PASSAGES:
            found += 1
            yield Line(said, source, (said,))


def _is_told(text: str) -> bool:
    """True for a sentence, and for a line without a date: a post's line of its date and tags tells nothing."""
    return text.rstrip(')"”’').endswith((".", "!", "?")) or not holds_kind("when", text, frozenset())


def write(search: Search, composed: OverviewAnswer) -> AnswerEvents:
    """Yield the lines with a footnote for each source, then their Verdicts."""
    numbers: dict[tuple[str, int, int], Source] = {}
    for line in composed.lines:
        numbers.setdefault(_span(line.source), replace(line.source, n=len(numbers) + 1))
    sources = tuple(numbers.values())
    cited = [numbers[_span(line.source)].n for line in composed.lines]
    sentences = [
        verify_computed(line.text, [(n, line.quotes)], (), sources)
        for line, n in zip(composed.lines, cited, strict=True)
    ]
    befores = [line.before if at else line.before.lstrip("\n") for at, line in enumerate(composed.lines)]
    written = [
        (CitedText(each.text, (n,), before), each) for each, n, before in zip(sentences, cited, befores, strict=True)
    ]
    band = computed_confidence(sentences, is_exact=composed.exact)
    return write_sentences(search.intent.question, written, sources, band, OVERVIEW)


def _span(source: Source) -> tuple[str, int, int]:
    return source.document_id, source.start, source.end
