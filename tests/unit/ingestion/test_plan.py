"""The plan as a function: what sources hold now x what is stored."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from config.settings import SourceRule
from pipelines.errors import SourceError
from pipelines.ingestion.plan import Plan, PlanContext, make_plan, rule_overrides
from pipelines.ingestion.sources import Listing, Read
from pipelines.ingestion.sources.base import Remark
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.store.documents import StoredDocument
from pipelines.store.runs import FailedDocument
from pipelines.types import SourceItem

RECIPE = "generic@3(characters=1000) loaders@2 header@2 searchable@2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / f"{name}.txt").write_text(f"Text {name}.")
    return tmp_path


def known(path: Path, source: Path | None = None, **other: Any) -> StoredDocument:
    """The file as it would be stored now."""
    (item,) = list_files(str(path)).items
    held = StoredDocument(
        id=path.name, collection="default", source=(source or path.parent).as_uri(), source_kind="file",
        source_uri=item.uri, name=path.name, category="generic", stamp=item.stamp,
        file_sha=hashlib.sha256(path.read_bytes()).hexdigest(), indexed_sha="c", content_sha="c", meta_sha="m",
        parser="generic", recipe=RECIPE, nodes=1, characters=7, covered=7, mime="text/plain", title=path.stem,
        visibility="public", ingested_at=datetime(2024, 1, 1, tzinfo=UTC), pages_without_text=0, year=None, said={},
        ruled={},
    )  # fmt: skip
    return replace(held, **other)


def stored(folder: Path) -> list[StoredDocument]:
    return [known(path, folder) for path in sorted(folder.rglob("*.txt"))]


def read(item: SourceItem) -> Read:
    return Read(hashlib.sha256(read_file(item, 1000)).hexdigest())


def plan(places: Sequence[Path], held: Sequence[StoredDocument], **given: Any) -> Plan:
    return make_plan([list_files(str(place)) for place in places], held, terms(**given))


def terms(**given: Any) -> PlanContext:
    failed = {failure.source_uri: failure for failure in given.pop("failed", ())}
    return PlanContext(**{"recipe_of": lambda *_: RECIPE, "read": read, "failed": failed, **given})


def reasons(found: Plan) -> dict[str, str]:
    return {step.item.name: step.reason for step in found.steps}


def removed(found: Plan) -> list[str]:
    return [step.item.name for step in found.steps if step.action == "remove"]


def failure(path: Path, folder: Path, *, held: bool = False) -> FailedDocument:
    return FailedDocument(
        "default", folder.as_uri(), path.as_uri(), path.name, "load", "LoadError", "It is broken.", "Mend it.",
        datetime(2024, 1, 1, tzinfo=UTC), held,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "given", "reason"),
    [
        ({}, {}, "same size and time"),
        ({"stamp": ""}, {}, "same bytes"),
        ({}, {"verify": True}, "same bytes"),
        ({"file_sha": "other", "stamp": ""}, {}, "the file changed"),
        ({"indexed_sha": ""}, {}, "not yet in this model's nodes"),
        ({}, {"overrides": {"category": "blog"}}, "its overrides changed"),
        ({"said": {"category": "blog"}}, {"overrides": {"category": "blog"}}, "same size and time"),
        ({}, {"rules": lambda item: {"year": 2020}}, "a rule for it changed"),
        ({"ruled": {"year": 2020}}, {}, "a rule for it changed"),
        ({}, {"recipe_of": lambda *_: RECIPE.replace("@3", "@4")}, "parser generic 3 -> 4"),
        ({"recipe": f"{RECIPE} by llm:w@1 but for 2"}, {"recipe_of": lambda *_: f"{RECIPE} by llm:w@1"},
         "2 of its headers could not be written"),
        ({"file_sha": "other", "stamp": "", "recipe": RECIPE.replace("header@2", "header@1")}, {},
         "the file changed, header rules 1 -> 2"),
    ],
)  # fmt: skip
def test_a_reason_names_what_changed(
    folder: Path, change: Mapping[str, Any], given: Mapping[str, Any], reason: str
) -> None:
    held = [known(folder / "a.txt", folder, **change), *stored(folder)[1:]]
    assert reasons(plan([folder], held, **given))["a.txt"] == reason


@pytest.mark.parametrize(("stamp", "idle"), [("", False), (None, True)])
def test_a_run_is_needed_for_a_new_time_and_not_for_bytes_that_were_only_read_again(
    folder: Path, stamp: str | None, idle: bool
) -> None:
    held = stored(folder)
    first = held[0] if stamp is None else replace(held[0], stamp=stamp)
    assert plan([folder], [first, *held[1:]], verify=True).is_idle is idle


def test_today_s_recipe_is_made_once_a_parser(folder: Path) -> None:
    asked: list[str] = []

    def recipe_of(parser: str, loaders: int) -> str:
        asked.append(parser)
        return RECIPE

    plan([folder], stored(folder), recipe_of=recipe_of)
    assert asked == ["generic"]


def test_a_file_of_equal_size_and_time_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = stored(folder)

    def refuse(path: Path, *_: object) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("pipelines.ingestion.sources.files.open", refuse, raising=False)
    assert set(reasons(plan([folder], held)).values()) == {"same size and time"}


# Moves


def test_a_file_that_moved_and_changed_is_another_document(folder: Path) -> None:
    held = stored(folder)
    (folder / "a.txt").rename(folder / "z.txt")
    (folder / "z.txt").write_text("Something else.")
    found = plan([folder], held)
    assert (reasons(found)["z.txt"], removed(found)) == ("new", ["a.txt"])


def test_of_two_equal_files_the_one_that_moved_keeps_its_identity(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("The same text.")
    held = stored(folder)
    (folder / "b.txt").rename(folder / "z.txt")
    found = plan([folder], held)
    moved = next(step for step in found.steps if step.item.name == "z.txt")
    assert (moved.action, moved.reason, moved.document_id) == ("update", "moved", "b.txt")
    assert (reasons(found)["a.txt"], removed(found)) == ("same size and time", [])


def test_two_equal_files_that_both_move_keep_both_identities(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("The same text.")
    held = stored(folder)
    (folder / "a.txt").rename(folder / "y.txt")
    (folder / "b.txt").rename(folder / "z.txt")
    found = plan([folder], held)
    assert {s.item.name: s.document_id for s in found.steps if s.reason == "moved"} == {
        "y.txt": "a.txt", "z.txt": "b.txt",
    }  # fmt: skip
    assert removed(found) == []


def test_a_copy_is_a_new_document(folder: Path) -> None:
    held = stored(folder)
    (folder / "copy.txt").write_bytes((folder / "a.txt").read_bytes())
    assert reasons(plan([folder], held))["copy.txt"] == "new"


# Removals


def test_a_fifth_of_a_source_is_removed_and_more_is_not(folder: Path) -> None:
    held = stored(folder)
    (folder / "a.txt").unlink()
    assert removed(plan([folder], held)) == ["a.txt"]
    (folder / "b.txt").unlink()
    found = plan([folder], held)
    assert (removed(found), found.refused) == ([], ((folder.as_uri(), 2, 5),))
    assert removed(plan([folder], held, allow_removals=True)) == ["a.txt", "b.txt"]


def test_an_incomplete_listing_removes_nothing(folder: Path) -> None:
    held = stored(folder)
    (folder / "a.txt").unlink()
    listing = list_files(str(folder))
    problem = ("sub", SourceError("sub cannot be listed."))
    broken = Listing(listing.source, "file", listing.items, complete=False, problems=(problem,))
    found = make_plan([broken], held, terms(allow_removals=True))
    assert removed(found) == []
    assert (found.steps[0].action, found.steps[0].item.name, found.steps[0].stage) == ("fail", "sub", "list")


@pytest.fixture
def nested(folder: Path) -> Callable[[], list[StoredDocument]]:
    """Twenty files below a sub-folder, brought in from the folder above it."""
    (folder / "sub").mkdir()
    for number in range(20):
        (folder / "sub" / f"{number:02}.txt").write_text(f"Number {number}.")
    return lambda: stored(folder)


def test_a_sub_folder_is_a_source_of_all_that_is_below_it(
    folder: Path, nested: Callable[[], list[StoredDocument]]
) -> None:
    held = nested()
    (folder / "sub" / "00.txt").unlink()
    found = plan([folder / "sub"], held)
    assert (removed(found), found.refused) == (["00.txt"], ())


def test_a_sub_folder_says_nothing_of_what_is_beside_it(
    folder: Path, nested: Callable[[], list[StoredDocument]]
) -> None:
    held = nested()
    (folder / "a.txt").unlink()
    assert removed(plan([folder / "sub"], held)) == []


def test_a_document_of_two_sources_is_planned_once(folder: Path, nested: Callable[[], list[StoredDocument]]) -> None:
    held = nested()
    (folder / "sub" / "00.txt").unlink()
    found = plan([folder, folder / "sub", folder], held)
    assert len(found.steps) == len(held)
    assert removed(found) == ["00.txt"]


def test_what_one_source_refuses_to_remove_no_other_removes(
    folder: Path, nested: Callable[[], list[StoredDocument]]
) -> None:
    held = nested()
    for number in range(5):
        (folder / "sub" / f"{number:02}.txt").unlink()
    found = plan([folder, folder / "sub"], held)
    assert (removed(found), found.refused) == ([], (((folder / "sub").as_uri(), 5, 20),))


def test_a_place_that_is_gone_altogether_removes_nothing(folder: Path) -> None:
    held = stored(folder)
    gone = folder.rename(folder.with_name("elsewhere"))
    found = plan([folder], held, allow_removals=True)
    assert (removed(found), gone.exists(), len(found.steps)) == ([], True, 1)


# What is told beside the documents


def test_a_source_with_nothing_to_read_says_so_and_one_that_cannot_be_listed_does_not(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    site = Listing("https://a.example/sitemap.xml", "web", (), True)
    closed = replace(site, source="github:ann", problems=(("github:ann", SourceError("Closed.")),), complete=False)
    found = make_plan([list_files(str(empty)), site, closed], [], terms())
    assert (found.skipped, found.empty) == ((), (empty.as_uri(), "https://a.example/sitemap.xml"))


def test_what_is_removed_is_not_told_as_passed_over_too(folder: Path) -> None:
    held = [replace(document, source="https://a.example/", source_kind="web") for document in stored(folder)]
    gone, *here = held
    items = tuple(SourceItem(each.source_uri, each.name, each.source, "web", each.stamp) for each in here)
    lost = Remark("a.example/lost", "it is listed, but gone")
    listing = Listing("https://a.example/", "web", items, True, (Remark(gone.name, "it is listed, but gone"), lost))
    found = make_plan([listing], held, terms(allow_removals=True))
    assert (removed(found), found.skipped) == ([gone.name], (lost,))


def test_what_is_stored_in_part_is_told_apart_from_what_is_passed_over() -> None:
    listing = Listing("notion:1", "notion", (), True, partial=(Remark("Page", "without its blocks"),))
    found = make_plan([replace(listing, skipped=(Remark("View", "It is a linked view"),))], [], terms())
    assert (found.skipped, found.partial) == ((("View", "It is a linked view"),), (("Page", "without its blocks"),))


# What failed before


def test_only_what_failed_is_tried_again(folder: Path) -> None:
    (folder / "a.txt").unlink()
    held = [document for document in stored(folder) if document.name != "b.txt"]
    (folder / "new.txt").write_text("New.")
    found = plan([folder], held, failed=[failure(folder / "b.txt", folder)], only_failed=True)
    assert [(step.action, step.item.name, step.reason) for step in found.steps] == [
        ("add", "b.txt", "failed the last time")
    ]
    assert (found.refused, found.skipped) == ((), ())


def test_a_failure_whose_file_is_gone_is_settled_by_a_complete_listing(folder: Path) -> None:
    gone = [failure(folder / "gone.txt", folder)]
    assert {failed.document: why for failed, why in plan([folder], stored(folder), failed=gone).settled.items()} == {
        "gone.txt": "its file is gone"
    }
    assert plan([folder / "a.txt"], stored(folder), failed=gone).settled == {}


def test_a_failure_of_a_file_that_is_as_it_was_again_is_settled(folder: Path) -> None:
    mended = [failure(folder / "a.txt", folder, held=True)]
    found = plan([folder], stored(folder), failed=mended)
    assert list(found.settled.values()) == ["it is again as it is stored"]
    assert plan([folder], stored(folder), failed=mended, only_failed=True).steps == ()


def test_what_failed_is_read_again_though_its_source_tells_that_it_is_as_it_was(folder: Path) -> None:
    def closed(item: SourceItem) -> Read:
        raise SourceError(f"{item.name} cannot be read.")

    failed = [failure(folder / "a.txt", folder, held=True)]
    found = plan([folder], stored(folder), failed=failed, only_failed=True, read=closed)
    assert [(step.item.name, step.action) for step in found.steps] == [("a.txt", "fail")]
    assert found.settled == {}


def test_what_a_remote_source_refuses_to_have_removed_is_still_held_by_it(folder: Path) -> None:
    pages = [
        replace(held, source_uri=f"https://example.org/{held.name}", source=source, source_kind="web")
        for held, source in zip(stored(folder), ("s", "s", "other", "s", "s"), strict=True)
    ]
    items = tuple(SourceItem(page.source_uri, page.name, "s", "web", page.stamp) for page in pages[3:])
    found = make_plan(
        [Listing("s", "web", items, True)], pages, terms(last_listed={"s": [page.source_uri for page in pages]})
    )  # fmt: skip
    assert found.refused == (("s", 3, 5),)
    assert set(found.listed["s"]) == {page.source_uri for page in pages}


def test_a_failure_of_a_stored_document_stands_while_its_removal_is_refused(folder: Path) -> None:
    held = stored(folder)
    for name in ("a", "b"):
        (folder / f"{name}.txt").unlink()
    assert plan([folder], held, failed=[failure(folder / "a.txt", folder, held=True)]).settled == {}


def test_a_failure_moves_out_of_the_way_with_its_document(folder: Path) -> None:
    held = stored(folder)
    (folder / "a.txt").rename(folder / "z.txt")
    found = plan([folder], held, failed=[failure(folder / "a.txt", folder, held=True)])
    assert list(found.settled.values()) == ["it moved"]


def test_an_archive_that_cannot_be_opened_keeps_its_own_documents_and_no_others(folder: Path) -> None:
    held, archive = stored(folder), (folder / "export.zip").as_uri()
    (folder / "a.txt").unlink()
    (folder / "export.zip").write_bytes(b"no archive")
    within = replace(held[1], id="within", source_uri=f"{archive}#page.md", name="export.zip/page.md")
    found = plan([folder], [*held, within], allow_removals=True)
    assert removed(found) == ["a.txt"]
    assert [step.item.name for step in found.steps if step.action == "fail"] == ["export.zip"]


def test_a_remote_document_that_is_called_otherwise_is_updated(folder: Path) -> None:
    (one,) = [held for held in stored(folder) if held.name == "a.txt"]
    item = SourceItem("https://example.org/a", "new/name", "notion:1", "notion", "v1")
    listing = Listing("notion:1", "notion", (item,), True)
    page = replace(one, source_uri=item.uri, source="notion:1", source_kind="notion", name="old/name", stamp="v1")
    found = make_plan([listing], [page], terms(read=lambda _: Read(one.file_sha, kept=True)))
    assert [(step.action, step.reason) for step in found.steps] == [("update", "it has another name")]


def test_a_link_to_a_folder_or_to_nothing_is_named_as_passed_over(folder: Path, tmp_path_factory: Any) -> None:
    beside = tmp_path_factory.mktemp("beside")
    (beside / "far.md").write_text("# Far\n")
    (folder / "linked").symlink_to(beside)
    (folder / "dangling.md").symlink_to(beside / "nothing.md")
    listing = list_files(str(folder))
    assert {"linked", "dangling.md"} <= {each.name for each in listing.skipped}
    assert listing.complete


def test_a_path_that_no_index_holds_is_refused_by_itself(folder: Path) -> None:
    deep = folder
    for _ in range(9):
        deep = deep / ("深" * 80)
    os.makedirs(deep)
    (deep / "note.md").write_text("# Deep\n")
    listing = list_files(str(folder))
    ((name, error),) = listing.problems
    assert (listing.complete, name.endswith("note.md"), "too long" in error.message) == (True, True, True)
    assert not any(item.name.endswith("深/note.md") for item in listing.items)


ITEM = SourceItem("file:///home/ann/papers/2024/cv.pdf", "2024/cv.pdf", "file:///home/ann/papers", "file")


@pytest.mark.parametrize("glob", ["2024/cv.pdf", "*.pdf", "2024/*", "file:///home/ann/*", "*/papers", "*"])
def test_a_glob_matches_the_name_the_address_or_the_source(glob: str) -> None:
    assert rule_overrides(ITEM, [SourceRule(match=glob, category="resume")]) == {"category": "resume"}


@pytest.mark.parametrize("glob", ["cv.pdf", "*.PDF", "2024", "papers"])
def test_a_glob_that_matches_a_part_says_nothing(glob: str) -> None:
    assert rule_overrides(ITEM, [SourceRule(match=glob, category="resume")]) == {}


def test_the_later_rule_wins_field_by_field() -> None:
    rules = [
        SourceRule(match="*", category="journey", visibility="private", year=2020),
        SourceRule(match="*.pdf", category="resume", parser="generic"),
        SourceRule(match="*.md", category="blog"),
    ]
    expected = {"category": "resume", "visibility": "private", "year": 2020, "parser": "generic"}
    assert rule_overrides(ITEM, rules) == expected


@pytest.mark.parametrize("wrong", [{"match": ""}, {"match": "*", "visibility": "secret"}, {"match": "*", "kind": "x"}])
def test_a_rule_that_cannot_be_meant_is_refused(wrong: dict) -> None:
    with pytest.raises(ValidationError):
        SourceRule(**wrong)
