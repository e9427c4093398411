"""Fit the reader: MiniLM that reads a question and a text together, taught by a larger model.

    pip install torch transformers safetensors
    python data/fit_reader.py PUBLIC --from MINILM --teacher MPNET --to fitted.safetensors [--device cuda]
    python data/make_reader.py fitted.safetensors

PUBLIC holds `answers_<set>.jsonl.gz` and `answerable_<set>.jsonl.gz`: a pair a line with `a` (question), `b` (text),
`score` (1 answers, 0 does not) and `group` (page). MINILM and MPNET are the published folders of all-MiniLM-L6-v2 and
all-mpnet-base-v2.

Both make one pass over the public sets. From there the teacher makes two over the questions about the portfolios of
`data/reader` and of each --also, with the units that a search for them finds: once over all, and once over each half of
the portfolios. MiniLM learns the mean of two log-odds for each unit, those of the teacher of all and of the half that
did not hold the portfolio, mixed with whether the unit answers. Its word embeddings stay as they are. The owner's name
is "you", as at a search, and the packaged reader orders the units. About 15 minutes on one large GPU.
"""

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from config.settings import get_settings
from data.reader_portfolios import READER, unpacked
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import Topic, load_topics
from pipelines.models.reader import MOST_READ
from pipelines.query.engine import QueryEngine
from tests.bench.fit_units import right_units, scored_units

# Sets with a stated licence, and the most questions of each; see NOTICE.
ANSWERS = {
    "squad1": 6500, "reqa_squad": 5000, "selqa": 474, "clapnq": 290, "covidqa": 1500, "hotpotqa": 498, "tatqa": 377,
}  # fmt: skip
ANSWERABLE = {"squad2": 5000, "clapnq": 600, "tatqa": 800, "hotpotqa": 900}
_WRONG = 4  # texts of a public question that do not answer
_NEAREST, _CHANCE = 6, 3  # units of an own one that do not answer, for the teacher: those that score best, and others
_RIGHT = 2  # and those that do
_REPLAYED = 400  # public questions among the own
_TITLED = 0.8  # share of the public texts that stand below their title
_LABELS = 0.3  # weight of the labels beside the teacher
_LIKELIEST = 9  # units of a question in each pass of MiniLM: those that answer or may, by the teacher, and five others
_PASSES = 18


@dataclass(frozen=True, slots=True)
class Group:
    """A question and some texts, best first, whether each answers, and the teacher's log-odds that it does."""

    question: str
    texts: list[str]
    right: list[float]
    taught: list[float]
    place: int = 0  # of its portfolio

    def only(self, chosen: Sequence[int]) -> "Group":
        """The group with the texts at these places."""
        kept = ([held[at] for at in chosen] for held in (self.texts, self.right, self.taught))
        return Group(self.question, *kept, self.place)


def public(folder: Path, chance: random.Random) -> Iterator[Group]:
    """Groups of the public sets: a text that answers and four that do not; and passages that do or do not."""
    for name, most in ANSWERS.items():
        held: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
        for pair in _lines(folder / f"answers_{name}.jsonl.gz"):
            held.setdefault((pair["group"], pair["a"]), ([], []))[pair["score"] < 0.5].append(_text(pair))
        known = [(*key, *texts) for key, texts in held.items() if texts[0] and len(texts[1]) > 1]
        for group, question, right, wrong in chance.sample(known, min(most, len(known))):
            texts = [chance.choice(right), *chance.sample(wrong, min(_WRONG, len(wrong)))]
            yield _group(question, [_titled(group, text, chance) for text in texts], [1.0, *[0.0] * (len(texts) - 1)])
    for name, most in ANSWERABLE.items():
        pairs = list(_lines(folder / f"answerable_{name}.jsonl.gz"))
        for pair in chance.sample(pairs, min(most, len(pairs))):
            yield _group(pair["a"], [_text(pair)], [pair["score"]])


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


def _group(question: str, texts: list[str], right: list[float], place: int = 0) -> Group:
    return Group(question, texts, right, [0.0] * len(texts), place)


def own(engine: QueryEngine, topics: Sequence[Topic], place: int) -> Iterator[Group]:
    """A group of each judged question: the units that were scored for it; none whose answer was not found."""
    for topic in topics:
        if (scored := scored_units(engine, topic)) is None:
            continue
        is_right = right_units(scored, topic)
        if topic.quotes and not any(is_right):
            continue
        order = (-scored.scores).argsort(kind="stable").tolist()
        texts = [scored.reads[at].text for at in order]
        yield _group(scored.wanted.as_put, texts, [float(is_right[at]) for at in order], place)


class Encoder(nn.Module):
    """A published encoder, and a line from the vector of its first piece to log-odds."""

    def __init__(self, folder: Path, device: str) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.body = AutoModel.from_pretrained(folder, add_pooling_layer=False)
        self.head = nn.Linear(self.body.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.to(device)

    def forward(self, groups: Sequence[Group]) -> Any:
        """(texts of all groups,) log-odds that each answers."""
        questions = [group.question for group in groups for _ in group.texts]
        texts = [text for group in groups for text in group.texts]
        pieces = self.tokenizer(
            questions, texts, truncation="only_second", max_length=MOST_READ, padding=True, return_tensors="pt"
        )
        pieces.pop("token_type_ids", None)
        device = self.head.weight.device
        with torch.autocast(device.type, dtype=torch.bfloat16):
            hidden = self.body(**pieces.to(device)).last_hidden_state
        return self.head(hidden[:, 0].float()).squeeze(-1)


def fit(model: Encoder, passes: Sequence[Sequence[Group]], *, rate: float, labels: float) -> Encoder:
    """The model, which learns the odds of each text, and their distribution over the texts of a question.

    Args:
        passes: The groups of each pass, in any order.
        rate: The highest rate of learning.
        labels: 0..1, the weight of whether a text answers beside the teacher's log-odds.
    """
    learned = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
    batches = [batch for groups in passes for batch in _batches(groups)]
    model.train()
    for step, batch in enumerate(batches):
        for part in optimiser.param_groups:
            part["lr"] = rate * min(1.0, (step + 1) / (0.05 * len(batches) + 1), (1 - step / len(batches)) / 0.95)
        odds = model(batch)
        right, taught = (
            torch.tensor([value for group in batch for value in held(group)], device=odds.device)
            for held in (lambda group: group.right, lambda group: group.taught)
        )
        wanted = labels * right + (1 - labels) * torch.sigmoid(taught)
        loss, parts = functional.binary_cross_entropy_with_logits(odds, wanted), []
        sizes = [len(group.texts) for group in batch]
        for own_odds, own_wanted in zip(odds.split(sizes), wanted.split(sizes), strict=True):
            share = own_wanted / own_wanted.sum().clamp(min=1.0)  # a question that nothing answers asks for no order
            parts.append(-(share * functional.log_softmax(own_odds, 0)).sum())
        loss = loss + torch.stack(parts).mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        if step % 100 == 0:
            sys.stderr.write(f"{step} of {len(batches)}: {loss.item():.3f}\n")
    return model


def _batches(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups of about equal length together, in any order."""
    order, together = random.sample(groups, len(groups)), 16
    found = []
    for at in range(0, len(order), 20 * together):
        near = sorted(order[at : at + 20 * together], key=lambda group: max(map(len, group.texts)))
        found += [near[start : start + together] for start in range(0, len(near), together)]
    return random.sample(found, len(found))


def for_teacher(group: Group, chance: random.Random) -> Group:
    """The group with its nearest units, some others and up to two that answer."""
    right, wrong = ([at for at, value in enumerate(group.right) if bool(value) is wanted] for wanted in (True, False))
    rest = wrong[_NEAREST:]
    others = chance.sample(rest, min(_CHANCE, len(rest)))
    return group.only([*chance.sample(right, min(_RIGHT, len(right))), *wrong[:_NEAREST], *others])


def for_reader(group: Group, chance: random.Random) -> Group:
    """The group with the units that answer or may, by the teacher, and some others."""
    order = sorted(range(len(group.texts)), key=lambda at: -group.taught[at] - 5 * group.right[at])
    rest = order[_LIKELIEST:]
    return group.only([*order[:_LIKELIEST], *chance.sample(rest, min(5, len(rest)))])


@torch.no_grad()
def taught(groups: Sequence[Group], teachers: Sequence[Encoder], halves: int) -> Iterator[Group]:
    """Each group with the mean log-odds of the first teacher and of the one that did not learn its portfolio."""
    for group in groups:
        odds = [teacher.eval()([group]) for teacher in (teachers[0], teachers[1 + (group.place + 1) % halves])]
        yield replace(group, taught=torch.stack(odds).mean(0).tolist())


def main(arguments: Sequence[str]) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python data/fit_reader.py", description=__doc__)
    parser.add_argument("public", type=Path)
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="MINILM")
    parser.add_argument("--teacher", type=Path, required=True, metavar="MPNET")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--also", nargs=2, type=Path, action="append", metavar=("TOPICS", "DOCUMENTS"), default=[])
    asked = parser.parse_args(arguments)
    random.seed(1)
    torch.manual_seed(1)
    chance = random.Random(1)
    known = list(public(asked.public, chance))
    mine: list[Group] = []
    with TemporaryDirectory() as folder:
        places = [unpacked(path, Path(folder) / path.stem) for path in READER]
        for number, (topics, documents) in enumerate((*places, *asked.also)):
            engine = portfolio_engine(get_settings(), documents, name=f"reader{number}")
            mine += own(engine, load_topics(topics), number)
    first = fit(Encoder(asked.teacher, asked.device), [known], rate=3e-5, labels=1.0)
    parts = (mine, *([group for group in mine if group.place % 2 == half] for half in (0, 1)))
    teachers = [
        fit(
            deepcopy(first),
            [[*(for_teacher(group, chance) for group in part), *chance.sample(known, min(_REPLAYED // 2, len(known)))]
             for _ in range(2)],
            rate=3e-5,
            labels=1.0,
        )
        for part in parts
    ]  # fmt: skip
    mine = list(taught(mine, teachers, 2))
    reader = Encoder(asked.source, asked.device)
    reader.body.embeddings.word_embeddings.weight.requires_grad_(False)
    fit(reader, [known], rate=1e-4, labels=1.0)
    fit(reader, [[for_reader(group, chance) for group in mine] for _ in range(_PASSES)], rate=2e-4, labels=_LABELS)
    values = {**reader.body.state_dict(), **{f"head.{name}": value for name, value in reader.head.state_dict().items()}}
    save_file({name: value.float().cpu().contiguous() for name, value in values.items()}, asked.to)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
