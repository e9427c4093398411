"""Questions for an overview of a person, of projects, of talks, or of the experience with something."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.query.question.words import Text, read, words
from pipelines.store.known_names import name_words
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold
from pipelines.types import QueryIntent

OverviewKind = Literal[
    "self", "place", "contact", "projects", "built", "experience", "talks", "compare", "project",
    "requirement", "licence", "version", "status",
]  # fmt: skip
_DETAILS: tuple[OverviewKind, ...] = ("requirement", "licence", "version", "status")  # of a project
_MAX_TOPIC = 5  # words
_WRITING = ("written", "wrote")


@dataclass(frozen=True, slots=True)
class OverviewQuestion:
    """The subject of an overview: a person, projects, talks, the experience with something, or a detail of one project.

    `topic` are the words, folded, of what it must have to do with, and `names` the projects that the question names, as
    stored. `years` narrow it; with `latest` only the latest is asked for.
    """

    kind: OverviewKind
    topic: str = ""
    names: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    latest: bool = False
    is_yes_no: bool = False


def overview_of(intent: QueryIntent, people: Collection[str], projects: Sequence[str]) -> OverviewQuestion | None:
    """The overview that a question asks for; None for any other question.

    `people` are those whose careers are stored, `projects` those that are stored.
    """
    if intent.greeting or intent.wants or intent.phrases:
        return None
    text = read(intent.wording)
    if not text.words or _is_negated(text):
        return None
    asked = _Asked(text, intent, people, projects)
    readers = (_detail, _project, _compare, _self, _place, _contact, _talks, _projects, _experience)
    return next((found for reader in readers if (found := reader(asked))), None)


def _is_negated(text: Text) -> bool:
    """True if what is not so is asked for, which no overview states: "What does X not do?"."""
    return "not" in text.set or any(word.endswith("n't") for word in text.all)


_OF_KIND: Mapping[str, OverviewKind] = {
    "self": "self", "place": "place", "contact": "contact", "projects": "projects", "built_with": "built",
    "experience_with": "experience", "talks": "talks", "compare": "compare", "project": "project",
}  # fmt: skip

_VOCABULARY: Mapping[OverviewKind, str] = {"talks": "talks-words", "place": "overview-living"}


def overview_of_kind(
    kind: str, intent: QueryIntent, people: Collection[str], projects: Sequence[str], topics: Collection[str]
) -> OverviewQuestion | None:
    """The overview that a question of a kind asks for; None where it names too few projects, or no topic.

    Of talks, and of a place where a yes or no is asked for, every word but the usual ones is the topic. `topics` are
    the folded skills, languages and fields that facts state.
    """
    found = _OF_KIND.get(kind)
    if found is None or _is_negated(read(intent.wording)):
        return None
    if found == "experience" and read(intent.wording).says("employed-by"):  # jobs tell, not what names the firm
        return None
    asked = _Asked(read(intent.wording), intent, people, projects)
    names = asked.projects if found in ("compare", "project") else ()
    if (found == "compare" and len(names) < 2) or (found == "project" and len(names) != 1):
        return None
    if found == "talks" and asked.has("modal"):  # "Would she speak at our conference?"
        return None
    topic, is_yes_no = _ways(asked) if found == "contact" else "", False
    if found in ("built", "experience"):
        left = asked.without("building", "projects", "experience", "using", "talks", "speaking", "ordering", "open")
        rest = _left_of(left, projects)
        topic = _stated(rest, topics) or " ".join(rest[:_MAX_TOPIC])
        if not topic:
            return None
        if found == "built" and asked.has("projects"):
            found = "projects"
    if found == "talks" or (found == "place" and asked.opening in words("auxiliaries")):
        kinds = [word for word in asked.words if word in words("overview-talk-kinds")]  # "Been on any podcasts?"
        topic = " ".join([*kinds[:1], *(word for word in asked.rest if word not in words(_VOCABULARY[found]))])
        is_yes_no = bool(topic) and asked.opening in words("auxiliaries")
    return OverviewQuestion(found, topic, names, intent.years if found == "talks" else (), is_yes_no=is_yes_no)


def _stated(rest: Sequence[str], topics: Collection[str]) -> str:
    """The longest run of these words that is a topic which facts state, the first of several; empty without one."""
    sizes = range(min(_MAX_TOPIC, len(rest)), 0, -1)
    runs = (" ".join(rest[at : at + size]) for size in sizes for at in range(len(rest) - size + 1))
    return next((run for run in runs if run in topics), "")


class _Asked:
    """A question's words, without those that say nothing of what is asked."""

    def __init__(self, text: Text, intent: QueryIntent, people: Collection[str], projects: Sequence[str]) -> None:
        self.text, self.words, self.years = text, _without_length(text), intent.years
        self.held, self.opening, self.whose = text.set, text.all[0], intent.person
        persons = words("overview-persons").union(*(name_words(name) for name in people))
        self.person = self.held & persons
        self.projects = _named(self.words, projects)
        spare = STOP_WORDS | persons | words("overview-fillers") | frozenset(map(str, intent.years))
        self.rest = [word for word in self.words if word not in spare]

    def without(self, *names: str) -> list[str]:
        """The words that are in none of these lists either."""
        known = frozenset[str]().union(*(words(f"overview-{name}") for name in names))
        return [word for word in self.rest if word not in known]

    def has(self, name: str) -> bool:
        """True if a word of this list was said."""
        return not self.held.isdisjoint(words(f"overview-{name}"))

    def opens(self, *names: str) -> bool:
        """True if the first word is in one of these lists."""
        return any(self.opening in words(f"overview-{name}") for name in names)


def asked_words(intent: QueryIntent) -> tuple[str, ...]:
    """The folded words of a question, without its wish for a length."""
    return tuple(_without_length(read(intent.wording)))


def _without_length(text: Text) -> list[str]:
    """The words of a text without its wish for a length: "in a few sentences"."""
    spare = {at for place in text.all_of("length-request") for at in range(place.first, place.last)}
    return [word for at, word in enumerate(text.all) if at not in spare]


def _named(words: Sequence[str], projects: Sequence[str]) -> tuple[str, ...]:
    """The projects whose whole names stand in the question, in its order."""
    text = f" {' '.join(word for raw in words for word in _parts(raw))} "
    places = {name: text.find(f" {' '.join(_parts(fold(name)))} ") for name in projects if _parts(fold(name))}
    return tuple(sorted((name for name, at in places.items() if at >= 0), key=lambda name: places[name]))


def _parts(word: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter in "+#" else " " for letter in word).split()


def _left_of(rest: Sequence[str], names: Sequence[str]) -> list[str]:
    """The words that are no part of these names."""
    own = frozenset(part for name in names for part in _parts(fold(name)))
    return [word for word in rest if not own.issuperset(_parts(word))]


def _detail(asked: _Asked) -> OverviewQuestion | None:
    """What one project states of itself: "Under what licence is saltlick?", "Is saltlick still maintained?"."""
    about = next((kind for kind in _DETAILS if asked.has(kind)), None)
    is_other = asked.opens("other-asking") or (asked.opening == "when" and about != "version")
    if len(asked.projects) != 1 or about is None or asked.years or asked.has("modal") or is_other:
        return None
    left = _left_of(asked.without(about, f"{about}-also", "meaning"), asked.projects)
    if left and about != "requirement":
        return None
    return OverviewQuestion(about, " ".join(left), asked.projects) if len(left) <= 1 else None


def _project(asked: _Asked) -> OverviewQuestion | None:
    """What one project is: "What is saltlick?", "What does the saltlick project do?"."""
    opens = asked.has("defining") and not asked.opens("other-matter")
    if len(asked.projects) != 1 or not opens or asked.has("comparing") or asked.years:
        return None
    left = _left_of(asked.without("meaning", "defining"), asked.projects)
    return OverviewQuestion("project", names=asked.projects) if not left and asked.has("verbs") else None


def _compare(asked: _Asked) -> OverviewQuestion | None:
    """Several projects side by side."""
    left = _left_of(asked.without("comparing", "meaning", "projects"), asked.projects)
    is_asked = len(asked.projects) > 1 and not left and asked.has("comparing")
    return OverviewQuestion("compare", names=asked.projects) if is_asked else None


def _self(asked: _Asked) -> OverviewQuestion | None:
    """A person as a whole: "Tell me about yourself", "Who is Ann?"."""
    opens = asked.opens("lists", "polite") and asked.opening not in ("do", "does", "did", "have", "has")
    is_asked = asked.person and asked.has("self") and not asked.without("self") and opens
    return OverviewQuestion("self") if is_asked else None


def _place(asked: _Asked) -> OverviewQuestion | None:
    """Where a person lives."""
    where = asked.opening == "where" or (asked.opening in ("what", "which", "in") and asked.has("place"))
    is_asked = where and asked.has("live") and asked.person and not asked.without("living")
    return OverviewQuestion("place") if is_asked else None


def _contact(asked: _Asked) -> OverviewQuestion | None:
    """How a person can be reached."""
    is_anybodys = bool(asked.whose) and asked.opens("lists") and "the" in asked.held  # "the phone number"
    if not (asked.person or is_anybodys) or not asked.has("contacts") or asked.without("contact"):
        return None
    return OverviewQuestion("contact", topic=_ways(asked))


def _ways(asked: _Asked) -> str:
    return " ".join(word for word in asked.words if word in words("overview-contacts"))


def _talks(asked: _Asked) -> OverviewQuestion | None:
    """Talks: all, those of a year, or the latest."""
    is_asked = asked.opens("lists") or asked.opening in ("where", "when")
    if not (asked.has("talks") or asked.has("talk-kinds")) or asked.has("modal") or not is_asked:
        return None
    left = asked.without("talks", "speaking", "ordering")
    if len(left) > _MAX_TOPIC or (left and not asked.person):
        return None
    latest = asked.has("latest") and not {"talks", "podcasts", "workshops", "keynotes"} & asked.held
    return OverviewQuestion("talks", " ".join(left), years=asked.years, latest=latest, is_yes_no=asked.opens("yes-no"))


def _projects(asked: _Asked) -> OverviewQuestion | None:
    """Projects, or what was built: all, or those that have to do with something."""
    named = asked.has("projects") or {"open", "source"} <= asked.held or "open-source" in asked.held
    written = asked.text.says("overview-written")
    done = asked.opening == "what" and "done" in asked.held and asked.has("toward") and bool(asked.person)
    built = done or (asked.opening in ("what", "which", "anything", "something") and (asked.has("built") or written))
    if not (named or built) or not asked.opens("lists") or asked.has("modal") or asked.projects:
        return None
    used = ("using",) if named else ()
    spare = _WRITING if written else ()
    left = [word for word in asked.without("projects", "open", "building", "ordering", *used) if word not in spare]
    if left and words("overview-things").issuperset(left):  # "Which open-source tools ...?"
        left, named = [], True
    if len(left) > _MAX_TOPIC or asked.years or (done and not left):
        return None
    return OverviewQuestion("projects" if named else "built", " ".join(left))


def _experience(asked: _Asked) -> OverviewQuestion | None:
    """The experience with something: "What is your experience with X?", "Has Ann used X?", "Do you know X?"."""
    if not asked.person or asked.has("modal") or asked.years or asked.projects:
        return None
    named = asked.has("experience") and asked.has("asked-of")
    used = asked.opening in ("has", "have", "did", "do", "does") and asked.has("using") and asked.has("used")
    left = asked.without("experience", "using")
    if not (named or used) or not 0 < len(left) <= _MAX_TOPIC or asked.opening in ("how", "when", "where", "why"):
        return None
    return OverviewQuestion("experience", " ".join(left), is_yes_no=asked.opening not in ("what", "tell", "describe"))
