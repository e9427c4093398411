"""DISPUTED: what documents say differently of the career that an answer is about."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.careers.reckoning import Reckoning
from pipelines.query.careers.timeline import people
from pipelines.query.conflicts.career_conflicts import CAREERS, career_disagreements
from pipelines.query.conflicts.conflicts import is_about_a_career
from pipelines.query.conflicts.disagreement import Disagreement
from pipelines.query.conflicts.retold import retold
from pipelines.query.context.stored import context_of
from pipelines.query.gather import Gathered
from pipelines.query.searching.cache import CachedSearch
from pipelines.query.trace import Ledger
from pipelines.store.facts import read_facts, stated_people
from pipelines.store.reads import NodeReader
from pipelines.types import Answer, Filters


def disputed(answer: Answer, gathered: Gathered, search: CachedSearch) -> Sequence[Disagreement]:
    """What is said differently of a computed value, or in the resumes and profiles that an answer may rest on.

    Nothing where it cannot be read.
    """
    if not isinstance(gathered.basis, Reckoning):
        return _by_facts(answer, gathered, search.finder.store)
    return (*gathered.basis.doubts, *_retold(answer, gathered, gathered.basis, search))


def _by_facts(answer: Answer, gathered: Gathered, reader: NodeReader) -> Sequence[Disagreement]:
    """What the resumes and profiles among the candidates say differently, where the answer rests on one of them."""
    documents, rests = gathered.ledger.documents, any(source.category in CAREERS for source in answer.sources)
    if len(documents) < 2 or not rests or not is_about_a_career(answer):
        return ()
    told = Filters(document=documents, category=tuple(sorted(CAREERS)))
    try:
        facts = read_facts(reader, told, gathered.request.audience)
    except FootnoteError as error:
        log_failure("career facts were not compared", error)
        return ()
    return career_disagreements(people(facts, date.today()))


def _retold(answer: Answer, gathered: Gathered, reckoning: Reckoning, search: CachedSearch) -> Sequence[Disagreement]:
    """What other documents say of the dates of the jobs that an answer was computed from, where they are asked."""
    if not is_about_a_career(answer):
        return ()
    finder, audience = search.finder, gathered.request.audience
    try:
        found = search.find_with(replace(finder, llm=None), gathered.request, gathered.intent, Ledger())
        context = context_of(found, finder, audience, Ledger())
        names = {document: name for name, document in stated_people(finder.store, audience)}
    except FootnoteError as error:
        log_failure("career facts were not compared with what else is said", error)
        return ()
    return retold((item.fact for item in reckoning.items), names, context.sources)
