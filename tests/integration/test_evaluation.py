import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.cli import evaluate
from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.evaluation.corpus import index_dataset, portfolio_engine
from pipelines.evaluation.datasets import load_beir
from pipelines.evaluation.experiment import SYSTEMS, ablate, index_judged_sets, run_experiment
from pipelines.evaluation.measures import means
from pipelines.query.engine import build_query_engine
from pipelines.store.schema import queries
from tests.unit.evaluation.test_datasets import write_beir


def beir(settings: Settings, *folders: Path, **options: Any) -> None:
    """`footnote eval beir` with these settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "settings_now", lambda: settings)
        evaluate.eval_beir(list(folders), **{"measure": ["RR@10"], "as_json": True, **options})


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
    of_ones_own = run_experiment(settings, dataset, {"words": {"retrieval.mode": "sparse"}}, measures=["RR@1"])
    assert of_ones_own.systems == {"words": {"RR@1": 1.0}}
    again: list[tuple[str, int, int]] = []
    index_dataset(settings, dataset, lambda *done: again.append(done))
    assert again == []


@pytest.mark.usefixtures("own_databases")
def test_a_folder_evaluated_at_another_place_does_not_stand_there_twice(settings: Settings, tmp_path: Path) -> None:
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "crane.md").write_text("# Crane\n\nThe crane moved 40 containers an hour.\n")
        engine = portfolio_engine(settings, tmp_path / place, name="folders")
        assert engine.store.count() == 1


@pytest.mark.usefixtures("own_databases")
def test_a_second_system_takes_the_vectors_of_the_questions_from_the_first(settings: Settings, tmp_path: Path) -> None:
    one = index_judged_sets(settings, [write_beir(tmp_path / "harbour")])[0]
    ranked = one.run({})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(one.engine.embed_model), "_get_query_embedding", None)  # nothing is left to embed with
        assert one.run({"factors.quality": False}).keys() == ranked.keys()


@pytest.mark.usefixtures("own_databases")
def test_evaluation_writes_no_query_log_and_searches_a_still_corpus(settings: Settings, tmp_path: Path) -> None:
    one = index_judged_sets(settings, [write_beir(tmp_path / "harbour")])[0]
    one.run({})
    with one.engine.database.engine.connect() as connection:
        assert connection.execute(select(queries)).all() == []


@pytest.mark.usefixtures("own_databases")
def test_a_question_that_cannot_be_searched_finds_nothing_and_stays_in_the_mean(
    settings: Settings, tmp_path: Path
) -> None:
    folder = write_beir(tmp_path / "harbour")
    path = folder / "queries.jsonl"
    path.write_text(path.read_text().replace("harbour dredging", "   "))
    scores = index_judged_sets(settings, [folder])[0].scores({}, ["RR@10"])
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
    one = index_judged_sets(settings, [write_beir(tmp_path / "harbour")])[0]
    gains = ablate([one], SYSTEMS["sparse"], "RR@10")
    without = {**SYSTEMS["sparse"], "retrieval.mode": "dense"}
    full, less = (means(one.scores(changes, ["RR@10"]))["RR@10"] for changes in (SYSTEMS["sparse"], without))
    assert gains["sparse"].difference == pytest.approx(full - less)
    assert (gains["dense"].difference, gains["dense"].ties) == (0.0, 2)  # which is off already


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"system": ["psychic"]}, "no system 'psychic'"),
        ({"compare": "psychic"}, "no system 'psychic'"),
        ({"measure": ["luck@5"]}, "no measure 'luck@5'"),
        ({"setting": ["retrieval.luck=1"]}, "no setting 'retrieval.luck'"),
        ({"setting": ["retrieval.dense_weight=7"]}, "dense_weight"),
        ({"setting": ["retrieval.dense_weight"]}, "does not assign a value to a setting"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_read(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        beir(Settings(_env_file=None), Path("nowhere"), **wrong)


@pytest.mark.usefixtures("own_databases")
def test_the_json_of_one_set_has_the_keys_of_the_design_and_a_file_of_topics(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beir(settings, write_beir(tmp_path / "harbour"), setting=["retrieval.dense_weight=0"], compare="default")
    report = json.loads(capsys.readouterr().out)
    assert report["dataset"] == "harbour"
    assert report["topics"] == 2
    assert list(report["systems"]) == ["default", "custom"]
    assert report["comparisons"]["custom"]["RR@10"].keys() >= {"difference", "low", "high", "p"}
    assert report["fingerprint"]
    topics = json.loads(Path(report["per_topic"]).read_text())
    assert topics["custom"]["1"] == {"RR@10": report["systems"]["custom"]["RR@10"]}


@pytest.mark.usefixtures("own_databases")
def test_several_sets_are_averaged_taken_apart(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [write_beir(tmp_path / "a" / "harbour"), write_beir(tmp_path / "b" / "harbour")]
    path = folders[1] / "queries.jsonl"
    path.write_text(path.read_text().replace("harbour dredging", "xyzzy"))
    beir(settings, *folders, system=["sparse"], ablate=True, per_topic=tmp_path / "topics.json")
    report = json.loads(capsys.readouterr().out)
    first, second = report["sets"].values()
    assert (first["sparse"]["RR@10"], second["sparse"]["RR@10"]) == (1.0, 0.5)
    assert report["systems"]["sparse"]["RR@10"] == (1.0 + 0.5) / 2
    assert report["ablation"]["parts"]["dense"]["ties"] == 4
    assert report["ablation"]["milliseconds"].keys() == report["ablation"]["parts"].keys()
    assert json.loads((tmp_path / "topics.json").read_text()).keys() == report["sets"].keys()
    beir(settings, *folders, system=["sparse"], ablate=True, as_json=False)
    said = capsys.readouterr().out
    assert "mean over the sets" in said
    assert "what each part brings" in said
