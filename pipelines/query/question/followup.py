"""Rewrite a follow-up question so that it stands alone: by a language model, else by rules."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from llama_index.core.llms import LLM

from config.prompts import CONDENSE
from pipelines.models.consult import consult, reply_limit
from pipelines.query.delimit import escape_delimiters, fresh_key
from pipelines.query.llm_queries import MAX_REPLY, MAX_SEARCH, parse_queries
from pipelines.query.question.names import capitals, is_capital
from pipelines.query.question.references import named_before, points_at_person, resolve_references
from pipelines.query.question.rules import terms_of, trim
from pipelines.query.question.substitution import ENDS, bare_question, is_name_alone, other_part, substituted
from pipelines.query.question.words import Text, read, words
from pipelines.text import base_verb_forms, count_tokens, fold, participle
from pipelines.types import CondensedBy, Turn

_CUT = " ..."
Weight = Callable[[str], float]


def recent_turns(history: Sequence[Turn], *, tokens: float, turns: int = 4) -> tuple[Turn, ...]:
    """The last turns, oldest first: at most `turns`, and at most so many cl100k tokens of questions and answers.

    A turn that does not fit ends it, but that the last turn's answer is cut to what there is room for.
    """
    kept: list[Turn] = []
    left = tokens
    for turn in reversed(history[-turns:] if turns else ()):
        fitting = turn if kept or _size(turn) <= left else _cut(turn, left - _size(Turn(turn.question, _CUT)))
        left -= _size(fitting)
        if left < 0:
            break
        kept.append(fitting)
    return tuple(reversed(kept))


def _size(turn: Turn) -> int:
    return count_tokens(turn.question) + count_tokens(turn.answer)


def _cut(turn: Turn, tokens: float) -> Turn:
    """The turn with as many of its answer's first words as fit into so many tokens."""
    words = turn.answer.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(" ".join(words[:middle])) <= tokens else (low, middle - 1)
    return replace(turn, answer=" ".join(words[:low]) + _CUT if low else "")


def stand_alone(
    question: str,
    history: Sequence[Turn],
    typed: str,
    *,
    weight: Weight = lambda _: 1.0,
    rewrite: Callable[[str, Sequence[Turn]], str] = lambda _question, _history: "",
) -> tuple[str, CondensedBy]:
    """(the question as it stands alone, what made it so); a question that stands alone comes back as it was.

    Args:
        question: Without its request phrases.
        history: The turns before it, oldest first, greetings left out.
        typed: The question with its request phrases.
        weight: How rare an index term is; the index's idf.
        rewrite: The question in the words of a language model; empty where there is none, and the rules decide.
    """
    if not is_follow_up(question, history, typed=typed):
        return question, ""
    if rewritten := rewrite(typed, history):
        return rewritten, "model"
    whole = _condensed(question, history, weight, typed=typed)
    return whole, "rules" if whole != question else ""


_HINT = "Raise FOOTNOTE_ANSWER__CONDENSE_SECONDS, or set FOOTNOTE_ANSWER__CONDENSE=rules."
_REPLY_TOKENS = 40  # by which its time is expected
_KEPT = 0.5  # of the follow-up's own terms


def rewrite_follow_up(question: str, history: Sequence[Turn], llm: LLM, *, seconds: float) -> str:
    """The follow-up as a question that is understood alone; empty when the model's reply is none.

    Args:
        question: The follow-up.
        history: The turns before it, oldest first, within their budget.
        llm: Asked once.
        seconds: It is given up after so many, or after what its measured speed makes expect.

    Raises:
        ModelError, ServiceUnavailable: If the model fails or takes too long.
    """
    texts = [text for turn in history for text in (turn.question, turn.answer)]
    key = fresh_key([*texts, question])
    conversation = "\n".join(
        f"User: {escape_delimiters(turn.question)}\nAnswer: {escape_delimiters(turn.answer)}" for turn in history
    )
    quoted = f"<<conversation {key}>>\n{conversation}\n<</conversation {key}>>\n\nFollow-up: {question}"
    messages = [("system", CONDENSE), ("user", quoted)]
    limit = reply_limit(llm, messages, reply_tokens=_REPLY_TOKENS, least=seconds)
    reply = consult(llm, messages, seconds=limit, limit=MAX_REPLY, hint=_HINT)
    return checked_rewrite(reply, question, history)


def checked_rewrite(reply: str, question: str, history: Sequence[Turn]) -> str:
    """The one question of a reply, if it says what the follow-up says and takes the rest from the conversation.

    Empty when there is none or are several, when it is no question, names somebody, something or a number that was
    not spoken of, takes nothing from the conversation, or loses half of the follow-up's own terms.
    """
    found = parse_queries(reply, question, 2)
    if len(found) != 1 or not found[0].endswith("?") or len(found[0]) >= MAX_SEARCH:
        return ""
    text = found[0]
    known = fold(" ".join((question, *(t for turn in history for t in (turn.question, turn.answer, *turn.sources)))))
    said = read(text)
    named = (word for at, word in enumerate(said.words) if is_capital(said, at) or word.text[0].isdigit())
    if any(word.text not in known for word in named):
        return ""
    own_terms, terms = set(terms_of(question)), set(terms_of(text))
    taken = (terms - own_terms) & set(terms_of(known))
    return text if taken and len(own_terms & terms) >= _KEPT * len(own_terms) else ""


_TOPIC_WORDS = 5  # measured on multi-turn questions: fewer lose the topic, more drown the question
_TITLE_WORDS = 6
_TURNS = 12  # that are read
_NAMED_BEFORE = 4  # terms before a pronoun, from which it means one of them


def _condensed(question: str, history: Sequence[Turn], weight: Weight, *, typed: str = "") -> str:
    """The question as it stands alone: what it points at is named, and what it leaves unsaid follows it.

    A question that only swaps a part of the last one ("And when?", "What about Berlin?") is that one with the part in
    its place. In another, "she", "it", "there" and "before that" are put into words where it is clear what they mean.
    What is still unsaid are the weightiest words of the last question that stood alone, and of those since. A question
    with matter of its own that points at a person is given the last names only; one that points at a thing, also the
    title of the first source cited.

    Args:
        question: Without its request phrases.
        history: The turns before it, oldest first, greetings left out.
        weight: How rare an index term is; the index's idf.
        typed: The question with its request phrases ("and"), where it has any.
    """
    chain = _chain(history)
    if whole := substituted(typed or question, chain[0]):
        return whole
    resolved = resolve_references(question, chain)
    at_thing = _points_at_thing(resolved)
    pointed = _points_at_thing(question) or points_at_person(question)
    if pointed and not (at_thing or points_at_person(resolved)) and (terms_of(question) or len(terms_of(resolved)) > 1):
        return resolved
    said = [word for turn in reversed(chain) for word in _nouns(read(turn.question))]
    if not at_thing and points_at_person(question) and (len(terms_of(question)) > 1 or capitals(question)):
        topic = [word for word in said if word in _names(chain)]
    elif not at_thing and points_at_person(resolved) and terms_of(question):
        topic = _weightiest([word for word in said if word not in _names(chain, after=True)], weight)
    else:
        topic = _weightiest(said, weight)
    if at_thing and history[-1].sources:
        titled = (word.typed for word in read(history[-1].sources[0]).words)
        topic += [word for word in titled if _tells(word)][:_TITLE_WORDS]
    present = set(read(resolved).all)
    unsaid = " ".join(word for word in dict.fromkeys(topic) if fold(word) not in present)
    return f"{resolved} ({unsaid})" if unsaid else resolved


def is_follow_up(question: str, history: Sequence[Turn], *, typed: str = "") -> bool:
    """True if a question does not say what it is about: it points back, swaps a part of another, or has no matter."""
    if not history:
        return False
    asked = read(typed or question)
    opens = bool(asked.words) and (asked.all[0] in words("opener") or asked.says("verbless"))
    is_verbless = opens and not asked.has("aux") and not capitals(question)
    is_reply = is_name_alone(asked.text.strip(ENDS)) and read(history[-1].question).has("they")
    if is_verbless or is_reply or bare_question(asked) or other_part(asked.text):  # a part of another question
        return True
    return _points_at_thing(question) or points_at_person(question) or not (terms_of(question) or capitals(question))


def _nouns(text: Text) -> list[str]:
    """The words of a question that may name something: no verbs that are known by their form or place, no adverbs."""
    told = [at for at, word in enumerate(text.words) if _tells(word.typed)]
    return [text.words[at].whole for at in told if not _is_verb(text, at)]


def _is_verb(text: Text, at: int) -> bool:
    word, before = text.words[at].typed, text.all[max(at - 1, 0) : at]
    if not word.islower():
        return False
    if participle(word) or base_verb_forms(word) != word or word.endswith("ly") or word in words("clause-openers"):
        return True
    is_led = before != [] and (before[0] in words("subjects") or is_capital(text, at - 1))
    return is_led and not text.set.isdisjoint(words("acting"))


def _tells(word: str) -> bool:
    return bool(terms_of(word))


def _points_at_thing(question: str) -> bool:
    """True if a question speaks of a thing that it does not name; "it" after enough matter is what was just named.

    "Is it true", "are there", "this year" point at nothing that was said.
    """
    text = read(question)
    empty = {at for place in text.all_of("empty") for at in range(place.first, place.last)}
    pointing = (place.first for place in text.all_of("pointing") if place.first not in empty)
    places = [at for at in pointing if not named_before(text, at)]
    return bool(places) and len(terms_of(text.slice(0, min(places)))) < _NAMED_BEFORE


def _chain(history: Sequence[Turn]) -> list[Turn]:
    """The turns back to the last question that stands alone, the last one first, with what they point at named.

    A follow-up that swapped a part of the one before it stands alone by what it was read as.
    """
    chain: list[Turn] = []
    recent = history[-_TURNS:]
    for place, turn in enumerate(recent):
        text = trim(turn.question)
        follows = is_follow_up(text, recent[:place], typed=turn.question)
        whole = substituted(turn.question, chain[0]) if follows else ""
        resolved = whole or (resolve_references(text, chain) if follows else text)
        stands = bool(whole) or (not follows and len(terms_of(text)) > 1)
        chain = [replace(turn, question=resolved), *(() if stands else chain)]
    return chain


def _names(chain: Sequence[Turn], *, after: bool = False) -> set[str]:
    """The names in the questions, but for those after a "she", which are not who that is; or these alone."""
    found = set()
    for text in (read(turn.question) for turn in chain):
        they = next((at for at, word in enumerate(text.all) if word in words("they")), len(text.all))
        places = range(they, len(text.all)) if after else range(they)
        found |= {text.words[at].whole for at in places if is_capital(text, at)}
    return found


def _weightiest(said: Sequence[str], weight: Weight) -> list[str]:
    """The weightiest words, each once, in the order in which they were said."""
    distinct = list(dict.fromkeys(said))
    ranked = sorted(distinct, key=lambda word: -max(weight(term) for term in terms_of(word)))
    kept = set(ranked[:_TOPIC_WORDS])
    return [word for word in distinct if word in kept]
