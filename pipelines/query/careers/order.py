"""ORDER: the jobs that somebody had before or after the one at a company."""

from collections.abc import Collection, Sequence

from pipelines.query.careers.jobs import companies, found_at
from pipelines.query.careers.reckoning import Reckoning, entries
from pipelines.query.careers.timeline import Person

_RELATIONS = frozenset({"before", "after"})
_NEXT = frozenset("directly right immediately just".split())


def jobs_beside(person: Person, words: Sequence[str], spare: Collection[str]) -> Reckoning | None:
    """The dated jobs before or after those at the company that the question names, the nearest first; with "right
    before" the nearest alone. None unless every word is understood, or the company's jobs have no dates.

    Args:
        person: Whose jobs.
        words: Of the question, folded.
        spare: Words that say nothing of which job.
    """
    relation = next((word for word in words if word in _RELATIONS), "")
    # after "at", the first words of a company's name will do
    there, used = found_at(companies(person.jobs), ["at" if word == relation else word for word in words])
    rest = {word for place, word in enumerate(words) if place not in used} - {relation, *spare}
    if not relation or not there or not rest <= _NEXT or min(used) == 0 or words[min(used) - 1] != relation:
        return None
    spans = [job.stretch for job in there if job.stretch]
    others = [(job, job.stretch) for job in person.jobs if job not in there and job.stretch]
    if not spans:
        return None
    first, last = min(span.first for span in spans), max(span.first for span in spans)
    if relation == "before":
        beside = [job for job, span in others if span.first < first]
    else:
        beside = [job for job, span in reversed(others) if span.first > last]
    return entries(beside[:1] if rest else beside, f"{relation} {there[0].record.company}")
