"""ANALYSE: question -> QueryIntent, and the filters that an intent implies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from llama_index.core.schema import NodeWithScore

from config.settings import AnalysisSettings, Use
from pipelines.errors import RetrievalError, TooLarge
from pipelines.query.question.corpus import corpus_question
from pipelines.query.question.followup import stand_alone
from pipelines.query.question.form import EXACT_KINDS, classify_question
from pipelines.query.question.overview import overview_of
from pipelines.query.question.person import person_meant
from pipelines.query.question.reading import additions
from pipelines.query.question.rules import (
    asks_for_recent,
    categories_of,
    is_greeting,
    owner_terms,
    sections_of,
    terms_of,
    trim,
    wants_of,
    years_in,
)
from pipelines.query.question.words import read
from pipelines.store.known_names import NO_NAMES, NameIndex, name_words
from pipelines.structure import sentences
from pipelines.text import fold, one_line
from pipelines.types import MAX_QUESTION_CHARACTERS, CondensedBy, Filters, QueryIntent, QuestionForm, Turn

_QUOTED = re.compile(r"""(?<!\w)"(?=\S)([^"]*[^"\s])"(?!\w)|[“„‟](?=\S)([^“”„‟]*\S)[”“]|«\s*([^«»]*[^«»\s])\s*»""")
_MAX_PHRASES = 5
_MAX_PHRASE = 200
_REQUEST_WORDS = 15  # with a second sentence, more are a long request
_LONG_SENTENCE = 30

StandAlone = Callable[[str, Sequence[Turn], str], tuple[str, CondensedBy]]
_DEFAULTS = AnalysisSettings()


def analyse(
    question: str,
    settings: AnalysisSettings = _DEFAULTS,
    *,
    history: Sequence[Turn] = (),
    today: date | None = None,
    known: NameIndex = NO_NAMES,
    stand_alone: StandAlone = stand_alone,
) -> QueryIntent:
    """The intent of a question: the text to search for, its subject, and the words that tell where it is answered.

    `history` are the turns before it, oldest first, from which `stand_alone` completes a follow-up: (question without
    request phrases, history, question as typed) -> (the question as it stands alone, what made it so).

    Raises:
        RetrievalError: If the question is empty or too long.
    """
    cleaned = checked(question)
    if is_greeting(cleaned):
        return QueryIntent(question=cleaned, search_text=cleaned, greeting=True, form="greeting")
    bare = _QUOTED.sub(lambda match: next(text for text in match.groups() if text is not None), cleaned)
    asked = trim(bare) if settings.trim else bare
    limit = MAX_QUESTION_CHARACTERS  # a conversation is not checked as a question is
    turns = [
        replace(turn, question=turn.question[:limit], sources=tuple(title[:limit] for title in turn.sources[:1]))
        for turn in history
        if not is_greeting(turn.question)
    ]
    condensed, by = stand_alone(asked, turns, cleaned)
    whole = trim(condensed) if settings.trim and by == "model" else condensed
    search_text = whole[:limit]
    found = known.find(search_text)
    now = today or date.today()
    owner = tuple(sorted(name_words(known.owner) & name_words(search_text)))
    terms = dict.fromkeys(terms_of(search_text))
    intent = QueryIntent(
        question=cleaned,
        search_text=search_text,
        terms=tuple(term for term in terms if term not in owner_terms(owner)) or tuple(terms),
        categories=categories_of(search_text) if settings.categories != "off" else (),
        sections=sections_of(search_text),
        years=(years_in(asked, now) or years_in(search_text, now)) if settings.years != "off" else (),
        recent=asks_for_recent(asked),
        phrases=_phrases(cleaned) if settings.phrases else (),
        documents=tuple(dict.fromkeys(document for _, ids in found for document in ids)),
        names=tuple(dict.fromkeys(name for name, _ in found)),
        wants=wants_of(search_text),
        follow_up=bool(by),
        after=turns[-1].question if by else "",
        condensed=condensed[:MAX_QUESTION_CHARACTERS] if by else "",
        condensed_by=by,
        added=additions(asked, whole) if by else (),
        owner=owner,
        proper="" if by else _proper(cleaned, known),
        person=person_meant(search_text, known.people),
    )
    return replace(intent, form=_form_of(intent, known))


def _proper(question: str, known: NameIndex) -> str:
    """The last sentence of a question, if those before it are context: "We run a choir. What can she sing?".

    It must ask about somebody or something stored and point at nothing before it ("Will it work?"); what stands before
    it must not ask, and name nothing stored but the person whose documents these are.
    """
    *context, last = [question[start:end].strip() for start, end in sentences(question)]
    before = " ".join(context)
    if not context or not last.endswith("?") or "?" in before:
        return ""
    is_named = any(not name_words(name) <= name_words(known.owner) for name, _ in known.find(before))
    said = read(last)
    asks = said.says("who-somebody") or (bool(terms_of(last)) and (said.has("overview-persons") or known.find(last)))
    return last if asks and not is_named and not said.has("backward") else ""


def _form_of(intent: QueryIntent, known: NameIndex) -> QuestionForm:
    """The form of answer that a question asks for; first what the database tells, then a value, then a text."""
    if corpus_question(intent):
        return "corpus"
    if overview_of(intent, known.people, known.projects):
        return "overview"
    asked = classify_question(intent)
    if asked.kind in EXACT_KINDS:
        return "value"
    if asked.listed:
        return "list"
    forms: dict[str, QuestionForm] = {"comparison": "comparison", "yes-no": "yes-no", "how": "how-to"}
    is_definition = asked.kind == "what" and bool(asked.names) and not asked.focus
    return "definition" if is_definition else forms.get(asked.kind, "fact")


def checked(question: str) -> str:
    """The question on one line.

    Raises:
        RetrievalError: If it is empty.
        TooLarge: If it is too long.
    """
    limit = MAX_QUESTION_CHARACTERS
    if len(question) > limit:
        raise TooLarge(
            f"The question has {len(question):,} characters, and {limit:,} is the limit.", hint="Shorten it."
        )
    cleaned = one_line(question)
    if not cleaned:
        raise RetrievalError("The question is empty.", hint="Write a question.")
    return cleaned


def _phrases(question: str) -> tuple[str, ...]:
    """The phrases in quotation marks, without the marks of a sentence's end.

    Nothing of a question that is quoted whole, nor of a long request: there quotations are examples.
    """
    words = len(question.split())
    if words > _LONG_SENTENCE or (words > _REQUEST_WORDS and len(list(sentences(question))) > 1):
        return ()
    texts = [next(text for text in groups if text) for groups in _QUOTED.findall(question)]
    if texts and texts[0].endswith("?") and len(texts[0]) + 2 >= len(question):
        return ()
    stripped = [text.strip(" .,;:!?") for text in texts]
    held = [text for text in dict.fromkeys(stripped) if len(text) <= _MAX_PHRASE and fold(text).strip("'\"-")]
    return tuple(held[:_MAX_PHRASES])


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Filters to search with, what is kept of what they find, and which guesses were given up before, in words.

    `guessed` if `filters` or `keep` hold a guess, which may be dropped when too few candidates are left.
    """

    filters: Filters
    keep: Filters = NO_FILTERS
    guessed: bool = False
    dropped: str = ""


def narrowings(intent: QueryIntent, filters: Filters, settings: AnalysisSettings) -> list[Narrowing]:
    """The narrowest first, then without the guessed years, then without the guessed categories: without any guess.

    The caller's filters are in all of them, and so are the question's phrases. A guess only narrows: categories and
    years that the caller has ruled out are none.
    """
    plain = Narrowing(replace(filters, phrase=tuple(dict.fromkeys((*filters.phrase, *intent.phrases)))))
    by_category = _guess(plain, "category", intent.categories, settings.categories)
    by_both = _guess(by_category, "year", intent.years, settings.years)
    steps = [by_both]
    if by_both is not by_category:
        steps.append(replace(by_category, dropped="years"))
    if by_category is not plain:
        steps.append(replace(plain, dropped="categories"))
    return steps


def outside(ranking: Sequence[NodeWithScore], narrowing: Narrowing) -> set[str]:
    """The ids of the nodes that a postfilter takes out."""
    keep = narrowing.keep
    return {
        hit.node.node_id
        for hit in ranking
        if (keep.category and hit.node.metadata["category"] not in keep.category)
        or (keep.year and hit.node.metadata["year"] not in keep.year)
    }


def _guess(narrowing: Narrowing, field: str, guess: Sequence[str] | Sequence[int], use: Use) -> Narrowing:
    """The narrowing with a guess, in the retrievers' filters or after them; unchanged if the guess narrows nothing."""
    if use not in {"prefilter", "postfilter"}:
        return narrowing
    allowed = getattr(narrowing.filters, field)
    inside = tuple(value for value in guess if not allowed or value in allowed)
    if not inside or set(inside) == set(allowed):
        return narrowing
    target = "filters" if use == "prefilter" else "keep"
    narrowed = replace(getattr(narrowing, target), **{field: inside})
    return replace(narrowing, guessed=True, **{target: narrowed})
