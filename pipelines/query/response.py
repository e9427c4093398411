"""RESPONSE: an Answer as LlamaIndex's Response, whole or as it is written, and as the tool of an agent."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.tools import QueryEngineTool, ToolOutput

from pipelines.answers import Answer, Footnote, Sentence, Source, Token
from pipelines.query.answer import AnswerEvent
from pipelines.types import Filters, Trace

Answered = tuple[Answer, Trace]
_OF_ANSWER = ("trace_id", "answered", "confidence", "notes", "follow_ups")
_OF_SOURCE = ("n", "document_id", "title", "uri", "category", "page", "line_start", "line_end", "start", "end")
_SHOWN = ("document_name", "title", "section_path", "page")  # to a language model
_MAX_NAME = 64  # of a tool
DESCRIPTION = "Answers questions about the ingested documents; every sentence carries checked citations."


def response(answer: Answer, trace: Trace) -> Response:
    """An Answer as a Response; its source nodes are the sources that sentences cite, its metadata name the nearest
    words.
    """
    scores = {candidate.node_id: candidate.similarity for candidate in trace.candidates}
    nodes = []
    for source in answer.sources:
        if citing := [sentence for sentence in answer.sentences if source.n in sentence.citations]:
            known = [score for node_id in source.node_ids if (score := scores.get(node_id)) is not None]
            nodes.append(NodeWithScore(node=_source_node(source, citing), score=max(known, default=None)))
    metadata: dict[str, Any] = {name: getattr(answer, name) for name in _OF_ANSWER}
    metadata["conflicts"] = [conflict.said for conflict in answer.conflicts]
    if not answer.answered:
        metadata["nearest"] = [near.words for near in answer.nearest]
    return Response(response=answer.answer, source_nodes=nodes, metadata=metadata)


def _source_node(source: Source, citing: Sequence[Sentence]) -> TextNode:
    metadata = {
        **{name: getattr(source, name) for name in _OF_SOURCE},
        "document_name": source.documentName,
        "section_path": list(source.section_path),
        "node_ids": list(source.node_ids),
        "sentences": [sentence.text for sentence in citing],
        "verdicts": [sentence.verdict for sentence in citing],
    }
    hidden = [key for key in metadata if key not in _SHOWN]
    return TextNode(
        id_=f"{source.document_id}:{source.start}-{source.end}",
        text=source.snippet,
        start_char_idx=source.start,
        end_char_idx=source.end,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source.document_id)},
    )


def streamed(events: "Iterator[AnswerEvent | Answered]") -> StreamingResponse:
    """The text as it is written; sources and metadata are there when it is complete."""

    def text() -> Generator[str, None, None]:
        for event in events:
            if isinstance(event, Token):
                yield event.text
            elif isinstance(event, Footnote):
                yield f" [{event.n}]"
            elif isinstance(event, tuple):
                whole = response(*event)
                made.source_nodes, made.metadata = whole.source_nodes, whole.metadata

    made = StreamingResponse(response_gen=text())
    return made


def streamed_beside(events: "Iterator[AnswerEvent | Answered]") -> AsyncStreamingResponse:
    """As `streamed`, for a loop that is not blocked meanwhile: each piece is waited for in a thread."""
    inner = streamed(events)
    pieces = iter(inner.response_gen)

    async def text() -> AsyncIterator[str]:
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece
        made.source_nodes, made.metadata = inner.source_nodes, inner.metadata

    made = AsyncStreamingResponse(response_gen=text())  # type: ignore[arg-type]
    return made


class AnswerTool(QueryEngineTool):
    """A QueryEngineTool whose text ends with the list of its sources, and that takes one question and nothing else."""

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """The answer with its sources."""
        return _with_sources(super().call(*args, **kwargs))

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """As `call`."""
        return _with_sources(await super().acall(*args, **kwargs))

    def _get_query_str(self, *args: Any, **kwargs: Any) -> str:
        given = [*args, *kwargs.values()]
        if len(given) != 1 or kwargs.keys() - {"input"} or not isinstance(given[0], str):
            raise ValueError(f"{self.metadata.name} takes one question, as `input`, and not {[*args, *kwargs]}.")
        return given[0]


def _with_sources(output: ToolOutput) -> ToolOutput:
    nodes = output.raw_output.source_nodes
    lines = [_source_line(hit.node.metadata) for hit in nodes]
    text = "\n".join([output.content, *(["", "Sources:", *lines] if lines else [])])
    return ToolOutput(
        content=text, tool_name=output.tool_name, raw_input=output.raw_input, raw_output=output.raw_output
    )


def _source_line(source: dict[str, Any]) -> str:
    page = f"p. {source['page']}" if source["page"] else ""
    parts = (source["title"], source["document_name"], page, " > ".join(source["section_path"]), source["uri"])
    return f"[{source['n']}] {', '.join(filter(None, dict.fromkeys(parts)))}"


def tool_name(filters: Filters, audience: str) -> str:
    """A name of a tool for these filters and this audience; other ones have another name."""
    narrowing = [str(value) for name in filters.narrowing for value in _values(getattr(filters, name))]
    words = " ".join(["footnote", *narrowing, *(["visitor"] if audience == "visitor" else [])])
    plain = "_".join("".join(char if char.isascii() and char.isalnum() else " " for char in words).split())
    if len(plain) <= _MAX_NAME:
        return plain
    return f"{plain[: _MAX_NAME - 9]}_{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def _values(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else (value,)
