"""Answer packs that are written down."""

from typing import Any

from pipelines.answers import VerdictName
from pipelines.query.pack import (
    Pack,
    PackedAnswer,
    PackedCandidate,
    PackedCitation,
    PackedDocument,
    PackedRequest,
    PackedSentence,
    PackedSettings,
    PackedSource,
)

QUESTION = "How many containers did the crane move?"


def sentence(
    text: str, *, document: str = "crane", quote: str = "", verdict: VerdictName = "supported", n: int = 1
) -> PackedSentence:
    """A sentence that cites source `n` for a quotation (itself when none is given)."""
    citation = PackedCitation(
        n=n, document_id=document, content_sha=f"{document}-1", start=0, end=9, quote=quote or text, verdict=verdict
    )
    return PackedSentence(text=text, citations=(n,), verdict=verdict, evidence=(citation,))


def source(n: int, document: str = "crane", *, snippet: str = "Forty.", node: str = "", rank: int = 1) -> PackedSource:
    """Source `n`: a place of a document."""
    return PackedSource(
        n=n, document_id=document, line_start=3, line_end=4, section_path=("Crane", "Speed"), start=10 * n,
        end=10 * n + 6, snippet=snippet, node_ids=(node or f"{document}/{n}",), rank=rank,
    )  # fmt: skip


def document(id: str = "crane", *, version: int = 1) -> PackedDocument:
    """A document, named for its id, in one of its versions."""
    return PackedDocument(
        id=id, name=f"{id}.md", title=id.title(), content_sha=f"{id}-{version}", file_sha=f"{id}-file-{version}"
    )


def pack(
    *sentences: PackedSentence,
    sources: tuple[PackedSource, ...] = (source(1),),
    documents: tuple[PackedDocument, ...] = (document(),),
    ranking: tuple[PackedCandidate, ...] = (),
    settings: dict[str, Any] | None = None,
    said: dict[str, Any] | None = None,
    **changes: Any,
) -> Pack:
    """A pack of an extractive answer."""
    told: dict[str, Any] = {
        "answered": True, "text": " ".join(one.text for one in sentences), "confidence": "high", "mode": "extractive",
        "sentences": sentences, "sources": sources, **(said or {}),
    }  # fmt: skip
    fields: dict[str, Any] = {
        "footnote": "1.0", "made_at": "2026-03-01T10:00:00+00:00", "asked": PackedRequest(question=QUESTION),
        "answer": PackedAnswer(**told), "documents": documents, "ranking": ranking,
        "settings": PackedSettings(fingerprint="abc", values=settings or {"retrieval.top_n": 5}),
        "embedding_model": "hashed/hashed@256", "corpus_version": 7,
    }  # fmt: skip
    return Pack(**{**fields, **changes})
