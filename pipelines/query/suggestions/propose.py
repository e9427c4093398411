"""What a language model, or what stands near an answer, proposes to be asked next."""

from dataclasses import dataclass, replace

from llama_index.core.llms import LLM

from config.prompts import FOLLOW_UPS, QUESTION
from pipelines.errors import FootnoteError
from pipelines.models.consult import consult
from pipelines.observe import log_failure
from pipelines.query.searching.find import Finder, Found, Request
from pipelines.query.searching.rewrites import MAX_REPLY, searches
from pipelines.query.suggestions.proposals import CAREER, Near, Proposal, proposals
from pipelines.store.facts import read_facts
from pipelines.store.near import Section, others_like, sections_of
from pipelines.types import Answer, Source

_PROPOSED = 6  # asked of a language model
_OTHERS = 4  # documents of the same kind
_HINT = "Raise FOOTNOTE_ANSWER__FOLLOW_UP_SECONDS, or set FOOTNOTE_ANSWER__FOLLOW_UPS_BY=documents."


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to be followed up: what was asked, what was found, and the sources as the writer saw them."""

    answer: Answer
    request: Request
    found: Found | None = None
    shown: str = ""


def cited_by(answer: Answer) -> tuple[Source, ...]:
    """The sources that an answer cites."""
    numbers = {n for sentence in answer.sentences for n in sentence.citations}
    return tuple(source for source in answer.sources if source.n in numbers)


def cited_spans(answer: Answer) -> tuple[tuple[str, int, int], ...]:
    """(document id, start, end) of all the words that an answer quotes."""
    quoted = (citation for sentence in answer.sentences for citation in sentence.evidence)
    return tuple((citation.document_id, citation.start, citation.end) for citation in quoted)


def from_documents(answered: Answered, finder: Finder) -> list[Proposal]:
    """What the documents suggest that an answer cites, or that came nearest where there is none."""
    return proposals(near(answered, finder))


def from_model(answered: Answered, finder: Finder) -> list[Proposal]:
    """What the language model suggests where it is wanted; nothing when it fails."""
    options = finder.settings.answer
    if options.follow_ups_by != "llm" or finder.llm is None or not answered.shown:
        return []
    try:
        return proposed_by(finder.llm, answered.answer.question, answered.shown, seconds=options.follow_up_seconds)
    except FootnoteError as error:
        log_failure("follow-ups are proposed without the language model", error)
        return []


def near(answered: Answered, finder: Finder) -> Near:
    """What stands near the sources of an answer, or near those that came nearest where there is none."""
    answer, request = answered.answer, answered.request
    sources = cited_by(answer) or answer.nearest
    if not sources:
        return Near((), frozenset())
    documents = tuple(dict.fromkeys(source.document_id for source in sources))
    inside = replace(request.filters, document=documents)
    names = finder.names.current(request.audience, finder.store.version())
    named = dict(pair for source in sources for pair in names.find(source.snippet))
    categories = {source.category for source in sources} - CAREER
    others = others_like(finder.store, documents, categories, request.audience, limit=_OTHERS)
    return Near(
        cited=cited_spans(answer),
        documents=frozenset(documents),
        found=_places(answered.found),
        sections=tuple(sections_of(finder.store, inside, request.audience)),
        facts=tuple(read_facts(finder.store, inside, request.audience)),
        names=tuple(named.items()),
        others=tuple(others),
    )


def _places(found: Found | None) -> tuple[Section, ...]:
    metas = [hit.node.metadata for hit in (found.ranking if found else ())]
    return tuple(
        Section(
            meta["document_id"],
            meta["title"],
            meta["category"],
            tuple(meta["section_path"]),
            meta["start"],
            meta["end"],
        )
        for meta in metas
    )


def proposed_by(llm: LLM, question: str, sources: str, *, seconds: float) -> list[Proposal]:
    """What a language model would ask next; what it says is data, and each line of it a proposal like any other.

    Args:
        llm: The model.
        question: What was answered.
        sources: The sources as the writer saw them, between their delimiters.
        seconds: How long it may take.

    Raises:
        ServiceUnavailable, ModelError: If it does not reply in time or fails.
    """
    said = [("system", FOLLOW_UPS.format(count=_PROPOSED)), ("user", f"{sources}\n\n{QUESTION}{question}")]
    reply = consult(llm, said, seconds=seconds, limit=MAX_REPLY, hint=_HINT)
    return [Proposal(text) for text in searches(reply, question, _PROPOSED) if text.endswith("?")]
