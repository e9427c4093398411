"""What `ingest --plan` says is what the run then does."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from sqlalchemy import func, select

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ConfigError
from pipelines.ingestion.plan import NOTHING_STATED, Overrides, Plan
from pipelines.ingestion.preview import DocumentPreview, preview
from pipelines.ingestion.run import Ingestion, build_ingestion
from pipelines.store import schema as tables
from pipelines.types import IngestReport


def planned(ingestion: Ingestion, folder: Path, overrides: Overrides = NOTHING_STATED) -> tuple[Plan, DocumentPreview]:
    plan = ingestion.plan([str(folder)], overrides=overrides)
    return plan, preview(ingestion, plan)


def assert_as_foreseen(seen: DocumentPreview, report: IngestReport) -> None:
    assert seen.items == tuple(replace(item, seconds=0.0) for item in report.items)
    assert seen.embeddings == report.embedded


def write_pdf(path: Path, text: str, **options: str) -> None:
    canvas = Canvas(str(path), pagesize=A4, **options)
    canvas.drawString(72, 720, text)
    canvas.save()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """54 documents: 40 Markdown with front matter, 10 text, 4 PDF."""
    for number in range(40):
        body = "\n\n".join(f"## Part {part}\n\n" + f"Line {part} of note {number}. " * 4 for part in range(3))
        (tmp_path / f"note{number:02}.md").write_text(f"---\nauthor: Ann\n---\n# Note {number}\n\n{body}\n")
    for number in range(10):
        (tmp_path / f"text{number}.txt").write_text(f"Plain text number {number}.\n")
    for number in range(4):
        write_pdf(tmp_path / f"page{number}.pdf", f"A page about the number {number}.")
    return tmp_path


def edit_twenty(folder: Path) -> None:
    """12 texts change, in one part each; 4 authors; 3 titles, which stand in every header; one PDF."""
    for number in range(12):
        path = folder / f"note{number:02}.md"
        path.write_text(path.read_text().replace(f"Line 1 of note {number}. ", f"Edited {number % 5}. "))
    for number in range(12, 16):
        path = folder / f"note{number:02}.md"
        path.write_text(path.read_text().replace("author: Ann", "author: Bea"))
    for number in range(16, 19):
        path = folder / f"note{number:02}.md"
        path.write_text(path.read_text().replace(f"# Note {number}", f"# A new title {number}"))
    write_pdf(folder / "page0.pdf", "Another page altogether.")


def break_five(folder: Path) -> dict[str, str]:
    """The names of the files that are broken now, and a word of each reason."""
    (folder / "page1.pdf").write_bytes((folder / "page1.pdf").read_bytes()[:300])
    (folder / "note39.md").write_bytes(b"")
    (folder / "text0.txt").write_bytes(random.Random(1).randbytes(4000))
    write_pdf(folder / "page2.pdf", "secret", encrypt="password")
    (folder / "letter.docx").write_bytes(b"PK\x03\x04 no archive at all")
    return {
        "page1.pdf": "", "note39.md": "empty", "text0.txt": "binary", "page2.pdf": "encrypted", "letter.docx": "",
    }  # fmt: skip


def test_twenty_edited_ten_removed_five_broken_and_the_plan_said_exactly_what_happened(
    corpus: Path, settings: Settings
) -> None:
    ingestion = build_ingestion(settings)
    first, seen = planned(ingestion, corpus)
    assert_as_foreseen(seen, ingestion.run(first))
    assert seen.count("added") == 54
    edit_twenty(corpus)
    for number in range(20, 30):
        (corpus / f"note{number}.md").unlink()
    broken = break_five(corpus)
    (corpus / "text9.txt").rename(corpus / "moved.txt")
    for name in ("new.txt", "twin.txt"):
        (corpus / name).write_text("Two files of the same words.\n")
    plan, seen = planned(ingestion, corpus)
    report = ingestion.run(plan)
    assert_as_foreseen(seen, report)
    counts = {outcome: report.count(outcome) for outcome in ("updated", "metadata", "removed", "failed", "added")}
    assert counts == {"updated": 16 + 1, "metadata": 4, "removed": 10, "failed": 5, "added": 2}
    failed = {item.document: item.message for item in report.items if item.outcome == "failed"}
    assert failed.keys() == broken.keys()
    assert all(word in failed[name] for name, word in broken.items())
    plan, seen = planned(ingestion, corpus)
    assert (seen.embeddings, seen.count("unchanged"), seen.count("failed")) == (0, 54 - 10 - 4 + 2, 5)
    assert_as_foreseen(seen, ingestion.run(plan))


def traces(ingestion: Ingestion) -> dict[str, object]:
    """How many rows each table has, and the files under FOOTNOTE_HOME."""
    with ingestion.database.engine.connect() as connection:
        rows = {
            name: connection.execute(select(func.count()).select_from(table)).scalar()
            for name, table in tables.metadata.tables.items()
        }
    return rows | {"files": sorted(str(path) for path in ingestion.settings.home.rglob("*") if path.is_file())}


def test_a_preview_leaves_no_trace(corpus: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    ingestion.run(ingestion.plan([str(corpus / "note00.md")]))
    edit_twenty(corpus)
    break_five(corpus)
    before = traces(ingestion)
    planned(ingestion, corpus)
    planned(ingestion, corpus, Overrides(parser="semantic"))
    assert traces(ingestion) == before


def test_a_changed_parser_is_parsed_again_and_what_it_cuts_alike_is_not_embedded(
    corpus: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.ingestion.parsers import PARSERS

    for path in corpus.glob("note[1-3]*.md"):
        path.unlink()
    ingestion = build_ingestion(settings)
    ingestion.run(ingestion.plan([str(corpus)]))
    markdown = PARSERS["markdown"]
    version = markdown.model_fields["version"].default
    newer = type("MarkdownParser", (markdown,), {"__annotations__": {"version": int}, "version": version + 1})
    monkeypatch.setitem(PARSERS, "markdown", newer)
    plan, seen = planned(ingestion, corpus)
    reasons = {step.reason for step in plan.steps if step.action == "update"}
    assert reasons == {f"parser markdown {version} -> {version + 1}"}
    assert (seen.count("updated"), seen.embeddings) == (10, 0)
    assert_as_foreseen(seen, ingestion.run(plan))


def test_a_text_that_documents_share_is_embedded_once(tmp_path: Path, settings: Settings) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text("# The same title\n\nThe same words.\n")
    ingestion = build_ingestion(settings)
    plan, seen = planned(ingestion, tmp_path)
    assert [item.embedded for item in seen.items] == [1, 0]
    assert_as_foreseen(seen, ingestion.run(plan))


# A parser that cuts by meaning


@pytest.fixture
def story(tmp_path: Path) -> Path:
    (tmp_path / "story.txt").write_text(" ".join(f"The {n}th boat left the harbour at dawn." for n in range(40)))
    (tmp_path / "short.txt").write_text("Too few sentences. To be cut.")
    return tmp_path


def test_groups_of_sentences_are_counted_and_nodes_at_most_one_a_group(story: Path, settings: Settings) -> None:
    ingestion, semantic = build_ingestion(settings), Overrides(parser="semantic")
    plan, seen = planned(ingestion, story, semantic)
    groups = -(-40 // 3)
    short, long = seen.items
    assert (long.nodes, long.embedded, seen.sentence_groups) == (groups, 2 * groups, groups)
    assert [seen.items[place].document for place in seen.estimated] == ["story.txt"]
    report = ingestion.run(plan)
    assert report.items[0] == replace(short, seconds=report.items[0].seconds)
    assert groups < report.items[1].embedded <= long.embedded


def test_once_the_groups_are_cached_the_nodes_are_known_exactly(story: Path, settings: Settings) -> None:
    ingestion, semantic = build_ingestion(settings), Overrides(parser="semantic")
    ingestion.run(planned(ingestion, story, semantic)[0])
    again = Overrides(collection="other", parser="semantic")
    plan, seen = planned(ingestion, story, again)
    assert (seen.embeddings, seen.sentence_groups, seen.estimated) == (0, 0, frozenset())
    assert_as_foreseen(seen, ingestion.run(plan))


# What it costs


def test_a_paid_model_is_priced_by_its_tokens_without_being_asked(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    paid = EmbeddingSettings(provider="openai", model="text-embedding-3-small", pause_ms=0)
    ingestion = build_ingestion(make_settings(embedding=paid, openai_api_base="http://127.0.0.1:9/v1"))
    _, seen = planned(ingestion, corpus)
    assert seen.embeddings == sum(item.nodes for item in seen.items)
    assert seen.cost == pytest.approx(seen.tokens * 0.02 / 1_000_000, abs=1e-6)


def test_a_model_here_costs_nothing(corpus: Path, settings: Settings) -> None:
    assert planned(build_ingestion(settings), corpus)[1].cost == 0


def test_what_would_end_the_run_ends_the_preview(corpus: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    with pytest.raises(ConfigError, match="poem"):
        preview(ingestion, ingestion.plan([str(corpus)], overrides=Overrides(parser="poem")))


def test_the_sums_of_very_many_documents_are_estimated_from_a_sample(
    corpus: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingestion = build_ingestion(settings)
    plan = ingestion.plan([str(corpus)])
    exact = preview(ingestion, plan)
    assert (exact.sampled, exact.due) == (0, 54)
    monkeypatch.setattr("pipelines.ingestion.preview.SAMPLE", 18)
    assert preview(ingestion, plan, whole=False) == exact  # they are few
    monkeypatch.setattr("pipelines.ingestion.preview.MAX_WHOLE", 53)
    assert preview(ingestion, plan) == exact
    seen = preview(ingestion, plan, whole=False)
    assert (seen.sampled, seen.due) == (18, 54)
    assert seen.count("added") == len(seen.items) == 54
    assert sum(item.nodes > 0 for item in seen.items) == 18
    for name in ("embeddings", "tokens"):
        assert getattr(seen, name) == pytest.approx(getattr(exact, name), rel=0.15)
