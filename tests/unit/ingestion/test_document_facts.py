"""Persons, summaries and talks: of pages about somebody, of lists of talks, of resumes and profiles."""

import pytest

from pipelines.blocks import markdown_blocks
from pipelines.facts import JobFacts, LanguageFacts, PersonFacts, ProjectFacts, SummaryFacts, TalkFacts, records_of
from pipelines.ingestion.classify import classify
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.parsers.careers.people import could_be_name, pronouns_in, summary_of
from pipelines.ingestion.parsers.careers.talks import talk_facts
from pipelines.ingestion.parsers.resume import ResumeParser
from pipelines.types import NodeMetadata

ABOUT = """# Hello

I'm Ann Lee (she/her), a map maker in Bergen. I draw islands for people who sail.

I have done so since 2012.

## Work

- Kelp
"""


def stated(load_bytes, text: str, name: str, kind: type) -> list:
    document = classify(load_bytes(text.encode(), name))
    facts = [NodeMetadata.model_validate(node.metadata).facts for node in parse(document)]
    found = [record for fact in facts for record in records_of(fact) if isinstance(record, kind)]
    assert all(0 <= record.span[0] < record.span[1] <= len(document.text) for record in found)
    return found


def of_resume(text: str, kind: type) -> list:
    pieces = ResumeParser().pieces(text, markdown_blocks(text))
    return [record for piece in pieces for record in records_of(piece.facts) if isinstance(record, kind)]


# Pages


def test_a_page_about_its_author_names_the_person_and_gives_the_summary(load_bytes) -> None:
    (person,) = stated(load_bytes, ABOUT, "about.md", PersonFacts)
    assert (person.name, person.headline, person.location, person.pronouns) == (
        "Ann Lee", "map maker", "Bergen", "she/her"
    )  # fmt: skip
    (summary,) = stated(load_bytes, ABOUT, "about.md", SummaryFacts)
    assert ABOUT[slice(*summary.span)].endswith("since 2012.")
    assert summary.text.startswith("I'm Ann Lee (she/her), a map maker in Bergen. I draw")


def test_a_page_named_after_a_person_states_them_in_the_third_person(load_bytes) -> None:
    text = "# About Ann Lee\n\nAnn draws maps of small islands for people who sail. She lives in Oslo.\n"
    (person,) = stated(load_bytes, text, "page.md", PersonFacts)
    assert (person.name, person.location) == ("Ann Lee", "Oslo")
    text = "# About Ann Lee\n\nAnn is a map maker who draws small islands. She lives in Oslo with a dog.\n"
    (person,) = stated(load_bytes, text, "page.md", PersonFacts)
    assert (person.name, person.headline, person.location) == ("Ann Lee", "map maker", "Oslo")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("posts/2020-01-02-tides.md", "# Tides\n\nI am Ann Lee, and this post is about the tides of last week.\n"),
        ("about.md", "# About\n\nThe society was founded in 1921 by eleven sailors from three small islands.\n"),
        ("notes.md", "# Tides\n\nThe tides of last week were high, and I am Happy Enough about that as well.\n"),
    ],
)
def test_other_pages_name_nobody(load_bytes, name, text) -> None:
    assert stated(load_bytes, text, name, PersonFacts) == []
    assert stated(load_bytes, text, name, SummaryFacts) == []


JOBS = """# Ann Lee

maps of islands for people who sail

I draw maps of small islands for people who sail.

## Now

- Lecturer in Charts, Bergen College, two days a week, since 2018
- Freelance mapmaker; about six maps a year

## Before

- 2007–2011
  - Hav & Kyst, Bergen. Surveyor under Ola Nes.
- One boat, Kelp

## Talks

- Teacher at Fjordconf, 2015–2016
"""


def test_list_items_of_an_about_page_state_jobs(load_bytes) -> None:
    found = stated(load_bytes, JOBS, "about.md", JobFacts)
    assert [(job.position, job.company, job.location, job.start_month, job.current) for job in found] == [
        ("Lecturer in Charts", "Bergen College", "", "2018", True), ("Surveyor", "Hav & Kyst", "Bergen", "2007", False)
    ]  # fmt: skip
    assert JOBS[slice(*found[1].span)].startswith("- 2007–2011")
    (person,) = stated(load_bytes, JOBS, "about.md", PersonFacts)
    (summary,) = stated(load_bytes, JOBS, "about.md", SummaryFacts)
    assert (person.name, summary.text) == ("Ann Lee", "I draw maps of small islands for people who sail.")
    assert stated(load_bytes, JOBS, "notes.md", JobFacts) != []  # its title is the person's name
    assert stated(load_bytes, JOBS.replace("# Ann Lee", "# Maps"), "notes.md", JobFacts) == []


def test_rows_of_a_table_on_an_about_page_state_jobs(load_bytes) -> None:
    rows = "| 2019–now | Kelp Press, Oslo | Map editor |\n| 2010–2015 | a boat | rest |\n"
    text = f"# About\n\nI draw maps of small islands.\n\n## Before\n\n| when | where | as |\n|---|---|---|\n{rows}"
    (job,) = stated(load_bytes, text, "about.md", JobFacts)
    assert (job.company, job.position, job.location, job.current) == ("Kelp Press", "Map editor", "Oslo", True)
    assert text[slice(*job.span)] == rows.partition("\n")[0]


def test_undated_jobs_count_where_a_list_states_several(load_bytes) -> None:
    text = "# About\n\nI draw maps of small islands.\n\n## Before\n\n- Kelp Press, Oslo: map editor. Good years\n"
    assert stated(load_bytes, text, "about.md", JobFacts) == []
    found = stated(load_bytes, f"{text}- Hav & Kyst: surveyor, eleven islands\n", "about.md", JobFacts)
    assert [(job.position, job.company) for job in found] == [("map editor", "Kelp Press"), ("surveyor", "Hav & Kyst")]


@pytest.mark.parametrize(
    "said", ["I speak Dutch, English (fluent) and a bit of French.", "## Languages\n\nDutch, English (fluent), French"]
)
def test_an_about_page_states_spoken_languages(load_bytes, said) -> None:
    text = f"# Ann Lee\n\nI draw maps of small islands.\n\n{said}\n\n## Before\n\n- I read German papers.\n"
    found = stated(load_bytes, text, "about.md", LanguageFacts)
    assert [(one.language, one.level) for one in found] == [("Dutch", ""), ("English", "fluent"), ("French", "")]


@pytest.mark.parametrize(
    ("words", "is_name"),
    [
        ("Ann Lee", True), ("Ann Lee (安李)", True), ("ANN LEE, PhD", True), ("José de la Cruz", True),
        ("王小明", True), ("Moin / hi 👋", False), ("こんにちは", False), ("Hello", False), ("About me", False),
        ("Work history", False), ("Maps 2020", False), ("Welcome to my page", False),
    ],
)  # fmt: skip
def test_a_greeting_or_a_section_title_is_no_name(words, is_name) -> None:
    assert could_be_name(words) == is_name


def test_a_summary_is_whole_sentences_of_at_most_600_characters() -> None:
    text = "She draws maps of small islands. " * 30
    summary = summary_of(text, 0, len(text))
    assert summary
    assert text[slice(*summary.span)] == summary.text
    assert (len(summary.text) <= 600, summary.text[-9:]) == (True, " islands.")
    assert summary_of("Maps, charts, pilots", 0, 20) is None


def test_pronouns_are_those_that_are_stated_as_such() -> None:
    assert [pronouns_in(text) for text in ("Ann (she/her), Oslo", "He/him | Oslo", "and/or her", "TCP/IP")] == [
        "she/her", "He/him", "", ""
    ]  # fmt: skip


# Talks


@pytest.mark.parametrize(
    ("entry", "title", "place", "when", "month"),
    [
        ("Maps for Boats, PyCon NO, Oslo, 4 May 2018", "Maps for Boats", "PyCon NO, Oslo", "4 May 2018", "2018-05"),
        ("“Maps, and why” — Fjordconf, Bergen (May 2023)", "Maps, and why", "Fjordconf, Bergen", "May 2023", "2023-05"),
        ("2021: Maps at Sea at Fjordconf", "Maps at Sea", "Fjordconf", "2021", "2021"),
        ("PyCon NO 2020 — Maps at Sea", "Maps at Sea", "PyCon NO", "2020", "2020"),
        ("Maps at Sea\nBoat Meetup, Bergen\nMarch 2019", "Maps at Sea", "Boat Meetup, Bergen", "March 2019", "2019-03"),
        ("Maps at Sea", "Maps at Sea", "", "", ""),
    ],
)  # fmt: skip
def test_a_talk_is_read_from_a_list_entry(entry, title, place, when, month) -> None:
    talk = talk_facts(entry, 0, len(entry))
    assert talk
    assert (talk.title, talk.place, talk.date_range, talk.start_month) == (title, place, when, month)


def test_talks_are_read_from_lists_and_tables_below_a_heading_that_names_them(load_bytes) -> None:
    text = (
        "# Talks\n\n| When | Title | Event | City |\n|---|---|---|---|\n| May 2020 | Maps | Fjordconf | Bergen |\n\n"
        "## Others\n\n- Islands, Boat Meetup, 2019\n- I travel by ferry since 2018.\n- Maps, Fjordconf, May 2020\n"
    )
    found = stated(load_bytes, text, "talks.md", TalkFacts)
    assert [(talk.title, talk.place, talk.date_range) for talk in found] == [
        ("Maps", "Fjordconf, Bergen", "May 2020"), ("Islands", "Boat Meetup", "2019")
    ]  # fmt: skip
    assert stated(load_bytes, text.replace("# Talks", "# Boats"), "boats.md", TalkFacts) == []


def test_talks_of_csv_plain_lines_and_podcasts_have_their_kind(load_bytes) -> None:
    rows = "2025-10-02,Maps at sea,Boat Days,Leith,keynote\n2024-01-05,Ice,Fjordconf,Bergen,talk\n"
    table = f"date,title,event,city,type\n{rows}"
    found = stated(load_bytes, table, "talks.csv", TalkFacts)
    assert [(talk.title, talk.place, talk.date_range, talk.kind) for talk in found] == [
        ("Maps at sea", "Boat Days, Leith", "2025-10-02", "keynote"), ("Ice", "Fjordconf, Bergen", "2024-01-05", "")
    ]  # fmt: skip
    lines = (
        'TALKS AND PRESS (newest first)\n\n2024-10-11  "Forty stops", Bus Days, Leith. A pleasure.\n'
        "2023-05-21  panel: Who may edit? Map Camp, Bergen\n\nPress\n\n- The Gull, 3 Nov 2023: page 12\n"
    )
    found = stated(load_bytes, lines, "talks_and_press.txt", TalkFacts)
    assert [(talk.title, talk.place, talk.kind) for talk in found] == [
        ("Forty stops", "Bus Days, Leith", ""), ("Who may edit?", "Map Camp, Bergen", "panel")
    ]  # fmt: skip
    page = (
        "# Speaking\n\n## Past\n\n- 9 Oct 2025, Malmö: Maps at sea\n\n## Podcast\n\n"
        "Salt Radio, episode 8: “From bus to boat” (52 min)\n\nWrite to me.\n\n## Fees\n\n- Maps, May 2020\n"
    )
    found = stated(load_bytes, page, "speaking.md", TalkFacts)
    assert [(talk.title, talk.place, talk.kind) for talk in found] == [
        ("Maps at sea", "Malmö", ""), ("From bus to boat", "Salt Radio, episode 8", "podcast")
    ]  # fmt: skip


def test_headings_of_a_page_of_talks_that_name_event_and_date_are_talks(load_bytes) -> None:
    text = "# Talks\n\n## 2021\n\n### Maps at Sea (Bergen, 2021)\n\nWhy.\n\n### Travel in 2020\n\nBy ferry.\n"
    found = stated(load_bytes, text, "talks.md", TalkFacts)
    assert [(talk.title, talk.place, talk.date_range) for talk in found] == [("Maps at Sea", "Bergen", "2021")]


# Resumes

RESUME = """# Ann Lee (she/her)

Map maker | Hana, Stavanger, Norway | ann@lee.example

{summary}

## Experience

### Cartographer, Kelp AS

Jan 2018 - Present

## Projects

### Tidewatch

Shows the tides of small islands. It is free.

- Written in Rust and PostGIS
- Used by 40 harbours: https://git.example/ann/tidewatch

## Publications and talks

- Lee A. (2019). Islands. Journal of Maps, 3(1), 4-9.
- Maps for Sailors, PyCon NO, Oslo, 2018
"""


def test_a_resume_states_pronouns_home_and_summary() -> None:
    text = RESUME.format(summary="## Profile\n\nI draw maps of islands. I sail to them first.")
    (person,) = of_resume(text, PersonFacts)
    assert (person.name, person.headline, person.location, person.pronouns) == (
        "Ann Lee", "Map maker", "Hana, Stavanger, Norway", "she/her"
    )  # fmt: skip
    (summary,) = of_resume(text, SummaryFacts)
    assert summary.text == "I draw maps of islands. I sail to them first."
    (summary,) = of_resume(RESUME.format(summary="I draw maps of islands that nobody else visits."), SummaryFacts)
    assert summary.text == "I draw maps of islands that nobody else visits."


def test_a_project_of_a_resume_has_its_purpose_languages_and_link() -> None:
    (project,) = of_resume(RESUME.format(summary=""), ProjectFacts)
    assert (project.name, project.purpose) == ("Tidewatch", "Shows the tides of small islands.")
    assert (project.languages, project.link) == (("Rust", "PostgreSQL"), "https://git.example/ann/tidewatch")
    assert project.bullets[0] == "Written in Rust and PostGIS"


def test_only_the_talks_of_a_mixed_list_are_talks() -> None:
    assert [talk.title for talk in of_resume(RESUME.format(summary=""), TalkFacts)] == ["Maps for Sailors"]


def test_projects_in_a_row_are_read_each_with_its_words_in_brackets() -> None:
    text = (
        "# Ann Lee\n\n## Open source\n\nkelp (maps of islands, in Rust), tide (an almanac) and wave (a game).\n\n"
        "## Availability\n\nFrom May on.\n"
    )
    found = of_resume(text, ProjectFacts)
    assert [(each.name, each.purpose, each.languages) for each in found] == [
        ("kelp", "maps of islands, in Rust", ("Rust",)), ("tide", "an almanac", ()), ("wave", "a game", ())
    ]  # fmt: skip
    assert [text[slice(*each.span)] for each in found[1:]] == ["tide (an almanac)", "wave (a game)"]
