"""Questions that career facts answer: durations, counts, lists, jobs by year, and who was where."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date

from pipelines.query.careers.computed_answer import (
    COUNTABLE,
    ComputedAnswer,
    ComputedItem,
    certificate_items,
    count_items,
    duty_items,
    employer_items,
    field_items,
    first_skill_list,
    job_entries,
    job_item,
    jobs_in_year,
    language_items,
    list_answer,
    skill_forms,
    skill_items,
    studies_by_institution,
    study_items,
    total_duration,
    with_person,
)
from pipelines.query.careers.named_items import answer_for_named, may_name_item, stated_jobs
from pipelines.query.careers.people import (
    LEGAL_FORMS,
    Job,
    Person,
    find_organisation,
    group_people,
    jobs_by_company,
    organisation_words,
    people_named,
)
from pipelines.query.careers.sections import read_section_lines
from pipelines.query.search import Search
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold
from pipelines.types import QueryIntent


def compute_answer(search: Search) -> ComputedAnswer | None:
    """The answer to a question computed from career facts; None if they do not answer it.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    intent, filters, audience = search.intent, search.request.filters, search.request.audience
    if not may_be_computable(intent):
        return None
    facts = search.facts(replace(filters, phrase=(*filters.phrase, *intent.phrases)))
    known = group_people(facts, date.today())
    if unread := read_section_lines(search.store, facts, people_asked_about(intent, known), audience):
        known = group_people([*facts, *unread], date.today())
    return answer_from_people(intent, known)


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
_ABOUT_WORK = re.compile(r"\b(?:experience|career|employed|work(?:s|ed|ing)?)\b(?! on\b)")
_JOB = re.compile(r"\b(?:jobs?|roles?|positions?|title|company|employers?|employed|work(?:ed|ing)?)\b(?! on\b)")
_SKILL_BEFORE = re.compile(r"\b(?:of|with|in|using|used?|uses)(?: professional| commercial| hands-on)? $")
_CURRENT = frozenset({"current", "currently", "present", "now"})
_COUNTED = re.compile(r"\b(?:how many|(?:number|count) of)(?: (?:different|distinct|various|foreign)){0,3} ([a-z]+)")
_SPEAKING = frozenset("speak speaks spoken fluent fluently".split())
_IN_YEAR = re.compile(r"\b(?:in|during) (?:the year )?\d{4}\b")
# Where somebody works now, and when they began or left somewhere.
_IS_CURRENT = re.compile(
    r"\b(?:now|current|currently|present|today)\b|\b(?:does|is) [^?]{0,40}\b(?:work|working|employed)\b"
    r"|\b(?:is|are) [^?]{0,40}\b(?:job|role|position|title|employer)\b"
)
_ASKS_WHEN = r"\b(?:when|(?:what|which) (?:year|month))\b[^?]{0,60}"
_BEGAN = re.compile(rf"{_ASKS_WHEN}\b(?:start|started|begin|began|join|joined)\b|\bsince when\b")
_ENDED = re.compile(rf"{_ASKS_WHEN}\b(?:leave|left|quit|stop|stopped|finish)\b|\buntil when\b")
_FORMER = frozenset("previous previously former formerly past prior earlier".split())
_FORMER_JOBS = re.compile(
    rf"\b(?:{'|'.join(sorted(_FORMER))})(?: \w+)? (?:jobs?|roles?|positions?|titles?|employers?|compan(?:y|ies))\b"
)
_DID_BESIDE = re.compile(r"\bdo(?:ing)? (?:\w+ )?(?:before|after)\b")
_BOUND_WORDS = frozenset(
    "when since start started begin began join joined leave left quit stop stopped finish until today".split()
)
_MAX_SKILL = 4  # words


def may_be_computable(intent: QueryIntent) -> bool:
    """True if career facts could answer the question; if not, they need not be read."""
    text = fold(intent.wording)
    if intent.wants or (len(intent.years) == 1 and _JOB.search(text)) or asks_for_list(intent):
        return True
    words = [word.removesuffix("'s") for word in _TOKEN.findall(text)]
    if words and not intent.years and may_name_item(words):
        return True
    now = _JOB.search(text) and _IS_CURRENT.search(text)
    others = (_BEGAN, _ENDED, _FORMER_JOBS, _DID_BESIDE)
    return bool(not intent.years and (now or any(pattern.search(text) for pattern in others)))


def answer_from_people(intent: QueryIntent, known: Sequence[Person]) -> ComputedAnswer | None:
    """The answer computed from the facts of these people; None unless every word of the question is understood.

    A question without a name is about the only person whose facts answer it.
    """
    text = fold(intent.wording)
    words = [word.removesuffix("'s") for word in _TOKEN.findall(text)]
    named = people_named(words, known) or known
    found = [computed for person in named if (computed := _answer_for_person(person, intent, text, words))]
    if not found and asks_for_list(intent):
        found = list(filter(None, [people_matching(known, intent) or list_for_people(known, intent)]))
    if not found and len(named) == 1 and words and not intent.years:
        spare = frozenset(organisation_words(named[0].name))
        found = list(filter(None, [answer_for_named(named[0], words, spare)]))
    return found[0] if len(found) == 1 else None


_ALSO_WORDS = frozenset("as co company corporation incorporated limited spa".split())  # of legal forms


def _answer_for_person(person: Person, intent: QueryIntent, text: str, words: Sequence[str]) -> ComputedAnswer | None:
    spare = STOP_WORDS | set(organisation_words(person.name)) | (LEGAL_FORMS - _ALSO_WORDS)
    if intent.wants:
        if intent.years:
            return None
        reader = _duration_answer if "duration" in intent.wants else _count_answer
        return reader(person, text, words, spare | (_CAREER if reader is _duration_answer else _COUNTING))
    if not intent.years:
        spare |= _JOB_WORDS
        beside = jobs_beside(person, words, spare) if _JOB.search(text) or _DID_BESIDE.search(text) else None
        return (
            beside
            or _former_jobs(person, text, words, spare)
            or _start_or_end(person, text, words, spare | _BOUND_WORDS | _CURRENT)
        )
    rest = [word for word in words if word not in spare | _JOB_WORDS and word != str(intent.years[0])]
    asked = _JOB.search(text) and _IN_YEAR.search(text) and not rest
    return jobs_in_year(person, intent.years[0]) if asked else None


def _former_jobs(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    """The jobs that are over, latest first; of "her previous job" that one."""
    asked = _FORMER_JOBS.search(text)
    if not asked or any(word not in spare and word not in _FORMER for word in words):
        return None
    over = [job for job in person.jobs if not job.record.current]
    return job_entries(over if asked[0].endswith("s") else over[:1], "earlier", mine="before, I was")


def _start_or_end(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    """The current jobs, or those at a company that the person joined or left."""
    there, used = find_organisation(jobs_by_company(person.jobs), words)
    if any(word not in spare for place, word in enumerate(words) if place not in used):
        return None
    at = f" at {there[0].record.company}" if there else ""
    if there and (_BEGAN.search(text) or _ENDED.search(text)):
        began = bool(_BEGAN.search(text))
        return job_entries(there, "began" if began else "until when", at, mine=f"my time{at}")
    now = _JOB.search(text) and _IS_CURRENT.search(text) and not there
    return job_entries([job for job in person.jobs if job.record.current], "now", mine="now I am") if now else None


def _count_answer(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    asked = _COUNTED.search(text)
    noun = asked[1] if asked else ""
    understood = noun in COUNTABLE and all(word in spare or word == noun for word in words)
    if not understood or (noun.startswith("language") and _SPEAKING.isdisjoint(words)):
        return None
    return count_items(person, noun)


def _duration_answer(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    there, used = find_organisation(jobs_by_company(person.jobs), words)
    jobs = there or person.jobs
    rest = [word for place, word in enumerate(words) if word not in spare and place not in used]
    at = f" at {there[0].record.company}" if there else ""
    if not rest and not there and "there" in words:  # where somebody works now
        return total_duration([job for job in jobs if job.record.current], " in the current job")
    if not rest:
        return total_duration(jobs, at or " of work experience") if there or _ABOUT_WORK.search(text) else None
    if _CURRENT.issuperset(rest):
        return total_duration([job for job in jobs if job.record.current], f" in the current job{at}")
    if titled := _with_title(jobs, rest):
        return total_duration(titled, f" as {' '.join(rest)}{at}")
    skill = _skill_asked(text, rest, person)
    return total_duration(jobs, f" in jobs{at} that name {skill_forms(skill)[:2][-1]}", skill) if skill else None


def _with_title(jobs: Iterable[Job], words: Sequence[str]) -> list[Job]:
    wanted = set(tokenise(" ".join(words)))
    return [job for job in jobs if wanted and wanted <= set(tokenise(job.record.position))]


def _skill_asked(text: str, words: Sequence[str], person: Person) -> str:
    """The skill whose years are asked, in the spelling of the person's skills; empty without one."""
    phrase = " ".join(words)
    start = text.find(phrase)
    if start < 0 or len(words) > _MAX_SKILL:
        return ""
    if not _SKILL_BEFORE.search(text[:start]) and not text[start + len(phrase) :].startswith(" experience"):
        return ""
    return next((skill for skill, _ in person.skills if phrase in map(fold, skill_forms(skill))), phrase)


_RELATIONS = frozenset({"before", "after"})
_NEAREST_WORDS = frozenset("directly right immediately just".split())


def jobs_beside(person: Person, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    """The dated jobs before or after those at the company that the question names, the nearest first; with "right
    before" the nearest alone. None unless every word is understood, or the company's jobs have no dates.

    Args:
        person: Whose jobs.
        words: Of the question, folded.
        spare: Words that say nothing of which job.
    """
    relation = next((word for word in words if word in _RELATIONS), "")
    # after "at", the first words of a company's name will do
    there, used = find_organisation(
        jobs_by_company(person.jobs), ["at" if word == relation else word for word in words]
    )
    rest = {word for place, word in enumerate(words) if place not in used} - {relation, *spare}
    if not relation or not there or not rest <= _NEAREST_WORDS or min(used) == 0 or words[min(used) - 1] != relation:
        return None
    spans = [job.stretch for job in there if job.stretch]
    others = [(job, job.stretch) for job in person.jobs if job not in there and job.stretch]
    if not spans:
        return None
    first, last = min(span.first for span in spans), max(span.first for span in spans)
    if relation == "before":
        beside = [job for job, span in others if span.first < first]
    else:
        beside = [job for job, span in reversed(others) if span.first > last]
    when = f"{relation} {there[0].record.company}"
    return job_entries(beside[:1] if rest else beside, when, mine=f"{when} I was")


_PLAIN_WORD = re.compile(r"[^\W_]+")
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
_ONE_TITLE = frozenset({"title", "position", "role"})
_WORKED = frozenset("work works worked working employ employed employs".split())
_HISTORY = re.compile(r"\b(?:(?:work|employment|job|career) history|(?:work |professional )?experience)\b")
_WORKING = (
    _COMPANIES | _TITLES | _WORKED | frozenset("hold holds held career history professional experience past".split())
)
_DEGREES = frozenset("degree degrees diploma diplomas qualification qualifications".split())
_STUDIED = frozenset("study studied studies graduate graduated degree degrees educated university college".split())
_STUDIES = _DEGREES | frozenset(
    """education educational schooling school schools university universities college colleges institution institutions
    study studied studies graduated majored""".split()
)
_STUDYING = _STUDIES | _STUDIED | frozenset(
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
_DOES = _WORKED | _STUDIED | SPEAKING | frozenset("attended went skilled".split())
_KNOWS = frozenset({"know", "knows"})
_ASKS_WHO = re.compile(r"^(?:who|(?:which|what) (?:people|persons?|candidates?|applicants?|of them))\b")
_WHEN_STUDIED = re.compile(r"^when (?:did|was|were|does|do|is) [^?]{1,60}\b(?:study|studied|graduate|graduated)\b")
_ASKS_FOR_DUTIES = re.compile(
    r"\bdo (?:at|for|with)\b|\b(?:tasks|duties|responsibilities|achievements|accomplishments)\b"
)
_DUTY_WORDS = frozenset("do tasks duties responsibilities achievements accomplishments main key".split())
_MOST = 3  # people of whom one question is answered


def asks_for_list(intent: QueryIntent) -> bool:
    """True if the question may ask for a list of career facts, or for who was at a company or school."""
    text = fold(intent.search_text)
    if intent.wants or intent.years or (_NO_LIST.search(text) and not _WHEN_STUDIED.search(text)):
        return False
    words = set(_PLAIN_WORD.findall(text))
    placed = bool(words & _DOES) and (not words.isdisjoint({"where", "when"}) or bool(_ASKS_WHO.search(text)))
    return (
        placed or not words.isdisjoint(_NOUNS | _KNOWS) or bool(_HISTORY.search(text) or _ASKS_FOR_DUTIES.search(text))
    )


def people_asked_about(intent: QueryIntent, known: Sequence[Person]) -> list[Person]:
    """The people whom the question names, else all; empty if there are too many for a list."""
    named = people_named(_PLAIN_WORD.findall(fold(intent.search_text)), known) or list(known)
    return named if asks_for_list(intent) and len(named) <= _MOST else []


def list_for_people(known: Sequence[Person], intent: QueryIntent) -> ComputedAnswer | None:
    """The list of facts about the people the question names; None unless every word is understood.

    With several people each item starts with a name; if the question names none of them, the answer is not exact.
    """
    text = fold(intent.search_text)
    words = _PLAIN_WORD.findall(text)
    named = people_asked_about(intent, known)
    own = {word for person in named for word in organisation_words(person.name)}
    if not named or _ASKS_WHO.search(text) or (_SOMEBODY | own).isdisjoint(words):
        return None
    spare = STOP_WORDS | _ASKING | own
    found = [(person, own_list) for person in named if (own_list := _list_for_person(person, text, words, spare))]
    if len(named) == 1:
        return found[0][1] if found else None
    items = [with_person(person, item) for person, own_list in found if person.stated for item in own_list.items]
    several = list_answer(items)
    return replace(several, exact=not own.isdisjoint(words)) if several else None


def _list_for_person(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    readers = (_study_list, _certificate_list, _skill_or_language_list, _work_list)
    found = next((found for reader in readers if (found := reader(person, text, words, spare))), None)
    return replace(found, listed=True) if found else None


def _study_list(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    where = words[0] in {"where", "when"} and not _STUDIED.isdisjoint(words)
    there, used = find_organisation(studies_by_institution(person), words)
    if (
        _ASKS_FOR_DUTIES.search(text)
        or (not where and _STUDIES.isdisjoint(words))
        or _has_unknown_word(words, used, spare, _STUDYING)
    ):
        return None
    groups = list(there or person.education)
    if words[0] == "when":
        groups = [group for group in groups if getattr(group[0].record, "date_range", "")]
    return list_answer(study_items(groups, degrees=not _DEGREES.isdisjoint(words) and not where))


def _certificate_list(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    asked = not _CERTIFICATES.isdisjoint(words)
    return (
        list_answer(certificate_items(person))
        if asked and not _has_unknown_word(words, (), spare, _CERTIFIED)
        else None
    )


def _skill_or_language_list(
    person: Person, text: str, words: Sequence[str], spare: Collection[str]
) -> ComputedAnswer | None:
    """Languages, or lists of skills: all, or those whose name the question holds."""
    named, used = skill_items(person, words)
    speaks = not _LANGUAGES.isdisjoint(words) and _CODING.isdisjoint(words)
    if speaks and not SPEAKING.isdisjoint(words):
        return (
            list_answer(language_items(person))
            if not _has_unknown_word(words, (), spare, _LANGUAGES | SPEAKING)
            else None
        )
    asked = _KNOWS | _SKILLS | _LANGUAGES | _GROUPED
    if asked.isdisjoint(words) or _has_unknown_word(words, used, spare, _KNOWN | _SKILLS | _LANGUAGES | _CODING):
        return None
    if used or speaks:
        return list_answer([*named, *(language_items(person) if speaks else ())])
    return list_answer(skill_items(person, ())[0]) if not _SKILLS.isdisjoint(words) else None


def _work_list(person: Person, text: str, words: Sequence[str], spare: Collection[str]) -> ComputedAnswer | None:
    there, used = find_organisation(jobs_by_company(person.jobs), words)
    titled = not _TITLES.isdisjoint(words)
    named = words[0] == "where" and not _WORKED.isdisjoint(words)
    named = named or not _COMPANIES.isdisjoint(words)
    if there and _ASKS_FOR_DUTIES.search(text) and not _has_unknown_word(words, used, spare, _WORKING | _DUTY_WORDS):
        return list_answer(duty_items(there))
    if _has_unknown_word(words, used, spare, _WORKING):
        return None
    if there and not _ONE_TITLE.isdisjoint(words):
        return list_answer(stated_jobs(there))
    if titled or (_HISTORY.search(text) and not named):
        return job_entries(there or person.jobs, "")
    return list_answer(employer_items(person)) if named and not there else None


def _has_unknown_word(
    words: Sequence[str], used: Collection[int], spare: Collection[str], more: Collection[str]
) -> bool:
    """True if some word of the question is not understood."""
    return any(word not in spare and word not in more for place, word in enumerate(words) if place not in used)


_SPARE = STOP_WORDS | frozenset(
    "people person persons candidate candidates applicant applicants else been ever now currently".split()
)
_STUDYING_THERE = _STUDIED | {"attended", "went", "go", "gone"}
_KNOWING = frozenset("know knows use uses used skilled skill skills experience experienced".split())
_SIGNED = re.compile(r"\.?\w+(?:[.'-]\w+)*(?:\+\+|#)?")  # C++, C#, .NET
_WORKS_NOW = re.compile(r"\b(?:works|(?:is|are) (?:currently )?(?:working|employed))\b|\b(?:now|currently)\b")


def people_matching(known: Sequence[Person], intent: QueryIntent) -> ComputedAnswer | None:
    """The people who match a "who" question; None unless every word is understood and somebody matches.

    If nobody works at the company now, former employees are listed and the answer is not exact.
    """
    text = fold(intent.search_text)
    if not _ASKS_WHO.search(text):
        return None
    people = [person for person in known if person.stated]
    now = bool(_WORKS_NOW.search(text))
    current = list_answer(
        with_person(person, item) for person in people for item in _matching_items(person, text, now=now)
    )
    if current or not now:
        return current
    past = list_answer(
        with_person(person, item) for person in people for item in _matching_items(person, text, now=False)
    )
    return replace(past, exact=False) if past else None


def _matching_items(person: Person, text: str, *, now: bool) -> list[ComputedItem]:
    if skilled := _matching_skills(person, text):
        return skilled
    words = _PLAIN_WORD.findall(text)
    jobs, used = find_organisation(jobs_by_company(person.jobs), words)
    if jobs and not _WORKED.isdisjoint(words) and not _has_unknown_word(words, used, _SPARE, _WORKED):
        return [job_item(job, job.stated[0]) for job in jobs if job.record.current or not now]
    groups, used = find_organisation(studies_by_institution(person), words)
    if groups and not _STUDYING_THERE.isdisjoint(words) and not _has_unknown_word(words, used, _SPARE, _STUDYING_THERE):
        return study_items(groups)
    spoken = [(getattr(group[0].record, "language", ""), group) for group in person.languages]
    language, used = find_organisation(spoken, words)
    if language and not SPEAKING.isdisjoint(words) and not _has_unknown_word(words, used, _SPARE, SPEAKING):
        return field_items([language], "language", "level")
    return []


def _matching_skills(person: Person, text: str) -> list[ComputedItem]:
    """The first list of skills that holds the skill in the question as a whole word (`C#` is not `C`)."""
    words = _SIGNED.findall(text)
    wanted = " ".join(word for word in words if word not in _SPARE | _KNOWING)
    if not wanted or _KNOWING.isdisjoint(words):
        return []
    stating = (stated for skill, stated in person.skills if wanted in map(fold, skill_forms(skill)))
    return first_skill_list(next(stating, ()))
