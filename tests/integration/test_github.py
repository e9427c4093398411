from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from app.answer_markdown import pack_markdown
from app.cli.rows import result_source
from app.wording import link, place
from config.settings import GitHubSettings, IngestionSettings, Settings
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.run import build_ingestion
from pipelines.ingestion.sources.base import Reporter
from pipelines.query.engine import build_query_engine
from pipelines.query.pack import pack_answer
from pipelines.query.search import Request
from pipelines.store.database import open_database
from pipelines.store.query_log import jsonable
from pipelines.store.status import coverage
from pipelines.types import Filters, IngestReport
from tests.fake_github import FakeGitHub, Fault, Repository

README = b"# Footnotes\n\nEvery sentence of an answer points at a passage.\n"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub(owners={"Ann": [Repository("footnotes", "Checked footnotes", {"README.md": README})]}) as server:
        yield server


@pytest.fixture
def settings(make_settings: Callable[..., Settings], github: FakeGitHub) -> Settings:
    return make_settings(github=GitHubSettings(api_base=github.url))


def run(settings: Settings, location: str = "github:ann", **options: Any) -> IngestReport:
    ingestion = build_ingestion(settings)
    return ingestion.run(ingestion.plan([location], **options))


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def nodes(settings: Settings) -> list[Any]:
    store = build_ingestion(settings).store
    return list(store.fetch(store.matching_ids(Filters(), "owner"), filters=Filters(), audience="owner").values())


def stored(settings: Settings) -> set[str]:
    return {document["document"] for document in coverage(open_database(settings))["documents"]}


def many(count: int) -> list[Repository]:
    return [
        Repository(f"work-{number:03}", f"Work number {number}", {"README.md": b"# Work %d\n\nWords of it." % number})
        for number in range(count)
    ]


def test_an_owner_of_two_pages_comes_in_over_a_rate_limit_and_costs_nothing_the_second_time(
    github: FakeGitHub, settings: Settings
) -> None:
    github.owners, github.limit = {"Ann": many(130)}, 70
    said: list[str] = []
    far: list[str] = []
    first = run(settings, reporter=Reporter(said.append, far.append))
    assert (first.count("added"), len(first.items)) == (130, 130)
    assert [line for line in said if "asks to wait" in line] == ["GitHub asks to wait 0 s (its rate limit) ..."]
    assert far[0] == "github:Ann: 100 repositories listed"
    assert far[-1] == "GitHub: document 130, Ann/work-129"
    assert github.statuses() == {200: 133, 304: 1, 403: 1}

    second = run(settings)
    assert (second.count("unchanged"), second.embedded) == (130, 0)
    assert github.statuses() == {304: 4}


def test_stars_alone_touch_metadata_only_and_ask_for_no_readme(github: FakeGitHub, settings: Settings) -> None:
    run(settings)
    (before,) = nodes(settings)
    github.asked()
    github.owners["Ann"][0].stars = 120
    report = run(settings)
    assert (outcomes(report), report.embedded) == ({"Ann/footnotes": "metadata"}, 0)
    assert github.asked() == ["/users/ann", "/users/Ann/repos"]
    (after,) = nodes(settings)
    assert after.node_id == before.node_id
    assert (before.metadata["facts"]["stars"], after.metadata["facts"]["stars"]) == (0, 120)
    assert "120" not in after.metadata["header"]


def test_a_push_that_leaves_the_readme_costs_one_conditional_request(github: FakeGitHub, settings: Settings) -> None:
    run(settings)
    github.statuses()
    github.owners["Ann"][0].push("main.py", b"print()", "2026-02-01T00:00:00Z")
    assert outcomes(run(settings)) == {"Ann/footnotes": "metadata"}
    assert github.statuses() == {304: 2, 200: 1}  # the owner and the README; the page of repositories


def test_a_changed_description_or_readme_is_embedded_again(github: FakeGitHub, settings: Settings) -> None:
    run(settings)
    repository = github.owners["Ann"][0]
    repository.description, repository.topics, repository.language = "Footnotes, checked.", ("citations",), "Python"
    assert outcomes(run(settings)) == {"Ann/footnotes": "updated"}
    (node,) = nodes(settings)
    assert node.metadata["header"].endswith("footnotes: Footnotes, checked. Python; citations")
    repository.push("README.md", b"# Footnotes\n\nNow for Markdown.\n", "2026-02-01T00:00:00Z")
    assert outcomes(run(settings)) == {"Ann/footnotes": "updated"}
    assert "Now for Markdown" in nodes(settings)[0].text


def test_a_repository_that_is_gone_is_removed_after_a_complete_listing_and_not_after_a_failed_one(
    github: FakeGitHub, settings: Settings
) -> None:
    github.owners = {"Ann": many(6)}
    run(settings)
    github.owners["Ann"].pop()
    github.faults.append(Fault(422))
    report = run(settings)
    assert (report.count("removed"), report.count("failed")) == (0, 1)
    assert outcomes(run(settings))["Ann/work-005"] == "removed"
    assert stored(settings) == {f"Ann/work-{number:03}" for number in range(5)}


def test_a_file_that_left_docs_is_removed_after_a_complete_listing_and_not_after_a_cut_one(
    github: FakeGitHub, make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    declared = tmp_path / "sources.toml"
    declared.write_text('[[source]]\nlocation = "github:ann"\ndocs = true\n')
    settings = make_settings(
        github=GitHubSettings(api_base=github.url),
        ingestion=IngestionSettings(executor="here", sources_file=str(declared)),
    )
    (repository,) = github.owners["Ann"]
    repository.files |= {f"docs/{number}.md": b"# Guide %d\n\nWords." % number for number in range(6)}
    run(settings)
    repository.push("docs/5.md", None, "2026-02-01T00:00:00Z")
    github.truncated = {"footnotes", "footnotes/docs"}
    report = run(settings)
    assert (report.count("removed"), report.count("failed")) == (0, 1)
    github.truncated.clear()
    repository.push("main.py", b"", "2026-02-02T00:00:00Z")
    assert outcomes(run(settings))["Ann/footnotes/docs/5.md"] == "removed"
    assert stored(settings) == {"Ann/footnotes", *(f"Ann/footnotes/docs/{number}.md" for number in range(5))}


def test_what_a_rate_limit_leaves_is_named_and_comes_in_with_the_next_run(
    github: FakeGitHub, settings: Settings
) -> None:
    github.owners, github.limit, github.limited = {"Ann": many(5)}, 4, Fault.primary(reset=4e9)
    first = run(settings)
    assert (first.count("added"), first.count("failed")) == (2, 3)
    left = [item for item in first.items if item.outcome == "failed"]
    assert {item.stage for item in left} == {"read"}
    assert all("that is left for the next run" in item.message for item in left)
    github.asked()
    second = run(settings, only_failed=True)
    assert (second.count("added"), len(second.items)) == (3, 3)
    assert [path for path in github.asked() if "readme" in path] == [
        f"/repos/Ann/work-{number:03}/readme" for number in (2, 3, 4)
    ]


def test_what_was_fetched_is_made_again_with_no_network(github: FakeGitHub, settings: Settings) -> None:
    run(settings)
    github.asked()
    ingestion = build_ingestion(settings)
    report = ingestion.run(plan_reindex(ingestion))
    assert outcomes(report) == {"Ann/footnotes": "unchanged"}
    assert github.asked() == []


def test_a_private_repository_is_for_its_owner_only(github: FakeGitHub, make_settings: Callable[..., Settings]) -> None:
    github.tokens, github.owners["Ann"][0].private = {"t": "Ann"}, True
    settings = make_settings(github=GitHubSettings(api_base=github.url), github_token=SecretStr("t"))
    run(settings)
    store = build_ingestion(settings).store
    assert len(store.matching_ids(Filters(), "owner")) == 1
    assert list(store.matching_ids(Filters(), "visitor")) == []


def test_without_the_token_private_repositories_stay_until_a_person_removes_them(
    github: FakeGitHub, make_settings: Callable[..., Settings]
) -> None:
    github.tokens, github.owners["Ann"] = {"t": "Ann"}, [*many(6), Repository("shut", "Hers", private=True)]
    known = make_settings(github=GitHubSettings(api_base=github.url), github_token=SecretStr("t"))
    run(known)
    settings = known.model_copy(update={"github_token": None})
    report = run(settings)
    assert (report.count("failed"), report.count("removed")) == (1, 0)
    ingestion = build_ingestion(settings)
    (shut,) = [document.id for document in ingestion.known() if document.name == "Ann/shut"]
    assert ingestion.remove([shut]).count("removed") == 1
    for _ in range(2):
        report = run(settings)
        assert (report.count("failed"), report.count("unchanged")) == (0, 6)


@pytest.mark.parametrize("first", ["one", "one two"])
def test_what_one_token_listed_stays_while_another_one_comes_and_goes(
    github: FakeGitHub, make_settings: Callable[..., Settings], first: str
) -> None:
    github.tokens = {"a": "Ann", "b": "Ann"}
    settings = make_settings(github=GitHubSettings(api_base=github.url))
    for token, shown in (("a", first), ("b", "two"), ("b", "two"), ("a", "one"), ("b", "two")):
        private = [Repository(name, f"Of {name}", private=True) for name in shown.split()]
        github.owners["Ann"] = [*many(6), *private]
        report = run(settings.model_copy(update={"github_token": SecretStr(token)}))
        assert report.count("removed") == 0
    assert {"Ann/one", "Ann/two"} <= stored(settings)


def test_a_repository_is_known_by_its_name(github: FakeGitHub, settings: Settings) -> None:
    run(settings)
    names = dict(build_ingestion(settings).store.stated_names("owner"))
    assert "footnotes" in names


def test_lines_of_a_file_are_its_own_and_are_linked_and_those_of_a_text_made_of_it_are_neither(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    page = b"<html><body><h1>Charts</h1><p>Every chart of the harbour is drawn by hand.</p></body></html>"
    held = [
        Repository("footnotes", "Checked footnotes", {
            "README.md": b"---\ntitle: F\n---\n" + README,
            "docs/a guide.md": b"# Guide\n\nA lantern hangs over the gate.\n",
        }),
        Repository("charts", "Charts", {"README.html": page}),
        Repository("tides.md", "Tides of the northern harbour, hour by hour."),
    ]  # fmt: skip
    with FakeGitHub(prefix="/api/v3", owners={"Ann": held}) as github:
        declared = tmp_path / "sources.toml"
        declared.write_text('[[source]]\nlocation = "github:ann"\ndocs = true\n')
        ingestion = IngestionSettings(executor="here", sources_file=str(declared))
        settings = make_settings(github=GitHubSettings(api_base=github.url), ingestion=ingestion)
        run(settings)
        site = f"{urlsplit(github.url).scheme}://{urlsplit(github.url).netloc}/Ann"
    engine = build_query_engine(settings)

    def found(question: str) -> tuple[str, str]:
        result = jsonable(engine.search(question).results[0])
        passage = result_source(result)
        answer = engine.ask(question)
        (shown,) = [source for source in answer.sources or answer.nearest if source.uri == passage.uri]
        assert (place(shown), link(shown)) == (place(passage), link(passage))
        packed = pack_markdown(pack_answer(engine, Request(question, Filters(), "owner", "hybrid", 5), answer))
        lines = place(shown).partition(" · ")[0]
        assert any(f"{lines}{end}" in packed for end in (" · ", ")"))
        return place(shown).partition(" · ")[0], link(shown).removeprefix(site)

    assert found("What does every sentence of an answer point at?") == (
        "lines 4–6", "/footnotes/blob/HEAD/README.md?plain=1#L4-L6"
    )  # fmt: skip
    assert found("What hangs over the gate?") == ("lines 1–3", "/footnotes/blob/HEAD/docs/a%20guide.md?plain=1#L1-L3")
    assert found("Is every chart of the harbour drawn by hand?") == ("lines 1–3 of the text", "/charts#readme")
    assert found("What are the tides of the northern harbour?") == ("lines 1–3 of the text", "/tides.md#readme")


def test_a_source_says_what_is_told_of_its_repository(github: FakeGitHub, settings: Settings) -> None:
    github.owners["Ann"][0].stars = 120
    run(settings)
    answer = build_query_engine(settings).ask("What does every sentence of an answer of footnotes point at?")
    shown = (*answer.sources, *answer.nearest)
    assert [source.about for source in shown] == ["footnotes: 120 stars; last pushed 2026-01-02"]
