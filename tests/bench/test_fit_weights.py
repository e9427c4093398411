"""A logistic regression finds odds, is judged on groups that it did not see, and fits evidence and claims."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pipelines.evaluation.answerability import ANSWERABLE, UNANSWERABLE
from pipelines.evaluation.datasets import Claim
from pipelines.evaluation.measures import auroc
from tests.bench.fit_weights import (
    KEPT,
    FeaturedClaim,
    balanced,
    featured,
    fit_logistic,
    held_out,
    judge_claims,
    judge_held_out,
    keeping,
    refit_claims,
    refit_evidence,
)
from tests.unit.evaluation.test_answerability import PARAMETERS, ROWS, measured


def test_keeping_finds_the_highest_score_that_still_keeps_the_share() -> None:
    scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert keeping([scores], 0.9) == 0.2
    assert keeping([scores], 0.85) == 0.2
    assert keeping([scores], 1.0) == 0.1
    assert keeping([[0.9, 0.5], [0.1] * 6], 0.75) == 0.1  # groups weigh alike


def test_the_fit_finds_the_odds_of_a_table_whatever_the_scale() -> None:
    # of 100 rows each, x = 0 is right in 20 and x = 1 in 80: log-odds of -ln 4 and ln 4
    x = np.repeat([0.0, 0.0, 1.0, 1.0], [80, 20, 20, 80])
    right = np.repeat([0.0, 1.0, 0.0, 1.0], [80, 20, 20, 80])
    for scale in (1.0, 1000.0):
        found = fit_logistic(scale * x[:, None], right, balanced(right), penalty=1e-9)
        assert found.intercept == pytest.approx(-np.log(4), abs=1e-5)
        assert scale * found.weights[0] == pytest.approx(2 * np.log(4), abs=1e-5)


def test_the_penalty_draws_weights_to_nothing() -> None:
    x, right = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    x[1] = 0.5
    loose, tight = (abs(fit_logistic(x, right, balanced(right), penalty=p).weights[0]) for p in (0.01, 100.0))
    assert tight < loose / 10


def test_rows_that_are_told_apart_by_their_group_alone_are_not_told_apart_when_it_is_held_out() -> None:
    # each group's own column gives its rows away; a fit that has not seen the group cannot know that
    groups = [f"g{number}" for number in range(20) for _ in range(2)]
    right = np.array([float(number % 2) for number in range(20) for _ in range(2)])
    rows = np.repeat(np.eye(20), 2, axis=0)
    seen = fit_logistic(rows, right, balanced(right), penalty=0.01).probabilities(rows)
    assert auroc(seen[right == 1], seen[right == 0]) == 1.0
    unseen = held_out(rows, right, groups)
    ones, zeros = ([value for value, answer in zip(unseen, right, strict=True) if answer == of] for of in (1, 0))
    assert auroc(ones, zeros) <= 0.6
    assert unseen == held_out(rows, right, groups)


# Evidence


def test_each_label_is_judged_by_a_fit_without_its_conversation() -> None:
    found = judge_held_out(ROWS, PARAMETERS)
    assert found["auroc"].keys() == {UNANSWERABLE, "WITHHELD"}
    assert found["auroc"][UNANSWERABLE] > 0.8


def test_a_fit_states_its_bounds_with_what_reaches_them() -> None:
    found = refit_evidence({"one": ROWS}, PARAMETERS)["parameters"]
    assert found["weights"]["support"] > 0
    assert found["floor"]["answerable"] == math.ceil(KEPT * 10) / 10
    assert found["floor"]["unanswerable"] < 1.0
    assert found["high"]["unanswerable"] == 0.0
    assert found["floor"]["at"] <= found["high"]["at"]
    assert (found["far"], found["near"]) == (PARAMETERS.far, PARAMETERS.near)
    assert found == refit_evidence({"one": ROWS}, PARAMETERS)["parameters"]


def test_each_of_several_sets_is_judged_by_a_fit_on_the_others() -> None:
    upside_down = [*measured(ANSWERABLE, 0.1, 0.2, 0.3), *measured(UNANSWERABLE, 0.7, 0.8, 0.9)]
    found = refit_evidence({"one": ROWS, "other": upside_down}, PARAMETERS)["by_the_other_sets"]
    assert found["other"][UNANSWERABLE] == 0.0
    assert found["one"][UNANSWERABLE] < 0.2
    assert refit_evidence({"one": ROWS}, PARAMETERS)["by_the_other_sets"] == {}


def test_the_floor_keeps_the_share_on_average_over_sets_of_any_size() -> None:
    small, large = ROWS, [*ROWS[:10] * 5, *ROWS[10:] * 5]
    one = refit_evidence({"small": small}, PARAMETERS)["parameters"]["floor"]
    both = refit_evidence({"small": small, "large": large}, PARAMETERS)["parameters"]["floor"]
    assert both["answerable"] == one["answerable"] == math.ceil(KEPT * 10) / 10
    assert both["unanswerable"] == one["unanswerable"]


# Claims


def rows_of(count: int) -> list[FeaturedClaim]:
    """Pages of which the supported have a feature of 1, the others of 0; the second feature says nothing."""
    labels = ["supported", "partially_supported", "not_supported"]
    return [
        FeaturedClaim(
            label=labels[n % 3],
            page=f"page {n}",
            features={"told": float(n % 3 == 0), "noise": (n * 7 % 11) / 11},
            plain={"coverage": 0.5, "numbers": 1.0, "cosine": float(n % 3 == 0)},
        )
        for n in range(count)
    ]


def test_the_features_of_a_claim_are_those_of_its_page() -> None:
    found = featured(Claim("It opened in 1901.", "supported", ("The port opened in 1901.", "Tea is hot."), ()), None)
    assert (found.plain["numbers"], found.page) == (1.0, "The port opened in 1901.\n\nTea is hot.")
    assert found.plain["coverage"] > 0
    assert found.features


def test_the_features_and_the_baselines_are_told_apart_without_the_page_that_is_judged() -> None:
    found = judge_claims(rows_of(60))
    assert found["coverage"]["supported"] == 0.5
    assert found["cross-validated"]["supported"] == found["coverage + cosine + numbers"]["supported"] == 1.0


def test_a_page_that_cannot_be_learnt_from_others_is_not_told_apart() -> None:
    rows = [replace(row, page="one page") for row in rows_of(60)]
    assert judge_claims(rows)["cross-validated"]["supported"] == 0.5


def test_a_fit_gives_weight_to_the_feature_that_tells() -> None:
    fitted = refit_claims(rows_of(60))
    assert set(fitted["weights"]) == {"told", "noise"}
    assert fitted["weights"]["told"] > 1 > abs(fitted["weights"]["noise"])
