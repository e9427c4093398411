"""Load career data: JSON Resume, rendercv's YAML and LinkedIn's data archive, each written out as a resume in words."""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml

from config.settings import Limits
from pipelines.blocks import markdown_blocks
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import ZIP_ERRORS, Content, damaged_file, parse_datetime
from pipelines.ingestion.loaders.text import decode
from pipelines.text import canonical
from pipelines.types import SourceItem

_MOST_BYTES = 2_000_000  # of a file that is looked into
_RESUME_KEYS = frozenset("work education skills projects languages volunteer certificates".split())
_ARCHIVE_FILES = frozenset(("Profile.csv", "Positions.csv"))
_MONTHS = "January February March April May June July August September October November December".split()
_PLACES = ("city", "region", "countryCode")
_LISTS = (("Certifications", "certificates", "issuer"), ("Awards", "awards", "awarder"),
          ("Publications", "publications", "publisher"))  # fmt: skip
# rendercv's entries by their keys, and the section of JSON Resume that has such.
_ENTRIES = (
    ("title", "publications"),
    ("company", "work"),
    ("institution", "education"),
    ("label", "skills"),
    ("name", "projects"),
)

Entry = Mapping[str, Any]


def is_json_resume(data: bytes) -> bool:
    """True for a JSON object with `basics` and a section of JSON Resume."""
    held = _parsed(data, json.loads)
    return isinstance(held.get("basics"), dict) and bool(_RESUME_KEYS & held.keys())


def is_rendercv(data: bytes) -> bool:
    """True for YAML whose `cv` has sections."""
    cv = _parsed(data, yaml.safe_load).get("cv") if b"cv:" in data else None
    return isinstance(cv, dict) and isinstance(cv.get("sections"), dict)


def is_linkedin_archive(members: Iterable[str]) -> bool:
    """True if a ZIP has the files that LinkedIn puts into a data archive."""
    return len({PurePosixPath(member).name for member in members} & _ARCHIVE_FILES) == len(_ARCHIVE_FILES)


def _parsed(data: bytes, read: Any) -> dict[str, Any]:
    try:
        held = read(data) if len(data) <= _MOST_BYTES else {}
    except (ValueError, yaml.YAMLError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}


def load_json_resume(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """A JSON Resume (jsonresume.org) as a resume."""
    return _content(json.loads(decode(data, item.name)[0]))


def load_rendercv(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The YAML of rendercv as a resume; sections keep their names' order by kind."""
    cv = yaml.safe_load(decode(data, item.name)[0])["cv"]
    basics = {**cv, "url": cv.get("website"), "location": {"city": cv.get("location")}, "label": cv.get("headline")}
    resume: dict[str, Any] = {"basics": basics}
    for name, entries in cv["sections"].items():
        for entry in entries if isinstance(entries, list) else [entries]:
            if not isinstance(entry, dict):
                basics["summary"] = "\n\n".join(filter(None, (basics.get("summary"), _text(entry))))
                continue
            kind = next((kind for key, kind in _ENTRIES if key in entry), "projects")
            if kind == "skills" and "language" in str(name).lower():
                kind = "languages"
            resume.setdefault(kind, []).append(_of_rendercv(entry))
    return _content(resume)


def _of_rendercv(entry: Entry) -> dict[str, Any]:
    keywords = [part.strip() for part in str(entry.get("details") or "").split(",") if part.strip()]
    return {
        **entry,
        "name": entry.get("company") or entry.get("name") or entry.get("title") or entry.get("label"),
        "publisher": entry.get("journal"),
        "language": entry.get("label"),
        "fluency": entry.get("details"),
        "studyType": entry.get("degree"),
        "startDate": entry.get("start_date"),
        "endDate": entry.get("end_date") or entry.get("date"),
        "keywords": keywords,
        "summary": entry.get("summary"),
    }


def load_linkedin_archive(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The profile, positions, education, skills, languages, projects and certificates of LinkedIn's data archive."""
    tables = _tables(data, item.name, limits)
    profile = next(iter(tables.get("Profile", ())), {})
    name = " ".join(filter(None, (profile.get("First Name"), profile.get("Last Name"))))
    address = next((row["Email Address"] for row in tables.get("Email Addresses", ()) if row.get("Email Address")), "")
    basics = {
        "name": name, "label": profile.get("Headline"), "summary": profile.get("Summary"), "email": address,
        "location": {"city": profile.get("Geo Location")},
    }  # fmt: skip
    return _content({
        "basics": basics,
        "work": [_of_archive(row, name="Company Name", position="Title") for row in tables.get("Positions", ())],
        "education": [_of_archive(row, institution="School Name", studyType="Degree Name")
                      for row in tables.get("Education", ())],
        "skills": [{"keywords": [row["Name"] for row in tables.get("Skills", ()) if row.get("Name")]}],
        "languages": [_of_archive(row, language="Name", fluency="Proficiency") for row in tables.get("Languages", ())],
        "projects": [_of_archive(row, name="Title") for row in tables.get("Projects", ())],
        "certificates": [_of_archive(row, name="Name", issuer="Authority") for row in tables.get("Certifications", ())],
    })  # fmt: skip


def _tables(data: bytes, name: str, limits: Limits) -> dict[str, list[dict[str, str]]]:
    """The rows of each CSV file of an archive, by its name without the suffix."""
    tables: dict[str, list[dict[str, str]]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [each for each in archive.infolist() if each.filename.endswith(".csv")]
            if sum(each.file_size for each in members) > limits.max_binary_bytes:
                raise LoadError(f"{name} unpacks to too much.", hint="Unpack it, and ingest the files that you need.")
            for member in members:
                text = archive.read(member).decode("utf-8-sig", "replace")
                tables[PurePosixPath(member.filename).stem] = list(csv.DictReader(io.StringIO(text)))
    except (*ZIP_ERRORS, csv.Error) as error:
        raise damaged_file(name) from error
    return tables


def _of_archive(row: Entry, **names: str) -> dict[str, Any]:
    common = {
        "startDate": row.get("Started On") or row.get("Start Date"),
        "endDate": row.get("Finished On") or row.get("End Date"),
        "summary": row.get("Description") or row.get("Notes"),
        "location": row.get("Location"),
        "url": row.get("Url"),
    }
    return {**common, **{key: row.get(column) for key, column in names.items()}}


# A resume in words


def _content(resume: Entry) -> Content:
    """The Markdown of a JSON Resume, of which the resume parser reads the facts."""
    basics = _entry(resume.get("basics"))
    place = basics.get("location")
    where = ", ".join(filter(None, map(_text, map(_entry(place).get, _PLACES)))) if isinstance(place, dict) else ""
    links = [_text(basics.get("url")), *(_text(_entry(each).get("url")) for each in _entries(basics, "profiles"))]
    contact = " | ".join(filter(None, (_text(basics.get("email")), _text(basics.get("phone")), *links, where)))
    lines = [f"# {_text(basics.get('name'))}", _text(basics.get("label")), contact]
    if summary := _text(basics.get("summary")):
        lines += ["## Summary", summary]
    lines += _section("Experience", (_job(each) for each in _entries(resume, "work")))
    lines += _section("Education", (_study(each) for each in _entries(resume, "education")))
    lines += _section("Projects", (_project(each) for each in _entries(resume, "projects")))
    lines += _section("Volunteering", (_job({**each, "name": each.get("organization")})
                                       for each in _entries(resume, "volunteer")))  # fmt: skip
    lines += _section("Skills", ["\n".join(filter(None, map(_skill, _entries(resume, "skills"))))])
    for title, name, by in _LISTS:
        listed = (_item(each, "title" if name == "awards" else "name", by) for each in _entries(resume, name))
        lines += _section(title, ["\n".join(listed)])
    spoken = (_with(each.get("language"), each.get("fluency")) for each in _entries(resume, "languages"))
    lines += _section("Languages", [", ".join(filter(None, spoken))])
    text = canonical("\n\n".join(filter(None, lines)) + "\n")
    modified = parse_datetime(_text(_entry(resume.get("meta")).get("lastModified")))
    return Content(
        text=text, blocks=markdown_blocks(text), title=_text(basics.get("name")), author=_text(basics.get("name")),
        modified_at=modified,
    )  # fmt: skip


def _section(title: str, entries: Iterable[str]) -> Sequence[str]:
    told = list(filter(None, entries))
    return [f"## {title}", *told] if told else ()


def _job(job: Entry) -> str:
    head = ", ".join(filter(None, (_text(job.get("position")), _text(job.get("name")))))
    where = _text(job.get("location")) if isinstance(job.get("location"), str) else ""
    when = " | ".join(filter(None, (_dates(job), where)))
    return "\n\n".join(filter(None, (f"### {head}", when and f"*{when}*", _text(job.get("summary")), _bullets(job))))


def _study(study: Entry) -> str:
    subject = " ".join(filter(None, (_text(study.get("studyType")), _text(study.get("area")))))
    line = ", ".join(filter(None, (subject, _text(study.get("institution")), _dates(study))))
    return "\n\n".join(filter(None, (line, _text(study.get("summary")), _bullets(study))))


def _project(project: Entry) -> str:
    told = _text(project.get("description")) or _text(project.get("summary"))
    parts = (f"### {_text(project.get('name'))}", _dates(project), told, _bullets(project), _text(project.get("url")))
    return "\n\n".join(filter(None, parts))


def _skill(skill: Entry) -> str:
    listed = skill.get("keywords")
    words = ", ".join(filter(None, map(_text, listed if isinstance(listed, list) else [listed])))
    return ": ".join(filter(None, (_text(skill.get("name")), words)))


def _item(entry: Entry, *names: str) -> str:
    told = (*(_text(entry.get(name)) for name in names), _month(entry.get("date") or entry.get("startDate")))
    return f"- {', '.join(filter(None, told))}"


def _bullets(entry: Entry) -> str:
    listed = entry.get("highlights")
    return "\n".join(f"- {_text(each)}" for each in listed if _text(each)) if isinstance(listed, list) else ""


def _dates(entry: Entry) -> str:
    start, end = _month(entry.get("startDate")), _month(entry.get("endDate"))
    return f"{start} - {end or 'Present'}" if start else end


def _month(value: Any) -> str:
    """A date as people write it in a resume: `2019-03-01` is March 2019; other words stay."""
    text = _text(value)
    year, _, rest = text.partition("-")
    month = rest.partition("-")[0]
    if len(year) == 4 and year.isdecimal() and month.isdecimal() and 1 <= int(month) <= 12:
        return f"{_MONTHS[int(month) - 1]} {year}"
    return text.title() if text.lower() == "present" else text


def _with(word: Any, aside: Any) -> str:
    return f"{_text(word)} ({_text(aside)})" if _text(aside) and _text(word) else _text(word)


def _entries(of: Entry, name: str) -> list[Entry]:
    held = of.get(name)
    return [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []


def _entry(value: Any) -> Entry:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else " ".join(str(value).split())
