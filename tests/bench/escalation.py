"""Replay written replies of a language model to Auto-RAG: which good ones are kept, which bad ones are rejected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata

from config.settings import get_settings
from pipelines.evaluation.answers import right_quote
from pipelines.evaluation.corpus import Progress, no_progress, portfolio_engine
from pipelines.evaluation.datasets import Topic, json_lines, load_topics
from pipelines.query.engine import QueryEngine
from pipelines.types import SearchReport
from tests.bench import arguments, show

Kind = Literal["rewrite", "hyde"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_TOP = 5
_SECONDS = 60.0  # the time is measured here, not kept


@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model may say when it is asked about a topic, and whether that is worth searching for."""

    topic: str
    kind: Kind
    good: bool
    reply: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a reply: whether it was kept and why, and the search before and after it.

    `rank` is that of the first result that overlaps a quote, from 1; None when none of the first five does.
    """

    topic: Topic
    reply: Reply
    kept: bool
    why: str
    rank_before: int | None
    rank_after: int | None
    strength_before: float
    strength_after: float
    sufficient_before: bool
    sufficient_after: bool
    added_ms: float


class ScriptedLLM(CustomLLM):
    """A language model that says one thing, whatever it is asked."""

    reply: str

    @property
    def metadata(self) -> LLMMetadata:
        """Its name."""
        return LLMMetadata(model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The reply."""
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """The reply, in one piece."""
        yield CompletionResponse(text=self.reply, delta=self.reply)


def load_replies(path: Path) -> list[Reply]:
    """The replies of a JSON Lines file, in order.

    Raises:
        SourceError: If the file is missing or a line is no reply.
    """
    return list(json_lines(path, _reply, "Name a file of replies; see data/README.md."))


def _reply(row: Mapping[str, Any]) -> Reply:
    reply = Reply(**row)
    if reply.kind not in KINDS:
        raise ValueError(f"there is no kind {reply.kind!r}")
    return reply


def evaluate_replies(
    engine: QueryEngine, topics: Path, replies: Path, *, on_progress: Progress = no_progress
) -> dict[str, Any]:
    """`kinds` (and `all`): what was kept of good and bad replies, and what that did; `wrong`: each that was misjudged.

    Every reply is replayed alone, with escalation always on, against the search without escalation. Shares 0..1; the
    means of success@5 and RR@5 are over the topics that have an answer. `needed` counts the good replies to questions
    whose evidence was not sufficient before.
    """
    asked = {topic.id: topic for topic in load_topics(topics)}
    engine = engine.with_changes({"escalation.seconds": _SECONDS})
    plain = engine.with_changes({"escalation.mode": "off"})
    ready = {kind: engine.with_changes({"escalation.mode": "always", "escalation.kinds": (kind,)}) for kind in KINDS}
    for warm in (plain, *ready.values()):
        warm.search("warm up", top_n=_TOP, record=False)
    held, done = load_replies(replies), []
    for reply in held:
        tried = replace(ready[reply.kind], llm=ScriptedLLM(reply=reply.reply))
        done.append(_replay(plain, tried, asked[reply.topic], reply))
        on_progress("replaying", len(done), len(held))
    rows = {kind: summary([one for one in done if one.reply.kind == kind]) for kind in KINDS} | {"all": summary(done)}
    wrong = [
        {
            "topic": one.topic.id,
            "kind": one.reply.kind,
            "good": one.reply.good,
            "why": one.why,
            "reply": one.reply.reply,
        }
        for one in done
        if one.kept != one.reply.good
    ]
    return {"replies": len(done), "kinds": rows, "wrong": wrong}


def summary(done: Sequence[Replayed]) -> dict[str, float]:
    """The measures of some replies; shares without a case are 0."""
    answerable = [one for one in done if one.topic.answerable]
    good = [one for one in done if one.reply.good]
    bad = [one for one in done if not one.reply.good]
    needed = [one for one in good if not one.sufficient_before]
    return {
        "good": len(good),
        "good_kept": sum(one.kept for one in good),
        "needed": len(needed),
        "needed_kept": sum(one.kept for one in needed),
        "bad": len(bad),
        "bad_rejected": sum(not one.kept for one in bad),
        "success@5_before": _mean(one.rank_before is not None for one in answerable),
        "success@5_after": _mean(one.rank_after is not None for one in answerable),
        "RR@5_before": _mean(_reciprocal(one.rank_before) for one in answerable),
        "RR@5_after": _mean(_reciprocal(one.rank_after) for one in answerable),
        "strength_before": _mean(one.strength_before for one in done),
        "strength_after": _mean(one.strength_after for one in done),
        "sufficient_before": _mean(one.sufficient_before for one in answerable),
        "sufficient_after": _mean(one.sufficient_after for one in answerable),
        "added_ms": _mean(one.added_ms for one in done),
    }


def _replay(plain: QueryEngine, speaking: QueryEngine, topic: Topic, reply: Reply) -> Replayed:
    before = plain.search(topic.question, top_n=_TOP, record=False)
    after = speaking.search(topic.question, top_n=_TOP, record=False)
    tried = [attempt for attempt in after.trace.attempts if attempt.name == reply.kind]
    return Replayed(
        topic=topic,
        reply=reply,
        kept=any(attempt.kept for attempt in tried),
        why=tried[0].why if tried else "not tried",
        rank_before=_rank(topic, before),
        rank_after=_rank(topic, after),
        strength_before=before.evidence.strength,
        strength_after=after.evidence.strength,
        sufficient_before=before.evidence.sufficient,
        sufficient_after=after.evidence.sufficient,
        added_ms=_total(after.timings_ms) - _total(before.timings_ms),
    )


def _rank(topic: Topic, report: SearchReport) -> int | None:
    return next((result.rank for result in report.results if right_quote(topic, [result])), None)


def _reciprocal(rank: int | None) -> float:
    return 1 / rank if rank else 0.0


def _total(timings: Mapping[str, float]) -> float:
    return timings["total"]


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return round(sum(held) / len(held), 4) if held else 0.0


if __name__ == "__main__":
    arguments("escalation", __doc__).parse_args()
    data = Path(__file__).parents[2] / "data"
    sample = portfolio_engine(get_settings(), data / "sample")
    show(evaluate_replies(sample, data / "eval" / "topics.jsonl", data / "eval" / "rewrites.jsonl"))
