"""Questions that career facts answer by counting: how many years, how many companies, which job in which year."""

import re
from collections.abc import Collection, Iterable, Sequence

from pipelines.query.careers.counts import COUNTABLE, counted
from pipelines.query.careers.jobs import Job, companies, found_at, own_words
from pipelines.query.careers.listing import asks_for_list, listed
from pipelines.query.careers.order import jobs_beside
from pipelines.query.careers.reckoning import Reckoning, entries, forms_of, held_in, summed
from pipelines.query.careers.timeline import Person, meant_by
from pipelines.query.careers.who import who_was_there
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold
from pipelines.types import QueryIntent

_TOKEN = re.compile(r"\.?\w+(?:[.'-]\w+)*(?:\+\+|#)?")
# Words that say that a career is asked about, and nothing of what in it.
_CAREER = frozenset(
    """work works worked working job jobs position positions role roles employed employment employer experience
    experiences career professional professionally company year years month months week weeks long many much total
    altogether overall combined been being spend spent stay stayed hold holds held serve served time so far relevant
    hands-on practical use uses used using please tell know number count resume cv linkedin profile""".split()
)
_COUNTING = _CAREER | frozenset(
    """different distinct various foreign speak speaks spoken fluent fluently earn earned complete completed get got
    obtain obtained receive received attend attended study studied past previous previously ever""".split()
)
_JOB_WORDS = _CAREER | frozenset("title titles companies employers do doing back".split())
_WORKING = re.compile(r"\b(?:experience|career|employed|work(?:s|ed|ing)?)\b(?! on\b)")
_JOB = re.compile(r"\b(?:jobs?|roles?|positions?|title|company|employers?|employed|work(?:ed|ing)?)\b(?! on\b)")
_SKILL_BEFORE = re.compile(r"\b(?:of|with|in|using|used?|uses)(?: professional| commercial| hands-on)? $")
_CURRENT = frozenset({"current", "currently", "present", "now"})
_COUNTED = re.compile(r"\b(?:how many|(?:number|count) of)(?: (?:different|distinct|various|foreign)){0,3} ([a-z]+)")
_SPEAKING = frozenset("speak speaks spoken fluent fluently".split())
_IN_YEAR = re.compile(r"\b(?:in|during) (?:the year )?\d{4}\b")
# Where somebody works now, and when they began or left somewhere.
_NOW = re.compile(
    r"\b(?:now|current|currently|present|today)\b|\b(?:does|is) [^?]{0,40}\b(?:work|working|employed)\b"
    r"|\b(?:is|are) [^?]{0,40}\b(?:job|role|position|title|employer)\b"
)
_WHEN = r"\b(?:when|(?:what|which) (?:year|month))\b[^?]{0,60}"
_BEGAN = re.compile(rf"{_WHEN}\b(?:start|started|begin|began|join|joined)\b|\bsince when\b")
_ENDED = re.compile(rf"{_WHEN}\b(?:leave|left|quit|stop|stopped|finish)\b|\buntil when\b")
_BOUNDS = frozenset(
    "when since start started begin began join joined leave left quit stop stopped finish until today".split()
)
_MAX_SKILL = 4  # words


def may_reckon(intent: QueryIntent) -> bool:
    """Whether a question could be one that facts answer; it spares the others the reading of them."""
    text = fold(intent.search_text if intent.follow_up else intent.question)
    if intent.wants or (len(intent.years) == 1 and _JOB.search(text)) or asks_for_list(intent):
        return True
    now = _JOB.search(text) and _NOW.search(text)
    return bool(not intent.years and (now or _BEGAN.search(text) or _ENDED.search(text)))


def reckon(intent: QueryIntent, known: Sequence[Person]) -> Reckoning | None:
    """What the facts of these people answer; None unless every word of the question is understood so.

    A question that names nobody is about the only one whose facts answer it.
    """
    text = fold(intent.search_text if intent.follow_up else intent.question)
    words = [word.removesuffix("'s") for word in _TOKEN.findall(text)]
    meant = meant_by(words, known) or known
    found = [reckoned for person in meant if (reckoned := _of(person, intent, text, words))]
    if not found and asks_for_list(intent):
        return who_was_there(known, intent) or listed(known, intent)
    return found[0] if len(found) == 1 else None


def _of(person: Person, intent: QueryIntent, text: str, words: Sequence[str]) -> Reckoning | None:
    spare = STOP_WORDS | set(own_words(person.name))
    if intent.wants:
        if intent.years:
            return None
        reader = _duration if "duration" in intent.wants else _count
        return reader(person, text, words, spare | (_CAREER if reader is _duration else _COUNTING))
    if not intent.years:
        spare |= _JOB_WORDS
        beside = jobs_beside(person, words, spare) if _JOB.search(text) else None
        return beside or _bounds(person, text, words, spare | _BOUNDS | _CURRENT)
    rest = [word for word in words if word not in spare | _JOB_WORDS and word != str(intent.years[0])]
    asked = _JOB.search(text) and _IN_YEAR.search(text) and not rest
    return held_in(person, intent.years[0]) if asked else None


def _bounds(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    """The jobs that somebody has now, or those at a company that they began or left."""
    there, used = found_at(companies(person.jobs), words)
    if any(word not in spare for place, word in enumerate(words) if place not in used):
        return None
    at = f" at {there[0].record.company}" if there else ""
    if there and (_BEGAN.search(text) or _ENDED.search(text)):
        return entries(there, "began" if _BEGAN.search(text) else "until when", at)
    now = _JOB.search(text) and _NOW.search(text) and not there
    return entries([job for job in person.jobs if job.record.current], "now") if now else None


def _count(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    asked = _COUNTED.search(text)
    noun = asked[1] if asked else ""
    understood = noun in COUNTABLE and all(word in spare or word == noun for word in words)
    if not understood or (noun.startswith("language") and _SPEAKING.isdisjoint(words)):
        return None
    return counted(person, noun)


def _duration(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    there, used = found_at(companies(person.jobs), words)
    jobs = there or person.jobs
    rest = [word for place, word in enumerate(words) if word not in spare and place not in used]
    at = f" at {there[0].record.company}" if there else ""
    if not rest and not there and "there" in words:  # where somebody works now
        return summed([job for job in jobs if job.record.current], " in the current job")
    if not rest:
        return summed(jobs, at or " of work experience") if there or _WORKING.search(text) else None
    if _CURRENT.issuperset(rest):
        return summed([job for job in jobs if job.record.current], f" in the current job{at}")
    if titled := _with_title(jobs, rest):
        return summed(titled, f" as {' '.join(rest)}{at}")
    skill = _skill(text, rest, person)
    return summed(jobs, f" in jobs{at} that name {forms_of(skill)[:2][-1]}", skill) if skill else None


def _with_title(jobs: Iterable[Job], words: Sequence[str]) -> list[Job]:
    wanted = set(tokenise(" ".join(words)))
    return [job for job in jobs if wanted and wanted <= set(tokenise(job.record.position))]


def _skill(text: str, words: Sequence[str], person: Person) -> str:
    """The words that stand together where a question says years of what, spelt as the person's skills are; or none."""
    phrase = " ".join(words)
    start = text.find(phrase)
    if start < 0 or len(words) > _MAX_SKILL:
        return ""
    if not _SKILL_BEFORE.search(text[:start]) and not text[start + len(phrase) :].startswith(" experience"):
        return ""
    return next((skill for skill, _ in person.skills if phrase in map(fold, forms_of(skill))), phrase)
