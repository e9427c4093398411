"""Questions that career facts answer by listing: which degrees, employers, titles, skills; or who was somewhere."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from pipelines.query.careers.counts import employers, languages
from pipelines.query.careers.jobs import companies, found_at, own_words
from pipelines.query.careers.lists import at_institutions, certificates, did, held, skills, studies, whose
from pipelines.query.careers.reckoning import Reckoning, entries
from pipelines.query.careers.timeline import Person, meant_by
from pipelines.store.facts import Fact
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold
from pipelines.types import QueryIntent

TOKEN = re.compile(r"[^\W_]+")
# A question that begins so is after a reason, a time or a yes; so is not one that says what is not, or is done.
_NO_LIST = re.compile(
    r"^(?:how|why|when|whose|do|does|did|is|are|was|were|has|have|had|can|could|should|would|will|would|may)\b"
    r"|\b(?:not|no|never|without)\b|n't\b|\bdo (?:in|during)\b"
)
# Somebody must be meant: a question after "the tools" is not about a career.
_SOMEBODY = frozenset("she he her his they their you your i my candidate applicant resume cv linkedin profile".split())
_ASKING = _SOMEBODY | frozenset(
    "s list show name give tell please all every each any various different other there so far ever been over".split()
)
# The nouns that ask for a kind of fact, and what else a question after it may say.
_COMPANIES = frozenset(
    "company companies employer employers organisation organisations organization organizations firm firms".split()
)
_TITLES = frozenset("title titles position positions role roles job jobs".split())
WORKED = frozenset("work works worked working employ employed employs".split())
_HISTORY = re.compile(r"\b(?:(?:work|employment|job|career) history|(?:work |professional )?experience)\b")
_WORKING = (
    _COMPANIES | _TITLES | WORKED | frozenset("hold holds held career history professional experience past".split())
)
_DEGREES = frozenset("degree degrees diploma diplomas qualification qualifications".split())
STUDIED = frozenset("study studied studies graduate graduated degree degrees educated university college".split())
_STUDIES = _DEGREES | frozenset(
    """education educational schooling school schools university universities college colleges institution institutions
    study studied studies graduated majored""".split()
)
_STUDYING = _STUDIES | STUDIED | frozenset(
    """earn earned hold holds held get got complete completed receive received obtain obtained finish finished attend
    attended go went take took major academic formal background subject subjects""".split()
)  # fmt: skip
_LANGUAGES = frozenset({"language", "languages"})
SPEAKING = frozenset("speak speaks spoken fluent fluently foreign".split())
_CODING = frozenset({"programming", "coding"})
_CERTIFICATES = frozenset("certificate certificates certification certifications".split())
_CERTIFIED = _CERTIFICATES | frozenset(
    "hold holds held earn earned get got obtain obtained receive received pass passed professional".split()
)
_SKILLS = frozenset(
    "skill skills skillset competence competences competencies technology technologies tool tools".split()
)
_GROUPED = frozenset("frameworks databases libraries platforms".split())  # what a list of skills may be called
_KNOWN = frozenset(
    "know knows use uses technical professional main key core top possess possesses bring brings".split()
)
_NOUNS = _COMPANIES | _TITLES | _STUDIES | _LANGUAGES | _CERTIFICATES | _SKILLS | _GROUPED
_DOES = WORKED | STUDIED | SPEAKING | frozenset("attended went skilled".split())
_KNOWS = frozenset({"know", "knows"})
WHO = re.compile(r"^(?:who|(?:which|what) (?:people|persons?|candidates?|applicants?|of them))\b")
_WHEN_STUDIED = re.compile(r"^when (?:did|was|were|does|do|is) [^?]{1,60}\b(?:study|studied|graduate|graduated)\b")
_DID = re.compile(r"\bdo (?:at|for|with)\b|\b(?:tasks|duties|responsibilities|achievements|accomplishments)\b")
_DOING = frozenset("do tasks duties responsibilities achievements accomplishments main key".split())
_MOST = 3  # people of whom one question is answered


def asks_for_list(intent: QueryIntent) -> bool:
    """Whether a question could be one after a list of career facts, or after who was at a company or school."""
    text = fold(intent.search_text)
    if intent.wants or intent.years or (_NO_LIST.search(text) and not _WHEN_STUDIED.search(text)):
        return False
    words = set(TOKEN.findall(text))
    placed = bool(words & _DOES) and (not words.isdisjoint({"where", "when"}) or bool(WHO.search(text)))
    return placed or not words.isdisjoint(_NOUNS | _KNOWS) or bool(_HISTORY.search(text) or _DID.search(text))


def asked_about(intent: QueryIntent, known: Sequence[Person]) -> list[Person]:
    """Those whom a question names, else all; none where there are more than a list is made of."""
    meant = meant_by(TOKEN.findall(fold(intent.search_text)), known) or list(known)
    return meant if asks_for_list(intent) and len(meant) <= _MOST else []


def listed(known: Sequence[Person], intent: QueryIntent) -> Reckoning | None:
    """What the facts about those whom a question means list; None unless every word of it is understood.

    Of several people each item says whose it is, and where none of them is named, the answer is not sure.
    """
    text = fold(intent.search_text)
    words = TOKEN.findall(text)
    meant = asked_about(intent, known)
    own = {word for person in meant for word in own_words(person.name)}
    if not meant or WHO.search(text) or (_SOMEBODY | own).isdisjoint(words):
        return None
    spare = STOP_WORDS | _ASKING | own
    found = [(person, own_list) for person in meant if (own_list := _of(person, text, words, spare))]
    if len(meant) == 1:
        return found[0][1] if found else None
    items = [whose(person, item) for person, own_list in found if person.stated for item in own_list.items]
    several = held(items)
    return replace(several, exact=not own.isdisjoint(words)) if several else None


def _of(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    readers = (_studies, _certificates, _known, _work)
    found = next((found for reader in readers if (found := reader(person, text, words, spare))), None)
    return replace(found, listed=True) if found else None


def _studies(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    where = words[0] in {"where", "when"} and not STUDIED.isdisjoint(words)
    there, used = found_at(at_institutions(person), words)
    if _DID.search(text) or (not where and _STUDIES.isdisjoint(words)) or beyond(words, used, spare, _STUDYING):
        return None
    groups = [group for group in there or person.education if words[0] != "when" or _is_dated(group)]
    return held(studies(groups, degrees=not _DEGREES.isdisjoint(words) and not where))


def _is_dated(study: Sequence[Fact]) -> bool:
    return bool(getattr(study[0].record, "date_range", ""))


def _certificates(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    asked = not _CERTIFICATES.isdisjoint(words)
    return held(certificates(person)) if asked and not beyond(words, (), spare, _CERTIFIED) else None


def _known(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    """Languages, or skills: all lists of them, or those that are called what the question asks for."""
    named, used = skills(person, words)
    speaks = not _LANGUAGES.isdisjoint(words) and _CODING.isdisjoint(words)
    if speaks and not SPEAKING.isdisjoint(words):
        return held(languages(person)) if not beyond(words, (), spare, _LANGUAGES | SPEAKING) else None
    asked = _KNOWS | _SKILLS | _LANGUAGES | _GROUPED
    if asked.isdisjoint(words) or beyond(words, used, spare, _KNOWN | _SKILLS | _LANGUAGES | _CODING):
        return None
    if used or speaks:
        return held([*named, *(languages(person) if speaks else ())])
    return held(skills(person, ())[0]) if not _SKILLS.isdisjoint(words) else None


def _work(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    there, used = found_at(companies(person.jobs), words)
    titled = not _TITLES.isdisjoint(words)
    named = words[0] == "where" and not WORKED.isdisjoint(words)
    named = named or not _COMPANIES.isdisjoint(words)
    if there and _DID.search(text) and not beyond(words, used, spare, _WORKING | _DOING):
        return held(did(there))
    if beyond(words, used, spare, _WORKING):
        return None
    if titled or (_HISTORY.search(text) and not named):
        return entries(there or person.jobs, "")
    return held(employers(person)) if named and not there else None


def beyond(words: Sequence[str], used: Collection[int], spare: Collection[str], more: Collection[str]) -> bool:
    """Whether a word of the question is not understood."""
    return any(word not in spare and word not in more for place, word in enumerate(words) if place not in used)
