"""Rewrite a follow-up question so that it stands alone: by a language model, else by rules."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from llama_index.core.llms import LLM

from config.prompts import CONDENSE
from pipelines.models.consult import consult, reply_limit
from pipelines.query.delimit import escape_delimiters, fresh_key
from pipelines.query.llm_queries import MAX_REPLY, MAX_SEARCH, parse_queries
from pipelines.query.question.names import capitals, is_capital, names_in
from pipelines.query.question.person import named_before, points_at_person, with_person
from pipelines.query.question.rules import terms_of, trim
from pipelines.query.question.words import Text, is_year, read, words
from pipelines.store.known_names import NO_NAMES, NameIndex
from pipelines.text import base_verb_forms, count_tokens, fold, participle
from pipelines.types import CondensedBy, Turn

MOST_TURNS = 12  # of a conversation: a question follows none before them
_CUT = " ..."
_ENDS = " ?.!"


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
    known: NameIndex = NO_NAMES,
    rewrite: Callable[[str, Sequence[Turn]], str] = lambda _question, _history: "",
) -> tuple[str, CondensedBy]:
    """(the question as it stands alone, what made it so); a question that stands alone comes back as it was.

    `typed` is the question with its request phrases, `history` the turns before it, oldest first. `rewrite` gives the
    question in the words of a language model; empty where there is none, and the rules decide.
    """
    if not is_follow_up(question, history, typed=typed, known=known):
        return question, ""
    if rewritten := rewrite(typed, history):
        return rewritten, "model"
    if is_name_alone(typed.strip(_ENDS)) and read(history[-1].question).has("they"):
        return with_person(history[-1].question, typed.strip(_ENDS)), "rules"
    chain = _chain(history[-MOST_TURNS:], known)
    if whole := _swapped(read(typed), chain[0].question, known):
        return whole, "rules"
    unsaid = " ".join(_unsaid(question, chain, known))
    return f"{question} ({unsaid})" if unsaid else question, "rules"


_HINT = "Raise FOOTNOTE_ANSWER__CONDENSE_SECONDS, or set FOOTNOTE_ANSWER__CONDENSE=rules."
_REPLY_TOKENS = 40  # by which its time is expected
_KEPT = 0.5  # of the follow-up's own terms


def rewrite_follow_up(
    question: str, history: Sequence[Turn], llm: LLM, prompt: str = CONDENSE, *, seconds: float
) -> str:
    """The follow-up as a question that is understood alone; empty when the model's reply is none.

    `prompt` is the system prompt. It is given up after so many seconds, or after what the model's measured speed makes
    expect.

    Raises:
        ModelError, ServiceUnavailable: If the model fails or takes too long.
    """
    texts = [text for turn in history for text in (turn.question, turn.answer)]
    key = fresh_key([*texts, question])
    conversation = "\n".join(
        f"User: {escape_delimiters(turn.question)}\nAnswer: {escape_delimiters(turn.answer)}" for turn in history
    )
    quoted = f"<<conversation {key}>>\n{conversation}\n<</conversation {key}>>\n\nFollow-up: {question}"
    messages = [("system", prompt), ("user", quoted)]
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


_MOST_UNSAID = 5  # words; more drown the question
_MOST_PART = 5  # words of a part of another question: "And in Leith?"
_NAMED_BEFORE = 4  # terms before a pronoun, from which it means one of them


def _swapped(asked: Text, last: str, known: NameIndex) -> str:
    """The last question with the name or year of a part ("And in 2021?", "What about Rust?") for its last one of that
    kind; empty where either has none.
    """
    lead = asked.at("instead", 0)
    if lead is None or not _is_part(asked):
        return ""
    part = asked.text[asked.words[lead.last].start :].rstrip(_ENDS)
    new, old = (_names(text, known) for text in (part, last))
    same = [span for span, kind in old.items() if kind == next(reversed(new.values()), None)]
    if not same:
        return ""
    start, end = same[-1]
    return f"{last[:start]}{part[slice(*next(reversed(new)))]}{last[end:]}"


def _names(text: str, known: NameIndex) -> dict[tuple[int, int], str]:
    """The spans of the years and names in a text, in order, each with what it is: a year, a person, or another name."""
    years = {(word.start, word.end): "year" for word in read(text).words if is_year(word.text)}
    shift, stored = len("x "), known.places(text)
    typed = [(name.start - shift, name.end - shift) for name in names_in(f"x {text}")]
    opens = not words("opening").isdisjoint(read(text).all[:1])
    named = [(start, end) for start, end in typed if start or not opens]
    own = [(start, end) for start, end in named if all(end <= first or last <= start for first, last in stored)]
    spans = [*stored, *own]
    kinds = {span: "person" if known.kind_of(text[slice(*span)]) == "person" else "name" for span in spans}
    return dict(sorted({**kinds, **years}.items()))


def _unsaid(question: str, chain: Sequence[Turn], known: NameIndex) -> list[str]:
    """The words that a follow-up leaves unsaid: the last stored name that is no person's in the questions since the
    last one that stands alone, where it names nothing itself; else their nouns, each once.
    """
    is_about_owner = bool(known.owner) and points_at_person(question) and not _points_at_thing(question)
    if is_about_owner and terms_of(question):
        return []
    named = [_stored(text, known) for text in (question, *(turn.question for turn in chain))]
    if not named[0] and not capitals(question) and (last := next(filter(None, named), [])):
        return last[-1:]
    said = {*read(question).all, *(fold(part) for names in named for name in names for part in name.split())}
    texts = [read(turn.question) for turn in reversed(chain)]
    nouns = (
        text.words[at]
        for text in texts
        for at, word in enumerate(text.words)
        if terms_of(word.typed) and not _is_verb(text, at)
    )
    return list(dict.fromkeys(word.whole for word in nouns if word.text not in said))[-_MOST_UNSAID:]


def _stored(text: str, known: NameIndex) -> list[str]:
    """The stored names in a text that are no person's, in order."""
    names = (text[slice(*span)] for span in known.places(text))
    return [name for name in names if known.kind_of(name) != "person"]


def _chain(history: Sequence[Turn], known: NameIndex) -> list[Turn]:
    """The turns back to the last question that stands alone, or does by a part that is swapped, the last one first."""
    chain: list[Turn] = []
    for place, turn in enumerate(history):
        text = trim(turn.question)
        follows = is_follow_up(text, history[:place], typed=turn.question, known=known)
        whole = _swapped(read(turn.question), chain[0].question, known) if follows and chain else ""
        stands = bool(whole) or (not follows and len(terms_of(text)) > 1)
        chain = [replace(turn, question=whole or turn.question), *(() if stands else chain)]
    return chain


def is_follow_up(question: str, history: Sequence[Turn], *, typed: str = "", known: NameIndex = NO_NAMES) -> bool:
    """True if a question does not say what it is about: it points back, swaps a part of another, or has no matter."""
    if not history:
        return False
    asked = read(typed or question)
    opens = bool(asked.words) and (asked.all[0] in words("opener") or asked.says("verbless"))
    names = capitals(question) or known.places(question)
    is_verbless = (opens or asked.says("subjectless")) and not asked.has("aux") and not names
    is_reply = is_name_alone(asked.text.strip(_ENDS)) and read(history[-1].question).has("they")
    if is_verbless or is_reply or _is_bare(asked) or _is_part(asked):
        return True
    return _points_at_thing(question) or points_at_person(question) or not (terms_of(question) or capitals(question))


def is_name_alone(question: str) -> bool:
    """True if a question is a name and nothing else, as in reply to "Which one do you mean?"."""
    named = names_in(f"x {question}")
    return bool(named) and named[0].text == question and read(question).all[0] not in words("opener")


def _is_bare(asked: Text) -> bool:
    """True for words to ask with, and no others: "And since when exactly?"."""
    opens = next((at for at, word in enumerate(asked.all[:3]) if word not in words("opener")), min(len(asked.all), 3))
    asks = asked.at("asks", opens)
    tail = asked.at("bare-tail", asks.last) if asks else None
    return asks is not None and (tail or asks).last == len(asked.words)


def _is_part(asked: Text) -> bool:
    """True for a part that takes the place of one of another question: "What about R?", "And in 2019?"."""
    lead = asked.at("instead", 0)
    if lead is None or asked.has("aux") or lead.last == len(asked.words):
        return False
    return asked.all[lead.last - 1] == "about" or len(asked.words) - lead.last <= _MOST_PART


def _is_verb(text: Text, at: int) -> bool:
    """True for an adverb, too, and for a verb that is known by its form or place."""
    word, before = text.words[at].typed, text.all[max(at - 1, 0) : at]
    if not word.islower():
        return False
    if participle(word) or base_verb_forms(word) != word or word.endswith("ly") or word in words("clause-openers"):
        return True
    is_led = before != [] and (before[0] in words("subjects") or is_capital(text, at - 1))
    return is_led and not text.set.isdisjoint(words("acting"))


def _points_at_thing(question: str) -> bool:
    """True if a question speaks of a thing that it does not name; "it" after enough matter is what was just named.

    "Is it true", "are there", "this year" point at nothing that was said.
    """
    text = read(question)
    empty = {at for place in text.all_of("empty") for at in range(place.first, place.last)}
    pointing = (place.first for place in text.all_of("pointing") if place.first not in empty)
    places = [at for at in pointing if not named_before(text, at)]
    return bool(places) and len(terms_of(text.slice(0, min(places)))) < _NAMED_BEFORE
