"""Measures of a run against qrels, computed by ir-measures; a topic without results scores 0."""

import re
from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, Measure, R, Success, nDCG

from pipelines.errors import ConfigError

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]
_KINDS: dict[str, Measure] = {"ndcg": nDCG, "recall": R, "success": Success, "rr": RR}
DEFAULT = ("nDCG@10", "recall@3", "recall@5", "recall@10", "recall@20", "recall@100", "success@5", "RR@3", "RR@10")


def parse_measure(name: str) -> Measure:
    """The measure of a name such as `nDCG@10`: nDCG, recall (share of the relevant found), success (any found), RR.

    Raises:
        ConfigError: If there is no such measure.
    """
    match = re.fullmatch(r"([a-z]+)@([1-9]\d{0,3})", name.lower())
    if match is None or match[1] not in _KINDS:
        raise ConfigError(f"There is no measure {name!r}.", hint="Use nDCG@k, recall@k, success@k or RR@k.")
    return _KINDS[match[1]] @ int(match[2])


def per_topic(qrels: Qrels, run: Run, names: Sequence[str] = DEFAULT) -> dict[str, dict[str, float]]:
    """By topic, each measure's value (0..1); every topic of the qrels is there, found or not."""
    measures = {name: parse_measure(name) for name in names}
    by_measure = {str(measure): name for name, measure in measures.items()}
    scores: dict[str, dict[str, float]] = {topic: dict.fromkeys(names, 0.0) for topic in qrels}
    # an empty run of a topic is no run to the provider, and its topics would be missing from the mean
    full = {topic: dict(ranking) for topic, ranking in run.items() if ranking}
    plain = {topic: dict(judged) for topic, judged in qrels.items()}
    for value in ir_measures.iter_calc(list(measures.values()), plain, full):
        scores[value.query_id][by_measure[str(value.measure)]] = float(value.value)
    return scores


def means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over the topics."""
    if not scores:
        return {}
    names = next(iter(scores.values()))
    return {name: sum(row[name] for row in scores.values()) / len(scores) for name in names}
