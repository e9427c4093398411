import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.experiments import run_beir, run_tune
from config.settings import Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.evaluation.ablate import ablate
from pipelines.evaluation.corpus import index_dataset, ingest_folder
from pipelines.evaluation.datasets import load_beir
from pipelines.evaluation.experiment import run_experiment
from pipelines.evaluation.judged import judged
from pipelines.evaluation.measures import means
from pipelines.evaluation.systems import SYSTEMS
from pipelines.evaluation.tune import labelled, tune
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.database import open_database
from pipelines.store.tables import embedding_cache, queries
from tests.unit.evaluation.test_datasets import write_beir


def beir(settings: Settings, *folders: Path, **asked: Any) -> None:
    given: dict[str, Any] = {
        "systems": [], "overrides": [], "measures": ["RR@10"], "baseline": "", "limit": None, "per_topic": None,
        "ablate": False, "fit": False, "as_json": True, **asked,
    }  # fmt: skip
    run_beir(settings, list(folders), **given)


@pytest.mark.usefixtures("own_databases")
def test_a_dataset_is_indexed_once_beside_the_users_documents_and_ranked(settings: Settings, tmp_path: Path) -> None:
    dataset = load_beir(write_beir(tmp_path / "harbour"))
    told: list[tuple[str, int, int]] = []
    found = run_experiment(
        settings, dataset, ["sparse", "default"], measures=["recall@5", "RR@1"], baseline="sparse",
        on_progress=lambda *done: told.append(done),
    )  # fmt: skip
    assert told == [
        ("indexing harbour", 3, 3), ("sparse", 1, 2), ("sparse", 2, 2), ("default", 1, 2), ("default", 2, 2),
    ]  # fmt: skip
    assert build_query_engine(settings).store.count() == 0
    assert found.systems["sparse"] == {"recall@5": 1.0, "RR@1": 1.0}
    assert found.per_topic["harbour"]["default"].keys() == {"1", "2"}
    assert found.comparisons["default"]["RR@1"].p == 1.0
    again: list[int] = []
    index_dataset(settings, dataset, lambda done, _: again.append(done))
    assert again == []


@pytest.mark.usefixtures("own_databases")
def test_a_folder_evaluated_at_another_place_does_not_stand_there_twice(settings: Settings, tmp_path: Path) -> None:
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "crane.md").write_text("# Crane\n\nThe crane moved 40 containers an hour.\n")
        engine = ingest_folder(settings, "folders", tmp_path / place, on_progress=lambda *_: None)
        assert engine.store.count() == 1


@pytest.mark.usefixtures("own_databases")
def test_a_second_run_takes_the_vectors_of_the_questions_from_the_first(settings: Settings, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "harbour")
    first = judged(settings, folder)
    ranked = first.run({})
    with first.engine.database.engine.connect() as connection:
        kept = connection.execute(select(embedding_cache.c.model)).scalars().all()
    assert [model for model in kept if model.endswith("?questions")] == [
        kept[0].removesuffix("?questions") + "?questions"
    ] * 2
    second = judged(settings, folder)
    second.engine.embed_model.inner = None  # type: ignore[attr-defined]  # nothing is left to embed with
    assert second.run({}) == ranked


@pytest.mark.usefixtures("own_databases")
def test_evaluation_writes_no_query_log_and_searches_a_still_corpus(settings: Settings, tmp_path: Path) -> None:
    one = judged(settings, write_beir(tmp_path / "harbour"))
    one.run({})
    with one.engine.database.engine.connect() as connection:
        assert connection.execute(select(queries)).all() == []
    assert one.engine.settings.retrieval.cache_entries == 0


@pytest.mark.usefixtures("own_databases")
def test_a_question_that_cannot_be_searched_finds_nothing_and_stays_in_the_mean(
    settings: Settings, tmp_path: Path
) -> None:
    folder = write_beir(tmp_path / "harbour")
    path = folder / "queries.jsonl"
    path.write_text(path.read_text().replace("harbour dredging", "   "))
    scores = judged(settings, folder).scores({}, ["RR@10"])
    assert scores["2"] == {"RR@10": 0.0}
    assert means(scores) == {"RR@10": 1 / 2}


@pytest.mark.usefixtures("own_databases")
def test_every_system_runs(settings: Settings, tmp_path: Path) -> None:
    found = run_experiment(settings, write_beir(tmp_path / "harbour"), measures=["recall@5"])
    assert list(found.systems) == list(SYSTEMS)


@pytest.mark.usefixtures("own_databases")
def test_a_part_that_finds_what_nothing_else_finds_is_worth_what_is_lost_without_it(
    settings: Settings, tmp_path: Path
) -> None:
    one = judged(settings, write_beir(tmp_path / "harbour"))
    effects = {effect.part: effect for effect in ablate([one], SYSTEMS["sparse"], "RR@10")}
    assert effects["dense"].status == "off"
    assert effects["quota"].status == "off"
    assert effects["sparse"].gain.difference == pytest.approx(effects["sparse"].full - effects["sparse"].without)
    assert effects["sparse"].full == means(one.scores(SYSTEMS["sparse"], ["RR@10"]))["RR@10"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"systems": ["psychic"]}, "no system 'psychic'"),
        ({"baseline": "psychic"}, "no system 'psychic'"),
        ({"measures": ["luck@5"]}, "no measure 'luck@5'"),
        ({"overrides": ["retrieval.luck=1"]}, "no setting 'retrieval.luck'"),
        ({"overrides": ["retrieval.dense_weight=7"]}, "dense_weight"),
        ({"overrides": ["retrieval.dense_weight"]}, "gives no setting a value"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_read(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        beir(Settings(_env_file=None), Path("nowhere"), **wrong)


@pytest.mark.usefixtures("own_databases")
def test_the_json_of_one_set_has_the_keys_of_the_design_and_a_file_of_topics(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beir(settings, write_beir(tmp_path / "harbour"), overrides=["retrieval.dense_weight=0"], baseline="default")
    report = json.loads(capsys.readouterr().out)
    assert report["dataset"] == "harbour"
    assert report["topics"] == 2
    assert list(report["systems"]) == ["default", "custom"]
    assert report["comparisons"]["custom"]["RR@10"].keys() >= {"difference", "low", "high", "p"}
    assert report["fingerprint"]
    topics = json.loads(Path(report["per_topic"]).read_text())
    assert topics["custom"]["1"] == {"RR@10": report["systems"]["custom"]["RR@10"]}


@pytest.mark.usefixtures("own_databases")
def test_several_sets_are_averaged_taken_apart_and_fitted(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [write_beir(tmp_path / "a" / "harbour"), write_beir(tmp_path / "b" / "harbour")]
    path = folders[1] / "queries.jsonl"
    path.write_text(path.read_text().replace("harbour dredging", "xyzzy"))
    beir(settings, *folders, systems=["sparse"], ablate=True, fit=True, per_topic=tmp_path / "topics.json")
    report = json.loads(capsys.readouterr().out)
    first, second = report["sets"].values()
    assert (first["sparse"]["RR@10"], second["sparse"]["RR@10"]) == (1.0, 0.5)
    assert report["systems"]["sparse"]["RR@10"] == (1.0 + 0.5) / 2
    assert {part["part"]: part["status"] for part in report["ablation"]["parts"]}["dense"] == "off"
    assert report["fit"]["change"] == {}  # weights of a leg that does not search change nothing
    assert json.loads((tmp_path / "topics.json").read_text()).keys() == report["sets"].keys()
    beir(settings, *folders, systems=["sparse"], ablate=True, fit=True, as_json=False)
    said = capsys.readouterr().out
    assert "mean over the sets" in said
    assert "off already" in said
    assert "change nothing" in said


NAMES = (
    "alderwood birchwood cedarwood dogwood elmwood firwood ginkgo hazelnut ivywood juniper katsura larchwood"
).split()


def harbours(settings: Settings, folder: Path) -> None:
    """Ingest a note for each name."""
    for name in NAMES:
        (folder / f"{name}.txt").write_text(f"{name.title()} is where the cranes unload.\n")
    ingest(settings, [str(folder)])


def test_tuning_finds_the_one_setting_that_labelled_questions_need(settings: Settings, tmp_path: Path) -> None:
    harbours(settings, tmp_path)
    only_words = {"retrieval.mode": "sparse", "retrieval.typo_weight": 0.0}
    engine = build_query_engine(settings).with_changes(only_words)
    misspelt = [{"question": f"{name}x", "document": f"{name}.txt", "good": True} for name in NAMES]
    found = tune(engine, labelled([], misspelt), {"retrieval.mode": ("hybrid", "sparse"), "factors.year": (1.0, 2.0)})
    assert found.chosen == {"retrieval.mode": "hybrid"}
    assert (found.now, found.seen, found.held_out.difference) == (0.0, 1.0, 1.0)
    assert found.helps


def test_tuning_says_what_it_would_change_and_keeps_no_question(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    harbours(settings, tmp_path / "notes")
    feedback = tmp_path / "feedback.jsonl"
    rows = [{"question": f"harbour {name}", "document": f"{name}.txt", "good": True} for name in NAMES]
    feedback.write_text("\n".join(map(json.dumps, rows)))
    run_tune(settings, [], feedback, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["questions"] == len(NAMES)
    assert report["change"] == {}  # every question finds its note at once: there is nothing to gain
    assert report["now"] == report["seen"] == 1.0
    run_tune(settings, [], feedback, as_json=False)
    assert "change nothing" in capsys.readouterr().out
    with open_database(settings).engine.connect() as connection:
        assert connection.execute(select(queries)).all() == []
        kept = connection.execute(select(embedding_cache.c.model)).scalars().all()
    assert not [model for model in kept if model.endswith("?questions")]


def test_tuning_on_nothing_or_on_a_handful_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nothing to learn from"):
        run_tune(settings, [], None, as_json=True)
    feedback = tmp_path / "feedback.jsonl"
    feedback.write_text('{"question": "q", "document": "d", "good": true}')
    with pytest.raises(SourceError, match="1 labelled questions are too few"):
        run_tune(settings, [], feedback, as_json=True)
