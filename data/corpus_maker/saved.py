"""Profiles as LinkedIn's "Save to PDF" sets them now: one hierarchy of type in every language, in two columns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from corpus_maker.dates import Dates, named
from corpus_maker.linkedin import HELDOUT_WORDS, WORDS, Words, duration
from corpus_maker.people import Job, Person, School, invent, words
from corpus_maker.saved_pdf import Column, Print, Row
from corpus_maker.truth import Truth, truth_of

NAME, SECTION, SIDE_SECTION, ORGANISATION, TITLE, BODY = 26.0, 15.75, 13.0, 12.0, 11.5, 10.5
_MONTHS = "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık".split()
_MARKS = ("", "- ", "• ", "")

_TURKISH = Words(
    "İletişim Bilgileri",
    "En Önemli Yetenekler",
    "Diller",
    "Sertifikalar",
    "Özet",
    "Deneyim",
    "Eğitim",
    "Halen",
    ("yıl", "yıl"),
    ("ay", "ay"),
    "Sayfa {n} / {total}",
    "",
    honors="Onur ve Ödüller",
)
_KOREAN = Words(
    "연락처",
    "보유기술",
    "언어",
    "자격증",
    "요약",
    "경력",
    "학력",
    "현재",
    ("년", "년"),
    ("개월", "개월"),
    "{total}페이지 중 {n}페이지",
    "",
    honors="수상 경력",
)
SAVED_WORDS = {
    "en": replace(WORDS["en"], honors="Honors-Awards"),
    "de": replace(WORDS["de"], skills="Top-Kenntnisse", honors="Auszeichnungen/Preise"),
    "fr": replace(WORDS["fr"], honors="Prix et distinctions", footer="Page {n} de {total}"),
    "es": replace(WORDS["es"], honors="Reconocimientos y premios"),
    "pt": replace(WORDS["pt"], present="o momento", honors="Honras e prêmios"),
    "it": replace(WORDS["it"], honors="Riconoscimenti e premi"),
    "tr": _TURKISH,
    "ko": _KOREAN,
}
HELDOUT_SAVED_WORDS = {
    "en": replace(HELDOUT_WORDS["en"], present="Present"),
    "de": replace(SAVED_WORDS["de"], contact="Kontaktdaten", skills="Wichtigste Kenntnisse", summary="Info"),
    "fr": replace(SAVED_WORDS["fr"], contact="Contact", present="aujourd’hui", footer="Page {n} sur {total}"),
    "es": replace(SAVED_WORDS["es"], contact="Datos de contacto", skills="Principales aptitudes", summary="Acerca de"),
    "pt": replace(SAVED_WORDS["pt"], education="Formação académica", skills="Competências principais"),
    "it": replace(SAVED_WORDS["it"], summary="Sommario", skills="Competenze più importanti"),
    "tr": replace(_TURKISH, contact="İletişim", skills="Başlıca Yetenekler", summary="Hakkında", present="Günümüz"),
    "ko": replace(_KOREAN, contact="연락처 정보", skills="주요 보유기술", summary="소개", education="교육"),
}
_PUBLICATIONS = {
    "en": "Publications",
    "de": "Veröffentlichungen",
    "fr": "Publications",
    "es": "Publicaciones",
    "pt": "Publicações",
    "it": "Pubblicazioni",
    "tr": "Yayınlar",
    "ko": "출판물",
}
_LEVELS = ("I", "II", "III")
_ITEM_GAP = 5.0  # points between the items of a list, which step 17.6 where wrapped lines step 12.6
_EACH = {"pt": 5, "tr": 5, "ko": 5}  # of the other languages three: 30 in each half


@dataclass(frozen=True)
class Saved:
    """One export, without its page.

    Attributes:
        name: Of the file, without its suffix.
        overflows: The left column goes on beside the jobs on later pages.
        group: The first of three jobs at one company; None = none.
        mark: Before each line of a description.
        summary: The size of its type; 0 = no summary.
        listed: Languages and certificates are stated.
    """

    name: str
    language: str
    words: Words
    heldout: bool
    overflows: bool
    jobs: int
    group: int | None
    mark: str
    summary: float
    listed: bool
    print: Print

    @property
    def dates(self) -> Dates:
        """How the export writes a range, without its duration."""
        if self.language == "ko":
            return Dates(lambda m: f"{m[0]}년 {m[1]}월", " - ", self.words.present)
        if self.language == "tr":
            return Dates(lambda m: f"{_MONTHS[m[1] - 1]} {m[0]}", " - ", self.words.present)
        return Dates(named(self.language, self.words.of), " - ", self.words.present)


def saved_exports(*, heldout: bool) -> Iterator[Saved]:
    """The 30 exports of one half; the left column of eight of them overflows, or of seven in the held-out half."""
    for number, (language, said) in enumerate((HELDOUT_SAVED_WORDS if heldout else SAVED_WORDS).items()):
        for n in range(_EACH.get(language, 3)):
            kind = number + n + heldout
            overflows = n == 1 - heldout and not (heldout and number == 0)
            yield Saved(
                name=f"saved-{language}{'-overflow' if overflows else ''}-{n}",
                language=language,
                words=replace(said, present="Present") if kind % 3 == 1 else said,
                heldout=heldout,
                overflows=overflows,
                jobs=7 + kind % 3 if overflows else 4 + kind % 5,
                group=kind % 3 if kind % 2 else None,
                mark=_MARKS[kind % 4],
                summary=(0, BODY, ORGANISATION)[kind % 3],
                listed=n != 2 or overflows,
                print=Print(
                    paper="a4" if heldout or n == 2 else "letter",
                    scale=(0.92 if heldout else 0.97) if n == 2 else 1.0,
                    main_first=n == 3,
                    footer=said.footer,
                ),
            )


def person_of(saved: Saved) -> Person:
    """The invented person; with a long left column if it overflows.

    The second position and a study take two lines or more, the third job's description holds a line of dates, the last
    job has no place.
    """
    seed = f"{'heldout' if saved.heldout else 'dev'} {saved.name}"
    person = invent(seed, saved.language, heldout=saved.heldout, jobs=saved.jobs, group=saved.group)
    random, said = Random(seed), words(saved.language, saved.heldout)
    jobs = list(person.jobs)
    jobs[-1] = replace(jobs[-1], location="")
    jobs[1] = replace(jobs[1], position=", ".join([jobs[1].position, *person.flat_skills[:3], *said["areas"][:3]]))
    jobs[2] = replace(jobs[2], bullets=(jobs[2].bullets[0], f"{said['areas'][1]}", "2011 - 2014", *jobs[2].bullets[1:]))
    schools = list(person.schools)
    number = len(saved.name) % 2
    schools[number] = replace(schools[number], area=", ".join([schools[number].area, *said["areas"][:4]]))
    slug = "".join(char for char in person.link.rpartition("/")[2] if char.isascii())
    topics = [f"{area}: {tool} {level}" for area, tool, level in product(said["areas"], said["tools"], _LEVELS)]
    named = tuple(each.name for each in person.certificates)
    more = random.sample(topics, 20 + saved.jobs % 7 * 5) if saved.overflows else []
    return replace(
        person,
        jobs=tuple(jobs),
        schools=tuple(schools),
        headline=" | ".join([person.headline, *person.flat_skills[:4]]) if saved.jobs % 2 else person.headline,
        email=f"{slug}@example.com",
        link=f"www.linkedin.com/in/{slug}-{random.randrange(16**8):08x}",
        certificates=tuple(replace(person.certificates[0], name=name) for name in (*named, *more))
        if saved.listed
        else (),
        languages=person.languages if saved.listed else (),
        awards=tuple(random.sample(topics, 8)) if saved.overflows else (),
        publications=tuple(text for job in jobs[:4] for text in job.bullets[:2]) if saved.overflows else (),
    )


def truth_of_saved(person: Person, saved: Saved) -> Truth:
    """What the export states: three skills, years of study, certificates without issuers."""
    shown = {"education", "skills", "languages", "certifications"}
    theme = f"saved-{saved.language}{'-overflow' if saved.overflows else ''}"
    truth = truth_of(
        person, saved.dates, "linkedin", theme, saved.language, shown, described=saved.mark.strip() != ""
    )  # fmt: skip
    for school in truth["education"]:
        school["start"], school["end"] = school["start"][:4], school["end"][:4]
    truth["skills"] = truth["skills"][:3]
    truth["certifications"] = [{"name": each["name"]} for each in truth["certifications"]]
    return truth


def columns_of(person: Person, saved: Saved) -> tuple[Column, Column]:
    """The left and the right column."""
    return Column(tuple(_left(person, saved))), Column(tuple(_right(person, saved)))


def _left(person: Person, saved: Saved) -> Iterator[Row]:
    said = saved.words
    lists = (
        (said.skills, person.flat_skills[:3]),
        (said.languages, tuple(f"{spoken} ({level})" for spoken, level in person.languages)),
        (said.certifications, tuple(each.name for each in person.certificates)),
        (said.honors, person.awards),
        (_PUBLICATIONS[saved.language], person.publications),
    )
    yield Row(said.contact, SIDE_SECTION)
    if saved.jobs % 2:
        yield Row(f"{person.phone} (Mobile)", BODY, 3)
    yield Row(person.email, BODY, 3)
    yield Row(f"{person.link} {said.links}", BODY, 3)
    for title, items in lists:
        if items:
            yield Row(title, SIDE_SECTION, 18)
            for n, item in enumerate(items):
                yield Row(item, BODY, _ITEM_GAP if n else 3)


def _right(person: Person, saved: Saved) -> Iterator[Row]:
    said = saved.words
    yield Row(person.name, NAME)
    yield Row(person.headline, ORGANISATION, 4)
    yield Row(person.city, ORGANISATION, 2)
    if saved.summary:
        yield Row(said.summary, SECTION, 20)
        yield Row(person.summary, saved.summary, 4)
    yield Row(said.experience, SECTION, 20)
    yield from _jobs(person.jobs, saved)
    yield Row(said.education, SECTION, 20)
    for school in person.schools:
        yield Row(school.institution, ORGANISATION, 8)
        yield Row(_studied(school, saved), BODY, 2)


def _jobs(jobs: tuple[Job, ...], saved: Saved) -> Iterator[Row]:
    for n, job in enumerate(jobs):
        if saved.group is None or not saved.group < n < saved.group + 3:
            yield Row(job.company, ORGANISATION, 10)
        if n == saved.group:
            yield Row(_length(jobs[n : n + 3], saved), BODY, 1)
        yield Row(job.position, TITLE, 6)
        yield Row(_unbroken(f"{saved.dates.range(job.start, job.end)} ({_length((job,), saved)})"), BODY, 1)
        if job.location:
            yield Row(job.location, BODY, 1)
        for number, text in enumerate(job.bullets if n % 4 != 3 or saved.mark else ()):
            yield Row(saved.mark + text + "." * (not saved.mark and len(text) > 25), BODY, 0 if number else 4)


def _length(jobs: tuple[Job, ...], saved: Saved) -> str:
    """How long these jobs took, newest first; Korean has no space before its units."""
    stated = duration(jobs[-1].start, jobs[0].end, saved.words)
    return _unbroken(stated.replace(" 년", "년").replace(" 개월", "개월"))


def _studied(school: School, saved: Saved) -> str:
    start, end = school.start, school.end
    years = f"{start[0]} - {end[0]}" if start and end else ""
    if start and end and end[0] % 2:
        years = saved.dates.range(start, end)
    return f"{school.degree}, {school.area} · ({_unbroken(years) if saved.jobs % 2 else years})"


def _unbroken(text: str) -> str:
    return text.replace(" ", "\u00a0")
