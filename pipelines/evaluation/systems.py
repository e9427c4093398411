"""The systems that are compared: settings of a query by dotted name, each robust against a change of the defaults."""

from collections.abc import Iterable, Mapping
from typing import Any

from pipelines.errors import ConfigError
from pipelines.query.parts import PARTS, without

Changes = Mapping[str, Any]
CUSTOM = "custom"

# Two legs and a weighted sum, everything newer switched off.
PLAIN: dict[str, Any] = {
    **without(tuple(part for part in PARTS if part not in ("dense", "sparse"))),
    "retrieval.mode": "hybrid",
    "retrieval.fusion": "convex",
    "retrieval.scale": "max",
    "retrieval.dense_weight": 0.6,
    "retrieval.rrf_k": 60,
    "retrieval.rrf_dense_weight": 0.5,
    "retrieval.ann_factor": 20,
    "retrieval.leg_factor": 4,
    "retrieval.bm25_k1": 1.2,
    "retrieval.bm25_b": 0.75,
    "retrieval.documents_first": 0,
}
SYSTEMS: dict[str, Changes] = {
    "dense": {**PLAIN, "retrieval.mode": "dense"},
    "sparse": {**PLAIN, "retrieval.mode": "sparse"},
    "hybrid-rrf": {**PLAIN, "retrieval.fusion": "rrf"},
    "hybrid-convex": PLAIN,
    "hybrid-40-60": {**PLAIN, "retrieval.dense_weight": 0.6},  # 0.4 BM25 + 0.6 vectors
    "hybrid-50-50": {**PLAIN, "retrieval.dense_weight": 0.5},
    "classic": {  # vector x category x recency x quality
        **PLAIN,
        "retrieval.mode": "dense",
        "retrieval.scale": "none",
        "analysis.categories": "boost",
        "factors.category": True,
        "factors.resume": 1.3,
        "factors.linkedin": 1.25,
        "factors.journey": 1.2,
        "factors.github": 1.15,
        "factors.recency": "steps",
        "factors.quality": True,
    },
    "hybrid+factors": {
        "analysis.categories": "boost",
        "analysis.years": "boost",
        "analysis.names": True,
        "factors.category": True,
        "factors.section": 1.1,
        "factors.recency": "steps",
        "factors.quality": True,
    },
    "documents-first": {"retrieval.documents_first": 20},
    "auto": {"escalation.mode": "auto"},
    "default": {},
}


def chosen(names: Iterable[str], overrides: Changes, baseline: str = "") -> dict[str, Changes]:
    """The systems of these names with the overrides on each, in order; no names = all, or `default` and `custom`.

    Without names, overrides make the system `custom`: the settings as they stand, and these changes. The baseline comes
    first; unless it is among the names, nothing overrides it.

    Raises:
        ConfigError: If a system does not exist.
    """
    wanted = list(dict.fromkeys(names))
    if not wanted and overrides:
        found: dict[str, Changes] = {"default": {}, CUSTOM: dict(overrides)}
    else:
        found = {name: {**system(name), **overrides} for name in wanted or SYSTEMS}
    first: dict[str, Changes] = {baseline: found.get(baseline) or system(baseline)} if baseline else {}
    return first | found


def system(name: str) -> Changes:
    """The settings of a system.

    Raises:
        ConfigError: If it does not exist.
    """
    if name not in SYSTEMS:
        raise ConfigError(f"There is no system {name!r}.", hint=f"Systems: {', '.join(SYSTEMS)}.")
    return SYSTEMS[name]


def parse_overrides(given: Iterable[str]) -> dict[str, str]:
    """The settings that texts such as `retrieval.dense_weight=0.5` give, the last of a name counting.

    Raises:
        ConfigError: If one is not NAME=VALUE.
    """
    overrides = {}
    for said in given:
        name, equals, value = said.partition("=")
        if not (equals and name.strip()):
            raise ConfigError(f"{said!r} gives no setting a value.", hint="Write --set retrieval.dense_weight=0.5.")
        overrides[name.strip()] = value.strip()
    return overrides
