"""Questions that career facts may answer: durations, counts, lists, jobs by year, and who was where."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, dropwhile
from typing import Literal

from pipelines.answers import ConflictKind
from pipelines.query.question.words import Text, read, words
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.types import QueryIntent

CareerKind = Literal[
    "duration", "count", "year", "beside", "former", "bounds", "employed",
    "who", "studies", "certificates", "languages", "skills", "work", "volunteering", "named",
]  # fmt: skip
LISTS: frozenset[CareerKind] = frozenset(
    {"who", "studies", "certificates", "languages", "skills", "work", "volunteering"}
)


@dataclass(frozen=True, slots=True)
class CareerAsk:
    """One way to read a question about a career. It answers the question only if every word of it is understood: as a
    name of the career, or as one of the `known` words.

    `words` are folded, without possessive endings. `marks` are what else the kind depends on (`now`, `degrees`), `noun`
    is counted, `year` asked for, and `place` the index of "before" or "after"; the number of words without one.
    """

    kind: CareerKind
    words: tuple[str, ...]
    known: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    noun: str = ""
    place: int = 0
    year: int = 0

    def left(self, used: Collection[int] = (), spare: Collection[str] = ()) -> list[str]:
        """The words that are not understood, without those at the places `used` and those to `spare`."""
        left = (word for place, word in enumerate(self.words) if place not in used)
        return [word for word in left if word not in self.known and word not in spare]

    def is_about(self, skill: list[str]) -> bool:
        """True if the question speaks of the use of these words: "experience with Go", "Go experience"."""
        size = len(skill)
        starts = [at for at in range(len(self.words)) if list(self.words[at : at + size]) == skill]
        before = ((*self.words[max(at - 2, 0) : at], self.words[at + size : at + size + 1]) for at in starts)
        return any(words("skill-leads").intersection(near[:-1]) or near[-1] == ("experience",) for near in before)


def career_asks(intent: QueryIntent) -> list[CareerAsk]:
    """The ways in which career facts may answer a question, those first that ask for a value; empty for any other."""
    text = read(intent.proper or intent.search_text)
    asks = [*_values(text, intent), *_lists(text, intent)] if text.words else []
    names_post = text.has("posts", "levels", "becoming") or text.all[:1] in (["is"], ["are"], ["was"], ["were"])
    return [*asks, _named(text)] if not intent.years and (asks or names_post) else asks


def _values(text: Text, intent: QueryIntent) -> Iterator[CareerAsk]:
    all_, years = tuple(text.all), intent.years
    if intent.wants:
        if years:
            return
        if "duration" in intent.wants:
            marks = _marks(there="there" in text.set, work=text.says("about-work"))
            yield CareerAsk("duration", all_, STOP_WORDS | words("career"), marks)
        elif counted := text.find("counted"):
            first, _ = counted.groups["noun"]
            known = STOP_WORDS | words("counting") | {all_[first]}
            yield CareerAsk("count", all_, known, _marks(speaking=text.has("speaking")), noun=all_[first])
        return
    about_job = text.says("a-job")
    known = STOP_WORDS | words("job-words")
    if len(years) == 1 and about_job and text.says("in-year"):
        yield CareerAsk("year", all_, known | {str(years[0])}, year=years[0])
    if years:
        return
    relation = next((word for word in all_ if word in ("before", "after")), "")
    if relation and (about_job or text.says("did-beside")):
        place = all_.index(relation)
        clause, marks = all_[place + 1 :], frozenset({relation}) | _marks(nearest=text.has("nearest"))
        tails = [clause]
        if text.says("arriving"):  # "before she came to Acme" is before Acme
            tails.append(tuple(dropwhile(words("arriving").__contains__, clause)))
        for tail in tails:  # after "at", the first words of a company's name will do
            yield CareerAsk("beside", (*all_[:place], "at", *tail), known | words("nearest"), marks, place=place)
    worked = text.find("worked-before")
    if former := worked or text.find("former"):
        several = _marks(several=bool(worked) or all_[former.last - 1].endswith("s"))
        yield CareerAsk("former", all_, known | words("former") | words("worked") | {"before"}, several)
    marks = _marks(began=text.says("began"), ended=text.says("ended"), now=about_job and text.says("is-current"))
    if marks:
        yield CareerAsk("bounds", all_, known | words("bounds") | words("current"), marks)
    if text.says("worked-at") or text.says("is-a-role"):
        plain = tuple(chain.from_iterable(word.parts for word in text.words))
        marks = _marks(now=all_[0] in ("is", "are", "does", "do"), role=not text.says("worked-at"))
        yield CareerAsk("employed", plain, STOP_WORDS | words("employed") | words("listing"), marks)


def _lists(text: Text, intent: QueryIntent) -> Iterator[CareerAsk]:
    plain = tuple(chain.from_iterable(word.parts for word in text.words))
    dated = text.says("when-studied")
    if not plain or intent.years or (not dated and (intent.wants or text.says("no-list"))):
        return
    opens, duties = plain[0], text.says("did-there")
    if text.says("who-of-them"):
        yield CareerAsk("who", tuple(text.all), STOP_WORDS | words("anybody"), _marks(
            now=text.says("works-now"), worked=text.has("worked"), studied=text.has("studied-there"),
            speaking=text.has("speaking"), skilled=text.has("experienced"),
        ))  # fmt: skip
        return
    spare, somebody = STOP_WORDS | words("listing"), _marks(somebody=text.has("somebody"))
    where = dated or (opens == "where" and text.has("studied"))
    if not duties and (where or text.has("studies")):
        marks = somebody | _marks(degrees=text.has("degrees") and not where, when=dated)
        yield CareerAsk("studies", plain, spare | words("studying"), marks)
    if text.has("certificates"):
        yield CareerAsk("certificates", plain, spare | words("certified"), somebody)
    if text.has("volunteering"):
        yield CareerAsk("volunteering", plain, spare | words("volunteering") | words("working"), somebody)
    speaks = text.has("languages") and not text.has("coding")
    if speaks and text.has("speaking"):
        yield CareerAsk("languages", plain, spare | words("languages") | words("speaking"), somebody)
    elif text.has("knows", "skills", "languages", "skill-groups"):
        known = spare | words("knowing") | words("skills") | words("languages") | words("coding")
        yield CareerAsk("skills", plain, known, somebody | _marks(speaks=speaks, skills=text.has("skills")))
    worked = opens == "where" and text.has("worked")
    if duties or worked or text.has("titles", "companies") or text.says("history"):
        marks = somebody | _marks(
            duties=duties, one=text.has("one-title"), titles=text.has("titles"), history=text.says("history"),
            companies=worked or text.has("companies"),
        )  # fmt: skip
        yield CareerAsk("work", plain, spare | words("working"), marks)


def _named(text: Text) -> CareerAsk:
    """A question about a job or a study that it names, by a title, a degree or an employer."""
    opens, all_ = text.all[0], tuple(text.all)
    bound = next((at for at, word in enumerate(all_) if word in ("before", "after")), len(all_))
    marks = _marks(
        before="before" in all_[bound : bound + 1], after="after" in all_[bound : bound + 1], long="long" in text.set,
        true=opens in ("is", "are", "was", "were"), past=opens in ("was", "were"), when=text.has("asks-when"),
        which=opens in words("asks-which") | words("asks-when"), posts=text.has("posts"), first=text.has("earliest"),
        last="last" in text.set, latest=text.has("latest"), began=text.has("beginning"),
        work=text.says("a-job") or text.says("did-beside") or "career" in text.set,
    )  # fmt: skip
    dated = {"thesis"} if text.has("asks-when") or marks & {"long"} or "where" in text.set else set()
    return CareerAsk("named", all_, STOP_WORDS | words("naming") | dated, marks, place=bound)


def _marks(**true: bool) -> frozenset[str]:
    return frozenset(name for name, is_true in true.items() if is_true)


DISPUTED: tuple[ConflictKind, ...] = ("dates", "title", "employer")  # values of which documents may disagree


def asks_for_value(wording: str, kind: ConflictKind) -> bool:
    """True if a question asks for a value of this kind."""
    return read(wording).has(f"disputed-{kind}")


def is_named(wording: str, name: Collection[str]) -> bool:
    """True if a question has every folded word of a name."""
    return {part for word in read(wording).words for part in (word.text, *word.parts)}.issuperset(name)


def is_mostly_said(wording: str, text: str) -> bool:
    """True if a text has more than half of what a question is about; its capitalised words do not count."""
    names = " ".join(word for word in wording.split()[1:] if word[:1].isupper())
    asking = {term for kind in DISPUTED for word in words(f"disputed-{kind}") for term in tokenise(word)}
    asked = {*tokenise(wording)} - asking - {"mani", "exact"}
    unknown = asked - {*tokenise(f"{text} {names}")}
    return len(unknown) * 2 < len(asked) or not unknown


def asks_for_spoken_languages(intent: QueryIntent) -> bool:
    """True if a question asks which languages a person speaks."""
    text = read(intent.search_text)
    return text.has("speaking") and text.has("languages")
