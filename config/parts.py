"""The parts of retrieval, each with the settings that switch it off."""

from typing import Any

# Off by `footnote search --without PART`, one at a time by `footnote eval ... --ablate`.
PARTS: dict[str, dict[str, Any]] = {
    "dense": {"retrieval.mode": "sparse"},
    "sparse": {"retrieval.mode": "dense"},
    "completion": {"retrieval.complete": False},
    "whitening": {"retrieval.whitening": 0.0},
    "pairs": {"retrieval.pair_weight": 0.0},
    "headers": {"retrieval.header_weight": 1},
    "typos": {"retrieval.typo_weight": 0.0},
    "trim": {"analysis.trim": False},
    "phrases": {"analysis.phrases": False},
    "names": {"analysis.names": False},
    "category": {"analysis.categories": "off"},
    "years": {"analysis.years": "off"},
    "section": {"factors.section": 1.0},
    "recency": {"factors.recency": "off"},
    "quality": {"factors.quality": False},
    "min-score": {"factors.min_score": 0.0},
    "quota": {"factors.per_document": 0},
    "duplicates": {"factors.duplicates": False},
    "rerank": {"factors.rerank": ""},
    "escalation": {"escalation.mode": "off"},
}
# These change how many results are left, so an ablation measures them on a ranking after the cuts.
CUTS = ("min-score", "quota", "duplicates")
