"""The project of a README: name, purpose in its own words, languages and topics, each from what the text states."""

import pytest

from pipelines.facts import ProjectDetail, ProjectFacts, RepositoryFacts, records_of
from pipelines.ingestion.classify import classify
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.parsers.document_facts import document_records
from pipelines.ingestion.parsers.project_details import licences_in
from pipelines.ingestion.parsers.projects import project_of
from pipelines.ingestion.parsers.technologies import technologies_in
from pipelines.types import NodeMetadata

BADGES = "[![build](https://ci.example/b.svg)](https://ci.example) ![go](https://img.example/go-1.22.svg)\n\n"


def project(load_bytes, text: str, name: str = "tidewatch/README.md") -> ProjectFacts:
    found = project_of(classify(load_bytes(text.encode(), name)))
    assert found
    return found


@pytest.mark.parametrize(
    ("text", "name", "purpose"),
    [
        ("# kelp\n\n**A map server for islands**\n\n## Install\n\nRun it.", "kelp", "A map server for islands"),
        ("# kelp - a map server for islands\n\nIt is fast.", "kelp", "a map server for islands"),
        (f"# kelp\n\n{BADGES}Islands drift. `kelp` draws them every night.\n", "kelp", "kelp draws them every night."),
        ("kelp\n====\n\n> Did it rain?\n\nCounts the rain of an island.\n", "kelp", "Counts the rain of an island."),
        ("# kelp\n\nPlease see the wiki.\n\n## What is kelp?\n\nkelp is a map server. It is old.\n", "kelp",
         "kelp is a map server."),
        ("#kelp\n\n##About\nkelp (by Ann Lee), a server, is what islands use.\n", "kelp",
         "kelp (by Ann Lee), a server, is what islands use."),
        ("# NAME\n\nMap::Kelp - draws maps of small islands\n", "tidewatch", "draws maps of small islands"),
        ("# kelp\n\n## Install\n\nkelp is installed by hand.\n", "kelp", ""),
    ],
)  # fmt: skip
def test_the_purpose_is_the_sentence_that_says_what_the_project_is(load_bytes, text, name, purpose) -> None:
    found = project(load_bytes, text)
    assert (found.name, found.purpose) == (name, purpose)


def test_the_span_goes_from_the_title_to_the_purpose(load_bytes) -> None:
    text = f"# kelp\n\n{BADGES}**A map server**\n\nMore.\n"
    start, end = project(load_bytes, text).span
    assert text[start:end] == f"# kelp\n\n{BADGES}**A map server**"


def test_languages_are_those_that_are_stated_the_main_one_first(load_bytes) -> None:
    text = (
        "# kelp\n\nA map server on PostGIS, written in Rust. Go there by boat.\n\n## Requirements\n\n- Redis 7\n\n"
        "## Usage\n\nPeople compare it with Django.\n\n```python\nimport kelp\n```\n\n```sh\nnpm install -g it\n```\n"
    )
    assert project(load_bytes, text).languages == ("Rust", "Python", "PostgreSQL", "Redis")
    assert project(load_bytes, "# kelp\n\nA map server.\n\n    cargo install kelp\n").languages == ("Rust",)
    assert project(load_bytes, f"# kelp\n\n{BADGES}A map server.\n").languages == ("Go",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A C++17 library for C and R", ("C++", "C", "R")),
        ("Go to the shop; a go server", ()),
        ("You need Go 1.22", ("Go",)),
        ("React to events; built with React and Node.js", ("React", "Node.js")),
        ("Python-based, HTML/JavaScript", ("Python", "JavaScript")),
    ],
)
def test_common_words_are_technologies_only_where_they_are_names(text, names) -> None:
    assert technologies_in(text) == names


def test_topics_are_the_terms_of_the_introduction_and_the_tags_of_the_front_matter(load_bytes) -> None:
    text = "---\ntags: [islands]\n---\n# kelp\n\nA map server with neural networks.\n\n## Usage\n\nNo video.\n"
    assert project(load_bytes, text).topics == ("islands", "map", "neural network")


def test_the_link_is_the_repository_of_its_name(load_bytes) -> None:
    text = (
        "# kelp\n\nA map server. [Docs](https://docs.example/kelp)\n\n    git clone https://github.com/ann/kelp.git\n"
    )
    assert project(load_bytes, text).link == "https://github.com/ann/kelp"


def test_one_node_of_a_readme_carries_the_project_and_other_documents_have_none(load_bytes) -> None:
    text = "# kelp\n\nA map server.\n\n## Usage\n\n" + "It draws islands. " * 20
    readme = classify(load_bytes(text.encode(), "kelp/README.md"))
    facts = [NodeMetadata.model_validate(node.metadata).facts for node in parse(readme)]
    assert [record.name for fact in facts for record in records_of(fact)] == ["kelp"]
    guide = classify(load_bytes(text.encode(), "kelp/docs/guide.md"))
    assert not any(node.metadata["facts"] for node in parse(guide))


@pytest.mark.parametrize(
    ("name", "project"),
    [("projects/loendur.md", "loendur"), ("site/_projects/loendur.md", "loendur"), ("loendur.md", None)],
)
def test_a_page_in_a_folder_of_projects_describes_one(load_bytes, name, project) -> None:
    document = load_bytes(b"# loendur\n\nloendur counts k-mers of three genomes.\n\n## End\n\nApache-2.0\n", name)
    records = document_records(document)
    assert [record.name for record in records if isinstance(record, ProjectFacts)] == [project][: bool(project)]
    licences = [record.value for record in records if isinstance(record, ProjectDetail) and record.about == "licence"]
    assert licences == ["Apache-2.0"][: bool(project)]


def test_a_repository_keeps_its_facts_on_every_node_and_names_its_project_on_one(load_bytes) -> None:
    text = "# Kelp\n\nA map server.\n\n## Usage\n\n" + "It draws islands. " * 20
    host = RepositoryFacts(name="kelp", language="Rust", topics=("islands",))
    readme = classify(load_bytes(text.encode(), "kelp/README.md"))
    readme = readme.with_(metadata={**readme.metadata, "repository": host.model_dump(mode="json")})
    facts = [NodeMetadata.model_validate(node.metadata).facts for node in parse(readme)]
    assert [fact.model_copy(update={"project": None}) for fact in facts] == [host] * len(facts)
    (found,) = [record for fact in facts for record in records_of(fact)]
    assert (found.name, found.languages, found.topics) == ("kelp", ("Rust",), ("islands", "map"))


@pytest.mark.parametrize(
    ("text", "name", "purpose"),
    [
        ("# Welcome to Kelp 🌊\n\nDraws maps of small islands.\n", "Kelp", "Draws maps of small islands."),
        ("# Run\n\nRun is a clock for rowers. Run it often.\n", "Run", "Run is a clock for rowers."),
        ("# kelp\n\n... and the sea.\n\nIt does not draw.\n\nA map server.\n", "kelp", "A map server."),
        ("# Kelp Map\n\nThe Kelp drawing package shows islands. The only tool is small.\n", "Kelp Map",
         "The Kelp drawing package shows islands."),
    ],
)  # fmt: skip
def test_remarks_negations_and_greetings_are_no_purpose(load_bytes, text, name, purpose) -> None:
    found = project(load_bytes, text)
    assert (found.name, found.purpose) == (name, purpose)


@pytest.mark.parametrize(
    ("text", "name", "purpose"),
    [
        ("# tidewatch 潮\n\nA map server.\n", "tidewatch", "A map server."),
        ("# tidewatch (archived)\n\n**Read-only since 2024.** Sorry.\n\ntidewatch was a wrapper.\n", "tidewatch",
         "tidewatch was a wrapper."),
        ("# kelp\n\n> **Deprecated**: use weed. This is kept for old links.\n\nA queue for boats.\n", "kelp",
         "A queue for boats."),
        ("# kelp\n\n**Status: frozen (2019).** Works with Unity 2018.\n\nA queue system.\n", "kelp", "A queue system."),
        (f"# kelp\n\n{BADGES.strip()} `go install kelp.example@latest`\n\nOne chart in.\n", "kelp", "One chart in."),
        ("# kelp\n\nboard of late boats · [demo](https://a.example) · [why](#why)\n", "kelp", "board of late boats"),
        ("# kelp\n\n**Which tide suits that boat?**\n\nYou type a name.\n", "kelp", "Which tide suits that boat?"),
        ("<h1>🐟 tidewatch</h1>\n<p>What my boat did today</p>\n", "tidewatch", "What my boat did today"),
    ],
)  # fmt: skip
def test_a_notice_a_command_and_the_title_are_no_purpose(load_bytes, text, name, purpose) -> None:
    found = project(load_bytes, text)
    assert (found.name, found.purpose) == (name, purpose)


@pytest.mark.parametrize(
    ("text", "about", "value"),
    [
        ("## License\n\nDual: MIT or Apache-2.0.\n", "licence", ["Dual: MIT or Apache-2.0."]),
        ("## Licence\n\nCharts: CC BY 4.0. Code: MIT.\n", "licence", ["Charts: CC BY 4.0.", "Code: MIT."]),
        ("![licence: EUPL-1.2](https://img.example/l.svg) Fast.\n", "licence", ["EUPL-1.2"]),
        ("## Use\n\nRun it.\n\nMIT © Ann Lee\n", "licence", ["MIT © Ann Lee"]),
        ("Sorts tides. C header included. MIT.\n\n## Use\n\nRun it.\n\n## More\n\nNo.\n", "licence", ["MIT."]),
        ("## Needs\n\n- Apache Kafka\n- MIT Scheme\n\n## Copyright and license\n\nISC.\n", "licence", ["ISC."]),
        ("## Licence and money\n\nAGPL-3.0. If your firm dislikes that, write.\n", "licence", ["AGPL-3.0."]),
        ("## Use\n\nRun it. PostgreSQL is good.\n\nPython and PHP are, too.\n", "licence", []),
        ("## Changes\n\n### 0.8.2 (2025-06-30)\n\n### 0.10.0 (2026-02-11)\n", "version", ["0.10.0 (2026-02-11)"]),
        ("## Use\n\nLast release: v0.6.1 (March 2025).\n", "version", ["Last release: v0.6.1 (March 2025)."]),
        ("![npm](https://img.example/npm/3.2.0.svg)\n\n## History\n\n- 3.0 (2024)\n", "version", ["3.2.0"]),
        ("![coverage](https://img.example/94.1.svg)\n", "version", []),
        ("**Maturity:** beta. Used by ten offices.\n", "status", ["Maturity: beta."]),
        ("> Archived, May 2025.\n\n## Use\n\nIt works.\n", "status", ["Archived, May 2025."]),
        ("## Use\n\nReads a read-only file.\n", "status", []),
        ("Python 3.11 or newer.\n", "requirement", ["Python 3.11 or newer."]),
        ("## Use\n\nRequirements: Python >= 3.9, numpy.\n", "requirement", ["Requirements: Python >= 3.9, numpy."]),
        ("Ruby 1.8 and 1.9 support was dropped.\n", "requirement", []),
    ],
)  # fmt: skip
def test_licence_version_status_and_requirements_are_stated_by_structure(load_bytes, text, about, value) -> None:
    whole = f"# kelp\n\nA map server for islands.\n\n{text}"
    records = document_records(classify(load_bytes(whole.encode(), "kelp/README.md")))
    details = [record for record in records if isinstance(record, ProjectDetail)]
    assert [record.value for record in details if record.about == about] == value
    assert {record.name for record in details} <= {"kelp"}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Apache License 2.0", ("Apache-2.0",)),
        ("GPLv3, CC0 for maps", ("GPL-3.0", "CC0-1.0")),
        ("The BSD 3-Clause license", ("BSD-3-Clause",)),
        ("Ruby and PostgreSQL", ()),
        ("See the file.", ()),
    ],
)
def test_licences_are_known_by_their_identifiers(words: str, found: tuple[str, ...]) -> None:
    assert licences_in(words) == found


def test_details_of_a_readme_are_beside_the_facts_of_its_repository(load_bytes) -> None:
    host = RepositoryFacts(name="kelp", stars=3)
    readme = classify(load_bytes(b"# kelp\n\nA map server.\n\nMIT\n", "kelp/README.md"))
    readme = readme.with_(metadata={**readme.metadata, "repository": host.model_dump(mode="json")})
    (node,) = parse(readme)
    facts = NodeMetadata.model_validate(node.metadata).facts
    assert isinstance(facts, RepositoryFacts)
    assert (facts.stars, [record.type for record in records_of(facts)]) == (3, ["project", "project_detail"])


def test_a_title_above_tildes_is_a_title_where_nothing_closes_a_fence(load_bytes) -> None:
    text = "kelp\n~~~~\n\nCue lights without the mystery.\n\nMIT\n"
    assert project(load_bytes, text, "kelp/README.md").purpose == "Cue lights without the mystery."
    assert (
        project(load_bytes, f"{text}\n~~~~\n\nA queue for boats.\n", "kelp/README.md").purpose == "A queue for boats."
    )


def test_a_plain_first_line_gives_the_tagline_and_an_aside_in_brackets_none(load_bytes) -> None:
    text = (
        "koma - checks a timetable before it is printed\n\n(koma is a spinning top that children wind up with a cord.\n"
        "It falls over. Same here.)\n\nWhy\nSomebody always prints a wrong one. koma reads it first.\n"
    )
    assert project(load_bytes, text, "koma/README.txt").purpose == "checks a timetable before it is printed"
    aside = "# koma\n\n(koma is a spinning top of wood.)\n\nReads timetables and lists what is wrong in them.\n"
    assert project(load_bytes, aside, "koma/README.md").purpose == "Reads timetables and lists what is wrong in them."


def test_a_notice_may_stand_above_the_title_with_the_project_s_own_name(load_bytes) -> None:
    text = "**Archived.** I cannot test this any more.\n\nkoma\n----\nCompares a timetable with the trains that ran.\n"
    found = project(load_bytes, text, "koma/README.md")
    assert (found.name, found.purpose) == ("koma", "Compares a timetable with the trains that ran.")
