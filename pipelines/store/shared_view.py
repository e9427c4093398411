"""The part of a stored answer that an audience may see: nothing from documents that became private or are gone."""

from dataclasses import replace

from sqlalchemy import Connection

from pipelines.answers import Answer
from pipelines.store.documents import document_links
from pipelines.types import Audience

HIDDEN = "Part of this answer is not shown: its documents are private or no longer there."


def as_seen(connection: Connection, answer: Answer, audience: Audience) -> Answer:
    """The answer without the sources whose document this audience may not see, and without what was said from them.

    What names other documents (near copies, titles in notes, suggested questions) goes with the first hidden source.
    """
    every = (*answer.sources, *answer.nearest)
    seen = document_links(connection, {source.document_id for source in every}, audience)
    if all(source.document_id in seen for source in every):
        return _without_names(answer)
    hidden = {source.n for source in answer.sources if source.document_id not in seen}
    kept = [each for each in answer.sentences if each.citations and hidden.isdisjoint(each.citations)]
    kept = [sentence for sentence in kept if all(cited.n not in hidden for cited in sentence.evidence)]
    shown = [source for source in answer.sources if source.n not in hidden]
    numbers = {source.n: place for place, source in enumerate(shown, start=1)}
    return _without_names(
        replace(
            answer,
            answer="\n\n".join(sentence.text for sentence in kept) or (HIDDEN if answer.answered else answer.answer),
            sentences=tuple(
                replace(
                    sentence,
                    citations=tuple(numbers[n] for n in sentence.citations),
                    evidence=tuple(replace(cited, n=numbers[cited.n]) for cited in sentence.evidence),
                )
                for sentence in kept
            ),
            sources=tuple(replace(source, n=numbers[source.n]) for source in shown),
            nearest=tuple(source for source in answer.nearest if source.document_id in seen),
            conflicts=(),
            follow_ups=(),
            notes=(HIDDEN,),
        )
    )


def _without_names(answer: Answer) -> Answer:
    """The answer without the names of documents beside its sources, which may be private, and without its cost."""
    bare = [
        [replace(source, also_in=(), near_copies=()) for source in sources]
        for sources in (answer.sources, answer.nearest)
    ]
    return replace(answer, sources=tuple(bare[0]), nearest=tuple(bare[1]), usage={}, cost=None)
