"""Sources that could not be listed, wholly or in part: they stand as failed until a look at them says otherwise."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from rich.console import Console

from config.settings import GitHubSettings, IngestionSettings, NotionSettings, Settings, WebSettings
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import build_ingestion
from pipelines.ingestion.watch import Watch
from pipelines.store.database import open_database
from pipelines.store.fetch_cache import listed_at
from pipelines.store.runs import current_failures, failures_from, list_runs
from pipelines.store.status import coverage
from pipelines.types import IngestReport
from tests.fake_github import FakeGitHub, Fault, Repository
from tests.fake_web import FILLER, Served, page, sitemap, sitemap_index, website
from tests.shell import Shell

README = b"# Footnotes\n\nEvery sentence of an answer points at a passage.\n"
DOWN = Fault(422, message="Not now.")
PAGE = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub(owners={"Ann": [Repository("footnotes", "Checked", {"README.md": README})]}) as server:
        yield server


@pytest.fixture
def settings(make_settings: Callable[..., Settings], github: FakeGitHub) -> Settings:
    return make_settings(
        github=GitHubSettings(api_base=github.url),
        notion=NotionSettings(api_base=github.url),
        notion_token=SecretStr("no such token"),
        ingestion=IngestionSettings(executor="here", poll_minutes=0.0001),
    )


def run(settings: Settings, *locations: str | Path, **options: Any) -> IngestReport:
    ingestion = build_ingestion(settings)
    return ingestion.run(ingestion.plan([str(each) for each in locations], **options))


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def failing(settings: Settings) -> list[str]:
    report = coverage(open_database(settings))
    found = [row["document"] for row in report["documents"] if row["state"] in ("failed", "stale")]
    assert report["totals"]["failed"] == len(found)
    return found


def results(settings: Settings) -> dict[str, tuple[int, int, str]]:
    rows = coverage(open_database(settings))["sources"]
    return {row["source"]: (row["documents"], row["failed"], row["result"]) for row in rows}


def test_a_source_that_cannot_be_listed_is_no_document_and_stands_as_failed(
    github: FakeGitHub, settings: Settings
) -> None:
    github.faults.append(DOWN)
    run(settings, "github:ann")
    report = coverage(open_database(settings))
    (row,) = report["documents"]
    assert (row["document"], row["uri"], row["state"], row["stage"]) == ("github:ann", "github:ann", "failed", "list")
    assert "Not now" in row["reason"]
    assert (report["totals"]["documents"], report["totals"]["failed"]) == (0, 1)
    assert results(settings) == {"github:ann": (0, 1, "unlisted")}


def test_it_is_over_with_the_first_listing_that_succeeds_even_if_nothing_else_is_to_be_done(
    github: FakeGitHub, settings: Settings
) -> None:
    run(settings, "github:ann")
    github.faults.append(DOWN)
    run(settings, "github:ann")
    assert failing(settings) == ["github:ann"]
    assert results(settings) == {"github:Ann": (1, 1, "unlisted")}
    assert outcomes(run(settings, "github:Ann")) == {"Ann/footnotes": "unchanged"}
    assert failing(settings) == []
    assert results(settings) == {"github:Ann": (1, 0, "ok")}
    assert build_ingestion(settings).plan(["github:ann"]).is_idle


def test_another_source_that_is_listed_settles_nothing(github: FakeGitHub, settings: Settings, tmp_path: Path) -> None:
    github.faults.append(DOWN)
    run(settings, "github:ann")
    (tmp_path / "a.txt").write_text("A text.")
    github.owners["bob"] = [Repository("boats", "Boats")]
    run(settings, "github:bob", tmp_path, "github:Ann/footnotes")
    assert failing(settings) == ["github:ann"]


def test_what_is_tried_again_is_the_source_with_all_that_it_holds_now(
    github: FakeGitHub, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("A text.")
    run(settings, tmp_path, "github:ann")
    github.faults.append(DOWN)
    run(settings, "github:ann")
    (tmp_path / "b.txt").write_text("Another text, of a source that did not fail.")
    github.owners["Ann"].append(Repository("boats", "Boats"))
    github.faults.append(DOWN)
    assert outcomes(run(settings, only_failed=True)) == {"github:ann": "failed"}
    assert outcomes(run(settings, only_failed=True)) == {"Ann/boats": "added"}
    assert failing(settings) == []
    assert run(settings, only_failed=True).items == ()


def test_a_source_that_is_called_otherwise_by_now_is_the_one_that_failed(
    github: FakeGitHub, settings: Settings
) -> None:
    github.faults.append(DOWN)
    run(settings, "github:Ann/old")
    github.renamed["Ann/old"] = "Ann/footnotes"
    assert outcomes(run(settings, only_failed=True)) == {"Ann/footnotes": "added"}
    assert failing(settings) == []


def test_one_source_in_two_spellings_fails_once(settings: Settings) -> None:
    dashed = f"{PAGE[:8]}-{PAGE[8:12]}-{PAGE[12:16]}-{PAGE[16:20]}-{PAGE[20:]}"
    run(settings, f"notion:{PAGE}")
    run(settings, f"notion:{dashed}")
    assert len(failing(settings)) == 1
    assert results(settings) == {f"notion:{PAGE}": (0, 1, "unlisted")}


def test_a_part_that_cannot_be_listed_stands_and_removes_nothing(make_settings: Callable[..., Settings]) -> None:
    with website() as site:
        settings = make_settings(web=WebSettings(delay_seconds=0, private_hosts=(site.host,)))
        for name in ("/a", "/b"):
            site.pages[name] = page(name, f"{FILLER}\n\nIt is {name}.")
        site.pages["/index.xml"] = sitemap_index(["/1.xml", "/2.xml"])
        site.pages["/1.xml"], held = sitemap({"/a": ""}), sitemap({"/b": ""})
        site.pages["/2.xml"] = held
        location = f"{site.url}/index.xml"
        run(settings, location)
        site.pages["/2.xml"] = Served(status=403)
        assert run(settings, location).count("removed") == 0
        assert failing(settings) == [f"{site.host}/2.xml"]
        assert results(settings) == {location: (2, 1, "unlisted")}
        assert run(settings, location, allow_removals=True).count("removed") == 0
        site.pages["/2.xml"] = held
        run(settings, only_failed=True)
        assert failing(settings) == []
        assert len(build_ingestion(settings).known()) == 2


def test_a_folder_that_was_not_there_is_known_again_from_any_folder(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(settings, "docs")
    assert failing(settings) == ["docs"]
    assert build_ingestion(settings).plan([str(tmp_path / "docs")]).settled == {}  # it is the same failure again
    assert outcomes(run(settings, only_failed=True)) == {str(tmp_path / "docs"): "failed"}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("A text.")
    monkeypatch.chdir("/")
    assert outcomes(run(settings, only_failed=True)) == {"a.txt": "added"}
    assert failing(settings) == []


def test_a_place_that_never_was_is_forgotten_once_all_around_it_was_listed(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    run(settings, tmp_path / "dosc")
    run(settings, tmp_path / "docs")
    assert len(failing(settings)) == 1
    run(settings, tmp_path)
    assert failing(settings) == []


def test_a_location_that_can_be_no_place_fails_the_same_each_time(settings: Settings) -> None:
    run(settings, "gitlab:ann")
    run(settings, only_failed=True)
    run(settings, only_failed=True)
    assert len(failing(settings)) == 1


def test_failures_of_a_source_are_found_in_whatever_case_github_is_written(
    github: FakeGitHub, settings: Settings
) -> None:
    github.faults.append(DOWN)
    run(settings, "github:ann")
    with open_database(settings).engine.connect() as connection:
        standing = current_failures(connection)
    assert [each.is_listing for each in failures_from(standing, "github:ANN")] == [True]


def test_a_watch_settles_what_could_not_be_listed_once_and_then_writes_no_more_runs(
    github: FakeGitHub, settings: Settings
) -> None:
    run(settings, "github:ann")
    github.faults.extend([DOWN] * 2)
    watch = Watch(settings, ["github:ann"], Overrides(), first_pause=0.01, tick=0.01)
    rounds = watch.rounds()
    reports = [next(rounds).report for _ in range(5)]
    rounds.close()
    assert [report is not None for report in reports] == [True, False, True, False, False]
    assert failing(settings) == []
    assert len(list_runs(open_database(settings).engine, 10)) == 3


def test_a_source_was_looked_at_when_a_run_did_or_a_later_look_found_nothing_to_do(
    github: FakeGitHub, settings: Settings
) -> None:
    run(settings, "github:ann")
    database, later = open_database(settings), datetime(2100, 1, 1, tzinfo=UTC)
    (row,) = coverage(database)["sources"]
    (made,) = list_runs(database.engine, 5)
    assert row["last_look"] == made["started_at"]
    noted = listed_at(settings.home)
    assert [*noted] == ["github:Ann"]
    assert noted["github:Ann"] > datetime.fromisoformat(made["started_at"])
    (row,) = coverage(database, looks={"github:ANN": later})["sources"]
    assert row["last_look"] == later.isoformat()


# The command line


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path, FOOTNOTE_GITHUB__API_BASE=settings.github.api_base)


def test_a_source_that_failed_is_in_every_later_report_until_it_is_removed(github: FakeGitHub, shell: Shell) -> None:
    github.faults.extend([DOWN] * 4)
    assert shell("ingest", "github:ann", "--plan")[0] == 4
    assert shell("ingest", "github:ann")[0] == 4
    code, said = shell("status")
    assert (code, "0 of 0 documents indexed" in said, "1 failed" in said) == (4, True, True)
    assert "github:ann" in said
    assert "remove --source" in said
    code, said = shell("status", "--failed", "--json")
    assert (code, [row["stage"] for row in json.loads(said)["documents"]]) == (4, ["list"])
    assert "run 1 was done, 1 failed" in shell("doctor")[1]
    assert shell("ingest", "--retry-failed")[0] == 4
    assert shell("remove", "--source", "github:Ann", "--yes") == (0, "github:ann, which failed, is forgotten\n")
    assert shell("status")[0] == 0
    assert shell("ingest", "--retry-failed") == (0, "Nothing failed in the last run.\n")


def test_a_run_in_which_everything_failed_is_called_so(github: FakeGitHub, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A text.")
    github.faults.extend([DOWN] * 2)
    run(settings, "github:ann")
    run(settings, "github:ann", tmp_path)
    assert [each["state"] for each in list_runs(open_database(settings).engine, 5)] == ["done", "failed"]


def test_tables_are_read_at_eighty_columns(github: FakeGitHub, shell: Shell) -> None:
    github.faults.append(DOWN)
    shell("ingest", "github:ann")
    shell("ingest", "github:ann")
    for words in (("status",), ("runs",), ("runs", "1"), ("ingest", "github:bob", "--plan")):
        lines = shell(*words)[1].splitlines()
        assert all(len(line) <= 80 for line in lines if not line.startswith(("    ", "What could"))), lines
    assert "speed" in shell("runs")[1]
    reason = next(line for line in shell("runs", "1")[1].splitlines() if "Not now" in line)
    assert (reason[:4], len(reason) > 40) == (" " * 4, True)  # in one line where no terminal is


def test_a_reason_is_wrapped_below_its_row_on_a_terminal(
    github: FakeGitHub, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("ingest", "github:nobody")
    monkeypatch.setattr("app.cli.output.console", Console(width=40, force_terminal=True, color_system=None))
    lines = shell("status", "--failed")[1].splitlines()
    assert lines[2].startswith("    GitHub has nothing at")
    assert lines[3].startswith("    ")
    assert all(len(line) <= 40 for line in lines[2:4])
