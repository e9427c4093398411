"""TOOL: the engine as LlamaIndex's agents use it."""

from collections.abc import Callable
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.tools import QueryEngineTool

from pipelines.types import Answer


def query_tool(ask: Callable[[str], Answer]) -> QueryEngineTool:
    """A tool that answers what an agent asks."""
    return QueryEngineTool.from_defaults(
        query_engine=_QueryEngine(ask=ask),
        name="footnote",
        description="Answers questions about the ingested documents; every sentence carries checked citations.",
    )


class _QueryEngine(CustomQueryEngine):
    """LlamaIndex's view of the engine."""

    ask: Any

    def custom_query(self, query_str: str) -> Response:
        answer: Answer = self.ask(query_str)
        return Response(response=answer.answer, metadata={"trace_id": answer.trace_id, "answered": answer.answered})
