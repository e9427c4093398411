import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from config.settings import Settings
from tests.conftest import open_folder
from tests.shell import Shell

QUESTION = "How many containers did the crane move?"


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "docs"
    place.mkdir()
    (place / "crane.md").write_text("# Crane\n\nThe crane moved 40 containers an hour.\n")
    (place / "garden.md").write_text("# Garden\n\nTomatoes need sun every day.\n")
    return place


def test_ingest_reports_what_became_of_each_document(shell: Shell, folder: Path) -> None:
    report = shell.json("ingest", str(folder))
    assert (report["added"], report["failed"], report["nodes"]) == (2, 0, 2)
    assert {item["document"]: item["outcome"] for item in report["items"]} == {
        "crane.md": "added", "garden.md": "added",
    }  # fmt: skip
    assert shell.json("ingest", str(folder))["unchanged"] == 2


def test_a_failed_document_gives_exit_code_4_and_its_reason(shell: Shell, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    report = shell.json("ingest", str(folder), code=4)
    assert "empty" in next(item["error"] for item in report["items"] if item["outcome"] == "failed")
    assert shell("status")[0] == 4


@pytest.mark.parametrize("how", [(), ("--plan",), ("--retry-failed",)])
def test_a_mistyped_path_is_refused_and_nothing_is_stored(
    shell: Shell, folder: Path, tmp_path: Path, how: tuple[str, ...]
) -> None:
    looked_in = f"nowhere.md does not exist. Check the path; it was looked for in {tmp_path}."
    assert shell("ingest", str(folder), "nowhere.md", *how) == (2, looked_in)
    below = str(folder / "nowhere")
    assert shell("ingest", str(folder), below, *how) == (2, f"{below} does not exist. Check the path.")
    assert shell.json("runs")["runs"] == []
    assert shell.json("status")["totals"]["failed"] == 0


@pytest.mark.parametrize("named", ["docs", "docs/crane.md"])
def test_a_source_that_vanished_fails_by_name_and_the_rest_goes_in(
    shell: Shell, folder: Path, tmp_path: Path, named: str
) -> None:
    (tmp_path / "other.md").write_text("# Other\n\nThe other file stays.\n")
    shell("ingest", str(folder))
    folder.rename(tmp_path / "away")
    for _ in range(2):
        report = shell.json("ingest", named, "other.md", code=4)
        (failure,) = (item for item in report["items"] if item["outcome"] == "failed")
        assert (failure["document"], failure["error"]) == (named, f"{named} does not exist.")
    assert shell.json("status", code=4)["totals"]["documents"] == 3


def test_the_home_of_nobody_is_a_place_that_does_not_exist(shell: Shell, folder: Path) -> None:
    code, said = shell("ingest", str(folder), "~nobody-here/docs")
    assert (code, said) == (2, "~nobody-here/docs does not exist. No user is called nobody-here.")
    shell("ingest", str(folder))
    code, said = shell("remove", "--source", "~nobody-here/docs")
    assert (code, said.startswith("No document came from ~nobody-here/docs.")) == (2, True)
    code, again = shell("reindex", "--source", "~nobody-here/docs")
    assert (code, again) == (2, said)
    assert said.strip().endswith(f"Documents came from {folder}.")


def test_an_address_that_is_never_fetched_is_refused_before_a_run(shell: Shell) -> None:
    code, said = shell("ingest", "https://localhost/")
    assert (code, "FOOTNOTE_WEB__PRIVATE_HOSTS" in said) == (2, True)
    assert shell.json("runs")["runs"] == []
    assert shell.json("status")["totals"]["failed"] == 0


def test_a_link_to_itself_fails_by_name(shell: Shell, folder: Path) -> None:
    (folder / "loop").symlink_to(folder / "loop")
    report = shell.json("ingest", str(folder / "loop"), code=4)
    assert "loop cannot be read: " in report["items"][0]["error"]
    assert shell.json("remove", "--source", str(folder / "loop"), "--yes")["forgotten"] == [str(folder / "loop")]


def test_a_plan_changes_nothing(shell: Shell, folder: Path) -> None:
    assert shell.json("ingest", str(folder), "--plan")["counts"]["add"] == 2
    assert shell.json("status")["totals"]["documents"] == 0


def test_a_plan_says_what_would_become_of_each_document_and_what_it_costs(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    (folder / "crane.md").write_text("# Crane\n\nThe crane moved 50 containers an hour.\n")
    (folder / "empty.md").write_text("")
    (folder / "odd.xyz").write_text("Of no kind that we load.")
    plan = shell.json("ingest", str(folder), "--plan", code=4)
    assert plan.keys() == {
        "counts", "outcomes", "steps", "skipped", "passed_over", "stored_in_part", "empty", "refused_removals",
        "settled", "embeddings", "sentence_groups", "tokens", "header_calls", "header_tokens", "estimated",
        "sampled", "cost",
    }  # fmt: skip
    assert [(s["action"], s["document"], s["reason"], s["outcome"], s["embeddings"]) for s in plan["steps"]] == [
        ("update", "crane.md", "the file changed", "updated", 1), ("add", "empty.md", "new", "failed", 0),
    ]  # fmt: skip
    assert plan["outcomes"]["failed"] == 1
    assert "empty" in plan["steps"][1]["message"]
    assert (plan["skipped"], plan["stored_in_part"], plan["cost"]["total"]) == (["odd.xyz"], [], 0)
    assert plan["passed_over"] == [{"name": "odd.xyz", "reason": "files of its kind are not read"}]
    code, out = shell("ingest", str(folder), "--plan")
    assert code == 4
    assert "1 to update, 1 would fail, 1 unchanged" in out
    assert "1 text to embed: " in out
    report = shell.json("ingest", str(folder), code=4)
    assert {i["document"]: (i["outcome"], i["nodes"], i["embedded"]) for i in report["items"]} == {
        s["document"]: (s["outcome"], s["nodes"], s["embeddings"]) for s in plan["steps"]
    } | {"garden.md": ("unchanged", 1, 0)}


def test_retry_failed_tries_what_failed_and_says_when_there_is_nothing(shell: Shell, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    shell("ingest", str(folder))
    (folder / "empty.md").write_text("No longer empty.\n")
    report = shell.json("ingest", "--retry-failed")
    assert [(item["document"], item["outcome"]) for item in report["items"]] == [("empty.md", "added")]
    assert shell("ingest", "--retry-failed") == (0, "Nothing failed in the last run.\n")


def test_status_shows_everything_or_what_failed(shell: Shell, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    shell("ingest", str(folder))
    shown = shell.json("status", "--failed", code=4)
    assert [row["document"] for row in shown["documents"]] == ["empty.md"]
    assert (shown["totals"]["indexed"], shown["totals"]["documents"]) == (2, 3)
    code, out = shell("status", "--all")
    assert code == 4
    assert "2 of 3 documents indexed, 2 nodes, 100.0% of the characters covered, 1 failed" in out


def test_of_many_documents_a_terminal_shows_a_summary(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    (folder / "empty.md").write_text("")
    shell("ingest", str(folder))
    monkeypatch.setattr("app.cli.status._MANY", 2)
    assert "crane.md" in shell("status")[1]
    monkeypatch.setattr("app.cli.output.console", Console(width=100, force_terminal=True, color_system=None))
    out = shell("status")[1]
    assert "crane.md" not in out
    assert "empty.md" in out
    assert "crane.md" in shell("status", "--all")[1]


def test_search_prints_the_documented_json(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    report = shell.json("search", QUESTION)
    assert report.keys() >= {"query", "intent", "results", "evidence", "timings_ms", "trace_id"}
    best = report["results"][0]
    assert best["document_name"] == "crane.md"
    assert best.keys() >= {
        "rank", "node_id", "document_id", "document_name", "title", "category", "section_path", "kind", "page",
        "line_start", "line_end", "start", "end", "text", "score", "dense", "sparse", "fused", "factors", "similarity",
    }  # fmt: skip


def test_a_least_score_is_one_of_similarity_and_may_leave_no_result(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("ingest", str(folder))
    results = shell.json("search", QUESTION)["results"]
    least = results[0]["similarity"]
    assert 0 < least <= 1
    assert f"similarity {least:.2f}" in shell("search", QUESTION)[1]
    monkeypatch.setenv("FOOTNOTE_FACTORS__MIN_SCORE", str(least))
    left = shell.json("search", QUESTION)["results"]
    assert [one["node_id"] for one in left] == [one["node_id"] for one in results if one["similarity"] >= least]
    monkeypatch.setenv("FOOTNOTE_FACTORS__MIN_SCORE", "1")
    assert shell.json("search", QUESTION)["results"] == []


def test_search_explains_every_candidate(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    code, out = shell("search", QUESTION, "--explain")
    assert code == 0
    assert "kept" in out
    for part in ("candidates", "attempts", "evidence ", "signals ", "analyse ", "settings ", "used "):
        assert part in out
    shown = shell.json("search", QUESTION, "--explain")
    assert shown.keys() >= {"candidates", "attempts", "notes", "tags", "settings", "corpus_version"}
    assert shown["attempts"][0]["evidence"]["signals"].keys()


@pytest.mark.parametrize("width", ["80", "120"])
def test_every_line_of_an_explanation_fits_the_terminal(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    from rich.console import Console

    (folder / "long.md").write_text(f"# {'A crane with a long title ' * 4}\n\nThe crane moved twice.\n")
    shell("ingest", str(folder))
    terminal = Console(width=int(width), force_terminal=True, color_system=None)
    monkeypatch.setattr("app.cli.output.console", terminal)
    code, out = shell("search", f"{QUESTION} What is new at work in 2023?", "--explain", "--without", "dense")
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= int(width)


def test_what_if_prints_both_rankings_and_the_moves_and_logs_one_query(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    found = shell.json("search", QUESTION, "--without", "dense", "--without", "recency")
    assert found.keys() == {"base", "without", "moves"}
    assert found["without"]["parts"] == ["dense", "recency"]
    assert {result["document_name"] for result in found["base"]["results"]} == {"crane.md", "garden.md"}
    assert [result["document_name"] for result in found["without"]["results"]] == ["crane.md"]
    assert [(m["kind"], m["document_name"], m["before"], m["after"]) for m in found["moves"]] == [
        ("gone", "garden.md", 2, None)
    ]
    assert [query["id"] for query in shell.json("trace")["queries"]] == [found["base"]["trace_id"]]
    code, out = shell("search", QUESTION, "--without", "dense")
    assert code == 0
    assert "gone" in out
    assert "2 -> -" in out


def test_trace_lists_the_latest_and_shows_one_by_the_beginning_of_its_id(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    asked = shell.json("ask", QUESTION)
    searched = shell.json("search", "Tomatoes")
    latest = shell.json("trace", "--limit", "2")["queries"]
    assert [(query["id"], query["kind"]) for query in latest] == [
        (searched["trace_id"], "search"), (asked["trace_id"], "ask"),
    ]  # fmt: skip
    assert [query["id"] for query in shell.json("trace", "--limit", "1")["queries"]] == [searched["trace_id"]]
    code, listed = shell("trace")
    assert code == 0
    assert "Tomatoes" in listed
    row = shell.json("trace", asked["trace_id"][:12])
    assert row["trace"]["candidates"][0].keys() >= {"dense", "sparse", "fused", "factors", "final", "fate"}
    assert row["answer"]["trace_id"] == row["id"] == asked["trace_id"]
    code, shown = shell("trace", asked["trace_id"][:12])
    assert code == 0
    for part in (QUESTION, "The crane moved 40 containers an hour.", "candidates", "attempts", "evidence", "ms "):
        assert part in shown


def test_ask_prints_the_answer_with_its_footnotes(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    code, out = shell("ask", QUESTION)
    assert code == 0
    assert "The crane moved 40 containers an hour. [1]" in out
    assert "Crane (crane.md)\n  [1] lines 1–3 (cited: line 3)\n" in out


def test_ask_json_cites_exact_spans(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    answer = shell.json("ask", QUESTION)
    source = answer["sources"][0]
    text = (folder / "crane.md").read_text()
    assert text[source["start"] : source["end"]] == source["snippet"]
    assert answer["sentences"][0]["verdict"] == "supported"


def test_filters_narrow_search_and_ask(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    names = {r["document_name"] for r in shell.json("search", QUESTION, "--document", "garden.md")["results"]}
    assert names == {"garden.md"}
    assert shell.json("ask", QUESTION, "--year", "1901")["answered"] is False


def test_an_abstention_says_what_came_near_and_which_option_to_drop(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    _, out = shell("ask", "What does the crane cost?", "--document", "crane.md")
    assert "I looked for an amount of money together with “crane cost”." in out.replace("\n", " ")
    assert "Only near, not an answer:\nCrane (crane.md)\n  line 3: “The crane moved 40 containers an hour.”" in out
    assert "To search all of them, leave out: --document crane.md" in out
    answer = shell.json("ask", "What does the crane cost?", "--document", "crane.md")
    assert (answer["answered"], answer["filters"]["document"]) == (False, ["crane.md"])
    assert answer["nearest"][0]["snippet"] == "The crane moved 40 containers an hour."


def test_an_ingest_tries_questions_and_an_abstention_offers_those_that_have_an_answer(
    shell: Shell, folder: Path
) -> None:
    (folder / "kiln.md").write_text("# Kiln\n\nIt is old.\n\n## Stacking the larch\n\nLarch is stacked for a year.\n")
    shell("ingest", str(folder))
    offered = "Tell me about “Stacking the larch” in “Kiln”"
    _, out = shell("ask", "Which submarine volcanoes erupted near Kamchatka?")
    assert f"These have an answer:\n  {offered}\n" in out
    assert shell.json("ask", "Which submarine volcanoes erupted near Kamchatka?")["follow_ups"] == [offered]


def test_remove_takes_a_document_out(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    assert shell("remove", "crane.md")[0] == 2
    assert shell.json("remove", "crane.md", "--yes")["removed"][0]["document"] == "crane.md"
    assert [d["document"] for d in shell.json("status")["documents"]] == ["garden.md"]
    assert shell("remove", "crane.md")[0] == 2


def test_remove_by_source_takes_everything_from_there(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    assert len(shell.json("remove", "--source", str(folder), "--yes")["removed"]) == 2
    assert shell.json("status")["totals"]["documents"] == 0


@pytest.mark.parametrize("how", [["--source", "HTTPS://Nobody.invalid"], ["nobody.invalid"]])
def test_what_failed_and_is_not_stored_is_forgotten_when_it_is_removed(
    shell: Shell, folder: Path, how: list[str]
) -> None:
    shell("ingest", str(folder))
    shell.json("ingest", "https://nobody.invalid/", code=4)
    assert shell("status")[0] == 4
    assert shell("remove", *how)[0] == 2
    found = shell.json("remove", *how, "--yes")
    assert (found["removed"], found["forgotten"]) == ([], ["nobody.invalid"])
    assert shell("status")[0] == 0
    assert shell("remove", *how, "--yes")[0] == 2
    assert shell("ingest", "--retry-failed") == (0, "Nothing failed in the last run.\n")


def failing_in(place: Path, *names: str) -> None:
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("")


def failed(shell: Shell) -> list[str]:
    """The addresses of what failed, below the folder of the test."""
    return [row["uri"].partition("/docs")[2] for row in shell.json("status", "--failed", code=4)["documents"]]


def test_a_name_that_two_failures_share_is_refused_and_their_address_is_taken(shell: Shell, folder: Path) -> None:
    failing_in(folder / "a", "x.md")
    failing_in(folder / "b", "x.md")
    for last_first in ("b", "a"):
        shell("ingest", str(folder / last_first))
    one, other = ((folder / place / "x.md").as_uri() for place in ("a", "b"))
    code, said = shell("remove", "x.md", "--yes")
    assert (code, said) == (2, f"'x.md' could be 2 documents that failed: {one}, {other}. Give the address.")
    assert shell.json("remove", one, "--yes")["forgotten"] == ["x.md"]
    assert failed(shell) == ["/b/x.md"]


def test_a_name_takes_what_is_stored_and_leaves_a_failure_of_the_same_name(shell: Shell, folder: Path) -> None:
    failing_in(folder.with_name("docs-2"), "crane.md")
    shell("ingest", str(folder), str(folder.with_name("docs-2")))
    assert shell("remove", "crane.md")[0] == 2
    assert shell.err == "   remove  crane.md\n"
    found = shell.json("remove", "crane.md", "--yes")
    assert ([each["document"] for each in found["removed"]], found["forgotten"]) == (["crane.md"], [])
    assert failed(shell) == ["-2/crane.md"]


def test_the_whole_name_of_a_failure_is_no_guess_at_a_stored_document(shell: Shell, folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "hull.md").write_text("# Hull\n\nThe hull is of steel.\n")
    failing_in(folder, "hull.md")
    shell("ingest", str(folder))
    found = shell.json("remove", "hull.md", "--yes")
    assert (found["removed"], found["forgotten"]) == ([], ["hull.md"])
    assert [each["document"] for each in shell.json("remove", "hull.md", "--yes")["removed"]] == ["a/hull.md"]


def test_what_would_be_forgotten_is_told_with_its_source_before_it_is_done(shell: Shell, folder: Path) -> None:
    failing_in(folder, "x.md")
    shell("ingest", str(folder))
    code, said = shell("remove", "crane.md", "x.md")
    assert (code, said) == (2, "1 document would be removed and 1 failure forgotten. Add --yes to confirm.")
    assert shell.err == f"   remove  crane.md\n   forget  x.md ({folder})\n"
    assert shell("remove", "x.md") == (2, "1 failure would be forgotten. Add --yes to confirm.")


def test_a_failure_of_a_document_that_is_stored_is_never_forgotten(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    failing_in(folder, "crane.md")
    shell("ingest", str(folder), "--yes")
    assert failed(shell) == ["/crane.md"]
    assert shell("remove", "--source", str(folder))[0] == 2
    assert shell.err == "   remove  crane.md\n   remove  garden.md\n"


def test_removing_a_folder_forgets_what_failed_anywhere_below_it(shell: Shell, folder: Path) -> None:
    failing_in(folder / "a", "x.md")
    failing_in(folder.with_name("docs-2"), "x.md")
    shell("ingest", str(folder / "a"), str(folder.with_name("docs-2")))
    found = shell.json("remove", "--source", str(folder), "--yes")
    assert found["forgotten"] == ["x.md"]
    assert failed(shell) == ["-2/x.md"]


def test_remove_prefers_the_exact_name_and_refuses_a_guess(shell: Shell, folder: Path) -> None:
    for place in ("a", "b"):
        (folder / place).mkdir()
        (folder / place / "crane.md").write_text(f"# Crane {place}\n\nAnother text about {place}.\n")
    shell("ingest", str(folder))
    assert [d["document"] for d in shell.json("remove", "crane.md", "--yes")["removed"]] == ["crane.md"]
    code, said = shell("remove", "crane.md", "--yes")
    assert (code, "a/crane.md, b/crane.md" in said) == (2, True)


def test_doctor_is_content_with_a_healthy_database(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    report = shell.json("doctor")
    assert report["healthy"], report


def test_a_parser_that_does_not_exist_is_told_before_anything_is_done(shell: Shell, folder: Path) -> None:
    code, said = shell("ingest", str(folder), "--parser", "poem")
    assert (code, "no parser called 'poem'" in said) == (3, True)
    assert shell.json("status")["documents"] == []


def test_doctor_names_and_mends_what_is_wrong(shell: Shell, folder: Path, settings: Settings) -> None:
    from pipelines.store.database import open_database

    shell("ingest", str(folder))
    with open_database(settings).engine.begin() as connection:
        connection.exec_driver_sql("DROP INDEX nodes_hashed_hashed_256_v1_hnsw")
        connection.exec_driver_sql("DELETE FROM documents WHERE name = 'garden.md'")
    report = shell.json("doctor", code=3)
    wrong = {check["name"]: check["mend"] for check in report["checks"] if not check["ok"]}
    assert wrong["vector index"] == wrong["orphans"] == "footnote doctor --fix"
    assert shell.json("doctor", "--fix")["healthy"]


def test_audit_finds_nothing_wrong(shell: Shell, folder: Path) -> None:
    shell("ingest", str(folder))
    shell("ask", QUESTION)
    report = shell.json("audit")
    assert (report["nodes"], report["violations"]) == (2, [])
    assert report["citations"] == 1


@pytest.mark.parametrize(
    ("words", "environment", "code"),
    [
        (["search"], {}, 2),
        (["search", "x", "--mode", "psychic"], {}, 2),
        (["search", "x", "--without", "luck"], {}, 2),
        (["search", "x", "--without", "dense", "--without", "sparse"], {}, 2),
        (["search", "x", "--mode", "dense", "--without", "dense"], {}, 2),
        (["trace", "feed"], {}, 2),
        (["search", ""], {}, 2),
        (["search", "x", "--since", "soon"], {}, 2),
        (["remove"], {}, 2),
        (["db", "reset"], {}, 2),
        (["search", "x"], {"FOOTNOTE_RETRIEVAL__TOP_N": "many"}, 3),
        (["search", "x"], {"DATABASE_URL": "mysql://x"}, 3),
        (["search", "x"], {"DATABASE_URL": "postgresql://a:b@127.0.0.1:1/x"}, 5),
        (["search", "x"], {"FOOTNOTE_EMBEDDING__PROVIDER": "openai"}, 3),
        (["db", "start"], {}, 3),
        (["eval", "answers", "nowhere.jsonl"], {}, 2),
        (["ask", "x", "--pack", "~nobody-here/x"], {}, 2),
        (["replay", "~nobody-here/x"], {}, 2),
        (["ingest"], {"FOOTNOTE_INGESTION__SOURCES_FILE": "~nobody-here/x.toml"}, 3),
        (["ingest"], {"FOOTNOTE_INGESTION_SOURCES_FILE": "sources.toml"}, 3),
        (["ingest"], {"FOOTNOTE_INGESTION__SOURCES": '["github:"]'}, 3),
        (["ingest", "https://a.b"], {"FOOTNOTE_WEB__PRIVATE_HOSTS": '["http://a.b"]'}, 3),
    ],
)
def test_exit_codes_say_whose_fault_it_is(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: list[str], environment: dict[str, str], code: int
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert shell(*words)[0] == code


@pytest.mark.parametrize("how", [(), ("--plan",), ("--watch",), ("--retry-failed",)])
def test_a_location_that_can_never_be_a_source_is_wrong_usage_and_no_run(
    shell: Shell, folder: Path, how: tuple[str, ...]
) -> None:
    for location in ("github:", "github:a/b/c", "notion:xyz", "https://", "ftp://a.b/c", "gitlab:ann", ""):
        code, said = shell("ingest", str(folder), location, *how)
        assert (code, location in said) == (2, True), said
    assert shell.json("runs")["runs"] == []


def test_a_source_that_is_named_twice_is_taken_once(shell: Shell, folder: Path) -> None:
    (folder / "gone").mkdir()
    (folder / "gone" / "a.md").write_text("# A\n\nSome words.\n")
    shell("ingest", "docs/gone")
    (folder / "gone").rename(folder.parent / "away")
    report = shell.json("ingest", "docs/gone", str(folder), "./docs/gone/", code=4)
    assert [item["document"] for item in report["items"] if item["outcome"] == "failed"] == ["docs/gone"]


def test_help_has_an_example_for_every_command() -> None:
    from typer.main import get_command

    def commands(command: Any) -> list[Any]:
        inner = getattr(command, "commands", None)
        return [command] if inner is None else [leaf for sub in inner.values() for leaf in commands(sub)]

    for command in commands(get_command(cli.app)):
        assert re.search(r"Example: footnote \w+", command.help), command.name


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("FOOTNOTE_", "OPENAI_"))}


def _run(*words: str, **given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, timeout=120, env=_environment() | given
    )


def test_help_loads_none_of_the_heavy_libraries() -> None:
    code = (
        "import sys; sys.argv = ['footnote', '--help']\n"
        "from app import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'llama_index', 'sqlalchemy', 'streamlit', 'numpy', 'onnxruntime', 'docling'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy))"
    )
    assert _run("-c", code).stdout.splitlines()[-1] == "heavy: []"


def test_an_error_is_one_json_document_and_one_line_without_a_traceback(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://ann:hunter2@127.0.0.1:1/x")
    monkeypatch.setattr(sys, "argv", ["footnote", "search", "x", "--json"])
    monkeypatch.setattr(signal, "signal", lambda *_: signal.SIG_DFL)  # the signals of this process stay as they are
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert ended.value.code == 5
    assert json.loads(out)["error"]["type"] == "ServiceUnavailable"
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert "hunter2" not in out + err


FORKS = """
import os, sys
import app.settings
from app.cli import output
for folder in map(str.strip, sys.stdin):
    if child := os.fork():
        os.write(1, b"%d\\n" % os.waitpid(child, 0)[1])
        continue
    for number, name in enumerate(("out", "err"), start=1):
        os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    exec(open(f"{folder}/code.py").read())
"""


Forked = Callable[[str], tuple[int, str, str]]


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    """Runs code in a fork of a process that has loaded the command line: (exit code, stdout, stderr)."""
    folder = tmp_path_factory.mktemp("forked")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": _environment()}
    with subprocess.Popen([sys.executable, "-c", FORKS], text=True, **pipes) as forks:

        def run(code: str) -> tuple[int, str, str]:
            (folder / "code.py").write_text(code)
            print(folder, file=forks.stdin, flush=True)
            status = os.waitstatus_to_exitcode(int(forks.stdout.readline()))
            return status, (folder / "out").read_text(), (folder / "err").read_text()

        yield run


GOES_ON = "\nStopped. What was finished stays; the same command goes on from there.\n"
PRESSED = """
import atexit, os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)
import app.settings
from app import cli; from app.cli import output
def press(how=signal.SIGINT): os.kill(os.getpid(), how)
def pressed(made):
    try: press()
    except KeyboardInterrupt: raise made
{then}
sys.argv = ["footnote", *{words!r}]
cli.main()
"""


@pytest.mark.parametrize(
    ("words", "made", "said"),
    [
        (["ingest", "x"], "KeyboardInterrupt", GOES_ON),
        (["ingest", "x"], "ValueError('as a library that is loaded makes of it')", GOES_ON),
        (["models", "add", "x"], "KeyboardInterrupt", GOES_ON),
        (["models", "list"], "KeyboardInterrupt", "\nStopped.\n"),
        (["remove", "ingest"], "KeyboardInterrupt", "\nStopped.\n"),
    ],
)
def test_ctrl_c_before_anything_is_under_way_is_said_without_a_traceback(
    forked: Forked, words: list[str], made: str, said: str
) -> None:
    code = PRESSED.format(then=f"app.settings.read_settings = lambda: pressed({made})", words=words)
    assert forked(code) == (130, "", said)


@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP"])
def test_the_end_of_a_service_or_a_terminal_before_anything_is_under_way_is_said(forked: Forked, how: str) -> None:
    child = PRESSED.format(then=f"app.settings.read_settings = lambda: press(signal.{how})", words=["ingest", "x"])
    child = f"import signal; signal.signal(signal.{how}, signal.SIG_DFL)\n{child}"  # we may run under nohup
    assert forked(child) == (143, "", GOES_ON)


def test_under_nohup_the_end_of_the_terminal_ends_nothing(forked: Forked) -> None:
    then = "app.settings.read_settings = lambda: press(signal.SIGHUP) or sys.exit(7)"
    child = PRESSED.format(then=then, words=["ingest", "x"])
    assert forked(f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{child}") == (7, "", "")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("interrupt", "\nStopped.\n"),
        ("n\n", "Nothing was done.\n"),
        ("\x04", ""),
    ],
)
def test_who_does_not_agree_ends_the_command_with_the_code_of_what_was_stopped(typed: str, said: str) -> None:
    then = 'app.settings.read_settings = lambda: output.agree("Remove it?", "1 document.", as_json=False)'
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PRESSED.format(then=then, words=["remove", "x"])],
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process, open(ours, "wb", buffering=0) as keyboard:
        os.close(theirs)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline() == "1 document.\n"
        assert process.stdout.read(10) == "Remove it?"
        if typed == "interrupt":
            process.send_signal(signal.SIGINT)
        else:
            keyboard.write(typed.encode())
        assert (process.wait(20), process.stderr.read()) == (130, said)


def test_ctrl_c_while_the_command_ends_changes_nothing(forked: Forked) -> None:
    then = "app.settings.read_settings = lambda: sys.exit(int(4))\natexit.register(press)"
    assert forked(PRESSED.format(then=then, words=["ingest", "x"])) == (4, "", "")


def test_the_module_does_what_the_command_does(folder: Path) -> None:
    home = open_folder("footnote-cli-")
    environment = {"FOOTNOTE_HOME": str(home), "FOOTNOTE_EMBEDDING__PROVIDER": "hashed"}
    environment["FOOTNOTE_INGESTION__EXECUTOR"] = "here"
    done = _run("-m", "pipelines.ingestion", str(folder), "--json", **environment)
    assert json.loads(done.stdout)["added"] == 2, done.stderr
    again = _run("-m", "footnote", "db", "stop", **environment)
    assert again.returncode == 0


def test_facts_are_told_as_one_json_document_and_in_words(shell: Shell, folder: Path) -> None:
    assert shell.json("facts") == {"people": [], "projects": []}
    assert "No document states a career yet" in shell("facts")[1]
