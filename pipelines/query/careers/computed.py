"""COMPUTED: what the stored career facts answer, read where a question may be one for them."""

from dataclasses import replace
from datetime import date

from pipelines.query.careers.career import may_reckon, reckon
from pipelines.query.careers.listing import asked_about
from pipelines.query.careers.reckoning import Reckoning
from pipelines.query.careers.sections import read_sections
from pipelines.query.careers.timeline import people
from pipelines.store.facts import read_facts
from pipelines.store.reads import NodeReader
from pipelines.types import Audience, Filters, QueryIntent


def computed(intent: QueryIntent, reader: NodeReader, filters: Filters, audience: Audience) -> Reckoning | None:
    """What can be computed from career facts in answer to a question; None where they do not answer it.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    if not may_reckon(intent):
        return None
    facts = read_facts(reader, replace(filters, phrase=(*filters.phrase, *intent.phrases)), audience)
    known = people(facts, date.today())
    if unread := read_sections(reader, facts, asked_about(intent, known), audience):
        known = people([*facts, *unread], date.today())
    return reckon(intent, known)
