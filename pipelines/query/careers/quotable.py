"""QUOTABLE: what extraction may quote where a question names people, or asks what somebody speaks."""

from pipelines.query.careers.spoken import asks_for_spoken, lists_code
from pipelines.query.careers.strangers import may_name_somebody, strangers, tells_of_others
from pipelines.query.careers.whose import of_others, without
from pipelines.query.conflicts.career_conflicts import CAREERS
from pipelines.query.extraction.lines import Barred
from pipelines.store.facts import stated_people
from pipelines.store.reads import NodeReader
from pipelines.types import Audience, Context, QueryIntent


def quotable(
    intent: QueryIntent, context: Context, store: NodeReader, audience: Audience
) -> tuple[Context, Barred | None]:
    """(the context without the careers of other people than those that the question names, what else is barred of it).

    Barred is what tells of others where the question names somebody whose career no document states, and lists of
    programming languages where it asks for those that somebody speaks; None where nothing is.
    """
    has_careers = any(source.category in CAREERS for source in context.sources)
    is_spoken = asks_for_spoken(intent)
    is_named = not is_spoken and may_name_somebody(intent)
    stated = stated_people(store, audience) if has_careers or is_named else []
    own = without(context, of_others(intent, stated)) if has_careers else context
    if is_spoken:
        return own, lists_code
    if not is_named or not stated:
        return own, None
    names = strangers(intent, stated, [name for name, _ in store.stated_names(audience)])
    return own, tells_of_others(names, {document for _, document in stated}) if names else None
