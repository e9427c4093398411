"""RETOLD: sentences of other documents that date a job otherwise than the career facts which answer a question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipelines.facts import JobFacts
from pipelines.months import named
from pipelines.query.conflicts.career_conflicts import fact_side
from pipelines.query.conflicts.contradict import contradiction
from pipelines.query.conflicts.disagreement import Disagreement, Side
from pipelines.store.facts import Fact
from pipelines.text import sentences
from pipelines.types import Source

_BEGAN, _ENDED = ("joined", "started at"), ("left",)


def retold(facts: Iterable[Fact], names: Mapping[str, str], sources: Sequence[Source]) -> list[Disagreement]:
    """What sources say of when somebody joined or left an employer, where a fact dates it otherwise; one a fact.

    Args:
        facts: Those that an answer rests on.
        names: Whose career a document states, by its id.
        sources: What was found for the question, of whatever documents.
    """
    told = list(facts)
    own = {fact.document_id for fact in told}
    others = [source for source in sources if source.document_id not in own]
    found = (_of(fact, names.get(fact.document_id, ""), others) for fact in told)
    return [each for each in found if each]


def _of(fact: Fact, name: str, sources: Sequence[Source]) -> Disagreement | None:
    for said in _claims(fact, name):
        for source in sources:
            for start, end in sentences(source.snippet):
                differs = contradiction(said, source.snippet[start:end], same_subject=False)
                if differs and differs.kind == "dates":
                    other = Side(differs.other, source, source.start + start, source.start + end)
                    record = fact.record
                    assert isinstance(record, JobFacts)
                    return Disagreement("dates", record.company, (fact_side(fact, record.date_range), other))
    return None


def _claims(fact: Fact, name: str) -> Iterator[str]:
    """A job's beginning and its end as sentences that name the person."""
    record = fact.record
    if not isinstance(record, JobFacts) or not name:
        return
    first, last = record.start_month, None if record.current else record.end_month
    for month, verbs in ((first, _BEGAN), (last, _ENDED)):
        yield from (f"{name} {verb} {record.company} in {named(month)}." for verb in verbs if month)
