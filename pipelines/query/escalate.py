"""Auto-RAG: second tries when the evidence is weak, kept only when it improves."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from llama_index.core.llms import LLM

from config.settings import EscalationSettings
from pipelines.query.trace import Ledger

if TYPE_CHECKING:
    from pipelines.query.find import Found


def escalate(
    base: "Found",
    attempt: Callable[..., "Found"],
    llm: LLM | None,
    settings: EscalationSettings,
    ledger: Ledger,
) -> "Found":
    """The best of the base search and what was tried after it."""
    ledger.attempt("base", base.query.query_str, base.evidence, kept=True, why="first")
    return base
