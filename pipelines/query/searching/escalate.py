"""Auto-RAG: second tries when the evidence is weak, kept only when it improves."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llama_index.core.llms import LLM

from config.settings import EscalationSettings
from pipelines.errors import FootnoteError
from pipelines.models.consult import consult
from pipelines.observe import log_failure
from pipelines.query.searching.readings import Case, Senses
from pipelines.query.searching.rewrites import MAX_REPLY, is_compound
from pipelines.query.searching.tries import TRIES, Tried
from pipelines.query.trace import Ledger
from pipelines.types import Evidence

if TYPE_CHECKING:
    from pipelines.query.searching.find import Found

MARGIN = 0.02  # of strength, by which an attempt must be better
_HINT = "Raise FOOTNOTE_ESCALATION__SECONDS, or set FOOTNOTE_ESCALATION__MODE=off."
_UNASSESSED = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False, reason="not searched")


def escalate(base: "Found", senses: Senses, llm: LLM | None, settings: EscalationSettings, ledger: Ledger) -> "Found":
    """The base search, or what was tried after it if that is better evidence for the question as asked.

    Every attempt is noted in the ledger with its reason. When none is better, the base is returned as it is. A try
    that fails, by the language model or otherwise, is noted too and ends nothing.

    Args:
        base: The question's own search.
        senses: What a try is made with.
        llm: The language model; None leaves feedback alone.
        settings: When to try, what, and for how long.
        ledger: The query's.
    """
    ledger.attempt("base", base.query.query_str, base.evidence, kept=True, why="first")
    if settings.mode == "off" or base.intent.greeting or (settings.mode == "auto" and not is_weak(base.evidence)):
        return base
    budget = _Budget(llm, settings, base.intent.search_text)
    case = Case(base, senses, settings, ledger, budget.ask, lambda: budget.left > 0)
    best = base
    for name in planned(settings, base.intent.search_text):
        if not budget.affords(name):
            continue
        if budget.left <= 0:
            ledger.lacking("A second try was left out: the time was used up.")
            break
        best = _better(best, name, case, budget)
        if settings.mode == "auto" and not is_weak(best.evidence):
            break
    return best


def is_weak(evidence: Evidence) -> bool:
    """Whether evidence calls for a second try."""
    return evidence.band == "low" or not evidence.sufficient


def planned(settings: EscalationSettings, question: str) -> list[str]:
    """What is tried, in order: feedback, then for a compound question its parts, then the rest as the settings say."""
    order = {"feedback": 0, "decompose": 1}
    named = [name for name in settings.kinds if name != "decompose" or is_compound(question)]
    return sorted(dict.fromkeys(named), key=lambda name: order.get(name, 2))


@dataclass(slots=True)
class _Budget:
    """The time and the calls that one question may still take."""

    llm: LLM | None
    settings: EscalationSettings
    question: str
    calls: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds."""
        return self.settings.seconds - (time.perf_counter() - self.began)

    def affords(self, name: str) -> bool:
        """Whether the language model can be asked, or need not be."""
        return name == "feedback" or (self.llm is not None and self.calls < self.settings.calls)

    def ask(self, prompt: str) -> str:
        """The language model's reply; a model that failed is not asked again.

        Raises:
            ServiceUnavailable, ModelError: If it does not reply in time or fails.
        """
        assert self.llm is not None
        self.calls += 1
        try:
            said = [("system", prompt), ("user", f"Question: {self.question}")]
            return consult(self.llm, said, seconds=self.left, limit=MAX_REPLY, hint=_HINT)
        except FootnoteError:
            self.calls = self.settings.calls
            raise


def _better(best: "Found", name: str, case: Case, budget: _Budget) -> "Found":
    """What the try found if it is better than the best so far, else that; noted either way."""
    began = time.perf_counter()
    try:
        tried = TRIES[name](case)
    except FootnoteError as error:
        log_failure(f"escalation failed: {name}", error)
        case.ledger.lacking(f"A second try ({name}) failed: {error.message}")
        tried = Tried("", None, f"failed: {error.message}")
    found, evidence = tried.found, tried.found.evidence if tried.found else _UNASSESSED
    before = best.evidence.strength
    kept = found is not None and evidence.strength > before + MARGIN
    moved = f"the evidence {'rose' if kept else 'did not rise'} ({before:.2f} -> {evidence.strength:.2f})"
    ms = (time.perf_counter() - began) * 1000
    case.ledger.attempt(name, tried.search_text, evidence, kept=kept, why=tried.why or moved, ms=ms)
    if found is None or not kept:
        return best
    case.ledger.tag(name)
    return found
