"""The JSON of an Answer, for programs: its schema, and what must hold between its parts."""

from typing import Annotated, Any

from pydantic import AfterValidator, TypeAdapter, ValidationError

from pipelines.errors import StoreError
from pipelines.store.queries import jsonable
from pipelines.types import Answer


def answer_json(answer: Answer) -> dict[str, Any]:
    """The Answer as plain data that `answer_schema` describes.

    Raises:
        StoreError: If it breaks the schema: a bug.
    """
    shown: dict[str, Any] = jsonable(answer)
    read_answer(shown)
    return shown


def answer_schema() -> dict[str, Any]:
    """The JSON Schema of `footnote ask --json`: `answer`, `sources` with `documentName` and `snippet`, and the rest."""
    return _ANSWER.json_schema()


def read_answer(shown: Any) -> Answer:
    """The Answer that plain data holds.

    Raises:
        StoreError: If the data is none: a part is missing or of another type, a citation points at no source, a
            snippet is not as long as its offsets say, or an abstention cites something.
    """
    try:
        return _ANSWER.validate_python(shown)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise StoreError(f"This is no answer: {place}: {first['msg']}.", hint="Ask again, and report it.") from error


def _consistent(answer: Answer) -> Answer:
    numbers = [source.n for source in answer.sources]
    cited = {n for sentence in answer.sentences for n in sentence.citations}
    cited |= {found.n for sentence in answer.sentences for found in sentence.evidence}
    cited |= {side.n for conflict in answer.conflicts for side in conflict.sides}
    if numbers != list(range(1, len(numbers) + 1)):
        raise ValueError("the sources are not numbered from 1 on")
    if not cited <= {*numbers}:
        raise ValueError(f"there is no source {min(cited - {*numbers})}")
    if any(len(source.snippet) != source.end - source.start for source in (*answer.sources, *answer.nearest)):
        raise ValueError("a snippet is not as long as its offsets say")
    if not answer.answered and answer.sentences:
        raise ValueError("an abstention has sentences")
    return answer


_ANSWER: TypeAdapter[Answer] = TypeAdapter(Annotated[Answer, AfterValidator(_consistent)])
