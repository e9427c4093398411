import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from config.settings import EmbeddingSettings, GitHubSettings, ParsingSettings, Settings, SourceRule
from pipelines.errors import ServiceUnavailable, SourceError
from pipelines.ingestion.loaders import VERSIONS
from pipelines.ingestion.loaders.sniff import MARKDOWN
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import Ingestion, build_ingestion, ingest
from pipelines.store.audit import audit
from pipelines.store.database import open_database
from pipelines.store.originals import original_path
from pipelines.store.status import coverage
from pipelines.types import Filters, IngestReport
from tests.fake_github import FakeGitHub, Fault, Repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "blog").mkdir()
    (tmp_path / "blog" / "go.md").write_text(
        "---\ntitle: Go\ntags: [x]\n---\n# Why Go\n\nShe chose Go for its speed.\n"
    )
    (tmp_path / "rust.md").write_text("# Rust\n\nLater she moved to Rust.\n")
    (tmp_path / "notes.txt").write_text("Plain notes about teaching.\n")
    return tmp_path


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def texts(ingestion: Ingestion) -> str:
    store = ingestion.store
    found = store.fetch(store.matching_ids(Filters(), "owner"), filters=Filters(), audience="owner")
    return "\n".join(sorted(node.text for node in found.values()))


def write_pdf(path: Path, text: str, **options) -> None:
    canvas = Canvas(str(path), pagesize=A4, **options)
    canvas.drawString(72, 720, text)
    canvas.save()


def test_a_second_run_leaves_everything_as_it_is_and_embeds_nothing(folder: Path, settings: Settings) -> None:
    first = ingest(settings, [str(folder)])
    assert outcomes(first) == {"blog/go.md": "added", "notes.txt": "added", "rust.md": "added"}
    second = ingest(settings, [str(folder)])
    assert set(outcomes(second).values()) == {"unchanged"}
    assert (second.embedded, second.nodes) == (0, 0)


def test_a_new_version_of_one_loader_reads_again_what_it_loaded_and_nothing_else(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(settings, [str(folder)])
    monkeypatch.setitem(VERSIONS, MARKDOWN, VERSIONS[MARKDOWN] + 1)
    steps = {step.item.name: (step.action, step.reason) for step in build_ingestion(settings).plan([str(folder)]).steps}
    again = ("update", f"loaders {VERSIONS[MARKDOWN] - 1} -> {VERSIONS[MARKDOWN]}")
    assert steps == {"blog/go.md": again, "rust.md": again, "notes.txt": ("unchanged", "same size and time")}
    ingest(settings, [str(folder)])
    assert set(outcomes(ingest(settings, [str(folder)])).values()) == {"unchanged"}


def test_a_touched_file_is_unchanged_and_its_new_time_remembered(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    os.utime(folder / "rust.md", (1, 1))
    assert outcomes(ingest(settings, [str(folder)]))["rust.md"] == "unchanged"
    plan = build_ingestion(settings).plan([str(folder)])
    assert {step.reason for step in plan.steps} == {"same size and time"}


def test_a_changed_file_replaces_its_nodes_and_embeds_only_what_is_new(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Rust\n\nLater she moved to Rust.\n\n# Zig\n\nNow " + "she tries Zig. " * 20)
    report = ingest(settings, [str(folder)])
    assert outcomes(report)["rust.md"] == "updated"
    assert report.embedded == 1
    assert "Zig" in texts(build_ingestion(settings))


def test_changed_front_matter_touches_metadata_only(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    path = folder / "blog" / "go.md"
    path.write_text(path.read_text().replace("tags: [x]", "author: Ann\ntags: [y]"))
    report = ingest(settings, [str(folder)])
    assert (outcomes(report)["blog/go.md"], report.embedded) == ("metadata", 0)
    store = build_ingestion(settings).store
    (node_id,) = store.matching_ids(Filters(author=("ann",)), "owner")
    (node,) = store.fetch([node_id], filters=Filters(), audience="owner").values()
    lines = path.read_text().splitlines()
    assert node.text.startswith(lines[node.metadata["line_start"] - 1])


def test_verify_reads_what_size_and_time_would_hide(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    path, times = folder / "notes.txt", (folder / "notes.txt").stat()
    path.write_text(path.read_text().replace("teaching", "learning"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert outcomes(ingest(settings, [str(folder)]))["notes.txt"] == "unchanged"
    assert outcomes(ingest(settings, [str(folder)], verify=True))["notes.txt"] == "updated"


def test_a_moved_file_keeps_its_identity(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    before = {d["document"]: d["id"] for d in coverage(open_database(settings))["documents"]}
    (folder / "rust.md").rename(folder / "blog" / "moved.md")
    report = ingest(settings, [str(folder)])
    after = {d["document"]: d["id"] for d in coverage(open_database(settings))["documents"]}
    assert after["blog/moved.md"] == before["rust.md"]
    assert "rust.md" not in after
    assert report.count("removed") == 0


def test_a_renamed_folder_keeps_the_identity_of_all_its_files(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    ids = {d["id"] for d in coverage(open_database(settings))["documents"]}
    renamed = folder.rename(folder.with_name("renamed"))
    report = ingest(settings, [str(renamed)])
    assert {d["id"] for d in coverage(open_database(settings))["documents"]} == ids
    assert report.embedded == 0


def test_a_place_that_does_not_exist_is_a_standing_failure_and_no_document(settings: Settings) -> None:
    assert ingest(settings, ["/nowhere/at/all", "nor/here"]).count("failed") == 2
    totals = coverage(open_database(settings))["totals"]
    assert (totals["failed"], totals["documents"]) == (2, 0)


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, settings: Settings, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.txt"
    outside.write_text("A secret that nobody named.")
    (folder / "link.txt").symlink_to(outside)
    assert "link.txt" not in outcomes(ingest(settings, [str(folder)]))


def test_a_new_file_where_a_moved_one_was_is_another_document(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").rename(folder / "old-rust.md")
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_text("# Something else\n\nA new text about gardens.\n")
    ingest(settings, [str(folder)])
    ids = [d["id"] for d in coverage(open_database(settings))["documents"]]
    assert len(set(ids)) == 4


def test_a_vanished_file_is_removed_after_a_complete_listing(folder: Path, settings: Settings) -> None:
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"Text number {number}.")
    ingest(settings, [str(folder)])
    (folder / "0.txt").unlink()
    report = ingest(settings, [str(folder)])
    assert outcomes(report)["0.txt"] == "removed"
    assert "number 0" not in texts(build_ingestion(settings))


def test_more_than_a_fifth_of_a_source_is_removed_only_when_allowed(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").unlink()
    plan = build_ingestion(settings).plan([str(folder)])
    assert [(refused[1], refused[2]) for refused in plan.refused] == [(1, 3)]
    ingest(settings, [str(folder)])
    assert "Rust" in texts(build_ingestion(settings))
    ingest(settings, [str(folder)], allow_removals=True)
    assert "Rust" not in texts(build_ingestion(settings))


def test_ingesting_one_file_removes_nothing(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    report = ingest(settings, [str(folder / "notes.txt")])
    assert outcomes(report) == {"notes.txt": "unchanged"}
    assert "Rust" in texts(build_ingestion(settings))


def test_a_plan_writes_nothing(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    assert ingestion.plan([str(folder)]).count("add") == 3
    assert ingestion.store.count() == 0
    assert coverage(ingestion.database)["totals"]["documents"] == 0


def test_other_rules_bring_documents_in_again(folder: Path, make_settings: Callable[..., Settings]) -> None:
    settings = make_settings()
    ingest(settings, [str(folder)])
    changed = settings.model_copy(update={"parsing": ParsingSettings(generic_characters=500)})
    plan = build_ingestion(changed).plan([str(folder)])
    assert {step.item.name: step.reason for step in plan.steps}["notes.txt"] == "other sizes (characters 1000 -> 500)"


def test_originals_are_kept_byte_for_byte(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    plan = ingestion.plan([str(folder / "rust.md")])
    ingestion.run(plan)
    kept = original_path(settings.home, plan.steps[0].file_sha)
    assert kept.read_bytes() == (folder / "rust.md").read_bytes()


def test_the_command_line_overrides_what_would_be_found_out(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder / "rust.md")], overrides=Overrides(category="journey", visibility="private"))
    store = build_ingestion(settings).store
    assert store.matching_ids(Filters(category=("journey",)), "owner")
    assert not store.matching_ids(Filters(), "visitor")


def test_what_was_said_of_a_document_holds_when_its_file_changes(folder: Path, settings: Settings) -> None:
    said = Overrides(category="journey", visibility="private", parser="generic")
    ingest(settings, [str(folder / "rust.md")], overrides=said)
    (folder / "rust.md").write_text("# Rust\n\nRewritten altogether.\n")
    assert outcomes(ingest(settings, [str(folder / "rust.md")])) == {"rust.md": "updated"}
    store = build_ingestion(settings).store
    assert store.matching_ids(Filters(category=("journey",)), "owner")
    assert not store.matching_ids(Filters(), "visitor")


def test_saying_something_else_of_a_known_document_takes_effect(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    private = Overrides(visibility="private")
    report = ingest(settings, [str(folder)], overrides=private)
    assert (set(outcomes(report).values()), report.embedded) == ({"metadata"}, 0)
    assert not build_ingestion(settings).store.matching_ids(Filters(), "visitor")
    assert set(outcomes(ingest(settings, [str(folder)], overrides=private)).values()) == {"unchanged"}


def test_a_rule_of_the_settings_takes_effect_and_goes_with_it(folder: Path, settings: Settings) -> None:
    def ruled(*rules: SourceRule) -> Settings:
        return settings.model_copy(update={"ingestion": settings.ingestion.model_copy(update={"rules": rules})})

    where = [str(folder / "rust.md")]
    ingest(settings, where)
    rules = ruled(SourceRule(match="rust.md", category="journey", parser="generic", visibility="private", year=2020))
    assert outcomes(ingest(rules, where)) == {"rust.md": "updated"}
    assert outcomes(ingest(rules, where)) == {"rust.md": "unchanged"}
    store = build_ingestion(settings).store
    assert store.matching_ids(Filters(category=("journey",), year=(2020,)), "owner")
    assert not store.matching_ids(Filters(), "visitor")
    assert outcomes(ingest(rules, where, overrides=Overrides(category="web"))) == {"rust.md": "updated"}
    assert store.matching_ids(Filters(category=("web",), year=(2020,)), "owner")
    assert outcomes(ingest(settings, where)) == {"rust.md": "updated"}
    assert store.matching_ids(Filters(category=("web",)), "visitor")
    assert not store.matching_ids(Filters(year=(2020,)), "owner")


def test_collections_stay_apart(folder: Path, settings: Settings) -> None:
    for collection in ("one", "two"):
        report = ingest(settings, [str(folder / "rust.md")], overrides=Overrides(collection=collection))
        assert outcomes(report) == {"rust.md": "added"}
    store = build_ingestion(settings).store
    assert len(store.matching_ids(Filters(collection=("one",)), "owner")) == 1


# Bad input: a named, typed outcome for each, and everything else still goes in


def bad_files(folder: Path) -> dict[str, str]:
    """Files that cannot be ingested, and a word of the reason for each."""
    (folder / "empty.md").write_bytes(b"")
    (folder / "blank.txt").write_text(" \n\t\n")
    (folder / "zero.pdf").write_bytes(b"")
    write_pdf(folder / "locked.pdf", "secret", encrypt="password")
    write_pdf(folder / "whole.pdf", "A whole page.")
    (folder / "cut.pdf").write_bytes((folder / "whole.pdf").read_bytes()[:200])
    picture = Canvas(str(folder / "picture.pdf"))
    picture.rect(50, 50, 200, 200, fill=1)
    picture.save()
    Canvas(str(folder / "pageless.pdf")).save()
    (folder / "program.txt").write_bytes(bytes(random.Random(1).randbytes(4000)))
    (folder / "latin.md").write_bytes(b"broken \xfa\x81\x8d\x8f\x90\x9d utf-8 " * 20)
    (folder / "nul.txt").write_bytes(b"some text\x00with a NUL\x00 inside")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 not a zip at all")
    return {
        "empty.md": "empty", "blank.txt": "empty", "zero.pdf": "empty", "locked.pdf": "encrypted", "cut.pdf": "",
        "picture.pdf": "text", "pageless.pdf": "broken", "program.txt": "binary",
        "latin.md": "", "nul.txt": "", "broken.docx": "",
    }  # fmt: skip


def test_bad_files_fail_by_name_and_everything_else_goes_in(folder: Path, settings: Settings) -> None:
    bad = bad_files(folder)
    report = ingest(settings, [str(folder), str(folder / "missing.md")])
    failed = {item.document: item for item in report.items if item.outcome == "failed"}
    assert failed.keys() == bad.keys() | {str(folder / "missing.md")}
    for name, word in bad.items():
        assert failed[name].error == "LoadError", (name, failed[name])
        assert word in failed[name].message, (name, failed[name])
        assert name in failed[name].message
        assert failed[name].hint
    assert failed[str(folder / "missing.md")].error == "SourceError"
    assert report.count("added") == 4
    assert audit(open_database(settings).engine)["violations"] == []


def test_a_missing_path_is_checked_without_building_the_stored_documents(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingestion = build_ingestion(settings)
    ingestion.run(ingestion.plan([str(folder)]))
    gone, stored = folder / "gone.md", next(folder.glob("*.md"))
    stored.unlink()
    monkeypatch.delattr(Ingestion, "known")
    ingestion.assert_paths_known([str(folder), str(stored)])
    with pytest.raises(SourceError, match=r"gone\.md does not exist"):
        ingestion.assert_paths_known([str(gone)])


def test_a_standing_failure_is_reported_until_it_is_mended(folder: Path, settings: Settings) -> None:
    (folder / "empty.md").write_bytes(b"")
    ingest(settings, [str(folder)])
    report = coverage(open_database(settings))
    row = next(row for row in report["documents"] if row["document"] == "empty.md")
    assert (row["state"], report["totals"]["failed"], report["totals"]["indexed"]) == ("failed", 1, 3)
    (folder / "empty.md").write_text("Now it says something.")
    ingest(settings, [str(folder)])
    assert coverage(open_database(settings))["totals"] | {} == report["totals"] | {
        "failed": 0, "indexed": 4, "nodes": 4,
    }  # fmt: skip


def test_a_document_that_breaks_keeps_serving_its_old_version(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    (folder / "rust.md").write_bytes(b"")
    assert outcomes(ingest(settings, [str(folder)]))["rust.md"] == "failed"
    assert "Rust" in texts(build_ingestion(settings))
    row = next(r for r in coverage(open_database(settings))["documents"] if r["document"] == "rust.md")
    assert row["state"] == "stale"


def test_fifty_megabytes_of_one_line_are_refused_by_their_limit(folder: Path, settings: Settings) -> None:
    (folder / "huge.txt").write_bytes(b"word " * 10_000_000)
    report = ingest(settings, [str(folder)])
    item = next(item for item in report.items if item.document == "huge.txt")
    assert (item.outcome, item.error) == ("failed", "LoadError")
    assert "FOOTNOTE_INGESTION__MAX_TEXT_BYTES" in item.hint


def test_one_line_at_the_limit_goes_in_whole(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "line.txt").write_bytes(b"word " * 60_000)
    report = ingest(settings, [str(tmp_path)])
    assert report.count("added") == 1
    row = coverage(open_database(settings))["documents"][0]
    assert row["coverage"] == 1.0


def test_an_unreadable_folder_makes_the_listing_incomplete_so_nothing_is_removed(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(settings, [str(folder)])
    real = os.scandir

    def closed(path):
        if str(path).endswith("blog"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", closed)
    report = ingest(settings, [str(folder)], allow_removals=True)
    assert outcomes(report)["blog"] == "failed"
    assert report.count("removed") == 0
    assert "Go" in texts(build_ingestion(settings))


def test_a_database_that_goes_away_ends_the_run_with_what_was_finished(
    folder: Path, make_settings: Callable[..., Settings]
) -> None:
    for number in range(20):
        (folder / f"{number}.txt").write_text(f"Text number {number}.")
    settings = make_settings(embedding=EmbeddingSettings(provider="hashed", batch_size=1))
    ingestion = build_ingestion(settings)
    plan = ingestion.plan([str(folder)])

    def cut_off(done: int, _total: int, _item) -> None:
        if done == 1:
            ingestion.database.engine.dispose()
            ingestion.database.engine.pool._creator = _refuse

    with pytest.raises(ServiceUnavailable):
        ingestion.run(plan, on_progress=cut_off)
    finished = {row["document"] for row in coverage(open_database(settings))["documents"]}
    assert 1 <= len(finished) < 20
    again = outcomes(ingest(settings, [str(folder)]))
    assert again == {name: "unchanged" if name in finished else "added" for name in again}


def _refuse(*_: object) -> None:
    import psycopg2

    raise psycopg2.OperationalError("connection refused")


def test_a_semantic_parser_embeds_groups_of_sentences_once_and_counts_them(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text(" ".join(f"The {number}th boat left the harbour at dawn." for number in range(40)))
    first = ingest(settings, [str(path)], overrides=Overrides(parser="semantic"))
    groups = -(-40 // 3)
    assert first.embedded == groups + first.nodes
    assert ingest(settings, [str(path)]).embedded == 0


def test_what_could_not_be_verified_is_asked_for_when_it_is_tried_again(
    make_settings: Callable[..., Settings],
) -> None:
    notes = Repository("notes", "Her notes", {"README.md": b"# Notes"})
    with FakeGitHub(owners={"ann": [notes]}) as github:
        settings = make_settings(github=GitHubSettings(api_base=github.url))
        ingest(settings, ["github:ann"])
        github.faults.extend([None, None, Fault(422)])
        assert outcomes(ingest(settings, ["github:ann"], verify=True)) == {"ann/notes": "failed"}
        github.faults.extend([None, None, Fault(422)])
        ingestion = build_ingestion(settings)
        report = ingestion.run(ingestion.plan([], only_failed=True))
        assert outcomes(report) == {"ann/notes": "failed"}
        github.asked()
        plan = build_ingestion(settings).plan([], only_failed=True)
        assert github.asked()[-1] == "/repos/ann/notes/readme"
        assert list(plan.settled.values()) == ["it is again as it is stored"]
