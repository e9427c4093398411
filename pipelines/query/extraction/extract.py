"""The extractive writer: the lines of the sources that answer best, verbatim."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.schema import NodeWithScore

from config.settings import EvidenceSettings
from pipelines.query.extraction.aim import Aim, aim_of, parts_of
from pipelines.query.extraction.injection import is_about_commands, is_command
from pipelines.query.extraction.lines import Barred, Line, lines_of
from pipelines.query.extraction.marks import Array, Ruler, likeliest, measure, scores
from pipelines.query.extraction.suffices import FLOOR, suffices, tell
from pipelines.query.extraction.sure import denies, is_sure, repeats
from pipelines.text import fold
from pipelines.types import Context, Evidence, QueryIntent, Source

_CODE = re.compile(
    r"\b(?:commands?|code|run|install\w*|flags?|options?|syntax|calls?|called|functions?|imports?|api|examples?|usages?"
    r"|uses?|used|using|config\w*|set|build|built|start|write|query|queries)\b"
)
_MEASURED = 64  # lines that are worth a vector
_DIVERSITY = 1.0  # of a line's likeness to those that are picked already, taken off its score
_KEEP = 3.0  # below the best line's score a line is left out
# What a line that answers a part of a question scores for the whole one, and for being about what the part names.
_WHOLE, _ABOUT = 0.5, 2.0
UNTOLD, VAGUE = "no sentence of the nearest passages says it", "it names nothing to look for"


@dataclass(frozen=True, slots=True)
class Extract:
    """What the writer may quote, and how likely it answers.

    Attributes:
        aim: What the question wants.
        picks: The lines that answer best, in the order of their sources.
        answers: The probability (0..1) that they answer.
        sure: Whether they may be relied on; see `is_sure`.
        more: How many lines of the lists that are asked for are left out.
    """

    aim: Aim
    picks: tuple[Line, ...]
    answers: float
    sure: bool = True
    more: int = 0

    @property
    def listed(self) -> bool:
        """Whether several things are asked for, and several lines quoted."""
        return self.aim.listed and len(self.picks) > 1

    @property
    def silence(self) -> str:
        """Why nothing is quoted, where that is the question's doing and not the documents'; else empty."""
        return VAGUE if self.aim.is_vague else ""


def extract(
    intent: QueryIntent,
    context: Context,
    ranking: Sequence[NodeWithScore],
    ruler: Ruler,
    *,
    strength: float,
    max_sentences: int,
    barred: Barred | None = None,
) -> Extract:
    """The lines that answer best, verbatim, in the order of their sources; at most `max_sentences`.

    Those far below the best are left out, and so are repeats. A line that gives orders to a machine is only quoted
    where the question asks for such.

    Args:
        intent: What is asked.
        context: Where the lines stand.
        ranking: The passages that were found, best first.
        ruler: What lines are measured with.
        strength: Of the evidence, 0..1.
        max_sentences: How many to pick.
        barred: What else may not be quoted.
    """
    aim, commanded = aim_of(intent), is_about_commands(intent.question)

    def is_barred(source: Source, start: int, end: int) -> bool:
        ordered = not commanded and is_command(source.snippet[start:end])
        return ordered or (barred is not None and barred(source, start, end))

    quotable = lines_of(context.sources, is_barred)
    if not _CODE.search(fold(intent.question)):
        quotable = [line for line in quotable if not line.code] or quotable
    quotable = _without_other_rows(quotable, frozenset((*aim.names, *aim.focus)))
    lines = likeliest(quotable, aim, ranking, ruler, _MEASURED)
    if not lines or aim.is_vague:
        return Extract(aim, (), 0.0)
    parts = parts_of(intent, aim)
    questions = [question for part in (aim, *parts) for question in (part.text, part.about or part.text)]
    once = ruler.over(list(dict.fromkeys((intent.search_text, *questions))), [line.text for line in lines])
    signals, vectors = measure(lines, intent.search_text, aim, ranking, once)
    score = scores(lines, signals, aim)
    answers = suffices(tell(signals, aim), strength)
    ahead: list[int] = []
    told: list[float] = []
    for part in parts:
        its, _ = measure(lines, part.text, part, ranking, once)
        marks = scores(lines, its, part) + _WHOLE * score + _ABOUT * its["on"]
        ahead.append(int(np.argmax(marks)))
        told.append(suffices(tell(its, part), strength))
    if aim.kind == "comparison" and told:
        answers = min(told) if aim.asks_nothing else max(answers, min(told))
    chosen = _distinct(lines, score, vectors, max_sentences, ahead)
    picks = sorted((lines[at] for at in chosen), key=lambda line: (line.source.n, line.start))
    sure = is_sure(aim, lines, chosen, signals, ruler.weight)
    return Extract(aim, tuple(picks), answers, sure, _more(quotable, picks) if aim.listed else 0)


def is_answer(told: Extract, evidence: Evidence, settings: EvidenceSettings) -> bool:
    """Whether to quote the lines: by what they say, and by the evidence too where a bound of it was set or is all
    that there is (a search without vectors)."""
    bound = settings.rule == "plain" or settings.min_strength > 0 or evidence.similarity is None
    return bool(told.picks) and told.answers >= FLOOR and (evidence.sufficient or not bound)


def _more(lines: Sequence[Line], picks: Sequence[Line]) -> int:
    """How many lines are left out of the lists of which several are picked."""
    counts = Counter((pick.source.n, pick.under) for pick in picks if pick.item)
    of_lists = [line for line in lines if line.item and counts[line.source.n, line.under] > 1]
    return sum(not any(repeats(line, pick) for pick in picks) for line in of_lists)


def _without_other_rows(lines: Sequence[Line], asked: frozenset[str]) -> list[Line]:
    """The lines without the rows of a table that hold less of what is asked than another row of it.

    What most of its rows hold tells none of them from the others; where no row is told, all stay.
    """
    tables: dict[tuple[int, int], list[Line]] = {}
    for line in lines:
        if line.table >= 0:
            tables.setdefault((line.source.n, line.table), []).append(line)
    others: set[int] = set()
    for rows in tables.values():
        counts = Counter(term for row in rows for term in row.own & asked)
        told = [frozenset(term for term in row.own & asked if 2 * counts[term] <= len(rows)) for row in rows]
        others |= {id(row) for row, held in zip(rows, told, strict=True) if any(held < other for other in told)}
    return [line for line in lines if id(line) not in others]


def _distinct(lines: Sequence[Line], score: Array, vectors: Array, limit: int, first: Sequence[int] = ()) -> list[int]:
    """The places of the best lines that differ from each other, `first` among them; and those that deny one of them.

    Source: Carbonell, Goldstein, SIGIR 1998, doi:10.1145/290941.291025 (maximal marginal relevance).
    """
    chosen: list[int] = []
    open_ = np.flatnonzero(score >= score.max() - _KEEP).tolist()
    nearest = np.zeros(len(lines), dtype=np.float32)
    ahead = list(dict.fromkeys(first))
    while (ahead or open_) and len(chosen) < limit:
        best = ahead[0] if ahead else max(open_, key=lambda at: (float(score[at] - _DIVERSITY * nearest[at]), -at))
        chosen.append(best)
        left = [at for at in dict.fromkeys((*ahead, *open_)) if at != best]
        copies = [at for at in left if repeats(lines[at], lines[best])]
        denied = [at for at in copies if denies(lines[at], lines[best])]
        gone = {best, *copies} - set(denied)
        ahead = list(dict.fromkeys((*denied, *(at for at in ahead if at not in gone))))
        open_ = [at for at in open_ if at not in gone]
        if vectors.size:
            nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen
