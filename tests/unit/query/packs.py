"""Answer packs that are written down."""

from typing import Any

from pipelines.answers import Answer, Citation, Sentence, Source, VerdictName
from pipelines.query.pack import Pack, PackedRequest
from pipelines.types import Candidate, Filters, QueryIntent, Trace

QUESTION = "How many containers did the crane move?"


def sentence(
    text: str, *, document: str = "crane", quote: str = "", verdict: VerdictName = "supported", n: int = 1
) -> Sentence:
    """A sentence that cites source `n` for a quotation (itself when none is given)."""
    return Sentence(text, (n,), verdict, (Citation(n, document, f"{document}-1", 0, 9, quote or text, verdict, 1.0),))


def source(n: int, document: str = "crane", *, snippet: str = "Forty.", version: int = 1, **facts: Any) -> Source:
    """Source `n`: a place of a document that is named for its id, in one of its versions."""
    given: dict[str, Any] = {
        "documentName": f"{document}.md", "title": document.title(), "uri": "", "category": "", "page": None,
        "line_start": 3, "line_end": 4, "section_path": ("Crane", "Speed"), "node_ids": (f"{document}/{n}",),
    } | facts  # fmt: skip
    return Source(
        n=n, document_id=document, content_sha=f"{document}-{version}", snippet=snippet, start=10 * n,
        end=10 * n + len(snippet), **given,
    )  # fmt: skip


def trace(*candidates: tuple[str, str], searched_for: str = QUESTION) -> Trace:
    """A ledger with these candidates, best first: (node id, fate)."""
    rows = tuple(Candidate(node_id, node_id.partition("/")[0], "", fate=fate) for node_id, fate in candidates)
    intent = QueryIntent(QUESTION, searched_for)
    return Trace("t1", intent, (), rows, 7, "owner", Filters(), "hybrid", "abc", (), (), {})


def pack(
    *sentences: Sentence,
    sources: tuple[Source, ...] = (source(1),),
    told: dict[str, Any] | None = None,
    **changes: Any,
) -> Pack:
    """A pack of an extractive answer; `told` changes the answer, other names the pack."""
    fields: dict[str, Any] = {
        "question": QUESTION, "answered": True, "answer": " ".join(one.text for one in sentences),
        "confidence": "high", "mode": "extractive", "model": "", "sentences": sentences, "sources": sources,
    } | (told or {})  # fmt: skip
    given: dict[str, Any] = {
        "footnote": "1.0", "made_at": "2026-03-01T10:00:00+00:00", "asked": PackedRequest(question=QUESTION),
        "answer": Answer(**fields), "trace": trace(("crane/1", "kept")), "settings": {"retrieval.top_n": 5},
        "file_hashes": {each.document_id: f"{each.document_id}-file-1" for each in sources}, "fingerprint": "abc",
        "embedding_model": "hashed/hashed@256", "corpus_version": 7,
    } | changes  # fmt: skip
    return Pack(**given)
