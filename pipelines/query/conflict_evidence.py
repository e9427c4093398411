"""Read what conflict detection compares: career facts, and passages about computed jobs."""

from collections.abc import Sequence
from datetime import date

from pipelines.answers import Answer, Context
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.careers.computed_answer import ComputedAnswer
from pipelines.query.careers.disagreements import CAREER_CATEGORIES, Disagreement, career_disagreements
from pipelines.query.careers.people import group_people
from pipelines.query.conflicts.detect import is_about_career, job_date_disagreements
from pipelines.query.context import Retrieved
from pipelines.query.search import Search
from pipelines.store.facts import read_facts, stated_people
from pipelines.types import Filters


def career_disagreements_for(
    answer: Answer, search: Search, basis: ComputedAnswer | Retrieved, context: Context | None
) -> Sequence[Disagreement]:
    """Career disagreements about a computed value, or between the resumes and profiles behind an answer.

    Empty if the facts or passages cannot be read. `context` is what was found for the question, if it was searched for.
    """
    if not isinstance(basis, ComputedAnswer):
        return _between_documents(answer, search)
    return (*basis.doubts, *_with_other_passages(answer, search, basis, context))


def _between_documents(answer: Answer, search: Search) -> Sequence[Disagreement]:
    """Disagreements between the resumes and profiles among the candidates, if the answer uses one of them."""
    documents = search.ledger.documents
    uses_career = any(source.category in CAREER_CATEGORIES for source in answer.sources)
    if len(documents) < 2 or not uses_career or not is_about_career(answer):
        return ()
    filters = Filters(document=documents, category=tuple(sorted(CAREER_CATEGORIES)))
    try:
        facts = read_facts(search.store, filters, search.request.audience)
    except FootnoteError as error:
        log_failure("career facts were not compared", error)
        return ()
    return career_disagreements(group_people(facts, date.today()))


def _with_other_passages(
    answer: Answer, search: Search, computed: ComputedAnswer, context: Context | None
) -> Sequence[Disagreement]:
    """Disagreements of other documents with the dates of the jobs behind a computed answer, if dates are asked."""
    if context is None or not is_about_career(answer):
        return ()
    try:
        names = {document: name for name, document in stated_people(search.store, search.request.audience)}
    except FootnoteError as error:
        log_failure("career facts were not compared with what else is said", error)
        return ()
    return job_date_disagreements((item.fact for item in computed.items), names, context.sources)
