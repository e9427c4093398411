"""Fit the reader: MiniLM that reads a question and a text together; it alone needs `torch` and `safetensors`.

    python data/fit_reader.py PUBLIC --from FOLDER --to fitted.safetensors --also TOPICS DOCUMENTS ...
    python data/make_reader.py fitted.safetensors

PUBLIC holds `answers_<set>.jsonl.gz` and `answerable_<set>.jsonl.gz`: a pair a line with `a` (question), `b` (text),
`score` (1 answers, 0 does not) and `group` (page). FOLDER holds model.safetensors of all-MiniLM-L6-v2. The word
embeddings stay as they are. First one pass over the public sets, then two over the questions about the portfolios of
`data/reader` and those of each --also, with the units that a search for them finds. The owner's name is "you" there, as
at a search.
"""

import argparse
import gzip
import json
import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

from config.settings import get_settings
from data.reader_portfolios import PORTFOLIOS, unpacked
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import Topic, load_topics
from pipelines.models.minilm import CLS, FOLDER, SEP, TOKENIZER
from pipelines.models.reader import MOST_ASKED, MOST_READ
from pipelines.query.engine import QueryEngine
from tests.bench.fit_units import right_units, scored_units

# Sets with a stated licence, and the most questions of each; see NOTICE.
ANSWERS = {
    "squad1": 6500, "reqa_squad": 5000, "selqa": 474, "clapnq": 290, "covidqa": 1500, "hotpotqa": 498, "tatqa": 377,
}  # fmt: skip
ANSWERABLE = {"squad2": 5000, "clapnq": 600, "tatqa": 800, "hotpotqa": 900}
_WRONG = 4  # texts of a public question that do not answer
_NEAREST, _CHANCE, _RIGHT = 4, 2, 2  # units of an own one: those that score best, others, and those that answer
_REPLAYED = 400  # public questions among the own
_TITLED = 0.8  # share of the public texts that stand below their title
LAYERS, HEADS, HIDDEN, INNER = 6, 12, 384, 1536


@dataclass(frozen=True, slots=True)
class Group:
    """The word pieces of a question with each of some texts, and which of them answer."""

    rows: list[list[int]]
    right: list[float]


class Pairs:
    """Questions and texts as word pieces."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(FOLDER / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def group(self, question: str, texts: Sequence[str], right: Sequence[float]) -> Group:
        asked = self._tokenizer.encode(question, add_special_tokens=False).ids[:MOST_ASKED]
        told = (self._tokenizer.encode(text, add_special_tokens=False).ids for text in texts)
        return Group([[CLS, *asked, SEP, *each[: MOST_READ - 3 - len(asked)], SEP] for each in told], list(right))


def public(folder: Path, pairs: Pairs, chance: random.Random) -> Iterator[Group]:
    """Groups of the public sets: a text that answers and four that do not; and passages that do or do not, by fours."""
    for name, most in ANSWERS.items():
        held: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
        for pair in _lines(folder / f"answers_{name}.jsonl.gz"):
            held.setdefault((pair["group"], pair["a"]), ([], []))[pair["score"] < 0.5].append(_text(pair))
        known = [(*key, *texts) for key, texts in held.items() if texts[0] and len(texts[1]) > 1]
        for group, question, right, wrong in chance.sample(known, min(most, len(known))):
            texts = [chance.choice(right), *chance.sample(wrong, min(_WRONG, len(wrong)))]
            yield pairs.group(question, [_titled(group, text, chance) for text in texts], [1, *[0] * (len(texts) - 1)])
    for name, most in ANSWERABLE.items():
        singles = list(_lines(folder / f"answerable_{name}.jsonl.gz"))
        chosen = [pairs.group(each["a"], [_text(each)], [each["score"]]) for each in chance.sample(singles, most)]
        for at in range(0, len(chosen), 4):
            four = chosen[at : at + 4]
            yield Group([row for one in four for row in one.rows], [value for one in four for value in one.right])


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _text(pair: Any) -> str:
    return pair["b"] if isinstance(pair["b"], str) else " ".join(pair["b"])


def _titled(group: str, text: str, chance: random.Random) -> str:
    """The text below the title of its page, mostly: as units stand below their heading."""
    kind, _, title = group.partition(":")
    is_titled = kind in ("wp", "squad") and title and chance.random() < _TITLED
    return f"{title.replace('_', ' ')}: {text}" if is_titled else text


def own(engine: QueryEngine, topics: Sequence[Topic], pairs: Pairs, chance: random.Random) -> Iterator[Group]:
    """Groups of judged questions: units that answer, and of the others those that score best and a few more."""
    for topic in topics:
        scored = scored_units(engine, topic.question)
        if scored is None:
            continue
        is_right = right_units(scored, topic)
        if topic.quotes and not any(is_right):
            continue
        by_score = (-scored.scores).argsort(kind="stable").tolist()
        right, wrong = ([at for at in by_score if is_right[at] == wanted] for wanted in (True, False))
        rest = wrong[_NEAREST:]
        chosen = [*chance.sample(right, min(_RIGHT, len(right))), *wrong[:_NEAREST]]
        chosen += chance.sample(rest, min(_CHANCE, len(rest)))
        values = [float(is_right[at]) for at in chosen]
        yield pairs.group(scored.wanted.as_put, [scored.reads[at].text for at in chosen], values)


class Layer(nn.Module):
    """A layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.inner, self.outer = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.first, self.second = (nn.LayerNorm(HIDDEN, 1e-12) for _ in range(2))

    def forward(self, x: Any, bias: Any, drop: float) -> Any:
        rows, count, _ = x.shape
        query, key, value = (
            part(x).view(rows, count, HEADS, -1).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        near = torch.softmax(query @ key.transpose(2, 3) / math.sqrt(HIDDEN / HEADS) + bias, -1).to(x.dtype) @ value
        x = self.first(x + functional.dropout(self.out(near.transpose(1, 2).reshape(x.shape)), drop, self.training))
        return self.second(x + functional.dropout(self.outer(functional.gelu(self.inner(x))), drop, self.training))


class Model(nn.Module):
    """BERT, and a line from the vector of its first piece to log-odds."""

    def __init__(self, weights: dict[str, Any]) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, HIDDEN) for n in (30522, 512, 2))
        self.norm, self.head = nn.LayerNorm(HIDDEN, 1e-12), nn.Linear(HIDDEN, 1)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.load_state_dict(
            {name: weights[theirs] for name, theirs in NAMES.items() if theirs in weights}, strict=False
        )
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.words.weight.requires_grad_(False)

    def forward(self, ids: Any, drop: float) -> Any:
        bias = torch.where(ids != 0, 0.0, -1e4)[:, None, None, :]
        x = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]] + self.kinds.weight[0])
        for layer in self.layers:
            x = layer(x, bias.to(x.dtype), drop)
        return self.head(x[:, 0]).squeeze(-1)


_PARTS = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "out": "attention.output.dense", "first": "attention.output.LayerNorm", "inner": "intermediate.dense",
    "outer": "output.dense", "second": "output.LayerNorm",
}  # fmt: skip
# By name in `Model`, the name in the published file.
NAMES = {
    "words.weight": "embeddings.word_embeddings.weight", "places.weight": "embeddings.position_embeddings.weight",
    "kinds.weight": "embeddings.token_type_embeddings.weight", "norm.weight": "embeddings.LayerNorm.weight",
    "norm.bias": "embeddings.LayerNorm.bias", "head.weight": "head.weight", "head.bias": "head.bias",
    **{
        f"layers.{n}.{mine}.{kind}": f"encoder.layer.{n}.{theirs}.{kind}"
        for n in range(LAYERS) for mine, theirs in _PARTS.items() for kind in ("weight", "bias")
    },
}  # fmt: skip


def fit(model: Model, groups: Sequence[Group], *, rate: float, together: int, drop: float) -> None:
    """One pass: the likelihood of the right texts among those of their question, and half that of each alone."""
    learned = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
    batches = _batches(groups, together)
    model.train()
    for step, batch in enumerate(batches):
        for part in optimiser.param_groups:
            part["lr"] = rate * min(1.0, step / (0.06 * len(batches)), (1 - step / len(batches)) / 0.94)
        rows = [row for group in batch for row in group.rows]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            odds = model(ids, drop)
        odds, right = odds.float(), torch.tensor([value for group in batch for value in group.right])
        loss, parts = 0.5 * functional.binary_cross_entropy_with_logits(odds, right), []
        sizes = [len(group.rows) for group in batch]
        for own_odds, own_right in zip(odds.split(sizes), right.split(sizes), strict=True):
            if 0 < own_right.sum() < len(own_right):
                parts.append(torch.logsumexp(own_odds, 0) - torch.logsumexp(own_odds[own_right > 0], 0))
        loss = loss + torch.stack(parts).mean() if parts else loss
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        if step % 50 == 0:
            sys.stderr.write(f"{step} of {len(batches)}: {loss.item():.3f}\n")


def _batches(groups: Sequence[Group], together: int) -> list[list[Group]]:
    """Groups of about equal length together, in any order."""
    order = random.sample(groups, len(groups))
    found = []
    for at in range(0, len(order), 20 * together):
        near = sorted(order[at : at + 20 * together], key=lambda group: max(map(len, group.rows)))
        found += [near[start : start + together] for start in range(0, len(near), together)]
    return random.sample(found, len(found))


def main(arguments: Sequence[str]) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python data/fit_reader.py", description=__doc__)
    parser.add_argument("public", type=Path)
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--also", nargs=2, type=Path, action="append", metavar=("TOPICS", "DOCUMENTS"), default=[])
    asked = parser.parse_args(arguments)
    random.seed(1)
    pairs, chance = Pairs(), random.Random(1)
    model = Model(load_file(asked.source / "model.safetensors"))
    known = list(public(asked.public, pairs, chance))
    fit(model, known, rate=1e-4, together=24, drop=0.05)
    mine: list[Group] = []
    with TemporaryDirectory() as folder:
        places = [unpacked(path, Path(folder) / path.stem) for path in PORTFOLIOS]
        for number, (topics, documents) in enumerate((*places, *asked.also)):
            engine = portfolio_engine(get_settings(), documents, name=f"reader{number}")
            for _ in range(2):
                mine += own(engine, load_topics(topics), pairs, chance)
    fit(model, [*mine, *chance.sample(known, _REPLAYED)], rate=8e-5, together=16, drop=0.1)
    values = model.state_dict()
    save_file({theirs: values[name].float().contiguous() for name, theirs in NAMES.items()}, asked.to)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
