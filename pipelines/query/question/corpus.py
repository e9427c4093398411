"""Questions about the documents as such: how many there are, what is new, who made one, which say something."""

from dataclasses import dataclass
from typing import Literal

from pipelines.query.question.rules import is_about_form
from pipelines.query.question.words import Phrase, Text, read
from pipelines.store.tokens import tokenise
from pipelines.types import QueryIntent

CorpusForm = Literal["count", "list", "new", "made", "mention"]
_FORMS: tuple[CorpusForm, ...] = ("count", "list", "new", "made", "mention")


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """What is asked of the documents: how many, which, which are new, by whom or of when one is, or which say
    something.

    `noun` is what they are called, in the singular, if `named`; `several` if it is a plural. `topic` is the title, or
    what they say; `asks_who` if the author is asked for, not the date.
    """

    form: CorpusForm
    noun: str = "document"
    several: bool = False
    named: bool = False
    topic: str = ""
    asks_who: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """The index terms of the topic, each once, without those of the answer's form."""
        return tuple(dict.fromkeys(term for term in tokenise(self.topic, aliases=False) if not is_about_form(term)))


def corpus_question(intent: QueryIntent) -> CorpusQuestion | None:
    """The question that is asked of the documents as such; None for any other."""
    text = read(intent.corrected or intent.question)
    found = ((form, place) for form in _FORMS for place in text.all_of(f"corpus-{form}"))
    form, place = next(found, (None, None))
    if form is None or place is None:
        return None
    nouns = (text.at("corpus-noun", at) for at in range(len(text.words)))
    noun, topic = next(filter(None, nouns), None), _topic(text, place)
    if noun is None or form == "made":
        return CorpusQuestion(form, topic=topic, asks_who="who" in text.all[:2])
    named = " ".join(text.all[noun.first : noun.last])
    return CorpusQuestion(form, named.removesuffix("s"), named.endswith("s"), True, topic)


def _topic(text: Text, place: Phrase) -> str:
    """The words that the phrase leaves open, with the signs before them; empty without any, or for two sentences."""
    first, last = place.groups.get("topic", (0, 0))
    if not last:
        return ""
    end = text.words[last].start if last < len(text.words) else len(text.text)
    return text.text[text.words[first].start - len(text.words[first].before) : end].strip(" ?.!")


def is_title(asked: CorpusQuestion, title: str) -> bool:
    """True if the topic of a question is a title, with the kind of document before it or without."""
    topic = read(asked.topic).all
    kinds = ([], *(["the", kind] for kind in ("post", "article", "page", "note")))
    return any(topic == [*kind, *read(title).all] for kind in kinds)
